// Tests: OwnerArrangement.swift, SchemaBuilder.swift, SchemaBuilder+Defaults.swift,
// SchemaBuilder+Embedded.swift
import Synchronization
import Testing
import ToftModel
import ToftStorage
import ToftTestKit
@testable import ToftEngine

/// Properties that a file gets while it has objects.
@Suite struct DefaultsTests {
    private static let old = ClassSchema("Person", [PropertySchema("name", .string)])

    private static func new(_ more: [PropertySchema], uniques: [[String]] = []) -> Schema {
        Schema([ClassSchema("Person", old.properties + more, uniques: uniques)])
    }

    private static func configuration(
        _ path: String, _ schema: Schema, version: UInt64? = nil, _ defaults: DefaultHandler? = nil
    ) -> Configuration {
        var configuration = Configuration(
            location: .file(path: path), schema: schema, schemaVersion: version)
        configuration.defaults = defaults
        return configuration
    }

    /// People who are called 0, 1, 2...
    private static func fill(_ path: String, count: Int) throws(EngineError) {
        let session = try Session.open(configuration(path, Schema([old]), version: 1))
        try session.beginWrite()
        let person = try session.classHandle(named: "Person")
        let name = try model { () throws(ModelError) in try person.property(named: "name").id }
        for number in 0..<count {
            try session.create(person.id, [(name, .string("\(number)"))])
        }
        try session.commit()
        try session.close()
    }

    private static func values(_ session: Session, _ name: String) throws(EngineError) -> [Value] {
        let person = try session.classHandle(named: "Person")
        let id = try model { () throws(ModelError) in try person.property(named: name).id }
        let results = try session.results(of: person.id)
        var values: [Value] = []
        for index in 0..<(try results.count) {
            values.append(try results.object(at: index).value(id))
        }
        return values
    }

    /// Gives each value in turn.
    private static func giving(_ make: @escaping @Sendable (Int) -> Value?) -> DefaultHandler {
        let calls = Calls()
        return { owner, property, use throws(ModelError) in
            #expect(owner == "Person" && property == "new")
            guard let value = make(calls.next()) else { return false }
            try value.withBorrowed(use)
            return true
        }
    }

    private final class Calls: Sendable {
        private let count = Atomic(0)
        func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).oldValue }
    }

    private static let kinds: [(PropertySchema, Value)] = [
        (PropertySchema("new", .bool), .bool(true)),
        (PropertySchema("new", .int), .int(.min)),
        (PropertySchema("new", .int, isOptional: true), .int(0)),
        (PropertySchema("new", .float), .float(1.5)),
        (PropertySchema("new", .double), .double(-0.0)),
        (PropertySchema("new", .string), .string("ä")),
        (PropertySchema("new", .string, isOptional: true), .string("")),
        (PropertySchema("new", .string), .string(String(repeating: "x", count: 5000))),
        (PropertySchema("new", .data), .data([0, 1])),
        (PropertySchema("new", .date), .date(Timestamp(seconds: 1, nanoseconds: 2))),
        (PropertySchema("new", .uuid), .uuid(FixedBytes(high: 1, low: 2))),
        (PropertySchema("new", .mixed), .list([.int(1), .string("two")])),
    ]

    @Test(arguments: 0..<12)
    func `A property that is new has its default in the objects that are there`(_ kind: Int) throws
    {
        let (property, value) = Self.kinds[kind]
        try withTemporaryDatabase { file in
            try Self.fill(file.path, count: 3)
            let session = try Session.open(
                Self.configuration(file.path, Self.new([property]), Self.giving { _ in value }))
            #expect(try Self.values(session, "new") == [value, value, value])
            #expect(try session.checkEverything().problems == [])
            // The defaults are not requested again.
            let again = try Session.open(
                Self.configuration(
                    file.path, Self.new([property]),
                    Self.giving { _ in
                        Issue.record("asked")
                        return nil
                    }))
            #expect(try again.count(of: again.classHandle(named: "Person").id) == 3)
        }
    }

    @Test(arguments: [1, 255, 256, 257, 5000])
    func `Each object has its own, in indexes and unique constraints too`(_ count: Int) throws {
        try withTemporaryDatabase { file in
            try Self.fill(file.path, count: count)
            let schema = Self.new(
                [PropertySchema("new", .int, isIndexed: true)], uniques: [["new"]])
            let refused = code { () throws(EngineError) in
                _ = try Session.open(
                    Self.configuration(file.path, schema, Self.giving { _ in .int(7) }))
            }
            #expect(refused == (count > 1 ? .duplicateValue : nil))
            guard count > 1 else { return }
            let session = try Session.open(
                Self.configuration(file.path, schema, Self.giving { .int(Int64($0)) }))
            #expect(try Self.values(session, "new") == (0..<count).map { .int(Int64($0)) })
            let found = try session.results(of: session.classHandle(named: "Person").id)
                .filter("new == \(count - 1)")
            #expect(try found.count == 1)
            #expect(try session.checkEverything().problems == [])
        }
    }

    @Test func `A migration sees the defaults, and what it sets holds`() throws {
        try withTemporaryDatabase { file in
            try Self.fill(file.path, count: 3)
            // The name is a number now, and there is a new property.
            let schema = Schema([
                ClassSchema("Person", [PropertySchema("name", .int), PropertySchema("new", .int)])
            ])
            var configuration = Self.configuration(file.path, schema, version: 2)
            configuration.defaults = { _, property, use throws(ModelError) in
                try use(.int(property == "new" ? 7 : -1))
                return true
            }
            configuration.migration = { migration throws(EngineError) in
                var seen: [Value] = []
                try migration.enumerate("Person") { before, after throws(EngineError) in
                    guard let before, let after else { return }
                    let id = try model { () throws(ModelError) in
                        try after.owner.property(named: "new").id
                    }
                    seen.append(try after.value(id))
                    if before.ref.key == 1 { try after.set(id, Value.int(8)) }
                }
                #expect(seen == [.int(7), .int(7), .int(7)])
            }
            let session = try Session.open(configuration)
            #expect(try Self.values(session, "new") == [.int(7), .int(8), .int(7)])
            #expect(try Self.values(session, "name") == [.int(-1), .int(-1), .int(-1)])
            #expect(try session.checkEverything().problems == [])
        }
    }

    @Test func `A default of another type ends the opening, and the file is as it was`() throws {
        try withTemporaryDatabase { file in
            try Self.fill(file.path, count: 3)
            let property = PropertySchema("new", .int)
            for (value, expected) in [
                (Value.string("x"), ErrorCode.typeMismatch), (.null, .nullNotAllowed),
            ] {
                #expect(
                    code { () throws(EngineError) in
                        _ = try Session.open(
                            Self.configuration(
                                file.path, Self.new([property]), Self.giving { _ in value }))
                    } == expected)
                #expect {
                    _ = try Session.open(
                        Self.configuration(
                            file.path, Self.new([property]), Self.giving { _ in value }))
                } throws: { error in
                    (error as? EngineError)?.message.hasPrefix(
                        "The default that was given for property 'Person.new' does not fit: ")
                        == true
                }
            }
            #expect(
                code { () throws(EngineError) in
                    _ = try Session.open(
                        Self.configuration(
                            file.path, Self.new([PropertySchema("new", .mixed)]),
                            Self.giving { _ in .link(ObjectRef(classID: 1, key: 0)) }))
                } == .typeMismatch)
            let session = try Session.open(Configuration(location: .file(path: file.path)))
            #expect(
                session.schema.visibleClasses.first?.visibleProperties.map(\.name) == ["name"])
            #expect(try session.checkEverything().problems == [])
        }
    }

    @Test func `Links and collections stay empty, and a class without objects is not asked`() throws
    {
        try withTemporaryDatabase { file in
            let refuse: DefaultHandler = { _, _, _ in
                Issue.record("asked")
                return false
            }
            try Self.fill(file.path, count: 0)
            _ = try Session.open(
                Self.configuration(file.path, Self.new([PropertySchema("age", .int)]), refuse))
            let person = try Session.open(
                Self.configuration(file.path, Self.new([PropertySchema("age", .int)])))
            try person.beginWrite()
            try person.create(person.classHandle(named: "Person").id, [])
            try person.commit()
            let session = try Session.open(
                Self.configuration(
                    file.path,
                    Self.new([
                        .link("boss", to: "Person"), .links("team", to: "Person"),
                        PropertySchema("tags", .string, collection: .set),
                    ]), refuse))
            #expect(try Self.values(session, "boss") == [.null])
            #expect(try session.checkEverything().problems == [])
        }
    }
}
