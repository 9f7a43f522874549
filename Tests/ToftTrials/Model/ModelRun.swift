internal import ToftEngine
internal import ToftStorage
internal import ToftTestKit

/// Something that the engine did otherwise than the model.
struct ModelViolation: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Runs one sequence on a database and on the model, and compares them.
final class ModelRun {
    /// A session and the content that it must show.
    final class Seat {
        let session: any ModelSession
        var content: ModelContent
        let isFrozen: Bool
        /// Whether another session has made a property optional that this one declared as required.
        var isOutdated = false
        var canWrite: Bool { !isFrozen && !isOutdated }
        var watchers: [Watcher] = []
        /// Results that live as long as the session, each with its question.
        var results: [(question: Question, results: any ModelResults)] = []

        init(_ session: any ModelSession, _ content: ModelContent, isFrozen: Bool = false) {
            self.session = session
            self.content = content
            self.isFrozen = isFrozen
        }
    }

    let program: ModelProgram
    let driver: any ModelDriver
    var seats: [Seat] = []
    /// The content of the newest version, and that of the open transaction.
    var committed: ModelContent
    var content: ModelContent
    /// The session with the open transaction.
    var writer: Seat?
    var lastWriter: Seat?
    var touched: Set<ModelObject> = []
    /// The content of each version, while the database is observed.
    var history: [UInt64: ModelContent] = [:]
    /// For each class the highest key that was ever committed.
    var highestKeys: [Int64] = []
    /// The number of migrations that gave objects owners, and of the objects that they copied for
    /// it.
    var handled = (migrations: 0, copies: 0)
    var numbers: Seed
    /// The store that all sessions share: keeps a database in memory alive.
    var anchor: Store?
    private let directory: String
    var fileNumber = 0
    /// The file's schema version.
    var schemaVersion: UInt64 = 0
    /// The file's key; nil: it is not encrypted.
    private var key: [UInt8]?
    private(set) var done = 0
    private(set) var bytes = 0

    /// `isTraced`: its calls are written down, in the driver.
    init(_ program: ModelProgram, isTraced: Bool = false) {
        self.program = program
        let plain: any ModelDriver = program.interface == .engine ? EngineDriver() : CDriver()
        driver = isTraced ? TracingDriver(plain, isC: program.interface == .c) : plain
        committed = ModelContent(program.shape)
        content = committed
        numbers = Seed(program.seed ^ 0x5EED)
        directory =
            (program.ground == .disk ? "/tmp" : "/dev/shm") + "/toft-model-\(ModelRun.process)"
        highestKeys = program.shape.classes.map { _ in -1 }
        key = program.ground == .encrypted ? Self.key(1) : nil
    }

    private static func key(_ number: Int) -> [UInt8] { (0..<64).map { UInt8(32 + $0 + number) } }

    static let process = ModelFiles.own

    var location: ModelLocation {
        program.ground == .memory ? .memory("model") : .file(path, key)
    }

    var encryptionKey: EncryptionKey? { key.flatMap { try? EncryptionKey($0) } }

    var path: String { directory + "/\(fileNumber).toft" }

    // MARK: The sequence

    func run() throws {
        defer { leave() }
        if program.ground != .memory { ModelFiles.makeDirectory(directory) }
        do {
            try openFirst()
            for command in program.commands {
                try execute(command)
                done += 1
            }
            try finish()
        } catch let violation as ModelViolation {
            throw ModelViolation("\(violation) [command \(done): \(shown)]")
        } catch {
            throw ModelViolation("\(error) [command \(done): \(shown)]")
        }
    }

    private var shown: String {
        done < program.commands.count
            ? String("\(program.commands[done])".prefix(300)) : "the end"
    }

    private func openAnchor() throws {
        var configuration = StoreConfiguration(
            location: program.ground == .memory ? .memory(name: "model") : .file(path: path))
        configuration.dirtyLimit = program.dirtyLimit
        configuration.firstLogPages = program.logPages
        configuration.encryptionKey = encryptionKey
        anchor = try Store.open(configuration)
    }

    func openFirst() throws {
        try openAnchor()
        seats = [try openSeat()]
        try note(seats[0])
    }

    func openSeat() throws -> Seat {
        Seat(try driver.open(location, committed.shape), committed)
    }

    /// Remembers the content of a version.
    func note(_ seat: Seat) throws { history[try seat.session.version()] = seat.content }

    /// Ends all sessions, and with them an open transaction.
    func closeAll() throws {
        for seat in seats {
            seat.watchers = []
            seat.results = []
            if !seat.isFrozen { try seat.session.close() }
        }
        seats = []
        writer = nil
        lastWriter = nil
        content = committed
        touched = []
        history = [:]
    }

    func reopen() throws {
        try closeAll()
        if program.ground != .memory { anchor = nil }
        if anchor == nil { try openAnchor() }
        seats = [try openSeat()]
        try note(seats[0])
        try verify(seats[0], percent: 20)
    }

    /// The file after a kill: its present bytes, under another name.
    func kill() throws {
        guard program.ground != .memory else { return try reopen() }
        let old = path
        fileNumber += 1
        try ModelFiles.copy(old, to: path)
        try moveOn(from: old)
    }

    /// Goes on with the file that is at `path` now.
    private func moveOn(from old: String) throws {
        try closeAll()
        anchor = nil
        ModelFiles.removeDatabase(old)
        try openAnchor()
        seats = [try openSeat()]
        try note(seats[0])
        try verify(seats[0], percent: 20)
    }

    /// Writes a copy of the newest version, and continues with that.
    func copy() throws {
        guard program.ground != .memory, let store = anchor else { return try reopen() }
        let old = path
        fileNumber += 1
        let snapshot = try store.beginRead()
        defer { snapshot.release() }
        try snapshot.writeCopy(to: path, encryptionKey: encryptionKey)
        try moveOn(from: old)
    }

    func compact() throws {
        guard program.ground != .memory else { return try reopen() }
        try closeAll()
        anchor = nil
        guard try Store.compact(path, encryptionKey: encryptionKey) != nil else {
            throw ModelViolation("nobody has the file open, and it was not compacted")
        }
        try reopen()
        try check(seats[0])
    }

    func changeKey(_ number: Int) throws {
        guard program.ground != .memory else { return try reopen() }
        try closeAll()
        anchor = nil
        let new = number == 0 ? nil : Self.key(number)
        guard
            try Store.changeKey(
                of: path, from: encryptionKey, to: try new.map { try EncryptionKey($0) })
        else { throw ModelViolation("nobody has the file open, and its key was not changed") }
        key = new
        try reopen()
        try check(seats[0])
    }

    /// A session that does not read anything else is at the newest version afterwards.
    func compactInSteps(_ seat: Seat) throws {
        guard writer == nil, seat.canWrite else { return }
        for _ in 0..<4 {
            let hasMore = try seat.session.compactStep()
            seat.content = committed
            try note(seat)
            if !hasMore { break }
        }
        try refresh(seat)
        try verify(seat, percent: 20)
    }

    private func finish() throws {
        try commitIfOpen(0)
        for seat in seats { try look(seat, percent: 100) }
        if program.ground != .memory { try reopen() }
        guard let seat = seats.first else { return }
        if !seat.isFrozen { try refresh(seat) }
        try verify(seat, percent: 100)
        try check(seat)
        for owner in content.classes.indices { try verifyIndexes(seat, owner, all: true) }
        try closeAll()
    }

    private func leave() {
        for seat in seats {
            seat.watchers = []
            seat.results = []
            if !seat.isFrozen { try? seat.session.close() }
        }
        seats = []
        writer = nil
        anchor = nil
        if program.ground != .memory {
            bytes = ModelFiles.size(of: path)
            TemporaryDirectory.remove(directory)
        }
    }

    // MARK: Transactions

    /// The session that a number names.
    func seat(_ index: Int) -> Seat { seats[abs(index) % seats.count] }

    /// A session that can write.
    private func writableSeat(_ index: Int?) -> Seat {
        let open = seats.filter(\.canWrite)
        if let index { return open[abs(index) % open.count] }
        if let lastWriter, open.contains(where: { $0 === lastWriter }) { return lastWriter }
        return open[0]
    }

    @discardableResult
    func begin(_ index: Int? = nil) throws -> Seat {
        if let writer { return writer }
        let seat = writableSeat(index)
        try seat.session.begin()
        seat.content = committed
        content = committed
        writer = seat
        lastWriter = seat
        touched = []
        try work(seat)
        return seat
    }

    func commitIfOpen(_ durability: Int) throws {
        guard let seat = writer else { return }
        guard !content.hasDuplicates else {
            _ = try attempt(expecting: Self.duplicateValue) {
                try seat.session.commit(durability)
            }
            writer = nil
            content = committed
            return try verify(seat, percent: 5)
        }
        let version = try seat.session.commit(durability)
        writer = nil
        committed = content
        seat.content = committed
        for (owner, rows) in committed.classes.enumerated() {
            highestKeys[owner] = max(highestKeys[owner], rows.keys.last ?? -1)
        }
        guard try seat.session.version() == version else {
            throw ModelViolation("the session does not stand at what it has committed")
        }
        try note(seat)
        if history.count > 60 { forgetVersions() }
        try work(seat)
    }

    private func forgetVersions() {
        let used = Set(seats.compactMap { try? $0.session.version() })
        let oldest = used.min() ?? 0
        history = history.filter { $0.key >= oldest }
    }

    func rollback() throws {
        guard let seat = writer else { return }
        try seat.session.cancel()
        writer = nil
        content = committed
        try verify(seat, percent: 5)
    }

    func refresh(_ seat: Seat) throws {
        guard !seat.isFrozen, writer !== seat else { return }
        try seat.session.refresh()
        seat.content = committed
        try work(seat)
        for watcher in seat.watchers {
            if let wrong = watcher.missed(seat.content) {
                throw ModelViolation("observer of \(watcher.subject): \(wrong)")
            }
        }
    }

    /// Advances to the version of the notifier.
    func dispatch(_ seat: Seat) throws {
        guard !seat.isFrozen, writer !== seat else { return }
        try seat.session.dispatch()
        if let content = history[try seat.session.version()] { seat.content = content }
        try work(seat)
    }

    /// Processes the notifications of observers.
    func work(_ seat: Seat) throws {
        for watcher in seat.watchers {
            if let wrong = watcher.work({ self.history[$0] }) {
                throw ModelViolation("observer of \(watcher.subject): \(wrong)")
            }
        }
    }

    // MARK: Calls

    /// Calls the engine. Throws unless it has the expected outcome: success, or a failure with a
    /// code.
    @discardableResult
    func attempt<Result>(expecting code: Int32?, _ body: () throws -> Result) throws -> Result? {
        do {
            let result = try body()
            guard let code else { return result }
            throw ModelViolation("succeeded where error \(code) was due")
        } catch let failure as CallFailure {
            guard failure.code == code else { throw failure }
        } catch let error as EngineError {
            guard error.code.rawValue == code else { throw error }
        }
        return nil
    }
}
