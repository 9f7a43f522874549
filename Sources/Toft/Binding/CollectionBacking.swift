internal import ToftEngine
internal import ToftModel

/// The property of a managed object behind a list, a set or a map, or the list or dictionary within
/// an `AnyRealmValue`.
struct CollectionBacking {
    let session: RealmSession
    let handle: CollectionHandle
    /// The context of the elements, if they are objects.
    let home: ObjectContext?
}

extension CollectionBacking {
    /// A collection of an object, with the type of its elements.
    init<Element: RealmCollectionValue>(
        _ owner: ObjectHandle, _ column: Int, _ kind: CollectionKind, of type: Element.Type,
        in session: RealmSession
    ) throws {
        let handle = try owner.collection(PropertyID(truncatingIfNeeded: column), kind)
        let target = Element._isObject ? Element._shape.target : nil
        let dynamicID = target == DynamicObject.self ? handle.property.targetClassID : nil
        self.init(
            session: session, handle: handle,
            home: try dynamicID.map { try session.dynamicHome(id: $0) }
                ?? target.map { try session.home(of: $0) })
    }

    /// True if the object that has the collection exists and its realm was not invalidated. Any
    /// thread may ask; outside of the realm's thread the answer is about the object alone.
    var isValid: Bool {
        guard session.isHere else { return handle.session.existsElsewhere(handle.owner.ref) }
        return (try? handle.isValid) ?? false
    }

    var count: Int {
        get throws {
            try verifyReading()
            return try handle.count
        }
    }

    /// Throws unless the elements may be read here and now.
    func verifyReading() throws {
        try session.verify()
        session.reads?.note(try handle.results())
    }

    /// The collection as results.
    func core() throws -> _CollectionCore {
        try session.verify()
        return _CollectionCore(session, try handle.results(), home)
    }

    /// The destination of added elements.
    var destination: _Destination { _Destination(session: session, policy: .error) }

    /// Whether both are the same property of the same object.
    func isSame(as other: CollectionBacking) -> Bool {
        session === other.session && handle.isSame(as: other.handle)
    }

    /// Carries the collection to another session; nil there if its object is deleted.
    func carrier<Element: RealmCollectionValue, Collection>(
        of type: Element.Type, _ make: @escaping @Sendable (CollectionBacking) -> Collection
    ) throws -> _Carrier {
        try session.verify()
        let carried = handle.carried
        return try _Carrier(from: session) { session in
            guard let handle = try carried.handle(in: session.engine) else { return nil }
            return make(
                CollectionBacking(
                    session: session, handle: handle,
                    home: try Element._shape.target.map { try session.home(of: $0) }))
        }
    }
}
