/// A disk with a cache in front: the content that programs see, the content that is surely on the
/// platter, and the pages that may or may not be.
package struct SimulatedDisk {
    /// A page as some write left it in the cache.
    package struct PendingPage {
        package var page: Int
        package var content: PageContent
    }

    /// The pages that every process sees.
    package private(set) var cache: [PageContent]
    /// The pages that survive any power failure.
    package private(set) var durable: [PageContent]
    /// Pages written since, in order; one page may be there several times.
    package private(set) var pending: [PendingPage] = []

    package init(content: [PageContent]) {
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
        case .grow(let size): Self.grow(&cache, to: size)
        case .truncate(let size):
            cache.removeLast(max(0, cache.count - size / PageContent.size))
            Self.grow(&cache, to: size)
        case .replaced(let events, _):
            self = SimulatedDisk(content: [])
            for event in events { apply(event) }
        case .began, .returned, .acknowledged, .transaction: break
        }
    }

    private static func grow(_ pages: inout [PageContent], to size: Int) {
        let count = (size + PageContent.size - 1) / PageContent.size
        if count > pages.count { pages += Array(repeating: .zeros, count: count - pages.count) }
    }

    private mutating func write(_ bytes: [UInt8], at offset: Int) {
        Self.grow(&cache, to: offset + bytes.count)
        Self.forEachPage(of: offset..<offset + bytes.count) { page, inPage, range in
            let isWhole = inPage.count == PageContent.size
            cache[page] =
                isWhole
                ? PageContent(Array(bytes[range]))
                : cache[page].overlaid(bytes[range], at: inPage.lowerBound)
            pending.append(PendingPage(page: page, content: cache[page]))
        }
    }

    /// Only these bytes are durable; others of their pages that are pending remain so.
    private mutating func sync(_ range: Range<Int>) {
        Self.grow(&durable, to: range.upperBound)
        Self.forEachPage(of: range) { page, inPage, _ in
            let new = cache[page].bytes[inPage]
            durable[page] = durable[page].overlaid(new, at: inPage.lowerBound)
            for index in pending.indices where pending[index].page == page {
                pending[index].content = pending[index].content.overlaid(new, at: inPage.lowerBound)
            }
            let settled = durable[page].hash
            pending.removeAll { $0.page == page && $0.content.hash == settled }
        }
    }

    /// The pages of a range of the file: the page, its part, and the corresponding part of the
    /// range.
    private static func forEachPage(
        of range: Range<Int>, _ body: (Int, Range<Int>, Range<Int>) -> Void
    ) {
        var done = range.lowerBound
        while done < range.upperBound {
            let start = done % PageContent.size
            let count = min(PageContent.size - start, range.upperBound - done)
            body(
                done / PageContent.size, start..<start + count,
                done - range.lowerBound..<done - range.lowerBound + count)
            done += count
        }
    }

    // MARK: What a crash may leave

    /// The durable pages, and these of the pending pages, in their order, in a file of `pageCount`
    /// pages.
    package func image(with chosen: [PendingPage], pageCount: Int? = nil) -> [PageContent] {
        var image = durable
        let count = pageCount ?? cache.count
        if image.count > count { image.removeLast(image.count - count) }
        Self.grow(&image, to: count * PageContent.size)
        for page in chosen where page.page < image.count { image[page.page] = page.content }
        return image
    }
}
