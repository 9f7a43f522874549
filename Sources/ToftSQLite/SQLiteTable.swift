internal import ToftEngine

/// A table of an SQLite file.
struct SQLiteTable {
    struct Column {
        let name: String
        /// The declared type in capital letters.
        let type: String
        let isRequired: Bool
        let isGenerated: Bool
    }

    /// Columns that name a row of another table, or of this one.
    struct ForeignKey {
        /// Indices of columns.
        let columns: [Int]
        let table: String
        /// The columns of `table`; empty: its primary key.
        let targets: [String]
    }

    struct Index {
        let name: String
        let columns: [Int]
        let isUnique: Bool
    }

    let name: String
    let columns: [Column]
    /// Indices of columns in the order of the key.
    let primaryKey: [Int]
    /// Whether the one column of the primary key is the number of the row.
    let hasRowNumberKey: Bool
    /// The name of the number of a row in statements; nil if the table has no such number.
    let rowNumber: String?
    var foreignKeys: [ForeignKey]
    /// Those of whole columns that hold all rows, without the primary key.
    let indexes: [Index]

    /// The index of the column with this name.
    func column(_ name: String) -> Int? {
        columns.firstIndex { $0.name.isSameIdentifier(as: name) }
    }

    /// A statement that reads columns of all rows, in the order of the rows.
    /// - Parameter isNumbered: the number of the row, or null, comes first.
    func query(_ columns: [Int], isNumbered: Bool) -> String {
        var parts = columns.map { self.columns[$0].name.quoted }
        if isNumbered || parts.isEmpty { parts.insert(rowNumber ?? "NULL", at: 0) }
        return "SELECT \(parts.joined(separator: ", ")) FROM \(name.quoted) NOT INDEXED"
    }

    /// Whether columns name a row: those of the primary key, or columns that are unique.
    func isKey(_ columns: [Int]) -> Bool {
        let wanted = Set(columns)
        return wanted == Set(primaryKey)
            || indexes.contains { $0.isUnique && Set($0.columns) == wanted }
    }
}

/// All tables of a file, and what else it has.
struct SQLiteCatalog {
    var tables: [SQLiteTable] = []
    /// Everything but tables with rows, a sentence each.
    private(set) var leftOut: [String] = []

    init(_ file: SQLiteFile) throws(EngineError) {
        var found: [(name: String, hasRowNumber: Bool)] = [], leftOut: [String] = []
        try file.rows(
            "SELECT l.name, l.type, l.wr FROM pragma_table_list l JOIN sqlite_schema s "
                + "ON s.name = l.name AND s.type IN ('table', 'view') WHERE l.schema = 'main' "
                + "ORDER BY s.rowid"
        ) { row in
            guard case .text(let name) = row[0], case .text(let kind) = row[1] else { return }
            switch kind {
            case "table" where name.identifier.hasPrefix("sqlite_"): break
            case "table": found.append((name, row[2].int == 0))
            case "view": leftOut.append("view '\(name)' is left out")
            case "virtual":
                leftOut.append("virtual table '\(name)' is left out, with the tables behind it")
            default: break
            }
        }
        try file.rows("SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger'") { row in
            leftOut.append(
                "trigger '\(row[0].text ?? "")' of '\(row[1].text ?? "")' has no counterpart")
        }
        self.leftOut = leftOut
        for (name, hasRowNumber) in found {
            tables.append(try Self.table(name, hasRowNumber: hasRowNumber, file))
        }
    }

    /// The table with this name.
    func table(_ name: String) -> SQLiteTable? {
        tables.first { $0.name.isSameIdentifier(as: name) }
    }

    private static func table(_ name: String, hasRowNumber: Bool, _ file: SQLiteFile)
        throws(EngineError) -> SQLiteTable
    {
        var columns: [SQLiteTable.Column] = [], keyed: [(order: Int64, column: Int)] = []
        try file.rows("PRAGMA table_xinfo(\(name.quoted))") { row in
            guard row[6].int != 1 else { return }
            if let order = row[5].int, order > 0 { keyed.append((order, columns.count)) }
            columns.append(
                SQLiteTable.Column(
                    name: row[1].text ?? "", type: (row[2].text ?? "").uppercased(),
                    isRequired: row[3].int == 1, isGenerated: (row[6].int ?? 0) > 1))
        }
        keyed.sort { $0.order < $1.order }
        let primaryKey = keyed.map(\.column)
        var found: [(name: String, isUnique: Bool, isOfKey: Bool)] = []
        try file.rows("PRAGMA index_list(\(name.quoted))") { row in
            guard row[4].int == 0, let name = row[1].text else { return }
            found.append((name, row[2].int == 1, row[3].text == "pk"))
        }
        var indexes: [SQLiteTable.Index] = []
        for each in found.reversed() where !each.isOfKey {
            var own: [Int] = [], isWhole = true
            try file.rows("PRAGMA index_info(\(each.name.quoted))") { row in
                guard let number = row[1].int, number >= 0, number < columns.count else {
                    isWhole = false
                    return
                }
                // Numbers count the columns as `columns` does: hidden ones are of virtual tables.
                own.append(Int(number))
            }
            guard isWhole, !own.isEmpty else { continue }
            indexes.append(.init(name: each.name, columns: own, isUnique: each.isUnique))
        }
        return SQLiteTable(
            name: name, columns: columns, primaryKey: primaryKey,
            hasRowNumberKey: hasRowNumber && primaryKey.count == 1
                && columns[primaryKey[0]].type == "INTEGER" && !found.contains(where: \.isOfKey),
            rowNumber: hasRowNumber
                ? ["rowid", "_rowid_", "oid"].first { name in
                    !columns.contains { $0.name.isSameIdentifier(as: name) }
                } : nil,
            foreignKeys: try foreignKeys(of: name, columns, file), indexes: indexes)
    }

    private static func foreignKeys(
        of name: String, _ columns: [SQLiteTable.Column], _ file: SQLiteFile
    ) throws(EngineError) -> [SQLiteTable.ForeignKey] {
        var found: [Int64: (table: String, parts: [(from: Int, to: String?)])] = [:]
        try file.rows("PRAGMA foreign_key_list(\(name.quoted))") { row in
            guard let id = row[0].int, let table = row[2].text, let from = row[3].text,
                let column = columns.firstIndex(where: { $0.name.isSameIdentifier(as: from) })
            else { return }
            found[id, default: (table, [])].parts.append((column, row[4].text))
        }
        // SQLite lists the last first.
        return found.sorted { $0.key > $1.key }.map { _, key in
            SQLiteTable.ForeignKey(
                columns: key.parts.map(\.from), table: key.table,
                targets: key.parts.compactMap(\.to))
        }
    }
}
