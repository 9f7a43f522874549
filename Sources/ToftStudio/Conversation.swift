internal import ToftEngine
internal import ToftModel
internal import ToftQuery
internal import ToftStorage

/// One page's side of Studio: it answers the page's messages and tells it of changes.
///
/// 1. It knows no sockets: messages come in by `receive`, and go out by the closure that it was
///    made with, each a JSON object. An answer has the `id` of its message and either `ok` or
///    `error`; an event has its name as `event`.
/// 2. All calls are made one after the other, as those of its sessions are. Work that takes long
///    (`Jobs`) is done by other threads on frozen versions, and answers when it is done.
/// 3. Each open file has one session; each view of objects is live results of it. When any process
///    commits, `wake` is called, on any thread, and has `dispatch` called: the session moves, and
///    the observers' index sets go to the page as they are.
/// 4. Events flow as fast as the page reads: after those of one version, no more follow until the
///    page has said `seen`. Commits meanwhile are gathered in one change or two.
package final class Conversation {
    package typealias Sending = @Sendable (_ message: String) -> Void

    /// Rows that a message asks for at most.
    static let mostRows = 1_000

    private let files: [StudioFile]
    private let send: Sending
    private let wake: @Sendable () -> Void
    private var open: [Int: OpenFile] = [:]
    private var views: [Int64: View] = [:]
    private let jobs: Jobs
    /// Whether the page has not said yet that it has read the last events.
    private var awaitsPage = false

    /// A file's session, and the observer of its commits.
    private struct OpenFile {
        let session: Session
        let configuration: Configuration
        var token: Token?
    }

    /// The objects that one table of the page shows.
    private struct View {
        let file: Int
        let owner: ClassHandle
        let results: Results
        var token: Token?
    }

    /// - Parameters:
    ///   - files: those that the page may open, by their numbers.
    ///   - send: takes the messages for the page; called on any thread.
    ///   - wake: called on any thread when `dispatch` has something to do.
    package init(
        _ files: [StudioFile], send: @escaping Sending, wake: @escaping @Sendable () -> Void
    ) {
        self.files = files
        self.send = send
        self.wake = wake
        jobs = Jobs(send)
    }

    /// Ends what is under way, and closes the files.
    package func close() {
        jobs.cancelAll()
        views = [:]
        for file in open.values { try? file.session.close() }
        open = [:]
    }

    // MARK: Messages

    /// Answers a message, at once or when a job is done.
    package func receive(_ text: String) {
        var id: Int64?
        do throws(EngineError) {
            let message = try Message(text)
            id = message.id
            guard let answer = try answer(message) else { return }
            tell([("id", .integer(message.id)), ("ok", answer)])
        } catch {
            tell([("id", id.map { .integer($0) } ?? .null), ("error", error.json)])
        }
    }

    private func tell(_ members: [(String, JSONValue)]) { send("\(JSONValue.object(members))") }

    /// The answer; nil if a job gives it.
    private func answer(_ message: Message) throws(EngineError) -> JSONValue? {
        let json = message.json
        switch message.name {
        case "files": return fileNames
        case "seen":
            awaitsPage = false
            dispatch()
            return .null
        case "open": return try openFile(json)
        case "classes": return try FileDescription.classes(of: try session(json))
        case "view": return try show(json)
        case "forget":
            views[try json.integer("view")] = nil
            return .null
        case "rows": return try rows(json)
        case "locate": return try locate(json)
        case "explain":
            return .text(try view(json).results.explain())
        case "object": return try object(json)
        case "elements": return try elements(json)
        case "bytes": return try bytes(json)
        case "find": return try find(json)
        case "commit": return try commit(json)
        case "facts":
            let number = try number(json), file = try opened(json)
            return try FileDescription.facts(
                of: file.session, path: files[number].path,
                hasKey: file.configuration.encryptionKey != nil)
        case "folder": return try folder(json)
        case "cancel":
            jobs.cancel(try json.integer("job"))
            return .null
        default: return try start(message)
        }
    }

    private func start(_ message: Message) throws(EngineError) -> JSONValue? {
        let json = message.json, id = message.id
        switch message.name {
        case "statistics":
            let view = try view(json), property = try view.owner.shown(try json.text("property"))
            jobs.statistics(of: property, in: try frozen(view), id: id)
        case "check": jobs.check(try session(json).frozen(), id: id)
        case "copy":
            let path = try madeFolder(json).new(try json.text("to"))
            jobs.copy(
                try session(json).frozen(), to: path,
                key: try opened(json).configuration.encryptionKey, id: id)
        case "export":
            let view = try view(json), path = try folderOf(view.file).new(try json.text("to"))
            let isCSV = json.isTrue("csv")
            jobs.export(try frozen(view), view.owner, to: path, isCSV: isCSV, id: id)
        case "import":
            let path = try madeFolder(json).existing(try json.text("from"))
            jobs.load(
                path, into: try json.text("class"), try opened(json).configuration,
                isCSV: json.isTrue("csv"), updates: json.isTrue("updates"), id: id)
        case "compact": jobs.compact(try opened(json).configuration, id: id)
        case "salvage":
            let number = try number(json), path = try madeFolder(json).new(try json.text("to"))
            guard let source = files[number].path else { throw Self.inMemory }
            jobs.salvage(
                source, to: path, key: try key(json) ?? files[number].configuration.encryptionKey,
                id: id)
        case let other:
            throw EngineError(.invalidArgument, "Studio does not know the message '\(other)'.")
        }
        return nil
    }

    // MARK: Files

    private var fileNames: JSONValue {
        .list(
            files.map { file in
                .object([
                    ("name", .text(file.name)), ("path", .text(file.path ?? "")),
                    ("folder", file.folder.map { .text($0.path) } ?? .null),
                ])
            })
    }

    private func number(_ json: JSONValue) throws(EngineError) -> Int {
        let number = try json.count("file")
        guard number < files.count else {
            throw EngineError(.invalidArgument, "Studio was not started with a file \(number).")
        }
        return number
    }

    private func opened(_ json: JSONValue) throws(EngineError) -> OpenFile {
        guard let file = open[try number(json)] else {
            throw EngineError(.closed, "The page has not opened this file.")
        }
        return file
    }

    private func session(_ json: JSONValue) throws(EngineError) -> Session {
        try opened(json).session
    }

    /// A key as the page has it: 128 hexadecimal digits; nil if it has none.
    private func key(_ json: JSONValue) throws(EngineError) -> EncryptionKey? {
        guard case .text(let digits)? = json.present("key") else { return nil }
        let bytes = digits.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard bytes.count == 128, digits.utf8.count == 128 else {
            throw EngineError(
                .invalidArgument,
                "A key is 64 bytes: give it as 128 hexadecimal digits, not \(digits.utf8.count).")
        }
        let key = stride(from: 0, to: 128, by: 2).map { UInt8(bytes[$0] << 4 | bytes[$0 + 1]) }
        return try key.withUnsafeBytes { bytes in
            Result { () throws(EngineError) in try EncryptionKey(engine: bytes) }
        }.get()
    }

    private func openFile(_ json: JSONValue) throws(EngineError) -> JSONValue {
        let number = try number(json)
        if open[number] == nil {
            let configuration = files[number].configuration(key: try key(json))
            let session = try Session.open(configuration)
            try session.setWakeHandler(wake)
            open[number] = OpenFile(session: session, configuration: configuration)
            open[number]?.token = try session.observe { [weak self] notification in
                self?.noteCommit(of: number, notification)
            }
        }
        let session = try session(json)
        return .object([
            ("classes", try FileDescription.classes(of: session)),
            ("version", .number(try session.version.rawValue)),
            ("isReadOnly", .bool(session.isReadOnly)),
        ])
    }

    private static let inMemory = EngineError(
        .unsupported, "This database is in memory, and has no folder to write to.")

    private func folderOf(_ number: Int) throws(EngineError) -> StudioFolder {
        guard let folder = files[number].folder else { throw Self.inMemory }
        return folder
    }

    private func madeFolder(_ json: JSONValue) throws(EngineError) -> StudioFolder {
        try folderOf(try number(json))
    }

    private func folder(_ json: JSONValue) throws(EngineError) -> JSONValue {
        var entries: [JSONValue] = []
        for entry in try madeFolder(json).entries(try json.text("path")) {
            entries.append(
                .object([
                    ("name", .text(entry.name)), ("isFolder", .bool(entry.isFolder)),
                    ("bytes", .integer(entry.size)),
                ]))
        }
        return .list(entries)
    }

    // MARK: Views

    private func view(_ json: JSONValue) throws(EngineError) -> View {
        guard let view = views[try json.integer("view")] else {
            throw EngineError(.invalidArgument, "The page has not made this view.")
        }
        return view
    }

    /// Shows objects of a class, filtered and sorted, or those in a collection or an inverse link
    /// of one object. From now on the page is told of their changes.
    private func show(_ json: JSONValue) throws(EngineError) -> JSONValue {
        let id = try json.integer("view"), number = try number(json)
        var results = try base(json, try session(json))
        let session = results.session
        if case .text(let query)? = json.present("query") { results = try results.filter(query) }
        var keys: [(path: String, isAscending: Bool)] = []
        if json.present("sort") != nil {
            for key in try json.list("sort") {
                keys.append((try key.text("by"), !key.isTrue("descending")))
            }
        }
        if !keys.isEmpty { results = try results.sorted(by: keys) }
        let owner = try session.classHandle(results.classID ?? 0)
        var view = View(file: number, owner: owner, results: results)
        let count = try results.count
        view.token = try results.observe(
            keyPaths: owner.visibleProperties.map { $0.ownsTargets ? "\($0.name).*" : $0.name },
            callsInitially: false
        ) { [weak self] notification in self?.noteChange(of: id, notification) }
        views[id] = view
        return .object([
            ("count", .count(count)), ("class", .text(owner.name)),
            ("version", .number(try session.version.rawValue)),
        ])
    }

    private func base(_ json: JSONValue, _ session: Session) throws(EngineError) -> Results {
        guard let place = json.present("of") else {
            return try session.results(
                of: try session.classHandle(named: try json.text("class")).id)
        }
        let owner = try session.classHandle(named: try place.text("class"))
        let property = try owner.shown(try place.text("property"))
        let object = try self.object(try place.integer("key"), owner, session)
        if property.type == .linkingObjects { return try object.linkingObjects(property.id) }
        guard property.type == .link, property.isCollection else {
            throw EngineError(
                .typeMismatch,
                "'\(owner.name).\(property.name)' is \(property.typeName), not many objects.")
        }
        return try object.collection(property.id, property.collection).results()
    }

    private func frozen(_ view: View) throws(EngineError) -> Results {
        try view.results.resolved(in: try view.results.session.frozen())
    }

    /// A window of rows: for each the object's key, then a cell for each property.
    private func rows(_ json: JSONValue) throws(EngineError) -> JSONValue {
        let view = try view(json), count = try view.results.count
        let window = try Self.window(json, of: count)
        let writer = CellWriter(session: view.results.session, limits: .table)
        let properties = view.owner.visibleProperties
        var rows: [JSONValue] = []
        for index in window {
            let object = try view.results.object(at: index)
            var row: [JSONValue] = [.integer(object.ref.key)]
            for property in properties { row.append(try writer.cell(of: property, in: object)) }
            rows.append(.list(row))
        }
        return .object([
            ("from", .count(window.lowerBound)), ("count", .count(count)), ("rows", .list(rows)),
        ])
    }

    /// The part of `count` elements that a message asks for; empty behind the last one.
    private static func window(_ json: JSONValue, of count: Int) throws(EngineError) -> Range<Int> {
        let from = min(try json.count("from"), count)
        return from..<from + min(count - from, try json.count("count"), mostRows)
    }

    /// The index of an object in a view; null if it is not there.
    private func locate(_ json: JSONValue) throws(EngineError) -> JSONValue {
        let view = try view(json)
        let ref = ObjectRef(classID: view.owner.id, key: try json.integer("key"))
        guard try view.results.session.object(ref) != nil,
            let index = try view.results.index(of: .link(ref))
        else { return .null }
        return .count(index)
    }

    // MARK: Objects

    private func object(_ key: Int64, _ owner: ClassHandle, _ session: Session)
        throws(EngineError) -> ObjectHandle
    {
        guard let object = try session.object(ObjectRef(classID: owner.id, key: key)) else {
            throw EngineError(
                .objectDeleted, "The object \(key) of '\(owner.name)' has been deleted.",
                number: key)
        }
        return object
    }

    /// The object that a message names.
    private func object(in json: JSONValue) throws(EngineError) -> (ObjectHandle, ClassHandle) {
        let session = try session(json)
        let owner = try session.classHandle(named: try json.text("class"))
        return (try object(try json.integer("key"), owner, session), owner)
    }

    /// All values of an object, with the beginning of each collection.
    private func object(_ json: JSONValue) throws(EngineError) -> JSONValue {
        let (object, owner) = try object(in: json)
        let writer = CellWriter(session: object.session, limits: .detail)
        var cells: [JSONValue] = []
        for property in owner.visibleProperties {
            cells.append(try writer.cell(of: property, in: object))
        }
        return .object([
            ("label", .text(try writer.label(of: object, owner))), ("cells", .list(cells)),
        ])
    }

    /// Further elements of a collection.
    private func elements(_ json: JSONValue) throws(EngineError) -> JSONValue {
        let (object, owner) = try object(in: json)
        let property = try owner.shown(try json.text("property"))
        let collection = try object.collection(property.id, property.collection)
        let writer = CellWriter(session: object.session, limits: .detail)
        var cells: [JSONValue] = []
        for index in try Self.window(json, of: try collection.count) {
            let cell = try writer.cell(at: index, of: collection)
            cells.append(
                collection.kind == .dictionary
                    ? .list([.text(try collection.entryKey(at: index)), cell]) : cell)
        }
        return .list(cells)
    }

    /// A part of data, in base64.
    private func bytes(_ json: JSONValue) throws(EngineError) -> JSONValue {
        let (object, owner) = try object(in: json)
        let property = try owner.shown(try json.text("property"))
        guard case .data(let bytes) = try object.value(property.id) else { return .null }
        let part = bytes.dropFirst(try json.count("from")).prefix(try json.count("count"))
        return .object([
            ("n", .count(bytes.count)), ("base64", .text(Base64.text(Array(part)))),
        ])
    }

    private static let mostFound = 20

    /// Objects of a class that a text names, to link to: by the primary key, or in any text.
    private func find(_ json: JSONValue) throws(EngineError) -> JSONValue {
        let session = try session(json), text = try json.text("text")
        let owner = try session.classHandle(named: try json.text("class"))
        var conditions: [String] = [], arguments: [QueryArgument] = [.value(.string(text))]
        for property in owner.visibleProperties where !property.isCollection {
            if property.type == .string {
                conditions.append("$K\(arguments.count) CONTAINS[c] $0")
            } else if property.isPrimaryKey, property.type == .int, let number = Int64(text) {
                conditions.append("$K\(arguments.count) == \(number)")
            } else {
                continue
            }
            arguments.append(.value(.string(property.name)))
        }
        var results = try session.results(of: owner.id)
        if !text.isEmpty, !conditions.isEmpty {
            results = try results.filter(
                conditions.joined(separator: " OR "), arguments: arguments)
        }
        let writer = CellWriter(session: session, limits: .table)
        var found: [JSONValue] = []
        for key in try results.limited(to: Self.mostFound).keys() {
            found.append(try writer.cell(.link(ObjectRef(classID: owner.id, key: key))))
        }
        return .list(found)
    }

    private func commit(_ json: JSONValue) throws(EngineError) -> JSONValue {
        var draft = Draft(try json.list("changes"), in: try session(json))
        do throws(EngineError) {
            return try draft.commit()
        } catch {
            // The page marks the change that was refused.
            throw EngineError(
                error.code, error.message, detail: error.detail, number: Int64(draft.position))
        }
    }

    // MARK: Changes

    /// Moves the sessions to the newest versions, and tells the page of the changes.
    package func dispatch() {
        guard !awaitsPage else { return }
        for (number, file) in open {
            do throws(EngineError) {
                if try file.session.dispatch() > 0 { awaitsPage = true }
            } catch {
                tell([
                    ("event", .text("failed")), ("file", .count(number)), ("error", error.json),
                ])
            }
        }
    }

    private func noteCommit(of number: Int, _ notification: ChangeNotification) {
        guard let session = open[number]?.session else { return }
        if case .failure(let error) = notification.kind {
            return tell([
                ("event", .text("failed")), ("file", .count(number)), ("error", error.json),
            ])
        }
        let counts = (try? FileDescription.counts(of: session)) ?? .null
        tell([
            ("event", .text("committed")), ("file", .count(number)),
            ("version", .number(notification.version.rawValue)), ("counts", counts),
        ])
    }

    private func noteChange(of id: Int64, _ notification: ChangeNotification) {
        guard let view = views[id] else { return }
        var members: [(String, JSONValue)] = [
            ("event", .text("changed")), ("view", .integer(id)),
            ("version", .number(notification.version.rawValue)),
        ]
        switch notification.kind {
        case .failure(let error): members.append(("error", error.json))
        case .deleted: members += [("isGone", .bool(true)), ("count", .count(0))]
        case .initial, .update:
            let change = notification.collection
            members += [
                ("count", .count((try? view.results.count) ?? 0)),
                ("deletions", Self.json(change.deletions)),
                ("insertions", Self.json(change.insertions)),
                ("modifications", Self.json(change.modificationsNew)),
            ]
        }
        tell(members)
    }

    /// Index sets with more runs than this are told by their ends: the page then reads all anew.
    private static let mostRuns = 5_000

    private static func json(_ indices: IndexRanges) -> JSONValue {
        let runs =
            indices.runs.count > mostRuns
            ? [(indices.runs.first?.lowerBound ?? 0)..<(indices.runs.last?.upperBound ?? 0)]
            : indices.runs
        return .list(runs.map { .list([.count($0.lowerBound), .count($0.upperBound)]) })
    }
}
