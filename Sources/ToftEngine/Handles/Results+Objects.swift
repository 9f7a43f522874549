internal import ToftModel

extension Results {
    /// An object.
    package func object(at index: Int) throws(EngineError) -> ObjectHandle {
        let owner = try objectClass()
        let key = try key(at: index)
        if case .objects = definition.base,
            try !model({ () throws(ModelError) in try session.view.exists(key, owner) })
        {
            throw EngineError(ModelError.noSuchObject(className: owner.name, key: key))
        }
        return session.handle(key, owner)
    }
}
