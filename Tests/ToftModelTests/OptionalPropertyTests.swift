// Tests: ModelSchema+Opening.swift
import Testing
@testable import ToftModel
import ToftStorage

/// Properties that were required and are declared optional: opening makes them so.
@Suite struct OptionalPropertyTests {
    private static let types: [(name: String, type: PropertyType, value: Value, zero: Value)] = [
        ("bool", .bool, .bool(true), .bool(false)), ("int", .int, .int(-7), .int(0)),
        ("float", .float, .float(1.5), .float(0)), ("double", .double, .double(2.5), .double(0)),
        ("string", .string, .string("Rex"), .string("")),
        ("data", .data, .data([1, 2]), .data([])),
        (
            "date", .date, .date(Timestamp(seconds: 3, nanoseconds: 4)),
            .date(Timestamp(seconds: 0, nanoseconds: 0))
        ),
        ("uuid", .uuid, .uuid(FixedBytes(high: 1, low: 2)), .uuid(.zero)),
        ("objectId", .objectId, .objectId(FixedBytes(high: 3, low: 4 << 32)), .objectId(.zero)),
        ("decimal128", .decimal128, .decimal(Decimal128(Int64(7))), .decimal(.zero)),
    ]

    /// A class with a property of each type.
    private static func all(optional isOptional: Bool, indexed isIndexed: Bool = false)
        -> ClassSchema
    {
        ClassSchema(
            "All",
            types.map {
                PropertySchema(
                    $0.name, $0.type, isOptional: isOptional,
                    isIndexed: isIndexed && $0.type.canBeIndexed)
            })
    }

    private static func dog(
        keyIsOptional: Bool = false, keyType: PropertyType = .string, ageIsOptional: Bool = false,
        ageIsIndexed: Bool = true
    ) -> ClassSchema {
        ClassSchema(
            "Dog",
            [
                PropertySchema("name", keyType, isOptional: keyIsOptional, isPrimaryKey: true),
                PropertySchema("age", .int, isOptional: ageIsOptional, isIndexed: ageIsIndexed),
            ])
    }

    @Test(arguments: [0, 1, 255, 256, 257, 2_000], [false, true])
    func `Every value stays, null can be set, and new objects are null`(
        count: Int, isIndexed: Bool
    ) throws {
        let database = try ModelDatabase(Self.all(optional: false, indexed: isIndexed))
        let keys = try database.write { transaction throws in
            try (0..<count).map { index in
                index % 2 == 0
                    ? try transaction.create("All")
                    : try transaction.create(
                        "All", ["bool": .bool(true), "int": .int(-7), "float": .float(1.5)])
            }
        }
        try database.write { transaction throws in
            for key in keys where key % 2 == 1 {
                for each in Self.types { try transaction.set(key, "All", each.name, each.value) }
            }
        }
        let version = database.store.latestVersion
        try database.reopen(Self.all(optional: true, indexed: isIndexed))
        // One transaction does all of it, so that a crash leaves all of it or nothing.
        #expect(try database.read { try $0.snapshot.records(after: version)?.count } == 1)
        try database.read { view throws in
            for key in keys {
                for each in Self.types {
                    #expect(
                        try view.value(key, "All", each.name)
                            == (key % 2 == 1 ? each.value : each.zero))
                }
            }
        }
        try database.write { transaction throws in
            for key in keys where key % 3 == 0 {
                for each in Self.types { try transaction.set(key, "All", each.name, .null) }
            }
            let new = try transaction.create("All")
            for each in Self.types {
                #expect(try transaction.view.value(new, "All", each.name) == .null)
            }
            guard isIndexed else { return }
            for each in Self.types where each.type.canBeIndexed {
                let nulls = keys.filter { $0 % 3 == 0 } + [new]
                let set = keys.filter { $0 % 3 != 0 && $0 % 2 == 1 }
                #expect(try transaction.view.keys("All", each.name, equalTo: .null) == nulls)
                #expect(try transaction.view.keys("All", each.name, equalTo: each.value) == set)
            }
        }
        let last = database.store.latestVersion
        try database.reopen(Self.all(optional: true, indexed: isIndexed))
        #expect(database.store.latestVersion == last)
        try database.check()
    }

    @Test(arguments: [1, 255, 256, 257, 2_000])
    func `Objects that are older than the property keep what they read, new ones are null`(
        count: Int
    ) throws {
        let database = try ModelDatabase(ClassSchema("All", [PropertySchema("old", .int)]))
        let keys = try database.write { transaction throws in
            try (0..<count).map { try transaction.create("All", ["old": .int(Int64($0))]) }
        }
        try database.reopen(Self.all(optional: false, indexed: true))
        try database.reopen(Self.all(optional: true, indexed: true))
        let added = try database.write { transaction throws in
            try (0..<300).map { _ in try transaction.create("All") }
        }
        try database.read { view throws in
            for each in Self.types {
                for key in keys { #expect(try view.value(key, "All", each.name) == each.zero) }
                for key in added { #expect(try view.value(key, "All", each.name) == .null) }
            }
            #expect(try view.keys("All", "int", equalTo: .int(0)) == keys)
            #expect(try view.keys("All", "int", equalTo: .null) == added)
        }
        // Clusters of both kinds are written, divided and merged.
        try database.write { transaction throws in
            for key in keys + added where key % 5 != 0 { try transaction.erase(key, "All") }
            for key in keys where key % 10 == 0 {
                try transaction.set(key, "All", "string", .null)
                try transaction.set(key, "All", "double", .double(1))
            }
        }
        try database.check()
    }

    @Test func `An index may come or go in the same opening`() throws {
        let database = try ModelDatabase(Self.dog(ageIsIndexed: false))
        let key = try database.write {
            try $0.create("Dog", ["name": .string("Rex"), "age": .int(7)])
        }
        try database.reopen(Self.dog(ageIsOptional: true, ageIsIndexed: true))
        #expect(try database.read { try $0.keys("Dog", "age", equalTo: .int(7)) } == [key])
        try database.check()

        let other = try ModelDatabase(Self.dog(ageIsIndexed: true))
        try other.write { _ = try $0.create("Dog", ["name": .string("Rex"), "age": .int(7)]) }
        try other.reopen(Self.dog(ageIsOptional: true, ageIsIndexed: false))
        #expect(try other.property("Dog", "age").isIndexed == false)
        #expect(try other.read { try $0.value(0, "Dog", "age") } == .int(7))
        try other.check()
    }

    @Test func `A primary key finds the same objects, and then one with null`() throws {
        let ints = try ModelDatabase(Self.dog(keyType: .int))
        let texts = try ModelDatabase(Self.dog())
        let lengths = [0, 1, 199, 200, 201, 5_000]
        let names = lengths.flatMap { length in
            ["a", "b"].map { String(repeating: "x", count: length) + $0 }
        }
        for index in 0..<600 {
            try ints.write { _ = try $0.create("Dog", ["name": .int(Int64(index) - 300)]) }
        }
        try texts.write { for name in names { try $0.create("Dog", ["name": .string(name)]) } }
        try ints.reopen(Self.dog(keyIsOptional: true, keyType: .int))
        try texts.reopen(Self.dog(keyIsOptional: true))
        try ints.read { view throws in
            for index in 0..<600 as Range<Int64> {
                #expect(try view.find("Dog", .int(index - 300)) == index)
            }
            #expect(try view.find("Dog", .null) == nil)
        }
        try texts.read { view throws in
            for (key, name) in names.enumerated() {
                #expect(try view.find("Dog", .string(name)) == Int64(key))
            }
        }
        for (database, taken) in [(ints, Value.int(7)), (texts, .string(names[11]))] {
            let key = try database.write { try $0.create("Dog", ["name": .null]) }
            #expect(try database.read { try $0.find("Dog", .null) } == key)
            for duplicate in [Value.null, taken] {
                #expect(throws: ModelError.self) {
                    try database.write { _ = try $0.create("Dog", ["name": duplicate]) }
                }
            }
            try database.write { try $0.erase(key, "Dog") }
            #expect(try database.read { try $0.find("Dog", .null) } == nil)
            try database.check()
        }
    }

    @Test(arguments: [0, 1, 100, 127, 128, 507, 508, 3_000])
    func `A list's elements may be null from then on`(count: Int) throws {
        func schema(optional: Bool) -> ClassSchema {
            ClassSchema(
                "Run",
                [
                    PropertySchema("laps", .int, collection: .list, isOptional: optional),
                    PropertySchema("notes", .string, collection: .list, isOptional: optional),
                ])
        }
        let database = try ModelDatabase(schema(optional: false))
        let laps = (0..<count).map { Value.int(Int64($0)) }
        let notes = (0..<count).map { Value.string("note \($0)") }
        let key = try database.write { transaction throws in
            let key = try transaction.create("Run")
            for (lap, note) in zip(laps, notes) {
                try transaction.append(key, "Run", "laps", lap)
                try transaction.append(key, "Run", "notes", note)
            }
            return key
        }
        try database.reopen(schema(optional: true))
        #expect(try database.read { try $0.values(key, "Run", "laps") } == laps)
        #expect(try database.read { try $0.values(key, "Run", "notes") } == notes)
        try database.write { transaction throws in
            try transaction.append(key, "Run", "laps", .null)
            try transaction.append(key, "Run", "notes", .null)
        }
        #expect(try database.read { try $0.values(key, "Run", "laps") } == laps + [.null])
        #expect(try database.read { try $0.values(key, "Run", "notes") } == notes + [.null])
        try database.check()
    }

    @Test func `Who reads an earlier version reads it as it was`() throws {
        let database = try ModelDatabase(Self.dog())
        try database.write { transaction throws in
            for index in 0..<400 {
                let age = Value.int(Int64(index % 10))
                try transaction.create("Dog", ["name": .string("dog \(index)"), "age": age])
            }
        }
        let before = try database.view()
        defer { before.snapshot.release() }
        try database.reopen(Self.dog(keyIsOptional: true, ageIsOptional: true))
        try database.write { transaction throws in
            for key in 0..<400 as Range<Int64> { try transaction.set(key, "Dog", "age", .null) }
            try transaction.create("Dog", ["name": .null])
        }
        #expect(try before.value(7, "Dog", "age") == .int(7))
        #expect(try before.keys("Dog", "age", equalTo: .int(3)).count == 40)
        #expect(try before.find("Dog", .string("dog 11")) == 11)
        #expect(try before.count(before.schema.classHandle(named: "Dog")) == 400)
        #expect(try ModelCheck.run(before) == [])
        try database.check()
    }

    @Test func `A session that declared it required reads null and writes none`() throws {
        let list = PropertySchema("tags", .string, collection: .list)
        var required = Self.dog(), optional = Self.dog(keyIsOptional: true, ageIsOptional: true)
        required.properties.append(list)
        optional.properties.append(list)
        optional.properties[2].isOptional = true
        let database = try ModelDatabase(required)
        let old = database.schema
        try database.write { transaction throws in
            try transaction.create("Dog", ["name": .string("a"), "age": .int(7)])
            try transaction.append(0, "Dog", "tags", .string("fast"))
        }
        try database.reopen(optional)
        try database.write { transaction throws in
            try transaction.create("Dog", ["name": .null, "age": .null])
            try transaction.append(1, "Dog", "tags", .null)
        }
        let writing = try database.store.beginWrite()
        let schema = try ModelSchema.read(writing.view, previous: old)
        let transaction = ModelTransaction(writing, schema: schema, buffer: WriteBuffer())
        let view = transaction.view
        #expect(try view.value(0, "Dog", "age") == .int(7))
        #expect(try view.value(1, "Dog", "age") == .null)
        #expect(try view.value(1, "Dog", "name") == .null)
        #expect(try view.values(1, "Dog", "tags") == [.null])
        #expect(try view.find("Dog", .string("a")) == 0)
        #expect(try view.keys("Dog", "age", equalTo: .int(7)) == [0])
        let refusal = ModelError.nullNotAllowed(className: "Dog", property: "age")
        #expect(throws: refusal) { try transaction.set(0, "Dog", "age", .null) }
        #expect(throws: refusal) {
            try transaction.create("Dog", ["name": .string("b"), "age": .null])
        }
        #expect(throws: ModelError.nullNotAllowed(className: "Dog", property: "name")) {
            try transaction.create("Dog", ["name": .null])
        }
        #expect(throws: ModelError.nullNotAllowed(className: "Dog", property: "tags")) {
            try transaction.append(0, "Dog", "tags", .null)
        }
        try transaction.set(1, "Dog", "age", .int(3))
        let new = try transaction.create("Dog", ["name": .string("b")])
        #expect(try view.value(new, "Dog", "age") == .int(0))
        #expect(try view.keys("Dog", "age", equalTo: .int(0)) == [new])
        #expect(try view.keys("Dog", "age", equalTo: .int(3)) == [1])
        try transaction.commit()
        #expect(try database.read { try $0.value(new, "Dog", "age") } == .int(0))
        #expect(try database.read { try $0.keys("Dog", "age", equalTo: .null) } == [])
        try database.check()
    }

    @Test func `Rolled back, nothing has become optional`() throws {
        let database = try ModelDatabase(Self.dog())
        try database.write { transaction throws in
            for index in 0..<300 {
                try transaction.create("Dog", ["name": .string("\(index)"), "age": .int(1)])
            }
        }
        let stored = database.schema.stored
        let writing = try database.store.beginWrite()
        let declared = Schema([Self.dog(keyIsOptional: true, ageIsOptional: true)])
        let schema = try ModelSchema.add(declared, version: 0, in: writing)
        #expect(schema.stored != stored)
        writing.rollback()
        try database.reopen(Self.dog())
        #expect(database.schema.stored == stored)
        #expect(try database.read { try $0.keys("Dog", "age", equalTo: .int(1)).count } == 300)
        #expect(throws: ModelError.nullNotAllowed(className: "Dog", property: "age")) {
            try database.write { try $0.set(1, "Dog", "age", .null) }
        }
        try database.check()
    }

    @Test func `The way back is refused, with what to do, and so is all that comes with it`() throws
    {
        let database = try ModelDatabase(Self.dog(ageIsOptional: true))
        let version = database.store.latestVersion
        #expect(
            message { try database.reopen(Self.dog(keyIsOptional: true)) } == """
                The schema differs from the file's in ways that opening does not change. Declare \
                what the file has, or open it with a higher schema version and a migration.
                - property 'Dog.age' is optional int in the file and int in the declared schema; \
                the file may hold null there. Declare it optional, or add a required property \
                under another name and copy the values
                """)
        #expect(database.store.latestVersion == version)
        try database.reopen(Self.dog(ageIsOptional: true))
        try database.check()
    }

    @Test func `A file that can't be written says what to do`() throws {
        let database = try ModelDatabase(Self.dog())
        let declared = Schema([Self.dog(ageIsOptional: true)])
        #expect(
            message {
                _ = try ModelSchema.open(
                    database.store, declared: declared, version: nil, isReadOnly: true)
            }.hasSuffix(
                """

                - property 'Dog.age' is not optional in the file, which is read-only. Open the \
                file once for writing with this schema, or declare the property as required
                """))
        try database.check()
    }

    @Test func `What a later version had hidden comes back optional`() throws {
        let database = try ModelDatabase(Self.dog())
        try database.write { _ = try $0.create("Dog", ["name": .string("a"), "age": .int(7)]) }
        var less = Self.dog()
        less.properties.remove(at: 1)
        try database.reopen(less, version: 1)
        try database.reopen(Self.dog(ageIsOptional: true), version: 1)
        #expect(try database.read { try $0.value(0, "Dog", "age") } == .int(7))
        try database.write { try $0.set(0, "Dog", "age", .null) }
        try database.check()
    }
}
