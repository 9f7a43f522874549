internal import Glibc
internal import Synchronization
internal import ToftEngine
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// The work of the children until somebody kills them. One that finds a fault says so and ends by
/// itself.
enum KillRole: String, CaseIterable {
    case writer, reader, pinner, checker, author, migrator, creator

    /// The children of a round: their slots are their indices, and writers have the participants'
    /// numbers of the ledger.
    static let company: [KillRole] = [
        .writer, .writer, .writer, .reader, .pinner, .checker, .author, .author,
        .migrator,
    ]
    static let writers = 0..<3
    static let authors = 6..<8

    static func run(
        _ role: KillRole, _ path: String, _ witnessPath: String, _ slot: Int, _ seed: UInt64
    ) throws {
        alarm(280)
        var limits = rlimit(rlim_cur: 1 << 30, rlim_max: 1 << 30)
        setrlimit(__rlimit_resource_t(1), &limits)
        let witness = try Witness(witnessPath)
        witness.observe(as: slot)
        var child = KillChild(path: path, witness: witness, slot: slot, numbers: Seed(seed))
        do {
            switch role {
            case .writer: try child.write()
            case .reader: try child.read()
            case .pinner: try child.pin()
            case .checker: try child.check()
            case .author: try child.editAtRandom()
            case .migrator: try child.migrate()
            case .creator: try child.create()
            }
        } catch {
            print("\(role.rawValue) \(slot): \(error)")
            exit(1)
        }
    }
}

struct KillChild {
    let path: String
    let witness: Witness
    let slot: Int
    var numbers: Seed
    private let parent = getppid()

    init(path: String, witness: Witness, slot: Int, numbers: Seed) {
        self.path = path
        self.witness = witness
        self.slot = slot
        self.numbers = numbers
    }

    private func open() throws -> Store {
        if getppid() != parent { exit(0) }
        var configuration = StoreConfiguration(trial: path)
        configuration.dirtyLimit = 64 << 10
        // The first to attach compacts the file now and then, and may be killed doing it.
        let compacts = getpid() % 4 == 0
        configuration.compacts = { _, _ in compacts }
        return try Store.open(configuration)
    }

    /// Commits without end; rolls back, spills and comes back now and then.
    mutating func write() throws {
        while true {
            let store = try open()
            let count = 5 + numbers.below(30)
            // Two threads, so that commits share a write.
            let other = Companion(self, count: numbers.chance(50) ? count : 0)
            let thread = try PlatformThread(name: "companion") { other.run(store) }
            for _ in 0..<count {
                try commit(store)
                if numbers.chance(30) { usleep(UInt32(numbers.below(3_000))) }
            }
            thread.join()
            try other.outcome()
        }
    }

    /// A second thread of a writer.
    private final class Companion: Sendable {
        private let state: Mutex<(child: KillChild, failure: (any Error)?)>
        private let count: Int

        init(_ child: KillChild, count: Int) {
            var child = child
            child.numbers = Seed(child.numbers.next())
            state = Mutex((child, nil))
            self.count = count
        }

        func run(_ store: Store) {
            state.withLock { state in
                do {
                    for _ in 0..<count { try state.child.commit(store) }
                } catch {
                    state.failure = error
                }
            }
        }

        func outcome() throws {
            try state.withLock { state in
                if let failure = state.failure { throw failure }
            }
        }
    }

    private mutating func commit(_ store: Store) throws {
        let transaction = try store.beginWrite(timeoutMilliseconds: 60_000)
        let number = try Ledger.move(transaction, participant: slot, &numbers)
        if numbers.chance(8) { try Ledger.scribble(transaction, &numbers) }
        if numbers.chance(8) { try Ledger.restructure(transaction) }
        if numbers.chance(8) { return transaction.rollback() }
        witness.raise(slot, .began, to: UInt64(number))
        // A killed process loses nothing that it has committed, durable or not.
        let durabilities: [Durability] = [.immediate, .immediate, .group, .group, .deferred]
        _ = try transaction.commit(numbers.pick(durabilities) ?? .immediate)
        witness.raise(slot, .acknowledged, to: UInt64(number))
        witness.add(slot, .progress)
        if numbers.chance(5) { _ = try store.checkpoint() }
        if numbers.chance(8) { try compact(store) }
    }

    /// Steps of a compaction beside the others.
    private mutating func compact(_ store: Store) throws {
        for _ in 0..<(1 + numbers.below(4)) {
            let step = try store.compactStep(
                movingAtMost: 1 << 18, timeoutMilliseconds: 60_000)
            if !step.hasMore { return }
        }
    }

    /// Looks at one version after the other.
    mutating func read() throws {
        while true {
            let store = try open()
            var last: Version = 0
            for _ in 0..<(20 + numbers.below(100)) {
                let before = KillRole.writers.map { witness[$0, .acknowledged] }
                let snapshot = try store.beginRead()
                defer { snapshot.release() }
                guard snapshot.version >= last else {
                    throw Failure("version \(snapshot.version) after \(last)")
                }
                last = snapshot.version
                let copy = try Ledger.Copy(snapshot)
                guard copy.sum == Ledger.sum else {
                    throw Failure("the sum is \(copy.sum) in version \(last)")
                }
                for (participant, acknowledged) in zip(KillRole.writers, before) {
                    let found = try Ledger.counter(participant, snapshot)
                    guard found >= Int64(acknowledged) else {
                        throw Failure(
                            "version \(last) has commit \(found) of \(participant), "
                                + "\(acknowledged) was acknowledged before"
                        )
                    }
                }
                witness.add(slot, .progress)
            }
        }
    }

    /// Keeps a version for long, and checks that it stays unchanged.
    mutating func pin() throws {
        while true {
            let store = try open()
            let snapshot = try store.beginRead()
            witness[slot, .pinned] = snapshot.version.rawValue
            let before = try Ledger.Copy(snapshot).fingerprint
            for _ in 0..<(5 + numbers.below(60)) {
                usleep(UInt32(numbers.below(40_000)))
                guard try Ledger.Copy(snapshot).fingerprint == before else {
                    throw Failure("version \(snapshot.version) has changed")
                }
                witness.add(slot, .progress)
            }
            witness[slot, .pinned] = 0
            snapshot.release()
        }
    }

    /// Walks everything, again and again.
    mutating func check() throws {
        while true {
            let store = try open()
            for _ in 0..<(3 + numbers.below(10)) {
                let report = try store.check()
                guard report.isSound else {
                    throw Failure("unsound: " + report.problems.prefix(3).joined(separator: "; "))
                }
                witness.add(slot, .progress)
                usleep(UInt32(numbers.below(20_000)))
            }
        }
    }

    /// Random edits of the second database, whose versions prove their contents.
    mutating func editAtRandom() throws {
        while true {
            let store = try open()
            for _ in 0..<(3 + numbers.below(20)) {
                let promised = KillRole.authors.map { witness[$0, .acknowledged] }.max() ?? 0
                let transaction = try store.beginWrite(timeoutMilliseconds: 60_000)
                let number = try ProvenContent.edit(transaction, &numbers)
                guard number > promised else {
                    throw Failure("commit \(promised) was acknowledged, \(number - 1) is there")
                }
                if numbers.chance(8) {
                    transaction.rollback()
                    continue
                }
                let durabilities: [Durability] = [.immediate, .immediate, .group, .deferred]
                _ = try transaction.commit(numbers.pick(durabilities) ?? .immediate)
                witness.raise(slot, .acknowledged, to: number)
                witness.add(slot, .progress)
                if numbers.chance(10) { try compact(store) }
            }
        }
    }

    /// Makes the third database with its first content, migrates it, makes it again now and then.
    mutating func migrate() throws {
        while true {
            if getppid() != parent { exit(0) }
            if numbers.chance(10) {
                witness[slot, .acknowledged] = 0
                _ = try Database.delete(path)
            }
            witness[slot, .acknowledged] = try MigratedContent.advance(path)
            witness.add(slot, .progress)
        }
    }

    /// Makes a database that is not there yet.
    func create() throws {
        let store = try open()
        try Ledger.create(in: store)
        sleep(60)
    }
}
