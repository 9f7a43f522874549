internal import Synchronization
internal import ToftPlatform

/// The versions being read, over all processes: a page that a pinned version can reach is not used
/// again.
///
/// 1. A slot in the table belongs to a process once its owner word does (compare-and-swap from 0).
///    The process keeps a few slots that it has no use for at the moment, with version 0.
/// 2. To pin: copy the newest descriptor, store its version into a slot of ours, full fence, look
///    whether it is still the newest. If not, start over. A writer publishes, full fence, then
///    scans. So either the reader sees the new version, or the writer sees the pin.
/// 3. `pin end` is raised before the first version is stored behind it, so the fence covers it too.
/// 4. Within a process a version is pinned once and counted.
/// 5. The slots of a dead process are released by swapping its owner word for 0: (index,
///    incarnation) identifies it alone, so a slot that has been released and taken anew cannot be
///    hit. A version left behind is harmless: too much is pinned for a moment.
final class ReaderTable: Sendable {
    private struct Held {
        var slot: Int
        var count: Int
    }

    private struct Local {
        var held: [Version: Held] = [:]
        var spare: [Int] = []
        /// Whether the process reads no more.
        var isEnded = false
    }

    private let words: SharedWords
    private let ring: VersionRing
    private let processes: ProcessTable
    private let owner: ProcessTable.Owner
    private let local = FutexMutex(Local())
    private static let spareLimit = 64

    init(words: SharedWords, processes: ProcessTable) throws(StorageError) {
        self.words = words
        ring = VersionRing(words: words)
        self.processes = processes
        owner = try processes.join { index in Self.clear(words) { $0.index == index } }
    }

    // MARK: This process

    func pinLatest() throws(StorageError) -> PublishedVersion {
        try local.withLock { local throws(StorageError) in
            if local.isEnded { throw .closed }
            while true {
                let (published, token) = ring.latest()
                if local.held[published.version] != nil {
                    local.held[published.version]?.count += 1
                    return published
                }
                Failpoint.reach(.versionRead)
                let slot: Int
                if let spare = local.spare.popLast() { slot = spare } else { slot = try claim() }
                noteTime(slot)
                let version = words.pin(slot, LockFileLayout.ReaderSlot.version)
                version.pointee.store(published.version.rawValue, ordering: .releasing)
                Failpoint.reach(.pinStored)
                atomicMemoryFence(ordering: .sequentiallyConsistent)
                if ring.token == token {
                    local.held[published.version] = Held(slot: slot, count: 1)
                    return published
                }
                version.pointee.store(0, ordering: .releasing)
                local.spare.append(slot)
            }
        }
    }

    /// Pins a version that no writer can release before it has seen this pin: the owner of the
    /// write lock pins its own commit.
    func pin(_ wanted: Version) throws(StorageError) {
        try local.withLock { local throws(StorageError) in
            if local.isEnded { throw .closed }
            if local.held[wanted] != nil {
                local.held[wanted]?.count += 1
                return
            }
            let slot: Int
            if let spare = local.spare.popLast() { slot = spare } else { slot = try claim() }
            noteTime(slot)
            words.pin(slot, LockFileLayout.ReaderSlot.version).pointee.store(
                wanted.rawValue, ordering: .sequentiallyConsistent)
            local.held[wanted] = Held(slot: slot, count: 1)
        }
    }

    /// Notes when a version is pinned, before the version is: who lists the pins sees both.
    private func noteTime(_ slot: Int) {
        words.pin(slot, LockFileLayout.ReaderSlot.time).pointee.store(
            UInt64(truncatingIfNeeded: MonotonicClock.nanoseconds), ordering: .relaxed)
    }

    func unpin(_ version: Version) {
        local.withLock { local in
            guard let held = local.held[version] else { return }
            if held.count > 1 {
                local.held[version]?.count -= 1
                return
            }
            local.held[version] = nil
            words.pin(held.slot, LockFileLayout.ReaderSlot.version).pointee.store(
                0, ordering: .releasing)
            if local.spare.count < Self.spareLimit {
                local.spare.append(held.slot)
            } else {
                words.pin(held.slot, LockFileLayout.ReaderSlot.owner).pointee.store(
                    0, ordering: .releasing)
            }
        }
    }

    /// Refuses pins from now on. False, and nothing has changed, while a version is
    /// pinned.
    func end() -> Bool {
        local.withLock { local in
            if local.held.isEmpty { local.isEnded = true }
            return local.isEnded
        }
    }

    /// Gives everything back.
    func leave() {
        local.withLock { local in
            for slot in local.held.values.map(\.slot) + local.spare {
                words.pin(slot, LockFileLayout.ReaderSlot.version).pointee.store(
                    0, ordering: .releasing)
                words.pin(slot, LockFileLayout.ReaderSlot.owner).pointee.store(
                    0, ordering: .releasing)
            }
            local = Local(isEnded: true)
        }
        processes.leave(owner)
    }

    private func claim() throws(StorageError) -> Int {
        if let slot = tryClaim() { return slot }
        clearDead(keeping: 0)
        guard let slot = tryClaim() else { throw .tooManyReaders }
        return slot
    }

    private func tryClaim() -> Int? {
        for slot in 0..<LockFileLayout.pinLimit {
            let word = words.pin(slot, LockFileLayout.ReaderSlot.owner)
            guard word.pointee.load(ordering: .relaxed) == 0,
                word.pointee.compareExchange(
                    expected: 0, desired: owner.word, ordering: .acquiringAndReleasing
                ).exchanged
            else { continue }
            // The last owner may have left a version behind.
            words.pin(slot, LockFileLayout.ReaderSlot.version).pointee.store(0, ordering: .relaxed)
            words.word(LockFileLayout.pinEnd).pointee.max(
                UInt64(slot + 1), ordering: .sequentiallyConsistent)
            return slot
        }
        return nil
    }

    // MARK: All processes

    /// The pinned versions of all living processes, in no order. Releases pins of dead ones, except
    /// of the newest version, which costs nothing.
    func versions() -> [Version] {
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        clearDead(keeping: ring.version)
        var versions: [Version] = []
        Self.forEach(words) { _, version, _ in
            if version != 0 { versions.append(version) }
        }
        return versions
    }

    /// The pins of living processes, each version once for each process. Changes nothing.
    ///
    /// - Parameter own: the owner word of the calling process, which has joined.
    static func pins(_ words: SharedWords, _ locks: FileLocks?, own: UInt64 = 0)
        -> [Coordinator.PinFacts]
    {
        let processes = ProcessTable(words: words, locks: locks)
        let now = MonotonicClock.nanoseconds
        var pins: [Coordinator.PinFacts] = []
        forEach(words) { owner, version, slot in
            if version != 0 && (owner.word == own || !processes.isDead(owner)) {
                let time = words.pin(slot, LockFileLayout.ReaderSlot.time).pointee.load(
                    ordering: .relaxed)
                let age = now.subtractingReportingOverflow(Int64(truncatingIfNeeded: time))
                pins.append(
                    (version, processes.processID(of: owner), age.overflow ? 0 : max(0, age.0)))
            }
        }
        return pins
    }

    func pins() -> [Coordinator.PinFacts] {
        Self.pins(words, processes.locks, own: owner.word)
    }

    private func clearDead(keeping newest: Version) {
        var alive: Set<UInt64> = []
        var dead: Set<UInt64> = []
        Self.forEach(words) { other, version, _ in
            guard other.word != owner.word, !alive.contains(other.word),
                newest == 0 || (version != 0 && version != newest)
            else { return }
            if processes.isDead(other) { dead.insert(other.word) } else { alive.insert(other.word) }
        }
        if !dead.isEmpty { Self.clear(words) { dead.contains($0.word) } }
    }

    private static func clear(_ words: SharedWords, _ isGone: (ProcessTable.Owner) -> Bool) {
        for slot in 0..<end(words) {
            let word = words.pin(slot, LockFileLayout.ReaderSlot.owner)
            let owner = word.pointee.load(ordering: .acquiring)
            guard owner != 0, isGone(ProcessTable.Owner(word: owner)) else { continue }
            _ = word.pointee.compareExchange(
                expected: owner, desired: 0, ordering: .acquiringAndReleasing)
        }
    }

    private static func forEach(
        _ words: SharedWords, _ body: (ProcessTable.Owner, Version, _ slot: Int) -> Void
    ) {
        for slot in 0..<end(words) {
            let owner = words.pin(slot, LockFileLayout.ReaderSlot.owner).pointee.load(
                ordering: .acquiring)
            guard owner != 0 else { continue }
            body(
                ProcessTable.Owner(word: owner),
                Version(
                    words.pin(slot, LockFileLayout.ReaderSlot.version).pointee.load(
                        ordering: .acquiring)),
                slot)
        }
    }

    private static func end(_ words: SharedWords) -> Int {
        Int(
            min(
                words.word(LockFileLayout.pinEnd).pointee.load(ordering: .sequentiallyConsistent),
                UInt64(LockFileLayout.pinLimit)))
    }
}
