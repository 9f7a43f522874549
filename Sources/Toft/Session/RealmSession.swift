internal import Dispatch
internal import Foundation
internal import ToftEngine
internal import ToftModel
internal import ToftPlatform
internal import ToftStorage

/// The shared part of the instances of `Realm` on one thread (or queue): the engine's session, and
/// the state that belongs to it here.
final class RealmSession {
    private(set) var engine: Session {
        didSet { shared.withLock { $0.engine = engine } }
    }
    /// The engine, for other threads.
    private let shared: FutexMutex<SharedEngine>
    let configuration: Realm.Configuration
    let confinement: Confinement
    /// The reads that `withObservationTracking` has seen; nil if it sees none of this realm.
    private(set) var reads: TrackedReads?
    /// Runs work of the engine's thread here; made at the first use.
    var scheduler: (any Scheduler)?
    /// The thread that it is confined to, for the short way past `verify`; 0 for a queue or a
    /// frozen realm.
    private let thread: UInt
    let isFrozen: Bool
    var isAutorefreshing = true
    /// Whether nothing has been asked of the realm since it was opened, so that it may show an
    /// older version as well. Never of a frozen one, which threads share.
    @exclusivity(unchecked) var isUntouched = true
    /// The realm that was last frozen of this one.
    private weak var lastFrozen: RealmSession?
    /// The blocks of `writeAsync` that have not run yet, in order.
    var waitingWrites: [WaitingWrite] = []
    /// The callbacks for commits of `commitAsyncWrite`, in order.
    var completions: [WaitingCompletion] = []
    var lastWriteID: AsyncTransactionId = 0
    /// The waiting calls of `asyncWrite`, in order.
    var waitingTasks: [AsyncTransactionId] = []
    /// The identity of the task that began the open write transaction with `beginWrite`; nil if no
    /// task did.
    var writingTask: Int?
    var isMakingWrite = false
    /// The failure that has ended the write transaction, until that is committed or cancelled.
    private(set) var failure: Realm.Error?
    /// True while observers are being notified of a commit that changed nothing: they may make such
    /// commits.
    private var isTellingEmptyCommit = false
    /// The defaults of objects that are made by the names of their classes: in migrations.
    var defaults: DefaultValues?
    /// The number of dictionaries around the object that is being made by its class's name.
    var dynamicDepth = 0
    /// The check of a change of such objects, before it is made.
    var dynamicCheck: DynamicCheck?
    /// The properties that were given for objects made of dictionaries, until these are added.
    var givenNames: [ObjectIdentifier: Set<String>] = [:]
    /// The observers of commits of any kind, while they live.
    private var observers: [WeakObserver] = []
    private var bindings: [ObjectIdentifier: ClassBinding] = [:]
    private var dynamicBindings: [ClassID: ClassBinding] = [:]

    init(_ engine: Session, _ configuration: Realm.Configuration, _ confinement: Confinement) {
        self.engine = engine
        shared = FutexMutex(SharedEngine(engine: engine))
        self.configuration = configuration
        self.confinement = confinement
        thread = if case .thread = confinement { UInt(pthread_self()) } else { 0 }
        isFrozen = false
        if case .thread = confinement, !configuration.tracksReads { return }
        reads = TrackedReads(self)
    }

    /// The frozen version of a live session. Threads share it, so everything that it will know it
    /// knows from the beginning.
    private init(frozen engine: Session, of live: RealmSession) throws {
        self.engine = engine
        shared = FutexMutex(SharedEngine(engine: engine))
        configuration = live.configuration
        isFrozen = true
        isUntouched = false
        thread = 0
        confinement =
            if case .place(let place) = live.confinement { .anywhere(place) } else {
                .anywhere(nil)
            }
        _ = try live.models()
        bindings = live.bindings.mapValues { $0.frozen(in: engine) }
    }

    deinit {
        scheduler?.stop()
        OpenWrites.remove(self)
    }

    // MARK: Use

    /// Throws unless the realm may be used on this thread. The engine checks threads, the Swift API
    /// queues and actors.
    func verify() throws(EngineError) {
        if isUntouched { isUntouched = false }
        try verifyUntouching()
    }

    /// As `verify`, for a use that reads nothing of the version that the realm shows.
    func verifyUntouching() throws(EngineError) {
        try verifyPlace()
        try engine.check()
    }

    @inline(__always)
    func verifyPlace() throws(EngineError) {
        if case .place(let place) = confinement, !place.isCurrent {
            throw EngineError(.wrongThread, place.wrongUse)
        }
    }

    /// The thread on which objects are read the short way; 0 where each read has to come by here.
    private var boundThread: UInt { reads == nil ? thread : 0 }

    /// True if the running code may use the realm. Any thread may ask.
    var isHere: Bool {
        switch confinement {
        case .thread: thread == UInt(pthread_self())
        case .place(let place): place.isCurrent
        case .anywhere: true
        }
    }

    /// The engine's session, for questions that any thread may ask.
    var engineElsewhere: Session { shared.withLock { $0.engine } }

    /// Whether opening the same database here gives the session again.
    var isOpen: Bool { engine.isOpen }

    /// Begins anew: everything that was got from the session is invalid.
    func invalidate() throws {
        try verify()
        guard !isFrozen else {
            throw Realm.Error(
                .readOnly,
                "A frozen realm shows one version forever and can't be invalidated: release it "
                    + "instead."
            )
        }
        // The new one first: a database in memory lives as long as somebody has it open.
        let next = try engine.another(
            engine.options, interruption: engine.interruption)
        try engine.close(isInvalidation: true)
        forget()
        engine = next
        follow()
    }

    /// Ends the use of the database here, for all realms that share the session.
    func close() throws {
        do throws(EngineError) { try verify() } catch { throw Realm.Error(error) }
        guard !isFrozen else {
            throw Realm.Error(
                .readOnly,
                "A frozen realm is shared by threads and can't be closed: release it instead.")
        }
        defer { if !engine.isOpen { forget() } }
        do throws(EngineError) {
            defer { Diagnostics.deliver() }
            try engine.close()
        } catch {
            throw Realm.Error(telling: error)
        }
    }

    private func forget() {
        endWrite()
        scheduler?.stop()
        scheduler = nil
        waitingWrites = []
        completions = []
        for binding in Array(bindings.values) + dynamicBindings.values { binding.cache?.clear() }
        bindings = [:]
        dynamicBindings = [:]
        reads?.tellAll()
    }

    // MARK: Freezing

    /// A frozen session of this one's version; the same one as long as it is referenced.
    func frozen() throws -> RealmSession {
        try verify()
        if isFrozen { return self }
        if let lastFrozen, try lastFrozen.engine.version == engine.version { return lastFrozen }
        let frozen = try RealmSession(frozen: try engine.frozen(), of: self)
        lastFrozen = frozen
        return frozen
    }

    /// The live session of this thread, or of the queue or actor that the frozen one came from, not
    /// older than the frozen one.
    func thawed() throws -> RealmSession {
        try verify()
        guard case .anywhere(let place) = confinement else { return self }
        let session = try RealmSession.open(
            configuration, place.flatMap { $0.isCurrent ? $0 : nil }, like: engine)
        if try session.engine.version < engine.version { _ = try session.engine.refresh() }
        return session
    }

    /// Throws unless something may be changed now.
    func requireWriting() throws {
        try verify()
        guard !engine.isWriting else { return }
        throw isFrozen ? Realm.Error.frozen : Realm.Error.notInTransaction
    }

    func add(_ observer: RealmObserver) {
        observers = observers.filter { $0.observer != nil } + [WeakObserver(observer: observer)]
    }

    var realmObservers: [RealmObserver] { observers.compactMap(\.observer) }

    private struct WeakObserver {
        weak var observer: RealmObserver?
    }

    // MARK: Classes and objects

    /// The bindings of all classes of the configuration.
    func models() throws -> [ClassBinding] {
        try configuration.models.map { try binding(of: $0.type) }
    }

    /// The binding of the Swift class in this realm.
    func binding(of type: ObjectBase.Type) throws -> ClassBinding {
        if let binding = bindings[ObjectIdentifier(type)] { return binding }
        let model = ModelClass.of(type)
        guard !isFrozen, let owner = try? engine.classHandle(named: model.name) else {
            try verify()
            guard type != Object.self, type != EmbeddedObject.self else {
                throw Realm.Error(
                    .noSuchClass,
                    "'\(model.name)' is what all classes derive from, and has no objects itself: "
                        + "name one of the realm's classes.")
            }
            throw Realm.Error(
                .noSuchClass,
                "Class '\(model.name)' is not part of this realm: its configuration's objectTypes "
                    + "leave it out."
            )
        }
        let binding = try ClassBinding(model, owner, in: engine, thread: boundThread)
        bindings[ObjectIdentifier(type)] = binding
        return binding
    }

    /// The binding of a class that an object is linked to from an `AnyRealmValue`.
    func binding(of id: ClassID) throws -> ClassBinding {
        if let known = bindings.values.first(where: { $0.classID == id }) { return known }
        if let binding = try models().first(where: { $0.classID == id }) { return binding }
        throw Realm.Error(
            .noSuchClass,
            "A value links to an object of a class that is not part of this realm: its "
                + "configuration's objectTypes leave it out.")
    }

    /// The binding of a class that is known by its name only.
    func dynamicBinding(of owner: ClassHandle) throws -> ClassBinding {
        // A class that another process adds properties to gets another handle.
        if let known = dynamicBindings[owner.id], known.owner === owner { return known }
        let binding = try ClassBinding(.dynamic(owner), owner, in: engine, thread: boundThread)
        // Threads share a frozen session.
        if !isFrozen { dynamicBindings[owner.id] = binding }
        return binding
    }

    /// The context of a class's objects.
    func home(of type: ObjectBase.Type) throws -> ObjectContext {
        ObjectContext(self, try binding(of: type))
    }

    /// An object by its key; nil if it does not exist.
    func object<Model: ObjectBase>(_ type: Model.Type, key: Int64) throws -> Model? {
        try home(of: type).object(key).map { unsafeDowncast($0, to: type) }
    }
}

/// `@unchecked Sendable`: other threads call only functions that any thread may.
private struct SharedEngine: @unchecked Sendable {
    var engine: Session
}

// MARK: Write transactions

extension RealmSession {
    /// Whether a write transaction is open, or one that a failure has ended.
    var isWriting: Bool { engine.isWriting || failure != nil }

    /// Begins a write transaction: see `Session.beginWrite`.
    func beginWrite(timeoutMilliseconds: Int? = nil, tellsOwnCommits: Bool = false) throws {
        do throws(EngineError) { try verify() } catch { throw Realm.Error(telling: error) }
        if let failure { throw failure }
        do throws(EngineError) {
            // One that is open is its beginner's, and the blocks' of an opening are the engine's.
            if !engine.isWriting { OpenWrites.add(self) }
            try engine.beginWrite(
                timeoutMilliseconds: timeoutMilliseconds, tellsOwnCommits: tellsOwnCommits)
        } catch {
            if !engine.isWriting { endWrite() }
            throw Realm.Error(telling: error)
        }
        // An observer that was called may have failed.
        if let failure {
            try cancelWrite()
            throw failure
        }
    }

    /// Notes that a transaction could not begin, for its end to throw.
    func failToBegin(_ error: Realm.Error) {
        failure = failure ?? error
        OpenWrites.add(self)
    }

    /// Ends the write transaction, as something in it has failed. Its end throws the failure.
    func fail(_ error: Realm.Error) {
        guard failure == nil else { return }
        failure = error
        // While observers are called as it begins it can't end: it does after that.
        try? engine.cancel()
    }

    /// Cancels the write transaction, also one that has failed.
    func cancelWrite() throws(EngineError) {
        if failure == nil || engine.isWriting { try engine.cancel() }
        endWrite()
    }

    /// The write transaction has ended.
    func endWrite() {
        failure = nil
        OpenWrites.remove(self)
    }
}

// MARK: Commits

extension RealmSession {
    /// Throws if observers that a commit is to skip are another realm's: it would notify them.
    func requireOwn(_ tokens: [NotificationToken]) throws {
        guard !tokens.contains(where: { $0.isOther(than: self) }) else {
            throw Realm.Error(
                .wrongRealm,
                "A token in withoutNotifying is of another realm. A write leaves out only "
                    + "observers of the realm that it is called of, on its thread, queue or actor.")
        }
    }

    /// Commits the write transaction. The engine makes no version of one that changed nothing, and
    /// notifies nobody; the realm's own observers are called, as in Realm.
    func commit(_ durability: Realm.Durability, withoutNotifying tokens: [NotificationToken])
        throws
    {
        if let failure {
            try cancelWrite()
            throw failure
        }
        let skipped = tokens.compactMap(\.engineToken)
        let before: Version, after: Version
        do throws(EngineError) {
            before = try engine.version
            defer { if !engine.isWriting { endWrite() } }
            after = try engine.commit(durability.stored, skipping: skipped)
        } catch {
            throw Realm.Error(telling: error)
        }
        for token in tokens { token.skip(in: self) }
        guard after == before, !isTellingEmptyCommit else { return }
        isTellingEmptyCommit = true
        defer { isTellingEmptyCommit = false }
        for observer in realmObservers {
            guard let token = observer.token, token.version != nil,
                !skipped.contains(where: { $0 === token })
            else { continue }
            observer.block(.didChange, Realm(self))
        }
    }
}

/// An observer of a whole realm; lives as long as the engine's observation of it.
final class RealmObserver {
    let block: NotificationBlock
    weak var token: Token?

    init(_ block: @escaping NotificationBlock) {
        self.block = block
    }
}
