private import Foundation
internal import Synchronization
internal import ToftEngine
internal import ToftModel
internal import ToftPlatform

extension Realm {
    /// Receives failures of the machine that a call can't throw: a page of the file that is
    /// damaged, a disk that fails or is full, an interruption. The default prints the error, once
    /// as long as it stays the same, and the program continues.
    ///
    /// The call then gives a default value (0, "", nil, an empty collection, a new unmanaged
    /// object), and a loop ends. `attempt(_:)` throws the failure instead. A failure inside a write
    /// transaction is not reported here: it ends the transaction, the block's further changes have
    /// no effect, and `write`, `asyncWrite` or `commitWrite` throws it. Any thread may set it.
    /// Realm has nothing like it: it stops the program.
    public static var failureHandler: @Sendable (Realm.Error) -> Void {
        get { Misuse.failureHandler.withLock { $0 } }
        set { Misuse.failureHandler.withLock { $0 = newValue } }
    }

    /// Receives misuse that a call can't throw: a property set outside a write transaction, a
    /// deleted object's property, a bad predicate, a wrong thread, an index out of range. The
    /// default prints the error and stops the process with a trap, whose backtrace shows the line
    /// of the program that made the call.
    ///
    /// A handler that returns lets the program go on: the call then has no effect and gives a
    /// default value (0, "", nil, an empty collection, a new unmanaged object). Realm raises an
    /// Objective-C exception, which Swift can't catch; to catch one mistake of one call, see
    /// `attempt(_:)`. Any thread may set it.
    public static var misuseHandler: @Sendable (Realm.Error) -> Void {
        get { Misuse.handler.withLock { $0 } }
        set { Misuse.handler.withLock { $0 = newValue } }
    }

    /// Runs the block and throws the first misuse or failure in it instead of giving it to
    /// `misuseHandler` or `failureHandler`: the throwing twin of every call that can't throw.
    ///
    /// ```swift
    /// try Realm.attempt { dog.name = "Rex" }        // throws Realm.Error with code
    /// .notInTransaction
    /// ```
    ///
    /// The block runs to its end, including calls after the first misuse; if it throws after a
    /// misuse, the misuse is thrown instead, as it came first. Misuse in a task that the block
    /// began, after the block has ended, goes to `misuseHandler`. Realm has nothing like it.
    @discardableResult
    public static func attempt<Result>(_ block: () throws -> Result) throws -> Result {
        let collector = Misuse.Collector()
        let outcome = Swift.Result {
            try Misuse.$collector.withValue(collector, operation: block)
        }
        if let error = collector.close() { throw error }
        return try outcome.get()
    }
}

/// Handles errors of calls that can't throw: see `Realm.misuseHandler` and `Realm.failureHandler`.
enum Misuse {
    static let failureHandler = Mutex<@Sendable (Realm.Error) -> Void>({ printed($0) })
    private static let lastPrinted = Mutex<Realm.Error?>(nil)
    static let handler = Mutex<@Sendable (Realm.Error) -> Void>({ stop($0) })

    /// Set while `Realm.attempt` runs its block.
    @TaskLocal static var collector: Collector?

    /// Keeps the first misuse of a block while that runs. Tasks that the block begins inherit it,
    /// and may run longer.
    final class Collector: Sendable {
        private struct State {
            var first: Realm.Error?
            var isClosed = false
        }

        private let state = Mutex(State())

        /// Takes a misuse.
        /// - Returns: false if the block has ended.
        func take(_ error: Realm.Error) -> Bool {
            state.withLock { state in
                guard !state.isClosed else { return false }
                if state.first == nil { state.first = error }
                return true
            }
        }

        /// Ends the collecting and gives back the first misuse.
        func close() -> Realm.Error? {
            state.withLock { state in
                state.isClosed = true
                return state.first
            }
        }
    }

    /// Reports an error that a call could not throw: a failure to the write transactions that it
    /// happened in, or else to the handler of failures.
    static func report(_ error: Realm.Error) {
        let writing = OpenWrites.here
        // Errors after a failure, in a transaction that it has ended, follow from it.
        let cause = error.isFailure ? error : writing.lazy.compactMap(\.failure).first
        if error.isFailure {
            for session in writing { session.fail(error) }
        }
        if error.isFailure || cause == nil {
            error.tell(ErrorCode(rawValue: error.code.rawValue))
            Diagnostics.deliver()
        }
        if let collector, collector.take(cause ?? error) { return }
        guard cause != nil else { return handler.withLock { $0 }(error) }
        if writing.isEmpty { failureHandler.withLock { $0 }(error) }
    }

    /// Runs a throwing block and reports its error; nil then.
    @inline(__always)
    @discardableResult
    static func reporting<Result>(_ body: () throws -> Result) -> Result? {
        do {
            return try body()
        } catch {
            report(Realm.Error(wrapping: error))
            return nil
        }
    }

    /// The default handler of misuse; also used if there is no value that a call could return.
    ///
    /// A trap, not `abort`: debuggers and Swift's own backtraces then show the calls that led here.
    @inline(never)
    @Sendable static func stop(_ error: Realm.Error) -> Never {
        flushStandardOutput()
        fatalError("Toft was misused. \(error)")
    }

    /// The default handler of failures.
    private static func printed(_ error: Realm.Error) {
        let isNew = lastPrinted.withLock { last in
            defer { last = error }
            return last != error
        }
        guard isNew else { return }
        FileHandle.standardError.write(
            Data(
                "Toft failed, and the call gives a default value. \(error)\n".utf8))
    }
}

extension Realm.Error {
    /// Any error that comes from below, as the Swift API's own.
    init(wrapping error: any Swift.Error) {
        switch error {
        case let error as Realm.Error: self = error
        case let error as EngineError: self.init(error)
        case let error as ModelError: self.init(EngineError(error))
        default: self.init(.internalError, "\(error)")
        }
    }
}
