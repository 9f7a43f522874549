package import ToftModel

extension Results {
    /// Deletes all objects of the results, all or nothing.
    package func deleteAll() throws(EngineError) {
        let owner = try objectClass()
        let transaction = try session.writing()
        if case .whole = try current() { return try session.deleteAll([owner.id]) }
        let keys = try keys()
        defer { session.noteUnread() }
        try model { () throws(ModelError) in try transaction.erase(keys, owner) }
    }

    /// Sets properties of all objects of the results to the same values, all or nothing. Returns
    /// the number of objects.
    package func setAll(_ assignments: UnsafeBufferPointer<Assignment>) throws(EngineError) -> Int {
        let owner = try objectClass()
        for assignment in assignments {
            _ = try session.property(assignment.property, of: owner)
        }
        let transaction = try session.writing()
        let keys = try distinctKeys()
        defer { session.noteUnread() }
        return try model { () throws(ModelError) in
            var present: [Int64] = []
            for key in keys where try transaction.view.exists(key, owner) { present.append(key) }
            try transaction.set(present, owner, assignments)
            return present.count
        }
    }

    /// Adds an amount to an integer property of all objects of the results, all or nothing: see
    /// `ModelTransaction.add`. Returns the number of objects.
    package func addAll(_ amount: Int64, to id: PropertyID) throws(EngineError) -> Int {
        let owner = try objectClass()
        let property = try session.property(id, of: owner)
        let transaction = try session.writing()
        let keys = try distinctKeys()
        defer { session.noteUnread() }
        return try model { () throws(ModelError) in
            var present: [Int64] = []
            for key in keys where try transaction.view.exists(key, owner) {
                _ = try transaction.sum(adding: amount, to: key, property)
                present.append(key)
            }
            for key in present { try transaction.add(amount, to: key, property) }
            return present.count
        }
    }

    /// The keys of the objects, each once: a list may hold an object more than once.
    private func distinctKeys() throws(EngineError) -> [Int64] {
        let keys = try keys()
        if case .all = definition.base { return keys }
        var seen: Set<Int64> = []
        return keys.filter { seen.insert($0).inserted }
    }

    /// Observes insertions, deletions and changes of elements, including the objects that they
    /// reach over up to three links; with key paths, only the properties that those name: see
    /// `WatchedPaths`. An empty array (`[]`): only insertions and deletions.
    package func observe(
        keyPaths: [String]? = nil, callsInitially: Bool = true,
        _ handler: @escaping NotificationHandler
    ) throws(EngineError) -> Token {
        if case .gone = try current() { throw Self.invalidated }
        return try session.observe(
            .results(definition), handler, keyPaths: keyPaths, from: definition.classID,
            callsInitially: callsInitially)
    }
}
