internal import ToftStorage

/// A property and the value it is to get.
package struct Assignment {
    package var property: PropertyID
    package var value: BorrowedValue

    package init(_ property: PropertyID, _ value: BorrowedValue) {
        self.property = property
        self.value = value
    }
}

/// What creating does where the primary key exists.
package enum UpdatePolicy: Sendable {
    /// It is an error.
    case error
    /// Sets every given property, also to the value that it has; a given list is emptied and filled again.
    case all
    /// Sets the given properties whose values differ; of a list, the elements that differ.
    case modified
}

/// Assignments that have been checked: cells whose bytes are the transaction's own.
struct PreparedAssignments {
    struct Element {
        var property: PropertyHandle
        var cell: Cell
        /// Where the elements of a list are in `listCells`.
        var list: Range<Int>?
    }

    private(set) var elements: ContiguousArray<Element> = []
    private(set) var listCells: ContiguousArray<Cell> = []
    /// For each property by its position in the class: where it is in `elements`, or -1.
    private var places: ContiguousArray<Int32> = []

    mutating func begin(_ owner: ClassHandle) {
        elements.removeAll(keepingCapacity: true)
        listCells.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        places.append(contentsOf: repeatElement(-1, count: owner.properties.count))
    }

    /// Adds an assignment; a later one of the same property takes the earlier one's place.
    mutating func add(_ element: Element, at position: Int) {
        if places[position] >= 0 {
            elements[Int(places[position])] = element
        } else {
            places[position] = Int32(truncatingIfNeeded: elements.count)
            elements.append(element)
        }
    }

    mutating func addListCell(_ cell: Cell) {
        listCells.append(cell)
    }

    /// What the property at this position of the class gets, if anything.
    func cell(at position: Int) -> Cell? {
        places[position] >= 0 ? elements[Int(places[position])].cell : nil
    }
}

/// Memory for bytes that callers hand in: theirs may lie in the file's own pages, which change while they are written.
final class ByteArena {
    private var chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private var used = 0
    private var large: [UnsafeMutableRawBufferPointer] = []

    deinit {
        reset()
        chunk.deallocate()
    }

    /// Forgets what was copied so far.
    @inline(__always)
    func reset() {
        used = 0
        if !large.isEmpty { freeLarge() }
    }

    private func freeLarge() {
        for buffer in large { buffer.deallocate() }
        large = []
    }

    /// The same bytes, good until `reset`.
    @inline(__always)
    func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard bytes.count <= chunk.count &- used else { return copyLarge(bytes) }
        let copy = UnsafeMutableRawBufferPointer(rebasing: chunk[used..<(used &+ bytes.count)])
        copy.copyMemory(from: bytes)
        used &+= bytes.count
        return UnsafeRawBufferPointer(copy)
    }

    private func copyLarge(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        copy.copyMemory(from: bytes)
        large.append(copy)
        return UnsafeRawBufferPointer(copy)
    }

    /// The same cell with bytes that are good until `reset`.
    @inline(__always)
    func copy(_ cell: Cell) -> Cell {
        if case .bytes(let bytes) = cell { .bytes(copy(bytes)) } else { cell }
    }
}
