internal import CPlatform
internal import Synchronization

/// Work in parts that do not depend on each other, for several threads.
package final class SharedWork<Failure: Error>: Sendable {
    private let next = Atomic<Int>(0)
    private let count: Int
    private let body: @Sendable (_ part: Int) throws(Failure) -> Void
    private let failure = FutexMutex<Failure?>(nil)

    private init(_ count: Int, _ body: @escaping @Sendable (_ part: Int) throws(Failure) -> Void) {
        self.count = count
        self.body = body
    }

    /// Calls `body` with each number below `count`, in any order, on the calling thread and on
    /// threads that have ended when it returns. If the system gives no threads, the calling thread
    /// does all the work. Worthwhile from some hundred microseconds on: a thread costs about 30.
    /// - Throws: the error of a part; parts that had not begun are then left out.
    package static func run(
        _ count: Int, body: @escaping @Sendable (_ part: Int) throws(Failure) -> Void
    ) throws(Failure) {
        let work = SharedWork(count, body)
        let helpers = (1..<max(1, min(threads, count))).compactMap { _ in
            try? PlatformThread(name: "toft-work") { work.takeParts() }
        }
        work.takeParts()
        for helper in helpers { helper.join() }
        if let failure = work.failure.withLock({ $0 }) { throw failure }
    }

    private func takeParts() {
        while true {
            let part = next.add(1, ordering: .relaxed).oldValue
            guard part < count else { return }
            do throws(Failure) {
                try body(part)
            } catch {
                failure.withLock { $0 = error }
                return next.store(count, ordering: .relaxed)
            }
        }
    }
}

/// Threads at work at once, the caller's included.
private let threads = min(4, Int(platform_processor_count()))
