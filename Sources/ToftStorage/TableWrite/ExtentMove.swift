/// Moves extents from behind a page to free pages before it.
final class ExtentMove {
    private let pages: PageWriter
    /// The future end of the file.
    private let cut: PageNumber
    /// Bytes of extents above which leaves are spilled.
    private let dirtyLimit: Int
    /// Whether the long values of leaves move too: every leaf is read then.
    private let movesLongValues: Bool
    /// True if extents move even if the file has no free pages for them.
    private let growsFile: Bool
    /// Once this many pages have moved, no other extent does.
    private let limit: Int
    private(set) var movedPages = 0

    init(
        pages: PageWriter, cut: PageNumber, dirtyLimit: Int, movesLongValues: Bool,
        growsFile: Bool = false, limit: Int = .max
    ) {
        self.pages = pages
        self.cut = cut
        self.dirtyLimit = dirtyLimit
        self.movesLongValues = movesLongValues
        self.growsFile = growsFile
        self.limit = limit
    }

    /// Moves the extents of a tree behind the cut: `ref` is its node of a height. O(inner nodes +
    /// moved pages).
    func move(_ ref: inout Ref, height: Int, leafType: ExtentType) throws(StorageError) {
        guard movedPages < limit else { return }
        guard Page.isRun(ref.page, count: ref.pageCount) else {
            throw .corrupt(page: ref.page, reason: "a reference names \(ref.pageCount) pages there")
        }
        let isMoved = try isToMove(ref)
        guard height > 0 else {
            let before = ref
            if isMoved { _ = try pages.edit(&ref, as: leafType) }
            if movesLongValues { try moveLongValues(of: &ref, leafType) }
            if before != ref || movesLongValues { pages.reader.leave(before) }
            return try pages.spill(limit: dirtyLimit)
        }
        if isMoved { _ = try pages.edit(&ref, as: .treeInner) }
        try CurrentCall.checkInterruption()
        let count = try node(ref, height).count
        for index in 0..<count {
            let old = try node(ref, height).child(index)
            var child = old
            try move(&child, height: height - 1, leafType: leafType)
            guard child != old else { continue }
            let base = try pages.edit(&ref, as: .treeInner)
            InnerEditor(base: base, page: ref.page).setChild(index, child)
        }
    }

    /// True if an extent is behind the cut and free pages are before it; it then counts as moved.
    private func isToMove(_ ref: Ref) throws(StorageError) -> Bool {
        guard try canMove(ref) else { return false }
        movedPages += Int(ref.pageCount)
        return true
    }

    private func canMove(_ ref: Ref) throws(StorageError) -> Bool {
        guard ref.birth != pages.version, ref.page + UInt64(ref.pageCount) > cut,
            movedPages < limit
        else { return false }
        if growsFile { return true }
        guard let freeSpace = pages.freeSpace else { return false }
        return try freeSpace.hasRun(of: Int(ref.pageCount), in: pages)
    }

    private func moveLongValues(of ref: inout Ref, _ type: ExtentType) throws(StorageError) {
        var leaf = try pages.view(ref, as: type)
        try pages.reader.verify(ref, leaf, 0..<Int(ref.pageCount) * Page.size)
        for offset in try LongValues.references(in: leaf, of: ref, type) {
            let old = Ref(decoding: leaf + offset)
            guard Page.isRun(old.page, count: old.pageCount) else {
                throw .corrupt(page: ref.page, reason: "a long value is outside the file")
            }
            guard try canMove(old) else { continue }
            let edited = try pages.edit(&ref, as: type)
            leaf = UnsafeRawPointer(edited)
            // The copy of the leaf may have taken the only pages that were enough.
            guard try isToMove(old) else { continue }
            try pages.moveBlob(old).encode(to: edited + offset)
        }
    }

    private func node(_ ref: Ref, _ height: Int) throws(StorageError) -> InnerNode {
        try InnerNode(try pages.view(ref, as: .treeInner), page: ref.page, height: height)
    }
}
