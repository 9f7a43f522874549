internal import ToftModel
internal import ToftStorage

/// The state that a session showed at some time, to find out later which objects were touched
/// since.
struct SessionPosition {
    fileprivate let schema: ModelSchema
    fileprivate let version: Version
    /// Within a write transaction: its number, and the end of its record.
    fileprivate let writing: (number: UInt64, record: RecordPosition)?
}

extension Session {
    /// The state that it shows now.
    var position: SessionPosition {
        SessionPosition(
            schema: schema, version: base.version,
            writing: transaction.map { (transactionNumber, $0.recordEnd) })
    }

    /// The keys of the objects of a class that were created, deleted or had one of some properties
    /// set since `position`, ascending, each once. Nil if the records do not say, or have more than
    /// `limit` changes.
    func touchedKeys(
        of classID: ClassID, reading watched: Dependencies, since position: SessionPosition,
        atMost limit: Int
    ) throws(EngineError) -> [Int64]? {
        guard position.schema === schema, let owner = schema.anyClass(id: classID),
            position.writing.map({ $0.number > cancelledNumber }) ?? true
        else { return nil }
        var touched = TouchedKeys(owner, reading: watched, limit: limit)
        if let transaction, position.writing?.number == transactionNumber {
            guard try add(transaction, since: position.writing?.record, to: &touched) else {
                return nil
            }
        } else {
            guard try add(commitsSince: position.version, to: &touched) else { return nil }
            if let transaction, try !add(transaction, since: nil, to: &touched) { return nil }
        }
        return touched.sorted
    }

    /// Adds the objects that the write transaction has touched since a place in its record.
    private func add(
        _ transaction: ModelTransaction, since record: RecordPosition?,
        to touched: inout TouchedKeys
    ) throws(EngineError) -> Bool {
        guard transaction.baseVersion == base.version else { return false }
        var place = record ?? .start
        return try model { () throws(ModelError) in
            try transaction.forEachEffect(after: &place) { touched.add($0) }
        }
    }

    /// Adds the objects that the commits since a version have touched.
    private func add(commitsSince version: Version, to touched: inout TouchedKeys)
        throws(EngineError) -> Bool
    {
        let records = try storage { () throws(StorageError) in
            try base.snapshot.records(after: version, atMost: VersionChanges.mostRecordBytes)
        }
        return records?.allSatisfy { $0.forEach { touched.add($0) } } ?? false
    }
}

/// Gathers the keys of the objects of one class that effects touch.
private struct TouchedKeys {
    private let owner: ClassHandle
    private let watched: Dependencies
    private let limit: Int
    private var keys: [Int64] = []
    private var isTooMany = false

    init(_ owner: ClassHandle, reading watched: Dependencies, limit: Int) {
        self.owner = owner
        self.watched = watched
        self.limit = limit
    }

    mutating func add(_ effect: Effect) {
        guard effect.tree == owner.table, !isTooMany else { return }
        switch RowChange(effect) {
        case .inserted, .erased: add(effect.key, count: effect.count)
        case .set, .touched, .edited:
            if watched.properties.contains(PropertyRef(effect, of: owner)) {
                add(effect.key, count: 1)
            }
        case nil: break
        }
    }

    private mutating func add(_ key: Int64, count: Int) {
        if keys.last == key, count == 1 { return }
        isTooMany = count > limit - keys.count
        guard !isTooMany else { return }
        for offset in 0..<Int64(count) { keys.append(key &+ offset) }
    }

    /// Nil if there are too many.
    var sorted: [Int64]? {
        if isTooMany { return nil }
        var sorted: [Int64] = []
        sorted.reserveCapacity(keys.count)
        for key in keys.sorted() where key != sorted.last { sorted.append(key) }
        return sorted
    }
}
