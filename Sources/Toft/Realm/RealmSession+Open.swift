internal import Dispatch
internal import Foundation
internal import Synchronization
internal import ToftEngine
internal import ToftPlatform
internal import ToftStorage

extension RealmSession {
    /// The session of a configuration here: one for each thread or queue and database, as long as
    /// it is referenced.
    /// - Parameter known: a session of the same database with the same classes, if there is one: a
    ///   new session is another one like it.
    static func open(
        _ configuration: Realm.Configuration, queue: DispatchQueue?, like known: Session? = nil
    ) throws -> RealmSession {
        guard let location = configuration.location else {
            throw Realm.Error(
                .invalidArgument, "A configuration needs a fileURL or an inMemoryIdentifier.")
        }
        let mark = queue.map { QueueMark($0) }
        if let mark, !mark.isCurrent {
            throw Realm.Error(.wrongThread, "A realm for a queue has to be opened on that queue.")
        }
        let key = SessionCache.Key(
            location: location, queue: mark.map { ObjectIdentifier($0.queue) })
        let cache = SessionCache.of(mark)
        let open = cache.sessions(key)
        guard open.allSatisfy({ $0.configuration.agrees(with: configuration) }) else {
            throw Realm.Error(
                .configurationMismatch,
                "The realm is open here with another schemaVersion or encryptionKey, or one is "
                    + "read-only and the other is not."
            )
        }
        if let session = open.first(where: { $0.configuration.hasSameClasses(as: configuration) }) {
            return session
        }
        let session = try make(configuration, at: location, mark, like: known)
        cache.add(session, key)
        return session
    }

    private static func make(
        _ configuration: Realm.Configuration, at location: StoreConfiguration.Location,
        _ mark: QueueMark?, like known: Session?
    ) throws -> RealmSession {
        defer { Diagnostics.deliver() }
        let confinement = mark.map { Confinement.queue($0) } ?? .thread
        var engine: ToftEngine.Configuration
        do throws(EngineError) {
            engine = try configuration.engine(at: location, confinement)
        } catch {
            throw Realm.Error(telling: error)
        }
        if let known {
            return RealmSession(
                try known.another(engine),
                configuration.opened, confinement)
        }
        if case .file(let path) = location { prepareFolder(of: path, configuration) }
        let blocks = OpeningBlocks(configuration)
        blocks.join(&engine)
        do throws(EngineError) {
            return RealmSession(
                try Session.open(engine), configuration.opened, confinement)
        } catch {
            throw blocks.cause ?? Realm.Error(telling: error)
        }
    }

    /// Makes the folder of the default file.
    private static func prepareFolder(of path: String, _ configuration: Realm.Configuration) {
        let files = FileManager.default
        if configuration.fileURL == Realm.Configuration.defaultFileURL, !configuration.readOnly {
            try? files.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent,
                withIntermediateDirectories: true)
        }
    }
}

/// The sessions that are open on one thread, or on all queues.
///
/// `@unchecked Sendable`: its lock guards the entries.
final class SessionCache: @unchecked Sendable {
    struct Key: Hashable {
        let location: StoreConfiguration.Location
        let queue: ObjectIdentifier?
    }

    private struct Entry {
        weak var session: RealmSession?
    }

    private static let thread = ThreadLocal<SessionCache>()
    private static let queues = SessionCache()

    /// A thread's own cache is used by it alone; the one of the queues is shared.
    private let lock = NSLock()
    private var entries: [Key: [Entry]] = [:]

    static func of(_ mark: QueueMark?) -> SessionCache {
        mark == nil ? thread.value(orMake: SessionCache.init) : queues
    }

    func sessions(_ key: Key) -> [RealmSession] {
        lock.withLock { (entries[key] ?? []).compactMap(\.session).filter(\.isOpen) }
    }

    func add(_ session: RealmSession, _ key: Key) {
        lock.withLock {
            let alive = (entries[key] ?? []).filter { $0.session != nil }
            entries = entries.filter { $0.value.contains { $0.session != nil } }
            entries[key] = alive + [Entry(session: session)]
        }
    }
}
