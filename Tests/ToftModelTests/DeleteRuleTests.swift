// Tests: DeleteRule.swift
import Testing
@testable import ToftModel
import ToftStorage

/// Links that take their targets with them, and links that keep them.
@Suite struct DeleteRuleTests {
    static func schema(_ rule: DeleteRule, _ collection: CollectionKind = .list) -> [ClassSchema] {
        [
            ClassSchema(
                "Order",
                [
                    PropertySchema("number", .int),
                    PropertySchema(
                        "items", .link, collection: collection,
                        isOptional: collection.hasOptionalLinks, deleteRule: rule, target: "Item"),
                    PropertySchema(
                        "next", .link, isOptional: true, deleteRule: rule, target: "Order"),
                    .link("first", to: "Item"),
                ]),
            ClassSchema(
                "Item",
                [
                    PropertySchema("name", .string, isIndexed: true),
                    .linkingObjects("orders", from: "Order", "items"),
                ]),
        ]
    }

    func database(_ rule: DeleteRule, _ collection: CollectionKind = .list) throws -> ModelDatabase
    {
        let classes = Self.schema(rule, collection)
        return try ModelDatabase(classes[0], classes[1])
    }

    func link(_ database: ModelDatabase, _ name: String, _ key: Int64) throws -> Value {
        .link(ObjectRef(classID: try database.handle(name).id, key: key))
    }

    func counts(_ view: ModelView) throws -> [Int] {
        [
            try view.count(view.schema.classHandle(named: "Order")),
            try view.count(view.schema.classHandle(named: "Item")),
        ]
    }

    /// An order with two items, and another one that has the second item too.
    func fill(_ database: ModelDatabase) throws -> (orders: [Int64], items: [Int64]) {
        try database.write { transaction throws in
            let orders = [try transaction.create("Order"), try transaction.create("Order")]
            let items = [try transaction.create("Item"), try transaction.create("Item")]
            for item in items {
                try transaction.append(orders[0], "Order", "items", link(database, "Item", item))
            }
            try transaction.append(orders[1], "Order", "items", link(database, "Item", items[1]))
            return (orders, items)
        }
    }

    @Test func `A cascade deletes what the object links to, whatever else links to it`() throws {
        let database = try database(.cascade)
        let (orders, _) = try fill(database)
        try database.write { transaction throws in
            try transaction.erase(orders[0], "Order")
            #expect(try counts(transaction.view) == [1, 0])
            #expect(try transaction.view.values(orders[1], "Order", "items") == [])
        }
        try database.check()
    }

    @Test func `A cascade follows to-one links in circles and chains, and ends`() throws {
        let database = try database(.cascade)
        try database.write { transaction throws in
            let orders = try (0..<3_000).map { _ in try transaction.create("Order") }
            for index in orders.indices {
                try transaction.set(
                    orders[index], "Order", "next",
                    link(database, "Order", orders[(index + 1) % orders.count]))
            }
            let alone = try transaction.create("Order")
            try transaction.set(alone, "Order", "next", link(database, "Order", alone))
            try transaction.erase(orders[7], "Order")
            #expect(try counts(transaction.view) == [1, 0])
            try transaction.erase(alone, "Order")
            #expect(try counts(transaction.view) == [0, 0])
        }
        try database.check()
    }

    @Test(arguments: [CollectionKind.list, .set, .dictionary])
    func `Each kind of collection cascades`(_ kind: CollectionKind) throws {
        let database = try database(.cascade, kind)
        try database.write { transaction throws in
            let order = try transaction.create("Order")
            let item = try link(database, "Item", transaction.create("Item"))
            let items = try database.property("Order", "items")
            switch kind {
            case .dictionary: _ = try transaction.dictionarySet(order, items, "a", item)
            case .set: _ = try transaction.setInsert(order, items, item)
            default: try transaction.listAppend(order, items, item)
            }
            _ = try transaction.create("Item")
            try transaction.erase(order, "Order")
            #expect(try counts(transaction.view) == [0, 1])
        }
        try database.check()
    }

    @Test func `Without a rule, and when a link is set to something else, all stays`() throws {
        for rule in [DeleteRule.nullify, .cascade] {
            let database = try database(rule)
            let (orders, items) = try fill(database)
            try database.write { transaction throws in
                try transaction.clear(orders[0], try database.property("Order", "items"))
                try transaction.erase(orders[0], "Order")
                #expect(try counts(transaction.view) == [1, 2])
                try transaction.set(orders[1], "Order", "first", link(database, "Item", items[0]))
                if rule == .nullify { try transaction.erase(orders[1], "Order") }
                #expect(try counts(transaction.view)[1] == 2)
            }
            try database.check()
        }
    }

    @Test func `An object stays while a denying link leads to it`() throws {
        let database = try database(.deny)
        let (orders, items) = try fill(database)
        try database.write { transaction throws in
            #expect(
                message { try transaction.erase(items[1], "Item") }
                    == "An object of class 'Item' can't be deleted: 'Order.items' of another "
                    + "object links to it and denies it. Change that link or delete that object "
                    + "first.")
            let item = try database.handle("Item")
            #expect(
                throws: ModelError.deletionDenied(
                    className: "Item", sourceClass: "Order", property: "items", source: orders[0])
            ) { try transaction.erase(items, item) }
            #expect(throws: ModelError.self) { try transaction.eraseAll([item]) }
            #expect(try counts(transaction.view) == [2, 2])
            try transaction.erase(orders[0], "Order")
            try transaction.erase(items[0], "Item")
            #expect(throws: ModelError.self) { try transaction.erase(items[1], "Item") }
            try transaction.clear(orders[1], try database.property("Order", "items"))
            try transaction.erase(items[1], "Item")
            #expect(try counts(transaction.view) == [1, 0])
        }
        try database.check()
    }

    @Test func `Links between objects that one call deletes deny nothing`() throws {
        let database = try database(.deny)
        let (orders, items) = try fill(database)
        try database.write { transaction throws in
            let order = try database.handle("Order"), item = try database.handle("Item")
            try transaction.set(orders[0], "Order", "next", link(database, "Order", orders[0]))
            try transaction.set(orders[1], "Order", "next", link(database, "Order", orders[0]))
            #expect(throws: ModelError.self) { try transaction.erase(orders[0], "Order") }
            try transaction.set(orders[1], "Order", "next", .null)
            try transaction.erase(orders[0], "Order")
            try transaction.eraseAll([item, order])
            #expect(try counts(transaction.view) == [0, 0])
            #expect(throws: ModelError.self) { try transaction.erase(items[0], "Item") }
        }
        try database.check()
    }

    @Test func `A denial deep in a cascade keeps everything`() throws {
        let team = ClassSchema(
            "Team",
            [
                PropertySchema(
                    "players", .link, collection: .list, deleteRule: .cascade, target: "Player")
            ])
        let player = ClassSchema(
            "Player", [PropertySchema("home", .link, isOptional: true, target: "Home")])
        let home = ClassSchema(
            "Home", isEmbedded: true,
            [
                PropertySchema(
                    "guard", .link, isOptional: true, deleteRule: .deny, target: "Player")
            ])
        let database = try ModelDatabase(team, player, home)
        try database.write { transaction throws in
            let team = try transaction.create("Team")
            let players = [try transaction.create("Player"), try transaction.create("Player")]
            try transaction.append(
                team, "Team", "players", link(database, "Player", players[0]))
            // The home of one player keeps the other.
            let home = try transaction.setEmbedded(
                players[1], try database.property("Player", "home"))
            try transaction.set(home, "Home", "guard", link(database, "Player", players[0]))
            #expect(throws: ModelError.self) { try transaction.erase(team, "Team") }
            #expect(try transaction.view.count(database.handle("Player")) == 2)
            // With its own home in the same call it is deleted.
            try transaction.append(
                team, "Team", "players", link(database, "Player", players[1]))
            try transaction.erase(team, "Team")
            #expect(try transaction.view.count(database.handle("Player")) == 0)
            #expect(try transaction.view.count(database.handle("Home")) == 0)
        }
        try database.check()
    }

    @Test func `A rule is added to a file and taken from it, and holds from then on`() throws {
        let database = try database(.nullify)
        let (orders, items) = try fill(database)
        for (rule, expected) in [(DeleteRule.deny, 2), (.cascade, 0)] {
            let classes = Self.schema(rule)
            try database.reopen(classes[0], classes[1])
            #expect(try database.property("Order", "items").deleteRule == rule)
            try database.rolledBack { transaction throws in
                if rule == .deny {
                    #expect(throws: ModelError.self) { try transaction.erase(items[0], "Item") }
                } else {
                    try transaction.erase(orders[0], "Order")
                }
                #expect(try counts(transaction.view)[1] == expected)
            }
        }
        let classes = Self.schema(.nullify)
        try database.reopen(classes[0], classes[1])
        try database.write { try $0.erase(orders[0], "Order") }
        #expect(try database.read { try counts($0) } == [1, 2])
        try database.check()
    }

    @Test func `A rule is for links to objects of their own`() {
        func problems(_ property: PropertySchema, isEmbedded: Bool = false) -> [String] {
            Schema([
                ClassSchema("A", isEmbedded: isEmbedded, [property]),
                ClassSchema("B", [PropertySchema("id", .int)]),
                ClassSchema("E", isEmbedded: true, [PropertySchema("id", .int)]),
            ]).problems().map(\.description)
        }
        func to(_ target: String, _ rule: DeleteRule) -> PropertySchema {
            PropertySchema("x", .link, isOptional: true, deleteRule: rule, target: target)
        }
        for rule in DeleteRule.allCases { #expect(problems(to("B", rule)) == []) }
        #expect(problems(to("B", .deny), isEmbedded: true) == [])
        #expect(
            problems(to("B", .cascade), isEmbedded: true) == [
                "property 'A.x' belongs to an embedded class and can't cascade"
            ])
        #expect(problems(to("E", .nullify)) == [])
        #expect(
            problems(to("E", .deny)) == [
                "property 'A.x' links to the embedded class 'E', whose objects are deleted with "
                    + "their owner, and has no delete rule"
            ])
        #expect(
            problems(PropertySchema("x", .int, deleteRule: .cascade)) == [
                "property 'A.x' is of type int and has no delete rule; links have"
            ])
    }

    @Test func `Rules that can't be are a damaged schema`() throws {
        var stored = StoredClass(id: 1, name: "A", nextPropertyID: 2, table: TreeID(100))
        stored.properties = [StoredProperty(id: 1, name: "x", type: .int)]
        stored.properties[0].deleteRule = .deny
        let read = try StoredClass(decoding: stored.encoded())
        #expect(read.properties[0].deleteRule == .deny)
        let schema = StoredSchema(nextClassID: 2, classes: [read])
        #expect(message { try schema.validate() }.contains("can't have a delete rule and has one"))
        // Both bits of the rule.
        var bytes = stored.encoded()
        bytes[try #require(bytes.lastIndex(of: 4))] |= 2
        #expect(
            message { _ = try StoredClass(decoding: bytes) }.contains("has the delete rule 3"))
    }
}
