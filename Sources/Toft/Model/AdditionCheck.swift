internal import ToftEngine
internal import ToftModel

/// Looks through an unmanaged object and all that it leads to before anything of it is made, so
/// that what is refused leaves nothing behind. However long a chain of objects is, it takes no
/// stack.
struct AdditionCheck {
    private struct Key: Hashable {
        let classID: ClassID
        let value: Value
    }

    private let session: RealmSession
    private let policy: Realm.UpdatePolicy
    private var seen: Set<ObjectIdentifier> = []
    private var keys: Set<Key> = []
    private var waiting: [ObjectBase] = []

    init(_ session: RealmSession, _ policy: Realm.UpdatePolicy) {
        self.session = session
        self.policy = policy
    }

    /// Throws where adding the object would.
    mutating func check(_ object: ObjectBase) throws {
        // An object alone is made as a whole, or not at all.
        guard ModelClass.of(type(of: object)).leadsOn else { return }
        try visit(object)
        while let next = waiting.popLast() {
            for property in ModelClass.of(type(of: next)).properties where property.leadsOn {
                try follow(property.value(in: next))
            }
        }
    }

    private mutating func follow(_ any: Any?, depth: Int = 0) throws {
        // Deeper lists and dictionaries of mixed values are refused, or hold themselves.
        guard let any = any.flattened, depth <= Limits.nestedCollections else { return }
        if let object = ObjectBase.found(in: any) { return try visit(object) }
        switch any {
        case let mixed as AnyRealmValue:
            if mixed.scalar == nil { try follow(mixed.content, depth: depth) }
        case let map as any DescribedMap:
            for entry in map.anyEntries { try follow(entry.value, depth: depth + 1) }
        case let elements as any Sequence: try follow(all: elements, depth)
        default: break
        }
    }

    private mutating func follow(all elements: some Sequence, _ depth: Int) throws {
        for element in elements { try follow(element as Any?, depth: depth + 1) }
    }

    private mutating func visit(_ object: ObjectBase) throws {
        let isEmbedded = type(of: object)._isEmbedded
        if let row = object.row {
            // An update may give an object what it has already.
            if !isEmbedded { return try session.requireManagedHere(row) }
            if policy == .error { try RealmSession.requireUnowned(CollectionOfOne(object)) }
            return
        }
        guard seen.insert(ObjectIdentifier(object)).inserted else {
            if isEmbedded { try RealmSession.requireUnowned([object, object]) }
            return
        }
        let binding = try session.binding(of: type(of: object))
        if policy == .error { try requireNew(object, binding) }
        waiting.append(object)
    }

    private mutating func requireNew(_ object: ObjectBase, _ binding: ClassBinding) throws {
        guard let property = binding.model.primaryKey else { return }
        let value = property.storedValue(in: object) ?? .null
        if property.isAutoIncremented, value == .int(0) { return }
        guard keys.insert(Key(classID: binding.classID, value: value)).inserted,
            try session.engine.find(value, in: binding.classID) == nil
        else {
            throw Realm.Error(
                .duplicatePrimaryKey,
                "Attempting to create an object of type '\(binding.model.name)' with an existing "
                    + "primary key value '\(shown(property.value(in: object)))'. Change that "
                    + "object, or add this one with update: .modified.")
        }
    }
}
