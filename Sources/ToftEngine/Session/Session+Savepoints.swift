internal import ToftModel

/// Moments of a write transaction that it can come back to: so that a call of many steps is done as
/// a whole or not at all.
extension Session {
    /// Begins a savepoint. Those within one another end in turn, the last one first; the end of the
    /// transaction ends all. O(what the transaction keeps back); until it ends each change costs
    /// the reading of what was there before.
    package func beginSavepoint() throws(EngineError) {
        let transaction = try writing()
        try model { () throws(ModelError) in try transaction.beginSavepoint() }
    }

    /// Ends the last savepoint. `keeping`: what was done since stays; else all is what it was then:
    /// what was created is gone, and what was deleted or replaced is there again, as the same
    /// objects. O(changes since).
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
    func allOrNothing<Result>(_ work: () throws(EngineError) -> Result)
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
