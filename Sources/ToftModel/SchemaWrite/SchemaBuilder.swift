internal import ToftStorage

/// Carries out a schema plan within a write transaction: creates and drops trees and columns,
/// fills indexes from the rows that exist, writes the schema's records.
struct SchemaBuilder {
    let writing: WriteTransaction
    private(set) var schema: StoredSchema
    private var changedClasses: Set<ClassID> = []
    private var droppedClasses: [ClassID] = []
    let calls: SchemaCalls
    /// Objects whose entries or defaults were made, and those that need some.
    private var done = 0
    private var total = 0

    /// Returns the schema that the file then holds.
    static func carryOut(
        _ plan: SchemaPlan, in transaction: WriteTransaction, _ calls: SchemaCalls
    ) throws(ModelError) -> StoredSchema {
        var builder = SchemaBuilder(writing: transaction, schema: plan.target, calls: calls)
        if calls.progress != nil { try builder.count(plan) }
        if calls.handlesBacklinks, !plan.embedded.isEmpty {
            try OwnerArrangement.run(plan, in: transaction)
        }
        for change in plan.changes { try builder.carryOut(change) }
        if !plan.embedded.isEmpty { try builder.checkOwners(plan.embedded) }
        // The last progress handler may have ended the opening.
        try stored { () throws(StorageError) in try CurrentCall.checkInterruption() }
        try builder.writeRecords()
        return builder.schema
    }

    private init(writing: WriteTransaction, schema: StoredSchema, calls: SchemaCalls) {
        self.writing = writing
        self.schema = schema
        self.calls = calls
    }

    private mutating func count(_ plan: SchemaPlan) throws(ModelError) {
        for change in plan.changes {
            switch change {
            case .createIndex(let id, _), .remakePrimaryKey(let id), .createPrimaryKey(let id),
                .createUnique(let id, _), .makeEmbedded(let id):
                let table = schema.classes[try classIndex(id)].table
                // A class that is new has no table yet, and no objects.
                guard table != 0 else { continue }
                total += try stored { () throws(StorageError) in
                    try writing.view.table(table).rowCount
                }
            default: break
            }
        }
    }

    private mutating func carryOut(_ change: SchemaChange) throws(ModelError) {
        switch change {
        case .createTable(let id): try createTable(id)
        case .addColumn(let id, let property): try addColumn(id, property)
        case .makeOptional(let id, let property):
            let table = schema.classes[try classIndex(id)].table
            try stored { () throws(StorageError) in try writing.makeNullable(table, property) }
            changedClasses.insert(id)
        case .remakePrimaryKey(let id): try remakePrimaryKey(id)
        case .dropPrimaryKey(let id, let tree):
            try stored { () throws(StorageError) in try writing.dropTree(tree) }
            changedClasses.insert(id)
        case .createPrimaryKey(let id): try createPrimaryKey(id)
        case .startCounter(let id): try startCounter(id)
        case .createBacklinks(let id, let property):
            let tree = try createTree()
            try edit(id, property) { $0.backlinkTree = tree }
        case .createUnique(let id, let properties): try createUnique(id, properties)
        case .dropUnique(let id, let tree):
            try stored { () throws(StorageError) in try writing.dropTree(tree) }
            changedClasses.insert(id)
        case .createIndex(let id, let property):
            let tree = try createTree()
            try edit(id, property) { $0.indexTree = tree }
            try fillIndex(id, property, tree)
        case .dropIndex(let id, let property, let tree):
            try stored { () throws(StorageError) in try writing.dropTree(tree) }
            try edit(id, property) { $0.indexTree = nil }
        case .dropColumns(let id, let columns):
            let table = schema.classes[try classIndex(id)].table
            try stored { () throws(StorageError) in try writing.removeColumns(table, columns) }
            changedClasses.insert(id)
        case .dropBacklinks(let id, let tree):
            try stored { () throws(StorageError) in try writing.dropTree(tree) }
            changedClasses.insert(id)
        case .dropClass(let id, let trees): try dropClass(id, trees)
        case .updateClass(let id), .makeEmbedded(let id), .makeTopLevel(let id):
            changedClasses.insert(id)
        case .setVersion: break
        }
    }

    // MARK: Trees and columns

    private mutating func createTable(_ id: ClassID) throws(ModelError) {
        let index = try classIndex(id)
        let columns = schema.classes[index].properties.flatMap(\.columns).sorted { $0.id < $1.id }
        schema.classes[index].table = try stored { () throws(StorageError) in
            try writing.createTable(columns: columns)
        }
        if schema.classes[index].primaryKeyID != nil {
            schema.classes[index].primaryKeyTree = try createTree()
        }
        changedClasses.insert(id)
    }

    private mutating func dropClass(_ id: ClassID, _ trees: [TreeID]) throws(ModelError) {
        for tree in trees {
            try stored { () throws(StorageError) in try writing.dropTree(tree) }
        }
        droppedClasses.append(id)
    }

    private mutating func addColumn(_ id: ClassID, _ property: PropertyID) throws(ModelError) {
        let owner = schema.classes[try classIndex(id)]
        for column in owner.property(id: property)?.columns ?? [] {
            try stored { () throws(StorageError) in try writing.addColumn(owner.table, column) }
        }
        changedClasses.insert(id)
        try fillDefaults(id, property)
    }

    private mutating func remakePrimaryKey(_ id: ClassID) throws(ModelError) {
        let index = try classIndex(id)
        guard let key = schema.classes[index].primaryKeyID,
            let old = schema.classes[index].primaryKeyTree
        else { throw .inconsistent("a plan names the primary key of class \(id)") }
        let tree = try createTree()
        schema.classes[index].primaryKeyTree = tree
        try fillIndex(id, key, tree)
        try stored { () throws(StorageError) in try writing.dropTree(old) }
        changedClasses.insert(id)
    }

    /// Fills the tree of a primary key that was an ordinary property, whose values must differ.
    private mutating func createPrimaryKey(_ id: ClassID) throws(ModelError) {
        let index = try classIndex(id), owner = schema.classes[index]
        guard let key = owner.primaryKey else {
            throw .inconsistent("a plan makes a primary key of class \(id)")
        }
        let tree = try createTree()
        try fillIndex(id, key.id, tree, isUnique: true)
        let counts = try stored { () throws(StorageError) in
            (try writing.view.orderedTree(tree).count, try writing.view.table(owner.table).rowCount)
        }
        schema.classes[index].primaryKeyTree = tree
        changedClasses.insert(id)
        guard counts.0 == counts.1 else {
            throw try duplicate(in: index)
        }
    }

    /// The error that names a primary key which several objects have: the entry of the first of
    /// them leads to another one. O(objects).
    private func duplicate(in index: Int) throws(ModelError) -> ModelError {
        let view = ModelView(writing.view, schema: ModelSchema(schema))
        let owner = view.schema.classes[index]
        guard let key = owner.primaryKey else { return .noPrimaryKey(className: owner.name) }
        let table = try view.table(owner)
        var rank = 0
        while rank < table.rowCount {
            let (cluster, first) = try stored { () throws(StorageError) in
                try table.cluster(atRank: rank)
            }
            for row in first..<cluster.count {
                let cell = try stored { () throws(StorageError) in try cluster.cell(row, key.id) }
                guard try view.find(cell: cell, key, owner) == cluster.keys[row] else {
                    return try Self.notUnique(key, cell)
                }
            }
            rank += cluster.count - first
        }
        return .inconsistent("the primary keys of class '\(owner.name)' are miscounted")
    }

    private static func notUnique(_ key: PropertyHandle, _ cell: Cell) throws(ModelError)
        -> ModelError
    {
        .primaryKeysNotUnique(
            className: key.className, property: key.name, value: try key.value(of: cell))
    }

    /// Keeps the greatest primary key of a class, or a greater one from when it was counted before.
    private mutating func startCounter(_ id: ClassID) throws(ModelError) {
        let owner = schema.classes[try classIndex(id)]
        guard let tree = owner.primaryKeyTree else {
            throw .inconsistent("a plan counts the primary keys of class \(id)")
        }
        let counter = max(
            try KeyCounter.read(id, in: writing.view),
            try KeyCounter.greatest(in: tree, writing.view))
        try KeyCounter.write(counter, id, in: writing)
        changedClasses.insert(id)
    }

    private func createTree() throws(ModelError) -> TreeID {
        try stored { () throws(StorageError) in try writing.createOrderedTree() }
    }

    private mutating func edit(
        _ id: ClassID, _ property: PropertyID, _ body: (inout StoredProperty) -> Void
    ) throws(ModelError) {
        let index = try classIndex(id)
        guard let position = schema.classes[index].propertyIndex(id: property) else {
            throw .inconsistent("a plan names property \(property)")
        }
        body(&schema.classes[index].properties[position])
        changedClasses.insert(id)
    }

    func classIndex(_ id: ClassID) throws(ModelError) -> Int {
        guard let index = schema.classIndex(id: id) else {
            throw .inconsistent("a plan names class \(id)")
        }
        return index
    }

    // MARK: Indexes

    /// Bytes of index entries that are sorted at once.
    private static let batchBytes = 24 << 20

    /// Adds an entry for each row that exists, to an index or to the tree of the primary key.
    /// - Parameter isUnique: equal keys become one entry, for the caller to count; those of long
    ///   strings throw.
    private mutating func fillIndex(
        _ id: ClassID, _ property: PropertyID, _ tree: TreeID, isUnique: Bool = false
    ) throws(ModelError) {
        let owner = schema.classes[try classIndex(id)]
        guard let indexed = owner.property(id: property) else { return }
        let resolved = ModelSchema(schema)
        var longKeys: Set<[UInt8]>? = isUnique ? [] : nil
        try fill(tree, from: owner.table) { cluster, row, batch throws(ModelError) in
            let cell = try stored { () throws(StorageError) in try cluster.cell(row, indexed.id) }
            try KeyBytes.with { bytes throws(ModelError) in
                guard bytes.put(cell, of: indexed.type, optional: indexed.isOptional) else {
                    throw .inconsistent("'\(owner.name).\(indexed.name)' can't be indexed")
                }
                if !bytes.isExact, longKeys?.insert(Array(bytes.bytes)).inserted == false,
                    let key = resolved.anyClass(id: id)?.anyProperty(id: property)
                {
                    throw try Self.notUnique(key, cell)
                }
                let key = cluster.keys[row]
                if !indexed.isPrimaryKey || !bytes.isExact { bytes.put(objectKey: key) }
                let value = indexed.isPrimaryKey ? UInt64(bitPattern: key).littleEndian : 0
                batch.add(
                    bytes.bytes, value,
                    length: indexed.isPrimaryKey ? PrimaryKeyEntry.size(key) : 0,
                    isNew: longKeys == nil)
            }
        }
    }

    /// Adds the entries that `add` gives for each row of a table to a tree.
    private mutating func fill(
        _ tree: TreeID, from table: TreeID,
        _ add: (ClusterView, _ row: Int, inout EntryTable) throws(ModelError) -> Void
    ) throws(ModelError) {
        let table = try stored { () throws(StorageError) in try writing.view.table(table) }
        var batch = EntryTable(), rank = 0
        defer { batch.deallocate() }
        while rank < table.rowCount {
            try stored { () throws(StorageError) in try CurrentCall.checkInterruption() }
            let (cluster, first) = try stored { () throws(StorageError) in
                try table.cluster(atRank: rank)
            }
            for row in first..<cluster.count { try add(cluster, row, &batch) }
            let rows = cluster.count - first
            rank += rows
            tell(rows)
            if batch.size > Self.batchBytes || rank >= table.rowCount {
                try batch.write(
                    to: try stored { () throws(StorageError) in
                        try writing.entryBatch(of: tree, count: batch.count, derived: true)
                    })
                batch.removeAll()
            }
        }
    }

    /// Makes the tree of a unique constraint. Throws if two objects have the same values.
    private mutating func createUnique(_ id: ClassID, _ properties: [PropertyID])
        throws(ModelError)
    {
        let index = try classIndex(id)
        guard
            let position = schema.classes[index].uniques.firstIndex(where: {
                $0.properties == properties
            })
        else { throw .inconsistent("a plan names a unique constraint of class \(id)") }
        let tree = try createTree()
        schema.classes[index].uniques[position].tree = tree
        changedClasses.insert(id)
        let view = ModelView(writing.view, schema: ModelSchema(schema))
        let owner = view.schema.classes[index], constraint = owner.uniques[position]
        try fill(tree, from: owner.table) { cluster, row, batch throws(ModelError) in
            let hash = try constraint.hash { property throws(ModelError) in
                try cluster.cell(row, property)
            }
            guard let hash else { return }
            try KeyBytes.with { bytes throws(ModelError) in
                bytes.putUnique(hash, cluster.keys[row])
                batch.add(bytes.bytes, 0, length: 0, isNew: true)
            }
        }
        try view.checkUnique(constraint)
    }

    /// Tells of more objects that are done. `total` does not count those that get defaults before
    /// it is known that there are some.
    mutating func tell(_ rows: Int) {
        done += rows
        calls.progress?(done, max(total, done))
    }

    /// Adds objects to those that need something.
    mutating func expect(_ rows: Int) { total += rows }

    // MARK: Records

    /// Writes changes to the schema's tree and to its copy, which gets all classes if it is of an
    /// earlier generation.
    private mutating func writeRecords() throws(ModelError) {
        let copied = try SchemaTree.generation(in: writing.view, of: SchemaTree.copy)
        let changed = schema.classes.filter { changedClasses.contains($0.id) }
        let behind = copied == schema.generation ? changed : schema.classes
        schema.generation += 1
        try update(SchemaTree.id, with: changed)
        try update(SchemaTree.copy, with: behind)
    }

    private func update(_ tree: TreeID, with classes: [StoredClass]) throws(ModelError) {
        try stored { () throws(StorageError) in try writing.ensureSystemTree(tree) }
        try write(schema.encodedHeader(), under: SchemaEncoding.headerKey, to: tree)
        for owner in classes {
            try write(owner.encoded(), under: SchemaEncoding.classKey(owner.id), to: tree)
        }
        for id in droppedClasses {
            try delete(SchemaEncoding.classKey(id), from: tree)
            try delete(SchemaEncoding.counterKey(id), from: tree)
        }
    }

    private func write(_ record: [UInt8], under key: [UInt8], to tree: TreeID) throws(ModelError) {
        try stored { () throws(StorageError) in
            try key.withBytes { key throws(StorageError) in
                try record.withBytes { record throws(StorageError) in
                    try writing.treePut(tree, key, record, derived: true)
                }
            }
        }
    }

    private func delete(_ key: [UInt8], from tree: TreeID) throws(ModelError) {
        try stored { () throws(StorageError) in
            _ = try key.withBytes { key throws(StorageError) in
                try writing.treeDelete(tree, key, derived: true)
            }
        }
    }
}
