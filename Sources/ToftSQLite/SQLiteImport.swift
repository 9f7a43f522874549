package import ToftEngine
internal import ToftModel
package import ToftStorage

/// Reads an SQLite file into a new file.
///
/// 1. All objects, table by table, so that a table comes after those that it links to if it can.
/// 2. The links that lead to a table that came later, or to the same one.
/// 3. The lists, from the tables that join others.
///
/// The keys of rows that others name, and those of the objects, are kept in memory: some 60 bytes
/// for each row of such a table.
package struct SQLiteImport {
    /// The outcome of an import.
    package struct Report: Sendable, Equatable {
        /// A class, and how many objects it has.
        package struct Class: Sendable, Equatable {
            package var name: String
            package var objects = 0
        }

        package var classes: [Class] = []
        /// The differences from the SQLite file, a sentence each.
        package var notes: [String] = []

        package var objects: Int { classes.reduce(0) { $0 + $1.objects } }
    }

    /// Objects of one transaction.
    private static let batch = 20_000

    private let file: SQLiteFile
    private let catalog: SQLiteCatalog
    private let classes: [PlannedClass]
    private let store: Store
    private let ignoresMissing: Bool
    private var transaction: ModelTransaction
    private var handles: [ClassHandle]
    /// For each class, those of its properties.
    private var properties: [[PropertyHandle]] = []
    private var progress: SQLiteProgress
    private var report: Report
    private var written = 0
    /// For each class the keys of its objects in the order of the rows, if they are needed again.
    private var created: [[Int64]]
    /// For each class, by the columns that others name its rows by, the positions in `created`.
    private var known: [[[String]: [SQLiteKey: Int]]]
    private var missingTargets = 0
    private var replacedTexts = 0

    /// Whether a file begins as one of SQLite does. An encrypted one does not.
    package static func isSQLiteFile(_ path: String) -> Bool { SQLiteFile.isOne(path) }

    /// Works out the classes that an SQLite file would become; the page on SQLite files has the
    /// rules. O(file).
    ///
    /// - Parameter progress: told how many rows of how many were read.
    /// - Throws: `notADatabase`, `corrupt`, `fileNotFound`; `unsupported` if the system has no
    ///   library of SQLite.
    package static func plan(
        _ path: String, progress: ((_ done: Int, _ total: Int) -> Void)? = nil
    ) throws(EngineError) -> SQLitePlan {
        try SQLitePlanner.plan(try SQLiteFile(path), progress)
    }

    /// Reads an SQLite file into a new file. Nothing is written to the SQLite file. O(file).
    ///
    /// - Parameters:
    ///   - plan: nil: the one that `plan` makes.
    ///   - newKey: of the new file; nil: it is plain.
    ///   - ignoresMissing: whether a key that no row has is null instead of an error.
    ///   - progress: told how many rows of how many are done.
    /// - Throws: as `plan`; `typeMismatch`, `nullNotAllowed`, `noSuchObject`... of a row;
    ///   `invalidSchema` if the plan does not fit the file; `fileExists`, `diskFull`... Then there
    ///   is no new file.
    package static func run(
        _ path: String, to newPath: String, plan: SQLitePlan? = nil, newKey: EncryptionKey? = nil,
        ignoresMissing: Bool = false, progress: ((_ done: Int, _ total: Int) -> Void)? = nil
    ) throws(EngineError) -> Report {
        let file = try SQLiteFile(path)
        var made = plan
        if made == nil { made = try SQLitePlanner.plan(file, nil) }
        guard let plan = made else { throw EngineError(StorageError.closed) }
        var outcome: Result<Report, EngineError>?
        do throws(StorageError) {
            try Store.make(newPath, encryptionKey: newKey) { store in
                outcome = Result { () throws(EngineError) in
                    var running = try SQLiteImport(file, plan, store, ignoresMissing, progress)
                    return try running.run()
                }
                if case .success? = outcome { return true }
                return false
            }
        } catch {
            if case .failure(let failure)? = outcome { throw failure }
            throw EngineError(error)
        }
        guard case .success(let report)? = outcome else { throw EngineError(StorageError.closed) }
        return report
    }

    private init(
        _ file: SQLiteFile, _ plan: SQLitePlan, _ store: Store, _ ignoresMissing: Bool,
        _ progress: ((_ done: Int, _ total: Int) -> Void)?
    ) throws(EngineError) {
        self.file = file
        self.store = store
        self.ignoresMissing = ignoresMissing
        catalog = try SQLiteCatalog(file)
        classes = try PlannedClass.all(plan, catalog)
        report = Report()
        report.notes = plan.notes
        report.classes = plan.classes.map { .init(name: $0.declared.name) }
        for table in catalog.tables where !classes.contains(where: { $0.reads(table.name) }) {
            let note = "table '\(table.name)' is left out, as the schema does not have it"
            if plan.notes.isEmpty { report.notes.append(note) }
        }
        self.progress = SQLiteProgress(progress)
        let declared = Schema(plan.classes.map(\.declared))
        transaction = try inModel { () throws(ModelError) in
            _ = try ModelSchema.open(store, declared: declared, version: 0)
            return try Self.begin(store)
        }
        handles = []
        created = [[Int64]](repeating: [], count: classes.count)
        known = [[[String]: [SQLiteKey: Int]]](repeating: [:], count: classes.count)
        for own in classes {
            for reference in own.references { known[reference.target][reference.key] = [:] }
            for join in own.joins {
                known[join.owner][join.ownerKey] = [:]
                known[join.target][join.targetKey] = [:]
            }
        }
        try findHandles()
    }

    private mutating func run() throws(EngineError) -> Report {
        let order = self.order()
        for (place, index) in order.enumerated() {
            let own = classes[index]
            let isLate = own.references.contains { order.firstIndex(of: $0.target) ?? 0 >= place }
            progress.total += try file.count(own.table.name) * (isLate ? 2 : 1)
            for join in own.joins { progress.total += try file.count(join.table.name) }
        }
        for (place, index) in order.enumerated() {
            let earlier = Set(order[..<place])
            try create(index) { earlier.contains($0.target) }
        }
        for (place, index) in order.enumerated() {
            let earlier = Set(order[..<place])
            try link(index, classes[index].references.filter { !earlier.contains($0.target) })
        }
        for index in classes.indices {
            for join in classes[index].joins { try fill(join) }
        }
        try commit()
        if missingTargets > 0 {
            report.notes.append("\(missingTargets) links led to rows that are not there")
        }
        if replacedTexts > 0 {
            report.notes.append(
                "\(replacedTexts) texts were no UTF-8; U+FFFD stands for what is none of it")
        }
        return report
    }

    /// The classes in such an order that each comes after those that it links to, if that is
    /// possible.
    private func order() -> [Int] {
        var order: [Int] = [], seen = Set<Int>()
        for start in classes.indices {
            // The classes on the way, each with how many of its references were looked at.
            var way = seen.insert(start).inserted ? [(index: start, next: 0)] : []
            while let last = way.last {
                let references = classes[last.index].references
                guard last.next < references.count else {
                    order.append(last.index)
                    way.removeLast()
                    continue
                }
                way[way.count - 1].next += 1
                let target = references[last.next].target
                if seen.insert(target).inserted { way.append((target, 0)) }
            }
        }
        return order
    }

    // MARK: Transactions

    private static func begin(_ store: Store) throws(ModelError) -> ModelTransaction {
        let (writing, view) = try stored { () throws(StorageError) in
            (try store.beginWrite(), try store.beginRead())
        }
        defer { view.release() }
        return try ModelTransaction(writing, after: try ModelView(view), buffer: WriteBuffer())
    }

    private mutating func commit() throws(EngineError) {
        written = 0
        try inModel { [transaction] () throws(ModelError) in _ = try transaction.commit() }
    }

    private mutating func findHandles() throws(EngineError) {
        (handles, properties) = try inModel { [transaction, classes] () throws(ModelError) in
            var handles: [ClassHandle] = [], properties: [[PropertyHandle]] = []
            for own in classes {
                let handle = try transaction.view.schema.classHandle(named: own.declared.name)
                handles.append(handle)
                var found: [PropertyHandle] = []
                for property in own.declared.properties {
                    found.append(try handle.property(named: property.name))
                }
                properties.append(found)
            }
            return (handles, properties)
        }
    }

    /// Counts a row that was read; begins a new transaction after some.
    private mutating func step() throws(EngineError) {
        written += 1
        try progress.step()
        guard written >= Self.batch else { return }
        try commit()
        transaction = try inModel { [store] () throws(ModelError) in try Self.begin(store) }
        try findHandles()
    }

    // MARK: Rows

    private mutating func create(
        _ index: Int, _ isEarly: (PlannedClass.Reference) -> Bool
    ) throws(EngineError) {
        let own = classes[index]
        let references = own.references.filter(isEarly)
        let isNeeded = !known[index].isEmpty || references.count < own.references.count
        let keys = known[index].keys.map { names in
            (names, names.compactMap { own.table.column($0) })
        }
        var reader = RowReader(own.table)
        reader.add(own.values.map(\.column))
        reader.add(references.flatMap(\.columns))
        reader.add(keys.flatMap(\.1))
        try file.rows(reader.query) { row throws(EngineError) in
            var values: [(property: PropertyHandle, value: Value)] = []
            for each in own.values {
                let value = try self.value(reader[each.column, row], each, own, reader, row)
                let property = properties[index][each.property]
                if value.isNull, !property.isPrimaryKey { continue }
                values.append((property, value))
            }
            for reference in references {
                let target = try self.target(reference, own, reader, row)
                guard let target else { continue }
                values.append((properties[index][reference.property], target))
            }
            let place = reader.place(row)
            let key = try inModel(self.file.path, place) {
                [transaction, handle = handles[index]]
                () throws(ModelError) in
                try transaction.create(handle, values).key
            }
            self.report.classes[index].objects += 1
            if isNeeded {
                for (names, columns) in keys {
                    guard let own = SQLiteKey(columns.map { reader[$0, row] }) else { continue }
                    self.known[index][names]?[own] = self.created[index].count
                }
                self.created[index].append(key)
            }
            try self.step()
        }
    }

    private mutating func link(_ index: Int, _ references: [PlannedClass.Reference])
        throws(EngineError)
    {
        guard !references.isEmpty else { return }
        let own = classes[index]
        var reader = RowReader(own.table)
        reader.add(references.flatMap(\.columns))
        var number = 0
        try file.rows(reader.query) { row throws(EngineError) in
            let key = self.created[index][number]
            number += 1
            for reference in references {
                guard let target = try self.target(reference, own, reader, row) else {
                    continue
                }
                let property = properties[index][reference.property]
                try inModel(self.file.path, reader.place(row)) {
                    [transaction] () throws(ModelError) in
                    try transaction.set(key, property, target)
                }
            }
            try self.step()
        }
    }

    private mutating func value(
        _ value: SQLiteValue, _ planned: PlannedClass.Value, _ own: PlannedClass,
        _ reader: RowReader, _ row: SQLiteRow
    ) throws(EngineError) -> Value {
        let property = own.declared.properties[planned.property]
        if let value = value.value(of: property, planned.dates) { return value }
        if case .notUTF8(let bytes) = value, !property.isPrimaryKey,
            property.type == .string || property.type == .mixed
        {
            replacedTexts += 1
            return .string(String(decoding: bytes, as: UTF8.self))
        }
        throw EngineError(
            value == .null ? .nullNotAllowed : .typeMismatch,
            "'\(file.path)' can't be imported: \(reader.place(row)), column "
                + "'\(own.table.columns[planned.column].name)': \(value.shown) is not "
                + "\(property.expectation(planned.dates)), which property "
                + "'\(own.declared.name).\(property.name)' takes.",
            detail: file.path)
    }

    /// The link that a row has; nil without one.
    private mutating func target(
        _ reference: PlannedClass.Reference, _ own: PlannedClass, _ reader: RowReader,
        _ row: SQLiteRow
    ) throws(EngineError) -> Value? {
        guard let key = SQLiteKey(reference.columns.map { reader[$0, row] }) else { return nil }
        let columns = reference.columns.map { own.table.columns[$0].name }
        return try target(key, reference.target, reference.key, columns) { reader.place(row) }
    }

    private mutating func target(
        _ key: SQLiteKey, _ target: Int, _ names: [String], _ columns: [String],
        _ place: () -> String
    ) throws(EngineError) -> Value? {
        let positions = known[target][names] ?? [:]
        guard let position = positions[key] ?? key.alternative.flatMap({ positions[$0] }) else {
            missingTargets += 1
            if ignoresMissing { return nil }
            throw EngineError(
                .noSuchObject,
                "'\(file.path)' can't be imported: \(place()), column "
                    + "'\(columns.joined(separator: ", "))': no row of table "
                    + "'\(classes[target].table.name)' has the \(names.joined(separator: ", ")) "
                    + "\(key.shown). With --ignore-missing such links are left out.",
                detail: file.path)
        }
        return .link(ObjectRef(classID: handles[target].id, key: created[target][position]))
    }

    // MARK: Joins

    private mutating func fill(_ join: PlannedClass.Join) throws(EngineError) {
        let table = join.table
        let columns = [join.from, join.to].map { table.columns[$0].name }
        // Those of one owner in a row; in the order that the store of Core Data gives them, else in
        // that of the rows.
        let order = [
            "+\(columns[0].quoted) COLLATE BINARY", CoreData.order(table)?.quoted,
            table.rowNumber ?? columns[1].quoted,
        ].compactMap { $0 }
        let statement =
            "SELECT \(columns[0].quoted), \(columns[1].quoted), \(table.rowNumber ?? "NULL") FROM "
            + "\(table.name.quoted) ORDER BY \(order.joined(separator: ", "))"
        var owner: (key: SQLiteKey, link: Value?)?, targets: [Value] = [], empty = 0
        func finish() throws(EngineError) {
            guard case .link(let reference)? = owner?.link, !targets.isEmpty else { return }
            let property = properties[join.owner][join.property]
            try inModel(self.file.path, "table '\(table.name)'") {
                [transaction] () throws(ModelError) in
                try transaction.set(reference.key, property, .list(targets))
            }
        }
        try file.rows(statement) { row throws(EngineError) in
            try self.step()
            guard let from = SQLiteKey([row[0]]), let to = SQLiteKey([row[1]]) else {
                empty += 1
                return
            }
            let place = {
                "table '\(table.name)'" + (row[2].int.map { ", rowid \($0)" } ?? "")
            }
            if owner?.key != from {
                try finish()
                targets = []
                owner = (
                    from,
                    try self.target(from, join.owner, join.ownerKey, [columns[0]], place)
                )
            }
            let link = try self.target(to, join.target, join.targetKey, [columns[1]], place)
            if let link { targets.append(link) }
        }
        try finish()
        if empty > 0 {
            report.notes.append("\(empty) rows of table '\(table.name)' join nothing, with a null")
        }
    }
}

/// The columns that are read of each row, each once.
private struct RowReader {
    private let table: SQLiteTable
    private var columns: [Int] = []
    /// For each column of the table its place in a row.
    private var places: [Int?]

    init(_ table: SQLiteTable) {
        self.table = table
        places = [Int?](repeating: nil, count: table.columns.count)
        // Of a table without numbers its key says which row it is.
        if table.rowNumber == nil { add(table.primaryKey) }
    }

    mutating func add(_ more: [Int]) {
        for column in more where places[column] == nil {
            places[column] = columns.count + 1
            columns.append(column)
        }
    }

    var query: String { table.query(columns, isNumbered: true) }

    subscript(_ column: Int, _ row: SQLiteRow) -> SQLiteValue {
        places[column].map { row[$0] } ?? .null
    }

    /// Which row it is, for messages.
    func place(_ row: SQLiteRow) -> String {
        if let number = row[0].int { return "table '\(table.name)', rowid \(number)" }
        let key = table.primaryKey.map { self[$0, row].shown }
        return "table '\(table.name)', row with the key \(key.joined(separator: ", "))"
    }
}

/// Calls the model: its errors become the engine's, with the place in the SQLite file.
private func inModel<Result>(
    _ path: String = "", _ place: String = "", _ call: () throws(ModelError) -> Result
) throws(EngineError) -> Result {
    do throws(ModelError) {
        return try call()
    } catch {
        let own = EngineError(error)
        guard !place.isEmpty else { throw own }
        throw EngineError(
            own.code, "'\(path)' can't be imported: \(place): \(own.message)", detail: path,
            number: own.number)
    }
}
