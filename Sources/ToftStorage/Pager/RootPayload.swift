/// The part of a root page behind its fields: the newest freed runs, and the commit record if it is
/// short. A small commit therefore writes neither a list nor a tree for them.
enum RootPayload {
    /// Bytes of the longest record that is stored in its root.
    static let longestRecord = 1024
    private static let room = Page.size - RootLayout.tail

    /// Freed runs that a root has room for beside such a record.
    static func runLimit(besides record: Int) -> Int { (room - record) / FreedRunLayout.size }

    /// Writes runs and a record; an error if they exceed a root's room.
    static func write(_ runs: [FreeSpace.Run], _ record: [UInt8], to base: UnsafeMutableRawPointer)
        throws(StorageError)
    {
        guard runs.count <= runLimit(besides: record.count), record.count <= longestRecord else {
            throw .invalidPage(
                page: base.reading.uint64(at: ExtentHeader.page), kind: "root",
                reason: "it has no room for its \(runs.count) freed runs and its record")
        }
        base.storeUInt32(runs.count, at: RootLayout.runCount)
        base.storeUInt32(record.count, at: RootLayout.recordLength)
        var offset = RootLayout.tail
        for run in runs {
            run.encode(to: base + offset)
            offset += FreedRunLayout.size
        }
        (base + offset).copyMemory(from: record, byteCount: record.count)
        ExtentHeader.setPayloadLength(offset + record.count - ExtentHeader.size, of: base)
    }

    static func runs(of root: Ref, in pages: PageReader) throws(StorageError) -> [FreeSpace.Run] {
        let (base, count, _) = try view(root, in: pages)
        return try (0..<count).map { index throws(StorageError) in
            try FreeSpace.Run(
                validating: base + RootLayout.tail + index * FreedRunLayout.size, on: root.page)
        }
    }

    /// The record of the commit that made the root; nil if it was longer, or nothing was committed
    /// yet.
    static func record(of root: Ref, in pages: PageReader) throws(StorageError)
        -> UnsafeRawBufferPointer?
    {
        let (base, count, length) = try view(root, in: pages)
        guard length > 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: base + RootLayout.tail + count * FreedRunLayout.size, count: length)
    }

    private static func view(
        _ root: Ref, in pages: PageReader
    ) throws(StorageError) -> (base: UnsafeRawPointer, runCount: Int, recordLength: Int) {
        let base = try pages.view(root, as: .root)
        let count = base.uint32(at: RootLayout.runCount)
        let length = base.uint32(at: RootLayout.recordLength)
        guard count <= room / FreedRunLayout.size, count * FreedRunLayout.size + length <= room
        else {
            throw .corrupt(
                page: root.page,
                reason: "a root has no room for its \(count) freed runs and its record")
        }
        return (base, count, length)
    }
}
