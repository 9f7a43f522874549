internal import ToftEngine
internal import ToftModel

/// The context of objects: a realm, and their class in it. A managed object refers to nothing else,
/// so that one count is kept for it.
///
/// Objects and collections share it. The realm's session does not hold it, as it holds the session.
final class ObjectContext {
    let session: RealmSession
    let binding: ClassBinding

    init(_ session: RealmSession, _ binding: ClassBinding) {
        self.session = session
        self.binding = binding
    }

    var isFrozen: Bool { session.isFrozen }

    /// Whether the realm has not been invalidated since.
    var isCurrent: Bool { session.engine === binding.engine }

    /// The context of another class's objects in the realm.
    func home(of type: ObjectBase.Type) throws -> ObjectContext {
        binding.model.type == type && isCurrent ? self : try session.home(of: type)
    }

    /// The object with a key; nil if it does not exist.
    func object(_ key: Int64) throws(EngineError) -> ObjectBase? {
        try verify()
        guard let cache = binding.cache, !binding.engine.holdsBack(binding.classID) else {
            return try binding.engine.object(ref(key)).map {
                makeObject($0.ref.key, RowCursor())
            }
        }
        return try cache.view(of: key).map { makeObject(key, $0) }
    }

    /// The name of the object with a key.
    func ref(_ key: Int64) -> ObjectRef { ObjectRef(classID: binding.classID, key: key) }

    /// Throws unless objects may be used on this thread; after the realm was invalidated, always.
    func verify() throws(EngineError) {
        try session.verifyPlace()
        try binding.engine.check()
    }
}

// MARK: Instances

extension ObjectContext {
    /// A new instance for the object with a key.
    func makeObject(_ key: Int64, _ view: RowCursor) -> ObjectBase {
        let object = binding.model.makeAccessor()
        attach(object, key, view)
        return object
    }

    /// Makes an unmanaged instance a live object.
    func adopt(_ object: ObjectBase, key: Int64) {
        attach(object, key, RowCursor())
        binding.model.forgetValues(of: object)
    }

    @inline(__always)
    private func attach(_ object: ObjectBase, _ key: Int64, _ view: RowCursor) {
        object.attach(key, in: self, view)
        if object._hasCollections { object.forgetCollections() }
        binding.makeAccessors(of: object)
    }
}
