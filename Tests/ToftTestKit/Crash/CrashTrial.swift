internal import Glibc
internal import Synchronization
internal import ToftPlatform
internal import ToftStorage

/// Opens the states that crashes may have left of a workload, and reports faults.
package final class CrashTrial {
    let workload: Workload
    let seed: UInt64
    var report = CrashReport()
    /// The content after each commit, including commits after an image had been opened.
    var contents: [Int: Content] = [:]
    /// The versions of the commits, by their numbers.
    var versions: [Int: Version] = [:]
    /// The image's key.
    var key: EncryptionKey?
    var limits = CrashImages.Limits()
    var chance: Seed
    /// All images, one after the other.
    let file = ReplayFile()
    private var canonicals: [Int: [UInt8]] = [:]
    private var seen: Set<Int> = []
    private(set) var history: [DiskEvent] = []
    /// The number of an aftermath's next commit.
    var nextNumber = 2_000_000
    /// A broken engine would fail thousands of times.
    private let violationLimit: Int

    private init(_ workload: Workload, seed: UInt64, violationLimit: Int) {
        self.workload = workload
        self.seed = seed
        self.violationLimit = violationLimit
        chance = Seed(seed &+ 2)
    }

    /// Runs the workload, then tries every state that `CrashImages` knows.
    package static func run(
        _ workload: Workload, seed: UInt64, lies: Set<RecordingFile.Lie> = [],
        limits: CrashImages.Limits = .init(), violationLimit: Int = 5
    ) throws -> CrashReport {
        let trial = CrashTrial(workload, seed: seed, violationLimit: violationLimit)
        trial.limits = limits
        trial.limits.percentTried = limits.percentTried * workload.percentTried / 100
        try trial.run(lies)
        return trial.report
    }

    private func run(_ lies: Set<RecordingFile.Lie>) throws {
        let database = try RecordedDatabase(
            lies: lies, dirtyLimit: workload.dirtyLimit, firstLogPages: workload.firstLogPages,
            insertBuffer: workload.insertBuffer, encryptionKey: workload.encryptionKey)
        var numbers = Seed(seed)
        do {
            try workload.body(database, &numbers)
            try database.finish()
        } catch {
            report.violations.append("\(name): the workload itself: \(error)")
        }
        contents = database.contents
        versions = database.versions
        history = database.file.events
        do {
            var births = PageBirths()
            // It reads the extents that are written.
            if isPlain { try births.follow(history) }
        } catch {
            report.violations.append("\(name): \(error)")
        }
        var images = CrashImages(
            of: history, from: database.start, acknowledged: database.startNumber,
            began: database.startNumber, key: workload.encryptionKey, seed: seed &+ 1,
            limits: limits
        ) { image throws in
            guard self.take(image, percent: self.limits.percentTried) else { return }
            self.follow(image, depth: self.limits.aftermathDepth)
        }
        try images.enumerate()
    }

    /// Whether no version of the file was ever encrypted.
    var isPlain: Bool {
        workload.encryptionKey == nil
            && !history.contains { if case .replaced = $0 { true } else { false } }
    }

    private var name: String { "\(workload.name), seed \(seed)" }

    var isHopeless: Bool { report.violations.count >= violationLimit }

    /// Tries an image unless it was tried before. False if it was not tried, or if a check failed.
    func take(_ image: CrashImage, percent: Int = 100) -> Bool {
        report.generated[image.model, default: 0] += 1
        let hash = image.pages.hash
        var hasher = Hasher()
        hasher.combine(hash)
        hasher.combine(image.acknowledged)
        hasher.combine(image.began)
        hasher.combine(image.model == .lyingDisk)
        guard !isHopeless, seen.insert(hasher.finalize()).inserted, chance.chance(percent) else {
            return false
        }
        report.tried[image.model, default: 0] += 1
        report.disks.insert(hash)
        do {
            try file.load(image.pages)
            key = try self.key(of: image)
            if image.model == .lyingDisk { try attemptAfterLie(image) } else { try attempt(image) }
            return true
        } catch {
            report.violations.append(
                "\(name): \(image.model.rawValue) at event \(image.position), commit "
                    + "\(image.acknowledged)...\(image.began): \(error)"
            )
            return false
        }
    }

    // MARK: One image

    /// A file that a crash left opens, shows one of the commits it may show, whole; can be written;
    /// and all that again after closing.
    private func attempt(_ image: CrashImage) throws {
        let seen = versions[image.acknowledged] ?? 0
        var allowed = image.acknowledged...max(image.acknowledged, image.began)
        if chance.chance(15) {
            // A reader does not recover the file, and sees the version that the recovery will find.
            let number = try look(
                at: try Store.readOnlySnapshot(
                    on: WrappedFile(file), encryptionKey: key), allowed)
            allowed = number...number
            if image.model != .inRecovery && image.model != .lifeGoesOn {
                try refuseOlder(than: number + 1)
            }
        }
        let number = try using(file, seen: seen) { store throws -> Int in
            let number = try look(at: store, allowed)
            try check(store)
            if chance.chance(25) { return number }
            try commit(Self.laterNumber, to: store)
            try check(store)
            return -number - 1
        }
        try using(file) { store throws in
            let snapshot = try store.beginRead()
            defer { snapshot.release() }
            let found = try Content.canonical(snapshot)
            let expected =
                number >= 0
                ? try canonical(number)
                : Content.renumbered(try canonical(-number - 1), Self.laterNumber)
            guard isSame(found, expected) else {
                throw Failure("closed and opened again, the content is another")
            }
            try check(store)
        }
    }

    /// A disk that lied may have lost acknowledged commits, and may have damaged the file; but
    /// everything shown without an error is true.
    private func attemptAfterLie(_ image: CrashImage) throws {
        do {
            try using(file) { store throws in
                _ = try look(at: store, 0...image.began)
                if try store.check().isSound {
                    report.soundAfterLie += 1
                } else {
                    report.damageFound += 1
                }
            }
        } catch StorageError.corrupt {
            report.damageFound += 1
        }
    }

    /// Nanoseconds that the processor worked for this thread: others may load the machine.
    private static var processorTime: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// The key of the file, among those that it may have.
    func key(of image: CrashImage) throws -> EncryptionKey? {
        for key in image.keys.dropLast() {
            do throws(StorageError) {
                try Store.readOnlySnapshot(on: WrappedFile(file), encryptionKey: key).release()
                return key
            } catch {
                switch error {
                case .keyRequired, .wrongKey, .notEncrypted: continue
                // The opening will report it.
                default: return key
                }
            }
        }
        return image.keys.last ?? nil
    }

    /// A program that has seen a commit that the file lacks gets an error, and nothing is written.
    private func refuseOlder(than number: Int) throws {
        guard let minimum = versions[number] else { return }
        let content = try file.content()
        do {
            try using(file, seen: minimum) { _ in
                throw Failure("commit \(number) was asked for and is not there: nobody was told")
            }
        } catch StorageError.versionTooLow {}
        guard isSame(try file.content(), content) else {
            throw Failure("an older file that was refused was written to")
        }
    }

    /// - Parameter seen: the version that the caller has seen the file at.
    func using<Result>(
        _ file: any StorageFile, seen: Version = 0, _ body: (Store) throws -> Result
    ) throws -> Result {
        let before = Self.processorTime
        let store = try Store.open(
            on: WrappedFile(file), coordinator: try Coordinator.inMemory(),
            encryptionKey: key, minimumVersion: seen)
        store.insertBuffer.withLock { $0.policy = workload.insertBuffer }
        let duration = Self.processorTime - before
        report.longestOpening = max(report.longestOpening, duration)
        guard duration < CrashReport.openingLimit else {
            throw Failure("opening took \(duration / 1_000_000) ms")
        }
        return try body(store)
    }

    func look(at store: Store, _ allowed: ClosedRange<Int>) throws -> Int {
        try look(at: try store.beginRead(), allowed)
    }

    private func look(at snapshot: Snapshot, _ allowed: ClosedRange<Int>) throws -> Int {
        defer { snapshot.release() }
        let number = try Content.commitNumber(snapshot)
        guard number >= allowed.lowerBound else {
            throw Failure("commit \(allowed.lowerBound) was acknowledged, \(number) is there")
        }
        guard number <= allowed.upperBound else {
            throw Failure("commit \(number) is there, \(allowed.upperBound) was begun")
        }
        let found = try Content.canonical(snapshot)
        report.contents.insert(PageContent.hash(found))
        guard isSame(found, try canonical(number)) else {
            throw Failure("the content is not that of commit \(number)")
        }
        return number
    }

    private func canonical(_ number: Int) throws -> [UInt8] {
        if let known = canonicals[number] { return known }
        guard let content = contents[number] else { throw Failure("there was no commit \(number)") }
        let canonical = content.canonical()
        canonicals[number] = canonical
        return canonical
    }

    /// Arrays of bytes are compared byte by byte, this is not.
    private func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && memcmp(one, other, one.count) == 0
    }

    func forget(_ numbers: [Int]) {
        for number in numbers {
            contents[number] = nil
            canonicals[number] = nil
        }
    }

    private func check(_ store: Store) throws {
        let report = try store.check()
        guard report.isSound else {
            throw Failure("unsound: " + report.problems.joined(separator: "; "))
        }
    }

    private static let laterNumber: UInt64 = 999_999

    private func commit(_ number: UInt64, to store: Store) throws {
        let transaction = try store.beginWrite()
        if try !transaction.view.hasTree(Content.directory) {
            _ = try transaction.createOrderedTree()
        }
        try Content.commitKey.withUnsafeBytes { key throws in
            try withUnsafeBytes(of: number) { value throws in
                try transaction.treePut(Content.directory, key, value, derived: false)
            }
        }
        _ = try transaction.commit()
    }
}
