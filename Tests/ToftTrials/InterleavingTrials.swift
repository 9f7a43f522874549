// Tests: Failpoint.swift
internal import Glibc
internal import Synchronization
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// At every moment of one operation, another does everything possible: commits while a reader
/// begins, reads while a writer commits. Visible versions are whole and durable, and never change.
enum InterleavingTrials {
    static func run() throws -> Bool {
        #if TOFT_TRIALS
        var problems: [String] = []
        var count = 0
        for (moments, trial) in [
            (reading, whileReading), (writing, whileWriting),
            (writingWithoutLog, whileWritingWithoutLog), (moving, whenACompactionDies),
        ] as [([Failpoint], (Failpoint, Int) throws -> Void)] {
            for moment in moments {
                for nth in 0..<3 {
                    count += 1
                    do { try trial(moment, nth) } catch {
                        problems.append("at \(moment), time \(nth): \(error)")
                    }
                }
            }
        }
        count += 1
        do { try whileAWriterReadsThePins() } catch {
            problems.append("at \(Failpoint.pinsBegun): \(error)")
        }
        for problem in problems { print("VIOLATION \(problem)") }
        print("cases \(count)\ninterleavings \(count) (\(problems.count) bad)")
        return problems.isEmpty
        #else
        print("interleavings: needs a build with -D TOFT_TRIALS")
        return true
        #endif
    }

    #if TOFT_TRIALS
    private static let reading: [Failpoint] = [.versionRead, .pinStored]
    private static let writing: [Failpoint] = [
        .writerTaken, .transactionBegun, .spilled, .recordKept, .pagesWritten, .logWritten,
        .published, .writerLeaving,
    ]
    private static let writingWithoutLog: [Failpoint] = [
        .pagesWritten, .pagesSynced, .metaWritten, .durableStored, .markerWritten, .published,
    ]

    private static let moving: [Failpoint] = [
        .pagesWritten, .pagesSynced, .metaWritten, .durableStored, .markerWritten,
    ]

    /// A database whose versions are known.
    private final class Scene {
        let store: Store
        private var numbers = Seed(1)
        private var fingerprints: [Version: UInt64] = [:]

        init() throws {
            let file = MemoryFile(name: "interleaving")
            try Store.format(file)
            store = try Store.open(
                on: file, coordinator: try Coordinator.inMemory(), dirtyLimit: 32 << 10)
            try Ledger.create(in: store)
            try know()
            for _ in 0..<5 { try commit() }
        }

        private func know() throws {
            let snapshot = try store.beginRead()
            fingerprints[snapshot.version] = try Ledger.Copy(snapshot).fingerprint
            snapshot.release()
        }

        func commit() throws {
            let transaction = try store.beginWrite()
            _ = try Ledger.move(transaction, participant: 0, &numbers)
            try Ledger.scribble(transaction, &numbers)
            _ = try transaction.commit()
            try know()
        }

        /// Commits without looking at it, while somebody else is looking.
        func commitUnknown(changingStructure: Bool = false) throws {
            let transaction = try store.beginWrite()
            if changingStructure { try Ledger.restructure(transaction) }
            _ = try Ledger.move(transaction, participant: 0, &numbers)
            try Ledger.scribble(transaction, &numbers)
            _ = try transaction.commit()
        }

        func expectKnown(_ snapshot: Snapshot) throws {
            let found = try Ledger.Copy(snapshot)
            guard found.sum == Ledger.sum else { throw Failure("the sum is \(found.sum)") }
            guard let known = fingerprints[snapshot.version] else {
                return fingerprints[snapshot.version] = found.fingerprint
            }
            guard known == found.fingerprint else {
                throw Failure("version \(snapshot.version) is not what it was")
            }
        }

        func end() throws {
            let report = try store.check()
            guard report.isSound else { throw Failure("unsound: \(report.problems.prefix(2))") }
        }
    }

    /// While a reader pins the newest version, others commit, so that it is not the newest any
    /// more, and its pages are free.
    private static func whileReading(_ moment: Failpoint, _ nth: Int) throws {
        let scene = try Scene()
        let snapshot = try at(moment, nth, { for _ in 0..<20 { try scene.commitUnknown() } }) {
            () throws -> Snapshot in
            for _ in 0..<nth { try scene.store.beginRead().release() }
            return try scene.store.beginRead()
        }
        try scene.expectKnown(snapshot)
        for _ in 0..<4 { try scene.commit() }
        try scene.expectKnown(snapshot)
        snapshot.release()
        try scene.end()
    }

    /// While a writer commits, a reader begins: it sees the last version or the new one, and
    /// nothing that is not durable.
    private static func whileWriting(_ moment: Failpoint, _ nth: Int) throws {
        try whileWriting(moment, nth, changingStructure: false)
    }
    private static func whileWritingWithoutLog(_ moment: Failpoint, _ nth: Int) throws {
        try whileWriting(moment, nth, changingStructure: true)
    }

    private static func whileWriting(_ moment: Failpoint, _ nth: Int, changingStructure: Bool)
        throws
    {
        let scene = try Scene()
        let held = Held()
        try at(moment, nth, { try held.look(scene.store) }) { () throws in
            for _ in 0...nth { try scene.commitUnknown(changingStructure: changingStructure) }
        }
        guard let snapshot = held.snapshot else { throw Failure("the moment did not come") }
        try scene.expectKnown(snapshot)
        for _ in 0..<4 { try scene.commit() }
        try scene.expectKnown(snapshot)
        snapshot.release()
        try scene.end()
    }

    /// A checkpoint ends between a writer's two reads of the pins. Its version, now the durable
    /// one, keeps its pages.
    private static func whileAWriterReadsThePins() throws {
        let file = MemoryFile(name: "pins")
        try Store.format(file)
        let store = try Store.open(on: file, coordinator: try Coordinator.inMemory())
        try Ledger.create(in: store)
        var numbers = Seed(3)
        func commit() throws {
            let transaction = try store.beginWrite()
            _ = try Ledger.move(transaction, participant: 0, &numbers)
            _ = try transaction.commit()
        }
        for _ in 0..<5 { try commit() }
        let pinned = Flag()
        let goOn = Flag()
        let checkpoint = try PlatformThread(name: "checkpoint", stackSize: 8 << 20) {
            Failpoint.script.interruption = { moment in
                guard moment == .checkpointPinned else { return }
                pinned.raise()
                goOn.wait()
            }
            _ = try? store.checkpoint()
            pinned.raise()
        }
        pinned.wait()
        for _ in 0..<3 { try commit() }
        Failpoint.script.interruption = { moment in
            guard moment == .pinsBegun else { return }
            Failpoint.script.interruption = nil
            goOn.raise()
            checkpoint.join()
        }
        for _ in 0..<40 { try commit() }
        Failpoint.script.interruption = nil
        // The file after a power failure, without the log: the checkpoint alone.
        let report = try Store.checkOfDurableVersion(of: file)
        guard report.isSound else { throw Failure("unsound: \(report.problems.prefix(2))") }
    }

    /// A step of a compaction dies while it moves the log: others' checks are sound, of the
    /// versions from before and of the one that they find after the takeover.
    private static func whenACompactionDies(_ moment: Failpoint, _ nth: Int) throws {
        let file = MemoryFile(name: "compaction")
        try Store.format(file)
        let store = try Store.open(on: file, coordinator: try Coordinator.inMemory())
        func edit(_ body: (WriteTransaction) throws -> Void) throws {
            let transaction = try store.beginWrite()
            try body(transaction)
            _ = try transaction.commit()
        }
        // The log is behind the pages of the first commit.
        var tree = TreeID(0)
        let count: UInt64 = 4_000
        let value = [UInt8](repeating: 7, count: 1_000)
        try edit { transaction in
            tree = try transaction.createOrderedTree()
            for key in 0..<count {
                try withUnsafeBytes(of: key.bigEndian) { key throws in
                    try value.withUnsafeBytes { value throws in
                        try transaction.treePut(tree, key, value, derived: false)
                    }
                }
            }
        }
        try edit { transaction in
            for key in 0..<count where key % 20 != 0 {
                _ = try withUnsafeBytes(of: key.bigEndian) { key throws in
                    try transaction.treeDelete(tree, key, derived: false)
                }
            }
        }
        try store.checkpoint()
        let reader = try store.beginRead()
        defer { reader.release() }
        let log = store.coordinator.log.segments
        for _ in 0..<nth { _ = try store.compactStep(movingAtMost: 1 << 18) }
        Failpoint.script.death = moment
        do {
            _ = try store.compactStep(movingAtMost: 1 << 18)
            throw Failure("the moment did not come")
        } catch StorageError.closed {}
        let other = store.twin()
        for isTakenOver in [false, true] {
            if isTakenOver { try other.beginWrite().rollback() }
            for report in [try StoreCheck.run(reader), try other.check()] where !report.isSound {
                throw Failure(
                    "unsound, taken over: \(isTakenOver): \(report.problems.prefix(2))")
            }
        }
        while try other.compactStep(movingAtMost: 1 << 18).hasMore {}
        guard store.coordinator.log.segments != log else { throw Failure("the log was not moved") }
        guard try other.check().isSound, try StoreCheck.run(reader).isSound else {
            throw Failure("unsound at the end")
        }
    }

    private final class Flag: Sendable {
        private let isRaised = Atomic<Bool>(false)

        func raise() { isRaised.store(true, ordering: .releasing) }
        func wait() { while !isRaised.load(ordering: .acquiring) { usleep(100) } }
    }

    private final class Held {
        var snapshot: Snapshot?

        func look(_ store: Store) throws {
            let snapshot = try store.beginRead()
            self.snapshot = snapshot
            let newest = store.coordinator.published
            let isDurable =
                newest.version <= store.coordinator.durableVersion
                || newest.durableLog >= newest.log.position
            guard isDurable || newest.version != snapshot.version else {
                throw Failure("version \(snapshot.version) is shown, but not durable")
            }
        }
    }

    /// Runs the body, and the action in it when the moment comes for the nth time.
    private static func at<Result>(
        _ moment: Failpoint, _ nth: Int, _ action: @escaping () throws -> Void,
        _ body: () throws -> Result
    ) throws -> Result {
        let state = Interruption(moment, nth, action)
        Failpoint.observer = { state.reach($0) }
        defer { Failpoint.observer = nil }
        let result = try body()
        if let failure = state.failure { throw failure }
        return result
    }

    private final class Interruption: @unchecked Sendable {
        let moment: Failpoint
        var countdown: Int
        let action: () throws -> Void
        var failure: (any Error)?
        private var isActing = false

        init(_ moment: Failpoint, _ nth: Int, _ action: @escaping () throws -> Void) {
            self.moment = moment
            countdown = nth
            self.action = action
        }

        func reach(_ reached: Failpoint) {
            guard reached == moment, !isActing else { return }
            countdown -= 1
            guard countdown == -1 else { return }
            isActing = true
            do { try action() } catch { failure = error }
            isActing = false
        }
    }
    #endif
}

#if TOFT_TRIALS
/// Moments, from any thread, in the order in which they were reached.
final class MomentList: Sendable {
    private let list = Mutex<[Failpoint]>([])
    var moments: [Failpoint] { list.withLock { $0 } }
    func append(_ moment: Failpoint) { list.withLock { $0.append(moment) } }
}
#endif
