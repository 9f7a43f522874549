internal import ToftStorage

/// Assignments that have been checked: cells whose bytes are the transaction's own.
struct PreparedAssignments {
    /// Each with the position of its property in the class as its tag.
    private(set) var elements: ContiguousArray<RowValue> = []
    private(set) var listCells: ContiguousArray<Cell> = []
    /// For each property by its position in the class: its index in `elements`, or -1.
    private var indexes: ContiguousArray<Int32> = []

    mutating func begin(_ owner: ClassHandle) {
        for element in elements { indexes[element.position] = -1 }
        elements.removeAll(keepingCapacity: true)
        listCells.removeAll(keepingCapacity: true)
        if indexes.count < owner.properties.count {
            indexes.append(
                contentsOf: repeatElement(-1, count: owner.properties.count - indexes.count))
        }
    }

    /// Adds an assignment. A later one of the same property reindexes the earlier one.
    @inline(__always)
    mutating func add(_ element: RowValue) {
        let index = indexes[element.position]
        if index >= 0 {
            elements[Int(index)] = element
        } else {
            indexes[element.position] = Int32(truncatingIfNeeded: elements.count)
            elements.append(element)
        }
    }

    mutating func addListCell(_ cell: Cell) {
        listCells.append(cell)
    }

    /// The cell for the property at this position of the class; nil where none was given.
    @inline(__always)
    func cell(at position: Int) -> Cell? { value(at: position)?.cell }

    /// The same with the elements of a list.
    @inline(__always)
    func value(at position: Int) -> RowValue? {
        indexes[position] >= 0 ? elements[Int(indexes[position])] : nil
    }
}

extension RowValue {
    /// The index of the property in its class.
    @inline(__always)
    var position: Int { Int(tag) }
}

extension PreparedAssignments {
    /// Lends all assignments as the content of a row.
    @inline(__always)
    func withContent<Result>(_ body: (RowContent) throws(StorageError) -> Result)
        throws(StorageError) -> Result
    {
        let result: Swift.Result<Result, StorageError> = elements.withUnsafeBufferPointer {
            values in
            listCells.withUnsafeBufferPointer { cells in
                do throws(StorageError) {
                    return .success(try body(RowContent(values: values, elements: cells)))
                } catch { return .failure(error) }
            }
        }
        return try result.get()
    }
}
