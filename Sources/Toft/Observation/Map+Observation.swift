public import Dispatch
internal import ToftEngine

/// The changes of a map since the observer was last called. Keys ascend.
public enum RealmMapChange<Collection: RealmKeyedCollection> {
    /// The first call: the map can be read.
    case initial(Collection)
    /// Keys were deleted or inserted, or had their value set or changed. A map whose object was
    /// deleted is reported with all its keys as deletions.
    case update(
        Collection, deletions: [Collection.Key], insertions: [Collection.Key],
        modifications: [Collection.Key])
    /// Changes could not be computed; the last call.
    case error(any Error)
}

extension Map {
    /// Calls the block with the map as it first is, then after every commit of any process that
    /// changed which keys it has, set a value, or changed an object among the values. On the run
    /// loop of this thread, or on `queue`, with the map of a realm there. Ends when the token is
    /// invalidated or released.
    /// - Parameters:
    ///   - keyPaths: of the objects; if given, only the properties that they name count as the
    ///     modification of a value that was not set. `[]`: only keys that are inserted, removed or
    ///     set.
    ///   - queue: a serial queue; nil: this thread's run loop.
    ///   - block: called with the map and the keys that changed.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken {
        observe(keyPaths, at: queue.map { Place($0) }, block)
    }

    private func observe(
        _ keyPaths: [String]?, at place: Place?,
        _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken {
        Misuse.reporting {
            guard let core = try _core() else {
                throw CollectionBacking.unmanaged("observe", "maps")
            }
            return try Observations.map(self, core, keyPaths, at: place, block)
        } ?? NotificationToken()
    }

    /// Observes on an actor, with the map of a realm of that actor, which is opened for it. The
    /// observation has begun when this returns: it includes every later commit.
    /// - Parameters:
    ///   - keyPaths: as above.
    ///   - actor: the actor on which the block is called. It is not kept alive.
    ///   - _isolation: the caller's isolation; not to be given.
    ///   - block: called with the actor, the map and its changes.
    /// - Returns: the token that keeps the observation alive.
    public func observe<Owner: Actor>(
        keyPaths: [String]? = nil, on actor: Owner,
        _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Owner, RealmMapChange<Map>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths, at: Place(actor), Place.called(on: actor, block)).begun()
    }

    /// Observes with key paths that the compiler checks: `\.age`, `\.boss?.name`.
    @_disfavoredOverload
    public func observe<Owner: Actor>(
        keyPaths: [PartialKeyPath<Value.Wrapped>], on actor: Owner,
        _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Owner, RealmMapChange<Map>) -> Void
    ) async -> NotificationToken where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
        await observe(keyPaths: keyPaths.map { KeyPathNames.name(of: $0) }, on: actor, block)
    }

    /// Calls the block on a queue, with key paths that the compiler checks: `\.age`,
    /// `\.boss?.name`.
    @_disfavoredOverload
    public func observe(
        keyPaths: [PartialKeyPath<Value.Wrapped>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
        observe(keyPaths: keyPaths.map { KeyPathNames.name(of: $0) }, on: queue, block)
    }
}

extension RealmMapChange {
    static func update(_ map: Collection, _ change: CollectionChange) -> RealmMapChange {
        func keys(_ texts: [String]?) -> [Collection.Key] {
            (texts ?? []).map { Collection.Key(_text: $0) }
        }
        return .update(
            map, deletions: keys(change.keys?.deletions), insertions: keys(change.keys?.insertions),
            modifications: keys(change.keys?.modifications))
    }
}
