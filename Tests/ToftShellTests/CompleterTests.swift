// Tests: Completer.swift
import Testing
import ToftEngine
import ToftModel
import ToftStorage

@testable import ToftShell

@Suite struct CompleterTests {
    private func completer() throws -> Completer {
        let schema = Schema([
            ClassSchema(
                "Person",
                [
                    PropertySchema("name", .string), PropertySchema("full-name", .string),
                    .link("boss", to: "Person"), .links("dogs", to: "Dog"),
                ]),
            ClassSchema("Dog", [PropertySchema("nick", .string), PropertySchema("age", .int)]),
        ])
        let session = try Session.open(
            Configuration(
                location: .memory(name: "words \(UInt64.random(in: 0 ... .max))"), schema: schema))
        return Completer(session.schema)
    }

    @Test func `Words are completed by their place`() throws {
        let completer = try completer()
        for (before, word, expected) in [
            ("", "Pe", ["Person"]), ("", "pe", ["Person"]), ("", "und", ["undo"]),
            ("", ".mo", [".mode"]), (".mode ", "", ["table", "json", "csv", "line"]),
            (".timer ", "o", ["on", "off"]), (".schema ", "D", ["Dog"]),
            ("create ", "D", ["Dog"]), ("Person ", "whe", ["where"]),
            ("Person where ", "n", ["name", "not", "none", "null"]),
            ("Person where ", "bo", ["boss"]), ("Person where ", "boss.n", ["boss.name"]),
            ("Person where name ", "begins", ["beginswith"]),
            ("Person where ", "dogs.n", ["dogs.nick"]),
            ("Person where ", "dogs.@c", ["dogs.@count"]),
            ("Dog where ", "@links.P", ["@links.Person"]),
            ("Dog where ", "@links.Person.d", ["@links.Person.dogs"]),
            ("set Dog where age > 3 ", "ni", ["nick"]),
            ("Person show ", "full", [#"full\-name"#]), ("Person show ", "nothing", []),
            ("Cat where ", "Per", ["Person"]),
        ] {
            #expect(completer.completions(of: word, after: before) == expected, "\(before)\(word)")
        }
    }
}
