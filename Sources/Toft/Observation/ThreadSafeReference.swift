internal import Synchronization
internal import ToftEngine
internal import ToftModel
internal import ToftPlatform
internal import ToftStorage

/// Carries an object, results, a list or linking objects to another thread or queue: made on one,
/// resolved once on the other. Until then it keeps the version that it was made in, so let it go if
/// it is not resolved.
///
/// ```swift
/// let reference = ThreadSafeReference(to: dog)
/// DispatchQueue.global().async {
///     guard let realm = try? Realm(), let dog = realm.resolve(reference) else { return }
/// }
/// ```
public final class ThreadSafeReference<Confined: ThreadConfined>: Sendable {
    /// `@unchecked Sendable`: any thread may use a frozen session.
    private struct Kept: @unchecked Sendable {
        let carrier: _Carrier
        /// Shows the version that the reference was made in; nil of one of a write transaction.
        let version: Session?
    }

    private let kept: Mutex<Kept?>

    /// A reference to something managed; to anything else, and to what has been deleted, it is
    /// misuse, and resolves to nil.
    public init(to threadConfined: Confined) {
        kept = Mutex(
            Misuse.reporting { () -> Kept in
                let carrier = try threadConfined._carry()
                let engine = threadConfined.realm?.session.engine
                let isWriting = engine?.isWriting ?? true
                return Kept(carrier: carrier, version: isWriting ? nil : try engine?.frozen())
            })
    }

    /// Whether it has been resolved, so that it can't be again.
    public var isInvalidated: Bool { kept.withLock { $0 == nil } }

    private func take() -> Kept? {
        kept.withLock { kept in
            defer { kept = nil }
            return kept
        }
    }

    fileprivate func resolve(in session: RealmSession) throws -> Confined? {
        guard let kept = take() else {
            throw Realm.Error(.invalidArgument, "A ThreadSafeReference can be resolved once only.")
        }
        guard kept.carrier.isOfDatabase(of: session) else {
            Diagnostics.tell(
                .warn,
                "A ThreadSafeReference of '\(kept.carrier.path)' was resolved in a realm of "
                    + "'\(session.engine.database.path)', where it is nil.")
            return nil
        }
        if let version = kept.version, session.isUntouched {
            try session.engine.stand(at: version)
        } else if try session.engine.version.rawValue < kept.carrier.version {
            _ = try session.engine.refresh()
        }
        return try kept.carrier.resolve(session) as? Confined
    }
}

extension Realm {
    /// The target of a reference, in this realm; nil when it has been deleted, and of a reference
    /// to something of another file.
    ///
    /// A realm that has just been opened, and has not been read, shows the version of the
    /// reference, with its target, and goes on with `refresh` or by itself. A realm with an older
    /// version than that of the reference moves to the newest first.
    public func resolve<Confined: ThreadConfined>(_ reference: ThreadSafeReference<Confined>)
        -> Confined?
    {
        Misuse.reporting { () -> Confined? in
            try session.verifyUntouching()
            return try reference.resolve(in: session)
        } ?? nil
    }
}

/// A value confined to a realm, without that realm: enough to find it in another realm of the same
/// database. Not for apps.
public struct _Carrier: Sendable {
    let path: String
    /// The least version that has it: in a write transaction, its future one.
    let version: UInt64
    private let find: @Sendable (RealmSession) throws -> Any?

    init(from session: RealmSession, _ find: @escaping @Sendable (RealmSession) throws -> Any?)
        throws
    {
        self.init(
            path: session.engine.database.path,
            version: try session.engine.version.rawValue + (session.engine.isWriting ? 1 : 0), find)
    }

    private init(
        path: String, version: UInt64, _ find: @escaping @Sendable (RealmSession) throws -> Any?
    ) {
        self.path = path
        self.version = version
        self.find = find
    }

    func isOfDatabase(of session: RealmSession) -> Bool { session.engine.database.path == path }

    func resolve(_ session: RealmSession) throws -> Any? {
        guard isOfDatabase(of: session) else {
            throw Realm.Error(
                .wrongRealm, "The reference was made in a realm of another file: '\(path)'.")
        }
        if session.isUntouched { session.isUntouched = false }
        return try find(session)
    }

    /// A carrier that converts the value it finds.
    func mapped(_ make: @escaping @Sendable (Any) -> Any?) -> _Carrier {
        _Carrier(path: path, version: version) { [find] in try find($0).flatMap(make) }
    }

    static func unmanaged(_ what: String) -> Realm.Error {
        Realm.Error(
            .invalidArgument,
            "Only a managed \(what) is confined to a thread; an unmanaged one needs no reference.")
    }
}

extension ObjectBase {
    public func _carry() throws -> _Carrier {
        guard let row else {
            throw standsIn ? Realm.Error.standsIn : _Carrier.unmanaged("object")
        }
        try row.session.verify()
        guard try row.handle.isValid else {
            throw Realm.Error(.objectDeleted, "The object has been deleted or invalidated.")
        }
        if self is DynamicObject {
            let ref = row.handle.ref
            return try _Carrier(from: row.session) { try $0.dynamicObject(ref) }
        }
        let key = row.handle.ref.key
        let type = Swift.type(of: self)
        return try _Carrier(from: row.session) { try $0.object(type, key: key) }
    }
}

extension _CollectionCore {
    /// Carries the results to another session; nil there if their source is deleted.
    func carrier<Confined>(_ make: @escaping @Sendable (_CollectionCore) -> Confined) throws
        -> _Carrier
    {
        try session.verify()
        let carried = results.carried
        let type = home?.binding.model.type
        let dynamicID = type == DynamicObject.self ? home?.binding.classID : nil
        return try _Carrier(from: session) { session in
            let results = carried.results(in: session.engine)
            guard try results.isValid else { return nil }
            let home =
                try dynamicID.map { try session.dynamicHome(id: $0) }
                ?? type.map { try session.home(of: $0) }
            return make(_CollectionCore(session, results, home))
        }
    }
}

extension Results {
    public func _carry() throws -> _Carrier {
        guard let core = _core() else { throw Realm.Error.standsIn }
        return try core.carrier { Results($0) }
    }
}

extension LinkingObjects {
    public func _carry() throws -> _Carrier {
        guard let core = _core() else { throw _Carrier.unmanaged("collection") }
        return try core.carrier { LinkingObjects($0) }
    }
}

extension List {
    public func _carry() throws -> _Carrier {
        guard let backing else { throw _Carrier.unmanaged("list") }
        return try backing.carrier(of: Element.self) { List($0) }
    }
}
