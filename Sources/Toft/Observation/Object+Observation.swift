public import Dispatch
internal import ToftEngine
internal import ToftModel

extension ObjectBase {
    /// Calls the block after every commit of any process that set one of the object's properties,
    /// edited one of its lists, or deleted it. On the run loop of this thread, or on `queue`, with
    /// an instance of a realm there. The block is not called before a change. Ends when the token
    /// is invalidated or released.
    /// - Parameters:
    ///   - keyPaths: if given, only the properties that they name count, also beyond links: "age",
    ///     "dogs.name", "boss.*". The reported property is then the first one of such a path. `[]`:
    ///     only the deletion.
    ///   - queue: a serial queue; nil: this thread's run loop.
    ///   - block: called with the object and the properties that changed.
    public func observe<Observed: ObjectBase>(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Observed>) -> Void
    ) -> NotificationToken {
        observe(keyPaths, at: queue.map { Place($0) }, block)
    }

    private func observe<Observed: ObjectBase>(
        _ keyPaths: [String]?, at place: Place?,
        _ block: @escaping (ObjectChange<Observed>) -> Void
    ) -> NotificationToken {
        Misuse.reporting {
            guard let row, let observed = self as? Observed else {
                if standsIn { throw Realm.Error.standsIn }
                throw Realm.Error(
                    .invalidArgument,
                    "Only a managed object of the block's own class can be observed.")
            }
            try row.session.verify()
            return try Observations.object(observed, row, keyPaths, at: place, block)
        } ?? NotificationToken()
    }

    /// Observes on an actor, with the object of a realm of that actor, which is opened for it. The
    /// observation has begun when this returns: it includes every later commit.
    /// - Parameters:
    ///   - keyPaths: as above.
    ///   - actor: the actor on which the block is called. It is not kept alive.
    ///   - _isolation: the caller's isolation; not to be given.
    ///   - block: called with the actor, the object and its changes.
    /// - Returns: the token that keeps the observation alive.
    public func observe<Owner: Actor, Observed: ObjectBase>(
        keyPaths: [String]? = nil, on actor: Owner,
        _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Owner, ObjectChange<Observed>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths, at: Place(actor), Place.called(on: actor, block)).begun()
    }

    /// Observes on an actor, with the object of a realm of that actor, which is opened for it. The
    /// observation has begun when this returns: it includes every later commit.
    /// - Parameters:
    ///   - keyPaths: as above.
    ///   - actor: the actor on which the block is called. It is not kept alive.
    ///   - _isolation: the caller's isolation; not to be given.
    ///   - block: called with the actor, the object and its changes.
    /// - Returns: the token that keeps the observation alive.
    @_disfavoredOverload
    public func observe<Owner: Actor, Observed: ObjectBase>(
        keyPaths: [PartialKeyPath<Observed>], on actor: Owner,
        _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Owner, ObjectChange<Observed>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { KeyPathNames.name(of: $0) }, on: actor, block)
    }

    /// Observes with key paths that the compiler checks: `\Person.age`, `\Person.boss?.name`,
    /// `\Person.dogs[0].name` for the name of any dog.
    @_disfavoredOverload
    public func observe<Observed: ObjectBase>(
        keyPaths: [PartialKeyPath<Observed>], on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Observed>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { KeyPathNames.name(of: $0) }, on: queue, block)
    }
}

extension ObjectBase {
    /// The engine's changes of the object, in the names and types of its class.
    func changes(_ change: ToftEngine.ObjectChange) -> [PropertyChange] {
        if self is DynamicObject, let row { return row.dynamicChanges(change) }
        guard let row, let binding = try? row.session.binding(of: Swift.type(of: self)) else {
            return []
        }
        return zip(binding.model.properties, binding.propertyIDs).compactMap { property, id in
            guard change.properties.contains(id) else { return nil }
            let old = change.oldValues[id].flatMap { property.value(of: $0, in: row.session) }
            let new =
                property.shape.collection == .none && property.shape.type != .linkingObjects
                ? property.value(in: self) : nil
            return PropertyChange(name: property.name, oldValue: old, newValue: new.flattened)
        }
    }
}

extension ModelProperty {
    /// The Swift form of the engine's value; nil for null and for a link to a deleted object.
    fileprivate func value(of value: Value, in session: RealmSession) -> Any? {
        switch value {
        case .null: nil
        case .link(let ref):
            shape.target.flatMap { target in
                Misuse.reporting { try session.object(target, key: ref.key) } ?? nil
            }
        default: wrapper.element?._any(_EngineValue(value, session)).flattened
        }
    }
}

extension RealmCollectionValue {
    /// The element, for callers that only know it to be a value.
    fileprivate static func _any(_ value: _EngineValue) -> Any? { _make(value) }
}
