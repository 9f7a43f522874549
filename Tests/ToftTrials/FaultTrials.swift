// Tests: Commit.swift
internal import Glibc
internal import Synchronization
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// Every operation of every scenario fails once, or from then on, with each error that it may have.
/// The page cache and the disk after a failed sync are simulated here; `CallFaultTrials` covers the
/// kernel's possible answers to each system call.
///
/// Afterwards the error was a typed one; the database is as it was before, or poisoned; when all is
/// well again, and after a power failure, it holds the last acknowledged commit, or the one whose
/// outcome was reported as unknown; and it can be written.
enum FaultTrials {
    private struct Scenario: Sendable {
        let name: String
        var dirtyLimit = 48 << 20
        /// The log's first segment.
        var firstLogPages: UInt64 = 8
        /// Cases that are tried at most, evenly chosen.
        var caseLimit = Int.max
        /// Runs on a database that has had one commit.
        let body: @Sendable (RecordedDatabase) throws -> Void
    }

    /// The random workload of a seed.
    private static func random(_ seed: UInt64) -> Scenario {
        let workload = Workload.random(seed: seed)
        return Scenario(
            name: workload.name, dirtyLimit: workload.dirtyLimit,
            firstLogPages: workload.firstLogPages, caseLimit: 150
        ) { database in
            var numbers = Seed(seed)
            try workload.body(database, &numbers)
        }
    }

    private static let scenarios: [Scenario] = [
        Scenario(name: "small commit") { try $0.commit { edit in try edit.put(17, [1], [2, 3]) } },
        Scenario(name: "two commits") { database in
            try database.commit { edit in try edit.put(17, [1], [2, 3]) }
            try database.commit { edit in try edit.put(17, [2], [2, 3]) }
        },
        Scenario(name: "growing commit") { database in
            try database.commit { edit in
                for number in 0..<300 {
                    try edit.put(
                        17, [9, UInt8(number & 255), UInt8(number >> 8)],
                        [UInt8](repeating: 7, count: 300))
                }
            }
        },
        Scenario(name: "long value") {
            try $0.commit { edit in try edit.put(17, [1], [UInt8](repeating: 8, count: 90_000)) }
        },
        Scenario(name: "spilling commit", dirtyLimit: 64 << 10) { database in
            try database.commit { edit in
                for number in 0..<500 {
                    try edit.put(
                        17, [9, UInt8(number & 255), UInt8(number >> 8)],
                        [UInt8](repeating: 7, count: 200))
                }
            }
        },
        Scenario(name: "spilling rollback, then commit", dirtyLimit: 64 << 10) { database in
            try database.rollback { edit in
                for number in 0..<500 {
                    try edit.put(
                        17, [9, UInt8(number & 255), UInt8(number >> 8)],
                        [UInt8](repeating: 7, count: 200))
                }
            }
            try database.commit { edit in try edit.put(17, [1], [4]) }
        },
        Scenario(name: "reader and commit") { database in
            try database.pin()
            try database.commit { edit in try edit.put(17, [1], [5]) }
            try database.unpin()
        },
        Scenario(name: "close and open") { database in
            try database.reopen()
            try database.commit { edit in try edit.put(17, [1], [6]) }
        },
        Scenario(name: "close") { try $0.closeReporting() },
        Scenario(name: "logged commits") { database in
            for number in UInt8(0)..<4 { try database.commit { try $0.put(17, [number], [7]) } }
        },
        Scenario(name: "deferred, flush") { database in
            try database.commit { edit in try edit.put(17, [1], [1]) }
            try database.commit(.deferred) { edit in try edit.put(17, [2], [2]) }
            try database.commit(.deferred) { edit in try edit.put(17, [3], [3]) }
            try database.flush()
            try database.commit { edit in try edit.put(17, [4], [4]) }
        },
        Scenario(name: "deferred, immediate") { database in
            try database.commit { edit in try edit.put(17, [1], [1]) }
            try database.commit(.deferred) { edit in try edit.put(17, [2], [2]) }
            try database.commit { edit in try edit.put(17, [3], [3]) }
        },
        Scenario(name: "deferred, close") { database in
            try database.commit { edit in try edit.put(17, [1], [1]) }
            try database.commit(.deferred) { edit in try edit.put(17, [2], [2]) }
            try database.closeReporting()
        },
        Scenario(name: "deferred, reader, close") { database in
            try database.commit { edit in try edit.put(17, [1], [1]) }
            let snapshot = try database.openStore().beginRead()
            defer { snapshot.release() }
            try database.commit(.deferred) { edit in try edit.put(17, [2], [2]) }
            try database.closeReporting()
        },
        Scenario(name: "group commits") { database in
            for number in UInt8(0)..<3 {
                try database.commit(.group) { try $0.put(17, [number], [7]) }
            }
        },
        Scenario(name: "checkpoints") { database in
            for number in UInt8(0)..<3 {
                try database.commit(number == 1 ? .deferred : .immediate) { edit in
                    try edit.put(17, [number], [7])
                }
                try database.checkpoint()
            }
        },
        Scenario(name: "checkpoint beside a commit") { database in
            try database.commit { edit in try edit.put(17, [1], [1]) }
            let other = try database.openStore().twin()
            try database.interrupt(at: .pagesWritten, with: { _ = try other.checkpoint() }) {
                try database.commit { edit in try edit.put(17, [2], [2]) }
            }
        },
        Scenario(name: "log full", firstLogPages: 1) { database in
            for number in UInt8(0)..<10 {
                try database.commit { try $0.put(17, [number], [UInt8](repeating: 1, count: 600)) }
            }
        },
        Scenario(name: "log growth", firstLogPages: 2) { database in
            for number in UInt8(0)..<8 {
                try database.commit {
                    try $0.put(17, [number], [UInt8](repeating: 1, count: 2_500))
                }
            }
        },
        Scenario(name: "new tree") { database in
            try database.commit { edit in _ = try edit.makeTree() }
        },
        Scenario(name: "dropped tree") { try $0.commit { edit in try edit.dropTree(18) } },
    ]

    private struct Case {
        var fault: FaultFile.Fault
        var afterFailure: FragileFile.AfterFailure
        /// Operations before the first that is counted.
        var start = 0
    }

    /// Cases that a whole run has at least.
    static let floor = 12_000

    /// With a limit it ends after that many failed cases. With `pairs` each failing system call is
    /// followed by that many others while the file is opened again.
    static func run(stride step: Int, violationLimit: Int = .max, pairs: Int = 0) throws -> Bool {
        var tally = CallFaultTrials.Tally()
        try runFiles(stride: step, violationLimit: violationLimit, into: &tally)
        try groups(rounds: 20 / min(step, 20), into: &tally)
        try CallFaultTrials.run(
            stride: step, violationLimit: violationLimit, pairs: pairs, into: &tally)
        print("cases \(tally.cases)")
        for violation in tally.violations.prefix(20) { print("VIOLATION \(violation)") }
        for (name, count) in tally.byScenario { print("  \(name): \(count)") }
        for (name, count) in tally.byError.sorted(by: { $0.key < $1.key }) {
            print("  \(name): \(count)")
        }
        let outcomes = tally.outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        print(
            "injected faults \(tally.cases) (\(tally.violations.count) bad), "
                + "\(tally.byScenario.count) scenarios, outcomes \(outcomes)")
        if step == 1, violationLimit == .max, tally.cases < floor {
            print("VIOLATION only \(tally.cases) of \(floor) cases")
            return false
        }
        return tally.violations.isEmpty
    }

    /// Two threads commit as a group: when its one durable write fails, neither gets a success.
    private static func groups(rounds: Int, into tally: inout CallFaultTrials.Tally) throws {
        for round in 0..<rounds {
            tally.cases += 1
            do { try group() } catch { tally.violations.append("group \(round): \(error)") }
        }
        tally.byScenario.append(("group of two threads", rounds))
    }

    private static func group() throws {
        let ground = MemoryFile(name: "group")
        try Store.format(ground)
        let slow = SlowFile(ground)
        let file = FaultFile(slow)
        let store = try Store.open(on: file, coordinator: try Coordinator.inMemory())
        @Sendable func commit(_ number: UInt8) throws {
            let transaction = try store.beginWrite()
            if try !transaction.view.hasTree(Content.directory) {
                _ = try transaction.createOrderedTree()
            }
            try [number].withUnsafeBytes { bytes throws in
                try transaction.treePut(Content.directory, bytes, bytes, derived: false)
            }
            _ = try transaction.commit(.group)
        }
        try commit(0)
        try commit(1)
        let hasFailed = Mutex<Bool?>(nil)
        var other: PlatformThread?
        slow.meanwhile = {
            other = try PlatformThread(name: "second") {
                let failed: Bool
                do {
                    try commit(3)
                    failed = false
                } catch {
                    failed = true
                }
                hasFailed.withLock { $0 = failed }
            }
            // The other one joins the group that is being written.
            usleep(30_000)
            throw SystemError.io(operation: "pwritev2", path: "<test>", errno: EIO)
        }
        slow.failsAfterwards = true
        do {
            try commit(2)
            throw Failure("the leader was told that all is well")
        } catch StorageError.commitOutcomeUnknown {}
        other?.join()
        guard hasFailed.withLock({ $0 }) == true else {
            throw Failure("the other participant was told that all is well")
        }
        guard store.coordinator.isPoisoned else { throw Failure("not poisoned") }
    }

    private static func runFiles(
        stride step: Int, violationLimit: Int, into tally: inout CallFaultTrials.Tally
    ) throws {
        var cases = 0
        var violations: [String] = []
        var outcomes: [String: Int] = [:]
        for scenario in scenarios + (1...6).map(random) {
            let before = cases
            let operations = try operationsOf(scenario)
            let faults = faults(for: operations)
            let step = max(step, faults.count / scenario.caseLimit)
            for (number, fault) in faults.enumerated()
            where number % step == 0 && violations.count < violationLimit {
                cases += 1
                tally.byError[String("\(fault.fault.error)".prefix { $0 != "(" }), default: 0] += 1
                do {
                    outcomes[try attempt(scenario, fault), default: 0] += 1
                } catch {
                    violations.append(
                        "\(scenario.name), \(fault) (\(operations[fault.fault.index].rawValue)): "
                            + "\(error)"
                    )
                }
            }
            tally.byScenario.append((scenario.name, cases - before))
        }
        tally.cases += cases
        tally.violations += violations
        tally.outcomes = outcomes
    }

    private static func faults(for operations: [FaultFile.Operation]) -> [Case] {
        var cases: [Case] = []
        for (index, operation) in operations.enumerated() {
            var errors: [SystemError] = [
                .io(operation: operation.rawValue, path: "<test>", errno: EIO)
            ]
            if operation == .write || operation == .grow {
                errors.append(.diskFull(path: "<test>"))
            }
            if operation == .map { errors.append(.addressSpaceExhausted) }
            let parts = operation == .write || operation == .writeDurably ? [0, 1, 3, 7, 8] : [0]
            let lossy =
                operation == .sync || operation == .writeDurably
                ? FragileFile.AfterFailure.allCases : [.cacheKeepsThem]
            for error in errors {
                for isLasting in [false, true] {
                    for part in parts {
                        for after in lossy {
                            let fault = FaultFile.Fault(
                                index: index, isLasting: isLasting, writtenEighths: part,
                                error: error)
                            cases.append(Case(fault: fault, afterFailure: after))
                        }
                    }
                }
            }
        }
        return cases
    }

    private static func setUp(_ database: RecordedDatabase) throws {
        try database.commit { edit in
            let tree = try edit.makeTree()
            for number in 0..<100 {
                try edit.put(tree, [UInt8(number)], [UInt8](repeating: 1, count: 50))
            }
            let other = try edit.makeTree()
            for number in 0..<100 {
                try edit.put(other, [UInt8(number)], [UInt8](repeating: 2, count: 150))
            }
        }
    }

    private static func operationsOf(_ scenario: Scenario) throws -> [FaultFile.Operation] {
        let (file, database) = try start(scenario, .cacheKeepsThem)
        let before = file.operations.count
        try scenario.body(database)
        database.close()
        return Array(file.operations.dropFirst(before))
    }

    /// A database that has had its first commit, on a disk that is still well.
    private static func start(_ scenario: Scenario, _ after: FragileFile.AfterFailure) throws -> (
        FaultFile, RecordedDatabase
    ) {
        let ground = MemoryFile(name: "ground")
        try Store.format(ground)
        let file = FaultFile(try FragileFile(content: ground.content(), afterFailure: after))
        let database = try RecordedDatabase(
            on: file, dirtyLimit: scenario.dirtyLimit, firstLogPages: scenario.firstLogPages)
        try setUp(database)
        return (file, database)
    }

    // MARK: One case

    private static func attempt(_ scenario: Scenario, _ fault: Case) throws -> String {
        let (file, database) = try start(scenario, fault.afterFailure)
        var fault = fault
        fault.start = file.operations.count
        file.plan(fault.fault, after: fault.start)
        var failure: StorageError?
        do {
            try scenario.body(database)
        } catch let error as StorageError {
            failure = error
        }
        let outcome = try lookAround(database, failure, file.operations, fault)
        // Closing claims that all is durable, which it is not after a failed sync.
        let possible = database.possibleAfterFailedSync
        database.close()
        file.repair()
        var allowed = [database.canonical]
        if outcome == "poisoned" || outcome == "not opened" {
            allowed += possible
        } else if case .commitOutcomeUnknown = failure {
            allowed.append(database.lastTried.canonical())
        }
        guard let fragile = file.base as? FragileFile else { throw Failure("not fragile") }
        try expect(allowed, on: try MemoryFile(content: fragile.device), "after a power failure")
        if outcome == "poisoned" { try crashRecovery(of: file, fragile, allowed) }
        try expect(allowed, on: file, "reopened")
        try expect(
            nil, on: try MemoryFile(content: fragile.device), "after a power failure after that")
        return outcome
    }

    /// While the fault lasts, then without it: reading shows the last commit, and writing works
    /// unless a sync has failed.
    private static func lookAround(
        _ database: RecordedDatabase, _ failure: StorageError?,
        _ operations: [FaultFile.Operation], _ fault: Case
    ) throws -> String {
        guard let store = try? database.openStore() else {
            return failure == nil ? "harmless" : "not opened"
        }
        (database.file.base as? FaultFile)?.repair()
        try read(
            store, database,
            mayBeDamaged: store.coordinator.isPoisoned
                && fault.afterFailure == .cacheForgetsThem)
        if store.coordinator.isPoisoned {
            switch failure {
            case .commitOutcomeUnknown, .poisoned: break
            default: throw Failure("poisoned, but reported as \(String(describing: failure))")
            }
            do {
                _ = try store.beginWrite()
                throw Failure("written after a failed sync")
            } catch StorageError.poisoned {
                return "poisoned"
            }
        }
        if case .commitOutcomeUnknown = failure {
            throw Failure("a sync has failed, and the database is not poisoned")
        }
        let failed = fault.fault.index + fault.start
        if failure != nil, !fault.fault.isLasting, failed < operations.count,
            [.sync, .writeDurably].contains(operations[failed])
        {
            throw Failure(
                "a sync has failed, and only this was said: \(String(describing: failure))")
        }
        try database.commit { edit in try edit.put(17, [200], [1]) }
        return failure == nil ? "harmless" : "failed cleanly"
    }

    /// The power fails while the next one recovers from a failed sync: the content that only the
    /// cache shows was of no use.
    private static func crashRecovery(
        of file: FaultFile, _ fragile: FragileFile, _ allowed: [[UInt8]]
    ) throws {
        let recorder = RecordingFile(file)
        let before = [PageContent](cutting: fragile.device)
        let store = try Store.open(on: recorder, coordinator: try Coordinator.inMemory())
        let recovery = recorder.events
        withExtendedLifetime(store) {}
        var limits = CrashImages.Limits.few
        limits.exhaustivePages = 2
        limits.randomSubsets = 2
        limits.singlePages = 2
        limits.lyingSubsets = 0
        var images = CrashImages(of: recovery, from: before, seed: 1, limits: limits) {
            image throws in
            guard image.model != .processDeath else { return }
            try expect(
                allowed, on: try MemoryFile(content: image.pages.flatMap(\.bytes)),
                "after a power failure while it recovered")
        }
        try images.enumerate()
    }

    /// After a failed sync that has taken pages of logged commits from the cache, a reader may find
    /// them damaged, but sees nothing else.
    private static func read(_ store: Store, _ database: RecordedDatabase, mayBeDamaged: Bool)
        throws
    {
        do {
            let snapshot = try store.beginRead()
            defer { snapshot.release() }
            guard try Content.canonical(snapshot) == database.canonical else {
                throw Failure("a reader sees something else")
            }
        } catch StorageError.corrupt where mayBeDamaged {}
    }

    private static func expect(_ allowed: [[UInt8]]?, on file: any StorageFile, _ moment: String)
        throws
    {
        let kept = WrappedFile(file)
        do {
            let store = try Store.open(on: kept, coordinator: try Coordinator.inMemory())
            let snapshot = try store.beginRead()
            let found = try Content.canonical(snapshot)
            snapshot.release()
            guard allowed?.contains(found) != false else {
                throw Failure("another content \(moment)")
            }
            let report = try store.check()
            guard report.isSound else { throw Failure("unsound \(moment): \(report.problems)") }
            let transaction = try store.beginWrite()
            try [UInt8(201)].withUnsafeBytes { key throws in
                try transaction.treePut(17, key, key, derived: false)
            }
            _ = try transaction.commit()
        } catch let error as StorageError {
            throw Failure("\(moment): \(error)")
        }
    }
}
