package import ToftEngine
internal import ToftModel
package import ToftQuery
package import ToftStorage

/// The person or the program that a shell talks to.
package protocol ShellConsole: AnyObject {
    /// Takes what the shell prints.
    var output: any ShellOutput { get }
    /// Whether many rows may go to a pager.
    var usesPager: Bool { get set }

    /// Called around the rows of an answer.
    func beginRows()
    func endRows() throws(EngineError)

    /// Asks a question. Nil: nobody can be asked.
    func confirms(_ question: String) -> Bool?

    /// Waits until a descriptor has something to read. False: Control-C came first.
    func waits(for descriptor: Int32) -> Bool

    /// The key that a file holds.
    func key(in file: String) throws(EngineError) -> EncryptionKey
}

/// Runs statements and commands on one file, one line after the other. One thread uses it.
package final class Shell {
    /// The parts that a caller chooses.
    package struct Options {
        package var mode: OutputMode
        /// Whether control sequences set headings apart.
        package var isColored = false
        /// The values of `$0`, `$1`... in conditions.
        package var arguments: [QueryArgument] = []
        /// Whether changes of many objects are made without a question.
        package var isConfirmed = false
        package var isReadOnly = false
        package var key: EncryptionKey?

        package init(mode: OutputMode) { self.mode = mode }
    }

    package private(set) var options: Options
    /// Nil until a file could be opened.
    package private(set) var session: Session?
    private let console: any ShellConsole
    /// The file that is open, or was to be opened.
    package private(set) var path: String
    private var isReadOnly = false
    private var isTimed = false
    private var isInTransaction = false
    private var changes: ChangeRunner?
    /// The last transaction, to take it back.
    private var last: UndoRecord?

    /// Opens a file; see `openError`.
    package init(_ path: String, _ options: Options, console: any ShellConsole) {
        self.path = path
        self.options = options
        self.console = console
    }

    private var output: any ShellOutput { console.output }

    // MARK: Files

    /// Opens the file. A transaction that is open is cancelled.
    package func open() throws(EngineError) {
        try close()
        var configuration = Configuration(location: .file(path: path), mode: .existing)
        configuration.encryptionKey = options.key
        isReadOnly = options.isReadOnly
        if !isReadOnly {
            do throws(EngineError) {
                session = try Session.open(configuration)
            } catch {
                guard error.code == .permissionDenied else { throw error }
                isReadOnly = true
            }
        }
        if isReadOnly {
            configuration.mode = .readOnly
            configuration.sharing = .whereItCan
            session = try Session.open(configuration)
        }
        changes = session.map { ChangeRunner($0, arguments: options.arguments) }
    }

    /// Closes the file. A transaction that is open is cancelled.
    package func close() throws(EngineError) {
        guard let session else { return }
        if isInTransaction { try session.cancel() }
        (self.session, changes, last, isInTransaction) = (nil, nil, nil, false)
        try session.close()
    }

    private func opened() throws(EngineError) -> (session: Session, changes: ChangeRunner) {
        guard let session, let changes else {
            throw EngineError(
                .closed, "No file is open. `.open FILE` opens one, `.key FILE` with a key.")
        }
        return (session, changes)
    }

    // MARK: Lines

    /// Runs a line: a statement, or a command that begins with a point.
    /// - Returns: false at the end of the shell.
    package func run(_ line: String) throws(EngineError) -> Bool {
        var text = line.trimmingBlanks
        if text.hasSuffix(";") { text = String(text.dropLast()).trimmingBlanks }
        if text.isEmpty { return true }
        if text.hasPrefix(".") { return try run(try DotCommand.parse(text)) }
        try timed { () throws(EngineError) in try run(try statement(text)) }
        return true
    }

    private func statement(_ text: String) throws(EngineError) -> Statement {
        let schema = try opened().session.schema.stored
        do throws(QueryError) {
            return try StatementParser.parse(text, schema: schema)
        } catch {
            throw EngineError(error)
        }
    }

    private func question(_ text: String) throws(EngineError) -> Question {
        switch try statement(text) {
        case .question(let question), .explain(let question): return question
        default:
            throw EngineError(.invalidArgument, "This is no question: it begins with a class.")
        }
    }

    private func timed(_ work: () throws(EngineError) -> Void) throws(EngineError) {
        let start = ContinuousClock.now
        try work()
        guard isTimed else { return }
        let time = (ContinuousClock.now - start).components
        let microseconds = time.seconds * 1_000_000 + time.attoseconds / 1_000_000_000_000
        try output.tell("time: \(microseconds / 1_000).\(Self.digits(microseconds % 1_000)) ms")
    }

    private static func digits(_ number: Int64) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, 3 - text.count)) + text
    }

    // MARK: Commands

    private func run(_ command: DotCommand) throws(EngineError) -> Bool {
        switch command {
        case .quit: return false
        case .help: for line in Self.help { try output.print(line) }
        case .schema(let name): try showSchema(name)
        case .classes:
            let session = try current()
            try show(try SchemaText.classes(of: session))
        case .indexes:
            let session = try current()
            try show(SchemaText.indexes(of: session))
        case .mode(let mode):
            if let mode { options.mode = mode } else { try output.print(options.mode.rawValue) }
        case .timer(let isOn):
            if let isOn { isTimed = isOn } else { try output.print(isTimed ? "on" : "off") }
        case .pager(let isOn):
            if let isOn {
                console.usesPager = isOn
            } else {
                try output.print(console.usesPager ? "on" : "off")
            }
        case .explain(let text): try explain(try question(text))
        case .watch(let text): try watch(try question(text))
        case .open(let file):
            path = file
            try open()
        case .key(let file):
            options.key = try file.map { file throws(EngineError) in try console.key(in: file) }
            try open()
        }
        return true
    }

    /// The session at the newest version, or in its transaction.
    private func current() throws(EngineError) -> Session {
        let session = try opened().session
        if !isInTransaction { _ = try session.refresh() }
        return session
    }

    private func showSchema(_ name: String?) throws(EngineError) {
        let session = try current()
        let classes =
            try name.map { name throws(EngineError) in [try session.givenClass(name)] }
            ?? session.schema.visibleClasses
        for owner in classes {
            for line in try SchemaText.lines(of: owner, in: session) { try output.print(line) }
        }
    }

    // MARK: Answers

    private func show<Rows: RowSource>(_ rows: Rows) throws(EngineError) {
        _ = try rowsShown { printer throws(EngineError) in
            var printer = printer
            return try printer.print(rows)
        }
    }

    /// Prints rows, through the pager if there are many.
    private func rowsShown(_ work: (RowPrinter) throws(EngineError) -> Int) throws(EngineError)
        -> Int
    {
        console.beginRows()
        let count: Int
        do throws(EngineError) {
            count = try work(
                RowPrinter(options.mode, to: output, isColored: options.isColored))
        } catch {
            // The error that came first is the one to tell.
            try? console.endRows()
            throw error
        }
        try console.endRows()
        return count
    }

    private func answer(_ question: Question) throws(EngineError) {
        let session = try current()
        let runner = QuestionRunner(session, arguments: options.arguments)
        let count = try rowsShown { printer throws(EngineError) in
            try runner.print(question, with: printer)
        }
        if output.isTerminal, options.mode == .table, !question.isCount {
            try output.tell(Self.number(count, "row"))
        }
    }

    private func explain(_ question: Question) throws(EngineError) {
        let runner = QuestionRunner(try current(), arguments: options.arguments)
        try output.print(try runner.explanation(question))
    }

    // MARK: Statements

    private func run(_ statement: Statement) throws(EngineError) {
        switch statement {
        case .question(let question): try answer(question)
        case .explain(let question): try explain(question)
        case .create(let creation):
            try changing { changes throws(EngineError) in
                try changes.create(creation)
                return "1 object created"
            }
        case .set(let change):
            let names = change.assignments.map(\.property.name).joined(separator: ", ")
            try changing(
                change.selection, "Set \(names) of", "changed"
            ) { changes, objects throws(EngineError) in try changes.set(change, of: objects) }
        case .delete(let selection):
            try changing(selection, "Delete", "deleted") { changes, objects throws(EngineError) in
                try changes.delete(objects)
            }
        case .begin: try begin()
        case .commit: try commit()
        case .cancel: try cancel()
        case .undo: try undo()
        }
    }

    /// Changes some objects, after a question if a condition has chosen them.
    private func changing(
        _ selection: Selection, _ verb: String, _ done: String,
        _ work: (inout ChangeRunner, [ObjectHandle]) throws(EngineError) -> Void
    ) throws(EngineError) {
        _ = try current()
        let count = try opened().changes.objects(selection).count
        if count == 0 { return try output.tell("no object of '\(selection.owner.name)' matches") }
        let objects = Self.number(count, "object") + " of '\(selection.owner.name)'"
        if case .query = selection.objects {
            guard try isConfirmed("\(verb) \(objects)?") else {
                return try output.tell("nothing was changed")
            }
        }
        try changing { changes throws(EngineError) in
            let found = try changes.objects(selection)
            guard found.count == count else {
                throw EngineError(
                    .invalidArgument,
                    "Another program has changed objects meanwhile: \(found.count) match now. "
                        + "Nothing was changed.")
            }
            try work(&changes, found)
            return "\(objects) \(done)"
        }
    }

    private func isConfirmed(_ question: String) throws(EngineError) -> Bool {
        if options.isConfirmed { return true }
        guard let answer = console.confirms(question) else {
            throw EngineError(
                .invalidArgument,
                "\(question) Nobody can be asked: give --yes if it is meant. Nothing was changed.")
        }
        return answer
    }

    /// Does work in a transaction of its own, or as a whole within the one that is open.
    /// - Parameter work: returns the sentence for the person.
    private func changing(_ work: (inout ChangeRunner) throws(EngineError) -> String)
        throws(EngineError)
    {
        var (session, changes) = try opened()
        if isInTransaction {
            let text = try session.allOrNothing { () throws(EngineError) in try work(&changes) }
            self.changes = changes
            return try output.tell(text + ", not committed yet")
        }
        try session.beginWrite()
        let text = try ending(session) { () throws(EngineError) in try work(&changes) }
        last = changes.takeMade()
        self.changes = changes
        try output.tell(text)
    }

    /// Commits after some work, and cancels if it throws.
    private func ending<Result>(
        _ session: Session, _ work: () throws(EngineError) -> Result
    ) throws(EngineError) -> Result {
        do throws(EngineError) {
            let result = try work()
            try session.commit()
            return result
        } catch {
            // The failure that led here is the one to report.
            if session.isWriting { try? session.cancel() }
            throw error
        }
    }

    // MARK: Transactions

    private func begin() throws(EngineError) {
        let session = try opened().session
        guard !isInTransaction else {
            throw EngineError(
                .alreadyInTransaction, "A transaction is open: commit or cancel it first.")
        }
        try session.beginWrite()
        isInTransaction = true
        try output.tell("other writers wait until commit or cancel")
    }

    private func requireTransaction() throws(EngineError) -> Session {
        guard isInTransaction else {
            throw EngineError(.notInTransaction, "No transaction is open: `begin` opens one.")
        }
        return try opened().session
    }

    private func commit() throws(EngineError) {
        let session = try requireTransaction()
        isInTransaction = false
        var made = changes?.takeMade()
        defer { last = made }
        do throws(EngineError) {
            let version = try session.commit()
            try output.tell("version \(version)")
        } catch {
            made = nil
            if session.isWriting { try? session.cancel() }
            throw error
        }
    }

    private func cancel() throws(EngineError) {
        let session = try requireTransaction()
        isInTransaction = false
        _ = changes?.takeMade()
        try session.cancel()
        try output.tell("nothing was changed")
    }

    private func undo() throws(EngineError) {
        let (session, changes) = try opened()
        guard !isInTransaction else {
            throw EngineError(
                .alreadyInTransaction, "A transaction is open: `cancel` takes it back as a whole.")
        }
        guard let last, !last.isEmpty else {
            throw EngineError(
                .invalidArgument, "This shell has made no change that could be taken back.")
        }
        guard last.isKeeping else {
            throw EngineError(
                .invalidArgument,
                "The last change can't be taken back: it deleted or replaced objects with others "
                    + "inside, or more than \(UndoRecord.limit).")
        }
        try session.beginWrite()
        try ending(session) { () throws(EngineError) in try changes.undo(last) }
        self.last = nil
        try output.tell(Self.number(last.changes.count, "change") + " taken back")
    }

    /// "1 row", "2 rows".
    static func number(_ count: Int, _ noun: String) -> String {
        count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
    }

    // MARK: Watching

    /// Prints each change of some objects until Control-C.
    private func watch(_ question: Question) throws(EngineError) {
        guard !isInTransaction else {
            throw EngineError(
                .alreadyInTransaction, "A transaction is open: commit or cancel it first.")
        }
        let session = try current()
        let results = try QuestionRunner(session, arguments: options.arguments).results(question)
        let watch = ResultsWatcher(results, output)
        let token = try results.observe { watch.tell($0) }
        defer { token.stop() }
        let descriptor = try session.eventDescriptor()
        repeat {
            _ = try session.dispatch()
            if let failure = watch.failure { throw failure }
        } while console.waits(for: descriptor)
    }

    // MARK: Help

    private static let help: [String] = {
        let statements: [(String, String)] = [
            ("CLASS where CONDITION sort(PATH desc) limit N", "objects; each part may be left out"),
            ("  show PATH, PATH", "these columns, over links too: boss.name, dogs.@count"),
            ("  group PATH: count, sum(PATH)", "groups; then having count > 3, sort(count desc)"),
            ("  count", "how many there are; or sum(PATH), avg, min, max"),
            ("create CLASS {\"id\": 5}", "an object, as JSON"),
            ("set CLASS id=5 age=3, name='Rex'", "the object with this primary key"),
            ("set CLASS where CONDITION age=3", "all that match, after a question"),
            ("delete CLASS where CONDITION", "or delete CLASS id=5"),
            ("begin, commit, cancel", "several changes in one transaction"),
            ("undo", "takes the last change of this shell back"),
            ("explain CLASS where CONDITION", "how it is answered"),
        ]
        let commands = DotCommand.descriptions.map { ($0.command, $0.meaning) }
        let width = (statements + commands).map(\.0.count).max() ?? 0
        return (statements + [("", "")] + commands).map { command, meaning in
            command + String(repeating: " ", count: width - command.count + 2) + meaning
        }
    }()
}

extension Question {
    /// Whether the answer is a number.
    fileprivate var isCount: Bool { if case .count = answer { true } else { false } }
}

/// Prints the notifications of some results.
private final class ResultsWatcher {
    private let results: Results
    private let output: any ShellOutput
    private(set) var failure: EngineError?

    init(_ results: Results, _ output: any ShellOutput) {
        self.results = results
        self.output = output
    }

    func tell(_ notification: ChangeNotification) {
        do throws(EngineError) {
            try print(notification)
        } catch {
            failure = error
        }
    }

    private func print(_ notification: ChangeNotification) throws(EngineError) {
        if case .failure(let error) = notification.kind { throw error }
        guard case .update = notification.kind else {
            let count = Shell.number(try results.count, "object")
            return try output.print("version \(notification.version): \(count)")
        }
        let change = notification.collection
        try output.print(
            "version \(notification.version): \(change.deletions.count) left, "
                + "\(change.insertions.count) came, \(change.modificationsNew.count) modified")
        for index in change.deletions { try output.print("  - [\(index)]") }
        for index in change.insertions { try output.print("  + [\(index)] \(try text(index))") }
        for index in change.modificationsNew {
            try output.print("  * [\(index)] \(try text(index))")
        }
    }

    private func text(_ index: Int) throws(EngineError) -> String {
        try results.object(at: index).json(depth: 0).description
    }
}
