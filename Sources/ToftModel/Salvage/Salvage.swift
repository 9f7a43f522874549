package import ToftStorage

/// Reads the remaining content of a damaged file, class by class, into an empty database.
///
/// 1. The schema: that of the newest version in which it or its copy can be read, otherwise from
///    loose leaves. It keeps its ids, so that classes, properties and objects keep their keys.
/// 2. Every object with its values, except links; indexes and entries of primary keys are built
///    anew. A value that can't be read is null or the default.
/// 3. Links, once all objects exist: those to lost objects become null, or are removed from their
///    collection.
/// 4. Embedded objects that nothing owns go.
/// 5. The result is read back and checked.
package struct Salvage {
    private let file: SalvageSource
    private let store: Store
    /// All classes and properties, without hidden ones.
    private let schema: ModelSchema
    private let tables: [SalvagedTable]
    private var report: SalvageReport
    private var transaction: ModelTransaction
    /// Objects that were written in the transaction.
    private var written = 0
    /// For each class, the number of objects that lost the value of each property, by its position.
    private var lost: [[Int]]
    private var uniques: Set<SalvagedUnique> = []
    /// Embedded objects that have an owner.
    private var owned: Set<ObjectRef> = []
    /// Objects of one transaction.
    private static let batchSize = 5_000

    /// - Parameter store: empty, and of nobody else.
    /// - Throws: `storage(.corrupt)` if the schema is lost; `storage` if the new database can't be
    ///   written.
    package static func run(_ file: SalvageSource, into store: Store) throws(ModelError)
        -> SalvageReport
    {
        var salvage = try Salvage(file, into: store)
        try salvage.restoreObjects()
        try salvage.restoreLinks()
        try salvage.dropOrphans()
        try salvage.restoreCounters()
        return try salvage.finish()
    }

    private init(_ file: SalvageSource, into store: Store) throws(ModelError) {
        var report = SalvageReport()
        let stored = try Self.readSchema(file, &report)
        let tables = TableSalvage(
            file,
            stored.classes.map { owner in
                SalvagedTable(
                    id: owner.table,
                    columns: owner.properties.flatMap(\.columns).sorted { $0.id < $1.id })
            })
        try ToftModel.stored { () throws(StorageError) in try tables.run() }
        let making = try ToftModel.stored { () throws(StorageError) in try store.beginWrite() }
        defer { making.rollback() }
        var visible = try SchemaBuilder.carryOut(stored.remaking, in: making, SchemaCalls())
        _ = try ToftModel.stored { () throws(StorageError) in try making.commit() }
        visible.showEverything()
        self.file = file
        self.store = store
        self.tables = tables.tables
        self.report = report
        schema = ModelSchema(visible)
        lost = schema.classes.map { [Int](repeating: 0, count: $0.properties.count) }
        transaction = try Self.begin(store, schema, WriteBuffer())
    }

    // MARK: The schema

    private static func readSchema(_ file: SalvageSource, _ report: inout SalvageReport)
        throws(ModelError) -> StoredSchema
    {
        var index = 0
        while let version = try stored({ () throws(StorageError) in try file.version(at: index) }) {
            if index == 0 { report.version = version.version }
            for tree in [SchemaTree.id, SchemaTree.copy] {
                do throws(ModelError) {
                    let schema = try SchemaTree.read(version, from: tree)
                    if !schema.classes.isEmpty { return schema }
                    // A version from before the first class lacks the later ones.
                    if tree == SchemaTree.id, index == 0, !file.isNewestLost { return schema }
                } catch {
                    if case .unsupportedSchema = error { throw error }
                    try error.requireDamage()
                    let name = tree == SchemaTree.id ? "schema" : "copy of the schema"
                    file.note("the \(name) of version \(version.version): \(error.message)")
                    try stored { () throws(StorageError) in
                        try file.refuseDamage(ofTree: tree, in: version)
                    }
                }
            }
            index += 1
        }
        report.isSchemaUnverified = true
        guard let found = try looseSchema(file) else {
            throw .storage(
                .corrupt(
                    page: 0,
                    reason: "its schema is lost, and without it the content has no meaning"))
        }
        return found
    }

    /// The schema of the records in loose leaves, each from the newest leaf that has it.
    private static func looseSchema(_ file: SalvageSource) throws(ModelError) -> StoredSchema? {
        var schema: StoredSchema?
        var classes: [ClassID: StoredClass] = [:]
        var lost: Set<ClassID> = []
        try stored { () throws(StorageError) in
            try file.forEachLooseEntry { key, value in
                if key.elementsEqual(SchemaEncoding.headerKey), let value {
                    schema = schema ?? (try? StoredSchema(decodingHeader: Array(value)))
                }
                guard key.count == 5, key.first == SchemaEncoding.classKeyPrefix else { return }
                guard let value else {
                    lost.insert(key.dropFirst().reduce(0) { $0 << 8 | ClassID($1) })
                    return
                }
                if let owner = try? StoredClass(decoding: Array(value)),
                    key.elementsEqual(SchemaEncoding.classKey(owner.id)), classes[owner.id] == nil
                {
                    classes[owner.id] = owner
                }
            }
        }
        guard !classes.isEmpty else { return nil }
        var found = schema ?? StoredSchema(nextClassID: (classes.keys.max() ?? 0) + 1)
        for id in lost.sorted() where classes[id] == nil && id < found.nextClassID {
            file.note("the record of class #\(id) is lost, and with it its objects")
        }
        // Old leaves still have a class that a migration has deleted, whose name a later one has.
        found.classes = classes.values.filter { old in
            !classes.values.contains {
                $0.id > old.id && $0.persistedName.isSameName(as: old.persistedName)
            }
        }.sorted { $0.id < $1.id }
        return (try? found.validate()) == nil ? nil : found
    }

    // MARK: Transactions

    private static func begin(_ store: Store, _ schema: ModelSchema, _ buffer: WriteBuffer)
        throws(ModelError) -> ModelTransaction
    {
        let writing = try stored { () throws(StorageError) in try store.beginWrite() }
        return ModelTransaction(writing, schema: schema, buffer: buffer)
    }

    /// Counts an object that was written; begins a new transaction after some.
    private mutating func step() throws(ModelError) {
        written += 1
        if written >= Self.batchSize { try nextTransaction() }
    }

    private mutating func nextTransaction() throws(ModelError) {
        written = 0
        try transaction.commit()
        let buffer = transaction.reusableBuffer ?? WriteBuffer()
        transaction = try Self.begin(store, schema, buffer)
    }

    // MARK: Objects

    /// Calls `body` with each row that was found.
    private mutating func forEachRow(
        _ body: (inout Salvage, ClassHandle, ClusterView, SalvagedCluster.Origin, Int)
            throws(ModelError) -> Void
    ) throws(ModelError) {
        for (owner, table) in zip(schema.classes, tables) {
            for cluster in table.clusters {
                try stored { () throws(StorageError) in try CurrentCall.checkInterruption() }
                let open = try stored { () throws(StorageError) in try cluster.open() }
                try withExtendedLifetime(open) { () throws(ModelError) in
                    for row in cluster.rows {
                        try body(&self, owner, open.view, cluster.origin, row)
                    }
                }
            }
        }
    }

    private mutating func restoreObjects() throws(ModelError) {
        report.classes = schema.classes.map { SalvageReport.Class(name: $0.name) }
        for (index, table) in tables.enumerated() {
            let found = table.clusters.reduce(0) { $0 + $1.rows.count }
            report.classes[index].missing = table.rowCount.map { max(0, $0 - found) }
        }
        try forEachRow { salvage, owner, cluster, origin, row throws(ModelError) in
            try salvage.restore(owner, cluster, origin, row)
        }
        try nextTransaction()
    }

    private mutating func restore(
        _ owner: ClassHandle, _ cluster: ClusterView, _ origin: SalvagedCluster.Origin, _ row: Int
    ) throws(ModelError) {
        var (values, missing) = try values(of: owner, cluster, row, links: false)
        let key = cluster.keys[row]
        let primaryKey = owner.primaryKey.flatMap { owner.anyPosition(id: $0.id) }
        var isKept = false
        do throws(ModelError) {
            if !missing.contains(where: { $0 == primaryKey }) {
                isKept = try transaction.restore(key, owner, values, &uniques)
            }
        } catch {
            try requireRefusal(error)
            // A value that nobody could have written is lost like one that can't be read.
            missing += Self.refused(&values, owner, transaction)
            if !missing.contains(where: { $0 == primaryKey }) {
                do throws(ModelError) {
                    isKept = try transaction.restore(key, owner, values, &uniques)
                } catch {
                    // Without a primary key, for example because the table lacks its column, no
                    // object exists.
                    try requireRefusal(error)
                }
            }
        }
        let position = owner.position
        guard isKept else {
            report.classes[position].dropped += 1
            return
        }
        for property in missing { lost[position][property] += 1 }
        switch origin {
        case .newest: break
        case .older: report.classes[position].older += 1
        case .loose: report.classes[position].unverified += 1
        }
        try step()
    }

    /// Throws an error that is not about the values.
    private func requireRefusal(_ error: ModelError) throws(ModelError) {
        switch error {
        case .storage, .inconsistent: throw error
        default: break
        }
    }

    /// Takes out the values that can't be written; returns the positions of their properties.
    private static func refused(
        _ values: inout [(property: PropertyHandle, value: Value)], _ owner: ClassHandle,
        _ transaction: ModelTransaction
    ) -> [Int] {
        var refused: [Int] = []
        values.removeAll { item in
            if transaction.takes(item.value, item.property, owner) { return false }
            if let position = owner.anyPosition(id: item.property.id) { refused.append(position) }
            return true
        }
        return refused
    }

    /// The values of a row that differ from a new object's, and the positions of the unreadable
    /// properties.
    /// - Parameter links: those of links and of mixed properties; otherwise all others.
    private func values(
        of owner: ClassHandle, _ cluster: ClusterView, _ row: Int, links: Bool
    ) throws(ModelError) -> (values: [(property: PropertyHandle, value: Value)], lost: [Int]) {
        var values: [(property: PropertyHandle, value: Value)] = []
        var lost: [Int] = []
        for (position, property) in owner.properties.enumerated()
        where property.isStored && property.type.canLink == links {
            do throws(ModelError) {
                if let value = try property.salvagedValue(cluster, row) {
                    values.append((property, value))
                }
            } catch {
                try error.requireDamage()
                lost.append(position)
            }
        }
        return (values, lost)
    }

    // MARK: Links

    private mutating func restoreLinks() throws(ModelError) {
        try forEachRow { salvage, owner, cluster, _, row throws(ModelError) in
            guard !owner.links.isEmpty else { return }
            try salvage.relink(owner, cluster, row)
        }
        try nextTransaction()
    }

    private mutating func relink(_ owner: ClassHandle, _ cluster: ClusterView, _ row: Int)
        throws(ModelError)
    {
        let key = cluster.keys[row]
        guard try transaction.view.exists(key, owner) else { return }
        var (values, missing) = try values(of: owner, cluster, row, links: true)
        for index in values.indices {
            values[index].value = try surviving(values[index].value, values[index].property)
        }
        missing += Self.refused(&values, owner, transaction)
        for property in missing { lost[owner.position][property] += 1 }
        guard !values.isEmpty else { return }
        try transaction.relink(key, owner, values)
        try step()
    }

    /// A value without the links to objects that are lost, or that another object owns.
    private mutating func surviving(_ value: Value, _ property: PropertyHandle, depth: Int = 0)
        throws(ModelError) -> Value
    {
        switch value {
        case .link(let target):
            var isThere = try transaction.view.exists(target)
            if isThere, property.ownsTargets { isThere = owned.insert(target).inserted }
            if isThere { return value }
            report.classes[property.classPosition].cutLinks += 1
            return .null
        case .list(let values):
            let loses =
                depth == 0
                && (property.collection == .set || property.collection == .list)
                && (property.collection == .set || property.type == .link)
            var kept: [Value] = []
            for value in values {
                let survivor = try surviving(value, property, depth: depth + 1)
                if loses, survivor.isNull, !value.isNull { continue }
                kept.append(survivor)
            }
            return .list(kept)
        case .dictionary(var entries):
            for index in entries.indices {
                entries[index].value = try surviving(
                    entries[index].value, property, depth: depth + 1)
            }
            return .dictionary(entries)
        default: return value
        }
    }

    // MARK: The end

    /// Deletes the embedded objects that nothing owns, with those that they own.
    private mutating func dropOrphans() throws(ModelError) {
        let embedded = zip(schema.classes, tables).filter { $0.0.isEmbedded }
        var counts: [Int] = []
        for (owner, _) in embedded { counts.append(try transaction.view.count(owner)) }
        for (owner, table) in embedded {
            for cluster in table.clusters {
                let open = try stored { () throws(StorageError) in try cluster.open() }
                let keys = withExtendedLifetime(open) { cluster.rows.map { open.view.keys[$0] } }
                for key in keys {
                    guard !owned.contains(ObjectRef(classID: owner.id, key: key)),
                        try transaction.view.exists(key, owner)
                    else { continue }
                    try transaction.erase(key, owner)
                }
            }
        }
        for (index, (owner, _)) in embedded.enumerated() {
            report.classes[owner.position].dropped +=
                counts[index] - (try transaction.view.count(owner))
        }
    }

    private mutating func restoreCounters() throws(ModelError) {
        for owner in schema.classes where owner.isAutoIncremented {
            guard let newest = try stored({ () throws(StorageError) in try file.version(at: 0) }),
                let counter = try? KeyCounter.read(owner.id, in: newest)
            else { continue }
            try transaction.moveKeyCounter(of: owner, to: counter)
        }
        try transaction.commit()
    }

    /// Reads the result back, and completes the report.
    private mutating func finish() throws(ModelError) -> SalvageReport {
        let snapshot = try stored { () throws(StorageError) in try store.beginRead() }
        defer { snapshot.release() }
        if let problem = try ModelCheck.run(snapshot).problems.first {
            throw .inconsistent("what was salvaged does not fit together: \(problem)")
        }
        let view = ModelView(snapshot, schema: schema)
        for owner in schema.classes {
            let position = owner.position
            report.classes[position].objects = try view.count(owner)
            for (index, property) in owner.properties.enumerated() where lost[position][index] > 0 {
                report.classes[position].properties.append(
                    SalvageReport.Property(name: property.name, lost: lost[position][index]))
            }
        }
        report.problems = file.problems
        return report
    }
}

extension StoredSchema {
    /// The plan that makes this schema in an empty database, with the same ids.
    fileprivate var remaking: SchemaPlan {
        var target = self
        var changes = classes.map { SchemaChange.createTable($0.id) }
        for (index, owner) in classes.enumerated() {
            target.classes[index].table = 0
            target.classes[index].primaryKeyTree = nil
            for (position, property) in owner.properties.enumerated() {
                target.classes[index].properties[position].indexTree = nil
                target.classes[index].properties[position].backlinkTree = nil
                if property.backlinkTree != nil {
                    changes.append(.createBacklinks(owner.id, property.id))
                }
                if property.indexTree != nil { changes.append(.createIndex(owner.id, property.id)) }
            }
            for (number, unique) in owner.uniques.enumerated() {
                target.classes[index].uniques[number].tree = 0
                changes.append(.createUnique(owner.id, unique.properties))
            }
        }
        return SchemaPlan(target: target, changes: changes)
    }

    fileprivate mutating func showEverything() {
        for index in classes.indices {
            classes[index].isHidden = false
            for position in classes[index].properties.indices {
                classes[index].properties[position].isHidden = false
            }
        }
    }
}

extension PropertyHandle {
    /// A row's value; nil if it is the default of new objects, or if the table lacks the property.
    /// - Throws: if it can't be read, or is not a value of the property.
    fileprivate func salvagedValue(_ cluster: ClusterView, _ row: Int) throws(ModelError) -> Value?
    {
        do throws(ModelError) {
            guard isCollection else {
                let cell = try stored { () throws(StorageError) in try cluster.cell(row, column) }
                if case .null = cell {
                    if isOptional { return nil }
                    throw .nullNotAllowed(className: className, property: name)
                }
                return try value(of: cell)
            }
            let elements = try values(
                try stored { () throws(StorageError) in try cluster.list(column, row) })
            if elements.isEmpty { return nil }
            guard collection == .dictionary else { return .list(elements) }
            let keys = try stored { () throws(StorageError) in try cluster.list(keysColumn, row) }
            guard keys.count == elements.count else {
                throw .inconsistent("'\(className).\(name)' has not as many keys as values")
            }
            var entries: [ValueEntry] = []
            for (index, element) in elements.enumerated() {
                guard
                    case .bytes(let bytes) = try stored({ () throws(StorageError) in
                        try keys.cell(at: index)
                    }), let key = String(validating: bytes, as: UTF8.self)
                else { throw .invalidText(className: className, property: name) }
                entries.append(ValueEntry(key: key, value: element))
            }
            return .dictionary(entries)
        } catch .storage(.noSuchColumn) {
            return nil
        }
    }

    private func values(_ list: ListView) throws(ModelError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(list.reservedCount)
        for index in 0..<list.count {
            let cell = try stored { () throws(StorageError) in try list.cell(at: index) }
            values.append(try value(of: cell))
        }
        return values
    }
}
