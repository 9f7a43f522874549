internal import Glibc
internal import ToftStorage
internal import ToftTestKit

/// Two processes commit without end; a third is killed again and again: within a transaction, or whenever the moment comes.
///
/// Nothing that it reported as committed is lost, nobody waits long for its lock, its pins are given back, and every version that it
/// leaves is whole.
enum KillTrial {
    private static let victim = 2
    private static let patienceNanoseconds: Int64 = 1_000_000_000

    static func run(kills: Int, seed: UInt64) throws -> Bool {
        print("kills, seed \(seed)")
        var numbers = Seed(seed)
        return try withTemporaryDatabase { database in
            let store = try database.open()
            try Ledger.create(in: store)
            let others = try (0..<2).map { try ChildProcess(Trials.executable, ["endless", database.path, "\($0)"]) }
            var tally = Tally()
            for round in 0..<kills {
                try killOne(inTransaction: round % 2 == 0, database.path, store, &numbers, &tally)
            }
            others.forEach { $0.kill(SIGTERM) }
            let codes = others.map { $0.wait() }
            let snapshot = try store.beginRead()
            let copy = try Ledger.Copy(snapshot)
            let committed = try (0..<3).map { try Ledger.counter($0, snapshot) }
            snapshot.release()
            let pins = try store.coordinator.pinnedVersions().filter { $0 != store.latestVersion }
            print(
                "kills \(kills) (\(tally.inTransaction) in a transaction, \(tally.lost) lost commits, \(tally.takenBack) not reported but there), "
                    + "commits \(committed), longest wait \(tally.longestWait / 1_000_000) ms, pins left \(pins.count), sum \(copy.sum)")
            return tally.lost == 0 && tally.longestWait < patienceNanoseconds && pins.isEmpty && copy.sum == Ledger.sum
                && codes.allSatisfy { $0 == 0 } && committed[0] > 0 && committed[1] > 0
        }
    }

    private struct Tally {
        var inTransaction = 0
        var lost = 0
        var takenBack = 0
        var longestWait: Int64 = 0
    }

    private static func killOne(
        inTransaction: Bool, _ path: String, _ store: Store, _ numbers: inout Seed, _ tally: inout Tally
    ) throws {
        let child = try ChildProcess(Trials.executable, ["victim", path, "\(numbers.below(1 << 30))", inTransaction ? "pause" : "run"])
        var acknowledged: Int64 = 0
        if inTransaction {
            while let line = child.line(), line != "in transaction" { acknowledged = max(acknowledged, Int64(line) ?? 0) }
            tally.inTransaction += 1
        } else {
            _ = child.line()
            usleep(UInt32(1_000 + numbers.below(25_000)))
        }
        child.kill(SIGKILL)
        for line in child.lines() { acknowledged = max(acknowledged, Int64(line) ?? 0) }
        guard child.wait() == -SIGKILL else { throw Failure("the victim ended by itself") }
        let before = MonotonicClock.nanoseconds
        let transaction = try store.beginWrite(timeoutMilliseconds: 10_000)
        tally.longestWait = max(tally.longestWait, MonotonicClock.nanoseconds - before)
        let counted = try Ledger.counter(victim, transaction.view)
        if counted < acknowledged { tally.lost += 1 }
        if counted > acknowledged { tally.takenBack += 1 }
        let copy = try Ledger.Copy(transaction.view)
        transaction.rollback()
        guard copy.sum == Ledger.sum else { throw Failure("the sum is \(copy.sum) after a kill") }
    }

    /// Commits until it is told to end.
    static func endless(_ path: String, _ member: Int) throws {
        alarm(280)
        signal(SIGTERM) { _ in exitSoon.pointee = 1 }
        let store = try Store.open(StoreConfiguration(location: .file(path: path)))
        var numbers = Seed(UInt64(member))
        while exitSoon.pointee == 0 {
            let before = MonotonicClock.nanoseconds
            let transaction = try store.beginWrite(timeoutMilliseconds: 20_000)
            let wait = MonotonicClock.nanoseconds - before
            guard wait < 2 * patienceNanoseconds else { throw Failure("waited \(wait / 1_000_000) ms") }
            _ = try Ledger.move(transaction, member: member, &numbers)
            _ = try transaction.commit()
        }
    }

    /// Keeps a pin, commits and says so; with `pause`, stops in the middle of a transaction after a few.
    static func doomed(_ path: String, _ seed: UInt64, pause: Bool) throws {
        alarm(60)
        let store = try Store.open(StoreConfiguration(location: .file(path: path)))
        let pinned = try store.beginRead()
        var numbers = Seed(seed)
        say("0")
        for round in 0... {
            let transaction = try store.beginWrite(timeoutMilliseconds: 20_000)
            let number = try Ledger.move(transaction, member: victim, &numbers)
            if pause, round == 3 {
                say("in transaction")
                sleep(60)
            }
            _ = try transaction.commit()
            say("\(number)")
        }
        pinned.release()
    }

    /// Prints at once: what a killed process had not written is gone.
    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(1, bytes, bytes.count)
    }
}

/// Set by the signal that asks a process to end.
private nonisolated(unsafe) let exitSoon = {
    let word = UnsafeMutablePointer<sig_atomic_t>.allocate(capacity: 1)
    word.initialize(to: 0)
    return word
}()
