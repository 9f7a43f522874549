internal import ToftEngine
internal import ToftModel

/// A class of a plan whose tables and columns were found.
struct PlannedClass {
    /// A property of one column.
    struct Value {
        let property: Int
        let column: Int
        let dates: DateForm?
    }

    /// A link.
    struct Reference {
        let property: Int
        let columns: [Int]
        /// The index of the class that it leads to.
        let target: Int
        /// The columns of the target's table that name a row.
        let key: [String]
    }

    /// A list of links.
    struct Join {
        let property: Int
        let table: SQLiteTable
        let from: Int
        let to: Int
        let owner: Int
        let ownerKey: [String]
        let target: Int
        let targetKey: [String]
    }

    let table: SQLiteTable
    let declared: ClassSchema
    private(set) var values: [Value] = []
    private(set) var references: [Reference] = []
    private(set) var joins: [Join] = []

    /// Whether its objects, or its lists, come from a table.
    func reads(_ name: String) -> Bool {
        table.name.isSameIdentifier(as: name)
            || joins.contains { $0.table.name.isSameIdentifier(as: name) }
    }

    /// The classes of a plan.
    /// - Throws: `invalidSchema` if the file does not have what it names.
    static func all(_ plan: SQLitePlan, _ catalog: SQLiteCatalog) throws(EngineError)
        -> [PlannedClass]
    {
        var classes: [PlannedClass] = []
        for planned in plan.classes {
            guard let table = catalog.table(planned.table) else {
                throw EngineError(
                    .invalidSchema,
                    "Class '\(planned.declared.name)' is to come from table '\(planned.table)', "
                        + "which the SQLite file does not have.")
            }
            classes.append(PlannedClass(table: table, declared: planned.declared))
        }
        for index in classes.indices {
            try classes[index].find(plan.classes[index].sources, index, classes, catalog)
        }
        return classes
    }

    private init(table: SQLiteTable, declared: ClassSchema) {
        self.table = table
        self.declared = declared
    }

    private mutating func find(
        _ sources: [SQLitePlan.Source], _ own: Int, _ classes: [PlannedClass],
        _ catalog: SQLiteCatalog
    ) throws(EngineError) {
        for (position, source) in sources.enumerated() {
            let property = declared.properties[position]
            guard !declared.isEmbedded, property.type != .linkingObjects else {
                if property.type == .linkingObjects { continue }
                throw failure(property, "belongs to an embedded class, and rows are none")
            }
            switch source {
            case .column(let name, let dates):
                guard property.type != .link, property.collection == .none else {
                    throw failure(
                        property,
                        "is \(property.type == .link ? "a link" : "a collection"), and has no "
                            + "column with keys, and no table that joins rows")
                }
                values.append(
                    Value(property: position, column: try column(name, property), dates: dates))
            case .reference(let names):
                guard property.collection == .none else {
                    throw failure(property, "is a collection, and columns of a row have one key")
                }
                var columns: [Int] = []
                for name in names { columns.append(try column(name, property)) }
                let target = try target(property, classes)
                let key = try key(of: classes[target].table, columns, property)
                references.append(
                    Reference(property: position, columns: columns, target: target, key: key))
            case .join(let name, let from, let to):
                guard property.type == .link, property.collection == .list else {
                    throw failure(
                        property, "comes from a table that joins rows, and is no list of links")
                }
                guard let joining = catalog.table(name), let first = joining.column(from),
                    let second = joining.column(to)
                else {
                    throw failure(
                        property,
                        "is to come from columns '\(from)' and '\(to)' of table '\(name)', which "
                            + "the SQLite file does not have")
                }
                let target = try target(property, classes)
                joins.append(
                    Join(
                        property: position, table: joining, from: first, to: second, owner: own,
                        ownerKey: try key(table, joining, [first], property), target: target,
                        targetKey: try key(
                            classes[target].table, joining, [second], property)))
            }
        }
    }

    private func failure(_ property: PropertySchema, _ what: String) -> EngineError {
        EngineError(.invalidSchema, "Property '\(declared.name).\(property.name)' \(what).")
    }

    private func column(_ name: String, _ property: PropertySchema) throws(EngineError) -> Int {
        guard let column = table.column(name) else {
            throw failure(
                property, "is to come from column '\(name)', which table '\(table.name)' lacks")
        }
        return column
    }

    private func target(_ property: PropertySchema, _ classes: [PlannedClass])
        throws(EngineError) -> Int
    {
        let name = property.target ?? ""
        guard property.type == .link,
            let target = classes.firstIndex(where: { $0.declared.name == name })
        else { throw failure(property, "links to '\(name)', which is no class of the schema") }
        return target
    }

    private func key(of target: SQLiteTable, _ columns: [Int], _ property: PropertySchema)
        throws(EngineError) -> [String]
    {
        try key(target, table, columns, property)
    }

    /// The columns of a table that the columns of another name its rows by: those of the foreign
    /// key if it declares one, else the primary key.
    private func key(
        _ target: SQLiteTable, _ source: SQLiteTable, _ columns: [Int], _ property: PropertySchema
    ) throws(EngineError) -> [String] {
        let declared = source.foreignKeys.first {
            $0.columns == columns && $0.table.isSameIdentifier(as: target.name)
        }
        if let declared, !declared.targets.isEmpty {
            return declared.targets.map { name in
                target.column(name).map { target.columns[$0].name } ?? name
            }
        }
        guard target.primaryKey.count == columns.count else {
            throw failure(
                property,
                "links by \(columns.count) columns to table '\(target.name)', whose primary key "
                    + "has \(target.primaryKey.count)")
        }
        return target.primaryKey.map { target.columns[$0].name }
    }
}
