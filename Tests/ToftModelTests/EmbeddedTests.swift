// Tests: ByteArena.swift, ModelError.swift, ModelTransaction+Embedded.swift,
// ModelTransaction+Entries.swift, ModelTransaction+Set.swift, ModelTransaction.swift,
// ObjectRef.swift, ThreadStack.swift, UTF8Text.swift, ValueRule.swift
import Testing
@testable import ToftModel
import ToftStorage

/// Objects that live in one owner and die with it.
@Suite struct EmbeddedTests {
    static let person = ClassSchema(
        "Person",
        [
            PropertySchema("name", .string, isOptional: true, isPrimaryKey: true),
            .link("address", to: "Address"), .links("addresses", to: "Address"),
            PropertySchema(
                "named", .link, collection: .dictionary, isOptional: true, target: "Address"),
            .link("friend", to: "Person"),
        ])
    static let address = ClassSchema(
        "Address", isEmbedded: true,
        [
            PropertySchema("street", .string, isIndexed: true), .link("country", to: "Country"),
            .link("inner", to: "Address"), .links("parts", to: "Address"),
            .linkingObjects("residents", from: "Person", "address"),
        ])
    static let country = ClassSchema("Country", [PropertySchema("name", .string)])

    func database(isTight: Bool = false) throws -> ModelDatabase {
        try ModelDatabase(Self.person, Self.address, Self.country, isTight: isTight)
    }

    func link(_ database: ModelDatabase, _ key: Int64, _ name: String = "Address") throws -> Value {
        .link(ObjectRef(classID: try database.handle(name).id, key: key))
    }

    /// The streets of all addresses that there are, in the order of their keys.
    func streets(_ view: ModelView) throws -> [String] {
        try view.table(view.schema.classHandle(named: "Address")).keys().map {
            guard case .string(let street) = try view.value($0, "Address", "street") else {
                return ""
            }
            return street
        }
    }

    @Test func `An address is created in its owner, replaced and set to null`() throws {
        let database = try database()
        let (ann, first) = try database.write { transaction throws in
            let ann = try transaction.create("Person", ["name": .string("Ann")])
            let first = try transaction.embed(ann, "Person", "address", "Elm St")
            #expect(try transaction.view.value(ann, "Person", "address") == link(database, first))
            return (ann, first)
        }
        try database.read { view throws in
            #expect(try view.inverse(first, "Address", "residents") == [ann])
        }
        let second = try database.write { transaction throws in
            let second = try transaction.embed(ann, "Person", "address", "Oak St")
            #expect(try !transaction.view.exists(first, database.handle("Address")))
            #expect(
                try transaction.view.keys("Address", "street", equalTo: .string("Elm St")) == [])
            return second
        }
        try database.read { view throws in #expect(try streets(view) == ["Oak St"]) }
        try database.write { transaction throws in
            // Assigning the present value is a change that changes nothing.
            try transaction.set(ann, "Person", "address", try link(database, second))
            #expect(transaction.hasChanges)
        }
        try database.read { view throws in #expect(try streets(view) == ["Oak St"]) }
        try database.write { try $0.set(ann, "Person", "address", .null) }
        try database.read { view throws in #expect(try streets(view) == []) }
        try database.check()
    }

    @Test(arguments: [false, true])
    func `Addresses that go with another one while all are set are left out`(isTight: Bool) throws {
        let database = try database(isTight: isTight)
        let address = try database.property("Person", "address"),
            inner = try database.property("Address", "inner"),
            street = try database.property("Address", "street")
        let owner = try database.handle("Address")
        try database.write { transaction throws in
            for number in 0..<3 {
                let person = try transaction.create("Person", ["name": .string("\(number)")])
                let outer = try transaction.setEmbedded(person, address)
                _ = try transaction.setEmbedded(try transaction.setEmbedded(outer, inner), inner)
            }
        }
        try database.write { transaction throws in
            let keys = try transaction.view.table(owner).keys()
            #expect(keys.count == 9)
            try transaction.withAssignments([(inner, .null), (street, .string("Oak St"))]) {
                values throws(ModelError) in try transaction.set(keys, owner, values)
            }
            #expect(try transaction.view.count(owner) == 3)
        }
        try database.read { view throws in
            #expect(try streets(view) == ["Oak St", "Oak St", "Oak St"])
        }
        try database.check()
    }

    @Test(arguments: [false, true])
    func `A list of addresses deletes what it drops and keeps what it moves`(isTight: Bool) throws {
        let database = try database(isTight: isTight)
        let list = try database.property("Person", "addresses")
        let ann = try database.write { transaction throws in
            let ann = try transaction.create("Person", ["name": .string("Ann")])
            for street in ["a", "b", "c", "d", "e", "f", "g"] {
                try transaction.embedLast(ann, list, street)
            }
            return ann
        }
        try database.write { transaction throws in
            try transaction.listMove(ann, list, from: 0, to: 6)
            try transaction.listSwap(ann, list, 0, 1)
            #expect(try streets(transaction.view) == ["a", "b", "c", "d", "e", "f", "g"])
            // c b d e f g a
            let own = try transaction.view.listValue(ann, list, at: 0)
            try transaction.listSet(ann, list, at: 0, own)
            try transaction.listErase(ann, list, at: 1)
            #expect(try streets(transaction.view) == ["a", "c", "d", "e", "f", "g"])
            try transaction.listErase(ann, list, 1..<3)
            #expect(try streets(transaction.view) == ["a", "c", "f", "g"])
            let all = try transaction.view.listValues(ann, list)
            _ = try transaction.listSetEmbedded(ann, list, at: 0)
            #expect(try streets(transaction.view) == ["a", "f", "g", ""])
            // Its first element is deleted.
            #expect(throws: ModelError.noSuchObject(className: "Address", key: 2)) {
                try transaction.assign(ann, list, all)
            }
            let now = try transaction.view.listValues(ann, list)
            try transaction.assign(ann, list, now)
            #expect(try transaction.view.listValues(ann, list) == now)
            #expect(throws: list.alreadyOwned) {
                try transaction.assign(ann, list, now.reversed())
            }
        }
        try database.write { transaction throws in
            try transaction.assign(ann, list, [])
            #expect(try streets(transaction.view) == [])
            for street in ["x", "y"] { try transaction.embedLast(ann, list, street) }
            try transaction.clear(ann, list)
        }
        try database.read { view throws in #expect(try streets(view) == []) }
        try database.check()
    }

    @Test func `A dictionary owns its values`() throws {
        let database = try database()
        let named = try database.property("Person", "named")
        let ann = try database.write { try $0.create("Person", ["name": .string("Ann")]) }
        try database.write { transaction throws in
            for name in ["home", "work", "club", "home"] {
                try transaction.embedNamed(ann, named, name)
            }
            #expect(try streets(transaction.view) == ["work", "club", "home"])
            let home = try transaction.view.listValue(ann, named, at: 1)
            // A key may be given its present value again, but not another key.
            try transaction.dictionarySet(ann, named, "home", home)
            for name in ["work", "new"] {
                #expect(throws: named.alreadyOwned) {
                    try transaction.dictionarySet(ann, named, name, home)
                }
            }
            try transaction.dictionarySet(ann, named, "work", .null)
            #expect(try streets(transaction.view) == ["club", "home"])
            #expect(try transaction.dictionaryErase(ann, named, "club"))
            #expect(try streets(transaction.view) == ["home"])
        }
        // Deleted by itself, it leaves a null.
        try database.write { transaction throws in
            guard case .link(let home) = try transaction.view.listValue(ann, named, at: 0) else {
                return
            }
            try transaction.erase(home.key, "Address")
            #expect(try transaction.view.listValues(ann, named) == [.null, .null])
            try transaction.embedNamed(ann, named, "home")
            try transaction.clear(ann, named)
        }
        try database.read { view throws in #expect(try streets(view) == []) }
        try database.write { transaction throws in
            try transaction.embedNamed(ann, named, "home")
            try transaction.erase(ann, "Person")
        }
        try database.read { view throws in #expect(try streets(view) == []) }
        let set = ClassSchema(
            "Other", [PropertySchema("set", .link, collection: .set, target: "Address")])
        #expect(
            Schema([set, Self.address, Self.person, Self.country]).problems().map(\.description)
                == [
                    "property 'Other.set' is a set of links to the embedded class 'Address'; a "
                        + "list or a dictionary can hold embedded objects"
                ])
        try database.check()
    }

    @Test func `Everything in an object goes with it, and the record says what followed`() throws {
        let database = try database()
        let country = try database.write { try $0.create("Country") }
        let (ann, bob) = try database.write { transaction throws in
            let ann = try transaction.create("Person", ["name": .string("Ann")])
            let bob = try transaction.create("Person", ["name": .string("Bob")])
            try transaction.set(bob, "Person", "friend", try link(database, ann, "Person"))
            let home = try transaction.embed(ann, "Person", "address", "home")
            try transaction.set(home, "Address", "country", try link(database, country, "Country"))
            let flat = try transaction.embed(home, "Address", "inner", "flat")
            try transaction.embedLast(flat, try database.property("Address", "parts"), "room")
            try transaction.embedLast(ann, try database.property("Person", "addresses"), "work")
            try transaction.embed(bob, "Person", "address", "other")
            return (ann, bob)
        }
        let before = try database.view()
        defer { before.snapshot.release() }
        try database.write { transaction throws in
            try transaction.erase(ann, "Person")
            #expect(try transaction.view.count(database.handle("Address")) == 1)
        }
        try database.read { view throws in
            #expect(try streets(view) == ["other"])
            #expect(try view.count(database.handle("Country")) == 1)
            #expect(try view.value(bob, "Person", "friend") == .null)
            let people = try database.handle("Person").table
            let addresses = try database.handle("Address").table
            var erased: [String] = []
            for record in try #require(try view.snapshot.records(after: before.snapshot.version)) {
                record.forEach { effect in
                    guard effect.kind == .rowErase || effect.kind == .rowsErased else { return }
                    if effect.tree == people { erased.append("person \(effect.isDerived)") }
                    if effect.tree == addresses { erased.append("address \(effect.isDerived)") }
                }
            }
            #expect(erased.first == "person false")
            #expect(Set(erased.dropFirst()) == ["address true"])
        }
        try database.write { try $0.eraseAll([try database.handle("Person")]) }
        try database.read { view throws in #expect(try streets(view) == []) }
        try database.check()
    }

    @Test func `An address can be deleted by itself, and its owner loses it`() throws {
        let database = try database()
        let list = try database.property("Person", "addresses")
        let ann = try database.write { transaction throws in
            let ann = try transaction.create("Person", ["name": .string("Ann")])
            let home = try transaction.embed(ann, "Person", "address", "home")
            let work = try transaction.embedLast(ann, list, "work")
            try transaction.embedLast(ann, list, "club")
            try transaction.erase(home, "Address")
            try transaction.erase(work, "Address")
            #expect(try transaction.view.value(ann, "Person", "address") == .null)
            #expect(try transaction.view.listCount(ann, list) == 1)
            // The place is free again before the delete is written.
            try transaction.embed(ann, "Person", "address", "new home")
            return ann
        }
        try database.read { view throws in #expect(try streets(view) == ["club", "new home"]) }
        try database.write { try $0.eraseAll([try database.handle("Address")]) }
        try database.read { view throws in
            #expect(try view.value(ann, "Person", "address") == .null)
            #expect(try view.listCount(ann, list) == 0)
        }
        try database.check()
    }

    @Test func `An embedded object has one owner and is created there alone`() throws {
        let database = try database()
        let list = try database.property("Person", "addresses")
        let (ann, bob, home) = try database.write { transaction throws in
            let ann = try transaction.create("Person", ["name": .string("Ann")])
            let bob = try transaction.create("Person", ["name": .string("Bob")])
            return (ann, bob, try transaction.embed(ann, "Person", "address", "home"))
        }
        let owned =
            "Property 'Person.address' holds embedded objects, and this one already has an owner. "
            + "Create a new one there with the same values."
        try database.write { transaction throws in
            let value = try link(database, home)
            #expect(
                message { try transaction.create("Address") }
                    == "Class 'Address' is embedded: its objects can't be created by themselves, "
                    + "only in a property or a list of their owner.")
            #expect(message { try transaction.set(bob, "Person", "address", value) } == owned)
            #expect(
                message {
                    try transaction.create(
                        "Person", ["name": .string("Cy"), "address": value])
                } == owned)
            #expect(
                message {
                    try transaction.create(
                        "Person", ["name": .string("Bob"), "address": value], policy: .modified)
                } == owned)
            #expect(throws: list.alreadyOwned) { try transaction.listAppend(ann, list, value) }
            #expect(
                message { try transaction.embed(ann, "Person", "friend", "x") }.contains(
                    "not an embedded object"))
            #expect(
                message { try transaction.embed(ann, "Person", "addresses", "x") }.contains(
                    "is a list"))
            let address = try database.property("Person", "address")
            #expect(throws: ModelError.self) {
                try transaction.listInsertEmbedded(ann, address, at: 0)
            }
            for index in [-1, 1] {
                #expect(throws: ModelError.indexOutOfRange(index: index, count: 1)) {
                    try transaction.listInsertEmbedded(ann, list, at: index)
                }
            }
            #expect(throws: ModelError.indexOutOfRange(index: 0, count: 0)) {
                try transaction.listSetEmbedded(ann, list, at: 0)
            }
            #expect(throws: ModelError.noSuchObject(className: "Person", key: 99)) {
                try transaction.setEmbedded(99, address)
            }
            // Nothing of all that has left anything.
            #expect(try streets(transaction.view) == ["home"])
            // An upsert keeps its present value, and null deletes it.
            try transaction.create(
                "Person", ["name": .string("Ann"), "address": value], policy: .all)
            #expect(try streets(transaction.view) == ["home"])
            try transaction.create(
                "Person", ["name": .string("Ann"), "address": .null], policy: .modified)
            #expect(try streets(transaction.view) == [])
        }
        try database.check()
    }

    @Test(arguments: [false, true])
    func `A hundred embedded objects may be within one another`(inOneTransaction: Bool) throws {
        let database = try database()
        let inner = try database.property("Address", "inner")
        let parts = try database.property("Address", "parts")
        // One that other transactions have made, and one in this one.
        func chain(_ name: String, _ transaction: ModelTransaction, _ count: Int) throws -> Int64 {
            let person = try transaction.create("Person", ["name": .string(name)])
            var last = try transaction.embed(person, "Person", "address", "1")
            for number in 1..<count {
                last =
                    number % 2 == 0
                    ? try transaction.setEmbedded(last, inner)
                    : try transaction.listInsertEmbedded(last, parts, at: 0)
            }
            return last
        }
        let limit = 100
        let last: Int64
        if inOneTransaction {
            last = try database.write { transaction throws in
                _ = try chain("Bob", transaction, 5_000 / limit)
                return try chain("Ann", transaction, limit - 1)
            }
        } else {
            var deepest = try database.write { try chain("Ann", $0, 1) }
            for _ in 2...limit - 1 {
                deepest = try database.write { try $0.setEmbedded(deepest, inner) }
            }
            last = deepest
        }
        try database.write { transaction throws in
            let hundredth = try transaction.setEmbedded(last, inner)
            for _ in 0..<2 {
                let error = ModelError.embeddedTooDeep(
                    className: "Address", property: "inner", limit: limit)
                #expect(throws: error) { try transaction.setEmbedded(hundredth, inner) }
            }
            #expect(throws: ModelError.self) {
                try transaction.listInsertEmbedded(hundredth, parts, at: 0)
            }
            // Beside one another there may be more.
            for index in 0..<200 { _ = try transaction.listInsertEmbedded(last, parts, at: index) }
        }
        try database.read { view throws in
            let chains = inOneTransaction ? 5_000 / limit : 0
            #expect(try view.count(database.handle("Address")) == limit + 200 + chains)
        }
        try database.check()
    }

    @Test(arguments: [false, true])
    func `A chain of twenty thousand embedded objects goes at once`(isTight: Bool) throws {
        let database = try database(isTight: isTight)
        let depth = isTight ? 3_000 : 20_000
        let (ann, last) = try database.write { transaction throws in
            transaction.nestingLimit = .max
            let ann = try transaction.create("Person", ["name": .string("Ann")])
            var last = try transaction.embed(ann, "Person", "address", "0")
            let inner = try database.property("Address", "inner")
            for _ in 1..<depth { last = try transaction.setEmbedded(last, inner) }
            return (ann, last)
        }
        try database.rolledBack { try $0.erase(ann, "Person") }
        try database.read { view throws in
            #expect(try view.count(database.handle("Address")) == depth)
            #expect(try view.exists(last, database.handle("Address")))
        }
        try database.write { try $0.set(ann, "Person", "address", .null) }
        try database.read { view throws in #expect(try view.count(database.handle("Address")) == 0)
        }
        try database.check()
    }

    @Test func `A session that does not know the class deletes its objects too`() throws {
        let database = try database()
        let ann = try database.write { transaction throws in
            let ann = try transaction.create("Person", ["name": .string("Ann")])
            try transaction.embed(ann, "Person", "address", "home")
            return ann
        }
        try database.reopen(
            ClassSchema(
                "Person", [PropertySchema("name", .string, isOptional: true, isPrimaryKey: true)]))
        try database.write { try $0.erase(ann, "Person") }
        try database.reopen(Self.person, Self.address, Self.country)
        try database.read { view throws in #expect(try streets(view) == []) }
        try database.check()
    }

    @Test func `An embedded class has no primary key`() {
        let keyed = ClassSchema(
            "Keyed", isEmbedded: true, [PropertySchema("id", .int, isPrimaryKey: true)])
        #expect(
            Schema([keyed]).problems().map(\.description) == [
                "property 'Keyed.id' belongs to an embedded class and can't be the primary key"
            ])
        #expect(Schema([ClassSchema("Alone", isEmbedded: true)]).problems() == [])
    }

    @Test func `The check finds an embedded object without an owner`() throws {
        let database = try database()
        try database.rolledBack { transaction throws in
            let ann = try transaction.create("Person", ["name": .string("Ann")])
            let home = try transaction.embed(ann, "Person", "address", "home")
            let property = try database.property("Person", "address")
            try transaction.putCell(.null, to: ann, property)
            try transaction.removeBacklink(property, target: home, source: ann)
            #expect(
                try ModelCheck.run(transaction.view) == [
                    "the embedded object \(home) of class 'Address' has 0 owners"
                ])
        }
        try database.check()
    }
}

extension ModelTransaction {
    /// Creates an address in a to-one property.
    @discardableResult
    func embed(
        _ key: Int64, _ className: String, _ property: String, _ street: String
    ) throws -> Int64 {
        let property = try view.schema.classHandle(named: className).property(named: property)
        return try withStreet(street) { values throws(ModelError) in
            try setEmbedded(key, property, values)
        }
    }

    /// Creates an address at the end of a list.
    @discardableResult
    fileprivate func embedLast(_ key: Int64, _ list: PropertyHandle, _ street: String) throws
        -> Int64
    {
        try withStreet(street) { values throws(ModelError) in
            try listInsertEmbedded(key, list, at: try view.listCount(key, list), values)
        }
    }

    /// Creates an address for a key of a dictionary.
    fileprivate func embedNamed(_ key: Int64, _ dictionary: PropertyHandle, _ name: String) throws {
        _ = try withStreet(name) { values throws(ModelError) in
            let result: Result<Int64, ModelError> = Array(name.utf8).withUnsafeBytes { name in
                do throws(ModelError) {
                    return .success(try dictionarySetEmbedded(key, dictionary, name, values))
                } catch { return .failure(error) }
            }
            return try result.get()
        }
    }

    private func withStreet(
        _ street: String, _ body: (UnsafeBufferPointer<Assignment>) throws(ModelError) -> Int64
    ) throws -> Int64 {
        let property = try view.schema.classHandle(named: "Address").property(named: "street")
        return try withAssignments([(property, .string(street))], body)
    }

    fileprivate func assign(_ key: Int64, _ list: PropertyHandle, _ values: [Value]) throws {
        let owner = view.schema.classes[list.classPosition]
        var borrowed: [BorrowedValue] = []
        for case .link(let target) in values { borrowed.append(.link(target)) }
        let elements = borrowed
        try elements.withUnsafeBufferPointer { elements in
            try withUnsafePointer(to: Assignment(list.id, .list(elements))) { assignment in
                try set(key, owner, UnsafeBufferPointer(start: assignment, count: 1))
            }
        }
    }
}

extension TableReader {
    func keys() throws -> [Int64] {
        try (0..<rowCount).map { rank throws in try key(atRank: rank) }
    }
}
