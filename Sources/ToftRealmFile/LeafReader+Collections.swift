extension LeafReader {
    /// The value of a column that holds many for each object.
    func collection(_ ref: Int, _ column: RealmColumn) throws(RealmFileError) -> RealmValue {
        var wanted = Wanted(type: column.type, isNullable: column.isNullable)
        wanted.target = column.target ?? 0
        if column.collection != .dictionary { return .list(try elements(ref, wanted)) }
        // All dictionaries hold mixed values, and links by their table.
        wanted.type = .mixed
        let entries = try entries(ref, wanted)
        for entry in entries where !entry.value.isOf(column) {
            throw nodes.damage("a dictionary holds a value of another type")
        }
        return .dictionary(entries)
    }

    /// The values of a list or a set.
    func elements(_ ref: Int, _ wanted: Wanted, nesting: Int = 0) throws(RealmFileError)
        -> [RealmValue]
    {
        var elements: [RealmValue] = []
        _ = try nodes.forEachLeaf(ref) { leaf throws(RealmFileError) in
            let values = try values(leaf, wanted, nesting: nesting)
            elements += values
            // Links to objects that were deleted are left out, and count all the same.
            return wanted.type == .link ? leaf.size : values.count
        }
        return elements
    }

    /// The entries of a dictionary in the order of the file.
    func entries(_ ref: Int, _ wanted: Wanted, nesting: Int = 0) throws(RealmFileError)
        -> [RealmEntry]
    {
        let keyed = Wanted(type: .string, isNullable: false)
        var keys: [RealmValue] = [], values: [RealmValue] = []
        if format < 23 {
            try ClusterTree(nodes: nodes).forEach(ref) { cluster throws(RealmFileError) in
                guard cluster.node.size >= 3 else {
                    throw nodes.damage("a dictionary has no values")
                }
                keys += try self.values(
                    try nodes.node(try nodes.ref(cluster.node, 1)), keyed)
                values += try self.values(
                    try nodes.node(try nodes.ref(cluster.node, 2)), wanted, nesting: nesting)
            }
        } else {
            let node = try nodes.refs(ref, atLeast: 2)
            keys = try elements(try nodes.ref(node, 0), keyed)
            values = try elements(try nodes.ref(node, 1), wanted, nesting: nesting)
        }
        guard keys.count == values.count else {
            throw nodes.damage("a dictionary has \(keys.count) keys and \(values.count) values")
        }
        var known = Set<[UInt8]>()
        var entries: [RealmEntry] = []
        for (key, value) in zip(keys, values) {
            guard case .string(let key) = key, known.insert(key).inserted else {
                throw nodes.damage("a dictionary has a key twice")
            }
            entries.append(RealmEntry(key: key, value: value))
        }
        if format < 23 { entries.sort { $0.key.lexicographicallyPrecedes($1.key) } }
        return entries
    }
}

extension RealmValue {
    /// Whether a column may hold the value.
    fileprivate func isOf(_ column: RealmColumn) -> Bool {
        switch (self, column.type) {
        case (_, .mixed): true
        case (.null, .link): true
        case (.null, _): column.isNullable
        case (.tooLong, .string), (.tooLong, .data): true
        case (.int, .int), (.bool, .bool), (.string, .string), (.data, .data),
            (.timestamp, .timestamp), (.float, .float), (.double, .double), (.decimal, .decimal),
            (.objectId, .objectId), (.uuid, .uuid):
            true
        case (.link(let table, _), .link): table == column.target
        default: false
        }
    }
}
