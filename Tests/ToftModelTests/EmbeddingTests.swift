// Tests: OwnerArrangement.swift
import Testing
@testable import ToftModel
import ToftStorage
import ToftTestKit

/// Classes that become embedded, or are not any more.
@Suite struct EmbeddingTests {
    static let person = ClassSchema(
        "Person",
        [
            .link("home", to: "Address"), .link("work", to: "Address"),
            .links("earlier", to: "Address"),
            PropertySchema(
                "named", .link, collection: .dictionary, isOptional: true, target: "Address"),
        ])
    static let note = ClassSchema(
        "Note",
        [
            PropertySchema("any", .mixed), PropertySchema("all", .mixed, collection: .list),
            .link("country", to: "Country"),
        ])
    static let country = ClassSchema("Country", [PropertySchema("name", .string)])

    static func address(isEmbedded: Bool) -> ClassSchema {
        ClassSchema(
            "Address", isEmbedded: isEmbedded,
            [
                PropertySchema("street", .string, isIndexed: true), .link("country", to: "Country"),
                .link("inner", to: "Address"), .links("parts", to: "Address"),
                PropertySchema("texts", .string, collection: .dictionary),
                PropertySchema("any", .mixed),
            ])
    }

    func database(isTight: Bool = false, isEmbedded: Bool = false) throws -> ModelDatabase {
        try ModelDatabase(
            Self.person, Self.note, Self.country, Self.address(isEmbedded: isEmbedded),
            isTight: isTight)
    }

    /// Makes addresses embedded, or not.
    func change(
        _ database: ModelDatabase, isEmbedded: Bool = true, version: UInt64 = 1,
        handlesBacklinks: Bool = false
    ) throws {
        try database.reopen(
            Self.person, Self.note, Self.country, Self.address(isEmbedded: isEmbedded),
            version: version, handlesBacklinks: handlesBacklinks)
    }

    /// The refusal of the change; the database is as it was afterwards.
    func refusal(_ database: ModelDatabase, handlesBacklinks: Bool = false) throws -> String {
        let version = try database.read { $0.snapshot.version }
        let text = message { try change(database, handlesBacklinks: handlesBacklinks) }
        #expect(try database.read { $0.snapshot.version } == version)
        try database.check()
        return text
    }

    /// The streets of all addresses that there are, in the order of their keys.
    func streets(_ database: ModelDatabase) throws -> [String] {
        try database.read { view throws in
            try view.table(view.schema.classHandle(named: "Address")).keys().map {
                guard case .string(let street) = try view.value($0, "Address", "street") else {
                    return ""
                }
                return street
            }
        }
    }

    // MARK: Refused

    @Test func `Without a higher version a class stays what it is, and the error says what to do`()
        throws
    {
        let database = try database()
        #expect(
            message { try change(database, version: 0) }.contains(
                "class 'Address' is not embedded in the file and embedded in the declared schema; "
                    + "open the file with a higher schema version to change that"))
        try change(database)
        #expect(try database.handle("Address").isEmbedded)
        #expect(
            message { try change(database, isEmbedded: false) }.contains(
                "class 'Address' is embedded in the file and not embedded in the declared schema"))
        try change(database, isEmbedded: false, version: 2)
        #expect(try !database.handle("Address").isEmbedded)
        try database.check()
    }

    @Test func `Objects without an owner and with several are refused, counted and named`() throws {
        let database = try database()
        let keys = try database.write { transaction throws in
            let keys = try (0..<6).map {
                try transaction.create("Address", ["street": .string("\($0)")])
            }
            let link = { (key: Int64) in Value.link(try Self.ref(database, key)) }
            try transaction.create("Person", ["home": link(keys[0]), "work": link(keys[1])])
            try transaction.create("Person", ["home": link(keys[1])])
            let carl = try transaction.create("Person")
            try transaction.append(carl, "Person", "earlier", link(keys[2]), link(keys[3]))
            try transaction.append(carl, "Person", "earlier", link(keys[3]))
            return keys
        }
        let text = try refusal(database)
        #expect(
            text.contains(
                "class 'Address' has objects that can't be embedded: 2 without an owner (object "
                    + "\(keys[4])), 2 with several owners (object \(keys[1]) in 'Person.home' of "
                    + "object 1 and 'Person.work' of object 0). Give each one owner in the "
                    + "migration, or open the file with automatic backlink handling"))
        try database.write { transaction throws in
            try transaction.erase(keys[4], "Address")
            try transaction.erase(keys[5], "Address")
            try transaction.set(1, "Person", "home", .null)
            let list = try database.property("Person", "earlier")
            try transaction.listErase(2, list, at: 1)
        }
        try change(database)
        #expect(try streets(database) == ["0", "1", "2", "3"])
        // Now they live and die with their owner.
        try database.write { transaction throws in
            try transaction.set(0, "Person", "work", .null)
            try transaction.erase(2, "Person")
        }
        #expect(try streets(database) == ["0"])
        try database.check()
    }

    @Test(arguments: [false, true])
    func `Links of mixed values are refused`(inList: Bool) throws {
        let database = try database()
        try database.write { transaction throws in
            let key = try transaction.create("Address")
            let link = Value.link(try Self.ref(database, key))
            try transaction.create("Person", ["home": link])
            try transaction.create("Note", inList ? ["all": .list([link])] : ["any": link])
        }
        for handlesBacklinks in [false, true] {
            let text = try refusal(database, handlesBacklinks: handlesBacklinks)
            #expect(
                text.contains(
                    "1 linked to by mixed values or sets (object 0 in "
                        + "'Note.\(inList ? "all" : "any")' of object 0). Give each"))
        }
        try database.write { transaction throws in
            try transaction.set(0, "Note", inList ? "all" : "any", .null)
        }
        try change(database)
        try database.check()
    }

    /// A set can't be declared with embedded objects, but a class that is not declared has one.
    @Test func `Links of hidden sets are refused, those of other hidden properties own`() throws {
        let holder = ClassSchema(
            "Holder",
            [
                PropertySchema("all", .link, collection: .set, target: "Address"),
                PropertySchema(
                    "one", .link, isOptional: true, deleteRule: .deny, target: "Address"),
            ])
        let database = try ModelDatabase(
            Self.person, Self.note, Self.country, Self.address(isEmbedded: false), holder)
        try database.write { transaction throws in
            let link = Value.link(try Self.ref(database, try transaction.create("Address")))
            try transaction.create("Holder", ["one": link])
            try transaction.create("Holder", ["all": .list([link])])
        }
        #expect(try refusal(database).contains("(object 0 in 'Holder.all' of object 1)"))
        try database.write { try $0.erase(1, "Holder") }
        try change(database)
        try database.check()
        try database.write { transaction throws in
            let holder = transaction.view.schema.classes.first { $0.name == "Holder" }
            try transaction.erase(0, #require(holder))
        }
        #expect(try streets(database) == [])
        try database.check()
    }

    @Test func `A class with a primary key needs a migration that takes it away`() throws {
        let keyed = ClassSchema("Tag", [PropertySchema("id", .int, isPrimaryKey: true)])
        let holder = ClassSchema("Holder", [.link("tag", to: "Tag")])
        let embedded = ClassSchema("Tag", isEmbedded: true, [PropertySchema("id", .int)])
        let database = try ModelDatabase(keyed, holder)
        try database.write { transaction throws in
            let tag = try transaction.create("Tag", ["id": .int(7)])
            try transaction.create(
                "Holder",
                ["tag": .link(ObjectRef(classID: try database.handle("Tag").id, key: tag))]
            )
        }
        #expect(
            message { try database.reopen(embedded, holder, version: 1) }.contains(
                "class 'Tag' has the primary key 'id' in the file"))
        try database.migrate(embedded, holder, version: 1) { _ in }
        try database.read { view throws in #expect(try view.value(0, "Tag", "id") == .int(7)) }
        try database.check()
        // And back, with the key.
        try database.migrate(keyed, holder, version: 2) { transaction throws in
            let key = try transaction.create("Tag", ["id": .int(8)])
            #expect(key == 1)
        }
        try database.read { view throws in #expect(try view.find("Tag", .int(8)) == 1) }
        try database.check()
        #expect(
            message {
                try database.migrate(embedded, holder, version: 3) { transaction throws in
                    try transaction.create("Tag", ["id": .int(7)])
                }
            }.contains("2 without an owner (object 1)"))
        try database.check()
    }

    // MARK: Circles and depth

    @Test(arguments: [false, true])
    func `Objects that only own one another hang from nothing`(handlesBacklinks: Bool) throws {
        let database = try database()
        try database.write { transaction throws in
            let keys = try (0..<4).map {
                try transaction.create("Address", ["street": .string("\($0)")])
            }
            // 0 owns itself, 1 and 2 each other, 3 is within 2.
            for (key, target) in [(0, 0), (1, 2), (2, 1)] {
                try transaction.set(
                    keys[key], "Address", "inner", .link(try Self.ref(database, keys[target])))
            }
            try transaction.append(
                keys[2], "Address", "parts", .link(try Self.ref(database, keys[3])))
        }
        if handlesBacklinks {
            try change(database, handlesBacklinks: true)
            #expect(try streets(database) == [])
            try database.check()
        } else {
            #expect(
                try refusal(database).contains(
                    "4 in a circle of them, or with 100 or more around it (object 0). Give each "
                        + "one owner in the migration"))
        }
    }

    @Test func `A circle that hangs from an object can't be copied for ever`() throws {
        let database = try database()
        try database.write { transaction throws in
            let key = try transaction.create("Address")
            let link = Value.link(try Self.ref(database, key))
            try transaction.set(key, "Address", "inner", link)
            try transaction.create("Person", ["home": link])
        }
        #expect(try refusal(database).contains("1 with several owners"))
        let text = try refusal(database, handlesBacklinks: true)
        #expect(text.contains("An embedded object in 'Address.inner' would have 100 others around"))
    }

    @Test(arguments: [99, 100, 101], [false, true])
    func `A hundred objects may lie in one another`(depth: Int, handlesBacklinks: Bool) throws {
        let database = try database()
        try database.write { transaction throws in
            var last = try transaction.create("Address")
            for _ in 1..<depth {
                last = try transaction.create(
                    "Address", ["inner": .link(try Self.ref(database, last))])
            }
            try transaction.create("Person", ["home": .link(try Self.ref(database, last))])
        }
        guard depth > 100 else {
            try change(database, handlesBacklinks: handlesBacklinks)
            #expect(try streets(database).count == depth)
            return try database.check()
        }
        let text = try refusal(database, handlesBacklinks: handlesBacklinks)
        #expect(
            text.contains(
                handlesBacklinks
                    ? "would have 100 others around" : "1 in a circle of them, or with 100 or more")
        )
    }

    // MARK: Automatic handling

    @Test(arguments: [false, true])
    func `Objects without an owner are deleted, and those with several copied`(isTight: Bool) throws
    {
        let database = try database(isTight: isTight)
        try database.write { transaction throws in
            let country = try transaction.create("Country", ["name": .string("Norway")])
            let home = Value.link(
                ObjectRef(classID: try database.handle("Country").id, key: country))
            let shared = try transaction.create(
                "Address",
                [
                    "street": .string("shared"), "country": home, "any": .list([home, .int(7)]),
                    "texts": .dictionary([ValueEntry(key: "a", value: .string("b"))]),
                ])
            let inner = try transaction.create("Address", ["street": .string("inner")])
            try transaction.set(
                shared, "Address", "inner", .link(try Self.ref(database, inner)))
            let parts = try (0..<3).map {
                try transaction.create("Address", ["street": .string("part \($0)")])
            }
            for part in parts {
                try transaction.append(
                    shared, "Address", "parts", .link(try Self.ref(database, part)))
            }
            let lost = try transaction.create("Address", ["street": .string("lost")])
            let below = try transaction.create("Address", ["street": .string("below")])
            try transaction.set(lost, "Address", "inner", .link(try Self.ref(database, below)))
            let link = Value.link(try Self.ref(database, shared))
            let ann = try transaction.create("Person", ["home": link, "work": link])
            try transaction.append(ann, "Person", "earlier", link, link)
            let named = try database.property("Person", "named")
            try transaction.dictionarySet(ann, named, "a", link)
            try transaction.dictionarySet(ann, named, "b", .null)
            try transaction.dictionarySet(ann, named, "c", link)
            // Lost objects no longer count as owners.
            try transaction.append(lost, "Address", "parts", link)
        }
        try change(database, handlesBacklinks: true)
        try database.check()
        try database.read { view throws in
            let addresses = try view.table(database.handle("Address")).keys()
            #expect(addresses.count == 6 * 5)
            let held = try ["home", "work"].map { try view.value(0, "Person", $0) }
            let earlier = try view.values(0, "Person", "earlier")
            #expect(held[0] == .link(try Self.ref(database, 0)))
            let all = Set((held + earlier).map { "\($0)" })
            #expect(all.count == 4)
            for case .link(let address) in held + earlier {
                let unfolded = try Self.unfolded(address.key, view)
                #expect(unfolded == "shared(inner() part 0() part 1() part 2())")
                #expect(
                    try view.value(address.key, "Address", "country")
                        == .link(ObjectRef(classID: try database.handle("Country").id, key: 0)))
                #expect(
                    try view.keys("Address", "street", equalTo: .string("shared")).contains(
                        address.key))
            }
        }
        // Each has a life of its own.
        try database.write { try $0.set(0, "Person", "home", .null) }
        #expect(try streets(database).count == 5 * 5)
        try database.write { try $0.erase(0, "Person") }
        #expect(try streets(database) == [])
        try database.check()
    }

    @Test func `Copies must not break a unique constraint`() throws {
        let classes = { (isEmbedded: Bool) in
            var tag = ClassSchema("Tag", isEmbedded: isEmbedded, [PropertySchema("id", .int)])
            tag.uniques = [["id"]]
            return tag
        }
        let holder = ClassSchema("Holder", [.links("tags", to: "Tag")])
        let database = try ModelDatabase(classes(false), holder)
        try database.write { transaction throws in
            let tag = Value.link(
                ObjectRef(
                    classID: try database.handle("Tag").id,
                    key: try transaction.create("Tag", ["id": .int(1)])))
            let owner = try transaction.create("Holder")
            try transaction.append(owner, "Holder", "tags", tag, tag)
        }
        for migrates in [false, true] {
            let text = message {
                if migrates {
                    try database.migrate(
                        classes(true), holder, version: 1, handlesBacklinks: true
                    ) { _ in }
                } else {
                    try database.reopen(
                        classes(true), holder, version: 1, handlesBacklinks: true)
                }
            }
            #expect(text.contains("Tag") && text.contains("unique"))
            try database.check()
        }
        // An element that is removed leaves its values to others.
        try database.write { transaction throws in
            let tags = try database.property("Holder", "tags")
            try transaction.listErase(0, tags, at: 0)
        }
        try database.migrate(classes(true), holder, version: 1, handlesBacklinks: true) {
            transaction throws in
            try transaction.create("Tag", ["id": .int(1)])
        }
        try database.read { view throws in #expect(try view.count(database.handle("Tag")) == 1) }
        try database.check()
    }

    /// Every object is unchanged, seen from the people; no object is in two places.
    @Test(arguments: 0..<40)
    func `Random links unfold to trees`(seed: UInt64) throws {
        var numbers = Seed(seed)
        let isOwned = seed.isMultiple(of: 3)
        let box = { (isEmbedded: Bool) in
            ClassSchema(
                "Box", isEmbedded: isEmbedded,
                [.links("addresses", to: "Address"), .link("box", to: "Box")])
        }
        var person = Self.person
        person.properties.append(.links("boxes", to: "Box"))
        let address = { (isEmbedded: Bool) in
            var address = Self.address(isEmbedded: isEmbedded)
            address.properties.append(.links("boxes", to: "Box"))
            return address
        }
        let database = try ModelDatabase(
            person, Self.country, address(false), box(false), isTight: seed.isMultiple(of: 2))
        let count = Int64(4 + seed % 5)
        try database.write { transaction throws in
            let classes = ["Address", "Box"]
            // Each links to those of lower numbers, so that there are no cycles.
            for number in 0..<count {
                try transaction.create("Address", ["street": .string("a\(number)")])
                try transaction.create("Box")
                for (owner, property, target) in [
                    ("Address", "parts", 0), ("Address", "boxes", 1), ("Box", "addresses", 0),
                ] where number > 0 {
                    for _ in 0..<numbers.below(2) {
                        let key = Int64(numbers.below(Int(number)))
                        try transaction.append(
                            number, owner, property,
                            .link(try Self.ref(database, key, classes[target])))
                    }
                }
            }
            for number in 0..<3 as Range<Int64> {
                try transaction.create("Person")
                for _ in 0..<numbers.below(4) {
                    let key = Int64(numbers.below(Int(count)))
                    try transaction.append(
                        number, "Person", "earlier", .link(try Self.ref(database, key)))
                }
                for _ in 0..<numbers.below(3) {
                    let key = Int64(numbers.below(Int(count)))
                    try transaction.append(
                        number, "Person", "boxes", .link(try Self.ref(database, key, "Box")))
                }
            }
        }
        let before = try database.read { try Self.forest($0) }
        if isOwned {
            try database.migrate(
                person, Self.country, address(true), box(true), version: 1, handlesBacklinks: true
            ) { _ in }
        } else {
            try database.reopen(
                person, Self.country, address(true), box(true), version: 1, handlesBacklinks: true)
        }
        try database.check()
        try database.read { view throws in
            #expect(try Self.forest(view) == before)
            let objects = before.joined().count { $0 == "(" } - 3
            #expect(
                try view.count(database.handle("Address")) + view.count(database.handle("Box"))
                    == objects)
        }
    }

    // MARK: Not embedded any more

    @Test(arguments: [false, true])
    func `Objects of a class that is not embedded any more stay`(inMigration: Bool) throws {
        let database = try database(isEmbedded: true)
        try database.write { transaction throws in
            let ann = try transaction.create("Person")
            let property = try database.property("Person", "home")
            let home = try transaction.setEmbedded(ann, property)
            _ = try transaction.setEmbedded(home, database.property("Address", "inner"))
        }
        if inMigration {
            try database.migrate(
                Self.person, Self.note, Self.country, Self.address(isEmbedded: false), version: 1
            ) { transaction throws in
                // It is an ordinary class already.
                try transaction.create("Address", ["street": .string("free")])
                try transaction.set(0, "Person", "work", .link(try Self.ref(database, 1)))
                try transaction.set(0, "Person", "home", .null)
            }
            #expect(try streets(database) == ["", "", "free"])
        } else {
            try change(database, isEmbedded: false)
            #expect(try streets(database) == ["", ""])
        }
        try database.write { transaction throws in
            try transaction.erase(0, "Person")
            try transaction.create(
                "Person",
                [
                    "home": .link(try Self.ref(database, 1)),
                    "work": .link(try Self.ref(database, 1)),
                ])
        }
        #expect(try streets(database).count == (inMigration ? 3 : 2))
        try database.check()
    }

    @Test func `What a migration removes owns nothing, nor is it kept from going`() throws {
        let database = try database()
        try database.write { transaction throws in
            let key = try transaction.create("Address")
            let link = Value.link(try Self.ref(database, key))
            try transaction.create("Person", ["home": link, "work": link])
        }
        var person = Self.person
        person.properties.removeAll { $0.name == "work" }
        try database.migrate(
            person, Self.note, Self.country, Self.address(isEmbedded: true), version: 1
        ) { _ in }
        #expect(try streets(database).count == 1)
        try database.check()
        // Objects of a removed property are free if their class is no longer embedded.
        person.properties.removeAll { $0.name == "home" }
        try database.migrate(
            person, Self.note, Self.country, Self.address(isEmbedded: false), version: 2
        ) { _ in }
        #expect(try streets(database).count == 1)
        try database.check()
    }

    // MARK: Many objects

    @Test(arguments: [false, true])
    func `Twenty thousand objects become embedded`(handlesBacklinks: Bool) throws {
        let database = try ModelDatabase(
            Self.person, Self.note, Self.country, Self.address(isEmbedded: false),
            dirtyLimit: 1 << 20)
        let count = 20_000 as Int64
        try database.write { transaction throws in
            let (owner, person) = (try database.handle("Address"), try database.handle("Person"))
            let home = try database.property("Person", "home")
            let work = try database.property("Person", "work")
            for number in 0..<count {
                let key = try transaction.create(owner).key
                let link = Value.link(ObjectRef(classID: owner.id, key: key))
                guard handlesBacklinks else {
                    try transaction.create(person, [(home, link)])
                    continue
                }
                // Every second one has two owners, the others have no owner.
                if number.isMultiple(of: 2) {
                    try transaction.create(person, [(home, link), (work, link)])
                }
            }
        }
        try change(database, handlesBacklinks: handlesBacklinks)
        try database.read { view throws in
            #expect(try view.count(database.handle("Address")) == Int(count))
        }
        try database.check()
    }
}

extension EmbeddingTests {
    fileprivate static func ref(
        _ database: ModelDatabase, _ key: Int64, _ name: String = "Address"
    ) throws -> ObjectRef {
        ObjectRef(classID: try database.handle(name).id, key: key)
    }

    /// The street of an address, with the addresses within it.
    fileprivate static func unfolded(_ key: Int64, _ view: ModelView) throws -> String {
        var inner: [String] = []
        if case .link(let target) = try view.value(key, "Address", "inner") {
            inner.append(try unfolded(target.key, view))
        }
        for case .link(let target) in try view.values(key, "Address", "parts") {
            inner.append(try unfolded(target.key, view))
        }
        if let boxes = try? view.values(key, "Address", "boxes") {
            for case .link(let target) in boxes { inner.append(try box(target.key, view)) }
        }
        guard case .string(let street) = try view.value(key, "Address", "street") else { return "" }
        return "\(street)(\(inner.joined(separator: " ")))"
    }

    private static func box(_ key: Int64, _ view: ModelView) throws -> String {
        var inner: [String] = []
        for case .link(let target) in try view.values(key, "Box", "addresses") {
            inner.append(try unfolded(target.key, view))
        }
        return "box(\(inner.joined(separator: " ")))"
    }

    /// The objects within each person.
    fileprivate static func forest(_ view: ModelView) throws -> [String] {
        try view.table(view.schema.classHandle(named: "Person")).keys().map { key in
            var inner: [String] = []
            for case .link(let target) in try view.values(key, "Person", "earlier") {
                inner.append(try unfolded(target.key, view))
            }
            for case .link(let target) in try view.values(key, "Person", "boxes") {
                inner.append(try box(target.key, view))
            }
            return "person(\(inner.joined(separator: " ")))"
        }
    }
}
