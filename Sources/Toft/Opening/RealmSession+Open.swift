internal import Dispatch
internal import Foundation
internal import Synchronization
internal import ToftEngine
internal import ToftPlatform
internal import ToftStorage

extension RealmSession {
    /// The session of a configuration here: one for each thread, queue or actor and database, as
    /// long as it is referenced.
    /// - Parameter place: a queue or an actor. Nil: this thread; inside an actor that has the
    ///   database open, that.
    /// - Parameter known: a session of the same database with the same classes, if there is one: a
    ///   new session is another one like it.
    static func open(
        _ configuration: Realm.Configuration, _ place: Place?, like known: Session? = nil
    ) throws -> RealmSession {
        let location: StoreConfiguration.Location
        do throws(EngineError) { location = try configuration.place } catch {
            throw Realm.Error(error)
        }
        if let place, !place.isCurrent {
            throw Realm.Error(
                .wrongThread,
                place.isActor
                    ? place.wrongUse
                    : "A realm for a queue has to be opened on that queue.")
        }
        let place = place ?? SessionCache.currentActor(at: location)
        let key = SessionCache.Key(location: location, place: place?.id)
        let cache = SessionCache.of(place)
        let open = cache.sessions(key)
        for session in open {
            guard let conflict = session.configuration.conflict(with: configuration) else {
                continue
            }
            throw Realm.Error(.configurationMismatch, "The realm is open here \(conflict).")
        }
        if let session = open.first(where: { $0.configuration.hasSameClasses(as: configuration) }) {
            try session.expect(atLeast: configuration.minimumVersion)
            return session
        }
        let session = try make(configuration, at: location, place, like: known)
        cache.add(session, key)
        session.follow()
        return session
    }

    private func expect(atLeast minimumVersion: UInt64?) throws {
        guard let minimumVersion else { return }
        do throws(EngineError) {
            try engine.expect(atLeast: minimumVersion)
        } catch {
            throw Realm.Error(error)
        }
    }

    private static func make(
        _ configuration: Realm.Configuration, at location: StoreConfiguration.Location,
        _ place: Place?, like known: Session?
    ) throws -> RealmSession {
        defer { Diagnostics.deliver() }
        let confinement = place.map { Confinement.place($0) } ?? .thread
        var engine: ToftEngine.Configuration
        do throws(EngineError) {
            engine = try configuration.engine(at: location, confinement)
        } catch {
            throw Realm.Error(telling: error)
        }
        if let known {
            return RealmSession(
                try known.another(engine.options),
                configuration.opened, confinement)
        }
        if case .file(let path) = location {
            prepareFolder(of: path, configuration)
            try importRealmFile(at: path, configuration)
        }
        let blocks = OpeningBlocks(configuration)
        blocks.join(&engine)
        do throws(EngineError) {
            return RealmSession(
                try Session.open(engine), configuration.opened, confinement)
        } catch {
            throw blocks.cause ?? Realm.Error(telling: error)
        }
    }

    /// Imports the file if it is one of Realm's own, and the app wants it.
    private static func importRealmFile(at path: String, _ configuration: Realm.Configuration)
        throws
    {
        guard configuration.importsRealmFile, !configuration.readOnly else { return }
        do throws(EngineError) {
            _ = try Database.replaceRealm(
                path, key: try configuration.engineKey,
                interruption: configuration.interruption?.engine, progress: configuration.progress)
        } catch {
            throw Realm.Error(telling: error)
        }
    }

    /// Makes the folder of a file that is in the default file's folder, or in a folder below.
    private static func prepareFolder(of path: String, _ configuration: Realm.Configuration) {
        guard !configuration.readOnly,
            let home = Realm.Configuration.defaultFileURL?.deletingLastPathComponent(),
            case let folder = URL(fileURLWithPath: path).standardizedFileURL
                .deletingLastPathComponent(),
            folder.pathComponents.starts(with: home.standardizedFileURL.pathComponents)
        else { return }
        // If that fails, the opening says what is missing.
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
}

/// The sessions that are open on one thread, or on all queues and actors.
///
/// `@unchecked Sendable`: its lock guards the entries.
final class SessionCache: @unchecked Sendable {
    struct Key: Hashable {
        let location: StoreConfiguration.Location
        let place: ObjectIdentifier?
    }

    private struct Entry {
        weak var session: RealmSession?
    }

    private static let thread = ThreadLocal<SessionCache>()
    private static let places = SessionCache()

    /// A thread's own cache is used by it alone; the one of the places is shared.
    private let lock = NSLock()
    private var entries: [Key: [Entry]] = [:]
    /// Of a thread, whether its run loop is to have its realms follow.
    var waitsForLoop = false

    static func of(_ place: Place?) -> SessionCache {
        place == nil ? thread.value(orMake: SessionCache.init) : places
    }

    /// The actor that the running code is isolated to, if it has a database open.
    static func currentActor(at location: StoreConfiguration.Location) -> Place? {
        let found = places.lock.withLock {
            places.entries.flatMap { key, entries in
                key.location == location ? entries.compactMap(\.session) : []
            }
        }
        for session in found where session.isOpen {
            if case .place(let place) = session.confinement, place.isActor, place.isCurrent {
                return place
            }
        }
        return nil
    }

    func sessions(_ key: Key) -> [RealmSession] {
        lock.withLock {
            (entries[key] ?? []).compactMap(\.session).filter { session in
                // An actor may have the address of one that has ended.
                guard case .place(let place) = session.confinement, place.isActor else {
                    return session.isOpen
                }
                return session.isOpen && place.isCurrent
            }
        }
    }

    /// All sessions that are open.
    var open: [RealmSession] {
        lock.withLock {
            entries.values.joined().compactMap(\.session).filter(\.isOpen)
        }
    }

    func add(_ session: RealmSession, _ key: Key) {
        lock.withLock {
            let alive = (entries[key] ?? []).filter { $0.session != nil }
            entries = entries.filter { $0.value.contains { $0.session != nil } }
            entries[key] = alive + [Entry(session: session)]
        }
    }
}
