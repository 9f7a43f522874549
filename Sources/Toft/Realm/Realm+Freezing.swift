internal import ToftEngine

extension Realm {
    /// An unchanging copy of the realm's present state, for any thread; in a write transaction, of
    /// the state before it. Everything read from it is frozen, too.
    ///
    /// A frozen realm keeps its version's pages from being reused until it and everything read from
    /// it are released. Frozen twice at one version, it is the same realm.
    public func freeze() -> Realm {
        Misuse.reporting { Realm(try session.frozen()) } ?? self
    }

    /// The live realm on this thread, or on the queue that the frozen one came from; a live realm
    /// itself.
    public func thaw() -> Realm {
        Misuse.reporting { Realm(try session.thawed()) } ?? self
    }

    /// An unchanging copy of an object in the version that the realm shows, for any thread.
    public func freeze<Model: ObjectBase>(_ object: Model) -> Model { object.freeze() }

    /// The collection in the version that the realm shows, for ever and on any thread.
    public func freeze<Objects: RealmCollection>(_ collection: Objects) -> Objects {
        collection.freeze()
    }

    /// The live collection on this thread; nil when the object that has it has been deleted.
    public func thaw<Objects: RealmCollection>(_ collection: Objects) -> Objects? {
        collection.thaw()
    }

    /// The live object on this thread; nil when it has been deleted.
    public func thaw<Model: ObjectBase>(_ object: Model) -> Model? { object.thaw() }
}

extension ThreadConfined {
    public var isFrozen: Bool { realm?.session.isFrozen ?? false }

    /// An unchanging copy of its present state, for any thread: it and everything that is reached
    /// from it. In a write transaction, of its state before it; objects created in the transaction
    /// can't be frozen, which is misuse, as for unmanaged and deleted ones.
    public func freeze() -> Self {
        Misuse.reporting { () -> Self in
            guard let session = realm?.session else { throw unmanaged("frozen") }
            if session.isFrozen { return self }
            guard let frozen = try _carry().resolve(session.frozen()) as? Self else {
                guard session.isWriting else {
                    throw Realm.Error(.objectDeleted, "Can't freeze something that is deleted.")
                }
                throw Realm.Error(
                    .noSuchObject,
                    "Can't freeze an object made in this write transaction: no version has it yet. "
                        + "Commit first."
                )
            }
            return frozen
        } ?? self
    }

    /// Its counterpart in the live realm on this thread, or on the queue that it came from; nil
    /// when it has been deleted. A live one returns itself.
    public func thaw() -> Self? {
        Misuse.reporting { () -> Self? in
            guard let session = realm?.session else { throw unmanaged("thawed") }
            guard session.isFrozen else { return self }
            return try _carry().resolve(session.thawed()) as? Self
        } ?? nil
    }

    private func unmanaged(_ verb: String) -> Realm.Error {
        if (self as? ObjectBase)?.standsIn ?? (self is any EmptyAfterErrors) { return .standsIn }
        return Realm.Error(.invalidArgument, "Only what a realm manages can be \(verb).")
    }
}

/// Results, which are of no realm only after an error.
private protocol EmptyAfterErrors {}

extension Results: EmptyAfterErrors {}
