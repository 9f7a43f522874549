/// The points, in the order in which a database passes them, at which trials stop, kill or overtake
/// the engine.
///
/// Only `swift build -Xswiftc -DTOFT_TRIALS` gives these calls a body; without it they are empty,
/// every question is answered with no, and the compiler removes them (they are inlinable, for other
/// modules too).
package enum Failpoint: Int, CaseIterable, Sendable {
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
    case leavingLast, cleanWritten, compactionWritten, compactionDurable, fileTruncated

    #if TOFT_TRIALS
    package static let isCompiledIn = true
    /// Called at every point, on the thread that reached it. To be set before the first database
    /// is opened.
    nonisolated(unsafe) package static var observer: (@Sendable (Failpoint) -> Void)?
    /// Most bytes of one system call: a kernel may write less than requested.
    nonisolated(unsafe) package static var writeLimit = Int.max

    /// Interruptions and deaths that a trial plans for its own thread, which plays all processes.
    package final class Script {
        /// Called at every point.
        package var interruption: ((Failpoint) -> Void)?
        /// The point at which the next process that reaches it is to die.
        package var death: Failpoint?
        /// True if the next owner of the write lock learns that the previous one has died.
        var hasOwnerDied = false

        init() {}
    }

    private static let scripts = ThreadLocal<Script>()
    package static var script: Script { scripts.value { Script() } }

    package static func reach(_ point: Failpoint) {
        observer?(point)
        script.interruption?(point)
    }

    /// Whether the process that reached this point is to die.
    package static func dies(at point: Failpoint) -> Bool {
        reach(point)
        guard script.death == point else { return false }
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

    @inlinable @inline(__always) package static func reach(_ point: Failpoint) {}
    @inlinable @inline(__always) package static func dies(at point: Failpoint) -> Bool { false }
    @inlinable @inline(__always) package static func takeOwnersDeath() -> Bool { false }
    @inlinable @inline(__always) package static var writeLimit: Int { .max }
    #endif
}
