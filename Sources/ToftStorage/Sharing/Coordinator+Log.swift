internal import Synchronization

// The processes' shared state of the log and of checkpoints.
//
// 1. The map changes only under the write lock and the checkpoint lock together, so the owner of
//    either may read it.
// 2. The end of the log is part of the published version: a frame whose writer died before
//    publishing it does not exist.
// 3. `checkpointVersion` is set before a checkpoint begins, and cleared when its meta is certainly
//    durable or certainly not: it is a pin that outlives its owner.

extension Coordinator {
    /// The place of the log.
    package var log: LogRing {
        let count = Int(
            min(load(LockFileLayout.logSegmentCount), UInt64(LockFileLayout.logSegmentLimit)))
        let segments = (0..<count).map { index in
            let offset = LockFileLayout.logSegments + index * LockFileLayout.logSegmentSize
            return LogSegment(page: load(offset), pageCount: load(offset + 8))
        }
        return LogRing(
            salt: load(LockFileLayout.logMap), base: load(LockFileLayout.logBase),
            segments: segments)
    }

    /// Sets the place of the log, and the first position that is needed of it.
    func setLog(_ map: LogRing, tail: LogPosition) {
        store(0, LockFileLayout.logSegmentCount)
        for (index, segment) in map.segments.prefix(LockFileLayout.logSegmentLimit).enumerated() {
            let offset = LockFileLayout.logSegments + index * LockFileLayout.logSegmentSize
            store(segment.page, offset)
            store(segment.pageCount, offset + 8)
        }
        store(map.salt, LockFileLayout.logMap)
        store(map.base, LockFileLayout.logBase)
        store(tail, LockFileLayout.logTail)
        store(UInt64(map.segments.count), LockFileLayout.logSegmentCount)
    }

    /// The first position that the durable checkpoint needs; the log before it may be overwritten.
    var logTail: LogPosition { load(LockFileLayout.logTail) }

    /// The durable end of the log, as of the newest version.
    func durableLog(of published: PublishedVersion) -> LogPosition {
        min(
            published.log.position,
            max(published.durableLog, load(LockFileLayout.flushedLog), logTail))
    }

    /// Says that the log was made durable up to a position.
    func setFlushedLog(_ position: LogPosition) { store(position, LockFileLayout.flushedLog) }

    // MARK: Checkpoints

    /// The version that a checkpoint, perhaps of a dead process, was making durable; otherwise 0.
    var checkpointVersion: Version {
        get { load(LockFileLayout.checkpoint) }
        set { store(newValue, LockFileLayout.checkpoint) }
    }

    /// Notes that a meta is durable: its version, and the log position that continues it.
    func setDurable(_ version: Version, logTail: LogPosition) {
        store(logTail, LockFileLayout.logTail)
        durableVersion = version
        checkpointVersion = 0
    }

    /// The amount logged since the last checkpoint began.
    struct CheckpointBacklog {
        var effects: UInt64
        var bytes: UInt64
    }

    var backlog: CheckpointBacklog {
        CheckpointBacklog(
            effects: load(LockFileLayout.backlogEffects), bytes: load(LockFileLayout.backlogBytes))
    }

    /// Adds a commit's work to the checkpoint's backlog, and returns the total.
    func addToBacklog(_ work: CheckpointBacklog) -> CheckpointBacklog {
        CheckpointBacklog(
            effects: words.word(LockFileLayout.backlogEffects).pointee.add(
                work.effects, ordering: .relaxed
            ).newValue,
            bytes: words.word(LockFileLayout.backlogBytes).pointee.add(
                work.bytes, ordering: .relaxed
            ).newValue)
    }

    /// Subtracts a checkpoint's work.
    func removeFromBacklog(_ work: CheckpointBacklog) {
        words.word(LockFileLayout.backlogEffects).pointee.subtract(work.effects, ordering: .relaxed)
        words.word(LockFileLayout.backlogBytes).pointee.subtract(work.bytes, ordering: .relaxed)
    }

    private func load(_ offset: Int) -> UInt64 {
        words.word(offset).pointee.load(ordering: .sequentiallyConsistent)
    }
    private func load<Number: Identifier>(_ offset: Int) -> Number { Number(load(offset)) }
    private func store(_ number: some Identifier, _ offset: Int) { store(number.rawValue, offset) }
    private func store(_ value: UInt64, _ offset: Int) {
        words.word(offset).pointee.store(value, ordering: .sequentiallyConsistent)
    }
}
