private import Foundation
internal import Synchronization
internal import ToftEngine
internal import ToftModel
internal import ToftPlatform

extension Realm {
    /// Where misuse goes that a call can't throw: a property set outside a write transaction, a
    /// deleted object's property, a bad predicate, a wrong thread, an index out of range. The
    /// default prints the error and stops the process.
    ///
    /// A handler that returns lets the program go on: the call then has no effect and gives a
    /// default value (0, "", nil, an empty collection, a new unmanaged object). Realm raises an
    /// Objective-C exception, which Swift can't catch; to catch one mistake of one call, see
    /// `attempt(_:)`. Any thread may set it.
    public static var misuseHandler: @Sendable (Realm.Error) -> Void {
        get { Misuse.handler.withLock { $0 } }
        set { Misuse.handler.withLock { $0 = newValue } }
    }

    /// Runs the block and throws the first misuse in it instead of giving it to `misuseHandler`:
    /// the throwing twin of every call that can't throw.
    ///
    /// ```swift
    /// try Realm.attempt { dog.name = "Rex" }        // throws Realm.Error with code
    /// .notInTransaction
    /// ```
    ///
    /// The block runs to its end, calls after the first misuse too; if it throws after a misuse,
    /// the misuse is thrown all the same, as what came first. What a task that the block began
    /// misuses when the block has ended goes to `misuseHandler`. Realm has nothing like it.
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

/// The hook behind `Realm.misuseHandler`.
enum Misuse {
    static let handler = Mutex<@Sendable (Realm.Error) -> Void>({ stop($0) })

    /// Set while `Realm.attempt` runs its block.
    @TaskLocal static var collector: Collector?

    /// Keeps the first misuse of a block while that runs. Tasks that the block begins inherit it,
    /// and may go on longer.
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

    /// Reports what a call could not throw.
    static func report(_ error: Realm.Error) {
        error.tell(ErrorCode(rawValue: error.code.rawValue))
        Diagnostics.deliver()
        if let collector, collector.take(error) { return }
        handler.withLock { $0 }(error)
    }

    /// Runs what throws and reports its error; nil then.
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

    /// The default handler; also where there is nothing that a call could give back.
    @Sendable static func stop(_ error: Realm.Error) -> Never {
        FileHandle.standardError.write(Data("Toft was misused. \(error)\n".utf8))
        abort()
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
