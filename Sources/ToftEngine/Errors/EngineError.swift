/// The one error that leaves the engine.
package struct EngineError: Error, Sendable, Equatable {
    package let code: ErrorCode
    /// The failure, its place and the remedy: one or two sentences for a person.
    package let message: String
    /// Additional information: every schema problem on a line of its own, the query with a caret,
    /// the failed system call. May be empty.
    package let detail: String
    /// The number of the code: errno, the byte offset in a query, a page, an index, a version. 0 if
    /// the code has no number.
    package let number: Int64

    package init(_ code: ErrorCode, _ message: String, detail: String = "", number: Int64 = 0) {
        self.code = code
        self.message = message
        self.detail = detail
        self.number = number
    }
}

extension EngineError: CustomStringConvertible {
    package var description: String {
        detail.isEmpty ? "\(code): \(message)" : "\(code): \(message)\n\(detail)"
    }
}

extension EngineError {
    static var interrupted: EngineError {
        EngineError(
            .interrupted,
            "The call was ended by another thread, a signal or a callback of the program.")
    }

    /// Another session of the calling thread has the write lock, or the handler it is in.
    static var writingOnThisThread: EngineError {
        EngineError(
            .alreadyInTransaction,
            "Another realm of this file is in a write transaction on this thread, or a migration "
                + "or the filling of a new file is under way there. Let it end first.")
    }
}
