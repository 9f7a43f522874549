/// How the free space of a version finds its own places.
extension FreeSpace {
    /// Runs of a batch: a whole extent of 32 pages.
    private static let batchRuns = runs(ofPages: 32)

    private static func runs(ofPages pages: Int) -> Int {
        (pages * Page.size - ExtentHeader.payloadStart(.freedBatch, pageCount: pages))
            / FreedRunLayout.size
    }

    private static func pages(ofRuns count: Int) -> Int {
        var pages = 1
        while runs(ofPages: pages) < count { pages += 1 }
        return pages
    }

    /// Gives everything that changed a new place, until no more runs are left than the root page
    /// has room for, and writes it into the transaction's extents.
    func finish(replacing root: Root?, runLimit: Int, in space: PageSpace) throws(StorageError) -> (
        directory: Ref, batchList: Ref
    ) {
        var directory = root?.directory ?? .nowhere
        var batchList = root?.batchList ?? .nowhere
        if !isFolded && ready.count + 1 + waiting.count <= runLimit {
            return (directory, batchList)
        }
        try fold(in: space)
        var bitmaps: [(region: Int, base: UnsafeMutableRawPointer)] = []
        var isSettled = false
        var isReservePutBy = false
        let runLimit = runLimit - Self.reserveRuns
        var runsKept = runLimit / 4
        while !isSettled {
            isSettled = try !moveBitmaps(&bitmaps, in: space)
            if waiting.count > runLimit {
                try moveRunsToBatches(keeping: runsKept, in: space)
                runsKept = 0
                isSettled = false
            }
            if try !fit(
                &directory, .regionDirectory, payload: regions.count * RegionEntry.size, in: space)
            {
                isSettled = false
            }
            if areBatchesChanged,
                try !fit(
                    &batchList, .batchList, payload: batches.count * FreedBatchLayout.size,
                    in: space)
            {
                isSettled = false
            }
            if isSettled && !isReservePutBy {
                try putReserveBy(in: space)
                isReservePutBy = true
                isSettled = false
            }
        }
        for (index, base) in bitmaps {
            regions[index].bitmap?.write(to: base)
            regions[index].ref?.checksum = Checksum.of(base, count: Page.size)
        }
        try writeDirectory(&directory, in: space)
        if areBatchesChanged { try writeBatchList(&batchList, in: space) }
        return (directory, batchList)
    }

    /// Gives bitmaps that changed new places. False where all have one.
    private func moveBitmaps(
        _ moved: inout [(region: Int, base: UnsafeMutableRawPointer)], in space: PageSpace
    ) throws(StorageError) -> Bool {
        var isAnyMoved = false
        for index in regions.indices {
            guard let bitmap = regions[index].bitmap, bitmap.isDirty, !bitmap.isRelocated else {
                continue
            }
            bitmap.isRelocated = true
            if let old = regions[index].ref { try space.free(old) }
            let (ref, base) = try space.allocate(.bitmap, pageCount: 1)
            regions[index].ref = ref
            moved.append((index, base))
            isAnyMoved = true
        }
        return isAnyMoved
    }

    /// Makes sure that an extent is a new one that can hold `payload` bytes. False if it was not.
    private func fit(_ ref: inout Ref, _ type: ExtentType, payload: Int, in space: PageSpace)
        throws(StorageError) -> Bool
    {
        var pages = payload == 0 ? 0 : 1
        while pages > 0,
            pages * Page.size - ExtentHeader.payloadStart(type, pageCount: pages) < payload
        { pages += 1 }
        guard pages <= ExtentLimit.pages else { throw .fileTooLarge(path: file.path) }
        if pages == 0 && ref == .nowhere
            || ref.birth == space.version && Int(ref.pageCount) >= pages
        {
            return true
        }
        if ref != .nowhere { try space.free(ref) }
        ref = pages == 0 ? .nowhere : try space.allocate(type, pageCount: pages).0
        return false
    }

    // MARK: Batches

    /// Moves what waits into batches, one for each pin, so that each is skipped as long as its pin
    /// stays. What is ready as soon as this version is visible is not worth that, up to `limit`
    /// runs.
    private func moveRunsToBatches(keeping limit: Int, in space: PageSpace) throws(StorageError) {
        let newest = pins.count > 1 ? pins.last : nil
        let held = Dictionary(grouping: waiting) { pin(of: $0) ?? .max }
        waiting = []
        for (pin, runs) in held.sorted(by: { $0.key < $1.key }) {
            if runs.count <= limit && (pin == newest || pin == .max) {
                waiting += runs
            } else {
                try addToBatches(runs, pin, in: space)
            }
        }
        areBatchesChanged = true
    }

    /// Batches that a pin keeps and that are no longer than what is added are joined with it, so
    /// that a long reader causes few of them.
    private func addToBatches(_ added: [Run], _ pin: UInt64, in space: PageSpace)
        throws(StorageError)
    {
        var runs = added
        while let index = batches.lastIndex(where: { canTake(runs.count, $0, pin) }) {
            let batch = batches.remove(at: index)
            runs += try FreeSpaceReader.batch(batch.ref, in: space)
            try space.free(batch.ref)
        }
        for start in stride(from: 0, to: runs.count, by: Self.batchRuns) {
            try addBatch(runs[start..<min(start + Self.batchRuns, runs.count)], in: space)
        }
    }

    private func canTake(_ count: Int, _ batch: Batch, _ pin: UInt64) -> Bool {
        let runs = Self.runs(ofPages: Int(batch.ref.pageCount))
        return batch.maxBirth <= pin && pin < batch.minDeath && count + runs <= Self.batchRuns
            && Int(batch.ref.pageCount) <= Self.pages(ofRuns: count)
    }

    private func addBatch(_ runs: ArraySlice<Run>, in space: PageSpace) throws(StorageError) {
        let pages = Self.pages(ofRuns: runs.count)
        var (ref, base) = try space.allocate(.freedBatch, pageCount: pages)
        var place = base + ExtentHeader.payloadStart(.freedBatch, pageCount: pages)
        for run in runs {
            run.encode(to: place)
            place += FreedRunLayout.size
        }
        ExtentHeader.setPayloadLength(runs.count * FreedRunLayout.size, of: base)
        ref.checksum = try space.settle(ref)
        batches.append(
            Batch(
                ref: ref, maxBirth: runs.reduce(0) { max($0, $1.birth) },
                minDeath: runs.reduce(.max) { min($0, $1.death) },
                pages: runs.reduce(0) { $0 + UInt64($1.count) }))
    }

    // MARK: Writing

    private func writeDirectory(_ ref: inout Ref, in space: PageSpace) throws(StorageError) {
        let base = try space.edit(&ref, as: .regionDirectory)
        let start =
            base + ExtentHeader.payloadStart(.regionDirectory, pageCount: Int(ref.pageCount))
        for (index, region) in regions.enumerated() {
            let entry = start + index * RegionEntry.size
            region.ref?.encode(to: entry + RegionEntry.bitmap)
            entry.storeBytes(
                of: UInt32(truncatingIfNeeded: region.freePages).littleEndian,
                toByteOffset: RegionEntry.freePages, as: UInt32.self)
        }
        ExtentHeader.setPayloadLength(regions.count * RegionEntry.size, of: base)
        ref.checksum = try space.settle(ref)
    }

    private func writeBatchList(_ ref: inout Ref, in space: PageSpace) throws(StorageError) {
        guard ref != .nowhere else { return }
        let base = try space.edit(&ref, as: .batchList)
        var entry = base + ExtentHeader.payloadStart(.batchList, pageCount: Int(ref.pageCount))
        for batch in batches {
            batch.encode(to: entry)
            entry += FreedBatchLayout.size
        }
        ExtentHeader.setPayloadLength(batches.count * FreedBatchLayout.size, of: base)
        ref.checksum = try space.settle(ref)
    }
}
