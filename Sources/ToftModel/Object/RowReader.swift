internal import ToftPlatform
package import ToftStorage

/// Reads values of the objects of one class in a committed version, one object after the other: a
/// lookup in the cluster of the previous object does not search the tree.
///
/// Does not hold the view that it was made from: the caller keeps that as long as it uses the
/// reader, and uses it on one thread at a time.
package final class RowReader {
    private let view: Unmanaged<ModelView>
    private let owner: Unmanaged<ClassHandle>
    private let cursor: TableCursor
    private let primaryKeyColumn: UInt32?
    @exclusivity(unchecked) private var sequence = KeySequence()

    /// A reader; nil within a write transaction, whose changes need not be in the table yet.
    package init?(_ view: ModelView, of owner: ClassHandle) throws(ModelError) {
        guard view.unflushed == nil else { return nil }
        self.view = .passUnretained(view)
        self.owner = .passUnretained(owner)
        cursor = TableCursor(try view.rows(owner))
        primaryKeyColumn = owner.primaryKey?.column
    }

    /// Calls `body` with the type of each of some properties that are not lists, the class that it
    /// links to, and its value, without copying, of the object with a primary key. O(log objects);
    /// if objects were added in the order of integer primary keys, no index is read.
    /// - Returns: false, without a call of `body`, if the object does not exist.
    package func forEachCell(
        ofPrimaryKey primaryKey: BorrowedValue, _ ids: UnsafeBufferPointer<PropertyID>,
        _ body: (PropertyType, ClassID, Cell) -> Void
    ) throws(ModelError) -> Bool {
        try owner.borrow { owner throws(ModelError) in
            guard case .int(let number) = primaryKey else {
                guard let key = try find(primaryKey, owner) else { return false }
                try read(key, owner, ids, body)
                return true
            }
            if let key = sequence.key(of: number), isFound(key, number, owner, ids) {
                try read(owner, ids, body)
                return true
            }
            let found = try find(primaryKey, owner)
            sequence.note(found, number)
            guard let found else { return false }
            try read(found, owner, ids, body)
            return true
        }
    }

    @inline(__always)
    private func find(_ primaryKey: BorrowedValue, _ owner: ClassHandle) throws(ModelError)
        -> Int64?
    {
        try view.borrow { view throws(ModelError) in try view.find(primaryKey, owner) }
    }

    /// Moves to the object with a key, whose primary key may be another: the object's own value
    /// decides. Damage there is reported when the index has led to it.
    @inline(__always)
    private func isFound(
        _ key: Int64, _ primaryKey: Int64, _ owner: ClassHandle,
        _ ids: UnsafeBufferPointer<PropertyID>
    ) -> Bool {
        guard let column = primaryKeyColumn else { return false }
        do throws(StorageError) {
            if try cursor.move(to: key) {
                cursor.fetch(column)
                fetch(owner, ids)
            }
            guard case .int64(primaryKey) = try cursor.cell(column) else { return false }
            return true
        } catch { return false }
    }

    /// Calls `body` with the type of each of some properties that are not lists, the class that it
    /// links to, and its value, without copying. The object is looked up once for all.
    package func forEachCell(
        _ key: Int64, _ ids: UnsafeBufferPointer<PropertyID>,
        _ body: (PropertyType, ClassID, Cell) -> Void
    ) throws(ModelError) {
        try owner.borrow { owner throws(ModelError) in try read(key, owner, ids, body) }
    }

    /// Not inlined: a function need not retain its parameters.
    @inline(never)
    private func read(
        _ key: Int64, _ owner: ClassHandle, _ ids: UnsafeBufferPointer<PropertyID>,
        _ body: (PropertyType, ClassID, Cell) -> Void
    ) throws(ModelError) {
        let isFar = try reading(key, owner) { () throws(StorageError) in try cursor.move(to: key) }
        if isFar, ids.count > 1 { fetch(owner, ids) }
        try read(owner, ids, body)
    }

    /// All at once, not one after the other.
    @inline(__always)
    private func fetch(_ owner: ClassHandle, _ ids: UnsafeBufferPointer<PropertyID>) {
        for id in ids {
            if let index = owner.anyPosition(id: id) { cursor.fetch(owner.rules[index].column) }
        }
    }

    /// The cells of the object at the cursor.
    @inline(__always)
    private func read(
        _ owner: ClassHandle, _ ids: UnsafeBufferPointer<PropertyID>,
        _ body: (PropertyType, ClassID, Cell) -> Void
    ) throws(ModelError) {
        for id in ids {
            let rule = try owner.readable(id)
            do throws(StorageError) {
                body(rule.type, rule.targetClassID, try cursor.cell(rule.column))
            } catch { throw .storage(error) }
        }
    }
}

/// The expected position of the object with an integer primary key. Objects are often added in the
/// order of their primary keys: then all keys have the same distance from them.
private struct KeySequence {
    /// Difference between the key of the last object found and its primary key.
    private var distance: Int64?
    /// Whether the one before was as far.
    private var isSteady = false

    /// The key that the object probably has, if it exists; nil if unknown.
    @inline(__always)
    func key(of primaryKey: Int64) -> Int64? {
        isSteady ? distance.map { primaryKey &+ $0 } : nil
    }

    /// Notes the index's result.
    mutating func note(_ found: Int64?, _ primaryKey: Int64) {
        let last = distance
        distance = found.map { $0 &- primaryKey }
        isSteady = distance != nil && distance == last
    }
}

extension ClassHandle {
    /// The rule of a visible property with one value.
    @inline(__always)
    func readable(_ id: PropertyID) throws(ModelError) -> ValueRule {
        guard let index = anyPosition(id: id), !rules[index].isHidden, rules[index].isOneValue
        else {
            throw notReadable(id)
        }
        return rules[index]
    }

    @inline(never)
    private func notReadable(_ id: PropertyID) -> ModelError {
        do throws(ModelError) { return try property(id: id).notOneValue } catch { return error }
    }
}

/// Reads an object in its table.
@inline(__always)
func reading<Result>(
    _ key: Int64, _ owner: ClassHandle, _ body: () throws(StorageError) -> Result
) throws(ModelError) -> Result {
    do { return try body() } catch {
        if case .noSuchRow = error { throw .noSuchObject(className: owner.name, key: key) }
        throw .storage(error)
    }
}
