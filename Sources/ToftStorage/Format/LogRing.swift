internal import ToftPlatform

/// Pages that the log has for itself.
package struct LogSegment: Equatable, Sendable {
    package var page: PageNumber
    package var pageCount: UInt64

    var byteCount: UInt64 { pageCount &* UInt64(Page.size) }
}

/// The mapping of the log's positions to the file: the segments in their order, as a ring.
package struct LogRing: Equatable, Sendable {
    package var salt: UInt64
    /// The position that the first byte of the first segment had when the ring got its present
    /// segments.
    package var base: LogPosition
    package var segments: [LogSegment]

    /// A file that has no log yet.
    package static let none = LogRing(salt: 0, base: 0, segments: [])

    var capacity: UInt64 { segments.reduce(0) { $0 &+ $1.byteCount } }
    var longestSegment: UInt64 { segments.reduce(0) { max($0, $1.byteCount) } }

    /// Refuses a map that no valid meta can have: the engine never uses an unchecked one.
    func check(pageCount: UInt64, position: LogPosition) throws(StorageError) {
        var pages: UInt64 = 0
        for (index, segment) in segments.enumerated() {
            let (end, overflow) = segment.page.rawValue.addingReportingOverflow(
                segment.pageCount)
            guard !overflow, segment.page >= Page.firstData, segment.pageCount > 0,
                end <= pageCount, segment.pageCount <= LogLimit.pages
            else {
                throw .corrupt(page: segment.page, reason: "a segment of the log leaves the file")
            }
            for other in segments[..<index]
            where segment.page < other.page + other.pageCount && other.page.rawValue < end {
                throw .corrupt(page: segment.page, reason: "segments of the log overlap")
            }
            pages += segment.pageCount
        }
        guard pages <= LogLimit.pages, position >= base, position < .limit,
            position.rawValue % UInt64(LogLayout.unit) == 0,
            base.rawValue % UInt64(LogLayout.unit) == 0
        else {
            throw .corrupt(page: 0, reason: "a meta lists a log that cannot be")
        }
    }

    /// A stretch of one segment.
    struct Location: Equatable {
        /// Byte offset in the file.
        var offset: UInt64
        /// Bytes from there to the end of the segment.
        var room: UInt64
    }

    /// The place of a position. Nil if there is no log, or the position is before its beginning.
    func location(of position: LogPosition) -> Location? {
        guard position >= base, capacity > 0 else { return nil }
        var rest = (position - base) % capacity
        for segment in segments {
            if rest < segment.byteCount {
                return Location(
                    offset: segment.page.byteOffset &+ rest,
                    room: segment.byteCount - rest)
            }
            rest -= segment.byteCount
        }
        return nil
    }

    /// The first position, from `position` on, that is followed by `byteCount` bytes in one
    /// segment. Nil if no segment is that long.
    func start(of byteCount: UInt64, from position: LogPosition) -> LogPosition? {
        guard byteCount <= longestSegment else { return nil }
        var start = position
        while let location = location(of: start) {
            if location.room >= byteCount { return start }
            start += location.room
        }
        return nil
    }
}

extension LogRing {
    /// A salt for a log that begins anew: random, and its upper half names the database.
    ///
    /// - Throws: `io` if the system gives no random numbers.
    static func newSalt(of databaseID: (UInt64, UInt64)) throws(StorageError) -> UInt64 {
        let random = try system(RandomBytes.nonzero())
        return databaseID.0 << 32 | max(1, random & UInt64(UInt32.max))
    }

    /// True if some log of this database may have had the salt. Users' data can look like a frame,
    /// but nobody knows the number of a database before it is made.
    static func isSalt(_ salt: UInt64, of databaseID: (UInt64, UInt64)) -> Bool {
        salt >> 32 == databaseID.0 & UInt64(UInt32.max)
    }
}

/// The end of the log after a version: the values that the next frame has to name.
package struct LogEnd: Equatable, Sendable {
    package var position: LogPosition
    package var sequence: UInt64
    package var hash: UInt64

    /// No log comes near it, so a sequence number that reaches it is damaged.
    static let sequenceLimit: UInt64 = 1 << 62

    package static let start = LogEnd(position: 0, sequence: 0, hash: 0)
}

/// Limits of the log, in one place.
package enum LogLimit {
    /// The first segment.
    package static let firstPages: UInt64 = 64
    /// A log that keeps filling up doubles until it has this many pages: 8 MiB.
    static let grownPages: UInt64 = 2048
    /// More than any build makes; a meta that lists more is damaged.
    static let pages: UInt64 = 16_384
    /// The work that begins a checkpoint: bytes written, effects logged (they decide how long a
    /// recovery takes), and milliseconds without a commit.
    static let backlogBytes: UInt64 = 16 << 20
    /// The largest backlog: at this size a writer makes a checkpoint itself, so that the file does
    /// not grow without bound.
    static let maximumBacklogBytes: UInt64 = 48 << 20
    static let backlogEffects: UInt64 = 200_000
    static let idleMilliseconds = 1_000
}
