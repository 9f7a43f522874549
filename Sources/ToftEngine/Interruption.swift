internal import Synchronization
internal import ToftPlatform
internal import ToftStorage

/// Ends the wait of a session for other writers. Any thread.
package final class Interruption: Sendable {
    private let count = Atomic<UInt64>(0)

    /// A wait goes on for at most so long before it sees that it was ended.
    private static let sliceNanoseconds: Int64 = 50_000_000

    init() {}

    /// Ends the wait that is under way. Without one it does nothing.
    package func interrupt() {
        count.add(1, ordering: .relaxed)
    }

    /// Runs what waits for other writers, in slices.
    /// - Parameter timeout: in milliseconds; negative: for ever.
    func waiting<Result>(
        _ timeout: Int, _ attempt: (_ timeout: Int) throws(StorageError) -> Result
    ) throws(EngineError) -> Result {
        let deadline = Deadline(timeoutMilliseconds: timeout < 0 ? nil : timeout)
        let before = count.load(ordering: .relaxed)
        while true {
            let slice = deadline.remainingNanoseconds(atMost: Self.sliceNanoseconds)
            do throws(StorageError) {
                return try attempt(Int((slice + 999_999) / 1_000_000))
            } catch {
                guard case .lockTimeout = error, !deadline.hasPassed else {
                    throw EngineError(error)
                }
            }
            guard count.load(ordering: .relaxed) == before else { throw .interrupted }
        }
    }
}

extension EngineError {
    static var interrupted: EngineError {
        EngineError(.interrupted, "The wait for another writer was ended by another thread.")
    }

    /// Another session of the calling thread has the write lock.
    static var writingOnThisThread: EngineError {
        EngineError(
            .alreadyInTransaction,
            "Another realm of this file is in a write transaction on this thread. Commit or cancel "
                + "it first.")
    }
}
