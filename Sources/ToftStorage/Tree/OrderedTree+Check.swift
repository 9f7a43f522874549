internal import ToftPlatform

extension OrderedTree {
    /// Checks every node, entry and blob: order, bounds, counts, checksums. Reports each extent to
    /// `visitor`; throws at the first damage.
    package func check(_ visitor: any TreeVisitor) throws(StorageError) {
        var walker = OrderedLeafWalker(space: space, visitor: visitor)
        try root.check(&walker, in: space, as: .orderedLeaf, visitor)
    }

    /// Frees every extent of the tree, which is empty afterwards, and takes its entries out of the
    /// delta.
    package func freeAll() throws(StorageError) {
        try share?.deleteAll()
        place = nil
        try root.freeNodes(in: space) { (ref) throws(StorageError) in
            let leaf = try OrderedLeaf(try space.view(ref, as: .orderedLeaf), page: ref.page)
            for index in 0..<leaf.count {
                if let blob = try leaf.entry(index).blob { try space.free(blob) }
            }
            try space.free(ref)
        }
        root = TreeRoot(kind: .ordered)
    }
}

private struct OrderedLeafWalker: LeafWalker {
    let space: PageSpace
    let visitor: any TreeVisitor

    func leaf(_ ref: Ref, _ base: UnsafeRawPointer, from low: Separator?, below high: Separator?)
        throws(StorageError) -> UInt64
    {
        let leaf = try OrderedLeaf(base, page: ref.page)
        try PageCheck.check(leaf)
        // Its keys ascend: the first and the last stand for all.
        let keys = UnsafeMutableRawPointer.allocate(
            byteCount: 2 * OrderedLeafRewrite.keySize, alignment: 8)
        defer { keys.deallocate() }
        let first = Separator(key: leaf.key(of: try leaf.entry(0), in: keys))
        let last = Separator(
            key: leaf.key(
                of: try leaf.entry(leaf.count - 1), in: keys + OrderedLeafRewrite.keySize))
        guard low.map({ $0.compare(first) <= 0 }) ?? true,
            high.map({ last.compare($0) < 0 }) ?? true
        else {
            throw .corrupt(
                page: ref.page, reason: "the keys of a leaf lie outside of its separators")
        }
        for index in 0..<leaf.count {
            if let blob = try leaf.entry(index).blob { try check(blob) }
        }
        return UInt64(leaf.count)
    }

    private func check(_ blob: Ref) throws(StorageError) {
        guard try space.blob(blob).count > TreeLimits.inlineValue else {
            throw .corrupt(page: blob.page, reason: "a blob is too short to be one")
        }
        try visitor.visit(blob, as: .blob)
    }
}
