internal import Synchronization
internal import ToftStorage

/// Opens what crashes may have left of a workload, and says what is wrong with it.
package final class CrashTrial {
    package struct Report: Sendable {
        package var generated: [CrashModel: Int] = [:]
        package var tried: [CrashModel: Int] = [:]
        /// Contents that were found, told apart.
        package var contents: Set<Int> = []
        package var violations: [String] = []
        package var longestNanoseconds: Int64 = 0

        package init() {}

        package var triedCount: Int { tried.values.reduce(0, +) }

        package mutating func merge(_ other: Report) {
            generated.merge(other.generated) { $0 + $1 }
            tried.merge(other.tried) { $0 + $1 }
            contents.formUnion(other.contents)
            violations += other.violations
            longestNanoseconds = max(longestNanoseconds, other.longestNanoseconds)
        }
    }

    private let workload: Workload
    private let seed: UInt64
    private var report = Report()
    private var seen: Set<Int> = []
    private var states: [[UInt8]] = []
    private var percentTried = 100
    private var chance: Seed
    /// A broken engine would fail thousands of times.
    private let violationLimit = 5

    private init(_ workload: Workload, seed: UInt64) {
        self.workload = workload
        self.seed = seed
        chance = Seed(seed &+ 2)
    }

    /// Runs the workload, then tries every state that `CrashImages` knows.
    package static func run(
        _ workload: Workload, seed: UInt64, lies: Set<RecordingFile.Lie> = [], limits: CrashImages.Limits = .init()
    ) throws -> Report {
        let trial = CrashTrial(workload, seed: seed)
        try trial.run(lies, limits)
        return trial.report
    }

    private func run(_ lies: Set<RecordingFile.Lie>, _ limits: CrashImages.Limits) throws {
        let database = try RecordedDatabase(lies: lies, dirtyLimit: workload.dirtyLimit)
        var numbers = Seed(seed)
        do {
            try workload.body(database, &numbers)
            try database.finish()
        } catch {
            report.violations.append("\(name): the workload itself: \(error)")
        }
        states = database.states
        percentTried = limits.percentTried
        var images = CrashImages(of: database.file.events, from: database.start, seed: seed &+ 1, limits: limits) { image throws in
            self.take(image)
        }
        try images.enumerate()
    }

    private var name: String { "\(workload.name), seed \(seed)" }

    private func take(_ image: CrashImage) {
        report.generated[image.model, default: 0] += 1
        var hasher = Hasher()
        image.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(image.acknowledged)
        hasher.combine(image.began)
        guard seen.insert(hasher.finalize()).inserted, report.violations.count < violationLimit, chance.chance(percentTried) else { return }
        report.tried[image.model, default: 0] += 1
        do {
            let before = MonotonicClock.nanoseconds
            try attempt(image)
            report.longestNanoseconds = max(report.longestNanoseconds, MonotonicClock.nanoseconds - before)
        } catch {
            report.violations.append("\(name): \(image.model.rawValue) at event \(image.position), commit \(image.acknowledged)...\(image.began): \(error)")
        }
    }

    /// A file that a crash left opens, shows one of the commits it may show, whole; can be written; and all that again after closing.
    private func attempt(_ image: CrashImage) throws {
        let file = WrappedFile(try MemoryFile(content: image.bytes))
        defer { try? file.base.close() }
        let number = try using(file) { store throws -> Int in
            let number = try look(at: store, image)
            try check(store)
            try commit(Self.laterNumber, to: store)
            try check(store)
            return number
        }
        try using(file) { store throws in
            let snapshot = try store.beginRead()
            defer { snapshot.release() }
            let found = try Content.canonical(snapshot)
            guard found == Content.renumbered(states[number], Self.laterNumber) else { throw Failure("closed and opened again, the content is another") }
            try check(store)
        }
    }

    private func using<Result>(_ file: WrappedFile, _ body: (Store) throws -> Result) throws -> Result {
        try body(try Store.open(on: file, coordinator: try Coordinator.inMemory()))
    }

    private func look(at store: Store, _ image: CrashImage) throws -> Int {
        let snapshot = try store.beginRead()
        defer { snapshot.release() }
        let number = try Content.commitNumber(snapshot)
        guard number >= image.acknowledged else { throw Failure("commit \(image.acknowledged) was acknowledged, \(number) is there") }
        guard number <= image.began else { throw Failure("commit \(number) is there, \(image.began) was begun") }
        let found = try Content.canonical(snapshot)
        report.contents.insert(found.hashValue)
        guard found == states[number] else { throw Failure("the content is not that of commit \(number)") }
        return number
    }

    private func check(_ store: Store) throws {
        let report = try store.check()
        guard report.isSound else { throw Failure("unsound: " + report.problems.joined(separator: "; ")) }
    }

    private static let laterNumber: UInt64 = 999_999

    private func commit(_ number: UInt64, to store: Store) throws {
        let transaction = try store.beginWrite()
        if try !transaction.view.hasTree(Content.directory) { _ = try transaction.createOrderedTree() }
        try Content.commitKey.withUnsafeBytes { key throws in
            try withUnsafeBytes(of: number) { value throws in try transaction.treePut(Content.directory, key, value, derived: false) }
        }
        _ = try transaction.commit()
    }
}
