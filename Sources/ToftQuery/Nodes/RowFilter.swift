internal import ToftModel
internal import ToftPlatform
internal import ToftStorage

/// The filter for the rows of a batch; evaluated by callers that want the rows, as some only want
/// their number.
struct RowFilter {
    private let predicate: PredicateNode
    private let thread = InterruptProbe.thread

    init(_ predicate: PredicateNode) {
        self.predicate = predicate
    }

    /// The rows of a batch that pass.
    func rows(of batch: RowBatch) throws(ModelError) -> Selection {
        let rows = batch.presentRows
        let passing = try predicate.evaluate(batch, wanted: rows) & rows
        try checkAnswer()
        return passing
    }

    /// Number of these rows.
    @inline(__always)
    func count(in batch: RowBatch) throws(ModelError) -> Int {
        let count = try predicate.count(in: batch)
        try checkAnswer()
        return count
    }

    /// The test of a very long text may be interrupted.
    @inline(__always)
    private func checkAnswer() throws(ModelError) {
        if thread.hasEndedEarly { throw .storage(.interrupted) }
    }
}
