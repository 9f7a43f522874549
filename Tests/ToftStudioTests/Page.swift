import Dispatch
import Synchronization
import Testing
import ToftEngine
import ToftModel
import ToftStorage
import ToftTestKit
@testable import ToftStudio

/// A page of Studio, without a browser: it asks, and reads the answers and events.
final class Page {
    let conversation: Conversation
    private let inbox: Inbox
    private var nextID: Int64 = 1

    /// The messages that have come and nobody has read.
    private final class Inbox: Sendable {
        let messages = Mutex<[JSONValue]>([])
        /// Signalled for each message, and for each wake.
        let news = DispatchSemaphore(value: 0)

        func put(_ text: String) {
            var text = text
            let json = try? text.withUTF8 { bytes in
                try JSONParser.value(of: UnsafeRawBufferPointer(bytes))
            }
            messages.withLock { $0.append(json ?? .text("not JSON: \(text)")) }
            news.signal()
        }

        func take(_ isWanted: (JSONValue) -> Bool) -> JSONValue? {
            messages.withLock { messages in
                messages.firstIndex(where: isWanted).map { messages.remove(at: $0) }
            }
        }
    }

    init(_ files: [StudioFile]) {
        let inbox = Inbox()
        self.inbox = inbox
        conversation = Conversation(
            files, send: { inbox.put($0) }, wake: { _ = inbox.news.signal() })
    }

    deinit { conversation.close() }

    /// The answer to a message, or its error.
    func answer(_ name: String, _ members: [(String, JSONValue)] = []) -> JSONValue {
        let id = nextID
        nextID += 1
        let message = JSONValue.object([("id", .integer(id)), ("do", .text(name))] + members)
        conversation.receive("\(message)")
        while true {
            let found = inbox.take { json in
                if case .integer(id)? = json.member("id") { true } else { false }
            }
            if let found { return found }
            inbox.news.wait()
        }
    }

    func ask(_ name: String, _ members: [(String, JSONValue)] = []) throws -> JSONValue {
        let answer = answer(name, members)
        return try #require(answer.member("ok"), "\(name): \(answer)")
    }

    /// Asks about the first file.
    func ask(file name: String, _ members: [(String, JSONValue)] = []) throws -> JSONValue {
        try ask(name, [("file", .integer(0))] + members)
    }

    /// The code of the error that a message gets.
    func code(_ name: String, _ members: [(String, JSONValue)] = []) -> String {
        answer(name, [("file", .integer(0))] + members).member("error")?.member("code")?.string
            ?? "none"
    }

    /// The answer to a text that is no message.
    func answerToText(_ text: String) -> JSONValue? {
        conversation.receive(text)
        return inbox.take { $0.member("event") == nil }
    }

    /// The next event of a name, when it has come.
    func event(_ name: String) -> JSONValue {
        while true {
            // An answer that was waited for may have taken the wake.
            conversation.dispatch()
            if let found = inbox.take({ $0.member("event")?.string == name }) { return found }
            inbox.news.wait()
        }
    }

    /// Whether an event waits that has not been read.
    var hasEvent: Bool {
        inbox.messages.withLock { $0.contains { $0.member("event") != nil } }
    }

    /// The keys of all rows of a view.
    func keys(_ view: Int64) throws -> [Int64] {
        var keys: [Int64] = []
        while true {
            let window = try ask(
                "rows",
                [("view", .integer(view)), ("from", .count(keys.count)), ("count", .integer(7))])
            let rows = try window.list("rows")
            if rows.isEmpty { return keys }
            for case .list(let row) in rows { keys.append(try #require(row.first?.number)) }
        }
    }

    /// Nothing is wrong with the file.
    func expectSound() throws {
        #expect(try ask(file: "check").list("problems").isEmpty)
    }
}

extension JSONValue {
    var string: String? { if case .text(let text) = self { text } else { nil } }
    var number: Int64? { if case .integer(let number) = self { number } else { nil } }

    /// The runs of an index set, as its indices.
    var indices: [Int] {
        guard case .list(let runs) = self else { return [] }
        return runs.flatMap { run -> [Int] in
            guard case .list(let ends) = run, let start = ends.first?.number,
                let end = ends.last?.number
            else { return [] }
            return Array(Int(start)..<Int(end))
        }
    }
}

/// A database in memory, shown by a page.
struct ShownDatabase {
    static let schema = Schema([
        ClassSchema(
            "Person",
            [
                PropertySchema("id", .int, isPrimaryKey: true), PropertySchema("name", .string),
                PropertySchema("age", .int, isOptional: true, isIndexed: true),
                .link("boss", to: "Person"), .links("friends", to: "Person"),
                PropertySchema("notes", .string, collection: .list),
                .link("home", to: "Address"),
                PropertySchema("places", .link, collection: .list, target: "Address"),
                .linkingObjects("reports", from: "Person", "boss"),
            ]),
        ClassSchema(
            "Address", isEmbedded: true,
            [PropertySchema("street", .string), PropertySchema("number", .int)]),
        ClassSchema(
            "Value",
            [
                PropertySchema("bool", .bool, isOptional: true),
                PropertySchema("int", .int, isOptional: true),
                PropertySchema("float", .float, isOptional: true),
                PropertySchema("double", .double, isOptional: true),
                PropertySchema("string", .string, isOptional: true),
                PropertySchema("data", .data, isOptional: true),
                PropertySchema("date", .date, isOptional: true),
                PropertySchema("uuid", .uuid, isOptional: true),
                PropertySchema("objectId", .objectId, isOptional: true),
                PropertySchema("decimal", .decimal128, isOptional: true),
                PropertySchema("mixed", .mixed), .link("link", to: "Value"),
                PropertySchema("ints", .int, collection: .list),
                PropertySchema("words", .string, collection: .set),
                PropertySchema("marks", .double, collection: .dictionary),
            ]),
    ])

    let session: Session
    let page: Page

    init() throws {
        let name = "studio \(UInt64.random(in: 0 ... .max))"
        session = try Session.open(
            Configuration(location: .memory(name: name), schema: Self.schema))
        page = Page([StudioFile(memory: name)])
    }

    func id(_ name: String, of className: String = "Person") throws -> PropertyID {
        try session.classHandle(named: className).property(named: name).id
    }

    func write(_ body: () throws -> Void) throws {
        try session.beginWrite()
        try body()
        try session.commit()
    }

    @discardableResult
    func addPerson(_ number: Int64, age: Int64? = nil) throws -> ObjectHandle {
        try session.create(
            try session.classHandle(named: "Person").id,
            [
                (try id("id"), .int(number)), (try id("name"), .string("person \(number)")),
                (try id("age"), age.map(Value.int) ?? .null),
            ])
    }
}
