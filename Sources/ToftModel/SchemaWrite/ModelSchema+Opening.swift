internal import ToftPlatform
package import ToftStorage

extension ModelSchema {
    /// Prepares a database for a declared schema: validates the schema, compares it with the file's
    /// and adds missing parts, in one transaction. Without a declared schema the session sees the
    /// whole file.
    ///
    /// A database that is read only, by itself or for the caller, isn't added to: indexes are done
    /// without, classes and properties that are missing are seen without objects and values, see
    /// `UnwrittenSchema`. No version: the file's holds.
    ///
    /// - Parameters:
    ///   - showsHidden: whether a session without declared classes sees the parts that others have
    ///     hidden.
    ///   - known: schemas that this process has opened the database with; one that is still valid
    ///     for the declared schema is returned, after one lookup.
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
        if store.isReadOnly || isReadOnly {
            return ModelSchema(
                try UnwrittenSchema(found, for: declared, version: version ?? found.version),
                declared: declared)
        }
        let plan = try found.plan(for: declared, version: version ?? found.version)
        if plan.isEmpty {
            tellLosses(from: found, to: found, declared, in: store.path)
            return ModelSchema(found, declared: declared)
        }
        let added = try add(declared, version: version, to: store, timeoutMilliseconds, calls)
        tellLosses(from: found, to: added.stored, declared, in: store.path)
        return added
    }

    /// Logs the classes and properties that an opening hides from its program, or has removed; as a
    /// warning if they may have been renamed, which only a migration can express.
    package static func tellLosses(
        from before: StoredSchema, to after: StoredSchema, _ declared: Schema, in path: String
    ) {
        guard Diagnostics.isTold(.warn) else { return }
        for difference in before.differences(to: after, seenBy: declared) {
            guard let level = difference.level(isChange: before != after) else { continue }
            Diagnostics.tell(level, "'\(path)': \(difference).")
        }
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

/// Receives the progress of long work: finished objects, and all objects.
package typealias ProgressHandler = (_ done: Int, _ total: Int) -> Void
