internal import ToftPlatform
package import ToftModel
package import ToftStorage

/// Takes the type of a property, the class that it links to or 0, and its value, borrowed until the
/// session moves or, in a write transaction, writes.
package typealias CellReceiver = (PropertyType, ClassID, Cell) -> Void

extension Session {
    /// Calls `body` with each of some properties, no lists, of an object by its name. O(log
    /// objects); O(1) for a neighbour of the object that was read before.
    /// - Returns: false, without a call of `body`, if the object does not exist.
    package func forEachCell(
        of object: ObjectRef, _ ids: UnsafeBufferPointer<PropertyID>, _ body: CellReceiver
    ) throws(EngineError) -> Bool {
        try check()
        do throws(ModelError) {
            try forEachCell(object.key, object.classID, ids, body)
            return true
        } catch {
            if case .noSuchObject = error { return false }
            throw EngineError(error)
        }
    }

    /// Reads the object with this primary key.
    package func forEachCell(
        ofPrimaryKey primaryKey: BorrowedValue, in id: ClassID,
        _ ids: UnsafeBufferPointer<PropertyID>, _ body: CellReceiver
    ) throws(EngineError) -> Bool {
        try check()
        return try model { () throws(ModelError) in
            if let reader = try reader(id) {
                return try reader.borrow { reader throws(ModelError) in
                    try reader.forEachCell(ofPrimaryKey: primaryKey, ids, body)
                }
            }
            let owner = try view.schema.classHandle(id: id)
            guard let key = try view.find(primaryKey, owner) else { return false }
            try view.forEachCell(key, owner, ids, body)
            return true
        }
    }

    /// Reads an object by its key. The caller has called `check`.
    /// - Throws: `noSuchObject`.
    func forEachCell(
        _ key: Int64, _ id: ClassID, _ ids: UnsafeBufferPointer<PropertyID>, _ body: CellReceiver
    ) throws(ModelError) {
        if let reader = try reader(id) {
            try reader.borrow { reader throws(ModelError) in
                try reader.forEachCell(key, ids, body)
            }
        } else {
            try view.forEachCell(key, try view.schema.classHandle(id: id), ids, body)
        }
    }

    /// Whether the write transaction has changed objects of a class and not written them to their
    /// clusters, which a window on one would have it do. Values are then read one by one.
    package func holdsBack(_ id: ClassID) -> Bool {
        guard isWriting, let owner = view.schema.anyClass(id: id) else { return false }
        return view.holdsBack(owner)
    }

    /// The reader of a class, valid until another class is read. Nil in a write transaction, and
    /// when frozen.
    @inline(__always)
    private func reader(_ id: ClassID) throws(ModelError) -> Unmanaged<RowReader>? {
        let now = epoch.pointee.number
        if let reader = readers.last(of: id, at: now) { return reader }
        return try openReader(id, now)
    }

    @inline(never)
    private func openReader(_ id: ClassID, _ now: UInt64) throws(ModelError)
        -> Unmanaged<RowReader>?
    {
        guard !isWriting, !isFrozen else { return nil }
        try readers.open(id, at: now, in: view)
        return readers.last(of: id, at: now)
    }

    /// A window on the cluster of an object; nil if the object does not exist.
    package func openWindow(on key: Int64, _ owner: ClassHandle) throws(EngineError)
        -> ClusterWindow?
    {
        try check()
        let owner = try model { () throws(ModelError) in try schema.classHandle(id: owner.id) }
        return try model { () throws(ModelError) in
            let table = try view.table(owner)
            let cluster = try stored { () throws(StorageError) in
                try table.cluster(containing: key)
            }
            return cluster.map { ClusterWindow($0, table, of: owner, at: epoch.pointee.number) }
        }
    }
}

// MARK: Classes

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

// MARK: Other threads

/// Questions that any thread may ask: the session's version answers them, without the changes of an
/// open write transaction. Unreadable objects count as missing.
extension Session {
    /// Whether an object exists. One that an open write transaction has made does, too.
    package func existsElsewhere(_ ref: ObjectRef) -> Bool {
        identity.shared.withLock { shared in
            guard let view = shared.view else { return false }
            if (try? view.exists(ref)) == true { return true }
            return shared.isWriting && (try? view.isToCome(ref)) == true
        }
    }

    /// Whether classes with these names have no object.
    package func isEmptyElsewhere(_ names: [String]) -> Bool {
        identity.shared.withLock { shared in
            guard let view = shared.view else { return true }
            return names.allSatisfy { name in
                guard let owner = try? view.schema.classHandle(named: name) else { return true }
                return (try? view.count(owner)) ?? 0 == 0
            }
        }
    }

    /// The session's version; 0 after its end.
    package var versionElsewhere: UInt64 {
        identity.shared.withLock { $0.view?.version.rawValue ?? 0 }
    }

    /// The session's visible classes; empty after its end.
    package var classesElsewhere: [ClassHandle] {
        identity.shared.withLock { $0.view?.schema.visibleClasses ?? [] }
    }
}
