extension SequenceTree {
    /// Checks every node, element and blob. Reports each extent to `visitor`; throws at the first
    /// damage.
    package func check(_ visitor: any TreeVisitor) throws(StorageError) {
        guard !root.isEmpty else { return }
        var walker = SequenceLeafWalker(space: space, visitor: visitor, kind: try kind())
        try root.check(&walker, in: space, as: .sequenceLeaf, visitor)
    }

    /// Frees every extent of the sequence, blobs included. It is empty afterwards.
    package func freeAll() throws(StorageError) {
        guard !root.isEmpty else { return }
        let kind = try kind()
        try root.freeNodes(in: space) { (ref) throws(StorageError) in
            let block = try SequenceTree.block(try space.view(ref, as: .sequenceLeaf), ref, kind)
            try block.freeBlobs(in: space)
            try space.free(ref)
        }
        root.ref = .nowhere
        root.height = 0
        root.count = 0
    }
}

extension ElementBlock {
    /// Frees the blobs of all elements.
    func freeBlobs(in space: PageSpace) throws(StorageError) {
        guard kind.type == .bytes else { return }
        for index in 0..<count {
            if case .blob(let bytes) = try element(index), let ref = bytes.baseAddress {
                try space.free(Ref(decoding: ref))
            }
        }
    }

    /// Checks every element, and reports the blobs.
    func check(in space: PageSpace, _ visitor: any TreeVisitor) throws(StorageError) {
        try PageCheck.check(self)
        guard kind.type == .bytes else { return }
        for index in 0..<count {
            guard case .blob(let bytes) = try element(index), let base = bytes.baseAddress else {
                continue
            }
            let ref = Ref(decoding: base)
            _ = try space.blob(ref)
            try visitor.visit(ref, as: .blob)
        }
    }
}

private struct SequenceLeafWalker: LeafWalker {
    let space: PageSpace
    let visitor: any TreeVisitor
    let kind: ElementKind

    func leaf(_ ref: Ref, _ base: UnsafeRawPointer, from low: Separator?, below high: Separator?)
        throws(StorageError) -> UInt64
    {
        let block = try SequenceTree.block(base, ref, kind)
        try block.check(in: space, visitor)
        return UInt64(block.count)
    }
}
