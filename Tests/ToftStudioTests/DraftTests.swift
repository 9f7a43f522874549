// Tests: CellReader.swift, CellWriter.swift, Draft.swift
import Testing
import ToftEngine
import ToftModel
import ToftStorage
import ToftTestKit
@testable import ToftStudio

@Suite struct DraftTests {
    let database: ShownDatabase
    private var page: Page { database.page }
    private var session: Session { database.session }

    init() throws {
        database = try ShownDatabase()
        _ = try database.page.ask(file: "open")
    }

    /// Commits changes that are written as JSON.
    private func commit(_ changes: String...) throws -> JSONValue {
        let changes = try Self.json("[\(changes.joined(separator: ","))]")
        return try page.ask(file: "commit", [("changes", changes)])
    }

    private static func json(_ text: String) throws -> JSONValue {
        var text = text
        return try text.withUTF8 { try JSONParser.value(of: UnsafeRawBufferPointer($0)) }
    }

    private func set(
        _ property: String, _ value: String, was: String? = nil, key: String = "0",
        of name: String = "Person"
    ) -> String {
        #"{"op":"set","class":"\#(name)","key":\#(key),"property":"\#(property)","value":\#(value)"#
            + (was.map { #","was":\#($0)}"# } ?? "}")
    }

    private func create(_ values: String, name: String = "", of className: String = "Person")
        -> String
    {
        #"{"op":"create","class":"\#(className)","name":"\#(name)","values":\#(values)}"#
    }

    private func element(_ property: String, of name: String = "Person", _ members: String)
        -> String
    {
        #"{"op":"element","class":"\#(name)","key":0,"property":"\#(property)",\#(members)}"#
    }

    /// The cells of an object, by the names of its properties.
    private func cells(_ key: Int64, of name: String = "Person") throws -> [String: String] {
        let object = try page.ask(file: "object", [("class", .text(name)), ("key", .integer(key))])
        let names = try session.classHandle(named: name).visibleProperties.map(\.name)
        return Dictionary(
            uniqueKeysWithValues: zip(names, try object.list("cells").map(\.description)))
    }

    @Test func `A draft is one transaction, in which new objects can be linked to`() throws {
        try database.write { try database.addPerson(1) }
        let answer = try commit(
            create(#"{"id":2,"name":"Ada","notes":["a","b"]}"#, name: "new:1"),
            set("boss", #"{"k":"new:1"}"#, was: "null"),
            set("home", "{}", key: #""new:1""#),
            element("friends", #""edit":"insert","at":99,"value":{"k":"new:1"}"#)
        )
        #expect(answer.member("keys")?.member("new:1")?.number == 1)
        try session.refresh()
        #expect(try session.version.rawValue == UInt64(try answer.integer("version")))
        #expect(try cells(0)["boss"] == #"{"c":"Person","k":1,"t":"2"}"#)
        #expect(try cells(0)["friends"] == #"{"n":1,"p":[{"c":"Person","k":1,"t":"2"}]}"#)
        #expect(try cells(1)["notes"] == #"{"n":2,"p":["a","b"]}"#)
        #expect(try cells(1)["home"]?.contains("Address") == true)
        _ = try commit(#"{"op":"delete","class":"Person","key":1}"#)
        #expect(try cells(0)["boss"] == "null")
        try page.expectSound()
    }

    @Test func `A value that another program has changed is a conflict, and nothing is written`()
        throws
    {
        try database.write { for number in 1...3 { try database.addPerson(Int64(number), age: 7) } }
        try database.write {
            let people = try session.results(of: session.classHandle(named: "Person").id)
            try people.object(at: 0).set(try database.id("age"), Value.int(8))
            try people.object(at: 2).delete()
        }
        let changes = [
            set("age", "9", was: "7"),
            set("age", "9", was: "7", key: "1"),
            set("age", "9", was: "7", key: "2"),
        ]
        let answer = try commit(changes[0], changes[1], changes[2])
        let gone = #"{"change":2,"isGone":true,"now":null}"#
        let changed = #"{"change":0,"isGone":false,"now":8}"#
        #expect("\(JSONValue.list(try answer.list("conflicts")))" == "[\(changed),\(gone)]")
        #expect(try cells(1)["age"] == "7")
        // With what is there now it is written.
        let resolved = changes[0].replacing("\"was\":7", with: "\"was\":8")
        #expect(try commit(resolved, changes[1]).member("conflicts") == nil)
        #expect(try cells(0)["age"] == "9")
        #expect(try cells(1)["age"] == "9")
        try page.expectSound()
    }

    @Test func `A change that is refused is named, and none is written`() throws {
        try database.write { try database.addPerson(1) }
        let good = set("age", "5")
        for (code, bad) in [
            ("typeMismatch", set("age", #""old""#)),
            ("nullNotAllowed", set("name", "null")),
            ("primaryKeyChange", set("id", "2")),
            ("noSuchProperty", set("none", "2")),
            ("noSuchClass", set("id", "2", of: "None")),
            ("duplicatePrimaryKey", create(#"{"id":1}"#)),
            ("noSuchObject", set("boss", #"{"k":77}"#)),
            ("noSuchObject", set("age", "1", key: #""new:9""#)),
            ("embeddedObject", create("{}", of: "Address")),
            ("invalidArgument", #"{"op":"drop","class":"Person"}"#),
            ("invalidArgument", #"{"op":"set","class":"Person","property":"age","value":1}"#),
        ] {
            let answer = page.answer(
                "commit", [("file", .integer(0)), ("changes", try Self.json("[\(good),\(bad)]"))])
            let error = try #require(answer.member("error"), "\(bad): \(answer)")
            #expect(try error.text("code") == code, "\(bad): \(error)")
            #expect(error.member("number")?.number == 1)
            #expect(try cells(0)["age"] == "null")
        }
        try page.expectSound()
    }

    @Test func `Elements are inserted, set, moved and erased, if they are still there`() throws {
        _ = try commit(
            create(#"{"id":1,"notes":["a","b","c","d"]}"#),
            create(#"{"words":["x","y"],"marks":{"art":1.5}}"#, of: "Value"))
        func edit(_ property: String, of name: String = "Person", _ members: String) throws
            -> JSONValue
        {
            try commit(element(property, of: name, members))
        }
        _ = try edit("notes", #""edit":"move","at":3,"to":0,"was":"d""#)
        _ = try edit("notes", #""edit":"set","at":1,"value":"A","was":"a""#)
        _ = try edit("notes", #""edit":"erase","at":2,"was":"b""#)
        #expect(try cells(0)["notes"] == #"{"n":3,"p":["d","A","c"]}"#)
        #expect(try edit("notes", #""edit":"erase","at":0,"was":"a""#).member("conflicts") != nil)
        #expect(try edit("notes", #""edit":"erase","at":3,"was":"a""#).member("conflicts") != nil)
        _ = try edit("words", of: "Value", #""edit":"insert","at":0,"value":"w""#)
        // An element of a set is found by its value, wherever it is by now.
        _ = try edit("words", of: "Value", #""edit":"erase","at":0,"was":"x""#)
        let gone = try edit("words", of: "Value", #""edit":"erase","at":0,"was":"x""#)
        #expect(gone.member("conflicts") != nil)
        #expect(try cells(0, of: "Value")["words"] == #"{"n":2,"p":["w","y"]}"#)
        _ = try edit("marks", of: "Value", #""edit":"set","entry":"art","value":2,"was":1.5"#)
        _ = try edit("marks", of: "Value", #""edit":"set","entry":"sport","value":3"#)
        #expect(
            try cells(0, of: "Value")["marks"] == #"{"n":2,"p":[["art",2],["sport",3]]}"#)
        _ = try edit("marks", of: "Value", #""edit":"erase","entry":"art","was":2.0"#)
        #expect(
            try edit("marks", of: "Value", #""edit":"erase","entry":"art""#).member("conflicts")
                != nil)
        #expect(try cells(0, of: "Value")["marks"] == #"{"n":1,"p":[["sport",3]]}"#)
        _ = try edit("places", #""edit":"insert","at":0"#)
        #expect(try cells(0)["places"]?.contains("Address") == true)
        try page.expectSound()
    }

    /// Values as the page sends them, and as it gets them. The last one names the object.
    private static let cases: [(property: String, value: String, cell: String)] = [
        ("bool", "true", "true"), ("int", "-5", "-5"),
        ("int", "\"9223372036854775807\"", "\"9223372036854775807\""),
        ("int", "9007199254740991", "9007199254740991"),
        ("int", "\"9007199254740992\"", "\"9007199254740992\""),
        ("float", "0.1", "0.1"), ("double", "3.5", "3.5"), ("double", "\"nan\"", "\"nan\""),
        ("data", "\"AP8Q\"", #"{"n":3,"h":"00ff10"}"#),
        ("date", "\"2026-11-22T08:30:00.5Z\"", "\"2026-11-22T08:30:00.5Z\""),
        (
            "uuid", "\"01234567-89ab-cdef-0123-456789abcdef\"",
            "\"01234567-89ab-cdef-0123-456789abcdef\""
        ),
        ("objectId", "\"0123456789abcdef01234567\"", "\"0123456789abcdef01234567\""),
        ("decimal", "\"1.50\"", "\"1.50\""),
        ("link", "{\"k\":0}", ##"{"c":"Value","k":0,"t":"#0"}"##),
        ("mixed", #"{"t":"int","v":7}"#, #"{"t":"int","v":7}"#),
        (
            "mixed", #"{"t":"link","v":{"c":"Value","k":0}}"#,
            ##"{"t":"link","v":{"c":"Value","k":0,"t":"#0"}}"##
        ),
        (
            "mixed", #"{"t":"list","v":[{"t":"bool","v":true},null]}"#,
            #"{"t":"list","v":{"n":2,"p":[{"t":"bool","v":true},null]}}"#
        ),
        (
            "mixed", #"{"t":"dictionary","v":{"a":{"t":"string","v":"x"}}}"#,
            #"{"t":"dictionary","v":{"n":1,"p":[["a",{"t":"string","v":"x"}]]}}"#
        ),
        ("ints", "[1,2]", #"{"n":2,"p":[1,2]}"#),
        ("words", #"["b","a","b"]"#, #"{"n":2,"p":["a","b"]}"#),
        ("marks", #"{"a":1.5}"#, #"{"n":1,"p":[["a",1.5]]}"#),
        ("string", "\"\\u001b<b>\"", "\"\\u001b<b>\""),
    ]

    @Test func `Every type is set from the cell that shows it`() throws {
        _ = try commit(create("{}", name: "new:1", of: "Value"))
        for (property, value, cell) in Self.cases {
            #expect(try commit(set(property, value, of: "Value")).member("version") != nil)
            let shown = try #require(try cells(0, of: "Value")[property])
            #expect(shown == cell, "\(property)")
            let again = try commit(set(property, value, was: shown, of: "Value"))
            #expect(again.member("conflicts") == nil, "\(property)")
        }
        for property in try session.classHandle(named: "Value").visibleProperties
        where !property.isCollection {
            _ = try commit(
                #"{"op":"set","class":"Value","key":0,"property":"\#(property.name)","value":null}"#
            )
            #expect(try cells(0, of: "Value")[property.name] == "null")
        }
        try page.expectSound()
    }

    @Test func `A copy has all values of an object, and embedded objects of its own`() throws {
        _ = try commit(
            create(#"{"id":1,"name":"Ada","age":36,"notes":["a"]}"#),
            set("home", "{}"),
            element("places", #""edit":"insert","at":0"#),
            set("street", #""High Street""#, of: "Address"))
        _ = try commit(#"{"op":"copy","class":"Person","key":0,"values":{"id":2}}"#)
        let (first, copy) = (try cells(0), try cells(1))
        #expect(copy["id"] == "2")
        for name in ["name", "age", "notes"] { #expect(first[name] == copy[name]) }
        #expect(copy["home"]?.contains("High Street") == true)
        #expect(first["home"] != copy["home"])
        #expect(first["places"] != copy["places"])
        try page.expectSound()
    }

    @Test func `Long values are cut in the table, and shown in windows`() throws {
        let text = String(repeating: "é", count: 300)
        let data = Base64.text([UInt8](repeating: 7, count: 1_000))
        let list = "[" + (0..<250).map { "\($0)" }.joined(separator: ",") + "]"
        _ = try commit(
            #"{"op":"create","class":"Value","values":{"string":"\#(text)","ints":\#(list)}}"#,
            set("data", "\"\(data)\"", of: "Value")
        )
        _ = try page.ask(file: "view", [("view", .integer(1)), ("class", .text("Value"))])
        let window = try page.ask(
            "rows", [("view", .integer(1)), ("from", .integer(0)), ("count", .integer(1))])
        let row = "\(window)"
        #expect(row.contains(#""n":600"#) && row.contains(#"{"n":250,"p":[0,1,2]}"#))
        #expect(try cells(0, of: "Value")["string"] == "\"\(text)\"")
        let place = [("class", JSONValue.text("Value")), ("key", JSONValue.integer(0))]
        for (from, count, found) in [
            (0, 200, 200), (249, 2, 1), (250, 1, 0), (Int.max, Int.max, 0),
        ] {
            let elements = try page.ask(
                file: "elements",
                place + [
                    ("property", .text("ints")), ("from", .count(from)), ("count", .count(count)),
                ])
            guard case .list(let cells) = elements else { Issue.record("no list"); return }
            #expect(cells.count == found)
        }
        let part = try page.ask(
            file: "bytes",
            place + [
                ("property", .text("data")), ("from", .integer(998)), ("count", .integer(.max)),
            ])
        #expect("\(part)" == #"{"n":1000,"base64":"Bwc="}"#)
        try page.expectSound()
    }
}
