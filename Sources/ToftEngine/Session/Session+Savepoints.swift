internal import ToftModel

/// States of a write transaction that it can return to: so that a call of many steps is done as a
/// whole or not at all.
extension Session {
    /// Begins a savepoint. Nested ones end in turn, the last one first; the end of the transaction
    /// ends all. O(the transaction's buffered changes); until it ends each change costs a read of
    /// the previous value.
    package func beginSavepoint() throws(EngineError) {
        let transaction = try writing()
        try model { () throws(ModelError) in try transaction.beginSavepoint() }
    }

    /// Ends the last savepoint. `keeping`: changes since then stay; otherwise all are undone:
    /// created objects are deleted, and deleted or replaced ones exist again, as the same objects.
    /// O(changes since).
    package func endSavepoint(keeping: Bool) throws(EngineError) {
        let transaction = try writing()
        defer { if !keeping { noteEverything() } }
        let wasThere = try model { () throws(ModelError) in
            try transaction.endSavepoint(keeping: keeping)
        }
        guard wasThere else {
            throw EngineError(
                .invalidArgument,
                "There is no savepoint to end: it was never begun, or ended with the transaction.")
        }
    }

    /// Does some work of the write transaction as a whole: if it throws, everything is restored.
    package func allOrNothing<Result>(_ work: () throws(EngineError) -> Result)
        throws(EngineError) -> Result
    {
        try beginSavepoint()
        let result: Result
        do throws(EngineError) {
            result = try work()
        } catch {
            // The failure that led here is the one to report. If the file fails meanwhile, the
            // commit will say so.
            try? endSavepoint(keeping: false)
            throw error
        }
        try endSavepoint(keeping: true)
        return result
    }
}
