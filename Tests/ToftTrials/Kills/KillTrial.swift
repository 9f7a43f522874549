// Tests: Recovery.swift, Failpoint.swift, Store+Takeover.swift
internal import Glibc
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// Three writers, two readers, one of them with long pins, one that walks everything, and two that
/// edit a second database at random; each is killed again and again, or stopped and woken: at any
/// time, or at a named moment, holding every lock.
///
/// Nothing acknowledged is lost, every visible version is whole and durable, a pinned version stays
/// unchanged, the dead hold nothing up. Now and then all are killed at once, so that the next ones
/// must recover, and are killed doing that.
final class KillTrial {
    private let path: String
    /// The database of the random edits.
    private let randomPath: String
    private let migratedPath: String
    private let directory: String
    private let witness: Witness
    private let witnessPath: String
    private var numbers: Seed
    private var children: [ChildProcess?] = Array(repeating: nil, count: KillRole.company.count)
    private var tally = KillTally()
    /// Open in some of the rounds, so that the parent is a participant too.
    private var store: Store?
    /// Kills to be made; more, where chance has left a moment out.
    private var goal: Int
    private let floor: Int
    /// Whether moments that chance has left out are looked for.
    private var isSearching = false

    private static let roundKills = 20
    private static let fileLimit: UInt64 = 64 << 20
    private static let creatorSlot = 9

    /// The moments at which writers, readers, the first to attach, those who take over, the last to
    /// leave and creators may be killed.
    private static let writing: [Failpoint] = [
        .joined, .writerTaken, .transactionBegun, .spilled, .recordKept, .pagesWritten, .logWritten,
        .pagesSynced, .metaWritten, .durableStored,
        .markerWritten, .published, .writerLeaving, .checkpointAdopted, .checkpointPinned,
        .checkpointSynced, .checkpointMetaWritten, .fileTruncated,
    ]
    private static let reading: [Failpoint] = [.joined, .versionRead, .pinStored]
    private static let attaching: [Failpoint] = [
        .attachTaken, .recoveryRead, .recoveryReplayed, .recoverySynced, .recoveryRenewed, .opened,
    ]
    private static let takingOver: [Failpoint] = [
        .checkpointTaken, .takeoverBegun, .takeoverSynced, .takeoverPublished, .checkpointLeaving,
    ]
    private static let leaving: [Failpoint] = [
        .leavingLast, .cleanWritten, .compactionWritten, .compactionDurable,
    ]
    private static let creating: [Failpoint] = [
        .creationWritten, .creationSynced, .creationNamed, .creationDurable,
    ]

    private init(_ directory: String, goal: Int, seed: UInt64) throws {
        self.directory = directory
        self.goal = goal
        floor = Failpoint.isCompiledIn && goal >= 1_000 ? (goal >= 10_000 ? 20 : 5) : 0
        path = directory + "/test.toft"
        randomPath = directory + "/random.toft"
        migratedPath = directory + "/migrated.toft"
        witnessPath = directory + "/witness"
        witness = try Witness(witnessPath)
        numbers = Seed(seed)
    }

    static func run(kills: Int, seed: UInt64, isEncrypted: Bool = false) throws -> Bool {
        print("kills, seed \(seed)\(isEncrypted ? ", encrypted" : "")")
        if isEncrypted { StoreConfiguration.encryptTrials() }
        return try withTemporaryDatabase { database in
            try Ledger.create(in: try database.open())
            let trial = try KillTrial(database.directory, goal: kills, seed: seed)
            let start = MonotonicClock.nanoseconds
            while trial.tally.problems.isEmpty,
                trial.tally.kills < trial.goal || trial.goesOn(from: kills)
            {
                do { try trial.round() } catch { trial.tally.problems.append("\(error)") }
            }
            trial.store = nil
            for slot in trial.children.indices { trial.children[slot] = nil }
            trial.tally.describe(trial.moments)
            print("\(Int((MonotonicClock.nanoseconds - start) / 1_000_000_000)) s")
            return trial.isPassed
        }
    }

    private var moments: [Failpoint] {
        Self.creating + Self.attaching + Self.leaving + Self.reading + Self.takingOver
            + Self.writing.dropFirst()
    }

    /// Moments at which too few have died.
    private var missed: [Failpoint] { moments.filter { tally.byMoment[$0, default: 0] < floor } }

    /// Raises the goal by a few kills if moments are missed, up to twice the given number.
    private func goesOn(from asked: Int) -> Bool {
        guard !missed.isEmpty, goal < 2 * asked else { return false }
        goal += 50
        isSearching = true
        return true
    }

    private var isPassed: Bool {
        if !missed.isEmpty { print("killed less than \(floor) times at: \(missed)") }
        if !tally.isPatient { print("the write lock came late") }
        return tally.problems.isEmpty && tally.isPatient && missed.isEmpty && tally.kills >= goal
    }

    // MARK: A round

    /// All come, are killed one by one, then all at once; then everything is looked at.
    private func round() throws {
        // The first to attach is one of the children only if the parent is not attached before
        // them.
        let isMember =
            numbers.chance(50) && !(isSearching && missed.contains(where: Self.attaching.contains))
        if isMember { store = try Store.open(StoreConfiguration(trial: path)) }
        for slot in children.indices {
            try start(slot, dyingAt: isMember ? nil : rarest(of: Self.attaching))
        }
        if !isMember { try buryTheDead(atMost: 6, within: 1_000) }
        for number in 0..<Self.roundKills where tally.problems.isEmpty && tally.kills < goal {
            switch number {
            case 3, 9, 15: try killWhoTakesOver()
            case 4, 13: try killWhoCreates()
            case 8: try stopOne()
            default: try killOne()
            }
        }
        try endRound()
    }

    private func endRound() throws {
        store = nil
        if numbers.chance(20) { try killInARow() }
        for slot in children.indices.dropFirst() { try end(slot) }
        if let moment = rarest(of: Self.leaving), children[0] != nil {
            // Alone now: the next time that it leaves it is the last.
            witness.wish(0, moment, signal: SIGKILL, patience: 0)
            _ = awaitWish(of: [0], milliseconds: 1_500)
        }
        try end(0)
        // Otherwise the next ones find the file as the dead have left it.
        guard tally.problems.isEmpty, numbers.chance(40) else { return }
        let store = try Store.open(StoreConfiguration(trial: path))
        try look(through: store, after: nil)
        let report = try store.check()
        if !report.isSound {
            tally.problems.append("unsound after a round: \(report.problems.prefix(3))")
        }
        try lookAtRandomEdits()
        try lookAtMigrations()
        let names = TemporaryDirectory.names(in: directory).filter {
            !["test.toft", "test.toft.lock", "random.toft", "random.toft.lock", "witness"]
                .contains($0) && !$0.hasPrefix("migrated.toft") && !$0.hasPrefix(".migrated.toft.")
        }
        if !names.isEmpty { tally.problems.append("left behind: \(names)") }
    }

    private func start(_ slot: Int, dyingAt moment: Failpoint? = nil) throws {
        witness.renew(slot)
        if let moment { witness.wish(slot, moment, signal: SIGKILL, patience: 0) }
        let role = KillRole.company[slot]
        children[slot] = try ChildProcess(
            Trials.executable,
            [
                "child", role.rawValue,
                role == .author ? randomPath : role == .migrator ? migratedPath : path,
                witnessPath,
                "\(slot)", "\(numbers.below(1 << 30))",
            ])
    }

    private func rarest(of moments: [Failpoint]) -> Failpoint? {
        guard Failpoint.isCompiledIn else { return nil }
        let fewest = moments.map { tally.byMoment[$0, default: 0] }.min() ?? 0
        return numbers.pick(moments.filter { tally.byMoment[$0, default: 0] == fewest })
    }

    // MARK: Kills

    private func killOne() throws {
        // Writers have most of the moments.
        let slot =
            numbers.chance(70)
            ? numbers.below(KillRole.writers.count) : numbers.below(children.count)
        let isReader = ![.writer, .author, .migrator].contains(KillRole.company[slot])
        if numbers.chance(75), let moment = rarest(of: isReader ? Self.reading : Self.writing) {
            witness.wish(slot, moment, signal: SIGKILL, patience: numbers.below(4))
            if awaitWish(of: [slot], milliseconds: 150) != nil { return try replace(slot) }
        }
        usleep(UInt32(numbers.below(40_000)))
        children[slot]?.kill(SIGKILL)
        try replace(slot)
    }

    /// One dies with the write lock in its hands, and its successor dies too.
    private func killWhoTakesOver() throws {
        guard let moment = rarest(of: Self.takingOver) else { return try killOne() }
        let victim = numbers.below(KillRole.writers.count)
        let heirs = KillRole.writers.filter { $0 != victim }
        witness.wish(
            victim, numbers.pick([.metaWritten, .durableStored]) ?? .metaWritten, signal: SIGKILL,
            patience: numbers.below(3))
        guard
            awaitWish(
                of: [victim], milliseconds: 300,
                arming: {
                    for heir in heirs {
                        self.witness.wish(heir, moment, signal: SIGKILL, patience: 0)
                    }
                }) != nil
        else { return try killOne() }
        let heir = awaitWish(of: heirs, milliseconds: 300)
        for heir in heirs { witness[heir, .wish] = 0 }
        try replace(victim)
        for slot in heirs where slot == heir || witness[slot, .fulfilled] == 1 { try replace(slot) }
    }

    /// One dies with an unpublished meta written, the next in the middle of its own commit; then
    /// all are dead.
    private func killInARow() throws {
        guard Failpoint.isCompiledIn else { return }
        let second =
            numbers.pick([Failpoint.spilled, .pagesWritten, .pagesSynced]) ?? .pagesWritten
        witness.wish(0, .metaWritten, signal: SIGKILL, patience: 0)
        _ = awaitWish(
            of: [0], milliseconds: 300,
            arming: {
                for heir in [1, 2] { self.witness.wish(heir, second, signal: SIGKILL, patience: 0) }
            })
        _ = awaitWish(of: [1, 2], milliseconds: 300)
        for slot in children.indices { try end(slot) }
    }

    private func killWhoCreates() throws {
        guard let moment = rarest(of: Self.creating) else { return }
        let new = directory + "/new.toft"
        let slot = Self.creatorSlot
        witness.renew(slot)
        // Two files are made: the database, and its lock file, which no crash has to leave.
        witness.wish(
            slot, moment, signal: SIGKILL,
            patience: moment == .creationDurable ? 0 : numbers.below(2))
        let child = try ChildProcess(
            Trials.executable,
            ["child", KillRole.creator.rawValue, new, witnessPath, "\(slot)", "1"])
        if awaitWish(of: [slot], milliseconds: 2_000) == nil { child.kill(SIGKILL) }
        try expectKilled(child, slot)
        let store = try Store.open(StoreConfiguration(trial: new))
        let report = try store.check()
        if !report.isSound {
            tally.problems.append("unsound after a creation that was killed at \(moment)")
        }
        for name in TemporaryDirectory.names(in: directory)
        where name.hasPrefix(".new.toft.") && name.hasSuffix(".new") {
            tally.problems.append("\(name) is left of a creation that was killed at \(moment)")
        }
        unlink(new)
        unlink(new + ".lock")
    }

    /// Stops one, at a moment or at any time, and kills another or wakes it.
    private func stopOne() throws {
        tally.stops += 1
        let slot = numbers.below(children.count)
        let moments = KillRole.company[slot] == .writer ? Self.writing : Self.reading
        if let moment = numbers.pick(moments), Failpoint.isCompiledIn {
            witness.wish(slot, moment, signal: SIGSTOP, patience: 0)
            _ = awaitWish(of: [slot], milliseconds: 150, isDeath: false)
            witness[slot, .wish] = 0
            witness[slot, .fulfilled] = 0
        }
        children[slot]?.kill(SIGSTOP)
        usleep(UInt32(100_000 + numbers.below(numbers.chance(10) ? 2_000_000 : 200_000)))
        if numbers.chance(50) {
            children[slot]?.kill(SIGKILL)
            try replace(slot)
        } else {
            children[slot]?.kill(SIGCONT)
        }
    }

    /// Waits until one of them has fulfilled its wish. `arming` is called as soon as that has
    /// happened.
    private func awaitWish(
        of slots: [Int], milliseconds: Int, isDeath: Bool = true, arming: () -> Void = {}
    ) -> Int? {
        let deadline = Deadline(timeoutMilliseconds: milliseconds)
        while !deadline.hasPassed {
            if let slot = slots.first(where: { witness[$0, .fulfilled] == 1 }) {
                arming()
                return slot
            }
            usleep(300)
        }
        for slot in slots { witness[slot, .wish] = 0 }
        return slots.first { witness[$0, .fulfilled] == 1 }
    }

    /// In a round whose beginning is not watched, one after the other dies while attaching.
    private func buryTheDead(atMost count: Int, within milliseconds: Int) throws {
        let end = tally.kills + count
        let deadline = Deadline(timeoutMilliseconds: milliseconds)
        while !deadline.hasPassed, tally.kills < end, Failpoint.isCompiledIn {
            for slot in children.indices where witness[slot, .fulfilled] == 1 {
                if let child = children[slot] { try expectKilled(child, slot) }
                try start(slot, dyingAt: rarest(of: Self.attaching))
            }
            usleep(1_000)
        }
        for slot in children.indices { witness[slot, .wish] = 0 }
        usleep(1_000)
        for slot in children.indices where witness[slot, .fulfilled] == 1 {
            if let child = children[slot] { try expectKilled(child, slot) }
            try start(slot)
        }
    }

    // MARK: After a kill

    /// Examines the traces of a dead child, while it still exists as a zombie, and replaces it.
    private func replace(_ slot: Int) throws {
        guard let child = children[slot] else { return }
        child.awaitEnd()
        try look(
            through: try store ?? Store.open(StoreConfiguration(trial: path)),
            after: slot)
        try expectKilled(child, slot)
        try start(slot)
    }

    private func end(_ slot: Int) throws {
        guard let child = children[slot] else { return }
        child.kill(SIGKILL)
        try expectKilled(child, slot)
        children[slot] = nil
    }

    private func expectKilled(_ child: ChildProcess, _ slot: Int) throws {
        let lines = child.lines()
        let code = child.wait()
        tally.add(witness, slot)
        if code != -SIGKILL || !lines.isEmpty {
            tally.problems.append(
                "child \(slot) ended with \(code): \(lines.joined(separator: " "))")
        }
    }

    private func look(through store: Store, after victim: Int?) throws {
        let acknowledged = KillRole.writers.map { witness[$0, .acknowledged] }
        let before = MonotonicClock.nanoseconds
        let transaction = try store.beginWrite(timeoutMilliseconds: 20_000)
        defer { transaction.rollback() }
        tally.waits.append(MonotonicClock.nanoseconds - before)
        for (participant, acknowledged) in zip(KillRole.writers, acknowledged) {
            let found = UInt64(try Ledger.counter(participant, transaction.view))
            if found < acknowledged {
                tally.problems.append(
                    "commit \(acknowledged) of \(participant) was acknowledged, \(found) is there")
            }
            if participant == victim {
                if found > acknowledged { tally.unreported += 1 }
                if found > witness[participant, .began] {
                    tally.problems.append(
                        "commit \(found) of \(participant) is there and was never begun")
                }
            }
        }
        let sum = try Ledger.Copy(transaction.view).sum
        if sum != Ledger.sum { tally.problems.append("the sum is \(sum)") }
        try lookAtPins(store, victim)
        let size = try store.facts().fileSize
        tally.largestFile = max(tally.largestFile, size)
        if size > Self.fileLimit { tally.problems.append("the file has \(size) bytes") }
    }

    /// The second database is sound and has the content that its newest version proves, nothing
    /// acknowledged is missing.
    private func lookAtRandomEdits() throws {
        let store = try Store.open(StoreConfiguration(trial: randomPath))
        let promised = KillRole.authors.map { witness[$0, .acknowledged] }.max() ?? 0
        let snapshot = try store.beginRead()
        defer { snapshot.release() }
        _ = try ProvenContent.read(snapshot)
        let number = try UInt64(Content.commitNumber(snapshot))
        if number < promised {
            tally.problems.append(
                "random commit \(promised) was acknowledged, \(number) is there")
        }
        let report = try store.check()
        if !report.isSound {
            tally.problems.append("random edits, unsound: \(report.problems.prefix(3))")
        }
        tally.randomCommits = number
    }

    /// The third database is whole in one schema version, not before that which was acknowledged.
    private func lookAtMigrations() throws {
        let slot = KillRole.company.count - 1
        let promised = witness[slot, .acknowledged]
        let found = try MigratedContent.look(migratedPath)
        if found < promised {
            tally.problems.append("migration \(promised) was acknowledged, \(found) is there")
        }
    }

    /// The victim's pins were released when the transaction began.
    private func lookAtPins(_ store: Store, _ victim: Int?) throws {
        guard let victim, witness[victim, .pinned] != 0 else { return }
        let version = Version(witness[victim, .pinned])
        guard version != store.latestVersion else { return }
        // Another may have pinned it, too, but not for long.
        let deadline = Deadline(timeoutMilliseconds: 1_000)
        while try store.coordinator.pinnedVersions().contains(version), !deadline.hasPassed {
            usleep(1_000)
        }
        if try store.coordinator.pinnedVersions().contains(version) {
            tally.problems.append("version \(version) is still pinned by the dead")
        } else {
            tally.reclaimed += 1
        }
    }
}
