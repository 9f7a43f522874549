// Tests: Conversation.swift, FileDescription.swift, Message.swift, PageFile.swift, StudioFile.swift
import Testing
import ToftEngine
import ToftModel
import ToftStorage
import ToftTestKit
@testable import ToftStudio

@Suite struct ConversationTests {
    let database: ShownDatabase
    private var page: Page { database.page }
    private var session: Session { database.session }

    init() throws { database = try ShownDatabase() }

    private func show(
        _ view: Int64 = 1, query: String? = nil, sort: String? = nil, descending: Bool = false
    ) throws -> JSONValue {
        let key = JSONValue.object([
            ("by", .text(sort ?? "")), ("descending", .bool(descending)),
        ])
        return try page.ask(
            file: "view",
            [
                ("view", .integer(view)), ("class", .text("Person")),
                ("query", query.map { .text($0) } ?? .null),
                ("sort", .list(sort == nil ? [] : [key])),
            ])
    }

    @Test func `A file's classes, their properties and their sizes are told when it is opened`()
        throws
    {
        try database.write { try database.addPerson(1) }
        let opened = try page.ask(file: "open")
        let classes = try opened.list("classes")
        #expect(try classes.map { try $0.text("name") } == ["Person", "Address", "Value"])
        #expect(classes[0].member("count")?.number == 1)
        #expect(classes[1].isTrue("isEmbedded"))
        let properties = try classes[0].list("properties")
        #expect(properties[0].isTrue("isPrimaryKey"))
        #expect(properties[2].isTrue("isIndexed"))
        #expect(try properties[3].text("target") == "Person")
        #expect(properties[6].isTrue("ownsTargets"))
        #expect(try properties[8].text("origin") == "boss")
        let facts = try page.ask(file: "facts")
        #expect(facts.member("isEncrypted")?.description == "false")
        #expect(try page.ask("files").description.contains("studio"))
        try page.expectSound()
    }

    @Test func `Rows come in windows, sorted and filtered as asked`() throws {
        let numbers: [Int64] = Array(0..<50)
        try database.write {
            for number in numbers { try database.addPerson(number, age: 99 - number) }
        }
        _ = try page.ask(file: "open")
        #expect(try show().member("count")?.number == 50)
        let all = try page.keys(1)
        #expect(all.count == 50)
        _ = try show(sort: "age")
        #expect(try page.keys(1) == all.reversed())
        #expect(try show(query: "age >= 90", sort: "age", descending: true).count("count") == 10)
        #expect(try page.keys(1) == Array(all.prefix(10)))
        for (from, count, found) in [(49, 5, 1), (50, 5, 0), (51, 5, 0), (0, 0, 0), (0, 5_000, 50)]
        {
            _ = try show()
            let window = try page.ask(
                "rows", [("view", .integer(1)), ("from", .count(from)), ("count", .count(count))])
            #expect(try window.list("rows").count == found, "\(from), \(count)")
        }
        let beyond = [
            ("view", JSONValue.integer(1)), ("from", .integer(.max)), ("count", .integer(.max)),
        ]
        #expect(try page.ask("rows", beyond).list("rows").isEmpty)
        try page.expectSound()
    }

    @Test func `An error in a query says where it is, and the view stays as it was`() throws {
        try database.write { try database.addPerson(1) }
        _ = try page.ask(file: "open")
        _ = try show()
        let answer = page.answer(
            "view",
            [
                ("file", .integer(0)), ("view", .integer(1)), ("class", .text("Person")),
                ("query", .text("age > 5 AND")),
            ])
        let error = try #require(answer.member("error"))
        #expect(try error.text("code") == "querySyntax")
        #expect(error.member("number")?.number == 11)
        #expect(try error.text("detail").contains("^"))
        #expect(try page.keys(1).count == 1)
        try page.expectSound()
    }

    /// Commits at random, and a copy of the keys that the events change as they say.
    @Test func `The index sets of what others commit turn the old rows into the new ones`() throws {
        var seed = Seed(45)
        _ = try page.ask(file: "open")
        _ = try show(query: "age < 60", sort: "age")
        var copy: [Int64] = []
        var next: Int64 = 0
        for _ in 0..<60 {
            try database.write {
                let owner = try session.classHandle(named: "Person").id
                let people = try session.results(of: owner)
                for _ in 0...seed.below(4) {
                    let count = try people.count
                    if count < 5 || seed.chance(50) {
                        try database.addPerson(next, age: Int64(seed.below(100)))
                        next += 1
                    } else if seed.chance(40) {
                        try people.object(at: seed.below(count)).delete()
                    } else {
                        try people.object(at: seed.below(count)).set(
                            try database.id("age"), Value.int(Int64(seed.below(100))))
                    }
                }
            }
            let version = try page.event("committed").integer("version")
            _ = try page.ask("seen")
            let shown = try page.keys(1)
            while let change = page.pendingChange() {
                #expect(try change.integer("version") == version)
                for index in change.member("deletions")?.indices.reversed() ?? [] {
                    copy.remove(at: index)
                }
                for index in change.member("insertions")?.indices ?? [] {
                    copy.insert(shown[index], at: index)
                }
                #expect(try change.count("count") == copy.count)
            }
            #expect(copy == shown)
        }
        try page.expectSound()
    }

    @Test func `No event follows until the page has seen the last one`() throws {
        _ = try page.ask(file: "open")
        try database.write { try database.addPerson(1) }
        let first = try page.event("committed").integer("version")
        for number in 2...4 { try database.write { try database.addPerson(Int64(number)) } }
        page.conversation.dispatch()
        #expect(!page.hasEvent)
        // The next one may have been prepared before the last commits.
        var last = first, events = 0
        while last < first + 3 {
            _ = page.answer("seen")
            let next = page.event("committed")
            last = try next.integer("version")
            #expect(next.member("counts")?.member("Person")?.number == last - first + 1)
            events += 1
        }
        #expect(events <= 2)
        try page.expectSound()
    }

    @Test func `An object is shown with its links, its inverse links and what is inside of it`()
        throws
    {
        try database.write {
            let boss = try database.addPerson(1), person = try database.addPerson(2)
            try person.set(try database.id("boss"), Value.link(boss.ref))
            let home = try person.setEmbedded(try database.id("home"), [])
            try home.set(try database.id("street", of: "Address"), Value.string("High Street"))
        }
        _ = try page.ask(file: "open")
        let object = try page.ask(
            file: "object", [("class", .text("Person")), ("key", .integer(1))])
        let cells = try object.list("cells")
        #expect(try object.text("label") == "2")
        #expect("\(cells[3])" == #"{"c":"Person","k":0,"t":"1"}"#)
        #expect(try cells[6].text("t") == "street: High Street, number: 0")
        let boss = try page.ask(file: "object", [("class", .text("Person")), ("key", .integer(0))])
        #expect("\(try boss.list("cells")[8])" == #"{"n":1,"p":[{"c":"Person","k":1,"t":"2"}]}"#)
        // Those who link to it are a view of their own.
        let of = JSONValue.object([
            ("class", .text("Person")), ("key", .integer(0)), ("property", .text("reports")),
        ])
        #expect(
            try page.ask(file: "view", [("view", .integer(2)), ("of", of)]).count("count") == 1)
        #expect(try page.keys(2) == [1])
        let found = try page.ask(file: "find", [("class", .text("Person")), ("text", .text("2"))])
        #expect("\(found)".contains(#""k":1"#))
        _ = try show(sort: "id", descending: true)
        let place = [("view", JSONValue.integer(1)), ("key", JSONValue.integer(0))]
        #expect(try page.ask("locate", place).number == 1)
        try page.expectSound()
    }

    @Test func `What is no message, or asks for what is not there, is an error and nothing else`()
        throws
    {
        _ = try page.ask(file: "open")
        for text in ["", "{", "[]", "7", "null", "{}", #"{"id":1}"#, #"{"id":"1","do":"files"}"#] {
            #expect(page.answerToText(text)?.member("error") != nil, "\(text)")
        }
        #expect(page.code("nonsense") == "invalidArgument")
        #expect(page.answer("open", [("file", .integer(1))]).member("error") != nil)
        #expect(page.answer("open", [("file", .integer(-1))]).member("error") != nil)
        #expect(page.code("rows", [("view", .integer(9))]) == "invalidArgument")
        #expect(
            page.code("view", [("view", .integer(1)), ("class", .text("None"))]) == "noSuchClass")
        let none = [("class", JSONValue.text("Person")), ("key", JSONValue.integer(5))]
        #expect(page.code("object", none) == "objectDeleted")
        #expect(page.code("commit", [("changes", .text("all"))]) == "invalidArgument")
        #expect(page.code("copy", [("to", .text("x"))]) == "unsupported")
        #expect(page.code("open", [("key", .text("00"))]) == "none")
        try page.expectSound()
    }

    @Test func `Each file of the page is there, and no other`() {
        let paths = [
            "/", "/studio.css", "/icon.svg", "/main.js", "/socket.js", "/elements.js", "/values.js",
            "/table.js", "/query.js", "/details.js", "/draft.js", "/schema.js", "/panels.js",
        ]
        for path in paths { #expect(PageFile(path: path)?.bytes.isEmpty == false, "\(path)") }
        for path in ["", "/x", "/../main.js", "//main.js", "/main.js/"] {
            #expect(PageFile(path: path) == nil, "\(path)")
        }
    }
}

extension Page {
    /// The next change of a view that has come already.
    func pendingChange() -> JSONValue? { hasEvent ? event("changed") : nil }
}
