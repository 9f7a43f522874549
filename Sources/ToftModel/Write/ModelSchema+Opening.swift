package import ToftStorage

extension ModelSchema {
    /// Prepares a database for a declared schema: validates the schema, compares it with the file's
    /// and adds what the file lacks, in one transaction. Without a declared schema the session sees
    /// all that the file holds.
    ///
    /// A database that is read only, by itself or for the caller, isn't added to: what only costs
    /// speed (indexes) is done without, what is missing is an error. No version: the file's holds.
    ///
    /// - Parameters:
    ///   - showsHidden: whether who declares nothing sees what others have hidden.
    ///   - known: schemas that this process has opened the database with; one that still holds for
    ///     the declared schema is given back, after one look-up.
    package static func open(
        _ store: Store, declared: Schema?, version: UInt64?, isReadOnly: Bool = false,
        showsHidden: Bool = false, known: [ModelSchema] = [], timeoutMilliseconds: Int = -1,
        calls: SchemaCalls = SchemaCalls()
    ) throws(ModelError) -> ModelSchema {
        let snapshot = try ToftModel.stored { () throws(StorageError) in try store.beginRead() }
        defer { snapshot.release() }
        let generation = try SchemaTree.generation(in: snapshot)
        if !showsHidden,
            let same = known.first(where: {
                $0.isComplete && $0.stored.generation == generation && $0.declared == declared
                    && version ?? $0.stored.version == $0.stored.version
            })
        {
            return same
        }
        try declared?.validate()
        let found = try SchemaTree.read(snapshot)
        guard let declared else { return ModelSchema(showsHidden ? found.revealed() : found) }
        let plan = try found.plan(for: declared, version: version ?? found.version)
        if plan.isEmpty { return ModelSchema(found, declared: declared) }
        if store.isReadOnly || isReadOnly {
            var seen = try plan.withoutWriting()
            seen.version = found.version
            return ModelSchema(seen, declared: declared, isComplete: false)
        }
        return try add(declared, version: version, to: store, timeoutMilliseconds, calls)
    }

    /// Whether no program has given a database classes yet.
    package static func isMissing(in snapshot: Snapshot) throws(ModelError) -> Bool {
        try SchemaTree.generation(in: snapshot) == 0
    }

    /// Carries the plan out within a transaction that the caller ends.
    package static func add(
        _ declared: Schema, version: UInt64?, in transaction: WriteTransaction,
        calls: SchemaCalls = SchemaCalls()
    ) throws(ModelError) -> ModelSchema {
        try declared.validate()
        let found = try SchemaTree.read(transaction.view)
        let plan = try found.plan(for: declared, version: version ?? found.version)
        return ModelSchema(
            plan.isEmpty
                ? plan.target : try SchemaBuilder.carryOut(plan, in: transaction, calls),
            declared: declared)
    }

    private static func add(
        _ declared: Schema, version: UInt64?, to store: Store, _ timeoutMilliseconds: Int,
        _ calls: SchemaCalls
    ) throws(ModelError) -> ModelSchema {
        let transaction = try ToftModel.stored { () throws(StorageError) in
            try store.beginWrite(timeoutMilliseconds: timeoutMilliseconds)
        }
        defer { transaction.rollback() }
        let schema = try add(declared, version: version, in: transaction, calls: calls)
        _ = try ToftModel.stored { () throws(StorageError) in try transaction.commit() }
        return schema
    }
}

extension ModelTransaction {
    /// Works on a write transaction, in which the database is given a declared schema before.
    package convenience init(
        _ transaction: WriteTransaction, adding declared: Schema, version: UInt64?,
        calls: SchemaCalls, buffer: WriteBuffer
    ) throws(ModelError) {
        let schema = try ModelSchema.add(
            declared, version: version, in: transaction, calls: calls)
        self.init(transaction, schema: schema, buffer: buffer)
    }
}

/// Told how much of what takes long is done: objects, of so many in all.
package typealias ProgressHandler = (_ done: Int, _ total: Int) -> Void

extension SchemaPlan {
    /// The schema that a file which can't be written gives: an error where anything is missing that
    /// holds data.
    fileprivate func withoutWriting() throws(ModelError) -> StoredSchema {
        var missing: [SchemaProblem] = []
        for change in changes {
            switch change {
            case .createTable(let id):
                missing.append(
                    SchemaProblem(
                        className: target.storedClass(id: id)?.name ?? "#\(id)",
                        text: "is not in the file, which is read-only"))
            case .addColumn(let id, let property):
                let owner = target.storedClass(id: id)
                missing.append(
                    SchemaProblem(
                        className: owner?.name ?? "#\(id)",
                        property: owner?.property(id: property)?.name ?? "#\(property)",
                        text: "is not in the file, which is read-only"))
            case .makeOptional(let id, let property):
                let owner = target.storedClass(id: id)
                missing.append(
                    SchemaProblem(
                        className: owner?.name ?? "#\(id)",
                        property: owner?.property(id: property)?.name ?? "#\(property)",
                        text: "is not optional in the file, which is read-only. Open the file once "
                            + "for writing with this schema, or declare the property as required"))
            case .makeEmbedded(let id), .makeTopLevel(let id):
                let owner = target.storedClass(id: id)
                missing.append(
                    SchemaProblem(
                        className: owner?.name ?? "#\(id)",
                        text: "is \(owner?.isEmbedded == true ? "not " : "")embedded in the file, "
                            + "which is read-only. Open the file once for writing with this schema"
                    ))
            default: break
            }
        }
        if !missing.isEmpty { throw .schemaMismatch(missing) }
        var target = target
        for index in target.classes.indices {
            target.classes[index].uniques.removeAll { $0.tree == 0 }
        }
        return target
    }
}
