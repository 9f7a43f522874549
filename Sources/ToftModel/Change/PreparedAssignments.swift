internal import ToftStorage

/// Assignments that have been checked: cells whose bytes are the transaction's own.
struct PreparedAssignments {
    struct Element {
        /// Where the property stands in its class.
        var position: Int
        var cell: Cell
        /// The elements of a list are `listCells[listStart..<listStart + listCount]`; -1 for what is no list.
        var listStart = 0
        var listCount = -1

        var isList: Bool { listCount >= 0 }
        var list: Range<Int> { listStart..<listStart &+ max(listCount, 0) }
    }

    private(set) var elements: ContiguousArray<Element> = []
    private(set) var listCells: ContiguousArray<Cell> = []
    /// For each property by its position in the class: where it is in `elements`, or -1.
    private var places: ContiguousArray<Int32> = []

    mutating func begin(_ owner: ClassHandle) {
        for element in elements { places[element.position] = -1 }
        elements.removeAll(keepingCapacity: true)
        listCells.removeAll(keepingCapacity: true)
        if places.count < owner.properties.count {
            places.append(contentsOf: repeatElement(-1, count: owner.properties.count - places.count))
        }
    }

    /// Adds an assignment; a later one of the same property takes the earlier one's place.
    @inline(__always)
    mutating func add(_ element: Element) {
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
    func cell(at position: Int) -> Cell? {
        places[position] >= 0 ? elements[Int(places[position])].cell : nil
    }
}
