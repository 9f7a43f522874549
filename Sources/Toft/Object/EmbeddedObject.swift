internal import ToftEngine
internal import ToftModel

/// The base class of an app's models whose objects live inside others.
///
/// ```swift
/// class Address: EmbeddedObject {
///     @Persisted var street: String
/// }
/// class Person: Object {
///     @Persisted var address: Address?
///     @Persisted var earlier: List<Address>
///     @Persisted var others: Map<String, Address?>
/// }
/// ```
///
/// Each object has exactly one owner, and is deleted with it, when the owner's property is set to
/// something else, and when its list or map loses it. An unmanaged object becomes managed when it
/// is assigned; one that has an owner can't get another: assign a copy, `Address(value: address)`.
/// It has no primary key, and `Realm` has no `add`, `create` and `objects` for it.
open class EmbeddedObject: ObjectBase {
    /// The properties that were given for one made of a dictionary; nil for all.
    final var given: Set<String>?

    public required init() { super.init() }

    open override class var _isEmbedded: Bool { true }
}

extension RealmSession {
    /// Makes an unmanaged embedded object, which an addition has taken in, the managed one that
    /// `create` makes.
    /// - Parameter existing: an object to change instead, by writing only differences.
    func embed(
        _ object: ObjectBase, _ destination: _Destination, existing: ObjectHandle? = nil,
        create: ([(property: PropertyID, value: Value)]) throws -> ObjectHandle
    ) throws {
        guard let row = destination.addition?.row(of: object) else {
            throw Realm.Error(.internalError, "An embedded object was to be made unseen.")
        }
        let handle: ObjectHandle
        if let existing {
            try existing.set(row.promotion.values, policy: .modified)
            handle = existing
        } else {
            handle = try create(row.promotion.values)
        }
        ObjectContext(self, row.binding).adopt(object, key: handle.ref.key)
        try row.promotion.finish(handle)
    }

    /// Throws if one of some objects has an owner, or would get two.
    static func requireUnowned(_ objects: some Collection<ObjectBase>) throws {
        var seen: Set<ObjectIdentifier> = []
        for object in objects {
            if let row = object.row, try !row.isValid {
                throw Realm.Error(
                    .objectDeleted,
                    "Can't set a link to an embedded object that has been deleted: it is, when its "
                        + "owner's property, list or map loses it. Make a copy before that.")
            }
            guard object.row == nil, seen.insert(ObjectIdentifier(object)).inserted else {
                let name = ModelClass.name(of: type(of: object))
                throw Realm.Error(
                    .embeddedObject,
                    "Can't set a link to an embedded object that already has an owner. Assign a "
                        + "copy: \(name)(value: object).")
            }
        }
    }
}

extension ObjectHandle {
    /// The link to an embedded object that a property owns already; nil for any other.
    func owned(_ object: ObjectBase, _ id: PropertyID) throws -> Value? {
        guard let row = object.row, row.handle.session === session else { return nil }
        let link = Value.link(row.handle.ref)
        return try value(id) == link ? link : nil
    }

    /// Sets a property to an unmanaged embedded object.
    /// - Parameter existing: an object to change instead of creating one.
    func embed(
        _ object: ObjectBase, in id: PropertyID, _ destination: _Destination,
        existing: ObjectHandle? = nil
    ) throws {
        try destination.session.embed(object, destination, existing: existing) {
            try setEmbedded(id, $0)
        }
    }

    /// The object that a property links to.
    func target(_ id: PropertyID) throws -> ObjectHandle? {
        guard case .link(let ref) = try value(id) else { return nil }
        return try session.object(ref)
    }
}

extension CollectionHandle {
    /// The link to an embedded object that is an element already; nil for any other value.
    func owned(_ object: ObjectBase, _ element: Value?) -> Value? {
        guard let row = object.row, row.handle.session === session else { return nil }
        let link = Value.link(row.handle.ref)
        return element == link ? link : nil
    }

    /// Sets an element to an unmanaged embedded object.
    /// - Parameter existing: an object to change instead of creating one.
    func embed(
        _ object: ObjectBase, at index: Int, _ destination: _Destination,
        existing: ObjectHandle? = nil
    ) throws {
        try destination.session.embed(object, destination, existing: existing) {
            try setEmbedded($0, at: index)
        }
    }

    /// Sets the value of a key to an unmanaged embedded object.
    /// - Parameter existing: an object to change instead of creating one.
    func embed(
        _ object: ObjectBase, forKey key: String, _ destination: _Destination,
        existing: ObjectHandle? = nil
    ) throws {
        try destination.session.embed(object, destination, existing: existing) {
            try setEmbedded($0, forKey: key)
        }
    }

    /// Makes a map hold embedded objects, each in the place of the one with its key; a key without
    /// an object has null.
    func change(to entries: [(key: String, object: ObjectBase?)], _ destination: _Destination)
        throws
    {
        let kept = Set(entries.map { Value.string($0.key) })
        for key in try entryKeys() where !kept.contains(.string(key)) {
            try dictionaryErase(key)
        }
        for (key, object) in entries {
            guard let object else {
                try dictionarySet(key, Value.null)
                continue
            }
            try embed(object, forKey: key, destination, existing: try target(ofKey: key))
        }
    }

    /// The object at an index; nil beyond the end.
    func target(at index: Int) throws -> ObjectHandle? {
        guard index < (try count), case .link(let ref) = try value(at: index) else { return nil }
        return try session.object(ref)
    }

    /// The object of a key; nil if there is no such key.
    func target(ofKey key: String) throws -> ObjectHandle? {
        guard case .link(let ref) = try value(ofKey: key) else { return nil }
        return try session.object(ref)
    }

    /// Inserts unmanaged embedded objects.
    func embed(_ objects: [ObjectBase], before index: Int, _ destination: _Destination) throws {
        for (offset, object) in objects.enumerated() {
            try destination.session.embed(object, destination) {
                try insertEmbedded($0, at: index + offset)
            }
        }
    }

    /// Makes a list of embedded objects of these, each replacing an existing one.
    func change(to objects: [ObjectBase], _ destination: _Destination) throws {
        let count = try count
        for (index, object) in objects.prefix(count).enumerated() {
            try embed(object, at: index, destination, existing: try target(at: index))
        }
        if count > objects.count { try erase(objects.count..<count) }
        try embed(Array(objects.dropFirst(count)), before: count, destination)
    }
}
