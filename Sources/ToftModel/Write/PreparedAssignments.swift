internal import ToftStorage

/// Assignments that have been checked: cells whose bytes are the transaction's own.
struct PreparedAssignments {
    /// Each with the position of its property in the class as its tag.
    private(set) var elements: ContiguousArray<RowValue> = []
    private(set) var listCells: ContiguousArray<Cell> = []
    /// For each property by its position in the class: where it is in `elements`, or -1.
    private var places: ContiguousArray<Int32> = []

    mutating func begin(_ owner: ClassHandle) {
        for element in elements { places[element.position] = -1 }
        elements.removeAll(keepingCapacity: true)
        listCells.removeAll(keepingCapacity: true)
        if places.count < owner.properties.count {
            places.append(
                contentsOf: repeatElement(-1, count: owner.properties.count - places.count))
        }
    }

    /// Adds an assignment; a later one of the same property takes the earlier one's place.
    @inline(__always)
    mutating func add(_ element: RowValue) {
        let place = places[element.position]
        if place >= 0 {
            elements[Int(place)] = element
        } else {
            places[element.position] = Int32(truncatingIfNeeded: elements.count)
            elements.append(element)
        }
    }

    mutating func addListCell(_ cell: Cell) {
        listCells.append(cell)
    }

    /// What the property at this position of the class gets, if anything.
    @inline(__always)
    func cell(at position: Int) -> Cell? { value(at: position)?.cell }

    /// The same with the elements of a list.
    @inline(__always)
    func value(at position: Int) -> RowValue? {
        places[position] >= 0 ? elements[Int(places[position])] : nil
    }
}

extension RowValue {
    /// Where the property stands in its class.
    @inline(__always)
    var position: Int { Int(tag) }
}

extension PreparedAssignments {
    /// Lends all that was prepared as the content of a row.
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
