internal import ToftPlatform
package import ToftModel
package import ToftStorage

/// Takes the type of a property, the class that it links to or 0, and its value, borrowed until the
/// session moves or, in a write transaction, writes.
package typealias CellReceiver = (PropertyType, ClassID, Cell) -> Void

/// A session's state for reading further objects of a class that it has read.
struct LastRead {
    /// The epoch for which it is valid; otherwise 0.
    var epoch: UInt64 = 0
    var classID: ClassID = 0
    private let owned: RowReader?
    /// Counted by `owned` alone: good as long as nothing else is read last.
    let reader: Unmanaged<RowReader>?

    init(epoch: UInt64 = 0, classID: ClassID = 0, reader: RowReader? = nil) {
        self.epoch = epoch
        self.classID = classID
        owned = reader
        self.reader = reader.map { .passUnretained($0) }
    }

    @inline(__always)
    func serves(_ id: ClassID, _ now: UInt64) -> Bool { epoch == now && classID == id }
}

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
    /// when frozen: threads may then share the session.
    @inline(__always)
    private func reader(_ id: ClassID) throws(ModelError) -> Unmanaged<RowReader>? {
        if lastRead.serves(id, epoch.pointee.number) { return lastRead.reader }
        return try openReader(id) ? lastRead.reader : nil
    }

    /// A link may lead to another class and the next one back: the readers of some classes stay.
    @inline(never)
    private func openReader(_ id: ClassID) throws(ModelError) -> Bool {
        guard !isWriting, !isFrozen else { return false }
        let now = epoch.pointee.number
        for index in readsBefore.indices where readsBefore[index].serves(id, now) {
            swap(&lastRead, &readsBefore[index])
            return true
        }
        let reader = try RowReader(view, of: try view.schema.classHandle(id: id))
        if lastRead.epoch == now { readsBefore.insert(lastRead, at: 0) } else { readsBefore = [] }
        if readsBefore.count > Self.mostReadsBefore { readsBefore.removeLast() }
        lastRead = LastRead(epoch: now, classID: id, reader: reader)
        return true
    }

    private static let mostReadsBefore = 3
}
