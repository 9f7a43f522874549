internal import ToftEngine
internal import ToftModel
internal import ToftStorage

/// Works out what becomes of an SQLite file from what its tables declare and what they hold.
struct SQLitePlanner {
    private let file: SQLiteFile
    private var catalog: SQLiteCatalog
    private var progress: SQLiteProgress
    private let coreData: CoreData?
    private var notes: [String]
    /// For each table, in small letters, its class.
    private var classNames: [String: String] = [:]

    static func plan(_ file: SQLiteFile, _ progress: ((_ done: Int, _ total: Int) -> Void)?)
        throws(EngineError) -> SQLitePlan
    {
        var planner = try SQLitePlanner(file, progress)
        return try planner.plan()
    }

    private init(_ file: SQLiteFile, _ progress: ((_ done: Int, _ total: Int) -> Void)?)
        throws(EngineError)
    {
        self.file = file
        catalog = try SQLiteCatalog(file)
        notes = catalog.leftOut
        self.progress = SQLiteProgress(progress)
        coreData = try CoreData(catalog, file)
        for table in catalog.tables { self.progress.total += try file.count(table.name) }
    }

    private mutating func plan() throws(EngineError) -> SQLitePlan {
        if let coreData {
            catalog = try coreData.completed(catalog, file)
            notes += coreData.notes
        }
        var tables: [SQLiteTable] = [], joins: [SQLiteTable] = []
        for table in catalog.tables where coreData?.isOwn(table) != true {
            if isJoin(table) { joins.append(table) } else { tables.append(table) }
        }
        nameClasses(tables)
        var classes: [SQLitePlan.Class] = []
        for table in tables { classes.append(try plan(table)) }
        for table in joins { join(table, &classes) }
        return SQLitePlan(classes, notes: notes)
    }

    // MARK: Names

    private mutating func nameClasses(_ tables: [SQLiteTable]) {
        var taken = Set<String>()
        // A name that needs no change is not taken by one that does.
        for isChanged in [false, true] {
            for table in tables {
                let name = NameRules.allowed(table.name.spelled, limit: Limits.classNameBytes) {
                    _ in false
                }
                guard (name != table.name) == isChanged else { continue }
                let own = NameRules.allowed(table.name.spelled, limit: Limits.classNameBytes) {
                    taken.contains($0)
                }
                taken.insert(own)
                classNames[table.name.identifier] = own
                if isChanged { notes.append("table '\(table.name)' is class '\(own)' now") }
            }
        }
    }

    /// The name of a link: that of its column without `_id`, `Id` or `ID` at its end.
    private static func linkName(_ column: String) -> String {
        for end in ["_id", "_ID", "_Id", "Id", "ID"] where column.hasSuffix(end) {
            let start = String(column.dropLast(end.count))
            let isWord = end.first == "_" || start.last?.isLowercase == true
            if isWord, start.contains(where: { $0 != "_" }) { return start }
        }
        return column
    }

    // MARK: Tables

    /// Whether rows do nothing but join those of two tables.
    private func isJoin(_ table: SQLiteTable) -> Bool {
        guard table.columns.count == 2 || coreData?.isJoin(table) == true,
            table.foreignKeys.count == 2,
            table.foreignKeys.allSatisfy({ $0.columns.count == 1 && target(of: $0) != nil }),
            table.foreignKeys[0].columns != table.foreignKeys[1].columns
        else { return false }
        return !catalog.tables.contains { other in
            other.foreignKeys.contains { $0.table.isSameIdentifier(as: table.name) }
        }
    }

    /// The table that a foreign key leads to, if it is there, with the columns that it names.
    private func target(of key: SQLiteTable.ForeignKey) -> (table: SQLiteTable, columns: [Int])? {
        guard let table = catalog.table(key.table) else { return nil }
        let columns =
            key.targets.isEmpty ? table.primaryKey : key.targets.compactMap { table.column($0) }
        guard columns.count == key.columns.count, table.isKey(columns) else { return nil }
        return (table, columns)
    }

    private mutating func plan(_ table: SQLiteTable) throws(EngineError) -> SQLitePlan.Class {
        let contents = try contents(of: table)
        var references: [Int: SQLiteTable.ForeignKey] = [:], besides: [SQLiteTable.ForeignKey] = []
        for key in table.foreignKeys {
            let names = key.columns.map { table.columns[$0].name }.joined(separator: ", ")
            guard target(of: key) != nil, classNames[key.table.identifier] != nil else {
                notes.append(
                    "'\(table.name).\(names)' is no link: '\(key.table)' has no rows with such a "
                        + "key"
                )
                continue
            }
            if key.columns.count == 1, let column = key.columns.first, references[column] == nil,
                !table.primaryKey.contains(column)
            {
                references[column] = key
            } else {
                besides.append(key)
            }
        }
        var planned = SQLitePlan.Class(
            table: table.name, declared: ClassSchema(classNames[table.name.identifier] ?? ""),
            sources: [])
        var properties = PropertyNames(table)
        var names: [Int: String] = [:]
        for (index, column) in table.columns.enumerated() {
            if let key = references[index], let target = classNames[key.table.identifier] {
                let name = properties.add(Self.linkName(column.name), or: column.name)
                planned.declared.properties.append(.link(name, to: target))
                planned.sources.append(.reference([column.name]))
                continue
            }
            let name = properties.add(column.name, or: column.name)
            if name != column.name {
                notes.append("column '\(table.name).\(column.name)' is property '\(name)' now")
            }
            names[index] = name
            var (property, form) = property(name, index, contents[index], table)
            property.isPrimaryKey = isPrimaryKey(index, property, contents[index], table)
            if property.isPrimaryKey, contents[index].nulls == 0,
                table.rowNumber == nil || table.hasRowNumberKey || column.isRequired
            {
                property.isOptional = false
            }
            planned.declared.properties.append(property)
            planned.sources.append(.column(column.name, dates: form))
            if column.isGenerated {
                notes.append("'\(table.name).\(column.name)' is computed, and a plain property now")
            }
        }
        for key in besides {
            guard let target = classNames[key.table.identifier] else { continue }
            let columns = key.columns.map { table.columns[$0].name }
            let stripped = columns.count == 1 ? Self.linkName(columns[0]) : key.table
            let name = properties.add(stripped == columns[0] ? key.table : stripped, or: key.table)
            planned.declared.properties.append(.link(name, to: target))
            planned.sources.append(.reference(columns))
        }
        addIndexes(&planned.declared, table, names)
        return planned
    }

    private func isPrimaryKey(
        _ index: Int, _ property: PropertySchema, _ content: ColumnContent, _ table: SQLiteTable
    ) -> Bool {
        table.primaryKey == [index] && property.type.canBePrimaryKey && content.nulls <= 1
    }

    /// Indexes of one column, and what is unique.
    private mutating func addIndexes(
        _ declared: inout ClassSchema, _ table: SQLiteTable, _ names: [Int: String]
    ) {
        var indexes = table.indexes
        if !table.primaryKey.isEmpty, declared.primaryKey == nil {
            indexes.insert(
                .init(name: "the primary key", columns: table.primaryKey, isUnique: true), at: 0)
        }
        var uniques: [Set<Int>] = []
        for index in indexes {
            let own = index.columns.compactMap { names[$0] }
            let types = own.compactMap { declared.property(named: $0)?.type }
            let isOfLinks = own.count != index.columns.count
            if index.isUnique {
                let isKey = own.count == 1 && declared.primaryKey?.name == own[0]
                guard !isKey, !uniques.contains(Set(index.columns)) else { continue }
                if !isOfLinks, types.allSatisfy(\.canBeUnique),
                    uniques.count < Limits.uniquesPerClass
                {
                    uniques.append(Set(index.columns))
                    declared.uniques.append(own)
                } else {
                    let all = index.columns.map { table.columns[$0].name }
                    notes.append(
                        "'\(table.name)' may have several objects with one value of "
                            + "\(all.joined(separator: ", ")): such a constraint has no counterpart"
                    )
                }
            } else if let first = own.first, !isOfLinks, own.count == 1, types[0].canBeIndexed {
                for position in declared.properties.indices
                where declared.properties[position].name == first {
                    declared.properties[position].isIndexed = true
                }
            } else if !(isOfLinks && index.columns.count == 1) {
                notes.append("index '\(index.name)' of '\(table.name)' has no counterpart")
            }
        }
    }

    /// Adds the list that a table of joins is, to the class of its first column.
    private mutating func join(_ table: SQLiteTable, _ classes: inout [SQLitePlan.Class]) {
        let keys =
            coreData?.ordered(table) ?? table.foreignKeys.sorted { $0.columns[0] < $1.columns[0] }
        let (from, to) = (keys[0], keys[1])
        guard let owner = classes.firstIndex(where: { $0.table.isSameIdentifier(as: from.table) }),
            let target = classNames[to.table.identifier]
        else { return }
        let columns = (table.columns[from.columns[0]].name, table.columns[to.columns[0]].name)
        var properties = PropertyNames(classes[owner].declared)
        let name = properties.add(
            coreData?.listName(columns.1) ?? Self.linkName(columns.1), or: table.name)
        classes[owner].declared.properties.append(.links(name, to: target))
        classes[owner].sources.append(.join(table: table.name, from: columns.0, to: columns.1))
        notes.append(
            "table '\(table.name)' is the list '\(classes[owner].declared.name).\(name)' now")
    }

    // MARK: Columns

    private mutating func contents(of table: SQLiteTable) throws(EngineError) -> [ColumnContent] {
        var contents = table.columns.map { ColumnContent(DeclaredType($0.type).tests) }
        let columns = Array(table.columns.indices)
        var progress = progress
        try file.rows(table.query(columns, isNumbered: false)) { row throws(EngineError) in
            for column in columns { contents[column].add(row[column]) }
            try progress.step()
        }
        self.progress = progress
        return contents
    }

    private mutating func property(
        _ name: String, _ index: Int, _ content: ColumnContent, _ table: SQLiteTable
    ) -> (PropertySchema, DateForm?) {
        let column = table.columns[index], declared = DeclaredType(column.type)
        var form: DateForm?
        var type = declared.type(of: content)
        if table.primaryKey == [index], !type.canBePrimaryKey, content.isInts { type = .int }
        if type == .date {
            form =
                content.texts > 0
                ? .iso : coreData != nil ? .apple : DateForm.fitting(content)
        }
        if type != declared.usual, content.count > 0, declared.usual != .mixed {
            notes.append(
                "'\(table.name).\(column.name)' is \(type.name), as it holds \(content.kinds), "
                    + "though it is declared \(column.type)")
        }
        return (
            PropertySchema(name, type, isOptional: !column.isRequired || content.nulls > 0), form
        )
    }
}

extension ColumnContent {
    /// The kinds of its values, for messages.
    fileprivate var kinds: String {
        let kinds = [
            ints > 0 ? "integers" : nil, reals > 0 ? "reals" : nil, texts > 0 ? "texts" : nil,
            blobs > 0 ? "blobs" : nil,
        ].compactMap { $0 }
        guard let last = kinds.last, kinds.count > 1 else { return kinds.first ?? "nothing" }
        return kinds.dropLast().joined(separator: ", ") + " and " + last
    }
}

/// The names of the properties of a class while it is planned.
private struct PropertyNames {
    private var taken: Set<String>
    /// Names of columns, which are their own.
    private var waiting: [String]

    init(_ table: SQLiteTable) {
        taken = []
        waiting = table.columns.map(\.name)
    }

    init(_ declared: ClassSchema) {
        taken = Set(declared.properties.map(\.name))
        waiting = []
    }

    /// A name for a property that is free, and allowed: the wanted one, else the other, with a
    /// number if that is taken.
    mutating func add(_ wanted: String, or other: String) -> String {
        if let own = waiting.firstIndex(of: other) { waiting.remove(at: own) }
        let isFree = !taken.contains(wanted) && !waiting.contains(wanted)
        let name = NameRules.allowed(
            (isFree ? wanted : other).spelled, limit: Limits.propertyNameBytes
        ) { [taken, waiting] in taken.contains($0) || waiting.contains($0) }
        taken.insert(name)
        return name
    }
}

/// The meaning of the declared type of a column.
private struct DeclaredType {
    /// The type of the property if the values fit it.
    let usual: PropertyType
    let tests: ColumnContent.Tests

    /// The rules of SQLite's affinities, and before them the names that other databases have for
    /// types that SQLite lacks.
    init(_ declared: String) {
        func has(_ parts: String...) -> Bool { parts.contains { declared.contains($0) } }
        if has("BOOL") {
            (usual, tests) = (.bool, .none)
        } else if has("DATE", "TIMESTAMP") || declared == "TIME" {
            (usual, tests) = (.date, .date)
        } else if has("UUID", "GUID", "UNIQUEIDENTIFIER") {
            (usual, tests) = (.uuid, .uuid)
        } else if has("INT", "SERIAL", "LONG") {
            (usual, tests) = (.int, .none)
        } else if has("CHAR", "CLOB", "TEXT", "STRING", "JSON", "ENUM") {
            (usual, tests) = (.string, .none)
        } else if has("BLOB", "BINARY", "BYTEA") {
            (usual, tests) = (.data, .none)
        } else if has("REAL", "FLOA", "DOUB") {
            (usual, tests) = (.double, .none)
        } else if has("DEC", "NUMERIC", "MONEY") {
            (usual, tests) = (.decimal128, .decimal)
        } else {
            (usual, tests) = (.mixed, .none)
        }
    }

    /// The type of a property that holds these values.
    func type(of content: ColumnContent) -> PropertyType {
        if content.count == 0 { return usual }
        switch usual {
        case .bool where content.isBool: return .bool
        case .date where content.isNumbers, .date where content.isTexts && content.isDate:
            return .date
        case .uuid where content.isUUID: return .uuid
        case .decimal128 where content.blobs == 0 && content.isDecimal: return .decimal128
        case .double where content.isNumbers && content.isWithinDouble: return .double
        default: return Self.type(stored: content)
        }
    }

    private static func type(stored content: ColumnContent) -> PropertyType {
        if content.isInts { return .int }
        if content.isNumbers, content.isWithinDouble { return .double }
        if content.isTexts { return .string }
        return content.isBlobs ? .data : .mixed
    }
}

/// Tells how many rows of how many are done.
struct SQLiteProgress {
    private static let stride = 10_000

    var total = 0
    private var done = 0
    private let tell: ((_ done: Int, _ total: Int) -> Void)?

    init(_ tell: ((_ done: Int, _ total: Int) -> Void)?) { self.tell = tell }

    mutating func step() throws(EngineError) {
        done += 1
        guard done % Self.stride == 0 else { return }
        tell?(min(done, total), total)
        do throws(StorageError) {
            try CurrentCall.checkInterruption()
        } catch {
            throw EngineError(error)
        }
    }
}

extension SQLiteFile {
    /// The rows of a table.
    func count(_ table: String) throws(EngineError) -> Int {
        var count = 0
        try rows("SELECT count(*) FROM \(table.quoted)") { count = Int(clamping: $0[0].int ?? 0) }
        return count
    }
}

extension String {
    /// The name without spaces, so that queries can spell it.
    fileprivate var spelled: String { String(map { $0 == " " ? "_" : $0 }) }
}
