import Synchronization
import Testing
@testable import ToftModel
import ToftPlatform
import ToftStorage

/// A database in memory for one test, with a schema; every transaction that it commits is checked,
/// and so is the end.
final class ModelDatabase {
    let store: Store
    private(set) var schema: ModelSchema
    private static let counter = Atomic(0)

    /// One for all transactions, also after those that were rolled back.
    private let buffer: WriteBuffer

    /// `isTight`: changed pages and buffered changes are flushed all the time, and new entries
    /// wander through the insert buffer. `dirtyLimit`: bytes of changed pages that stay in memory.
    init(
        _ classes: ClassSchema..., location: StoreConfiguration.Location? = nil,
        version: UInt64 = 0, isTight: Bool = false, dirtyLimit: Int? = nil,
        encryptionKey: EncryptionKey? = nil
    ) throws {
        let place =
            location ?? .memory(name: "model-\(Self.counter.add(1, ordering: .relaxed).newValue)")
        var configuration = StoreConfiguration(location: place)
        if isTight { configuration.dirtyLimit = 100_000 }
        if let dirtyLimit { configuration.dirtyLimit = dirtyLimit }
        configuration.encryptionKey = encryptionKey
        buffer = WriteBuffer(
            limits: isTight
                ? WriteBuffer.Limits(entryBytes: 3_000, values: 7, valueBytes: 500, deletes: 5)
                : WriteBuffer.Limits())
        store = try Store.open(configuration)
        if isTight { store.insertBuffer.withLock { $0.policy = Self.tightInsertBuffer } }
        schema = try ModelSchema.open(store, declared: Schema(classes), version: version)
    }

    private static var tightInsertBuffer: InsertBufferPolicy {
        var policy = InsertBufferPolicy()
        policy.limits = [3, 10, 25, 60, 200]
        policy.compactionBatch = 2
        policy.levelToBatchRatio = 1
        policy.smallestTree = 10
        policy.treeToBatchRatio = 1
        return policy
    }

    /// Opens the same store with another schema.
    func reopen(
        _ classes: ClassSchema..., version: UInt64 = 0, handlesBacklinks: Bool = false
    ) throws {
        schema = try ModelSchema.open(
            store, declared: Schema(classes), version: version,
            calls: SchemaCalls(handlesBacklinks: handlesBacklinks))
    }

    /// Migrates the store to another schema, with a block that changes values, and opens it.
    func migrate(
        _ classes: ClassSchema..., version: UInt64, handlesBacklinks: Bool = false,
        _ block: (ModelTransaction) throws -> Void
    ) throws {
        let writing = try store.beginWrite()
        defer { writing.rollback() }
        var migration = try SchemaMigration(
            writing, to: Schema(classes), version: version,
            calls: SchemaCalls(handlesBacklinks: handlesBacklinks))
        let transaction = try migration.begin(buffer)
        try block(transaction)
        try migration.finish(transaction)
        _ = try writing.commit()
        schema = try ModelSchema.open(store, declared: Schema(classes), version: version)
    }

    /// Runs a transaction and commits it; rolls back when `body` throws.
    @discardableResult
    func write<Result>(_ body: (ModelTransaction) throws -> Result) throws -> Result {
        let writing = try store.beginWrite()
        let transaction = ModelTransaction(
            writing, schema: try ModelSchema.read(writing.view, previous: schema),
            buffer: buffer)
        do {
            let result = try body(transaction)
            try expectSound(transaction.view)
            try transaction.commit()
            return result
        } catch {
            transaction.rollback()
            throw error
        }
    }

    /// Runs a transaction and rolls it back.
    func rolledBack(_ body: (ModelTransaction) throws -> Void) throws {
        let writing = try store.beginWrite()
        let transaction = ModelTransaction(
            writing, schema: try ModelSchema.read(writing.view, previous: schema), buffer: buffer)
        defer { transaction.rollback() }
        try body(transaction)
    }

    /// The newest version.
    func view() throws -> ModelView {
        try ModelView(try store.beginRead(), previous: schema)
    }

    /// Reads the newest version.
    func read<Result>(_ body: (ModelView) throws -> Result) throws -> Result {
        let view = try view()
        defer { view.snapshot.release() }
        return try body(view)
    }

    /// The check at the end of every test: of the model and of the file.
    func check(_ location: SourceLocation = #_sourceLocation) throws {
        try read { try expectSound($0, location) }
        let report = try store.check()
        #expect(report.problems == [], sourceLocation: location)
    }

    private func expectSound(_ view: ModelView, _ location: SourceLocation = #_sourceLocation)
        throws
    {
        #expect(try ModelCheck.run(view) == [], sourceLocation: location)
    }

    func handle(_ name: String) throws -> ClassHandle { try schema.classHandle(named: name) }

    func property(_ className: String, _ name: String) throws -> PropertyHandle {
        try handle(className).property(named: name)
    }
}

extension ModelTransaction {
    /// Creates an object from names and values.
    @discardableResult
    func create(
        _ name: String, _ values: KeyValuePairs<String, Value> = [:], policy: UpdatePolicy = .error
    ) throws -> Int64 {
        let owner = try view.schema.classHandle(named: name)
        return try create(
            owner, try values.map { (try owner.property(named: $0.key), $0.value) }, policy: policy
        ).key
    }

    /// Sets one property by name.
    func set(_ key: Int64, _ className: String, _ property: String, _ value: Value) throws {
        try set(key, try view.schema.classHandle(named: className).property(named: property), value)
    }

    func erase(_ key: Int64, _ className: String) throws {
        try erase(key, try view.schema.classHandle(named: className))
    }

    func append(_ key: Int64, _ className: String, _ property: String, _ values: Value...) throws {
        let list = try view.schema.classHandle(named: className).property(named: property)
        for value in values { try listAppend(key, list, value) }
    }

    // Collections with values that the caller owns.

    func listInsert(_ key: Int64, _ property: PropertyHandle, at index: Int, _ value: Value)
        throws(ModelError)
    {
        try value.withList { values throws(ModelError) in
            try listInsert(key, property, at: index, values)
        }
    }

    func listAppend(_ key: Int64, _ property: PropertyHandle, _ value: Value) throws(ModelError) {
        try value.withList { values throws(ModelError) in try listAppend(key, property, values) }
    }

    func listSet(_ key: Int64, _ property: PropertyHandle, at index: Int, _ value: Value)
        throws(ModelError)
    {
        try value.withBorrowed { value throws(ModelError) in
            try listSet(key, property, at: index, value)
        }
    }

    @discardableResult
    func dictionarySet(
        _ key: Int64, _ property: PropertyHandle, _ entryKey: String, _ value: Value
    ) throws(ModelError) -> (index: Int, isNew: Bool) {
        try value.withBorrowed { value throws(ModelError) in
            try entryKey.withBytes { entryKey throws(ModelError) in
                try dictionarySet(key, property, entryKey, value)
            }
        }
    }

    func dictionaryErase(_ key: Int64, _ property: PropertyHandle, _ entryKey: String)
        throws(ModelError) -> Bool
    {
        try entryKey.withBytes { entryKey throws(ModelError) in
            try dictionaryErase(key, property, entryKey)
        }
    }
}

extension ModelView {
    /// The value of a property by name; of a list, see `list`.
    func value(_ key: Int64, _ className: String, _ property: String) throws -> Value {
        try value(key, try schema.classHandle(named: className).property(named: property))
    }

    func values(_ key: Int64, _ className: String, _ property: String) throws -> [Value] {
        try listValues(key, try schema.classHandle(named: className).property(named: property))
    }

    /// The keys of the objects that an inverse link leads to.
    func inverse(_ key: Int64, _ className: String, _ property: String) throws -> [Int64] {
        let inverse = try schema.classHandle(named: className).property(named: property)
        return try backlinks(to: key, through: try schema.origin(of: inverse))
    }

    func find(_ className: String, _ primaryKey: Value) throws -> Int64? {
        try find(primaryKey, try schema.classHandle(named: className))
    }

    func keys(_ className: String, _ property: String, equalTo value: Value) throws -> [Int64] {
        let indexed = try schema.classHandle(named: className).property(named: property)
        var keys: [Int64] = []
        try value.withBorrowed { value throws(ModelError) in
            try forEachIndexed(indexed, equalTo: try indexed.checkedCell(value, in: schema)) {
                key throws(ModelError) in
                keys.append(key)
                return true
            }
        }
        return keys
    }
}

/// The message of a call's error.
func message(_ body: () throws -> Void, _ location: SourceLocation = #_sourceLocation) -> String {
    do {
        try body()
        Issue.record("nothing was thrown", sourceLocation: location)
        return ""
    } catch let error as ModelError {
        return error.message
    } catch {
        return "\(error)"
    }
}
