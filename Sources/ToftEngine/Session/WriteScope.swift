internal import ToftModel
internal import ToftStorage

/// A session's write transaction, from its beginning to its end.
struct WriteScope {
    enum Phase {
        /// Handlers are called that it began before, or one has it: it may not end until they have
        /// returned.
        case beginning
        case open
    }

    let transaction: ModelTransaction
    var phase: Phase
    /// The end of the part of its record that the session's counters have read.
    private var readOfRecord = RecordPosition.start

    init(_ transaction: ModelTransaction, _ phase: Phase) {
        self.transaction = transaction
        self.phase = phase
    }

    /// The changes in the unread part of the record, which counts as read then. Nil if they can't
    /// be told.
    mutating func unreadChanges() -> VersionChanges? {
        // A failure to write buffered changes occurs again when the caller reads.
        try? VersionChanges(of: transaction, after: &readOfRecord)
    }

    /// Adds the objects that the transaction has touched since a place in its record. False if it
    /// does not build on a version, or the record does not say.
    func add(since record: RecordPosition?, to touched: inout TouchedKeys, on version: Version)
        throws(EngineError) -> Bool
    {
        guard transaction.baseVersion == version else { return false }
        var place = record ?? .start
        return try model { () throws(ModelError) in
            try transaction.forEachEffect(after: &place) { touched.add($0) }
        }
    }
}
