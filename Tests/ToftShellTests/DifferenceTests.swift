// Tests: FileDifference.swift
import Testing
import ToftEngine
import ToftModel
import ToftStorage

@testable import ToftShell

@Suite struct DifferenceTests {
    private func session(_ schema: Schema, _ statements: [(String, String)]) throws -> Session {
        let session = try Session.open(
            Configuration(
                location: .memory(name: "difference \(UInt64.random(in: 0 ... .max))"),
                schema: schema))
        try session.beginWrite()
        var objects = ObjectsFromJSON(session, policy: .error)
        for (name, json) in statements {
            let value = try Array(json.utf8).withUnsafeBytes { try JSONParser.value(of: $0) }
            try objects.add(value, of: try session.classHandle(named: name))
        }
        try objects.link { _, work throws(EngineError) in try work() }
        try session.commit()
        return session
    }

    private func differences(_ left: Session, _ right: Session) throws -> [String] {
        var lines: [String] = []
        var difference = FileDifference(left, right) { lines.append($0.description) }
        let count = try difference.find()
        #expect(count == lines.count)
        return lines
    }

    private static let person = ClassSchema(
        "Person",
        [
            PropertySchema("id", .int, isPrimaryKey: true), PropertySchema("name", .string),
            PropertySchema("tags", .string, collection: .set), .link("boss", to: "Person"),
        ])
    private static let note = ClassSchema("Note", [PropertySchema("text", .string)])

    @Test func `Equal files have no difference, whatever the order of their objects`() throws {
        let schema = Schema([Self.person, Self.note])
        let rows = [
            ("Person", #"{"id": 1, "name": "a", "tags": ["x", "y"]}"#),
            ("Person", #"{"id": 2, "boss": 1}"#), ("Note", #"{"text": "n"}"#),
            ("Note", #"{"text": "n"}"#), ("Note", #"{"text": "m"}"#),
        ]
        let left = try session(schema, rows), right = try session(schema, rows.reversed())
        #expect(try differences(left, right) == [])
    }

    @Test func `Objects are compared by key, others by their values`() throws {
        let schema = Schema([Self.person, Self.note])
        let left = try session(
            schema,
            [
                ("Person", #"{"id": 1, "name": "a"}"#), ("Person", #"{"id": 2, "name": "b"}"#),
                ("Note", #"{"text": "n"}"#), ("Note", #"{"text": "n"}"#),
            ])
        let right = try session(
            schema,
            [
                ("Person", #"{"id": 1, "name": "c", "tags": ["x"]}"#),
                ("Person", #"{"id": 3, "boss": 1}"#),
                ("Note", #"{"text": "n"}"#), ("Note", #"{"text": "m"}"#),
            ])
        let lines = try differences(left, right)
        #expect(
            lines.filter { $0.contains("Person") } == [
                #"{"kind":"changed","class":"Person","key":1,"properties":{"#
                    + #""name":{"before":"a","after":"c"},"tags":{"before":[],"after":["x"]}}}"#,
                #"{"kind":"deleted","class":"Person","key":2,"object":"#
                    + #"{"id":2,"name":"b","tags":[],"boss":null}}"#,
                #"{"kind":"created","class":"Person","key":3,"object":"#
                    + #"{"id":3,"name":"","tags":[],"boss":1}}"#,
            ])
        #expect(
            lines.filter { $0.contains("Note") } == [
                #"{"kind":"deleted","class":"Note","object":{"text":"n"}}"#,
                #"{"kind":"created","class":"Note","object":{"text":"m"}}"#,
            ])
    }

    @Test func `Classes and properties that differ are told`() throws {
        let other = ClassSchema(
            "Person",
            [
                PropertySchema("id", .int, isPrimaryKey: true),
                PropertySchema("name", .string, isOptional: true, isIndexed: true),
            ])
        let left = try session(Schema([Self.person, Self.note]), [])
        let right = try session(Schema([other]), [])
        #expect(
            try differences(left, right).sorted() == [
                #"{"kind":"class","class":"Note","difference":"only in the first file"}"#,
                #"{"kind":"schema","class":"Person","property":"boss","before":"#
                    + #""link to 'Person'","after":null}"#,
                #"{"kind":"schema","class":"Person","property":"name","before":"string","#
                    + #""after":"optional string, indexed"}"#,
                #"{"kind":"schema","class":"Person","property":"tags","before":"set of string","#
                    + #""after":null}"#,
            ])
    }
}
