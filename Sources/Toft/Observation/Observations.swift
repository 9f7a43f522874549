public import Dispatch
internal import ToftEngine
internal import ToftModel

/// Makes observations: here at once, or on a queue as soon as it comes around.
enum Observations {
    /// Observes a collection.
    static func collection<Observed: RealmCollection>(
        _ collection: Observed, _ core: _CollectionCore, on queue: DispatchQueue?, _ block: @escaping (RealmCollectionChange<Observed>) -> Void
    ) throws -> NotificationToken {
        guard let queue else { return try collectionHere(collection, core, block) }
        return try elsewhere(collection, of: core.session, on: queue) { collection, session in
            guard let core = try collection._core() else { return nil }
            return try engineToken(collection, core, block)
        }
    }

    private static func collectionHere<Observed: RealmCollection>(
        _ collection: Observed, _ core: _CollectionCore, _ block: @escaping (RealmCollectionChange<Observed>) -> Void
    ) throws -> NotificationToken {
        try core.session.requireDelivery()
        return NotificationToken(try engineToken(collection, core, block), keeping: core.session)
    }

    private static func engineToken<Observed: RealmCollection>(
        _ collection: Observed, _ core: _CollectionCore, _ block: @escaping (RealmCollectionChange<Observed>) -> Void
    ) throws -> Token {
        let handler: NotificationHandler = { notification in
            switch notification.kind {
            case .initial: block(.initial(collection))
            case .update, .deleted: block(.update(collection, notification.collection))
            case .failure(let error): block(.error(Realm.Error(error)))
            }
        }
        if let list = collection as? any ObservedList, let handle = list.observedHandle { return try handle.observe(handler) }
        return try core.results.observe(handler)
    }

    /// Observes an object.
    static func object<Observed: Object>(
        _ object: Observed, _ row: ManagedRow, on queue: DispatchQueue?, _ block: @escaping (ObjectChange<Observed>) -> Void
    ) throws -> NotificationToken {
        guard let queue else {
            try row.session.requireDelivery()
            return NotificationToken(try engineToken(object, row, block), keeping: row.session)
        }
        return try elsewhere(object, of: row.session, on: queue) { object, _ in
            guard let row = object.row else { return nil }
            return try engineToken(object, row, block)
        }
    }

    private static func engineToken<Observed: Object>(
        _ object: Observed, _ row: ManagedRow, _ block: @escaping (ObjectChange<Observed>) -> Void
    ) throws -> Token {
        try row.handle.observe { notification in
            switch notification.kind {
            case .initial: break
            case .update: block(.change(object, object.changes(of: notification.object.properties)))
            case .deleted: block(.deleted)
            case .failure(let error): block(.error(Realm.Error(error)))
            }
        }
    }

    /// Carries what is observed to the queue's own realm, and begins there.
    private static func elsewhere<Observed: ThreadConfined>(
        _ observed: Observed, of session: RealmSession, on queue: DispatchQueue, _ begin: @escaping (Observed, RealmSession) throws -> Token?
    ) throws -> NotificationToken {
        guard !session.engine.isWriting else {
            throw Realm.Error(.observeInTransaction, "Can't observe on a queue from within a write transaction. Observe before it or after it.")
        }
        let work = Work(carrier: try observed._carry(), configuration: session.configuration, begin: begin)
        let token = NotificationToken.waiting()
        queue.async { [weak token] in
            guard let token, !token.isEnded else { return }
            Misuse.reporting { try work.start(token, on: queue) }
        }
        return token
    }

    /// What goes to the queue; the block is used nowhere else from then on.
    private struct Work<Observed>: @unchecked Sendable {
        let carrier: _Carrier
        let configuration: Realm.Configuration
        let begin: (Observed, RealmSession) throws -> Token?

        func start(_ token: NotificationToken, on queue: DispatchQueue) throws {
            let session = try RealmSession.open(configuration, queue: queue)
            _ = try session.engine.refresh()
            guard let observed = try carrier.resolve(session) as? Observed else { return }
            try session.requireDelivery()
            if let running = try begin(observed, session) { token.begin(running, keeping: session) }
        }
    }
}

extension RealmCollectionChange {
    fileprivate static func update(_ collection: CollectionType, _ change: CollectionChange) -> RealmCollectionChange {
        .update(
            collection, deletions: Array(change.deletions), insertions: Array(change.insertions), modifications: Array(change.modifications))
    }
}

/// A list tells its changes itself, so that the deletion of its object comes through.
protocol ObservedList {
    var observedHandle: ListHandle? { get }
}

extension List: ObservedList {
    var observedHandle: ListHandle? { place?.handle }
}

extension Object {
    /// The properties with these ids, with the values that they have.
    fileprivate func changes(of ids: [PropertyID]) -> [PropertyChange] {
        guard let row, let binding = try? row.session.binding(of: Swift.type(of: self)) else { return [] }
        return zip(binding.model.properties, binding.propertyIDs).compactMap { property, id in
            guard ids.contains(id) else { return nil }
            let value: Any? = property.shape.collection == .none ? self.value(forKey: property.name) : nil
            return PropertyChange(name: property.name, oldValue: nil, newValue: value)
        }
    }

    /// Calls the block after every commit of any process that set one of the object's properties, edited one of its lists, or deleted it. On the run
    /// loop of this thread, or on `queue`, with an instance of a realm there. There is no first call. Ends when the token is invalidated
    /// or let go.
    public func observe<Observed: Object>(
        on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Observed>) -> Void
    ) -> NotificationToken {
        Misuse.reporting {
            guard let row, let observed = self as? Observed else {
                throw Realm.Error(.invalidArgument, "Only a managed object of the block's own class can be observed.")
            }
            try row.session.verify()
            return try Observations.object(observed, row, on: queue, block)
        } ?? NotificationToken()
    }
}
