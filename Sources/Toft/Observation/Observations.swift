internal import ToftEngine
internal import ToftModel

/// Begins observations: here at once, or on a queue or an actor as soon as it is free.
enum Observations {
    /// An observation that has begun, and the work after a transaction that skips it.
    typealias Begun = (token: Token, afterSkip: (() -> Void)?)

    /// Observes a collection.
    static func collection<Observed: RealmCollection>(
        _ collection: Observed, _ core: _CollectionCore, _ keyPaths: [String]?,
        at place: Place?,
        _ block: @escaping (RealmCollectionChange<Observed>) -> Void
    ) throws -> NotificationToken {
        guard let place else {
            try core.session.requireDelivery()
            return NotificationToken(
                try engineToken(collection, core, keyPaths, block), keeping: core.session)
        }
        try check(keyPaths, from: core.results.classID, in: core.session)
        return try elsewhere(collection, of: core.session, at: place) { collection, session in
            guard let core = try collection._core() else { return nil }
            return (try engineToken(collection, core, keyPaths, block), nil)
        }
    }

    /// Observes a map.
    static func map<Observed: RealmKeyedCollection & ObservedList>(
        _ map: Observed, _ core: _CollectionCore, _ keyPaths: [String]?, at place: Place?,
        _ block: @escaping (RealmMapChange<Observed>) -> Void
    ) throws -> NotificationToken {
        func begin(_ map: Observed) throws -> Token? {
            try map.observedHandle?.observe(keyPaths: keyPaths) { notification in
                switch notification.kind {
                case .initial: block(.initial(map))
                case .update, .deleted: block(.update(map, notification.collection))
                case .failure(let error): block(.error(Realm.Error(error)))
                }
            }
        }
        guard let place else {
            try core.session.requireDelivery()
            guard let token = try begin(map) else { return NotificationToken() }
            return NotificationToken(token, keeping: core.session)
        }
        try check(keyPaths, from: core.results.classID, in: core.session)
        return try elsewhere(map, of: core.session, at: place) { map, _ in
            try begin(map).map { ($0, nil) }
        }
    }

    /// Reports a mistake in key paths to the caller, not on the queue.
    static func check(
        _ keyPaths: [String]?, from classID: ClassID?, in session: RealmSession
    ) throws {
        if let keyPaths { _ = try WatchedPaths(keyPaths, from: classID, in: session.engine.schema) }
    }

    private static func engineToken<Observed: RealmCollection>(
        _ collection: Observed, _ core: _CollectionCore, _ keyPaths: [String]?,
        _ block: @escaping (RealmCollectionChange<Observed>) -> Void
    ) throws -> Token {
        let handler: NotificationHandler = { notification in
            switch notification.kind {
            case .initial: block(.initial(collection))
            case .update, .deleted: block(.update(collection, notification.collection))
            case .failure(let error): block(.error(Realm.Error(error)))
            }
        }
        if let list = collection as? any ObservedList, let handle = list.observedHandle {
            return try handle.observe(keyPaths: keyPaths, handler)
        }
        return try core.results.observe(keyPaths: keyPaths, handler)
    }

    /// Observes an object.
    static func object<Observed: ObjectBase>(
        _ object: Observed, _ row: ManagedRow, _ keyPaths: [String]?, at place: Place?,
        _ block: @escaping (ObjectChange<Observed>) -> Void
    ) throws -> NotificationToken {
        guard let place else {
            try row.session.requireDelivery()
            return NotificationToken(
                try engineToken(object, row, keyPaths, block), keeping: row.session)
        }
        try check(keyPaths, from: row.handle.ref.classID, in: row.session)
        return try elsewhere(object, of: row.session, at: place) { object, _ in
            guard let row = object.row else { return nil }
            return (try engineToken(object, row, keyPaths, block), nil)
        }
    }

    private static func engineToken<Observed: ObjectBase>(
        _ object: Observed, _ row: ManagedRow, _ keyPaths: [String]?,
        _ block: @escaping (ObjectChange<Observed>) -> Void
    ) throws -> Token {
        try row.handle.observe(keyPaths: keyPaths) { notification in
            switch notification.kind {
            case .initial: break
            case .update: block(.change(object, object.changes(notification.object)))
            case .deleted: block(.deleted)
            case .failure(let error): block(.error(Realm.Error(error)))
            }
        }
    }

    /// Carries the subject to the realm of a queue or an actor, and begins there.
    static func elsewhere<Observed: ThreadConfined>(
        _ observed: Observed, of session: RealmSession, at place: Place,
        _ begin: @escaping (Observed, RealmSession) throws -> Begun?
    ) throws -> NotificationToken {
        try session.requireObservable()
        guard !session.engine.isWriting else {
            throw Realm.Error(
                .observeInTransaction,
                "Can't observe on a queue or an actor from within a write transaction. Observe "
                    + "before it or after it."
            )
        }
        let work = Work(
            carrier: try observed._carry(), configuration: session.configuration, begin: begin)
        let token = NotificationToken.waiting()
        token.beginning = place.run { [weak token] in
            guard let token, !token.isEnded else { return }
            Misuse.reporting { try work.start(token, at: place) }
        }
        return token
    }

    /// The work to send there. `@unchecked Sendable`: the block is used nowhere else from then on.
    private struct Work<Observed>: @unchecked Sendable {
        let carrier: _Carrier
        let configuration: Realm.Configuration
        let begin: (Observed, RealmSession) throws -> Begun?

        func start(_ token: NotificationToken, at place: Place) throws {
            let session = try RealmSession.open(configuration, place)
            _ = try session.engine.refresh()
            guard let observed = try carrier.resolve(session) as? Observed else { return }
            try session.requireDelivery()
            if let (running, afterSkip) = try begin(observed, session) {
                token.begin(running, keeping: session, afterSkip: afterSkip)
            }
        }
    }
}

extension RealmCollectionChange {
    fileprivate static func update(_ collection: CollectionType, _ change: CollectionChange)
        -> RealmCollectionChange
    {
        .update(
            collection, deletions: Array(change.deletions), insertions: Array(change.insertions),
            modifications: Array(change.modifications))
    }
}

/// A list, set or map reports its own changes, so that observers learn of the deletion of its
/// object.
protocol ObservedList {
    var observedHandle: CollectionHandle? { get }
}

extension List: ObservedList {
    var observedHandle: CollectionHandle? { backing?.handle }
}
