internal import ToftStorage

/// Assignments that have been checked: cells whose bytes are the transaction's own.
struct PreparedAssignments {
    /// Each with the position of its property in the class as its tag; the keys of a dictionary are
    /// an element of their own, whose tag is negative.
    private(set) var elements: ContiguousArray<RowValue> = []
    private(set) var listCells: ContiguousArray<Cell> = []
    /// For each property by its position in the class: its index in `elements`, or -1.
    private var indexes: ContiguousArray<Int32> = []
    /// The indexes of the keys of dictionaries; empty until one is assigned.
    private var keyIndexes: ContiguousArray<Int32> = []

    mutating func begin(_ owner: ClassHandle) {
        for element in elements {
            if element.isKeys {
                keyIndexes[element.position] = -1
            } else {
                indexes[element.position] = -1
            }
        }
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

    /// Adds the assignment of a dictionary: its values, and behind them as many keys.
    mutating func addDictionary(_ values: Range<Int>, _ property: PropertyHandle, _ position: Int) {
        add(RowValue(column: property.column, tag: position, list: values))
        if keyIndexes.count < indexes.count {
            keyIndexes.append(
                contentsOf: repeatElement(-1, count: indexes.count - keyIndexes.count))
        }
        let keys = RowValue(
            column: property.keysColumn, tag: -1 - position,
            list: values.upperBound..<values.upperBound + values.count)
        if keyIndexes[position] >= 0 {
            elements[Int(keyIndexes[position])] = keys
        } else {
            keyIndexes[position] = Int32(truncatingIfNeeded: elements.count)
            elements.append(keys)
        }
    }

    /// Sorts the cells from `first` on, values of a type, and drops those that equal another.
    mutating func makeSet(from first: Int, of type: PropertyType) {
        listCells[first...].sort { $0.isBefore($1, of: type) }
        var last = first
        for index in listCells.indices.dropFirst(first + 1)
        where listCells[last].isBefore(listCells[index], of: type) {
            last += 1
            listCells[last] = listCells[index]
        }
        if last + 1 < listCells.count { listCells.removeSubrange((last + 1)...) }
    }

    /// Replaces the cells from `first` on, keys and values in turn, by the values in the order of
    /// their keys, and then the keys. Of equal keys the last one counts.
    mutating func makeDictionary(from first: Int) {
        let count = (listCells.count - first) / 2
        var entries = (0..<count).map {
            (key: listCells[first + 2 * $0], value: listCells[first + 2 * $0 + 1], index: $0)
        }
        entries.sort {
            $0.key.isBefore($1.key, of: .string)
                || (!$1.key.isBefore($0.key, of: .string) && $0.index > $1.index)
        }
        var distinct = entries.prefix(1)
        for entry in entries.dropFirst() {
            guard let last = distinct.last, last.key.isBefore(entry.key, of: .string) else {
                continue
            }
            distinct.append(entry)
        }
        listCells.removeSubrange(first...)
        listCells.append(contentsOf: distinct.lazy.map(\.value))
        listCells.append(contentsOf: distinct.lazy.map(\.key))
    }

    /// The cell for the property at this position of the class; nil if it got no value.
    @inline(__always)
    func cell(at position: Int) -> Cell? { value(at: position)?.cell }

    /// The value for the property at this position, with the elements of a list.
    @inline(__always)
    func value(at position: Int) -> RowValue? {
        indexes[position] >= 0 ? elements[Int(indexes[position])] : nil
    }
}

extension RowValue {
    /// Whether these are the keys of a dictionary, whose values are another element.
    @inline(__always)
    var isKeys: Bool { tag < 0 }

    /// The index of the property in its class.
    @inline(__always)
    var position: Int { Int(tag < 0 ? -1 - tag : tag) }
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
