package import ToftQuery

extension EngineError {
    /// The error for a fault of a query: the sentence and the remedy in the message, the place
    /// drawn in the detail. Total, as for storage.
    package init(_ error: QueryError) {
        let code: ErrorCode =
            switch error.kind {
            case .syntax: .querySyntax
            case .invalidQuery: .invalidQuery
            case .typeMismatch: .queryTypeMismatch
            case .invalidArgument: .invalidQueryArgument
            }
        let message = error.hint.map { error.summary + " " + $0 } ?? error.summary
        self.init(code, message, detail: error.excerpt, number: Int64(error.offset ?? 0))
    }
}

/// Binds a query and throws its error as the engine's.
@inline(__always)
func querying<Result: ~Copyable>(_ body: () throws(QueryError) -> Result) throws(EngineError)
    -> Result
{
    do { return try body() } catch { throw EngineError(error) }
}
