/// Writes the free space of a version.
extension FreeSpace {
    /// Runs of a batch: a whole extent of 32 pages.
    private static let batchRuns = runs(ofPages: 32)
    /// Runs of a batch that several pins keep. It is read when one of them is released, so it is
    /// short.
    private static let mixedBatchRuns = runs(ofPages: 4)

    private static func runs(ofPages pages: Int) -> Int {
        (pages * Page.size - ExtentHeader.payloadStart(.freedBatch, pageCount: pages))
            / FreedRunLayout.size
    }

    private static func pages(ofRuns count: Int) -> Int {
        var pages = 1
        while runs(ofPages: pages) < count { pages += 1 }
        return pages
    }

    /// Relocates the bitmaps that changed, the directory and the list of batches. That frees and
    /// takes pages, which may change further bitmaps, so it is repeated until nothing changes any
    /// more; then they are written into the transaction's extents.
    ///
    /// - Parameter runLimit: runs that the root page has room for.
    func finish(replacing root: Root?, runLimit: Int, in space: PageWriter) throws(StorageError)
        -> (
            directory: Ref, batchList: Ref
        )
    {
        var directory = root?.directory ?? .nowhere
        var batchList = root?.batchList ?? .nowhere
        if fitsRoot(runLimit) { return (directory, batchList) }
        let bitmaps = try spillToBitmaps(in: space)
        var moved: [(region: Int, base: UnsafeMutableRawPointer)] = []
        var isDone = false
        var isRefilled = false
        let runLimit = runLimit - Self.refillRuns
        var runsKept = runLimit / 4
        while !isDone {
            isDone = try !moveChanged(bitmaps, &moved, in: space)
            if freed.count > runLimit {
                try moveRunsToBatches(keeping: runsKept, in: space)
                runsKept = 0
                isDone = false
            }
            if try !fit(
                &directory, .regionDirectory, payload: bitmaps.regions.count * RegionEntry.size,
                in: space)
            {
                isDone = false
            }
            if areBatchesChanged,
                try !fit(
                    &batchList, .batchList, payload: batches.count * FreedBatchLayout.size,
                    in: space)
            {
                isDone = false
            }
            if isDone && !isRefilled {
                try refill(in: space)
                isRefilled = true
                isDone = false
            }
        }
        if trimsFile { try bitmaps.trimFile(in: space) }
        for (index, base) in moved {
            bitmaps.regions[index].bitmap?.write(to: base)
            if let ref = bitmaps.regions[index].ref {
                bitmaps.regions[index].ref?.digest = try space.finalizeChecksums(ref)
            }
        }
        try write(bitmaps.regions, to: &directory, in: space)
        if areBatchesChanged { try writeBatchList(&batchList, in: space) }
        return (directory, batchList)
    }

    /// Relocates bitmaps that changed. False if all of them were relocated already.
    private func moveChanged(
        _ bitmaps: BitmapAllocator, _ moved: inout [(region: Int, base: UnsafeMutableRawPointer)],
        in space: PageWriter
    ) throws(StorageError) -> Bool {
        var isAnyMoved = false
        for index in bitmaps.regions.indices {
            guard let bitmap = bitmaps.regions[index].bitmap, bitmap.isDirty, !bitmap.isRelocated
            else { continue }
            bitmap.isRelocated = true
            if let old = bitmaps.regions[index].ref { try space.free(old) }
            let (ref, base) = try space.allocate(.bitmap, pageCount: 1)
            bitmaps.regions[index].ref = ref
            moved.append((index, base))
            isAnyMoved = true
        }
        return isAnyMoved
    }

    /// Makes sure that an extent is a new one that can hold `payload` bytes. False if it was not.
    private func fit(_ ref: inout Ref, _ type: ExtentType, payload: Int, in space: PageWriter)
        throws(StorageError) -> Bool
    {
        var pages = payload == 0 ? 0 : 1
        while pages > 0,
            pages * Page.size - ExtentHeader.payloadStart(type, pageCount: pages) < payload
        { pages += 1 }
        guard pages <= ExtentLimit.pages else { throw .tooManyFreedRuns }
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

    /// Moves freed runs into batches, each of which is skipped as long as its pins stay. If at most
    /// `limit` runs are reclaimable as soon as this version is visible, batches would not be worth
    /// it.
    ///
    /// A pin with many runs gets batches of its own. The others share them, so that many pins that
    /// keep little cause few batches.
    private func moveRunsToBatches(keeping limit: Int, in space: PageWriter) throws(StorageError) {
        let newest = pins.count > 1 ? pins.last : nil
        let kept = Dictionary(grouping: freed) { Self.pin(keeping: $0, of: pins) ?? .max }
        freed = []
        var mixed: [Run] = []
        var mixedPins: ClosedRange<Version>?
        for (pin, runs) in kept.sorted(by: { $0.key < $1.key }) {
            if runs.count <= limit && (pin == newest || pin == .max) {
                freed += runs
            } else if runs.count > Self.mixedBatchRuns / 2 || pin == .max {
                try addToBatches(runs, pin...pin, in: space)
            } else {
                if mixed.count + runs.count > Self.mixedBatchRuns, let pins = mixedPins {
                    try addToBatches(mixed, pins, in: space)
                    (mixed, mixedPins) = ([], nil)
                }
                mixed += runs
                mixedPins = (mixedPins?.lowerBound ?? pin)...pin
            }
        }
        if let pins = mixedPins { try addToBatches(mixed, pins, in: space) }
        areBatchesChanged = true
    }

    /// Adds runs whose lowest pins are in `keepers`. They are joined with batches that are no
    /// longer than the addition: so a run is moved O(log runs) times, and a long reader causes few
    /// batches.
    private func addToBatches(
        _ added: [Run], _ keepers: ClosedRange<Version>, in space: PageWriter
    ) throws(StorageError) {
        var runs = added
        var keepers = keepers
        while let index = batches.lastIndex(where: { canJoin($0, runs.count, keepers) }) {
            let batch = batches.remove(at: index)
            runs += try FreeSpaceReader.batch(batch.ref, in: space.reader)
            try space.free(batch.ref)
            keepers =
                min(batch.firstPin, keepers.lowerBound)...max(batch.lastPin, keepers.upperBound)
        }
        for start in stride(from: 0, to: runs.count, by: Self.batchRuns) {
            try addBatch(
                runs[start..<min(start + Self.batchRuns, runs.count)], keepers, in: space)
        }
    }

    private func canJoin(_ batch: Batch, _ count: Int, _ keepers: ClosedRange<Version>) -> Bool {
        guard keepers.upperBound < .max, batch.pinCount > 0,
            Int(batch.ref.pageCount) <= Self.pages(ofRuns: count)
        else { return false }
        let total = count + Self.runs(ofPages: Int(batch.ref.pageCount))
        let pin = keepers.lowerBound
        let isOfThisPin =
            pin == keepers.upperBound && batch.firstPin == pin && batch.lastPin == pin
        return total <= (isOfThisPin ? Self.batchRuns : Self.mixedBatchRuns)
    }

    private func addBatch(
        _ runs: ArraySlice<Run>, _ keepers: ClosedRange<Version>, in space: PageWriter
    ) throws(StorageError) {
        let pages = Self.pages(ofRuns: runs.count)
        var (ref, base) = try space.allocate(.freedBatch, pageCount: pages)
        var address = base + ExtentHeader.payloadStart(.freedBatch, pageCount: pages)
        for run in runs {
            run.encode(to: address)
            address += FreedRunLayout.size
        }
        ExtentHeader.setPayloadLength(runs.count * FreedRunLayout.size, of: base)
        ref.digest = try space.finalizeChecksums(ref)
        batches.append(
            Batch(
                ref: ref, maxBirth: runs.reduce(0) { max($0, $1.birth) },
                minDeath: runs.reduce(.max) { min($0, $1.death) },
                firstPin: keepers.lowerBound, lastPin: keepers.upperBound,
                pinCount: pinCount(from: keepers.lowerBound, through: keepers.upperBound)))
    }

    // MARK: Writing

    private func write(
        _ regions: [BitmapAllocator.Region], to ref: inout Ref, in space: PageWriter
    ) throws(StorageError) {
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
        ref.digest = try space.finalizeChecksums(ref)
    }

    private func writeBatchList(_ ref: inout Ref, in space: PageWriter) throws(StorageError) {
        guard ref != .nowhere else { return }
        let base = try space.edit(&ref, as: .batchList)
        var entry = base + ExtentHeader.payloadStart(.batchList, pageCount: Int(ref.pageCount))
        for batch in batches {
            batch.encode(to: entry)
            entry += FreedBatchLayout.size
        }
        ExtentHeader.setPayloadLength(batches.count * FreedBatchLayout.size, of: base)
        ref.digest = try space.finalizeChecksums(ref)
    }
}
