// Tests: Persisted.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

class Numbered: Object {
    @Persisted(primaryKey: true, autoIncrement: true) var id: Int
    @Persisted var text = ""
    @Persisted var after: Numbered?

    convenience init(_ text: String, after: Numbered? = nil) {
        self.init()
        self.text = text
        self.after = after
    }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class LongNumbered: Object {
    @Persisted(primaryKey: true, autoIncrement: true) var id: Int64
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class WronglyCounted: Object {
    @Persisted(primaryKey: false, autoIncrement: true) var id: Int
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite("Primary keys that the database counts")
struct AutoIncrementTests {
    @Test
    func `An object that is added with 0 gets the next key`() throws {
        try TestRealm.with([Numbered.self, LongNumbered.self]) { realm in
            let first = Numbered("first"), second = Numbered("second", after: Numbered("third"))
            #expect(first.id == 0)
            try realm.write {
                realm.add(first)
                realm.add(second)
                realm.add(first)
                #expect(realm.create(Numbered.self, value: ["text": "fourth"]).id == 4)
                #expect(realm.create(Numbered.self, value: ["id": 10]).id == 10)
                #expect(realm.create(Numbered.self, value: ["id": 0], update: .modified).id == 11)
                #expect(
                    realm.create(
                        Numbered.self, value: ["id": 4, "text": "new"] as [String: Any],
                        update: .modified
                    ).id == 4)
                realm.add(LongNumbered())
            }
            #expect(first.id == 1)
            #expect(Set([second.id, second.after?.id]) == [2, 3])
            #expect(realm.objects(Numbered.self).count == 6)
            #expect(realm.object(ofType: Numbered.self, forPrimaryKey: 4)?.text == "new")
            #expect(realm.object(ofType: LongNumbered.self, forPrimaryKey: Int64(1)) != nil)
            #expect(first.objectSchema["id"]?.isAutoIncremented == true)
            #expect(first.objectSchema["text"]?.isAutoIncremented == false)
        }
    }

    @Test
    func `A deleted key stays used, also for the next opening; a cancelled one does not`() throws {
        try TestRealm.withFile([Numbered.self]) { realm, url in
            try realm.write { realm.delete(realm.create(Numbered.self)) }
            realm.beginWrite()
            #expect(realm.create(Numbered.self).id == 2)
            realm.cancelWrite()
            let again = try Realm(
                configuration: Realm.Configuration(fileURL: url, objectTypes: [Numbered.self]))
            try again.write { #expect(again.create(Numbered.self).id == 2) }
        }
    }

    @Test
    func `Only a primary key is counted`() {
        #expect {
            try Realm(configuration: TestRealm.inMemory([WronglyCounted.self]))
        } throws: {
            "\($0)".contains("is not the primary key and can't be auto-incremented")
        }
    }

    @Test
    func `Behind the greatest key of all there is no next one`() async {
        let result = await #expect(
            processExitsWith: .trap, observing: [\.standardErrorContent]
        ) {
            let realm = try Realm(configuration: TestRealm.inMemory([Numbered.self]))
            try realm.write {
                realm.create(Numbered.self, value: ["id": Int.max])
                realm.add(Numbered("one more"))
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("is left to count on"), "\(text)")
    }
}
