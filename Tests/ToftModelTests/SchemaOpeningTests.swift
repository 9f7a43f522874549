// Tests: ModelSchema.swift, SchemaTree.swift, StoredSchema+Outdated.swift, UnwrittenSchema.swift,
// UnwrittenTrees.swift
import Testing
@testable import ToftModel
import ToftStorage

@Suite struct SchemaOpeningTests {
    @Test(arguments: [998, 999, 1_000])
    func `An inverse link counts as a property`(stored: Int) throws {
        let numbers = (1..<stored).map { PropertySchema("n\($0)", .int) }
        let plain = ClassSchema("Person", numbers + [.link("boss", to: "Person")])
        let inverse = ClassSchema(
            "Person",
            numbers + [
                .link("boss", to: "Person"), .linkingObjects("reports", from: "Person", "boss"),
            ])
        let database = try ModelDatabase(plain)
        try database.write { transaction throws in _ = try transaction.create("Person") }
        if stored < 1_000 {
            try database.reopen(inverse)
        } else {
            #expect(throws: ModelError.self) { try database.reopen(inverse) }
        }
        try database.reopen(plain)
        try database.check()
    }

    static let dog = ClassSchema(
        "Dog", [PropertySchema("name", .string, isPrimaryKey: true), PropertySchema("age", .int)])

    @Test func `A schema is there after reopening with the same ids`() throws {
        let database = try ModelDatabase(
            Self.dog, SchemaPlanTests.people.classes[0], ClassSchema("Cat"), version: 3)
        let first = database.schema.stored
        try database.reopen(
            Self.dog, SchemaPlanTests.people.classes[0], ClassSchema("Cat"), version: 3)
        #expect(database.schema.stored == first)
        #expect(first.version == 3)
        #expect(
            try ModelSchema.open(database.store, declared: nil, version: 0).stored.classes.map(
                \.name) == ["Dog", "Person", "Cat"])
        try database.check()
    }

    @Test(arguments: [true, false])
    func `A file without a copy of its schema, or with an old one, gets it with the next change`(
        isMissing: Bool
    ) throws {
        let database = try ModelDatabase(Self.dog, ClassSchema("Cat"))
        let writing = try database.store.beginWrite()
        if isMissing {
            try writing.dropTree(SchemaTree.copy)
        } else {
            try SchemaEncoding.headerKey.withUnsafeBytes { key in
                try StoredSchema(nextClassID: 3).encodedHeader().withUnsafeBytes {
                    try writing.treePut(SchemaTree.copy, key, $0, derived: true)
                }
            }
            _ = try SchemaEncoding.classKey(2).withUnsafeBytes {
                try writing.treeDelete(SchemaTree.copy, $0, derived: true)
            }
        }
        _ = try writing.commit()
        try database.check()
        try database.reopen(Self.dog, ClassSchema("Cat"), ClassSchema("Bird"))
        let snapshot = try database.store.beginRead()
        defer { snapshot.release() }
        let copy = try SchemaTree.read(snapshot, from: SchemaTree.copy)
        #expect(copy.classes.map(\.name) == ["Dog", "Cat", "Bird"])
        #expect(try SchemaTree.read(snapshot) == copy)
        try database.check()
    }

    @Test func `Opening with the same schema writes nothing`() throws {
        let database = try ModelDatabase(Self.dog)
        let version = database.store.latestVersion
        try database.reopen(Self.dog)
        try database.reopen(
            ClassSchema("Dog", [PropertySchema("name", .string, isPrimaryKey: true)]))
        #expect(database.store.latestVersion == version)
        try database.check()
    }

    @Test func `A schema that the process knows is given back as long as it holds`() throws {
        let database = try ModelDatabase(Self.dog, version: 2)
        let known = database.schema
        func open(
            _ classes: ClassSchema..., version: UInt64? = nil, isReadOnly: Bool = false,
            showsHidden: Bool = false, known: [ModelSchema]
        ) throws -> ModelSchema {
            try ModelSchema.open(
                database.store, declared: Schema(classes), version: version, isReadOnly: isReadOnly,
                showsHidden: showsHidden, known: known)
        }
        let first = try ModelSchema.open(database.store, declared: nil, version: nil)
        #expect(try open(Self.dog, known: [first, known]) === known)
        #expect(try open(Self.dog, version: 2, isReadOnly: true, known: [known]) === known)
        #expect(
            try ModelSchema.open(
                database.store, declared: nil, version: nil, known: [known, first])
                === first)
        #expect(
            try ModelSchema.open(
                database.store, declared: nil, version: nil, showsHidden: true, known: [first])
                !== first)
        var other = Self.dog
        other.properties[1].isIndexed = true
        let unindexed = try open(other, isReadOnly: true, known: [known])
        #expect(unindexed !== known)
        let indexed = try open(other, known: [known, unindexed])
        #expect(try indexed.classHandle(named: "Dog").property(named: "age").isIndexed)
        #expect(try open(Self.dog, known: [known, indexed]) !== known)
        #expect(throws: ModelError.schemaVersionTooLow(stored: 2, given: 1)) {
            try open(Self.dog, version: 1, known: [known, indexed])
        }
        #expect(try open(Self.dog, version: 3, known: [known, indexed]).stored.version == 3)
        try database.check()
    }

    @Test func `Classes and properties are found by the bytes of their names among many`() throws {
        let composed = "Caf\u{e9}", decomposed = "Cafe\u{301}"
        let many = (0..<300).map { number in
            ClassSchema(
                "C\(number)", persistedName: "S\((number + 7) % 300)",
                [
                    PropertySchema(composed, .int, isPrimaryKey: number % 2 == 0),
                    PropertySchema(decomposed, .string, persistedName: "n\(number)"),
                    .link("next", to: "C\((number + 1) % 300)"),
                    .linkingObjects("previous", from: "C\((number + 299) % 300)", "next"),
                ])
        }
        let both = [ClassSchema(composed), ClassSchema(decomposed)]
        let database = try ModelDatabase(ClassSchema("Old", [.link("to", to: "Old")]))
        let schema = try ModelSchema.open(
            database.store, declared: Schema(many.reversed() + both), version: 0)
        #expect(schema.visibleClasses.count == 302)
        #expect(try schema.classHandle(named: composed) !== schema.classHandle(named: decomposed))
        for number in 0..<300 {
            let owner = try schema.classHandle(named: "C\(number)")
            #expect(owner.incoming.map(\.className) == ["C\((number + 299) % 300)"])
            #expect(try owner.property(named: composed).type == .int)
            #expect(try owner.property(named: decomposed).persistedName == "n\(number)")
            let previous = try owner.property(named: "previous")
            #expect(try schema.origin(of: previous).className == "C\((number + 299) % 300)")
        }
        try database.check()
    }

    @Test func `New properties of objects that are there have their defaults`() throws {
        let database = try ModelDatabase(Self.dog)
        let key = try database.write {
            try $0.create("Dog", ["name": .string("Rex"), "age": .int(7)])
        }
        var more = Self.dog
        more.properties += [
            PropertySchema("weight", .double),
            PropertySchema("chip", .string, isOptional: true, isIndexed: true),
            .links("friends", to: "Dog"),
            PropertySchema("color", .string, isIndexed: true),
            .linkingObjects("friendOf", from: "Dog", "friends"), .link("mother", to: "Dog"),
        ]
        try database.reopen(more)
        try database.write { transaction throws in
            #expect(try transaction.view.value(key, "Dog", "age") == .int(7))
            #expect(try transaction.view.value(key, "Dog", "weight") == .double(0))
            #expect(try transaction.view.value(key, "Dog", "chip") == .null)
            #expect(try transaction.view.value(key, "Dog", "mother") == .null)
            #expect(try transaction.view.values(key, "Dog", "friends") == [])
            #expect(try transaction.view.keys("Dog", "color", equalTo: .string("")) == [key])
            let rex = Value.link(ObjectRef(classID: try database.handle("Dog").id, key: key))
            try transaction.append(key, "Dog", "friends", rex)
            try transaction.set(key, "Dog", "mother", rex)
            #expect(try transaction.view.inverse(key, "Dog", "friendOf") == [key])
        }
        try database.check()
    }

    @Test func `An open session sees what another adds only when it declared it`() throws {
        let database = try ModelDatabase(Self.dog)
        let mine = database.schema
        try database.reopen(Self.dog, ClassSchema("Cat", [.link("enemy", to: "Dog")]))
        let view = try ModelView(try database.store.beginRead(), previous: mine)
        #expect(view.schema !== mine)
        #expect(view.schema.visibleClasses.map(\.name) == ["Dog"])
        #expect(view.schema.classes.map(\.name) == ["Dog", "Cat"])
        #expect(try ModelView(view.snapshot, previous: view.schema).schema === view.schema)
        view.snapshot.release()
        try database.check()
    }

    @Test func `A schema that is not valid opens nothing`() throws {
        let database = try ModelDatabase(Self.dog)
        #expect(
            message {
                try database.reopen(
                    ClassSchema("A", [PropertySchema("x", .link, isOptional: true, target: "B")]),
                    ClassSchema("", []))
            } == """
                The schema is invalid.
                - property 'A.x' has the target class 'B', which the schema does not have
                - class '' has an empty name
                """)
        try database.check()
    }

    @Test func `A mismatch lists every difference and leaves the file`() throws {
        let database = try ModelDatabase(Self.dog)
        let version = database.store.latestVersion
        let other = ClassSchema(
            "Dog", [PropertySchema("name", .string), PropertySchema("age", .string)])
        #expect(
            message { try database.reopen(other, ClassSchema("New"), version: 9) } == """
                The schema differs from the file's in ways that opening does not change. Declare \
                what the file has, or open it with a higher schema version and a migration.
                - property 'Dog.age' is int in the file and string in the declared schema
                - class 'Dog' has the primary key 'name' in the file and no primary key in the \
                declared schema
                """)
        #expect(database.store.latestVersion == version)
        try database.check()
    }

    @Test func `A lower schema version is an error`() throws {
        let database = try ModelDatabase(Self.dog, version: 5)
        #expect(
            message { try database.reopen(Self.dog, version: 4) }
                == "Schema version 4 is lower than the file's, which is 5. "
                + "Open the file with version 5 or higher."
        )
        try database.reopen(Self.dog, version: 6)
        #expect(database.schema.stored.version == 6)
        try database.check()
    }

    @Test func `A file without any schema opens empty`() throws {
        let database = try ModelDatabase()
        #expect(database.schema.classes.isEmpty)
        #expect(
            message { _ = try database.write { try $0.create("Dog") } }
                == "The schema has no class 'Dog'.")
        try database.check()
    }

    @Test func `Names of their full length work`() throws {
        let name = String(repeating: "n", count: 57),
            property = String(repeating: "é", count: 31) + "p"
        let database = try ModelDatabase(
            ClassSchema(
                name,
                (0..<200).map { PropertySchema("p\($0)", .int) } + [
                    PropertySchema(property, .int, isIndexed: true)
                ]))
        let key = try database.write { try $0.create(name, [property: .int(3)]) }
        #expect(try database.read { try $0.value(key, name, property) } == .int(3))
        try database.check()
    }
}
