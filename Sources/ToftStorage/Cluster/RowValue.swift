/// One value of a row that is inserted whole.
package struct RowValue {
    package var column: UInt32
    /// The caller's number for it.
    package var tag: Int32
    /// The value; null for a list.
    package var cell: Cell
    /// A list's elements are those from `listStart` on that come with the row, `listCount` of them;
    /// -1: not a list.
    var listStart: Int32
    package var listCount: Int32

    package init(column: UInt32, tag: Int = 0, cell: Cell) {
        self.column = column
        self.tag = Int32(truncatingIfNeeded: tag)
        self.cell = cell
        listStart = 0
        listCount = -1
    }

    package init(column: UInt32, tag: Int = 0, list: Range<Int>) {
        self.init(column: column, tag: tag, cell: .null)
        listStart = Int32(truncatingIfNeeded: list.lowerBound)
        listCount = Int32(truncatingIfNeeded: list.count)
    }

    package var isList: Bool { listCount >= 0 }

    /// The range of a list's elements; empty for other values.
    package var list: Range<Int> { Int(listStart)..<Int(listStart &+ max(listCount, 0)) }
}

/// The values of a row that is inserted whole; columns that are not among them get their defaults.
package struct RowContent {
    package let values: UnsafeBufferPointer<RowValue>
    /// The elements of all lists.
    package let elements: UnsafeBufferPointer<Cell>

    package init(values: UnsafeBufferPointer<RowValue>, elements: UnsafeBufferPointer<Cell>) {
        self.values = values
        self.elements = elements
    }

    /// The elements of a list.
    @inline(__always)
    func elements(_ value: RowValue) -> UnsafeBufferPointer<Cell> {
        UnsafeBufferPointer(rebasing: elements[value.list])
    }
}
