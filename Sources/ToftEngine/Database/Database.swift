internal import ToftPlatform
internal import ToftModel
internal import ToftQuery
package import ToftStorage

/// An open database: one for each file (or name in memory) in a process, shared by its sessions.
/// Any thread.
package final class Database: Sendable {
    private struct Entry {
        weak var database: Database?
    }

    private struct Writer {
        let thread: ThreadToken
        /// Whether the thread is in the handler of a migration or of a new file.
        let isHandler: Bool
    }

    private static let registry = ProcessWide<[ObjectIdentifier: Entry]> { [:] }

    let store: Store
    let notifier: Notifier
    /// Parsed queries of its sessions.
    let queries = QueryCache()
    /// The schemas that sessions were opened with last, for openings to come.
    private let schemas = FutexMutex<[ModelSchema]>([])
    /// The write buffer, while no transaction uses it.
    private let idleBuffer = FutexMutex<WriteBuffer?>(nil)
    /// Nil if the session in a write transaction is confined to the caller, or if there is no such
    /// session.
    private let writer = FutexMutex<Writer?>(nil)

    private init(store: Store) {
        self.store = store
        notifier = Notifier(store: store)
    }

    deinit { notifier.stop() }

    /// Opens the file, or joins the database that this process has open for it. For each call there
    /// is one `leave`.
    static func open(_ configuration: StoreConfiguration) throws(EngineError) -> Database {
        if case .memory = configuration.location, configuration.encryptionKey != nil {
            throw EngineError(
                .invalidArgument,
                "A database in memory can't be encrypted. Leave the key out, or give a path.")
        }
        let store = try storage { () throws(StorageError) in try Store.open(configuration) }
        return of(store)
    }

    /// The database of an open store: one for all sessions.
    static func of(_ store: Store) -> Database {
        registry.withLock { entries in
            entries = entries.filter { $0.value.database != nil }
            if let database = entries[ObjectIdentifier(store)]?.database { return database }
            let database = Database(store: store)
            entries[ObjectIdentifier(store)] = Entry(database: database)
            return database
        }
    }

    /// Counts one more session, besides the one that `open` counts.
    func join() { _ = store.addHandle() }

    /// Ends a session. The last one of the process closes the file.
    ///
    /// - Throws: the errors of `Store.close`; the session has ended all the same.
    func leave() throws(EngineError) {
        try storage { () throws(StorageError) in try store.checkProcess() }
        defer { if store.isClosed { notifier.stop() } }
        try storage { () throws(StorageError) in try store.close() }
    }

    /// An empty database in memory, which closed sessions use.
    static let nowhere: (database: Database, view: ModelView)? = {
        guard
            let store = try? Store.open(StoreConfiguration(location: .memory(name: "\0 nowhere"))),
            let snapshot = try? store.beginRead(),
            let view = try? ModelView(snapshot)
        else { return nil }
        return (Database(store: store), view)
    }()

    // MARK: Schemas

    /// Number of cached schemas: programs open a file with one, or with few.
    private static let schemaCount = 4

    /// The schemas that sessions were opened with last.
    var knownSchemas: [ModelSchema] { schemas.withLock { $0 } }

    /// Remembers the schema of a session that was opened.
    func remember(_ schema: ModelSchema) {
        schemas.withLock { schemas in
            if schemas.contains(where: { $0 === schema }) { return }
            schemas.removeAll { $0.declared == schema.declared }
            schemas.insert(schema, at: 0)
            if schemas.count > Self.schemaCount { schemas.removeLast() }
        }
    }

    // MARK: Writing

    /// Lends the write buffer to the owner of the write lock. A transaction whose group commit is
    /// still on its way may have the one that there was; then this is a new one.
    func takeWriteBuffer() -> WriteBuffer {
        let idle = idleBuffer.withLock { buffer in
            defer { buffer = nil }
            return buffer
        }
        return idle ?? WriteBuffer(dirtyLimit: store.dirtyLimit)
    }

    /// Whether a session with this confinement must not wait for the write lock: the calling thread
    /// has it, in a session that is confined to it, or in a handler, which nobody else can end.
    func mustNotWait(_ confinement: SessionOptions.Confinement) -> Bool {
        writer.withLock { writer in
            guard let writer, ThreadToken.isCurrent(.passUnretained(writer.thread)) else {
                return false
            }
            return confinement == .thread || writer.isHandler
        }
    }

    /// Records the thread of a session that has begun a write transaction, or of a handler, whose
    /// session may be recorded in addition.
    func noteWriteBegun(by thread: ThreadToken?, isHandler: Bool = false) {
        guard let thread else { return }
        writer.withLock { writer in
            if writer?.thread !== thread || isHandler {
                writer = Writer(thread: thread, isHandler: isHandler)
            }
        }
    }

    /// Notes that a session has ended its write transaction; another may have begun since.
    func noteWriteEnded(by thread: ThreadToken?) {
        guard let thread else { return }
        writer.withLock { if $0?.thread === thread { $0 = nil } }
    }

    /// The calls of an opening that adapts the file's classes to the declaration. They are called
    /// in a write transaction: opening the file in them once more would wait for its end.
    func noting(_ calls: SchemaCalls) -> SchemaCalls {
        var noting = calls
        if let progress = calls.progress {
            noting.progress = { done, total in self.inHandler { progress(done, total) } }
        }
        if let defaults = calls.defaults {
            noting.defaults = { className, property, use throws(ModelError) in
                try self.inHandler { () throws(ModelError) in
                    try defaults(className, property, use)
                }
            }
        }
        return noting
    }

    /// Calls a handler of a write transaction on the calling thread.
    private func inHandler<Result, Failure: Error>(_ handler: () throws(Failure) -> Result)
        throws(Failure) -> Result
    {
        let thread = ThreadToken.current
        noteWriteBegun(by: thread, isHandler: true)
        defer { noteWriteEnded(by: thread) }
        return try handler()
    }

    /// Takes the buffer of a transaction that has ended back.
    func giveBack(_ buffer: WriteBuffer) {
        idleBuffer.withLock { $0 = buffer }
    }

    /// Whether this process has a file open, under whatever path.
    package static func isOpen(path: String) -> Bool {
        registry.withLock { entries in
            entries.values.contains { $0.database?.store.isFile(at: path) ?? false }
        }
    }

    /// The file's path, or the name of an in-memory database in angle brackets.
    package var path: String { store.path }
}

extension EncryptionKey {
    /// A key that a caller gives.
    ///
    /// - Throws: `invalidArgument` unless there are 64 bytes.
    package init(engine bytes: UnsafeRawBufferPointer) throws(EngineError) {
        self = try storage { () throws(StorageError) in try EncryptionKey(bytes) }
    }
}
