internal import Dispatch
internal import Foundation
internal import ToftPlatform

/// The threads on which a realm may be used.
enum Confinement {
    /// On the thread that opened it; the engine checks that.
    case thread
    case place(Place)
    /// Everywhere, as it is frozen. The queue or actor that its live realm belongs to, if any, so
    /// that thawing there finds it.
    case anywhere(Place?)
}

/// A serial queue or an actor that realms are confined to, recognised when code runs on it.
final class Place: Sendable {
    private enum Kind: Sendable {
        case queue(DispatchQueue, isMain: Bool)
        case actor(ActorReference)
    }

    /// Its identity among those that live.
    let id: ObjectIdentifier
    private let kind: Kind

    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    init(_ queue: DispatchQueue) {
        id = ObjectIdentifier(queue)
        kind = .queue(queue, isMain: queue === DispatchQueue.main)
        if queue.getSpecific(key: Self.key) == nil {
            queue.setSpecific(key: Self.key, value: ObjectIdentifier(queue))
        }
    }

    /// An actor, which is not kept alive.
    init(_ actor: any Actor) {
        id = ObjectIdentifier(actor)
        kind = .actor(ActorReference(actor))
    }

    var isActor: Bool { if case .actor = kind { true } else { false } }

    /// Whether the running code is there.
    var isCurrent: Bool {
        switch kind {
        case .queue(_, let isMain):
            isMain ? Thread.isMainThread : DispatchQueue.getSpecific(key: Self.key) == id
        case .actor(let reference): reference.isCurrent
        }
    }

    /// The message for a wrong use of a realm there.
    var wrongUse: String {
        isActor
            ? "Realm accessed from outside of its actor. Use it in code that is isolated to the "
                + "actor that it was opened for."
            : "Realm accessed from incorrect queue. Use it on the queue that it was opened for."
    }

    /// Runs a block there soon; not at all once the actor has ended.
    /// - Returns: for an actor, a task that ends with the block.
    @discardableResult
    func run(_ block: @escaping @Sendable () -> Void) -> Task<Void, Never>? {
        switch kind {
        case .queue(let queue, _):
            queue.async(execute: block)
            return nil
        case .actor(let reference):
            return Task { if let actor = reference.actor { await Self.run(block, on: actor) } }
        }
    }

    private static func run(_ block: () -> Void, on actor: isolated any Actor) { block() }

    /// A block that is isolated to an actor, for a caller that is known to be there.
    static func called<Owner: Actor, Change>(
        on actor: Owner, _ block: @escaping @Sendable (isolated Owner, Change) -> Void
    ) -> (Change) -> Void {
        // The type's isolation says where the block may be called, and does not change the call:
        // `assumeIsolated` of the standard library does the same, and stops the program if it is
        // wrong.
        let block = unsafeBitCast(block, to: (@Sendable (Owner, Change) -> Void).self)
        return { [weak actor] change in
            if let actor { block(actor, change) }
        }
    }
}

/// An actor that is not kept alive. `@unchecked Sendable`: nothing of it is ever changed.
private struct ActorReference: @unchecked Sendable {
    private(set) weak var actor: (any Actor)?
    private let executor: UnownedSerialExecutor

    /// Asks the Swift runtime whether the running code is on an executor, without stopping the
    /// program if it is not. Nil in statically linked programs: only the compiler checks there.
    private static let isCurrent: (@convention(c) (UnsafeRawPointer?, UInt, UInt64) -> Bool)? =
        SharedLibrary(loaded: "libswift_Concurrency.so")?.function(
            "swift_task_isCurrentExecutorWithFlags",
            as: (@convention(c) (UnsafeRawPointer?, UInt, UInt64) -> Bool).self)

    init(_ actor: any Actor) {
        self.actor = actor
        executor = actor.unownedExecutor
    }

    var isCurrent: Bool {
        guard actor != nil else { return false }
        guard let isCurrent = Self.isCurrent else { return true }
        // An executor is two words: the object and how it works.
        let words = unsafeBitCast(executor, to: (UnsafeRawPointer?, UInt).self)
        return isCurrent(words.0, words.1, 0)
    }
}
