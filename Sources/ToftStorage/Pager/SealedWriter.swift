internal import ToftPlatform

/// Writes extents of an encrypted file in the order of their pages.
///
/// While one thread writes a batch and keeps its plain bytes for readers, others compute the codes
/// of the next and encrypt it. Batches are written one after the other.
///
/// `@unchecked Sendable`: each thread has extents of its own, and the calling one waits for all.
struct SealedWriter: @unchecked Sendable {
    let cache: PageCache
    let cipher: Cipher
    let version: Version
    let extents: [DirtyPages.Extent]
    /// One for each extent, in memory that is longer there than this.
    let digests: UnsafeMutablePointer<Digest>
    /// Prepares an extent for its digest; nil if all have theirs.
    let prepare: (@Sendable (DirtyPages.Extent) throws(StorageError) -> Void)?

    /// Bytes of a batch, unless one extent has more. One batch alone is left to the calling thread;
    /// several are worth the start of threads: the codes of 4 MiB take 3.3 ms, its encryption 0.9.
    private static let batchSize: Int = {
        #if DEBUG || TOFT_TRIALS
        // Tests write several.
        64 << 10
        #else
        4 << 20
        #endif
    }()

    /// Consecutive extents, and their encrypted bytes.
    private struct Batch: @unchecked Sendable {
        var indices: Range<Int>
        var bytes: UnsafeMutableRawPointer
    }

    /// Throws errors of the system or libcrypto; some of the extents are written then.
    func write() throws(StorageError) {
        cache.makeRoom(for: extents.map { ($0.page, Int($0.pageCount)) })
        let batches = batches()
        let room = batches.reduce(0) { max($0, size(of: $1)) }
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: 2 * room, alignment: Page.size)
        defer { memory.deallocate() }
        var sealed = Batch(indices: 0..<0, bytes: memory)
        for (turn, indices) in (batches + [extents.count..<extents.count]).enumerated() {
            let next = Batch(indices: indices, bytes: memory + turn % 2 * room)
            try work(on: next, writing: sealed, isShared: batches.count > 1)
            sealed = next
        }
    }

    private func batches() -> [Range<Int>] {
        var batches: [Range<Int>] = [], start = 0, length = 0
        for (index, extent) in extents.enumerated() {
            if length > 0, length + extent.size > Self.batchSize {
                batches.append(start..<index)
                (start, length) = (index, 0)
            }
            length += extent.size
        }
        if start < extents.count { batches.append(start..<extents.count) }
        return batches
    }

    private func size(of indices: Range<Int>) -> Int {
        extents[indices].reduce(0) { $0 + $1.size }
    }

    private func work(on next: Batch, writing sealed: Batch, isShared: Bool) throws(StorageError) {
        var places: [UnsafeMutableRawPointer] = [], place = next.bytes
        for extent in extents[next.indices] {
            places.append(place)
            place += extent.size
        }
        nonisolated(unsafe) let targets = places
        // The longest part comes first.
        let body: @Sendable (Int) throws(StorageError) -> Void = { part throws(StorageError) in
            if part == 0 { return try write(sealed) }
            try seal(next.indices.lowerBound + part - 1, to: targets[part - 1])
        }
        if isShared { return try SharedWork.run(1 + targets.count, body: body) }
        for part in 0...targets.count { try body(part) }
    }

    private func seal(_ index: Int, to target: UnsafeMutableRawPointer) throws(StorageError) {
        let extent = extents[index]
        if let prepare {
            try prepare(extent)
            digests[index] = cipher.digest(
                of: extent.base, extent.type, page: extent.page, birth: version,
                pageCount: Int(extent.pageCount))
        }
        try cipher.encrypt(
            extent.base, to: target, pageCount: Int(extent.pageCount), digests[index])
    }

    private func write(_ batch: Batch) throws(StorageError) {
        var places: [DirtyPages.Extent] = [], place = batch.bytes
        for var extent in extents[batch.indices] {
            extent.base = place
            place += extent.size
            places.append(extent)
        }
        try cache.write(places)
        for extent in extents[batch.indices] {
            cache.noteWritten(
                extent.page, count: Int(extent.pageCount), birth: version, from: extent.base)
        }
    }
}

extension PageCache {
    /// Bytes of one write to the data file at most: larger ones make every later small write
    /// dearer.
    private static let writeSize = 64 * 1024

    /// Writes extents, neighbours together.
    func write(_ extents: [DirtyPages.Extent]) throws(StorageError) {
        var pieces: [UnsafeRawBufferPointer] = []
        var start: UInt64 = 0
        var length = 0
        for extent in extents {
            let offset = extent.page.byteOffset
            let size = extent.size
            if length > 0 && (offset != start + UInt64(length) || length + size > Self.writeSize) {
                try write(pieces, at: start)
                pieces.removeAll(keepingCapacity: true)
                length = 0
            }
            if length == 0 { start = offset }
            pieces.append(UnsafeRawBufferPointer(start: extent.base, count: size))
            length += size
        }
        if length > 0 { try write(pieces, at: start) }
    }
}
