internal import Glibc
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// Every operation of every scenario fails once, or from then on, with each error that it may have.
///
/// Afterwards the error was a typed one; the database is as it was before, or poisoned; when all is
/// well again, and after a power failure, it holds the last acknowledged commit, or the one whose
/// outcome was reported as unknown; and it can be written.
enum FaultTrials {
    private struct Scenario: Sendable {
        let name: String
        var dirtyLimit = 48 << 20
        /// Runs on a database that has had one commit.
        let body: @Sendable (RecordedDatabase) throws -> Void
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
        Scenario(name: "close") { $0.close() },
        Scenario(name: "dropped tree") { try $0.commit { edit in try edit.dropTree(18) } },
    ]

    private struct Case {
        var fault: FaultFile.Fault
        var afterFailure: FragileFile.AfterFailure
    }

    /// With a limit it ends as soon as so many cases have gone wrong.
    static func run(stride step: Int, violationLimit: Int = .max) throws -> Bool {
        var cases = 0
        var violations: [String] = []
        var outcomes: [String: Int] = [:]
        for scenario in scenarios {
            let operations = try operationsOf(scenario)
            for (number, fault) in faults(for: operations).enumerated()
            where number % step == 0 && violations.count < violationLimit {
                cases += 1
                do {
                    outcomes[try attempt(scenario, fault), default: 0] += 1
                } catch {
                    violations.append(
                        "\(scenario.name), \(fault) (\(operations[fault.fault.index].rawValue)): "
                            + "\(error)"
                    )
                }
            }
        }
        print("cases \(cases)")
        for violation in violations.prefix(20) { print("VIOLATION \(violation)") }
        print(
            "injected faults \(cases) (\(violations.count) bad), \(scenarios.count) scenarios, "
                + "outcomes \(outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })"
        )
        return violations.isEmpty
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
            let parts = operation == .write || operation == .writeDurably ? [0, 3, 8] : [0]
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
        let database = try RecordedDatabase(on: file, dirtyLimit: scenario.dirtyLimit)
        try setUp(database)
        return (file, database)
    }

    // MARK: One case

    private static func attempt(_ scenario: Scenario, _ fault: Case) throws -> String {
        let (file, database) = try start(scenario, fault.afterFailure)
        file.plan(fault.fault, after: file.operations.count)
        var failure: StorageError?
        do {
            try scenario.body(database)
        } catch let error as StorageError {
            failure = error
        }
        let outcome = try lookAround(database, failure, fault.afterFailure)
        database.close()
        file.repair()
        var allowed = [database.canonical]
        if case .commitOutcomeUnknown = failure { allowed.append(database.lastTried.canonical()) }
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
        _ afterFailure: FragileFile.AfterFailure
    ) throws -> String {
        guard let store = try? database.openStore() else {
            return failure == nil ? "harmless" : "not opened"
        }
        (database.file.base as? FaultFile)?.repair()
        try read(
            store, database,
            mayBeDamaged: store.coordinator.isPoisoned && afterFailure == .cacheForgetsThem)
        if store.coordinator.isPoisoned {
            guard case .commitOutcomeUnknown = failure else {
                throw Failure("poisoned, but reported as \(String(describing: failure))")
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
        try database.commit { edit in try edit.put(17, [200], [1]) }
        return failure == nil ? "harmless" : "failed cleanly"
    }

    /// The power fails while the next one recovers from a failed sync: what the cache shows, and
    /// the disk does not have, was of no use.
    private static func crashRecovery(
        of file: FaultFile, _ fragile: FragileFile, _ allowed: [[UInt8]]
    ) throws {
        let recorder = RecordingFile(file)
        let before = [PageContent](cutting: fragile.device)
        try withExtendedLifetime(Store.open(on: recorder, coordinator: try Coordinator.inMemory()))
        {}
        var limits = CrashImages.Limits.few
        limits.exhaustivePages = 2
        limits.randomSubsets = 2
        limits.singlePages = 2
        limits.lyingSubsets = 0
        var images = CrashImages(of: recorder.events, from: before, seed: 1, limits: limits) {
            image throws in
            guard image.model != .processDeath else { return }
            try expect(
                allowed, on: try MemoryFile(content: image.pages.flatMap(\.bytes)),
                "after a power failure while it recovered")
        }
        try images.enumerate()
    }

    /// Where a failed sync has taken pages of logged commits from the cache, a reader may find them
    /// damaged, but sees nothing else.
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
