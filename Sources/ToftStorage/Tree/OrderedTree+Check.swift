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
        let keys = UnsafeMutableRawPointer.allocate(
            byteCount: 2 * OrderedLeafRewrite.keySize, alignment: 8)
        defer { keys.deallocate() }
        var last: Separator?
        for index in 0..<leaf.count {
            let entry = try leaf.entry(index)
            let key = Separator(
                key: leaf.key(of: entry, in: keys + index % 2 * OrderedLeafRewrite.keySize))
            let isOrdered =
                last.map { $0.compare(key) < 0 } ?? low.map { $0.compare(key) <= 0 } ?? true
            guard isOrdered || Probe.makes(.keyOrderNotChecked),
                high.map({ key.compare($0) < 0 }) ?? true
            else {
                throw .corrupt(page: ref.page, reason: "the keys of a leaf are out of order")
            }
            last = key
            if let blob = entry.blob { try check(blob) }
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
