internal import ToftStorage

extension ModelTransaction {
    /// Deletes an object with all the embedded objects in it, and with the targets of its cascading
    /// links: links to them become null, lists lose them, other targets of links stay. O(log
    /// objects) for each link from and to them.
    /// - Throws: `deletionDenied` if a link of an object that stays denies it; nothing is deleted
    ///   then.
    package func erase(_ key: Int64, _ owner: ClassHandle) throws(ModelError) {
        try view.requireObject(key, owner)
        try addDeletes([key], owner)
        try stored { () throws(StorageError) in try writing.spillKept() }
    }

    /// Deletes several objects of a class: links between them deny nothing. Keys of objects that do
    /// not exist are left out, and repeated ones. All or nothing.
    package func erase(_ keys: some Sequence<Int64>, _ owner: ClassHandle) throws(ModelError) {
        var found: [Int64] = [], isAscending = true
        for key in keys where try view.exists(key, owner) {
            if let last = found.last, key <= last { isAscending = false }
            found.append(key)
        }
        if !isAscending {
            var known: Set<Int64> = []
            found = found.filter { known.insert($0).inserted }
        }
        try addDeletes(found, owner)
        try stored { () throws(StorageError) in try writing.spillKept() }
    }

    /// Deletes all objects of some classes. O(objects and their links).
    package func eraseAll(_ owners: [ClassHandle]) throws(ModelError) {
        guard view.schema.hasDenials else {
            for owner in owners { try addDeletes(try allKeys(owner), owner) }
            return
        }
        var roots: [DeletedObject] = []
        for owner in owners {
            roots += try allKeys(owner).map { DeletedObject(key: $0, owner: owner) }
        }
        try addDeletes(roots)
    }

    /// Deletes the embedded objects that a property of all objects of a class leads to, and the
    /// objects in them; the property may be hidden. O(objects of both classes).
    func eraseOwned(by property: PropertyID, of owner: ClassID) throws(ModelError) {
        guard let owner = view.schema.anyClass(id: owner),
            let property = owner.anyProperty(id: property), property.ownsTargets,
            let position = property.targetPosition
        else { return }
        var targets: [Int64] = []
        for key in try allKeys(owner) { targets += try view.targets(of: key, property) }
        try erase(targets, view.schema.classes[position])
    }

    private func allKeys(_ owner: ClassHandle) throws(ModelError) -> [Int64] {
        let table = try view.table(owner)
        var keys: [Int64] = []
        keys.reserveCapacity(table.rowCount)
        try stored { () throws(StorageError) in
            try table.forEachCluster { cluster in
                for row in 0..<cluster.count { keys.append(cluster.keys[row]) }
                return true
            }
        }
        return keys
    }

    /// Deletes an object that a call has created and that nothing links to, as the call fails: its
    /// own targets stay. One that the call itself has replaced is deleted already.
    package func takeBack(_ key: Int64, _ owner: ClassHandle) throws(ModelError) {
        guard try view.exists(key, owner) else { return }
        try buffer.addDelete(key, owner, derived: false)
    }

    /// Adds the deletes of existing objects, of one class, and of the objects deleted with them.
    func addDeletes(_ keys: [Int64], _ owner: ClassHandle, derived: Bool = false)
        throws(ModelError)
    {
        if owner.hasDeleteRules {
            return try addDeletes(
                keys.map { DeletedObject(key: $0, owner: owner, isDerived: derived) })
        }
        for key in keys { try buffer.addDelete(key, owner, derived: derived) }
    }

    /// Finds all objects that are deleted together with some objects, at any depth and in any
    /// cycle: no recursion. If a link may deny it, nothing is deleted before all are found.
    private func addDeletes(_ roots: [DeletedObject]) throws(ModelError) {
        let canBeDenied = view.schema.hasDenials
        var going: [DeletedObject] = [], known: Set<ObjectRef> = []
        var waiting = roots
        while let object = waiting.popLast() {
            guard try view.exists(object.key, object.owner) else { continue }
            if canBeDenied {
                guard known.insert(object.ref).inserted else { continue }
                going.append(object)
            }
            for property in object.owner.cascading {
                guard let position = property.targetPosition else { continue }
                let owner = view.schema.classes[position]
                for target in try view.targets(of: object.key, property) {
                    waiting.append(DeletedObject(key: target, owner: owner, isDerived: true))
                }
            }
            if !canBeDenied {
                try buffer.addDelete(object.key, object.owner, derived: object.isDerived)
            }
        }
        for object in going {
            for property in object.owner.denying { try check(property, object, without: known) }
        }
        for object in going {
            try buffer.addDelete(object.key, object.owner, derived: object.isDerived)
        }
    }

    /// Throws if an object that stays links to one that is to go.
    private func check(
        _ property: PropertyHandle, _ object: DeletedObject, without going: Set<ObjectRef>
    ) throws(ModelError) {
        var found: Int64?
        try view.forEachBacklink(to: object.key, through: property) { source, _ in
            if going.contains(ObjectRef(classID: property.classID, key: source)) { return true }
            found = source
            return false
        }
        guard let found else { return }
        throw .deletionDenied(
            className: object.owner.name, sourceClass: property.className, property: property.name,
            source: found)
    }
}

/// An object that is to be deleted.
private struct DeletedObject {
    let key: Int64
    let owner: ClassHandle
    /// Whether it is deleted because another one is.
    var isDerived = false

    var ref: ObjectRef { ObjectRef(classID: owner.id, key: key) }
}

extension ClassHandle {
    /// Whether the deletion of an object takes others with it, or may be denied.
    fileprivate var hasDeleteRules: Bool { !cascading.isEmpty || !denying.isEmpty }
}
