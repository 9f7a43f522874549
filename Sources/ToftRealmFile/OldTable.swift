extension SchemaReader {
    /// A table of formats 2 to 9: two parts, and a tree for each column.
    func oldTable(_ ref: Int, _ name: String, _ number: Int) throws(RealmFileError) -> RealmTable {
        let node = try nodes.refs(ref, atLeast: 2)
        guard node.size == 2 else { throw .interruptedUpgrade }
        let spec = try OldSpec(self, try nodes.ref(node, 0))
        let refs = try nodes.refs(try nodes.ref(node, 1))
        var columns: [RealmColumn] = [], slot = 0, known = Set<String>()
        for index in spec.types.indices {
            let isIndexed = spec.attributes[index].contains(.indexed)
            defer { slot += isIndexed ? 2 : 1 }
            guard slot < refs.size else { throw nodes.damage("a column is missing") }
            guard index < spec.names.count, spec.types[index] != OldSpec.backlink else { continue }
            var name = spec.names[index]
            if name.isEmpty { name = "col_\(index)" }
            if known.contains(name) { name += "_\(index)" }
            guard known.insert(name).inserted else {
                throw nodes.damage("two columns have one name")
            }
            nodes.place.property = name
            columns.append(
                try spec.column(
                    index, name, isIndexed: isIndexed, position: slot,
                    ref: try nodes.optionalRef(refs, slot) ?? 0))
        }
        nodes.place.property = ""
        return RealmTable(
            name: name, kind: .object, key: Int64(number), columns: columns, primaryKey: nil,
            rows: .columns)
    }
}

/// The schema of a table before format 10.
private struct OldSpec {
    static let backlink: Int64 = 14
    private static let enumeratedText: Int64 = 3, subtable: Int64 = 5, oldDate: Int64 = 7
    private static let link: Int64 = 12, links: Int64 = 13

    let types: [Int64]
    let names: [String]
    let attributes: [SchemaReader.Attributes]
    private let schema: SchemaReader
    /// For each column, the first of its entries among the sub-specs.
    private let entries: [Int]
    private let subspecs: Node?
    /// For each column of texts by number, its texts.
    private let texts: [Int: [RealmValue]]

    private var nodes: NodeReader { schema.nodes }

    init(_ schema: SchemaReader, _ ref: Int) throws(RealmFileError) {
        let nodes = schema.nodes
        self.schema = schema
        let node = try nodes.refs(ref, atLeast: 3)
        guard node.size <= 5 else { throw nodes.damage("its schema has \(node.size) parts") }
        types = try schema.numbers(try nodes.ref(node, 0))
        names = try schema.texts(try nodes.ref(node, 1), limit: SchemaReader.columnLimit)
        attributes = try schema.numbers(try nodes.ref(node, 2)).map {
            SchemaReader.Attributes(rawValue: $0)
        }
        guard types.count == attributes.count, names.count <= types.count else {
            throw nodes.damage("the parts of its schema have different sizes")
        }
        subspecs =
            node.size > 3
            ? try nodes.optionalRef(node, 3).map { ref throws(RealmFileError) in
                try nodes.refs(ref)
            } : nil
        var entries: [Int] = [], next = 0, enumerated: [Int] = []
        for (index, type) in types.enumerated() {
            entries.append(next)
            switch type {
            case Self.link, Self.links, Self.subtable: next += 1
            case Self.backlink: next += 2
            case Self.enumeratedText: enumerated.append(index)
            default: break
            }
        }
        self.entries = entries
        var texts: [Int: [RealmValue]] = [:]
        if !enumerated.isEmpty {
            guard node.size > 4 else { throw nodes.damage("texts are encoded by unknown numbers") }
            let refs = try nodes.refs(try nodes.ref(node, 4), atLeast: enumerated.count)
            for (position, index) in enumerated.enumerated() {
                var values: [RealmValue] = []
                _ = try nodes.forEachLeaf(try nodes.ref(refs, position)) {
                    leaf throws(RealmFileError) in
                    let found = try schema.leaves.values(
                        leaf,
                        LeafReader.Wanted(type: .string, isNullable: true, limit: nodes.end))
                    values += found
                    return found.count
                }
                texts[index] = values
            }
        }
        self.texts = texts
    }

    func column(_ index: Int, _ name: String, isIndexed: Bool, position: Int, ref: Int)
        throws(RealmFileError) -> RealmColumn
    {
        var number = types[index], isNullable = attributes[index].contains(.nullable)
        var collection = RealmCollection.none, target: Int64?
        switch number {
        case Self.enumeratedText: number = 2
        case Self.oldDate: number = 8
        case Self.link:
            target = try self.target(index)
            isNullable = true
        case Self.links:
            number = 12
            collection = .list
            target = try self.target(index)
        case Self.subtable:
            let element = try self.element(index)
            number = element.type
            isNullable = element.isNullable
            collection = .list
        case 6: throw .unsupported("an old mixed column")
        default: break
        }
        guard let type = RealmType(rawValue: Int(clamping: number)), type.isOld else {
            throw nodes.damage("it is of the unknown type \(number)")
        }
        return RealmColumn(
            name: name, type: type, collection: collection, isNullable: isNullable, target: target,
            index: isIndexed ? .general : .none, isOldDate: types[index] == Self.oldDate,
            position: position, texts: texts[index], ref: ref, isOld: true)
    }

    private func target(_ index: Int) throws(RealmFileError) -> Int64 {
        guard let subspecs, entries[index] < subspecs.size else {
            throw nodes.damage("a link leads nowhere")
        }
        return try nodes.tagged(subspecs, entries[index])
    }

    /// The one column of a subtable.
    private func element(_ index: Int) throws(RealmFileError) -> (type: Int64, isNullable: Bool) {
        guard let subspecs, entries[index] < subspecs.size else {
            throw nodes.damage("a list has no type")
        }
        let spec = try nodes.refs(try nodes.ref(subspecs, entries[index]), atLeast: 3)
        let types = try schema.numbers(try nodes.ref(spec, 0))
        let attributes = try schema.numbers(try nodes.ref(spec, 2))
        guard types.count == 1, attributes.count == 1 else {
            throw .unsupported("a subtable of several columns")
        }
        return (
            types[0], SchemaReader.Attributes(rawValue: attributes[0]).contains(.nullable)
        )
    }
}

extension RealmType {
    /// Whether there were columns of it before format 10.
    fileprivate var isOld: Bool {
        switch self {
        case .int, .bool, .string, .data, .timestamp, .float, .double, .link: true
        case .mixed, .decimal, .objectId, .uuid: false
        }
    }
}

/// Reads the objects of a table before format 10, column by column: all of a column's values are in
/// memory at once.
struct OldTable {
    private static let batch = 1_000

    let nodes: NodeReader
    let leaves: LeafReader
    let table: RealmTable

    func forEach(
        _ columns: [RealmColumn], _ body: (RealmFile.Objects) throws(RealmFileError) -> Void
    ) throws(RealmFileError) {
        // A table has as many objects as its first column has values.
        guard let first = table.columns.first else { return }
        var wanted = columns
        let asksFirst = columns.contains { $0.position == first.position }
        if !asksFirst { wanted.append(first) }
        var values: [[RealmValue]] = []
        for column in wanted {
            nodes.place.property = column.name
            values.append(try self.values(column))
        }
        nodes.place.property = ""
        let count = values.first?.count ?? 0
        guard values.allSatisfy({ $0.count == count }) else {
            throw nodes.damage("its columns have different numbers of values")
        }
        if !asksFirst { values.removeLast() }
        for start in stride(from: 0, to: count, by: Self.batch) {
            let rows = start..<min(start + Self.batch, count)
            try body(
                RealmFile.Objects(
                    keys: rows.map { Int64($0) }, columns: values.map { Array($0[rows]) }))
        }
    }

    private func values(_ column: RealmColumn) throws(RealmFileError) -> [RealmValue] {
        guard column.ref != 0 else { throw nodes.damage("it has no values") }
        guard column.collection == .list else { return try tree(column.ref, column) }
        var lists: [RealmValue] = []
        _ = try nodes.forEachLeaf(column.ref) { leaf throws(RealmFileError) in
            guard leaf.kind == .numbers, leaf.size <= LeafReader.leafSize else {
                throw nodes.damage("a leaf of lists has \(leaf.size)")
            }
            try nodes.charge(leaf.size)
            for index in 0..<leaf.size {
                guard let ref = try nodes.optionalRef(leaf, index) else {
                    lists.append(.list([]))
                    continue
                }
                if column.type == .link {
                    lists.append(.list(try tree(ref, column)))
                } else {
                    let rows = try nodes.refs(ref, atLeast: 1)
                    guard let values = try nodes.optionalRef(rows, 0) else {
                        lists.append(.list([]))
                        continue
                    }
                    lists.append(.list(try tree(values, column)))
                }
            }
            return leaf.size
        }
        return lists
    }

    /// All values of a tree.
    private func tree(_ ref: Int, _ column: RealmColumn) throws(RealmFileError) -> [RealmValue] {
        if column.type == .timestamp, !column.isOldDate {
            let parts = try nodes.refs(ref, atLeast: 2)
            let seconds = try numbers(try nodes.ref(parts, 0), isNullable: true)
            let nanoseconds = try numbers(try nodes.ref(parts, 1), isNullable: false)
            return try leaves.dates(seconds, nanoseconds)
        }
        if column.isOldDate {
            let seconds = try numbers(ref, isNullable: column.isNullable)
            return try leaves.dates(seconds, seconds.map { _ in 0 })
        }
        var wanted = LeafReader.Wanted(type: column.type, isNullable: column.isNullable)
        wanted.target = column.target ?? 0
        wanted.isInCluster = column.type == .link && column.collection == .none
        wanted.texts = column.texts
        var values: [RealmValue] = []
        _ = try nodes.forEachLeaf(ref) { leaf throws(RealmFileError) in
            let found = try leaves.values(leaf, wanted)
            values += found
            return found.count
        }
        return values
    }

    private func numbers(_ ref: Int, isNullable: Bool) throws(RealmFileError) -> [Int64?] {
        let wanted = LeafReader.Wanted(type: .int, isNullable: isNullable)
        var numbers: [Int64?] = []
        _ = try nodes.forEachLeaf(ref) { leaf throws(RealmFileError) in
            let found = try leaves.integers(leaf, wanted)
            numbers += found
            return found.count
        }
        return numbers
    }
}
