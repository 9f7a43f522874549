/// One change of a block: a range of elements gives way to at most one new element.
struct ElementEdit {
    private let removed: Range<Int>
    private let element: Element?

    init(replacing removed: Range<Int>, with element: Element?) {
        self.removed = removed
        self.element = element
    }

    /// Writes the changed block into scratch memory. The old block stays as it is, so the new
    /// element may borrow from it.
    func apply(
        to old: ElementBlock, kind: ElementKind, in scratch: UnsafeMutableRawPointer, capacity: Int
    ) throws(StorageError) -> ElementBlock {
        let count = old.count - removed.count + (element == nil ? 0 : 1)
        var writer = try ElementWriter(
            scratch, capacity: capacity, kind: kind, count: count, page: old.page)
        try writer.append(0..<removed.lowerBound, of: old)
        if let element { try writer.append(element, page: old.page) }
        try writer.append(removed.upperBound..<old.count, of: old)
        return try ElementBlock(scratch, available: capacity, kind: kind, page: old.page)
    }
}
