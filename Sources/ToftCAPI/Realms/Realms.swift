public import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftPlatform
internal import ToftStorage

@c @implementation
public func toft_realm_open(
    _ configuration: UnsafePointer<toft_configuration>?,
    _ out_realm: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry { () throws(EngineError) in
        let out = try Argument.out(out_realm, "out_realm")
        let configuration = try Configuration(
            try Argument.structure(configuration, "configuration"))
        out.pointee = try RealmBox.handle(of: try Session.open(configuration))
    }
}

extension RealmBox {
    /// The first handle of a session that the calling thread has opened, with an owner of its own.
    static func handle(of session: Session) throws(EngineError) -> OpaquePointer? {
        let thread = CallingThread.current
        let isConfinedToThread = session.options.confinement == .thread
        let owner = HandleOwner(
            thread: isConfinedToThread ? thread : nil, session.interruption)
        let handle = try HandleTable.shared.make(.realm, RealmBox(session), owner: owner)
        if isConfinedToThread { thread.adopt(owner) }
        return handle
    }
}

@c @implementation
public func toft_realm_last_error(
    _ realm: OpaquePointer?, _ out_error: UnsafeMutablePointer<toft_error>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let owner = try ResolvedHandle(realm: realm).owner
        let room = try Argument.outStructure(out_error, "out_error")
        let (error, texts) = owner.lastFailure
        Argument.fill(room, toft_error(error, texts))
    }
}

@c @implementation
public func toft_realm_close(_ realm: OpaquePointer?) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        try session.check()
        guard !session.isFrozen else { throw .closedWhileFrozen }
        try session.close()
    }
}

@c @implementation
public func toft_realm_freeze(
    _ realm: OpaquePointer?, _ out_realm: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let realm = try ResolvedHandle(realm: realm)
        let out = try Argument.out(out_realm, "out_realm")
        let frozen = try realm.session.frozen()
        let owner = HandleOwner(thread: nil, isShared: true, frozen.interruption)
        out.pointee = try HandleTable.shared.make(.realm, RealmBox(frozen), owner: owner)
    }
}

@c @implementation
public func toft_realm_clone(
    _ realm: OpaquePointer?, _ out_realm: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let realm = try ResolvedHandle(realm: realm)
        let out = try Argument.out(out_realm, "out_realm")
        try realm.session.check()
        out.pointee = try realm.clone(.realm)
    }
}

@c @implementation
public func toft_realm_release(_ realm: OpaquePointer?) {
    HandleTable.shared.release(realm, .realm)
}

@c @implementation
public func toft_realm_refresh(_ realm: OpaquePointer?, _ out_changed: UnsafeMutablePointer<Bool>?)
    -> toft_status
{
    entry(realm) { () throws(EngineError) in
        let changed = try ResolvedHandle(realm: realm).session.refresh()
        out_changed?.pointee = changed
    }
}

@c @implementation
public func toft_realm_version(
    _ realm: OpaquePointer?, _ out_version: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        try Argument.out(out_version, "out_version").pointee = try session.version.rawValue
    }
}

extension EngineError {
    fileprivate static var closedWhileFrozen: EngineError {
        EngineError(
            .readOnly,
            "A frozen realm can't be closed, as other threads may use it. It ends with the last of "
                + "its handles: release those.")
    }
}

extension Configuration {
    init(_ given: toft_configuration) throws(EngineError) {
        let path = try Argument.path(given.path, "path")
        let name = try Argument.text(given.in_memory_name, "in_memory_name")
        guard path.isEmpty != name.isEmpty else {
            throw .invalidArgument("Give either a path or the name of a database in memory.")
        }
        let hasClasses = given.classes != nil || given.class_count != 0
        guard given.schema == nil || !hasClasses else {
            throw .invalidArgument("Give either a schema or classes.")
        }
        let deletes = TOFT_OPEN_DELETE_IF_MIGRATION_NEEDED.rawValue
        let handlesBacklinks = TOFT_OPEN_AUTOMATIC_BACKLINK_HANDLING.rawValue
        let known =
            TOFT_OPEN_BUFFERED.rawValue | TOFT_OPEN_WRITE_TIMEOUT.rawValue | deletes
            | handlesBacklinks | TOFT_OPEN_EXCLUSIVE.rawValue
        try Argument.flags(given.flags, known: known, "flags")
        var schema = try SchemaBox.schema(of: given.schema)
        if hasClasses { schema = try Schema(given.classes, count: given.class_count) }
        guard schema != nil || given.schema_version == 0 else {
            throw .invalidArgument(
                "A schema_version needs the schema that it counts. Without classes, a realm shows "
                    + "the file as it is.")
        }
        self.init(
            location: name.isEmpty ? .file(path: path) : .memory(name: name),
            mode: try Mode(given.mode), schema: schema,
            schemaVersion: given.schema_version == 0 ? nil : given.schema_version,
            writeTimeoutMilliseconds: try Timeout.milliseconds(
                given.write_timeout, isGiven: given.flags & TOFT_OPEN_WRITE_TIMEOUT.rawValue != 0),
            confinement: try Confinement(given.confinement))
        usesMapping = given.flags & TOFT_OPEN_BUFFERED.rawValue == 0
        if given.flags & TOFT_OPEN_EXCLUSIVE.rawValue != 0 { sharing = .none }
        deletesIfMigrationNeeded = given.flags & deletes != 0
        handlesBacklinksInMigrations = given.flags & handlesBacklinks != 0
        interruptWord = given.interrupt.map { InterruptWord($0) }
        if let callback = given.progress {
            let target = ProgressTarget(callback: callback, userData: given.progress_user_data)
            progress = { target.call($0, $1) }
        }
        let seed = try Argument.path(given.seed_path, "seed_path")
        guard seed.isEmpty || name.isEmpty else {
            throw .invalidArgument("A database in memory has no seed.")
        }
        seedPath = seed.isEmpty ? nil : seed
        encryptionKey = try Argument.key(
            given.encryption_key, given.encryption_key_size, "encryption_key")
        maximumActiveVersions = given.maximum_versions == 0 ? nil : given.maximum_versions
        minimumVersion = given.minimum_version == 0 ? nil : given.minimum_version
        if let callback = given.compact {
            let question = CompactionQuestion(
                callback: callback, userData: given.compact_user_data)
            compacts = { question.ask($0, $1) }
        }
        if let callback = given.defaults {
            let target = DefaultsTarget(callback: callback, userData: given.defaults_user_data)
            defaults = { owner, property, use throws(ModelError) in
                try target.ask(owner, property, use)
            }
        }
        if let callback = given.initialize {
            let target = InitializeTarget(
                callback: callback, userData: given.initialize_user_data)
            initialize = { session throws(EngineError) in try target.call(session) }
        }
        if let callback = given.migration {
            guard schemaVersion != nil else {
                throw .invalidArgument(
                    "A migration needs the schema and the schema_version that it leads to.")
            }
            let target = MigrationTarget(
                callback: callback, userData: given.migration_user_data)
            migration = { migration throws(EngineError) in try target.call(migration) }
        }
    }
}

/// A program's progress callback.
///
/// `@unchecked Sendable`: it is called on the thread of the call that was given it.
private struct ProgressTarget: @unchecked Sendable {
    let callback: toft_progress_callback
    let userData: UnsafeMutableRawPointer?

    func call(_ done: Int, _ total: Int) {
        ThreadMark.current.refusingCalls {
            callback(userData, UInt64(clamping: done), UInt64(clamping: total))
        }
    }
}

/// A program's callback that fills a new database.
///
/// `@unchecked Sendable`: it is called on the thread of the call that was given it.
private struct InitializeTarget: @unchecked Sendable {
    let callback: toft_initialize_callback
    let userData: UnsafeMutableRawPointer?

    /// Calls it, and throws the error of its status.
    func call(_ session: Session) throws(EngineError) {
        let realm = try RealmBox.handle(of: session)
        defer { HandleTable.shared.release(realm, .realm) }
        let status = callback(userData, realm)
        guard status != TOFT_OK else { return }
        throw CallingThread.current.failure(
            behind: status, "The new database was not filled: its callback")
    }
}

/// The form of timeouts in C: a number, and a flag that it is set.
enum Timeout {
    /// Nil if the caller gives no timeout.
    static func given(_ timeout: Int32, isGiven: Bool) throws(EngineError) -> Int? {
        guard isGiven else {
            guard timeout == 0 else {
                throw .invalidArgument(
                    "There is a timeout of \(timeout), but not the flag that says that it holds.")
            }
            return nil
        }
        guard timeout >= TOFT_WAIT_FOR_EVER else {
            throw .invalidArgument(
                "The timeout \(timeout) is negative; for no limit give TOFT_WAIT_FOR_EVER.")
        }
        return Int(timeout)
    }

    /// Nil: for ever; 0: no waiting.
    static func milliseconds(_ timeout: Int32, isGiven: Bool) throws(EngineError) -> Int? {
        let given = try given(timeout, isGiven: isGiven)
        return given == Int(TOFT_WAIT_FOR_EVER) ? nil : given
    }
}

extension Configuration.Confinement {
    fileprivate init(_ confinement: toft_confinement) throws(EngineError) {
        switch confinement {
        case TOFT_CONFINEMENT_THREAD: self = .thread
        case TOFT_CONFINEMENT_CALLER: self = .caller
        default: throw .invalidArgument("There is no confinement \(confinement.rawValue).")
        }
    }
}

extension Configuration.Mode {
    fileprivate init(_ mode: toft_mode) throws(EngineError) {
        switch mode {
        case TOFT_MODE_READ_WRITE: self = .readWrite
        case TOFT_MODE_EXISTING: self = .existing
        case TOFT_MODE_READ_ONLY: self = .readOnly
        default: throw .invalidArgument("There is no mode \(mode.rawValue).")
        }
    }
}
