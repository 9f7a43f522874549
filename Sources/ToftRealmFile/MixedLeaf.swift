/// Decodes a leaf of mixed values: one number each, which is the value or its position.
struct MixedLeaf {
    private let leaves: LeafReader
    private let nodes: NodeReader
    private let target: Int64
    /// Collections around the values.
    private let nesting: Int
    private let composites: Node
    private let integers: Node?
    private let pairs: Node?
    private let texts: [RealmValue]
    private let collections: Node?

    init(_ leaves: LeafReader, _ node: Node, _ wanted: LeafReader.Wanted, _ nesting: Int)
        throws(RealmFileError)
    {
        let nodes = leaves.nodes
        guard node.hasRefs, node.kind == .numbers, (4...6).contains(node.size) else {
            throw nodes.damage("a leaf of mixed values does not have its parts")
        }
        self.leaves = leaves
        self.nodes = nodes
        self.nesting = nesting
        target = wanted.target
        let composites = try nodes.numbers(try nodes.ref(node, 0))
        guard composites.size <= wanted.limit else {
            throw nodes.damage("a leaf has \(composites.size) values, more than fit")
        }
        self.composites = composites
        integers = try Self.numbers(nodes, node, 1)
        pairs = try Self.numbers(nodes, node, 2)
        if let ref = try nodes.optionalRef(node, 3) {
            texts = try leaves.strings(
                try nodes.node(ref),
                LeafReader.Wanted(type: .string, isNullable: true, limit: composites.size))
        } else {
            texts = []
        }
        if node.size > 4, let ref = try nodes.optionalRef(node, 4) {
            collections = try nodes.refs(ref)
        } else {
            collections = nil
        }
    }

    private static func numbers(_ nodes: NodeReader, _ node: Node, _ slot: Int)
        throws(RealmFileError) -> Node?
    {
        guard let ref = try nodes.optionalRef(node, slot) else { return nil }
        return try nodes.numbers(ref)
    }

    func values() throws(RealmFileError) -> [RealmValue] {
        var values: [RealmValue] = []
        for index in 0..<composites.size { values.append(try value(composites.number(index))) }
        return values
    }

    private func value(_ composite: Int64) throws(RealmFileError) -> RealmValue {
        guard composite != 0 else { return .null }
        let type = Int(composite & 31) - 1, slot = Int((composite >> 5) & 7)
        let place = composite >> 8
        switch (type, slot) {
        case (0, 0): return .int(place)
        case (0, 1): return .int(try integer(place))
        case (1, 0): return .bool(place != 0)
        case (9, 1): return .float(UInt32(truncatingIfNeeded: try integer(place)))
        case (10, 1): return .double(UInt64(bitPattern: try integer(place)))
        case (2, 3): return try isTooLong(place) ? .tooLong : .string(try bytes(place))
        case (4, 3): return try isTooLong(place) ? .tooLong : .data(try bytes(place))
        case (15, 3): return .objectId(try bytes(place, count: 12))
        case (17, 3): return .uuid(try bytes(place, count: 16))
        case (8, 2):
            let (seconds, nanoseconds) = try pair(place)
            return try leaves.date(seconds, nanoseconds)
        case (11, 2):
            let (low, high) = try pair(place)
            return .decimal(low: UInt64(bitPattern: low), high: UInt64(bitPattern: high))
        case (16, 2):
            let (table, key) = try pair(place)
            return key < 0 ? .null : .link(table: table, key: key)
        case (12, 1):
            let key = try integer(place)
            return key < 0 ? .null : .link(table: target, key: key)
        case (19, 4): return try collection(place, isDictionary: false)
        case (21, 4): return try collection(place, isDictionary: true)
        default: throw nodes.damage("a mixed value is of the unknown type \(type)")
        }
    }

    private func integer(_ place: Int64) throws(RealmFileError) -> Int64 {
        guard let integers, place >= 0, place < integers.size else { throw lost(place) }
        return integers.number(Int(place))
    }

    private func pair(_ place: Int64) throws(RealmFileError) -> (Int64, Int64) {
        guard let pairs, place >= 0, place < pairs.size / 2 else { throw lost(place) }
        return (pairs.number(2 * Int(place)), pairs.number(2 * Int(place) + 1))
    }

    private func isTooLong(_ place: Int64) throws(RealmFileError) -> Bool {
        guard place >= 0, place < texts.count else { throw lost(place) }
        return texts[Int(place)] == .tooLong
    }

    /// The bytes of a text, an empty one if Realm reads null.
    private func bytes(_ place: Int64, count: Int? = nil) throws(RealmFileError) -> [UInt8] {
        guard place >= 0, place < texts.count else { throw lost(place) }
        var bytes: [UInt8] = []
        if case .string(let found) = texts[Int(place)] { bytes = found }
        if let count, bytes.count != count { throw nodes.damage("an id has \(bytes.count) bytes") }
        return bytes
    }

    private func collection(_ place: Int64, isDictionary: Bool) throws(RealmFileError)
        -> RealmValue
    {
        guard let collections, place >= 0, place < collections.size else { throw lost(place) }
        guard nesting < LeafReader.nestingLimit else {
            throw nodes.damage("more than \(LeafReader.nestingLimit) collections are nested")
        }
        let ref = try nodes.optionalRef(collections, Int(place))
        let wanted = LeafReader.Wanted(type: .mixed, isNullable: true)
        guard isDictionary else {
            return .list(
                try ref.map { ref throws(RealmFileError) in
                    try leaves.elements(ref, wanted, nesting: nesting + 1)
                } ?? [])
        }
        return .dictionary(
            try ref.map { ref throws(RealmFileError) in
                try leaves.entries(ref, wanted, nesting: nesting + 1)
            } ?? [])
    }

    private func lost(_ place: Int64) -> RealmFileError {
        nodes.damage("a mixed value is at \(place), where nothing is stored")
    }
}
