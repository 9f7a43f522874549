#if TOFT_TRIALS
internal import Glibc
#endif

/// Where trials look into the engine: moments at which they stop, kill or overtake it, and mistakes
/// that they make on purpose, one at a time, to see that the tests find them.
///
/// Production knows nothing of it. Only `swift build -Xswiftc -DTOFT_TRIALS` gives these calls a
/// body; without it they are empty, every question is answered with no, and the compiler takes them
/// out (of other modules too, so they are inlinable).
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

    /// Mistakes, each of which some test must find.
    package enum Mistake: String, CaseIterable, Sendable {
        case noSyncBeforeMeta, metaNotDurable, metaBeforePages, publishedBeforeMeta
        case syncErrorIgnored, syncTriedAgain, poisonForgotten, diskFullIgnored,
            shortWriteTakenAsWhole
        case pageReusedTooEarly, pinsIgnored, pinStoredWithoutLookingAgain, deadOwnerByNumberOnly
        case versionReusedAfterRollback, othersCommitOverlooked
        case checksumNotCompared, growthForgotten, olderMetaRefused
        case recoveryOverwritesItsMeta, recoveryTrustsTheCache, deadWriterNotTakenOver
        case directoryNotSynced
        case logNotDurable, publishedBeforeLog, previousVersionNotChecked, saltKept, lostLogNotSeen,
            lostMetaNotSeen
        case deferredNotCovered, logTailIgnored, inDoubtMetaForgotten, checkpointNotPinned,
            checkpointNotSynced
        case copyNotVerified, segmentNotListed, tornRecordBelieved, derivedNotReplayed
        case entryLostOnTheWay, versionOfBirthNotPinned, durableVersionReadFirst
        case clusterRowsOffByOne, staleElementAfterMove
        case upsertSkipsIndex, backlinkForgotten, longTextTakenAsShort, elementLostInSplit,
            elementLostInMerge, boundsNotWidened, observerMissesRow, staleResults
        case referenceBoundsNotChecked, heightNotChecked, keyOrderNotChecked
        case flushForgetsPoison, closeErrorSwallowed, groupFailureHidden
    }

    #if TOFT_TRIALS
    package static let isCompiledIn = true
    /// Called at every moment, on the thread that reached it. To be set before the first database
    /// is opened.
    nonisolated(unsafe) package static var observer: (@Sendable (Moment) -> Void)?
    /// Bytes of one system call at most: a kernel may write less than it was asked to.
    nonisolated(unsafe) package static var writeLimit = Int.max
    /// The mistake that the environment asks for.
    package static let mistake: Mistake? = getenv("TOFT_SEED_BUG").flatMap {
        Mistake(rawValue: String(cString: $0))
    }

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

    package static func makes(_ mistake: Mistake) -> Bool { self.mistake == mistake }
    #else
    package static let isCompiledIn = false
    package static let mistake: Mistake? = nil

    @inlinable @inline(__always) package static func reach(_ moment: Moment) {}
    @inlinable @inline(__always) package static func dies(at moment: Moment) -> Bool { false }
    @inlinable @inline(__always) package static func takeOwnersDeath() -> Bool { false }
    @inlinable @inline(__always) package static func makes(_ mistake: Mistake) -> Bool { false }
    @inlinable @inline(__always) package static var writeLimit: Int { .max }
    #endif
}
