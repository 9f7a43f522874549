// Tests: Persistable+Optional.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

/// One class of the database as two versions of an app declare it.
private enum First {
    final class Cat: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name: String
        @Persisted(indexed: true) var lives: Int
        @Persisted var weight: Double
        @Persisted var born: Date
        @Persisted var isTame: Bool
        @Persisted var picture: Data
        @Persisted var nicknames: List<String>

        override class func _realmObjectName() -> String? { "Cat" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

private enum Second {
    final class Cat: Object {
        @Persisted(primaryKey: true) var id: Int?
        @Persisted var name: String?
        @Persisted(indexed: true) var lives: Int?
        @Persisted var weight: Double?
        @Persisted var born: Date?
        @Persisted var isTame: Bool?
        @Persisted var picture: Data?
        @Persisted var nicknames: List<String?>

        override class func _realmObjectName() -> String? { "Cat" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

@Suite("A required property becomes optional by itself")
struct OptionalPropertyTests {
    private func configuration(_ url: URL, _ type: ObjectBase.Type) -> Realm.Configuration {
        Realm.Configuration(fileURL: url, objectTypes: [type])
    }

    private func fill(_ realm: Realm, _ count: Int) throws {
        try realm.write {
            for id in 0..<count {
                let cat = First.Cat()
                cat.id = id
                cat.name = "cat \(id)"
                cat.lives = id % 9
                cat.weight = Double(id) / 2
                cat.born = Date(timeIntervalSince1970: Double(id))
                cat.isTame = id % 2 == 0
                cat.picture = Data([UInt8(id & 0xFF)])
                cat.nicknames.append("nick")
                realm.add(cat)
            }
        }
    }

    @Test
    func `An app's next version declares optionals, and finds every value`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("cats.realm")
            try fill(try Realm(configuration: configuration(url, First.Cat.self)), 300)
            let realm = try Realm(configuration: configuration(url, Second.Cat.self))
            let cats = realm.objects(Second.Cat.self)
            for (id, cat) in cats.enumerated() {
                #expect(cat.id == id && cat.name == "cat \(id)" && cat.lives == id % 9)
                #expect(cat.weight == Double(id) / 2 && cat.isTame == (id % 2 == 0))
                #expect(cat.born == Date(timeIntervalSince1970: Double(id)))
                #expect(cat.picture == Data([UInt8(id & 0xFF)]))
                #expect(Array(cat.nicknames) == ["nick"])
            }
            try realm.write {
                let cat = try #require(realm.object(ofType: Second.Cat.self, forPrimaryKey: 7))
                cat.name = nil
                cat.lives = nil
                cat.weight = nil
                cat.born = nil
                cat.isTame = nil
                cat.picture = nil
                cat.nicknames.append(nil)
                realm.add(Second.Cat())
            }
            let cat = try #require(realm.object(ofType: Second.Cat.self, forPrimaryKey: 7))
            #expect(cat.name == nil && cat.lives == nil && cat.weight == nil && cat.born == nil)
            #expect(cat.isTame == nil && cat.picture == nil)
            #expect(Array(cat.nicknames) == ["nick", nil])
            #expect(cats.where { $0.lives == nil }.count == 2)
            #expect(cats.where { $0.lives == 8 }.count == 33)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `An open realm with the old classes reads null as zero, and never stops the app`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("cats.realm")
            let older = configuration(url, First.Cat.self)
            let old = try Realm(configuration: older)
            try fill(old, 3)
            let cats = old.objects(First.Cat.self)
            let cat = try #require(cats.first)
            nonisolated(unsafe) let frozen = cat.freeze()
            #expect(cat.lives == 0 && cat.name == "cat 0")
            let new = try Realm(configuration: configuration(url, Second.Cat.self))
            try new.write {
                for cat in new.objects(Second.Cat.self) {
                    cat.name = nil
                    cat.lives = nil
                    cat.weight = nil
                    cat.born = nil
                    cat.isTame = nil
                    cat.picture = nil
                    cat.nicknames.append(nil)
                }
                new.add(Second.Cat())
            }
            old.refresh()
            for cat in cats {
                #expect(cat.name == "" && cat.lives == 0 && cat.weight == 0 && !cat.isTame)
                #expect(cat.born == Date(timeIntervalSince1970: 0))
                #expect(cat.picture == Data())
            }
            #expect(Array(cat.nicknames) == ["nick", ""])
            #expect(cats.where { $0.lives == 5 }.isEmpty)
            #expect(frozen.name == "cat 0")
            try old.write {
                cat.increment(\.lives, by: 5)
                let made = old.create(First.Cat.self, value: ["id": 9])
                #expect(made.lives == 0 && made.name == "")
            }
            #expect(cats.where { $0.lives == 5 }.count == 1)
            // Realms derived from it keep the old classes, too.
            let thawed = try elsewhere { frozen.realm?.thaw().objects(First.Cat.self).count }
            #expect(thawed == 5)
            old.invalidate()
            #expect(old.objects(First.Cat.self).count == 5)
            expectError(.schemaMismatch) {
                try elsewhere {
                    _ = try Realm(configuration: older)
                }
            }
            new.refresh()
            let made = try #require(new.object(ofType: Second.Cat.self, forPrimaryKey: 9))
            #expect(made.lives == 0 && made.name == "")
            try TestRealm.check(old)
            try TestRealm.check(new)
        }
    }
}
