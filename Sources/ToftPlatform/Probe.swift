/// Failpoints: the moments at which trials stop, kill or overtake the engine.
///
/// Only `swift build -Xswiftc -DTOFT_TRIALS` gives these calls a body; without it they are empty,
/// every question is answered with no, and the compiler removes them (they are inlinable, for other
/// modules too).
package enum Probe {
    /// Moments, in the order in which a database lives through them.
    package enum Moment: Int, CaseIterable, Sendable {
        case creationWritten, creationSynced, creationNamed, directorySynced, creationDurable
        case attachTaken, recoveryRead, recoveryReplayed, recoverySynced, recoveryRenewed, opened,
            joined
        case versionRead, pinStored
        case writerTaken, takeoverBegun, takeoverSynced, takeoverPublished, writerLeaving
        case checkpointTaken, checkpointAdopted, checkpointPinned, checkpointSynced,
            checkpointMetaWritten, checkpointLeaving
        case pinsBegun, transactionBegun, spilled, recordKept, pagesWritten, logWritten,
            pagesSynced,
            metaWritten, durableStored, markerWritten, published
        case leavingLast, cleanWritten
    }

    #if TOFT_TRIALS
    package static let isCompiledIn = true
    /// Called at every moment, on the thread that reached it. To be set before the first database
    /// is opened.
    nonisolated(unsafe) package static var observer: (@Sendable (Moment) -> Void)?
    /// Bytes of one system call at most: a kernel may write less than it was asked to.
    nonisolated(unsafe) package static var writeLimit = Int.max

    /// What a trial wants to happen on its own thread, where it is everybody: interruptions, and
    /// deaths.
    package final class Script {
        /// Called at every moment.
        package var interruption: ((Moment) -> Void)?
        /// The moment at which the next one who comes by is to die.
        package var death: Moment?
        /// Whether whoever takes the write lock next hears that its last owner has died.
        var hasOwnerDied = false

        package init() {}
    }

    private static let scripts = ThreadLocal<Script>()
    package static var script: Script { scripts.value { Script() } }

    package static func reach(_ moment: Moment) {
        observer?(moment)
        script.interruption?(moment)
    }

    /// Whether the one who reached this moment is to die of it.
    package static func dies(at moment: Moment) -> Bool {
        reach(moment)
        guard script.death == moment else { return false }
        script.death = nil
        script.hasOwnerDied = true
        return true
    }

    package static func takeOwnersDeath() -> Bool {
        defer { script.hasOwnerDied = false }
        return script.hasOwnerDied
    }
    #else
    package static let isCompiledIn = false

    @inlinable @inline(__always) package static func reach(_ moment: Moment) {}
    @inlinable @inline(__always) package static func dies(at moment: Moment) -> Bool { false }
    @inlinable @inline(__always) package static func takeOwnersDeath() -> Bool { false }
    @inlinable @inline(__always) package static var writeLimit: Int { .max }
    #endif
}
