package import ToftModel

extension Session {
    /// The visible class with this id.
    package func classHandle(_ id: ClassID) throws(EngineError) -> ClassHandle {
        try check()
        return try model { () throws(ModelError) in try schema.classHandle(id: id) }
    }

    /// The visible class with this name.
    package func classHandle(named name: String) throws(EngineError) -> ClassHandle {
        try check()
        return try model { () throws(ModelError) in try schema.classHandle(named: name) }
    }

    /// A property that the session sees now, of a class whose handle may be older.
    func property(_ id: PropertyID, of owner: ClassHandle) throws(EngineError) -> PropertyHandle {
        try model { () throws(ModelError) in try schema.classHandle(id: owner.id).property(id: id) }
    }

    /// The number of objects of a class.
    package func count(of id: ClassID) throws(EngineError) -> Int {
        let owner = try classHandle(id)
        return try model { () throws(ModelError) in try view.count(owner) }
    }
}
