internal import ToftEngine

/// The tables of a store of Apple's Core Data. It declares no foreign keys: its entities are
/// numbered, and its joins are named after the numbers.
struct CoreData {
    /// For each number of an entity, its table.
    private let tables: [Int64: String]
    private static let metadata: Set = ["z_primarykey", "z_metadata", "z_modelcache"]
    private static let key = "Z_PK"

    let notes = [
        "this is a store of Core Data, whose dates are seconds since 2001; its model is in the "
            + "app, so a column is a link if it has the name of a table and all its values are keys"
            + " there, and a plan can say of others that they are",
        "tables 'Z_PRIMARYKEY', 'Z_METADATA' and 'Z_MODELCACHE' of Core Data itself are left out",
    ]

    /// Nil if it is no such store.
    init?(_ catalog: SQLiteCatalog, _ file: SQLiteFile) throws(EngineError) {
        guard catalog.table("Z_METADATA") != nil, let entities = catalog.table("Z_PRIMARYKEY"),
            ["Z_ENT", "Z_NAME", "Z_SUPER"].allSatisfy({ entities.column($0) != nil })
        else { return nil }
        var found: [Int64: (name: String, parent: Int64)] = [:]
        try file.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY") { row in
            guard let number = row[0].int, let name = row[1].text else { return }
            found[number] = (name, row[2].int ?? 0)
        }
        var tables: [Int64: String] = [:]
        for number in found.keys {
            // Entities lie in the table of the one that they all inherit from.
            var root = number
            for _ in found {
                guard let parent = found[root]?.parent, found[parent] != nil else { break }
                root = parent
            }
            guard let name = found[root]?.name,
                let table = catalog.table("Z" + name.uppercased())
            else { continue }
            tables[number] = table.name
        }
        self.tables = tables
    }

    /// Whether it is a table of Core Data itself.
    func isOwn(_ table: SQLiteTable) -> Bool { Self.metadata.contains(table.name.identifier) }

    /// Whether all columns are keys of objects, or what orders those.
    func isJoin(_ table: SQLiteTable) -> Bool {
        table.columns.allSatisfy { Self.number($0.name) != nil }
            && table.columns.count { !Self.isOrder($0.name) } == 2
    }

    /// The catalog with the foreign keys that the file does not declare.
    func completed(_ catalog: SQLiteCatalog, _ file: SQLiteFile) throws(EngineError)
        -> SQLiteCatalog
    {
        var catalog = catalog
        for index in catalog.tables.indices where !isOwn(catalog.tables[index]) {
            let table = catalog.tables[index]
            for (position, column) in table.columns.enumerated()
            where !table.foreignKeys.contains(where: { $0.columns == [position] }) {
                guard let target = try target(of: column, table, catalog, file) else { continue }
                catalog.tables[index].foreignKeys.append(
                    .init(columns: [position], table: target, targets: [Self.key]))
            }
        }
        return catalog
    }

    private func target(
        of column: SQLiteTable.Column, _ table: SQLiteTable, _ catalog: SQLiteCatalog,
        _ file: SQLiteFile
    ) throws(EngineError) -> String? {
        if isJoin(table) {
            guard !Self.isOrder(column.name), let number = Self.number(column.name) else {
                return nil
            }
            // A list of a class of itself: the other column has no number of its own.
            return tables[number] ?? tables[Self.number(table.name) ?? 0]
        }
        guard let target = catalog.table(column.name), tables.values.contains(target.name),
            target.column(Self.key) != nil
        else { return nil }
        var isLink = true
        try file.rows(
            "SELECT 1 FROM \(table.name.quoted) WHERE \(column.name.quoted) IS NOT NULL AND "
                + "\(column.name.quoted) NOT IN (SELECT \(Self.key) FROM \(target.name.quoted)) "
                + "LIMIT 1"
        ) { _ in isLink = false }
        return isLink ? target.name : nil
    }

    /// The foreign keys of a join, that of the owner first: the table has its number.
    func ordered(_ table: SQLiteTable) -> [SQLiteTable.ForeignKey]? {
        guard isJoin(table), let number = Self.number(table.name) else { return nil }
        let owners = table.foreignKeys.filter {
            Self.number(table.columns[$0.columns[0]].name) == number
        }
        guard let owner = owners.first else { return nil }
        return [owner] + table.foreignKeys.filter { $0.columns != owner.columns }
    }

    /// The name of a relationship: `Z_2TAGS` without `Z_2`.
    func listName(_ column: String) -> String? {
        guard Self.number(column) != nil else { return nil }
        let name = column.dropFirst(2).drop { $0.isNumber }
        return name.isEmpty ? nil : String(name)
    }

    private static func isOrder(_ name: String) -> Bool { name.identifier.hasPrefix("z_fok_") }

    /// The column that orders a join, if it has one.
    static func order(_ table: SQLiteTable) -> String? {
        table.columns.first { isOrder($0.name) && number($0.name) != nil }?.name
    }

    /// The number in `Z_2TAGS` and `Z_FOK_2TAGS`.
    private static func number(_ name: String) -> Int64? {
        let start = isOrder(name) ? "z_fok_" : "z_"
        guard name.identifier.hasPrefix(start) else { return nil }
        return Int64(name.dropFirst(start.count).prefix { $0.isASCII && $0.isNumber })
    }
}
