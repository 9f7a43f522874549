internal import ToftModel

/// Counts changes by class and property, so that live results can tell whether they are still
/// valid.
///
/// 1. A stamp is a number of the session's own, and grows. Results are unchanged if `last(of:)` of
///    their dependencies is.
/// 2. A transaction's changes are counted as they happen, or left to its record, which is read when
///    they are needed. When it is cancelled, all stamps return to those of its beginning, and no
///    later one equals one that it gave.
/// 3. A move to another version counts its differences: see `VersionChanges`.
struct ChangeCounters {
    /// The last change of anything.
    private(set) var now: UInt64 = 1
    private var stamps = Stamps()
    /// True if the transaction's record has changes that have not been counted.
    private(set) var hasUnread = false
    /// The stamps as they were when the transaction began.
    private var stampsBefore: Stamps?

    private struct Stamps {
        var everything: UInt64 = 1
        /// Whether a stamp has been read since.
        var areInUse = false
        /// Classes with objects that were created or deleted.
        var classes: [ClassID: UInt64] = [:]
        /// Classes with objects that were deleted.
        var deletions: [ClassID: UInt64] = [:]
        var properties: [PropertyRef: UInt64] = [:]
    }

    // MARK: Changes

    /// Something happened whose reach is not known.
    mutating func noteEverything() {
        now += 1
        stamps = Stamps(everything: now)
        hasUnread = false
    }

    /// Notes a change that only the transaction's record describes.
    mutating func noteUnread() {
        now += 1
        hasUnread = true
    }

    /// Counts the creation of an object.
    mutating func noteCreation(of classID: ClassID) {
        now += 1
        stamps.classes[classID] = now
    }

    mutating func noteSet(_ property: PropertyRef) {
        now += 1
        stamps.properties[property] = now
    }

    /// The session moved to another version, or the transaction's record was read.
    mutating func note(_ changes: VersionChanges) {
        now += 1
        hasUnread = false
        for id in changes.classes { stamps.classes[id] = now }
        for id in changes.deletions { stamps.deletions[id] = now }
        for property in changes.properties { stamps.properties[property] = now }
    }

    // MARK: Transactions

    mutating func beginTransaction() {
        stampsBefore = stamps
    }

    /// The session shows the state before the transaction again.
    mutating func cancelTransaction() {
        guard let before = stampsBefore else { return noteEverything() }
        stampsBefore = nil
        now += 1
        stamps = before
        hasUnread = false
    }

    /// Keeps the changes of the committed transaction. Returns whether all of them were counted;
    /// otherwise the stamps are those of its beginning, and the changes of its version have to be
    /// counted.
    mutating func commitTransaction() -> Bool {
        guard let before = stampsBefore, before.everything == stamps.everything, !hasUnread else {
            cancelTransaction()
            return false
        }
        stampsBefore = nil
        return true
    }

    // MARK: Asking

    /// Whether a stamp has been read since everything was last counted.
    var areInUse: Bool { stamps.areInUse }

    /// The last change of any of these.
    mutating func last(of watched: Dependencies) -> UInt64 {
        stamps.areInUse = true
        var last = stamps.everything
        for id in watched.classes { last = max(last, stamps.classes[id] ?? 0) }
        for id in watched.owners { last = max(last, stamps.deletions[id] ?? 0) }
        for property in watched.properties { last = max(last, stamps.properties[property] ?? 0) }
        return last
    }
}
