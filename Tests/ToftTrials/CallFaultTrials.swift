// Tests: Store.swift
internal import CFaults
internal import Glibc
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// The fault trials for a real file and the kernel below it: every system call of every scenario
/// fails once, or from then on, with each error that it may have, is interrupted once or a thousand
/// times, or moves only a part of the bytes.
///
/// Afterwards: the error was a typed one that names the errno; the store can be used, or is
/// poisoned as documented; after closing no descriptor, lock or temporary file is left; opened
/// again, the file is intact, has the acknowledged content (or the one that was reported as
/// unknown), and can be written. `FaultTrials` covers the loss of the page cache.
enum CallFaultTrials {
    typealias Values = [UInt8: [UInt8]]

    /// The subject of one scenario, and the expected content of its file.
    final class Subject {
        let path: String
        var configuration: StoreConfiguration
        var store: Store?
        var snapshots: [Snapshot] = []
        /// The acknowledged values, including visible ones that are not yet durable.
        var values: Values
        /// The file's possible other contents, as the outcome was reported as unknown.
        var doubtful: [Values] = []

        init(_ directory: String, _ values: Values) {
            path = directory + "/a.toft"
            configuration = StoreConfiguration(location: .file(path: path))
            self.values = values
        }

        func open() throws { store = try Store.open(configuration) }

        func opened() throws -> Store {
            guard let store else { throw Failure("not open") }
            return store
        }

        func commit(
            _ new: Values, _ durability: Durability = .immediate, makingTree: Bool = false
        ) throws {
            let transaction = try opened().beginWrite(timeoutMilliseconds: 5_000)
            let next = values.merging(new) { $1 }
            do {
                try Self.write(new, in: transaction)
                if makingTree { _ = try transaction.createOrderedTree() }
                _ = try transaction.commit(durability)
                if durability == .deferred { doubtful.append(values) } else { doubtful = [] }
                values = next
            } catch {
                transaction.rollback()
                if case StorageError.commitOutcomeUnknown = error { doubtful.append(next) }
                throw error
            }
        }

        func flush() throws {
            try opened().flush()
            doubtful = []
        }

        static func write(_ new: Values, in transaction: WriteTransaction) throws {
            if try !transaction.view.hasTree(Content.directory) {
                _ = try transaction.createOrderedTree()
            }
            for (key, value) in new.sorted(by: { $0.key < $1.key }) {
                try [key].withUnsafeBytes { key throws in
                    try value.withUnsafeBytes { value throws in
                        try transaction.treePut(Content.directory, key, value, derived: false)
                    }
                }
            }
        }

        static func read(_ snapshot: Snapshot) throws -> Values {
            guard try snapshot.hasTree(Content.directory) else { return [:] }
            let tree = try snapshot.orderedTree(Content.directory)
            var values: Values = [:]
            for key in UInt8.min...UInt8.max {
                try [key].withUnsafeBytes { bytes throws in
                    if let value = try tree.value(forKey: bytes) { values[key] = Array(value) }
                }
            }
            return values
        }

        func read() throws -> Values {
            let snapshot = try opened().beginRead()
            defer { snapshot.release() }
            return try Self.read(snapshot)
        }

        func close() throws {
            for snapshot in snapshots { snapshot.release() }
            snapshots = []
            let closing = store
            store = nil
            try closing?.close()
        }
    }

    struct Scenario: Sendable {
        let name: String
        /// Whether there is a file before.
        var isNew = false
        /// Whether that file was left by a process that died.
        var isUnclean = false
        var dirtyLimit = StoreLimit.dirtyBytes
        var firstLogPages: UInt64 = 8
        /// Whether the store is open before the calls are counted.
        var isOpen = true
        var before: @Sendable (Subject) throws -> Void = { _ in }
        let body: @Sendable (Subject) throws -> Void
    }

    private static func filled(_ byte: UInt8, _ count: Int) -> [UInt8] {
        [UInt8](repeating: byte, count: count)
    }

    static let scenarios: [Scenario] = [
        Scenario(name: "open new", isNew: true, isOpen: false) { try $0.open() },
        Scenario(name: "open existing", isOpen: false) { try $0.open() },
        Scenario(name: "open for reading", isOpen: false) { subject in
            subject.configuration.isReadOnly = true
            defer { subject.configuration.isReadOnly = false }
            try subject.open()
            _ = try subject.read()
        },
        Scenario(name: "recover", isUnclean: true, isOpen: false) { try $0.open() },
        Scenario(
            name: "small commit", before: { try $0.commit([9: [9]]) },
            body: { try $0.commit([1: [2, 3]]) }),
        Scenario(name: "first commit") { try $0.commit([1: [2, 3]]) },
        Scenario(
            name: "growing commit", before: { try $0.commit([9: [9]]) },
            body: { subject in
                var new: Values = [:]
                for key in UInt8(0)..<100 { new[key] = filled(key, 3_000) }
                try subject.commit(new)
            }),
        Scenario(
            name: "large object", before: { try $0.commit([9: [9]]) },
            body: { try $0.commit([1: filled(5, 400_000)]) }),
        Scenario(name: "spill", dirtyLimit: 64 << 10, before: { try $0.commit([9: [9]]) }) {
            subject in
            var new: Values = [:]
            for key in UInt8(0)..<200 { new[key] = filled(key, 900) }
            try subject.commit(new)
        },
        Scenario(name: "change of structure") { try $0.commit([1: [2]], makingTree: true) },
        Scenario(name: "deferred, flush", before: { try $0.commit([9: [9]]) }) { subject in
            try subject.commit([1: [1]], .deferred)
            try subject.commit([2: [2]], .deferred)
            try subject.flush()
        },
        Scenario(name: "deferred, close", before: { try $0.commit([9: [9]]) }) { subject in
            try subject.commit([1: [1]], .deferred)
            try subject.close()
            subject.doubtful = []
        },
        Scenario(name: "deferred, immediate", before: { try $0.commit([9: [9]]) }) { subject in
            try subject.commit([1: [1]], .deferred)
            try subject.commit([2: [2]])
        },
        Scenario(name: "group", before: { try $0.commit([9: [9]]) }) { subject in
            try subject.commit([1: [1]], .group)
            try subject.commit([2: [2]], .group)
        },
        Scenario(
            name: "checkpoint",
            before: { subject in
                try subject.commit([9: [9]])
                try subject.commit([8: [9]])
            },
            body: { try $0.opened().checkpoint() }),
        Scenario(
            name: "log growth", firstLogPages: 1,
            before: { subject in for _ in 0..<4 { try subject.commit([9: filled(9, 600)]) } },
            body: { subject in
                for number in UInt8(0)..<6 { try subject.commit([number: filled(1, 700)]) }
            }),
        Scenario(
            name: "rollback", before: { try $0.commit([9: [9]]) },
            body: { subject in
                let transaction = try subject.opened().beginWrite(timeoutMilliseconds: 5_000)
                defer { transaction.rollback() }
                try Subject.write([1: filled(1, 500)], in: transaction)
            }),
        Scenario(name: "reader", before: { try $0.commit([9: [9]]) }) { subject in
            subject.snapshots.append(try subject.opened().beginRead())
        },
        Scenario(
            name: "refresh",
            before: { subject in
                try subject.commit([9: [9]])
                subject.snapshots.append(try subject.opened().beginRead())
                try subject.commit([8: filled(1, 100_000)])
            },
            body: { subject in
                let snapshot = try subject.opened().beginRead()
                defer { snapshot.release() }
                guard try Subject.read(snapshot) == subject.values else {
                    throw Failure("the newest version shows something else")
                }
            }),
        Scenario(name: "close", before: { try $0.commit([9: [9]]) }) { try $0.close() },
        Scenario(name: "takeover", before: { try $0.commit([9: [9]]) }) { subject in
            #if TOFT_TRIALS
            // Another writer dies when its record is written: it is not published, so it does not
            // exist.
            let dying = try subject.opened().twin().beginWrite(timeoutMilliseconds: 5_000)
            try Subject.write([1: [1]], in: dying)
            Failpoint.script.death = .logWritten
            defer { Failpoint.script.death = nil }
            do {
                _ = try dying.commit()
            } catch StorageError.commitOutcomeUnknown where !subject.isPoisoned {}
            #endif
            try subject.commit([2: [2]])
        },
    ]

    // MARK: Faults

    struct Fault: CustomStringConvertible {
        var index: Int
        var error: Int32 = 0
        /// Failing calls in a row; 0: all from then on.
        var times = 1
        var part = fault_whole

        var name: String {
            if part != fault_whole {
                return ["nothing done", "one byte done", "all but one byte done"][
                    Int(part.rawValue)]
            }
            return (CallFaultTrials.names[error] ?? "errno \(error)")
                + (times == 1_000 ? " x1000" : "")
        }
        var description: String {
            "call \(index), \(name), \(times == 0 ? "lasting" : "times \(times)")"
        }
    }

    static let names: [Int32: String] = [
        EIO: "EIO", ENOSPC: "ENOSPC", EDQUOT: "EDQUOT", EINTR: "EINTR", EAGAIN: "EAGAIN",
        ENOMEM: "ENOMEM", EMFILE: "EMFILE", EACCES: "EACCES", EROFS: "EROFS", ESTALE: "ESTALE",
        ENOLCK: "ENOLCK",
    ]

    private static func errors(of call: fault_call) -> [Int32] {
        switch call {
        case fault_open: [EMFILE, EACCES, EROFS, ESTALE, EIO, EINTR]
        case fault_read: [EIO, EINTR, EAGAIN, ESTALE]
        case fault_write: [EIO, ENOSPC, EDQUOT, EINTR, EAGAIN]
        case fault_write_durably: [EIO, ENOSPC, EDQUOT, EINTR, EAGAIN]
        case fault_sync: [EIO, ENOSPC, EDQUOT]
        case fault_write_out: [EIO, ENOSPC]
        case fault_grow: [EIO, ENOSPC, EDQUOT, EINTR]
        case fault_truncate: [EIO, EACCES]
        case fault_map: [ENOMEM]
        case fault_lock: [ENOLCK, EIO, EINTR]
        case fault_status: [EIO, ESTALE, EACCES]
        default: [EIO, ENOSPC, EACCES, EROFS]
        }
    }

    static func faults(for calls: [fault_call]) -> [Fault] {
        calls.enumerated().flatMap { index, call -> [Fault] in
            var faults: [Fault] = []
            for error in errors(of: call) {
                // Nothing is interrupted for ever.
                let counts = error == EINTR ? [1, 1_000] : [1, 0]
                faults += counts.map { Fault(index: index, error: error, times: $0) }
            }
            if call == fault_read || call == fault_write || call == fault_write_durably {
                for part in [fault_nothing, fault_one_byte, fault_all_but_one] {
                    faults.append(Fault(index: index, part: part))
                    if part != fault_one_byte {
                        faults.append(Fault(index: index, times: 0, part: part))
                    }
                }
            }
            return faults
        }
    }

    // MARK: A run

    struct Tally {
        var cases = 0
        var violations: [String] = []
        var byScenario: [(String, Int)] = []
        var byError: [String: Int] = [:]
        var outcomes: [String: Int] = [:]
    }

    /// With `pairs` a second fault comes while the file is opened after the first.
    static func run(
        stride step: Int, violationLimit: Int = .max, pairs: Int = 0, into tally: inout Tally
    ) throws {
        let root = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        let directory = "\(root)/toft-faults-\(getpid())"
        mkdir(directory, 0o700)
        defer { rmdir(directory) }
        for scenario in scenarios {
            let calls = try callsOf(scenario, directory)
            let before = tally.cases
            for (number, fault) in faults(for: calls).enumerated()
            where number % step == 0 && tally.violations.count < violationLimit {
                for second in [nil] + seconds(pairs, number) {
                    tally.cases += 1
                    tally.byError[fault.name, default: 0] += 1
                    alarm(60)
                    do {
                        let outcome = try attempt(scenario, fault, second, directory)
                        tally.outcomes[outcome, default: 0] += 1
                    } catch {
                        fault_disarm()
                        tally.violations.append(
                            "\(scenario.name), \(fault) (\(kind(calls[fault.index])))"
                                + (second.map { ", then opening: \($0)" } ?? "") + ": \(error)")
                    }
                    alarm(0)
                    clear(directory)
                }
            }
            tally.byScenario.append(("\(scenario.name) (calls)", tally.cases - before))
        }
    }

    /// Faults of an opening, spread over its calls.
    private static func seconds(_ count: Int, _ number: Int) -> [Fault?] {
        (0..<count).map { index in
            var numbers = Seed(UInt64(number &* 1_000 &+ index))
            return Fault(
                index: numbers.below(50), error: numbers.pick([EIO, ENOSPC, EINTR]) ?? EIO,
                times: numbers.below(2))
        }
    }

    private static func kind(_ call: fault_call) -> String {
        [
            "open", "read", "write", "durable write", "sync", "write out", "grow", "truncate",
            "map", "lock", "status", "name",
        ][Int(call.rawValue)]
    }

    private static func callsOf(_ scenario: Scenario, _ directory: String) throws -> [fault_call] {
        let subject = try prepare(scenario, directory)
        fault_arm(-1, 0, 0, Int32(fault_whole.rawValue))
        defer {
            try? subject.close()
            clear(directory)
        }
        try scenario.body(subject)
        return (0..<fault_disarm()).map { fault_call(UInt32(max(0, fault_call_at($0)))) }
    }

    private static func clear(_ directory: String) {
        for name in TemporaryDirectory.names(in: directory) { unlink(directory + "/" + name) }
    }

    private static func prepare(_ scenario: Scenario, _ directory: String) throws -> Subject {
        let first: Values = [1: [1], 7: filled(7, 5_000)]
        let subject = Subject(directory, scenario.isNew ? [:] : first)
        subject.configuration.dirtyLimit = scenario.dirtyLimit
        subject.configuration.firstLogPages = scenario.firstLogPages
        guard !scenario.isNew else { return subject }
        let template = scenario.isUnclean ? try unclean.get() : try clean.get()
        try template.content.withUnsafeBytes { bytes throws in
            let file = Glibc.open(subject.path, O_CREAT | O_WRONLY, 0o600)
            defer { Glibc.close(file) }
            guard Glibc.write(file, bytes.baseAddress, bytes.count) == bytes.count else {
                throw Failure("no room for the file")
            }
        }
        subject.values = template.values
        if scenario.isOpen { try subject.open() }
        try scenario.before(subject)
        return subject
    }

    private typealias Template = (content: [UInt8], values: Values)

    /// A file that was closed.
    private static let clean = Result { try template(isUnclean: false) }
    /// A file as it is while it is open, with commits in its log.
    private static let unclean = Result { try template(isUnclean: true) }

    private static func template(isUnclean: Bool) throws -> Template {
        try withTemporaryDirectory { directory in
            let subject = Subject(directory, [:])
            subject.configuration.firstLogPages = 8
            try subject.open()
            try subject.commit([1: [1], 7: filled(7, 5_000)])
            try subject.commit([2: [2]])
            try subject.commit([3: filled(3, 2_000)])
            if !isUnclean { try subject.close() }
            let file = try PosixFile.open(subject.path, forWriting: false)
            let content = try file.content()
            try file.close()
            try subject.close()
            return (content, subject.values)
        }
    }

    // MARK: One case

    private static func attempt(
        _ scenario: Scenario, _ fault: Fault, _ second: Fault?, _ directory: String
    ) throws -> String {
        let descriptors = openDescriptors()
        let start = MonotonicClock.nanoseconds
        let subject = try prepare(scenario, directory)
        fault_arm(fault.index, fault.error, fault.times, Int32(fault.part.rawValue))
        var failure: StorageError?
        do {
            defer { fault_disarm() }
            try scenario.body(subject)
        } catch let error as StorageError {
            failure = error
        }
        if let failure { try checkTyped(failure, fault) }
        var outcome = failure == nil ? "harmless" : "not opened"
        if subject.store != nil, !subject.configuration.isReadOnly {
            outcome = try lookAround(subject, failure)
        }
        try leave(subject, outcome)
        if let second { try openBadly(subject, second) }
        try reopen(subject)
        let names = Set(TemporaryDirectory.names(in: directory))
        guard names.isSubset(of: ["a.toft", "a.toft.lock"]) else { throw Failure("left: \(names)") }
        guard openDescriptors() == descriptors else { throw Failure("descriptors are left") }
        guard MonotonicClock.nanoseconds - start < 20_000_000_000 else { throw Failure("too slow") }
        return outcome
    }

    /// The error names the system's error.
    private static func checkTyped(_ error: StorageError, _ fault: Fault) throws {
        let isRight =
            switch error {
            case .io(let operation, let path, let errno):
                !operation.isEmpty && !path.isEmpty
                    && (errno == fault.error || fault.part != fault_whole)
            case .diskFull: fault.error == ENOSPC || fault.error == EDQUOT
            case .permissionDenied: fault.error == EACCES
            case .readOnlyFileSystem: fault.error == EROFS
            case .addressSpaceExhausted: fault.error == ENOMEM
            case .unsupportedFileSystem: fault.error == ENOLCK
            case .corrupt: fault.part == fault_nothing
            case .notADatabase: false
            case .poisoned, .commitOutcomeUnknown: fault.error != EINTR
            case .incompatibleProcess: true
            // EACCES of a lock means that another holds it, here every place for a process.
            case .tooManyReaders: fault.error == EACCES
            default: false
            }
        guard isRight else { throw Failure("reported as \(error)") }
        if fault.error == EINTR, fault.times == 1 { throw Failure("not tried again: \(error)") }
    }

    private static func lookAround(_ subject: Subject, _ failure: StorageError?) throws -> String {
        let store = try subject.opened()
        if store.isReadOnly {
            guard try subject.read() == subject.values else {
                throw Failure("a reader sees something else")
            }
            return failure == nil ? "harmless" : "failed cleanly"
        }
        guard try subject.read() == subject.values else {
            throw Failure("a reader sees something else")
        }
        for snapshot in subject.snapshots { _ = try Subject.read(snapshot) }
        guard subject.isPoisoned else {
            if case .commitOutcomeUnknown = failure { throw Failure("unknown, and not poisoned") }
            try subject.commit([200: [1]])
            return failure == nil ? "harmless" : "failed cleanly"
        }
        switch failure {
        case .commitOutcomeUnknown, .poisoned: break
        default: throw Failure("poisoned, but reported as \(String(describing: failure))")
        }
        do {
            _ = try store.beginWrite(timeoutMilliseconds: 5_000)
            throw Failure("written after a failed sync")
        } catch StorageError.poisoned {}
        // Another process that joins now may not write either.
        let other = try Coordinator.attach(try PosixFile.open(subject.path, forWriting: true))
        guard !other.isFirst, other.isPoisoned else {
            throw Failure("another process does not see the poison")
        }
        other.detach {}
        return "poisoned"
    }

    private static func leave(_ subject: Subject, _ outcome: String) throws {
        do {
            try subject.close()
            if outcome == "poisoned" { throw Failure("closed without a word after a failed sync") }
        } catch StorageError.poisoned where outcome == "poisoned" {
        } catch StorageError.commitOutcomeUnknown where outcome == "poisoned" {}
        guard access(subject.path, F_OK) == 0 else { return }
        let file = try PosixFile.open(subject.path, forWriting: false)
        defer { try? file.close() }
        guard try file.hasNoLocks() else { throw Failure("a lock is left") }
    }

    /// Opens while the second fault is there: that succeeds, or fails with an error.
    private static func openBadly(_ subject: Subject, _ fault: Fault) throws {
        fault_arm(fault.index, fault.error, fault.times, Int32(fault.part.rawValue))
        do {
            try subject.open()
        } catch let error as StorageError {
            if case .corrupt = error { throw Failure("the second fault: \(error)") }
        }
        fault_disarm()
        if subject.store != nil { try subject.close() }
    }

    private static func reopen(_ subject: Subject) throws {
        do {
            try subject.open()
            let found = try subject.read()
            guard found == subject.values || subject.doubtful.contains(found) else {
                throw Failure("another content after reopening")
            }
            subject.values = found
            let report = try subject.opened().check()
            guard report.isSound else { throw Failure("unsound: \(report.problems)") }
            try subject.commit([201: [1]])
            try subject.close()
        } catch let error as StorageError {
            throw Failure("reopened: \(error)")
        }
    }

    private static func openDescriptors() -> Int {
        TemporaryDirectory.names(in: "/proc/self/fd").count
    }
}

extension CallFaultTrials.Subject {
    var isPoisoned: Bool { store?.coordinator.isPoisoned ?? false }
}

extension PosixFile {
    /// Whether no process has a lock on the file.
    func hasNoLocks() throws -> Bool {
        let descriptor = try lockDescriptor()
        var lock = flock(
            l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
        // F_OFD_GETLK
        guard fcntl(descriptor, 36, &lock) == 0 else { throw Failure("errno \(errno)") }
        return lock.l_type == Int16(F_UNLCK)
    }
}
