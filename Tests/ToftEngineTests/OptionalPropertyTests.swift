// Tests: SchemaMigration.swift
import Testing
import ToftModel
import ToftStorage
@testable import ToftEngine

/// A session makes properties optional while others have the file open.
@Suite struct OptionalPropertyTests {
    private static func schema(optional isOptional: Bool) -> Schema {
        Schema([
            ClassSchema(
                "Dog",
                [
                    PropertySchema("age", .int, isOptional: isOptional, isIndexed: true),
                    PropertySchema("name", .string, isOptional: isOptional),
                ])
        ])
    }

    private struct Dogs {
        let session: Session
        let dog: ClassID
        let age: PropertyID
        let name: PropertyID

        init(_ session: Session) throws {
            self.session = session
            let owner = try session.classHandle(named: "Dog")
            dog = owner.id
            age = try owner.property(named: "age").id
            name = try owner.property(named: "name").id
        }

        init(_ location: StoreConfiguration.Location, optional isOptional: Bool) throws {
            try self.init(
                try Session.open(
                    Configuration(location: location, schema: schema(optional: isOptional))))
        }

        func write(_ body: () throws -> Void) throws {
            try session.beginWrite()
            try body()
            try session.commit()
        }

        func found(_ text: String) throws -> [Int64] {
            let results = try session.results(of: dog).filter(text, arguments: [])
            return try (0..<results.count).map { try results.key(at: $0) }
        }
    }

    private static var location: StoreConfiguration.Location {
        .memory(name: "optional \(UInt64.random(in: 0 ... .max))")
    }

    @Test func `Open results, handles, observers and frozen sessions go on with the old classes`()
        throws
    {
        let location = Self.location
        let old = try Dogs(location, optional: false)
        try old.write {
            for age in 0..<300 as Range<Int64> {
                try old.session.create(
                    old.dog, [(old.age, .int(age % 10)), (old.name, .string("a"))])
            }
        }
        let five = try old.session.results(of: old.dog).filter("age == 5", arguments: [])
        let sorted = try old.session.results(of: old.dog).filter(
            "TRUEPREDICATE SORT(age ASC)", arguments: [])
        #expect(try five.count == 30)
        let first = try #require(try old.session.object(ObjectRef(classID: old.dog, key: 5)))
        var modified = 0
        let token = try five.observe { change in
            modified += change.collection.deletions.count + change.collection.modifications.count
        }
        try old.session.refresh()
        let frozen = try Dogs(try old.session.frozen())

        let new = try Dogs(location, optional: true)
        #expect(new.age == old.age && new.name == old.name)
        try new.write {
            try new.session.object(ObjectRef(classID: new.dog, key: 5))?.set(new.age, Value.null)
            try new.session.create(new.dog)
        }
        #expect(try five.count == 30)
        #expect(try first.value(old.age) == .int(5))
        #expect(try old.session.refresh())
        #expect(try five.count == 29)
        #expect(modified == 1)
        #expect(try first.value(old.age) == .null)
        #expect(try sorted.key(at: 0) == 5)
        #expect(try sorted.count == 301)
        #expect(try old.found("age == NULL") == [5, 300])
        #expect(try old.found("age == 7") == new.found("age == 7"))
        #expect(try frozen.found("age == 5").count == 30)
        #expect(try frozen.found("age == NULL") == [])
        withExtendedLifetime(token) {}

        // The old session's writes fit both schemas.
        try old.session.beginWrite()
        #expect(
            code { () throws(EngineError) in try first.set(old.age, Value.null) } == .nullNotAllowed
        )
        let made = try old.session.create(old.dog)
        #expect(try made.value(old.age) == .int(0))
        #expect(try made.value(old.name) == .string(""))
        try first.set(old.age, Value.int(-5))
        try old.session.commit()
        try new.session.refresh()
        #expect(try new.found("age == -5") == [5])
        #expect(try new.found("age == NULL") == [300])
        #expect(try new.found("name == NULL") == [300])
        #expect(try new.session.checkEverything().problems == [])
        #expect(try old.session.checkEverything().problems == [])
    }

    @Test func `A session that waits to write finds the properties optional when its turn comes`()
        throws
    {
        let location = Self.location
        let old = try Dogs(location, optional: false)
        try old.write { try old.session.create(old.dog, [(old.age, .int(1))]) }
        let new = try Dogs(location, optional: true)
        try new.write { try new.session.create(new.dog) }
        // It has not refreshed in between.
        try old.write {
            try old.session.object(ObjectRef(classID: old.dog, key: 1))?.set(old.age, Value.int(2))
            try old.session.create(old.dog)
        }
        try new.session.refresh()
        #expect(try new.found("age == 2") == [1])
        #expect(try new.found("age == 0") == [2])
        #expect(try new.session.checkEverything().problems == [])
    }

    @Test func `The old classes open nothing new, but another session like an open one`() throws {
        let location = Self.location
        let old = try Dogs(location, optional: false)
        try old.write { try old.session.create(old.dog, [(old.age, .int(1))]) }
        let new = try Dogs(location, optional: true)
        try new.write { try new.session.create(new.dog) }
        #expect(
            code { () throws(EngineError) in
                _ = try Session.open(
                    Configuration(location: location, schema: Self.schema(optional: false)))
            } == .schemaMismatch)
        let another = try Dogs(try old.session.another(old.session.options))
        try old.session.close()
        #expect(
            code { () throws(EngineError) in
                _ = try old.session.another(old.session.options)
            } == .closed)
        #expect(try another.found("age == NULL") == [1])
        try another.write { try another.session.create(another.dog) }
        #expect(try another.found("age == 0") == [2])
        try new.session.refresh()
        try new.session.close()
        #expect(try another.session.checkEverything().problems == [])
    }

    @Test func `Read-only sessions say what to do, and see what others make optional`() throws {
        let location = Self.location
        let old = try Dogs(location, optional: false)
        try old.write { try old.session.create(old.dog, [(old.age, .int(1))]) }
        var configuration = Configuration(
            location: location, mode: .readOnly, schema: Self.schema(optional: false))
        let reader = try Dogs(try Session.open(configuration))
        configuration.schema = Self.schema(optional: true)
        do throws(EngineError) {
            _ = try Session.open(configuration)
            Issue.record("opened")
        } catch {
            #expect(error.code == .schemaMismatch)
            #expect(error.detail.contains("Open the file once for writing with this schema"))
        }
        let new = try Dogs(location, optional: true)
        try new.write { try new.session.create(new.dog) }
        #expect(try Dogs(try Session.open(configuration)).found("age == NULL") == [1])
        try reader.session.refresh()
        #expect(try reader.found("age == NULL") == [1])
        #expect(try new.session.checkEverything().problems == [])
    }
}
