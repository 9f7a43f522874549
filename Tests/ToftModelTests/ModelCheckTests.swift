// Tests: ModelCheck.swift, ModelError+Message.swift, ModelView+Links.swift, BacklinkEntry.swift,
// UniqueConstraint+Hash.swift
import Testing
@testable import ToftModel
import ToftStorage

/// Whatever derives from something else is damaged, with checksums that are right: the check of a
/// database finds it.
@Suite struct ModelCheckTests {
    private static let note = ClassSchema(
        "Note",
        [
            PropertySchema("id", .int, isPrimaryKey: true),
            PropertySchema("title", .string, isIndexed: true),
            PropertySchema("body", .string),
            .link("parent", to: "Note"), .links("others", to: "Note"),
            PropertySchema("tags", .string, collection: .list),
        ])

    private struct Damage: CustomStringConvertible, Sendable {
        let description: String
        let make: @Sendable (WriteTransaction, ClassHandle) throws -> Void

        init(
            _ description: String,
            _ make: @escaping @Sendable (WriteTransaction, ClassHandle) throws -> Void
        ) {
            self.description = description
            self.make = make
        }
    }

    private static func key(_ tree: TreeReader, last: Bool = false) throws -> [UInt8] {
        let cursor = try tree.cursor()
        try #require(try cursor.seekFirst())
        var key = Array(cursor.key)
        while try last && cursor.next() { key = Array(cursor.key) }
        return key
    }

    /// Removes the first entry of a tree, which stays away, or comes back with another key or
    /// value.
    private static func change(
        _ id: TreeID?, in writing: WriteTransaction,
        to entry: (inout [UInt8], inout [UInt8]) -> Bool
    ) throws {
        let id = try #require(id)
        let tree = try writing.view.orderedTree(id)
        var key = try Self.key(tree)
        var value = try key.withUnsafeBytes { try Array(#require(try tree.value(forKey: $0))) }
        try key.withUnsafeBytes { _ = try writing.treeDelete(id, $0, derived: true) }
        guard entry(&key, &value) else { return }
        try key.withUnsafeBytes { key in
            try value.withUnsafeBytes { try writing.treePut(id, key, $0, derived: true) }
        }
    }

    /// Adds an entry like the last one.
    private static func add(_ id: TreeID?, in writing: WriteTransaction) throws {
        let id = try #require(id)
        var key = try Self.key(try writing.view.orderedTree(id), last: true)
        key[key.count - 1] ^= 0x40
        try key.withUnsafeBytes { key in
            try writing.treePut(
                id, key, UnsafeRawBufferPointer(start: nil, count: 0), derived: true)
        }
    }

    private static func set(
        _ name: String, _ cell: Cell, _ writing: WriteTransaction, _ owner: ClassHandle
    ) throws {
        try writing.cellSet(
            owner.table, 0,
            try owner.property(named: name).column, cell, derived: false)
    }

    private static let damages = [
        Damage("a copy of the schema that lacks a class") { writing, owner in
            _ = try SchemaEncoding.classKey(owner.id).withUnsafeBytes {
                try writing.treeDelete(SchemaTree.copy, $0, derived: true)
            }
        },
        Damage("a primary key without its entry") { writing, owner in
            try change(owner.primaryKeyTree, in: writing) { _, _ in false }
        },
        Damage("a primary key that leads to another object") { writing, owner in
            try change(owner.primaryKeyTree, in: writing) { _, value in
                value = value == [1] ? [2] : [1]
                return true
            }
        },
        Damage("an object whose primary key has changed") { writing, owner in
            try set("id", .int64(77), writing, owner)
        },
        Damage("a value without its index entry") { writing, owner in
            try change(try owner.property(named: "title").indexTree, in: writing) { _, _ in false }
        },
        Damage("an index entry of another value") { writing, owner in
            try change(try owner.property(named: "title").indexTree, in: writing) { key, _ in
                key[0] ^= 1
                return true
            }
        },
        Damage("an index entry without an object") { writing, owner in
            try add(try owner.property(named: "title").indexTree, in: writing)
        },
        Damage("an indexed value that has changed") { writing, owner in
            try Array("other".utf8).withUnsafeBytes {
                try set("title", .bytes($0), writing, owner)
            }
        },
        Damage("a link without its backlink") { writing, owner in
            try change(try owner.property(named: "parent").backlinkTree, in: writing) { _, _ in
                false
            }
        },
        Damage("a backlink without its link") { writing, owner in
            try add(try owner.property(named: "parent").backlinkTree, in: writing)
        },
        Damage("a link that leads elsewhere") { writing, owner in
            try set("parent", .int64(2), writing, owner)
        },
        Damage("a link to an object that is not there") { writing, owner in
            try set("parent", .int64(99), writing, owner)
        },
        Damage("a list of links with one more than its backlinks say") { writing, owner in
            try writing.listInsert(
                owner.table, 0,
                try owner.property(named: "others").column, at: 0, .int64(1), derived: false)
        },
        Damage("a backlink with a wrong count") { writing, owner in
            try change(try owner.property(named: "others").backlinkTree, in: writing) { _, value in
                value = [9, 0, 0, 0]
                return true
            }
        },
        Damage("an object that was erased without its entries") { writing, owner in
            try writing.rowErase(
                owner.table, 4, derived: false)
        },
        Damage("an object without entries") { writing, owner in
            try writing.rowInsert(owner.table, try writing.takeKey(owner.table), derived: false)
        },
        Damage("a text that is not UTF-8") { writing, owner in
            try ([0x61, 0xFF] as [UInt8]).withUnsafeBytes {
                try set("body", .bytes($0), writing, owner)
            }
        },
        Damage("a text in a list that is not UTF-8") { writing, owner in
            try ([0xC3] as [UInt8]).withUnsafeBytes {
                try writing.listInsert(
                    owner.table, 0,
                    try owner.property(named: "tags").column, at: 0, .bytes($0), derived: false)
            }
        },
    ]

    @Test(arguments: damages.indices)
    func `Damage to what derives from something else is found`(index: Int) throws {
        let database = try ModelDatabase(Self.note)
        let owner = try database.handle("Note")
        try database.write { transaction throws in
            for number in 0..<5 as Range<Int64> {
                try transaction.create(
                    "Note", ["id": .int(number), "title": .string("note \(number)")])
            }
            for number in 0..<5 as Range<Int64> {
                let next = Value.link(ObjectRef(classID: owner.id, key: (number + 1) % 5))
                try transaction.set(number, "Note", "parent", next)
                try transaction.append(number, "Note", "others", next, next)
                try transaction.append(number, "Note", "tags", .string("tag"))
            }
        }
        try database.check()
        let damage = Self.damages[index]
        let writing = try database.store.beginWrite()
        try damage.make(writing, owner)
        _ = try writing.commit()
        // The file itself is sound: all checksums are right.
        #expect(try database.store.check().problems == [])
        #expect(try database.read { try ModelCheck.run($0) } != [], "\(damage)")
    }

    /// Each link that a backlink counts becomes an element of results: a damaged count must not
    /// fill the memory.
    @Test(arguments: ["parent", "others", "any", "anys"])
    func `A backlink cannot count more links than its source holds`(name: String) throws {
        let database = try ModelDatabase(
            ClassSchema(
                "Note",
                [
                    .link("parent", to: "Note"), .links("others", to: "Note"),
                    PropertySchema("any", .mixed, isOptional: true),
                    PropertySchema("anys", .mixed, collection: .list, isOptional: true),
                ]))
        let owner = try database.handle("Note")
        let property = try owner.property(named: name)
        let trusted = ModelView.linksTakenOnTrust
        let link = Value.link(ObjectRef(classID: owner.id, key: 0))
        let held = name == "parent" ? 1 : trusted + 1
        try database.write { transaction throws in
            try transaction.create("Note")
            try transaction.create("Note")
            switch name {
            case "parent": try transaction.set(1, "Note", name, link)
            case "any":
                try transaction.set(1, "Note", name, .list(Array(repeating: link, count: held)))
            default: for _ in 0..<held { try transaction.append(1, "Note", name, link) }
            }
        }
        func backlinks() throws -> Int {
            try database.read { view throws in
                try view.backlinks(to: 0, of: owner.id, through: property).count
            }
        }
        #expect(try backlinks() == held)
        for (count, isRefused) in [(trusted, false), (trusted + 1, held == 1), (trusted + 2, true)]
        {
            let writing = try database.store.beginWrite()
            try Self.change(property.backlinkTree, in: writing) { _, value in
                value = [UInt8(count), 0, 0, 0]
                return true
            }
            _ = try writing.commit()
            if isRefused {
                #expect(throws: ModelError.self) { _ = try backlinks() }
            } else {
                #expect(try backlinks() == count)
            }
        }
    }
}
