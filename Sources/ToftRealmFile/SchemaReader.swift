/// Reads the names, types and places of all tables.
struct SchemaReader {
    static let tableLimit = 65_536
    static let columnLimit = 65_536
    /// No target.
    private static let noTable: Int64 = 0x7FFF_FFFF

    let nodes: NodeReader
    let leaves: LeafReader

    /// The bits of a column's attributes.
    struct Attributes: OptionSet {
        let rawValue: Int64
        static let indexed = Attributes(rawValue: 1)
        static let nullable = Attributes(rawValue: 16)
        static let list = Attributes(rawValue: 32)
        static let dictionary = Attributes(rawValue: 64)
        static let set = Attributes(rawValue: 128)
        static let fullText = Attributes(rawValue: 256)

        var collection: RealmCollection? {
            switch intersection([.list, .dictionary, .set]) {
            case []: RealmCollection.none
            case .list: .list
            case .dictionary: .dictionary
            case .set: .set
            default: nil
            }
        }
    }

    /// The tables below the topmost node.
    func tables(_ top: Int) throws(RealmFileError) -> [RealmTable] {
        let node = try nodes.refs(top, atLeast: 2)
        guard [2, 3, 5, 7, 9, 10, 11, 12].contains(node.size) else {
            throw nodes.damage("the topmost node has \(node.size) slots")
        }
        if node.size > 2, try nodes.tagged(node, 2) > nodes.bytes.size {
            throw .cut("it had \(try nodes.tagged(node, 2)) bytes")
        }
        let names = try texts(try nodes.ref(node, 0), limit: Self.tableLimit)
        let refs = try nodes.refs(try nodes.ref(node, 1))
        guard names.count == refs.size else {
            throw nodes.damage("there are \(names.count) names and \(refs.size) tables")
        }
        var tables: [RealmTable] = [], known = Set<String>()
        for (number, name) in names.enumerated() {
            guard case .ref(let ref) = try nodes.slot(refs, number) else { continue }
            nodes.place = Place(className: name)
            guard known.insert(name).inserted else {
                throw nodes.damage("two tables have the name")
            }
            tables.append(
                leaves.format < 10
                    ? try oldTable(ref, name, number) : try table(ref, name))
        }
        nodes.place = Place()
        try checkTargets(tables)
        return tables
    }

    private func checkTargets(_ tables: [RealmTable]) throws(RealmFileError) {
        var kinds: [Int64: RealmTable.Kind] = [:]
        for table in tables {
            guard kinds.updateValue(table.kind, forKey: table.key) == nil else {
                throw nodes.damage("two tables have the key \(table.key)")
            }
        }
        for table in tables {
            for column in table.columns where column.type == .link {
                nodes.place = Place(className: table.name, property: column.name)
                guard let target = column.target, kinds[target] != nil else {
                    throw nodes.damage("it leads to a table that is not there")
                }
            }
        }
        nodes.place = Place()
    }

    /// Short texts that are names.
    func texts(_ ref: Int, limit: Int) throws(RealmFileError) -> [String] {
        let node = try nodes.node(ref)
        guard !node.hasRefs, node.kind == .values else { throw nodes.damage("names are missing") }
        let wanted = LeafReader.Wanted(type: .string, isNullable: false, limit: limit)
        var names: [String] = []
        for value in try leaves.values(node, wanted) {
            guard case .string(let bytes) = value,
                let name = String(validating: bytes, as: UTF8.self)
            else { throw nodes.damage("a name is no UTF-8") }
            names.append(name)
        }
        return names
    }

    func numbers(_ ref: Int) throws(RealmFileError) -> [Int64] {
        let node = try nodes.numbers(ref)
        guard node.size <= Self.columnLimit else {
            throw nodes.damage("there are too many columns")
        }
        return (0..<node.size).map { node.number($0) }
    }

    // MARK: Formats from 10 on

    private func table(_ ref: Int, _ name: String) throws(RealmFileError) -> RealmTable {
        let node = try nodes.refs(ref, atLeast: 9)
        guard case .nothing = try nodes.slot(node, 1) else { throw .interruptedUpgrade }
        let spec = try nodes.refs(try nodes.ref(node, 0), atLeast: 6)
        let types = try numbers(try nodes.ref(spec, 0))
        let names = try texts(try nodes.ref(spec, 1), limit: Self.columnLimit)
        let attributes = try numbers(try nodes.ref(spec, 2))
        let keys = try numbers(try nodes.ref(spec, 5))
        guard types.count == attributes.count, types.count == keys.count,
            names.count <= types.count
        else { throw nodes.damage("the parts of its schema have different sizes") }
        let enumerated = try nodes.optionalRef(spec, 4).map { ref throws(RealmFileError) in
            try nodes.refs(ref)
        }
        let targets = try numbers(try nodes.ref(node, 7))
        let indexes = try nodes.optionalRef(node, 4).map { ref throws(RealmFileError) in
            try nodes.refs(ref)
        }
        let flags = node.size > 12 ? try nodes.tagged(node, 12) : 0
        let kind: RealmTable.Kind
        switch flags & 3 {
        case 0: kind = .object
        case 1: kind = .embedded
        case 2: kind = .asymmetric
        default: throw nodes.damage("it is of an unknown kind")
        }
        var columns: [RealmColumn] = [], positions = Set<Int>(), known = Set<String>()
        for index in types.indices {
            let key = keys[index], position = Int(key & 0xFFFF)
            guard positions.insert(position).inserted else {
                throw nodes.damage("two columns are at one place")
            }
            guard index < names.count else { continue }
            nodes.place.property = names[index]
            guard !names[index].isEmpty, known.insert(names[index]).inserted else {
                throw nodes.damage("a column has no name, or one that another has")
            }
            let attribute = Attributes(rawValue: attributes[index])
            let texts =
                enumerated.map { $0.size > index } == true
                ? try self.enumerated(enumerated, index) : nil
            columns.append(
                try column(
                    names[index], key: key, texts,
                    index: attribute.contains(.fullText)
                        ? .fullText
                        : indexes.map({ position < $0.size && $0.number(position) != 0 }) == true
                            ? .general : .none,
                    target: position < targets.count ? targets[position] : Self.noTable))
        }
        nodes.place.property = ""
        var primaryKey: Int?
        if node.size > 11, case .tagged(let key) = try nodes.slot(node, 11) {
            primaryKey = try self.primaryKey(key, kind, keys, names, columns)
        }
        return RealmTable(
            name: name, kind: kind, key: try nodes.tagged(node, 3), columns: columns,
            primaryKey: primaryKey,
            rows: .clusters(try nodes.ref(node, 2)))
    }

    private func enumerated(_ texts: Node?, _ index: Int) throws(RealmFileError) -> [RealmValue]? {
        guard let texts, let ref = try nodes.optionalRef(texts, index) else { return nil }
        return try leaves.values(
            try nodes.node(ref),
            LeafReader.Wanted(type: .string, isNullable: true, limit: nodes.end))
    }

    private func column(
        _ name: String, key: Int64, _ texts: [RealmValue]?, index: RealmColumn.Index, target: Int64
    ) throws(RealmFileError) -> RealmColumn {
        // The key gives the layout of the values; an index may have been added or removed since.
        let number = Int((key >> 16) & 0x3F)
        let own = Attributes(rawValue: (key >> 22) & 0xFF)
        guard let type = RealmType(rawValue: number == 13 ? 12 : number) else {
            if number == 16 { throw .unsupported("a column of typed links") }
            throw nodes.damage("it is of the unknown type \(number)")
        }
        guard let collection = number == 13 ? RealmCollection.list : own.collection else {
            throw nodes.damage("it is two kinds of collection at once")
        }
        return RealmColumn(
            name: name, type: type, collection: collection,
            isNullable: own.contains(.nullable), target: type == .link ? target : nil,
            index: index, isOldDate: false, position: Int(key & 0xFFFF), texts: texts)
    }

    private func primaryKey(
        _ key: Int64, _ kind: RealmTable.Kind, _ keys: [Int64], _ names: [String],
        _ columns: [RealmColumn]
    ) throws(RealmFileError) -> Int {
        guard kind != .embedded, let index = keys.firstIndex(of: key), index < names.count,
            columns.indices.contains(index), columns[index].collection == .none,
            [.int, .string, .objectId, .uuid].contains(columns[index].type)
        else { throw nodes.damage("its primary key can't be one") }
        return index
    }
}
