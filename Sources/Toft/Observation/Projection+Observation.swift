public import Dispatch
internal import ToftEngine

extension ProjectionObservable {
    /// Calls the block after every commit of any process that changed a projected property, or
    /// deleted the object. On the run loop of this thread, or on `queue`, with a projection of the
    /// object there. The block is not called before a change. Ends when the token is invalidated or
    /// released.
    /// - Parameters:
    ///   - keyPaths: names of projected properties, if only those count. `[]`: only the deletion.
    ///   - queue: a serial queue; nil: this thread's run loop.
    ///   - block: called with the projection and the projected properties that changed. The old
    ///     value is the one at the last call; nil for collections.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(at: queue.map { Place($0) }, block) { try Self.paths(keyPaths) }
    }

    /// Observes with key paths that the compiler checks: `\PersonProjection.name`.
    @_disfavoredOverload
    public func observe(
        keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(at: queue.map { Place($0) }, block) {
            let names = keyPaths.map { KeyPathNames.name(of: $0) }
            return Self.paths.filter { names.contains($0.name) }
        }
    }

    /// Observes on an actor, with the projection of a realm of that actor, which is opened for it.
    /// The observation has begun when this returns: it includes every later commit.
    /// - Parameters:
    ///   - keyPaths: as above.
    ///   - actor: the actor on which the block is called. It is not kept alive.
    ///   - _isolation: the caller's isolation; not to be given.
    ///   - block: called with the actor, the projection and its changes.
    /// - Returns: the token that keeps the observation alive.
    public func observe<Owner: Actor>(
        keyPaths: [String]? = nil, on actor: Owner,
        _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Owner, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(at: Place(actor), Place.called(on: actor, block)) {
            try Self.paths(keyPaths)
        }.begun()
    }

    /// Observes on an actor, with the projection of a realm of that actor, which is opened for it.
    /// The observation has begun when this returns: it includes every later commit.
    /// - Parameters:
    ///   - keyPaths: as above.
    ///   - actor: the actor on which the block is called. It is not kept alive.
    ///   - _isolation: the caller's isolation; not to be given.
    ///   - block: called with the actor, the projection and its changes.
    /// - Returns: the token that keeps the observation alive.
    @_disfavoredOverload
    public func observe<Owner: Actor>(
        keyPaths: [PartialKeyPath<Self>], on actor: Owner,
        _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Owner, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        let names = keyPaths.map { KeyPathNames.name(of: $0) }
        return await observe(at: Place(actor), Place.called(on: actor, block)) {
            Self.paths.filter { names.contains($0.name) }
        }.begun()
    }

    private func observe(
        at place: Place?, _ block: @escaping (ObjectChange<Self>) -> Void,
        _ paths: () throws -> [ProjectedPath]
    ) -> NotificationToken {
        Misuse.reporting {
            guard let row = rootObject.row else {
                throw Realm.Error(
                    .invalidArgument, "Only the projection of a managed object can be observed.")
            }
            try row.session.verify()
            let values = ProjectedValues(try paths(), of: rootObject)
            return try Observations.object(
                rootObject, row, values.paths.map(\.name), at: place
            ) { (change: ObjectChange<Root>) in
                switch change {
                case .error(let error): block(.error(error))
                case .deleted: block(.deleted)
                case .change(let root, let changes):
                    let found = values.update(changes, root)
                    if !found.isEmpty { block(.change(Self(projecting: root), found)) }
                }
            }
        } ?? NotificationToken()
    }
}

/// The values of an observer's last call. Used on the observer's thread or queue alone.
private final class ProjectedValues {
    let paths: [ProjectedPath]
    private var values: [Any?]

    init(_ paths: [ProjectedPath], of root: ObjectBase) {
        self.paths = paths
        values = paths.map { Self.value($0, root) }
    }

    /// The changes of the projected properties, if `changes` are those of the object. Beyond a link
    /// only the link is known to have changed, so values and targets are compared.
    func update(_ changes: [PropertyChange], _ root: ObjectBase) -> [PropertyChange] {
        var found: [PropertyChange] = []
        for (index, path) in paths.enumerated() {
            guard let change = changes.first(where: { $0.name == path.property }) else { continue }
            let old = values[index], new = Self.value(path, root)
            values[index] = new
            if !path.isDirect, let old = old as? AnyHashable, old == new as? AnyHashable {
                continue
            }
            let target = change.newValue as? ObjectBase
            if path.isLink,
                (change.oldValue as? ObjectBase)?.isSameObject(as: target) ?? (target == nil)
            {
                continue
            }
            found.append(
                PropertyChange(
                    name: path.label, oldValue: path.isLink ? change.oldValue : old,
                    newValue: path.isLink ? change.newValue : new))
        }
        return found
    }

    /// A value that does not change; nil for objects and collections.
    private static func value(_ path: ProjectedPath, _ root: ObjectBase) -> Any? {
        path.isLive ? nil : path.value(of: root).flattened
    }
}
