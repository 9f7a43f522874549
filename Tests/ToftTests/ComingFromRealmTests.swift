// Tests: RealmCollection.swift
import Foundation
import Observation
import RealmSwift
import Testing

// No `@testable`: the new spellings of the guide for those who come from Realm, as an app has them.

enum OldKind: Int, PersistableEnum {
    case small, large
}

class OldDog: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var race: String
    @Persisted var name = ""
    @Persisted var age: Int = 0
    @Persisted var years: Int?
    @Persisted var size: Int?
    @Persisted var note: AnyRealmValue
    @Persisted var puppies: List<OldDog>
    @Persisted var kind = OldKind.small
    @Persisted var date = Date()
    @Persisted(originProperty: "puppies") var parents: LinkingObjects<OldDog>
    var temp = 0

    required init() {
        super.init()
    }

    override class func ignoredProperties() -> [String] { ["temp"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A class that says the older way which property is the key, which are indexed and which ignored.
class OldCat: Object {
    @Persisted var id = ""
    @Persisted var name = ""
    var temp = 0

    override static func primaryKey() -> String? { return "id" }
    override static func indexedProperties() -> [String] { return ["name"] }
    override static func ignoredProperties() -> [String] { return ["temp"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite("The guide for those who come from Realm")
struct ComingFromRealmTests {
    @Test
    func `Each new spelling of the guide is in this file`() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let spellings = try PageCode(page: "ComingFromRealm").newSpellings
        #expect(spellings.count > 40)
        for spelling in spellings { #expect(PageCode.has(spelling, in: source), "\(spelling)") }
        #expect("\(OldDog.self)" != "class OldDog: Object")
    }

    @Test
    func `Older functions of classes still say what they said`() throws {
        let schema = try #require(OldCat.sharedSchema())
        #expect(schema.primaryKeyProperty?.name == "id" && schema["name"]?.isIndexed == true)
        #expect(schema["temp"] == nil && OldDog.sharedSchema()?["temp"] == nil)
    }

    @Test
    func `Calls of Swift 2 to 4 have these names`() throws {
        try LoopThread.run { loop in
            let realm = try Realm(configuration: TestRealm.inMemory([OldDog.self]))
            try loop.inside { try Self.use(realm) }
            #expect(realm.objects(OldDog.self).isEmpty)
        }
        let path = "/tmp/x.realm"
        let configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path))
        #expect(configuration.fileURL?.path == path)
    }

    private static func use(_ realm: Realm) throws {
        let dogs = realm.objects(OldDog.self)
        let values: [String: Any] = ["id": 1, "name": "Rex", "size": 5]
        realm.beginWrite()
        realm.create(OldDog.self, value: values, update: .all)
        let dog = try #require(realm.object(ofType: OldDog.self, forPrimaryKey: 1))
        realm.add(dog, update: .modified)
        dog.years = 3
        let others = [OldDog(value: ["id": 2]), OldDog(value: ["id": 3])]
        let list = dog.puppies
        list.append(objectsIn: others)
        list.remove(at: 0)
        list.removeLast()
        #expect(realm.isInWriteTransaction && list.isEmpty)
        try realm.commitWrite()
        #expect(dogs.sorted(byKeyPath: "name", ascending: false).first == dog)
        #expect(dogs.sorted(by: [SortDescriptor(keyPath: "name")]).last == dog)
        #expect(dogs.index(of: dog) == 0 && dogs.index(matching: "size > 3") == 0)
        #expect(dogs.max(ofProperty: "size") as Int? == 5)
        #expect(dogs.filter("size > %d", 3).count == 1 && dog.parents.isEmpty)
        let token = dogs.observe { _ in }
        token.invalidate()
        let whole = realm.observe { _, _ in }
        whole.invalidate()
        let told = dogs.observe { change in
            switch change {
            case .update(_, let deletions, _, _): #expect(deletions.isEmpty)
            default: break
            }
        }
        told.invalidate()
        let properties = dog.observe(keyPaths: ["name"]) { (_: ObjectChange<OldDog>) in }
        properties.invalidate()
        #expect(!dog.isInvalidated)
        expectError(.notInTransaction) { dog.name = "Rex" }
        do {
            try Realm.attempt { dog.name = "Rex" }
        } catch let error as Realm.Error {
            #expect(error.code == .notInTransaction && !(error.code == .fileAccess))
        }
        try realm.write { realm.deleteAll() }
        try realm.write { _ = realm.create(OldDog.self, value: values) }
        try realm.write { if let dog = dogs.first { realm.delete(dog) } }
        func deletes(_ dog: OldDog) throws { try realm.write { realm.delete(dog) } }
    }

    @Test
    @MainActor
    func `Changes are a loop, and reads are tracked`() async throws {
        let realm = try await Realm(configuration: TestRealm.inMemory([OldDog.self]))
        let dogs = realm.objects(OldDog.self)
        let dog = try realm.write { realm.create(OldDog.self, value: ["id": 1]) }
        let drawn = Shared(0)
        @Sendable func redraw() { drawn.change { $0 += 1 } }
        withObservationTracking {
            _ = dog.name
        } onChange: {
            redraw()
        }
        var shown = 0
        func show(_ change: RealmCollectionChange<Results<OldDog>>) { shown += 1 }
        try await realm.asyncWrite { dog.name = "Max" }
        let task = Task { @MainActor in
            for await change in dogs.changes { show(change) }
        }
        while shown == 0 { await Task.yield() }
        task.cancel()
        await task.value
        #expect(shown == 1 && drawn.current == 1)
    }

    @Test
    func `A key is made of random bytes, and errors have names`() throws {
        let key = Data((0..<64).map { _ in UInt8.random(in: .min ... .max) })
        let configuration = Realm.Configuration(encryptionKey: key)
        #expect(configuration.encryptionKey?.count == 64)
        var missing = Realm.Configuration(fileURL: URL(fileURLWithPath: "/nowhere/x.realm"))
        missing.readOnly = true
        do {
            _ = try Realm(configuration: missing)
            Issue.record("it was opened")
        } catch Realm.Error.fileNotFound {
            // As it should be.
        }
        let plain = "name"
        #expect(OldDog.sharedSchema()?[plain] != nil && OldDog.sharedSchema()?["name"] != nil)
    }
}
