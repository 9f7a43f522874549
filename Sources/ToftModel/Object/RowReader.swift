internal import ToftPlatform
package import ToftStorage

/// Reads values of the objects of one class in a committed version, one object after the other: in
/// the cluster of the object before, a look-up needs no way through the tree.
///
/// Does not hold the view that it was made from: the caller keeps that as long as it uses the
/// reader, and uses it on one thread at a time.
package final class RowReader {
    private let view: Unmanaged<ModelView>
    private let owner: Unmanaged<ClassHandle>
    private let cursor: TableCursor

    /// A reader; nil within a write transaction, whose changes need not be in the table yet.
    package init?(_ view: ModelView, of owner: ClassHandle) throws(ModelError) {
        guard view.unflushed == nil else { return nil }
        self.view = .passUnretained(view)
        self.owner = .passUnretained(owner)
        cursor = TableCursor(try view.rows(owner))
    }

    /// The key of the object with this primary key, nil where there is none. O(log objects).
    package func find(_ primaryKey: BorrowedValue) throws(ModelError) -> Int64? {
        try view.borrow { view throws(ModelError) in
            try owner.borrow { owner throws(ModelError) in try view.find(primaryKey, owner) }
        }
    }

    /// Calls `body` with the type of each of some properties that are no lists, the class that it
    /// links to, and its value, without copying. The object is looked up once for all.
    package func forEachCell(
        _ key: Int64, _ ids: UnsafeBufferPointer<PropertyID>,
        _ body: (PropertyType, ClassID, Cell) -> Void
    ) throws(ModelError) {
        try owner.borrow { owner throws(ModelError) in try read(key, owner, ids, body) }
    }

    /// Not inlined: what a function is given it need not take hold of.
    @inline(never)
    private func read(
        _ key: Int64, _ owner: ClassHandle, _ ids: UnsafeBufferPointer<PropertyID>,
        _ body: (PropertyType, ClassID, Cell) -> Void
    ) throws(ModelError) {
        let isFar = try reading(key, owner) { () throws(StorageError) in try cursor.move(to: key) }
        if isFar, ids.count > 1 {
            // All at once, not one after the other.
            for id in ids {
                if let index = owner.anyPosition(id: id) { cursor.fetch(owner.rules[index].column) }
            }
        }
        for id in ids {
            let rule = try owner.readable(id)
            let cell = try reading(key, owner) { () throws(StorageError) in
                try cursor.cell(rule.column)
            }
            body(rule.type, rule.targetClassID, cell)
        }
    }
}

extension ClassHandle {
    /// What a visible property with one value is like.
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
