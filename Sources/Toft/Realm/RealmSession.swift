internal import Dispatch
internal import Foundation
internal import ToftEngine
internal import ToftModel

/// What the instances of `Realm` on one thread (or queue) share: the engine's session, and what belongs to it here.
final class RealmSession {
    private(set) var engine: Session
    let configuration: Realm.Configuration
    let confinement: Confinement
    /// How the engine's thread gets work done here; made by the first who needs it.
    var scheduler: (any Scheduler)?
    let isFrozen = false
    var isAutorefreshing = true
    /// Who is told of commits of any kind, while they live.
    private var observers: [WeakObserver] = []
    private var bindings: [ObjectIdentifier: ClassBinding] = [:]

    init(_ engine: Session, _ configuration: Realm.Configuration, _ confinement: Confinement) {
        self.engine = engine
        self.configuration = configuration
        self.confinement = confinement
        markThread()
    }

    deinit { scheduler?.stop() }

    // MARK: Use

    /// Leaves word of whose thread the session is, for the short way past `verify`.
    private func markThread() {
        if case .thread = confinement { engine.pulse.pointee.thread = UInt(pthread_self()) }
    }

    /// Throws unless the realm may be used here and now. The engine checks threads, the door queues.
    @inline(__always)
    func verify() throws(EngineError) {
        if case .queue(let queue) = confinement, !queue.isCurrent {
            throw EngineError(.wrongThread, "Realm accessed from incorrect queue. Use it on the queue that it was opened for.")
        }
        try engine.check()
    }

    /// Whether it can be found again by who opens the same database here.
    var isOpen: Bool { engine.isOpen }

    /// Begins anew: everything that was got from the session is invalid.
    func invalidate() throws {
        try verify()
        try engine.close()
        scheduler?.stop()
        scheduler = nil
        bindings = [:]
        engine = try Session.open(engine.configuration)
        markThread()
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

    /// The Swift class as this realm has it.
    func binding(of type: ObjectBase.Type) throws -> ClassBinding {
        if let binding = bindings[ObjectIdentifier(type)] { return binding }
        let model = ModelClass.of(type)
        guard let owner = try? engine.classHandle(named: model.name) else {
            try verify()
            throw Realm.Error(
                .noSuchClass, "Class '\(model.name)' is not part of this realm: its configuration's objectTypes leave it out.")
        }
        let binding = try ClassBinding(model, owner)
        bindings[ObjectIdentifier(type)] = binding
        return binding
    }

    /// An object by its key; nil if it does not exist.
    func object<Model: ObjectBase>(_ type: Model.Type, key: Int64) throws -> Model? {
        let binding = try binding(of: type)
        guard let object = try object(binding, key: key) else { return nil }
        return unsafeDowncast(object, to: type)
    }

    /// An instance of the binding's class for the object with a key; nil if it does not exist.
    func object(_ binding: ClassBinding, key: Int64) throws -> ObjectBase? {
        try verify()
        guard let seen = try engine.seen(key, binding.owner) else { return nil }
        return binding.makeObject(ManagedRow(session: self, handle: seen.handle), seen: (seen.window, seen.row))
    }
}

/// An observer of a whole realm; lives as long as the engine's observation of it.
final class RealmObserver {
    let block: NotificationBlock

    init(_ block: @escaping NotificationBlock) {
        self.block = block
    }
}
