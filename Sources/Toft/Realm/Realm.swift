public import Foundation
internal import ToftEngine
internal import ToftModel
internal import ToftStorage

/// A database, as one thread (or one serial queue) sees it: opened by configuration, closed with
/// the last reference.
///
/// ```swift
/// let realm = try Realm()
/// try realm.write { realm.add(Dog(value: ["name": "Rex"])) }
/// for dog in realm.objects(Dog.self).where({ $0.age > 3 }) { print(dog.name) }
/// ```
///
/// Everything read from it is live and belongs to the same thread. Opening again on the same thread
/// gives the same instance. Spelled as in Realm; the file is Toft's own.
public struct Realm {
    let session: RealmSession

    init(_ session: RealmSession) {
        self.session = session
    }

    // MARK: Opening

    /// Opens the default configuration's database, on this thread or for `queue`, which then has to
    /// be the current one.
    public init(queue: DispatchQueue? = nil) throws {
        try self.init(configuration: .defaultConfiguration, queue: queue)
    }

    /// Opens a configuration's database, on this thread or for `queue`, which then has to be the
    /// current one. Classes, properties and indexes that the file lacks are added to it, and
    /// properties that it has as required become optional; any other difference is an error that
    /// lists every one.
    public init(configuration: Configuration, queue: DispatchQueue? = nil) throws {
        self.init(try RealmSession.open(configuration, queue.map { Place($0) }))
    }

    /// Opens a file with the rest of the default configuration.
    public init(fileURL: URL) throws {
        var configuration = Configuration.defaultConfiguration
        configuration.fileURL = fileURL
        try self.init(configuration: configuration)
    }

    // MARK: Properties

    /// The configuration that the realm was opened with.
    public var configuration: Configuration { session.configuration }

    /// The classes of the realm.
    public var schema: Schema {
        guard session.configuration.takesFile else { return Schema(session.configuration.models) }
        let classes = session.engineElsewhere.classesElsewhere
        return Schema(classes.map { ModelClass(named: $0) })
    }

    /// True if no class of the realm has an object. Any thread may ask, as for all properties of a
    /// realm; outside of its thread, the answer is that of its last refresh.
    public var isEmpty: Bool {
        guard session.isHere else {
            let engine = session.engineElsewhere
            return engine.isEmptyElsewhere(
                session.configuration.takesFile
                    ? engine.classesElsewhere.map(\.name)
                    : session.configuration.models.map(\.name))
        }
        return Misuse.reporting {
            let classes =
                session.configuration.takesFile
                ? session.engine.schema.visibleClasses.map(\.id)
                : try session.models().map(\.classID)
            return try classes.allSatisfy { try session.engine.count(of: $0) == 0 }
        } ?? true
    }

    /// Whether the realm shows one version for ever, on any thread.
    public var isFrozen: Bool { session.isFrozen }

    /// Whether the realm moves to new versions by itself, whichever thread or process commits them,
    /// when its run loop, queue or actor comes around; true at first. When it does not, realm
    /// observers get `.refreshRequired`. With observers or without: on the main thread, on a queue,
    /// for an actor, and on a thread whose run loop runs; on another thread a realm stays at its
    /// version until `refresh` or a write. A realm that is opened with `readOnly` follows from its
    /// first observer on. Always false for a frozen realm.
    public var autorefresh: Bool {
        get { session.isAutorefreshing && !session.isFrozen }
        nonmutating set {
            guard !session.isFrozen else { return newValue ? Misuse.report(.frozen) : () }
            session.isAutorefreshing = newValue
            if newValue { session.scheduler?.schedule() }
        }
    }

    /// The version that the realm shows: it grows with each commit of any process. Realm has
    /// nothing like it.
    public var version: UInt64 {
        guard session.isHere else { return session.engineElsewhere.versionElsewhere }
        return Misuse.reporting { try session.engine.version.rawValue } ?? 0
    }

    // MARK: Closing

    /// Closes the realm on this thread or queue: an open write transaction is cancelled, waiting
    /// writes are dropped, observations end, and everything read from it is invalid; using this
    /// value again is `.closed`. The last realm of the process that is closed makes all commits
    /// durable and closes the file.
    ///
    /// A realm whose last reference is released is closed too, and a failure is then not reported:
    /// a program that leaves commits `.deferred` closes, or calls `flush()`. Realm has nothing like
    /// it.
    ///
    /// Throws `.commitOutcomeUnknown` when deferred commits could not be made durable, `.poisoned`
    /// when a sync of the file had failed before, another error (`.fileAccess`...) when all commits
    /// are durable and the next opening has to recover the file; the realm is closed in all three
    /// cases. Throws `.readOnly` for a frozen realm, `.wrongThread`, `.closed`.
    public func close() throws {
        try session.close()
    }

    // MARK: Moving

    /// Moves to the newest version and calls the observers that are due. False if the realm has the
    /// newest version, inside a write transaction, inside a notification block, and when frozen.
    @discardableResult
    public func refresh() -> Bool {
        Misuse.reporting {
            try session.verify()
            return try session.engine.refresh()
        } ?? false
    }

    /// Ends the use of this version: objects and lists of the realm become invalid, results empty,
    /// observations end, and the version's pages can be reused. An open write transaction is
    /// cancelled, waiting writes are dropped. The realm continues at the newest version.
    public func invalidate() {
        Misuse.reporting { try session.invalidate() }
    }
}

extension Realm: Equatable {
    /// Whether both are the same instance: opened on one thread with one configuration.
    public static func == (left: Realm, right: Realm) -> Bool {
        left.session === right.session
    }
}

@available(*, unavailable, message: "A realm belongs to the thread or queue that opened it")
extension Realm: Sendable {}
