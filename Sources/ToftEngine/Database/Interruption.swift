internal import ToftPlatform
internal import ToftStorage

/// Ends a session's waits and computations. Any thread.
package final class Interruption: Sendable {
    private let counter = InterruptCounter()

    /// Longest time for which a wait continues after it was ended.
    private static let sliceNanoseconds: Int64 = 50_000_000

    package init() {}

    /// Says yes once it has been interrupted at all.
    var sinceMade: InterruptProbe { InterruptProbe(sinceMade: counter) }

    /// Ends the wait or the query that is under way. Without one it does nothing.
    package func interrupt() { counter.interrupt() }

    /// Runs a long operation, and checks from time to time whether it is to end.
    func watching<Result>(_ body: () throws(EngineError) -> Result) throws(EngineError) -> Result {
        try InterruptProbe(counter).watching(body)
    }

    /// Runs an operation that waits for other writers, in slices.
    /// - Parameter timeout: in milliseconds; negative: for ever.
    func waiting<Result>(
        _ timeout: Int, _ attempt: (_ timeout: Int) throws(StorageError) -> Result
    ) throws(EngineError) -> Result {
        try Self.waiting(timeout, InterruptProbe(counter)) { slice throws(EngineError) in
            try storage { () throws(StorageError) in try attempt(slice) }
        }
    }

    /// Repeats an attempt until a probe says that it is to end.
    static func waiting<Result>(
        _ timeout: Int, _ probe: InterruptProbe,
        _ attempt: (_ timeout: Int) throws(EngineError) -> Result
    ) throws(EngineError) -> Result {
        let deadline = Deadline(timeoutMilliseconds: timeout < 0 ? nil : timeout)
        while true {
            let slice = deadline.remainingNanoseconds(atMost: sliceNanoseconds)
            do throws(EngineError) {
                return try attempt(Int((slice + 999_999) / 1_000_000))
            } catch {
                guard error.code == .lockTimeout, !deadline.hasPassed else { throw error }
            }
            guard !probe.isInterrupted else { throw .interrupted }
        }
    }
}
