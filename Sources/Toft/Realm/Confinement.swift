internal import Dispatch
internal import Foundation

/// Where a realm may be used.
enum Confinement {
    /// On the thread that opened it; the engine checks that.
    case thread
    case queue(QueueMark)
    /// Everywhere, as it is frozen. The queue that its live realm belongs to, if any, so that
    /// thawing there finds it.
    case anywhere(QueueMark?)
}

/// A serial queue that realms are confined to, recognised when code runs on it.
final class QueueMark: Sendable {
    let queue: DispatchQueue
    private let isMain: Bool

    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    init(_ queue: DispatchQueue) {
        self.queue = queue
        isMain = queue === DispatchQueue.main
        if queue.getSpecific(key: Self.key) == nil {
            queue.setSpecific(key: Self.key, value: ObjectIdentifier(queue))
        }
    }

    /// Whether the running code is on the queue.
    var isCurrent: Bool {
        isMain
            ? Thread.isMainThread
            : DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(queue)
    }
}
