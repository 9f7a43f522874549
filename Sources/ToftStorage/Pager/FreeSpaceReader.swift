/// Reads free space from the extents of a version, checking every count before it is used.
enum FreeSpaceReader {
    static func regions(_ directory: Ref, in space: PageReader) throws(StorageError) -> [(
        bitmap: Ref, freePages: Int
    )] {
        let payload = try self.payload(directory, .regionDirectory, in: space)
        guard payload.count % RegionEntry.size == 0 else {
            throw .corrupt(
                page: directory.page, reason: "the directory of regions ends inside an entry")
        }
        var regions: [(bitmap: Ref, freePages: Int)] = []
        guard let base = payload.baseAddress else { return regions }
        for offset in stride(from: 0, to: payload.count, by: RegionEntry.size) {
            let free = UInt32(
                littleEndian: base.loadUnaligned(
                    fromByteOffset: offset + RegionEntry.freePages, as: UInt32.self))
            guard free <= Page.perRegion else {
                throw .corrupt(page: directory.page, reason: "a region has \(free) free pages")
            }
            regions.append((Ref(decoding: base + offset + RegionEntry.bitmap), Int(free)))
        }
        return regions
    }

    static func batches(_ list: Ref, in space: PageReader) throws(StorageError) -> [FreeSpace.Batch]
    {
        guard list != .nowhere else { return [] }
        let payload = try self.payload(list, .batchList, in: space)
        guard payload.count % FreedBatchLayout.size == 0, let base = payload.baseAddress else {
            throw .corrupt(page: list.page, reason: "the list of batches ends inside an entry")
        }
        return stride(from: 0, to: payload.count, by: FreedBatchLayout.size).map {
            FreeSpace.Batch(decoding: base + $0)
        }
    }

    static func batch(_ ref: Ref, in space: PageReader) throws(StorageError) -> [FreeSpace.Run] {
        let payload = try self.payload(ref, .freedBatch, in: space)
        guard payload.count % FreedRunLayout.size == 0, let base = payload.baseAddress else {
            throw .corrupt(page: ref.page, reason: "a batch of freed runs ends inside a run")
        }
        return try (0..<(payload.count / FreedRunLayout.size)).map { index throws(StorageError) in
            try FreeSpace.Run(validating: base + index * FreedRunLayout.size, on: ref.page)
        }
    }

    /// The bitmaps of a version with this root, in which all pages are free that neither it nor a
    /// pinned version before it uses. O(free space).
    static func unusedPages(of rootRef: Ref, pins: [Version], in space: PageReader)
        throws(StorageError) -> [Bitmap]
    {
        let root = try Root(reading: rootRef, in: space)
        var bitmaps: [Bitmap] = []
        for region in try regions(root.directory, in: space) {
            bitmaps.append(Bitmap(page: try space.view(region.bitmap, as: .bitmap)))
        }
        func release(_ runs: [FreeSpace.Run]) throws(StorageError) {
            for run in runs
            where run.isReclaimable || FreeSpace.pin(keeping: run, of: pins) == nil {
                let start = Page.indexInRegion(max(run.page, Page.firstData))
                guard run.page >= Page.firstData, Page.region(of: run.page) < bitmaps.count,
                    start + Int(run.count) <= Page.perRegion,
                    bitmaps[Page.region(of: run.page)].release(start, count: Int(run.count))
                else { throw FreeSpace.notInUse(run.page) }
            }
        }
        try release(try RootPayload.runs(of: rootRef, in: space))
        for batch in try batches(root.batchList, in: space) {
            try release(try self.batch(batch.ref, in: space))
        }
        return bitmaps
    }

    private static func payload(_ ref: Ref, _ type: ExtentType, in space: PageReader)
        throws(StorageError) -> UnsafeRawBufferPointer
    {
        let base = try space.view(ref, as: type)
        let start = ExtentHeader.payloadStart(type, pageCount: Int(ref.pageCount))
        let length = ExtentHeader.payloadLength(of: base)
        try space.verify(ref, base, start..<(start + length))
        return UnsafeRawBufferPointer(start: base + start, count: length)
    }
}
