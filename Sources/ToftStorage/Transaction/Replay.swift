/// Repeats the effects of commit records, or undoes them: literally, with no schema and no model.
/// The result is the data of that time.
struct Replay {
    let transaction: WriteTransaction

    /// Applies records, oldest first, to a transaction that nothing else was done in.
    static func apply(_ records: [CommitRecord], to transaction: WriteTransaction)
        throws(StorageError)
    {
        let replay = Replay(transaction: transaction)
        for record in records { try replay.apply(record) }
    }

    private func apply(_ record: CommitRecord) throws(StorageError) {
        let isWhole: Bool
        do throws(StorageError) {
            isWhole = try apply(record.bytes, from: RecordLayout.effects)
        } catch {
            throw Self.damage(error, record)
        }
        guard isWhole, !record.isTouchOnly, !record.isTruncated else {
            throw .corrupt(
                page: 0, reason: "the log's record of version \(record.version) cannot be replayed")
        }
    }

    /// Applies the effects that begin at `offset` of some bytes; false if these make no sense.
    @discardableResult
    func apply(_ bytes: [UInt8], from offset: Int) throws(StorageError) -> Bool {
        var reader = EffectReader(bytes: bytes, offset: offset)
        try bytes.withBytes { raw throws(StorageError) in
            while let effect = reader.next() { try apply(effect, bytes, raw) }
        }
        return reader.isAtEnd
    }

    /// The effects of a record were possible once. If they aren't now, record or version is
    /// damaged.
    private static func damage(_ error: StorageError, _ record: CommitRecord) -> StorageError {
        switch error {
        case .noSuchTree, .noSuchRow, .duplicateRow, .noSuchColumn, .indexOutOfRange, .typeMismatch,
            .keyTooLong, .valueTooLong:
            .corrupt(
                page: 0,
                reason: "the log's record of version \(record.version) does not fit: \(error)")
        default: error
        }
    }

    private func apply(_ effect: Effect, _ bytes: [UInt8], _ raw: UnsafeRawBufferPointer)
        throws(StorageError)
    {
        let trees = transaction.trees
        func table() throws(StorageError) -> TableWriter {
            try trees.table(effect.tree, abandonedKeys: [:])
        }
        var cell: Cell { EffectReader.cell(effect, in: bytes, raw) }
        switch effect.kind {
        case .treePut:
            let tree = try trees.orderedTree(effect.tree)
            try tree.put(
                UnsafeRawBufferPointer(rebasing: raw[effect.entryKey]),
                UnsafeRawBufferPointer(rebasing: raw[effect.value]))
        case .treeDelete:
            _ = try trees.orderedTree(effect.tree).delete(
                UnsafeRawBufferPointer(rebasing: raw[effect.entryKey]))
        case .rowInsert: try table().insertRow(effect.key)
        case .rowErase: try table().eraseRow(effect.key)
        case .cellSet: try table().setCell(effect.key, effect.column, cell)
        case .listInsert:
            try table().listInsert(
                effect.key, effect.column, at: effect.index, cell)
        case .listSet:
            try table().listSet(effect.key, effect.column, at: effect.index, cell)
        case .listErase:
            try table().listErase(effect.key, effect.column, at: effect.index)
        case .listMove:
            try table().listMove(
                effect.key, effect.column, from: effect.index, to: effect.otherIndex)
        case .listSwap:
            try table().listSwap(
                effect.key, effect.column, effect.index, effect.otherIndex)
        case .listClear: try table().listClear(effect.key, effect.column)
        case .treeCreate, .treeDrop, .columnAdd, .columnRemove, .rowsInserted, .rowsErased,
            .cellTouched:
            throw .corrupt(page: 0, reason: "the log has a record of a kind that is never logged")
        }
        try transaction.spill()
    }
}
