/// The undo effects of a transaction since its first open savepoint: for each effect the effects
/// that undo it, in the form of a commit record.
///
/// It belongs to the thread of the transaction.
final class UndoLog {
    private var effects = RecordBuilder(isLimited: false)
    /// For each effect of the transaction, the offset of the effects that undo it.
    private var starts: [Int] = []

    /// Number of effects of the transaction that can be undone.
    var count: Int { starts.count }

    /// Begins the undo effects of one effect.
    func begin() { starts.append(effects.byteCount) }

    /// The effect that was begun last does not happen.
    func dropLast() {
        if let start = starts.popLast() { effects.truncate(to: start) }
    }

    /// Takes the effects of the transaction back, the last one first, until `count` are left.
    func undo(to count: Int, with replay: Replay) throws(StorageError) {
        while starts.count > count, let start = starts.last {
            try effects.withEffects { bytes throws(StorageError) in
                try replay.apply(bytes, from: start)
            }
            dropLast()
        }
    }

    /// Forgets everything: no savepoint is left.
    func removeAll() {
        effects = RecordBuilder(isLimited: false)
        starts = []
    }

    // MARK: What undoes an effect

    /// Records the undo effect for any change of an ordered tree's key. `isNew`: the key is known
    /// not to exist.
    func notePut(
        _ key: UnsafeRawBufferPointer, in tree: TreeReader, id: TreeID, isNew: Bool = false
    ) throws(StorageError) {
        if !isNew, let value = try tree.value(forKey: key) {
            effects.treePut(id, key, value, derived: false)
        } else {
            effects.treeDelete(id, key, derived: false)
        }
    }

    func noteInsert(of key: Int64, id: TreeID) {
        effects.row(.rowErase, id, key, derived: false)
    }

    func noteErase(of key: Int64, in table: TableReader, id: TreeID) throws(StorageError) {
        let row = try table.row(key)
        effects.row(.rowInsert, id, key, derived: false)
        for column in table.columns {
            if column.type == .list {
                try noteElements(of: try table.list(key, column.id), key, column.id, id)
            } else {
                effects.cell(id, key, column.id, try table.cell(row, column.id), derived: false)
            }
        }
    }

    func noteSet(_ key: Int64, _ column: UInt32, in table: TableReader, id: TreeID)
        throws(StorageError)
    {
        effects.cell(id, key, column, try table.cell(key, column), derived: false)
    }

    func noteListInsert(_ key: Int64, _ column: UInt32, at index: Int, id: TreeID) {
        effects.list(.listErase, id, key, column, index: index, derived: false)
    }

    /// Records the undo effect for a change of an element: `kind` with the present element and
    /// `index`.
    func noteElement(
        _ kind: Effect.Kind, _ key: Int64, _ column: UInt32, at index: Int, in table: TableReader,
        id: TreeID
    ) throws(StorageError) {
        let cell = try table.list(key, column).cell(at: index)
        effects.list(kind, id, key, column, index: index, cell, derived: false)
    }

    func noteMove(
        _ kind: Effect.Kind, _ key: Int64, _ column: UInt32, from index: Int, to other: Int,
        id: TreeID
    ) {
        effects.list(kind, id, key, column, index: index, other: other, derived: false)
    }

    func noteClear(_ key: Int64, _ column: UInt32, in table: TableReader, id: TreeID)
        throws(StorageError)
    {
        try noteElements(of: try table.list(key, column), key, column, id)
    }

    private func noteElements(of list: ListView, _ key: Int64, _ column: UInt32, _ id: TreeID)
        throws(StorageError)
    {
        var index = 0
        try list.forEachBlock { block throws(StorageError) in
            for place in 0..<block.count {
                effects.list(
                    .listInsert, id, key, column, index: index, try block.cell(at: place),
                    derived: false)
                index += 1
            }
            return true
        }
    }
}

extension WriteTransaction {
    /// A state of a transaction that it can return to.
    package struct Savepoint {
        fileprivate let undoCount: Int
        fileprivate let mark: RecordBuilder.Mark
    }

    /// Begins to record how changes are undone. Savepoints are nested: each is ended once, the last
    /// one first.
    package func beginSavepoint() throws(StorageError) -> Savepoint {
        try checkActive()
        savepointCount += 1
        return Savepoint(undoCount: undoLog.count, mark: record.pointee.mark)
    }

    /// Undoes all changes since a savepoint, in the data and the record. Borrowed bytes become
    /// invalid. O(effects since then).
    /// - Throws: after which the transaction must be rolled back.
    package func rollBack(to savepoint: Savepoint) throws(StorageError) {
        try checkActive()
        try checkWhole()
        do throws(StorageError) {
            try undoLog.undo(to: savepoint.undoCount, with: Replay(transaction: self))
        } catch {
            fail(error)
            throw error
        }
        record.pointee.undo(to: savepoint.mark)
    }

    /// Forgets the last savepoint.
    package func endSavepoint() {
        savepointCount -= 1
        if savepointCount == 0 { undoLog.removeAll() }
    }
}
