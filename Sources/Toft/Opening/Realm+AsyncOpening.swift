public import Dispatch
internal import Foundation
internal import Synchronization

extension Realm {
    /// Opens a database in the background, and then for a queue: waiting and building by an opening
    /// happen on a thread of its own.
    ///
    /// ```swift
    /// let task = Realm.asyncOpen(configuration: configuration) { result in
    ///     switch result {
    ///     case .success(let realm): show(realm)
    ///     case .failure(let error): tell(error)
    ///     }
    /// }
    /// task.addProgressNotification { progress in bar.value = progress.fraction }
    /// ```
    /// - Parameters:
    ///   - configuration: the database's. Its `interruption` and `progress` are ignored: the task
    ///     has both.
    ///   - callbackQueue: a serial queue, which the realm then belongs to.
    ///   - callback: called on the queue with the realm or the error.
    /// - Returns: a task that ends the opening and reports its progress.
    @discardableResult
    public static func asyncOpen(
        configuration: Configuration = .defaultConfiguration,
        callbackQueue: DispatchQueue = .main,
        callback: @escaping @Sendable (Result<Realm, any Swift.Error>) -> Void
    ) -> AsyncOpenTask {
        let task = AsyncOpenTask()
        var opening = configuration.opened
        opening.interruption = task.interruption
        opening.progress = { task.tell(Progress(done: $0, total: $1)) }
        let thread = Thread { [opening] in
            // Open until the queue has its own: so that one in memory stays.
            let opened = Result { try Realm(configuration: opening) }
            let failure: (any Swift.Error)? =
                if case .failure(let error) = opened { error } else { nil }
            callbackQueue.sync {
                guard !task.isCancelled else { return }
                if let failure { return callback(.failure(failure)) }
                callback(
                    Result {
                        try Realm(configuration: configuration.opened, queue: callbackQueue)
                    })
            }
            withExtendedLifetime(opened) {}
        }
        thread.start()
        return task
    }

    /// The progress of an opening.
    public struct Progress: Sendable, Hashable {
        /// Number of objects that have entries in the indexes being built.
        public let done: Int
        /// Number of objects that need some; more than 0.
        public let total: Int
        /// From 0 to 1.
        public var fraction: Double { Double(done) / Double(max(total, 1)) }
    }
}

/// An opening that was begun with `Realm.asyncOpen`. Any thread may use it.
public final class AsyncOpenTask: Sendable {
    let interruption = Realm.Interruption()
    private let state = Mutex(State())

    private struct State {
        var isCancelled = false
        var blocks: [(queue: DispatchQueue, block: @Sendable (Realm.Progress) -> Void)] = []
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Ends the opening, within 50 ms if it waits and a thousand objects if it builds an index: the
    /// file is then as it was. The callback is not called any more.
    public func cancel() {
        state.withLock { $0.isCancelled = true }
        interruption.interrupt()
    }

    /// Makes the opening call a block on a queue while it builds indexes; an opening without an
    /// index to build reports nothing. Realm reports downloads.
    public func addProgressNotification(
        queue: DispatchQueue = .main, block: @escaping @Sendable (Realm.Progress) -> Void
    ) {
        state.withLock { $0.blocks.append((queue, block)) }
    }

    func tell(_ progress: Realm.Progress) {
        for (queue, block) in state.withLock({ $0.blocks }) {
            queue.async { block(progress) }
        }
    }
}

extension Realm {
    /// An opening that was asked for with `asyncOpen`.
    public typealias AsyncOpenTask = Toft.AsyncOpenTask
}
