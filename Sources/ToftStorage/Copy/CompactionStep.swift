/// The result of a step of a compaction beside readers. Sizes in bytes.
package struct CompactionStep: Sendable, Equatable {
    /// Extents that were moved to pages before them.
    package var movedSize: UInt64 = 0
    /// Of the file, when the step began.
    package var sizeBefore: UInt64 = 0
    package var sizeAfter: UInt64 = 0
    /// Pages that were used only by earlier versions when it began, which some process or the
    /// newest checkpoint reads: no step can release them before those versions end.
    package var heldSize: UInt64 = 0
    /// Whether another step would do something, if nobody writes meanwhile.
    package var hasMore = false
}

extension Store {
    /// Moves extents from the end of the file to free pages before them, as a commit with the same
    /// content as the last, and releases free pages at the end: those that earlier steps have
    /// emptied, unless a version is read that needs them. Others read meanwhile; writers wait for
    /// the step. Nothing is committed if nothing has to be done.
    ///
    /// If the insert buffer holds a sixteenth as many entries of a tree as the tree has, and no
    /// earlier version is read, a step moves such entries first, and no extents, until it has
    /// written as many as it may move. In the end few may be left.
    ///
    /// It reads the inner nodes of all trees and the bitmaps, which is a hundredth of the file;
    /// once only long values are left to move, also every leaf of the trees. Extents of several
    /// pages move if enough pages in a row are free.
    ///
    /// - Parameter byteCount: most bytes to move, except for the last extent; less than 256 KiB
    ///   counts as that; 0: nothing is moved.
    /// - Throws: errors of `beginWrite` and `commit`; `interrupted`.
    package func compactStep(movingAtMost byteCount: UInt64, timeoutMilliseconds: Int = -1)
        throws(StorageError) -> CompactionStep
    {
        // Pages of the newest checkpoint cannot be released.
        if coordinator.durableVersion < latestVersion { try checkpoint() }
        let transaction = try beginWrite(timeoutMilliseconds, with: Writer(for: self))
        defer { transaction.rollback() }
        var step = CompactionStep()
        step.sizeBefore = try file.size()
        if try transaction.moveLastExtents(atMost: byteCount, &step) {
            try transaction.beginStructure()
            _ = try transaction.commit()
        }
        step.sizeAfter = try file.size()
        // Pages that the commit has replaced at the end are free from the next commit on.
        let end = transaction.fileEnd?.byteOffset ?? step.sizeAfter
        if step.sizeAfter < step.sizeBefore && step.sizeAfter > end { step.hasMore = true }
        return step
    }
}

extension WriteTransaction {
    /// As many pages as a word of a bitmap has.
    private static let leastMovedPages: UInt64 = 64
    /// Free pages at the end of the file that are worth a commit.
    #if TOFT_TRIALS
    private static let leastFreePages: UInt64 = 2
    #else
    private static let leastFreePages: UInt64 = 16
    #endif

    /// Moves the last extents and decides the file's future end. False if the file is to stay as it
    /// is. To be called before any change.
    fileprivate func moveLastExtents(atMost byteCount: UInt64, _ step: inout CompactionStep)
        throws(StorageError) -> Bool
    {
        guard let freeSpace = pages.freeSpace else { return false }
        let wanted = max(Self.leastMovedPages, byteCount / UInt64(Page.size))
        let limit = byteCount == 0 ? 0 : Int(clamping: wanted)
        if limit > 0, try fillTrees(extentLimit: limit) {
            step.hasMore = true
            return true
        }
        let log = store.coordinator.log.segments
        var plan = try freeSpace.planStep(movingAtMost: limit, log, in: pages)
        var moved = try move(plan, limit)
        // If the last extents find no gap that is long enough, others before them move, which makes
        // longer ones.
        if moved + plan.relocatedPages == 0 && limit > 0 && plan.pagesBehindCut > 0 {
            plan = try freeSpace.planStep(movingAtMost: .max, log, in: pages)
            moved = try move(plan, limit)
        }
        let kept = log.count { $0.page + $0.pageCount <= plan.cut }
        var isLogMoved = kept > 0 && kept < log.count
        if kept == 0 && !log.isEmpty {
            isLogMoved = try freeSpace.hasRun(of: Int(store.firstLogPages), in: pages)
        }
        moved += plan.relocatedPages
        fileEnd = plan.cut
        step.movedSize = UInt64(moved) * UInt64(Page.size)
        step.heldSize = plan.heldPages * UInt64(Page.size)
        step.hasMore = moved > 0 || isLogMoved
        let filePages = step.sizeBefore / UInt64(Page.size)
        return step.hasMore || filePages >= plan.usedEnd + Self.leastFreePages
    }

    /// False if no tree is to get entries of the insert buffer.
    private func fillTrees(extentLimit: Int) throws(StorageError) -> Bool {
        guard store.activeVersions <= 1 else { return false }
        var due = try trees.catalog.reader.treesToFill(all: false, trees.policy)
        if due.isEmpty { return false }
        try trees.fill(&due, extentLimit: extentLimit, dirtyLimit: store.dirtyLimit)
        return true
    }

    /// Nodes of the trees first; long values once all of them have moved.
    private func move(_ plan: FreeSpace.StepPlan, _ limit: Int) throws(StorageError) -> Int {
        for movesLongValues in [false, true] where limit > 0 && plan.pagesBehindCut > 0 {
            let move = ExtentMove(
                pages: pages, cut: plan.cut, dirtyLimit: store.dirtyLimit,
                movesLongValues: movesLongValues, limit: min(limit, plan.pagesBehindCut))
            try trees.move(move)
            if move.movedPages > 0 { return move.movedPages }
        }
        return 0
    }
}
