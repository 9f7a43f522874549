/// A disk with a cache in front: what programs see, what is surely on the platter, and what may or may not be.
package struct SimulatedDisk {
    package static let pageSize = 4096
    package static let sectorSize = 512

    /// A page as some write left it in the cache.
    package struct PendingPage {
        package var page: Int
        package var content: [UInt8]
    }

    /// What every process sees.
    package private(set) var cache: [UInt8]
    /// What a power failure cannot take.
    package private(set) var durable: [UInt8]
    /// Pages written since, in order; one page may be there several times.
    package private(set) var pending: [PendingPage] = []

    package init(content: [UInt8]) {
        cache = content
        durable = content
    }

    package var hasUnsyncedSize: Bool { cache.count != durable.count }

    package mutating func apply(_ event: DiskEvent) {
        switch event {
        case .write(let offset, let bytes): write(bytes, at: offset)
        case .rangeSync(let offset, let count): sync(offset..<offset + count)
        case .sync:
            durable = cache
            pending = []
        case .grow(let size):
            if size > cache.count { cache.append(contentsOf: [UInt8](repeating: 0, count: size - cache.count)) }
        case .truncate(let size):
            if size < cache.count { cache.removeLast(cache.count - size) }
        case .began, .acknowledged: break
        }
    }

    private mutating func write(_ bytes: [UInt8], at offset: Int) {
        let end = offset + bytes.count
        if end > cache.count { cache.append(contentsOf: [UInt8](repeating: 0, count: end - cache.count)) }
        cache.replaceSubrange(offset..<end, with: bytes)
        for page in Self.pages(offset..<end) { pending.append(PendingPage(page: page, content: content(of: page))) }
    }

    private mutating func sync(_ range: Range<Int>) {
        if durable.count < range.upperBound { durable.append(contentsOf: [UInt8](repeating: 0, count: range.upperBound - durable.count)) }
        for page in Self.pages(range) {
            Self.put(content(of: page), at: page, into: &durable)
            pending.removeAll { $0.page == page }
        }
    }

    private func content(of page: Int) -> [UInt8] {
        let start = page * Self.pageSize
        return Array(cache[start..<min(start + Self.pageSize, cache.count)])
    }

    private static func pages(_ range: Range<Int>) -> Range<Int> {
        range.lowerBound / pageSize..<(range.upperBound + pageSize - 1) / pageSize
    }

    // MARK: What a crash may leave

    /// What is surely there, and these of the pending pages, in their order, in a file of this size.
    package func image(with chosen: [PendingPage], size: Int? = nil) -> [UInt8] {
        var image = durable
        let size = size ?? cache.count
        if image.count < size { image.append(contentsOf: [UInt8](repeating: 0, count: size - image.count)) }
        if image.count > size { image.removeLast(image.count - size) }
        for page in chosen { Self.put(page.content, at: page.page, into: &image) }
        return image
    }

    /// Writes what of a page lies within the image.
    package static func put(_ content: [UInt8], at page: Int, into image: inout [UInt8]) {
        let start = page * pageSize
        let end = min(start + content.count, image.count)
        guard start < end else { return }
        image.withUnsafeMutableBytes { image in
            content.withUnsafeBytes { content in UnsafeMutableRawBufferPointer(rebasing: image[start..<end]).copyMemory(from: .init(rebasing: content[..<(end - start)])) }
        }
    }

    /// Where the extended, not yet synced part of the file begins and ends.
    package var unsyncedExtension: Range<Int> { min(durable.count, cache.count)..<cache.count }
}
