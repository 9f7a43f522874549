internal import ToftEngine
internal import ToftModel

/// Where objects live: a realm, and their class in it. All that a managed object refers to, so that one count is kept for it.
///
/// Objects and collections share it. The realm's session does not hold it, as it holds the session.
final class Home {
    let session: RealmSession
    let binding: ClassBinding

    init(_ session: RealmSession, _ binding: ClassBinding) {
        self.session = session
        self.binding = binding
    }

    var isFrozen: Bool { session.isFrozen }

    /// Whether the realm has not been invalidated since.
    var isCurrent: Bool { session.engine === binding.engine }

    /// The object with a key; nil if it does not exist.
    func object(_ key: Int64) throws(EngineError) -> ObjectBase? {
        try verify()
        guard let shelf = binding.shelf else {
            return try binding.engine.object(ObjectRef(classID: binding.classID, key: key)).map { makeObject($0.ref.key, RowView()) }
        }
        return try shelf.view(of: key).map { makeObject(key, $0) }
    }

    /// Throws unless objects may be used here and now; after the realm was invalidated, never again.
    func verify() throws(EngineError) {
        try session.verifyQueue()
        try binding.engine.check()
    }
}

// MARK: Instances

extension Home {
    /// A new instance for the object with a key.
    func makeObject(_ key: Int64, _ view: RowView) -> ObjectBase {
        let object = binding.model.type.init()
        settle(object, key, view, forgetting: binding.model.clearedInAccessors)
        return object
    }

    /// Makes an unmanaged instance a live object.
    func adopt(_ object: ObjectBase, key: Int64) {
        settle(object, key, RowView(), forgetting: binding.model.clearedWhenAdded)
    }

    private func settle(_ object: ObjectBase, _ key: Int64, _ view: RowView, forgetting values: [ModelProperty]) {
        object.settle(key, in: self, view)
        if object._hasCollections { object.forgetCollections() }
        for property in values { property.withAddress(in: object) { property.wrapper.clear(at: $0) } }
        binding.makeAccessors(of: object)
    }
}
