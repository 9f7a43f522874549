// Tests: ModelView+Links.swift, BacklinkEntry.swift
import Testing
@testable import ToftModel
import ToftStorage

@Suite struct LinkTests {
    static let person = ClassSchema(
        "Person",
        [
            PropertySchema("name", .string), .link("boss", to: "Person"),
            .links("friends", to: "Person"), .links("dogs", to: "Dog"),
            .linkingObjects("reports", from: "Person", "boss"),
            .linkingObjects("friendOf", from: "Person", "friends"),
        ])
    static let dog = ClassSchema(
        "Dog", [.link("owner", to: "Person"), .linkingObjects("keepers", from: "Person", "dogs")])

    func database() throws -> ModelDatabase { try ModelDatabase(Self.person, Self.dog) }

    func ref(_ database: ModelDatabase, _ name: String, _ key: Int64) throws -> Value {
        .link(ObjectRef(classID: try database.handle(name).id, key: key))
    }

    @Test func `A link is set read and cleared and its inverse follows`() throws {
        let database = try database()
        let (ann, bob) = try database.write { transaction throws in
            (try transaction.create("Person"), try transaction.create("Person"))
        }
        try database.write { try $0.set(ann, "Person", "boss", try ref(database, "Person", bob)) }
        try database.read { view throws in
            #expect(try view.value(ann, "Person", "boss") == ref(database, "Person", bob))
            #expect(try view.inverse(bob, "Person", "reports") == [ann])
        }
        try database.write { try $0.set(ann, "Person", "boss", .null) }
        try database.read { view throws in
            #expect(try view.value(ann, "Person", "boss") == .null)
            #expect(try view.inverse(bob, "Person", "reports") == [])
        }
        try database.check()
    }

    @Test func `Links lead to objects that are there and of the right class`() throws {
        let database = try database()
        try database.write { transaction throws in
            let ann = try transaction.create("Person"), rex = try transaction.create("Dog")
            #expect(
                message {
                    try transaction.set(ann, "Person", "boss", try ref(database, "Dog", rex))
                }
                    == "Property 'Person.boss' links to objects of class 'Person', not 'Dog'.")
            #expect(
                message {
                    try transaction.set(ann, "Person", "boss", try ref(database, "Person", 99))
                }
                    == "The object of class 'Person' has been deleted or invalidated.")
            #expect(
                message { try transaction.set(ann, "Person", "boss", .int(ann)) }
                    == "Property 'Person.boss' holds link to 'Person', not int.")
            #expect(
                message {
                    try transaction.append(ann, "Person", "dogs", try ref(database, "Person", ann))
                }.contains("not 'Person'"))
            #expect(
                message { try transaction.append(ann, "Person", "dogs", .null) }.contains(
                    "can't be null"))
        }
        try database.check()
    }

    @Test func `Erasing an object makes links to it null and takes it out of lists`() throws {
        let database = try database()
        let (ann, bob, cy) = try database.write { transaction throws in
            let keys = try (0..<3).map { _ in try transaction.create("Person") }
            let bob = try ref(database, "Person", keys[1])
            try transaction.set(keys[0], "Person", "boss", bob)
            try transaction.set(keys[1], "Person", "boss", bob)
            try transaction.append(
                keys[0], "Person", "friends", bob, try ref(database, "Person", keys[2]), bob, bob)
            try transaction.append(
                keys[1], "Person", "friends", bob, try ref(database, "Person", keys[0]))
            try transaction.set(try transaction.create("Dog"), "Dog", "owner", bob)
            return (keys[0], keys[1], keys[2])
        }
        try database.write { try $0.erase(bob, "Person") }
        try database.read { view throws in
            #expect(try view.value(ann, "Person", "boss") == .null)
            #expect(try view.values(ann, "Person", "friends") == [ref(database, "Person", cy)])
            #expect(try view.value(0, "Dog", "owner") == .null)
            #expect(try view.inverse(ann, "Person", "friendOf") == [])
            #expect(try view.inverse(cy, "Person", "friendOf") == [ann])
        }
        try database.check()
    }

    @Test func `What erasing does to others is recorded as derived`() throws {
        let database = try database()
        let (ann, bob) = try database.write { transaction throws in
            let ann = try transaction.create("Person"), bob = try transaction.create("Person")
            try transaction.set(ann, "Person", "boss", try ref(database, "Person", bob))
            try transaction.append(
                ann, "Person", "friends", try ref(database, "Person", bob),
                try ref(database, "Person", bob))
            return (ann, bob)
        }
        let version = database.store.latestVersion
        try database.write { try $0.erase(bob, "Person") }
        let records = try #require(try database.read { try $0.snapshot.records(after: version) })
        var effects: [String] = []
        for record in records {
            record.forEach {
                if [.rowErase, .cellSet, .listErase].contains($0.kind) {
                    effects.append("\($0.kind) \($0.key) \($0.isDerived)")
                }
            }
        }
        #expect(
            effects == [
                "cellSet \(ann) true", "listErase \(ann) true", "listErase \(ann) true",
                "rowErase \(bob) false",
            ])
        try database.check()
    }

    @Test func `An inverse has an entry for each link`() throws {
        let database = try database()
        try database.write { transaction throws in
            let ann = try transaction.create("Person"), bob = try transaction.create("Person"),
                rex = try transaction.create("Dog")
            let link = try ref(database, "Dog", rex)
            try transaction.append(ann, "Person", "dogs", link, link, link)
            try transaction.append(bob, "Person", "dogs", link)
            #expect(try transaction.view.inverse(rex, "Dog", "keepers") == [ann, ann, ann, bob])
            let dogs = try database.property("Person", "dogs")
            #expect(try transaction.view.backlinkCount(to: rex, through: dogs) == 4)
            #expect(try transaction.view.backlinkCount(to: rex, try database.handle("Dog")) == 4)
            try transaction.listErase(ann, dogs, at: 1)
            #expect(try transaction.view.inverse(rex, "Dog", "keepers") == [ann, ann, bob])
            try transaction.clear(ann, dogs)
            #expect(try transaction.view.inverse(rex, "Dog", "keepers") == [bob])
        }
        try database.check()
    }

    @Test func `An inverse link cannot be set`() throws {
        let database = try database()
        try database.write { transaction throws in
            let ann = try transaction.create("Person")
            #expect(
                message { try transaction.set(ann, "Person", "reports", .null) }.contains(
                    "is an inverse link and follows from the links"))
            #expect(
                message { _ = try transaction.view.value(ann, "Person", "reports") }.contains(
                    "holds an inverse link"))
        }
        try database.check()
    }

    @Test func `Links of a hidden property are kept up too`() throws {
        let database = try database()
        let (ann, bob) = try database.write { transaction throws in
            let ann = try transaction.create("Person"), bob = try transaction.create("Person")
            try transaction.set(ann, "Person", "boss", try ref(database, "Person", bob))
            return (ann, bob)
        }
        try database.reopen(ClassSchema("Person", [PropertySchema("name", .string)]))
        try database.write { transaction throws in
            #expect(
                message { try transaction.set(ann, "Person", "boss", .null) }
                    == "Class 'Person' has no property 'boss'.")
            try transaction.erase(bob, "Person")
        }
        try database.reopen(Self.person, Self.dog)
        #expect(try database.read { try $0.value(ann, "Person", "boss") } == .null)
        try database.check()
    }

    @Test func `Erasing all objects of a class leaves the others without links`() throws {
        let database = try database()
        try database.write { transaction throws in
            var last = Value.null
            for index in 0..<50 {
                let key = try transaction.create("Person", ["boss": last])
                last = try ref(database, "Person", key)
                try transaction.append(
                    key, "Person", "friends", last, try ref(database, "Person", Int64(index / 2)))
                try transaction.create("Dog", ["owner": last])
            }
        }
        try database.write { transaction throws in
            try transaction.eraseAll([try database.handle("Person")])
            #expect(try transaction.view.count(try database.handle("Person")) == 0)
            for key in 0..<50 {
                #expect(try transaction.view.value(Int64(key), "Dog", "owner") == .null)
            }
        }
        try database.check()
    }
}
