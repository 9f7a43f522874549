/// Finds names by their bytes: each with the position that it was given first.
struct NameIndex {
    private var positions: [ExactName: Int]

    /// The positions of names in a row, from 0 on.
    init(_ names: some Collection<String>) {
        positions = Dictionary(minimumCapacity: names.count)
        for (position, name) in names.enumerated() { add(name, at: position) }
    }

    /// Adds a name, unless it has a position.
    mutating func add(_ name: String, at position: Int) {
        let name = ExactName(text: name)
        if positions[name] == nil { positions[name] = position }
    }

    /// Number of different names.
    var count: Int { positions.count }

    subscript(name: String) -> Int? { positions[ExactName(text: name)] }
}

/// A name that equals another when their bytes do: see `String.isSameName`.
private struct ExactName: Hashable {
    var text: String

    static func == (left: ExactName, right: ExactName) -> Bool {
        left.text.isSameName(as: right.text)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension RandomAccessCollection where Index == Int {
    /// The index of the element with this id, in a collection whose ids ascend. O(log n).
    func index<ID: Comparable>(ofID id: ID, _ idOf: (Element) -> ID) -> Int? {
        var low = startIndex, high = endIndex
        while low < high {
            let middle = low + (high - low) / 2, found = idOf(self[middle])
            if found == id { return middle }
            if found < id { low = middle + 1 } else { high = middle }
        }
        return nil
    }
}
