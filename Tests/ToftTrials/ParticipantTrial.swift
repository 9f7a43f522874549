// Tests: Coordinator.swift
internal import Glibc
internal import Synchronization
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// Three processes have one file open; each commits a thousand times while a thread of it watches
/// all commits and keeps a copy by their records.
///
/// Versions never decrease, money is neither made nor lost in any of them, and in the end all
/// copies equal the content of the file.
enum ParticipantTrial {
    static let participantCount = 3

    static func run(commits: Int) throws -> Bool {
        try withTemporaryDatabase { database in
            let start = MonotonicClock.nanoseconds
            let store = try database.open()
            try Ledger.create(in: store)
            let participants = try (0..<participantCount).map { number in
                try ChildProcess(
                    Trials.executable, ["participant", database.path, "\(number)", "\(commits)"])
            }
            let lines = participants.map { $0.lines().joined(separator: " ") }
            let codes = participants.map { $0.wait() }
            for (line, code) in zip(lines, codes) {
                print(code == 0 ? line : "\(line) ended with \(code)")
            }
            let snapshot = try store.beginRead()
            defer { snapshot.release() }
            let copy = try Ledger.Copy(snapshot)
            let counts = try (0..<participantCount).map { try Ledger.counter($0, snapshot) }
            let seconds = Double(MonotonicClock.nanoseconds - start) / 1e9
            print(
                "participants \(participantCount), commits \(counts), version \(snapshot.version), "
                    + "sum \(copy.sum), "
                    + "\(Int(Double(commits * participantCount) / seconds)) commits/s"
            )
            return codes.allSatisfy { $0 == 0 } && counts.allSatisfy { $0 == commits }
                && copy.sum == Ledger.sum
                && lines.allSatisfy {
                    $0.hasSuffix("fingerprint \(copy.fingerprint) version \(snapshot.version)")
                }
        }
    }

    /// One of the processes.
    static func participant(_ path: String, _ participant: Int, _ commits: Int) throws {
        alarm(280)
        let store = try Store.open(StoreConfiguration(location: .file(path: path)))
        let observer = Observer(store)
        let thread = try PlatformThread(name: "observer") {
            observer.run(until: Int64(commits * participantCount))
        }
        var numbers = Seed(UInt64(participant))
        for _ in 0..<commits {
            let transaction = try store.beginWrite(timeoutMilliseconds: 60_000)
            _ = try Ledger.move(transaction, participant: participant, &numbers)
            _ = try transaction.commit()
        }
        thread.join()
        print("participant \(participant): \(commits) commits,", try observer.outcome())
    }

    /// Watches versions come, on a thread of its own.
    private final class Observer: Sendable {
        private let store: Store
        private let result = Mutex<Result<String, any Error>>(.failure(Failure("did not end")))

        init(_ store: Store) { self.store = store }

        func outcome() throws -> String { try result.withLock { try $0.get() } }

        func run(until total: Int64) {
            let outcome = Result { try watch(until: total) }
            result.withLock { $0 = outcome }
            // The process may end when its observer has failed.
            if case .failure(let error) = outcome {
                print("observer: \(error)")
                exit(1)
            }
        }

        private func watch(until total: Int64) throws -> String {
            var snapshot = try store.beginRead()
            var copy = try Ledger.Copy(snapshot)
            var steps = 0
            var reloads = 0
            while try (0..<participantCount).reduce(0, { try $0 + Ledger.counter($1, snapshot) })
                < total
            {
                _ = store.waitForChange(after: snapshot.version, timeoutMilliseconds: 10_000)
                let next = try store.beginRead()
                guard next.version >= snapshot.version else {
                    throw Failure("version \(next.version) after \(snapshot.version)")
                }
                if let records = try next.records(after: snapshot.version) {
                    try copy.apply(records, next)
                } else {
                    copy = try Ledger.Copy(next)
                    reloads += 1
                }
                guard copy.sum == Ledger.sum else {
                    throw Failure("the sum is \(copy.sum) in version \(next.version)")
                }
                snapshot.release()
                snapshot = next
                steps += 1
            }
            guard copy == (try Ledger.Copy(snapshot)) else {
                throw Failure("the copy differs from the file")
            }
            defer { snapshot.release() }
            return
                "\(steps) steps, \(reloads) reloads, fingerprint \(copy.fingerprint) version "
                + "\(snapshot.version)"
        }
    }
}
