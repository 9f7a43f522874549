// Tests: Persistable+Scalars.swift, PersistableEnum.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Enums are kept as their raw values")
struct EnumTests {
    @Test
    func `An unmanaged object begins with the first case, or with its default`() {
        let cat = Cat()
        #expect(cat.mood == .calm && cat.rank == .expert)
        #expect(cat.lastMood == nil && cat.maybeRank == nil && cat.moods.isEmpty)
    }

    @Test
    func `Enums are written and read, alone, optional and in lists, also by the next process`()
        throws
    {
        try TestRealm.withFile([Cat.self]) { realm, url in
            let cat = Cat("Tom", .wild, .master)
            cat.lastMood = .playful
            cat.moods.append(objectsIn: [.calm, .wild])
            try realm.write { realm.add(cat) }
            #expect(
                cat.mood == .wild && cat.rank == .master && cat.lastMood == .playful
                    && Array(cat.moods) == [.calm, .wild])
            try realm.write {
                cat.mood = .calm
                cat.lastMood = nil
                cat.maybeRank = .novice
                cat.moods[0] = .playful
            }
            try elsewhere {
                let realm = try Realm(
                    configuration: Realm.Configuration(fileURL: url, objectTypes: [Cat.self]))
                let cat = try #require(realm.object(ofType: Cat.self, forPrimaryKey: "Tom"))
                #expect(
                    cat.mood == .calm && cat.lastMood == nil && cat.maybeRank == .novice
                        && Array(cat.moods) == [.playful, .wild])
            }
        }
    }

    @Test
    func `Dictionaries and names give raw values or cases; a raw value of no case is misuse`()
        throws
    {
        try TestRealm.with([Cat.self]) { realm in
            try realm.write {
                let cat = realm.create(
                    Cat.self,
                    value: [
                        "name": "Tom", "mood": "wild", "rank": Rank.novice, "maybeRank": 5,
                        "moods": ["calm", Mood.wild],
                    ] as [String: Any])
                #expect(
                    cat.mood == .wild && cat.rank == .novice && cat.maybeRank == .expert
                        && Array(cat.moods) == [.calm, .wild])
                cat["rank"] = 10
                #expect(cat.rank == .master && cat.value(forKey: "rank") as? Rank == .master)
                expectError(.typeMismatch) { cat.setValue("furious", forKey: "mood") }
                #expect(cat.mood == .wild)
            }
        }
    }

    @Test
    func `The schema shows what is kept`() {
        let schema = Cat().objectSchema
        #expect(schema["mood"]?.type == .string && schema["rank"]?.type == .int)
        #expect(
            schema["rank"]?.isIndexed == true && schema["lastMood"]?.isOptional == true
                && schema["moods"]?.isArray == true)
    }

    @Test
    func `Queries ask for cases, in Swift and in text, and through links`() throws {
        try TestRealm.with([Cat.self]) { realm in
            let tom = Cat("Tom", .wild, .master)
            let kitty = Cat("Kitty", .calm, .novice)
            let felix = Cat("Felix", .playful, .expert)
            felix.lastMood = .wild
            felix.maybeRank = .master
            felix.friend = tom
            kitty.moods.append(objectsIn: [.calm, .playful])
            try realm.write { realm.add([tom, kitty, felix]) }
            let cats = realm.objects(Cat.self)
            func names(_ isIncluded: (Query<Cat>) -> Query<Bool>) -> [String] {
                cats.where(isIncluded).map(\.name).sorted()
            }
            #expect(names { $0.mood == .wild } == ["Tom"])
            #expect(names { $0.mood != .wild } == ["Felix", "Kitty"])
            #expect(names { $0.rank > .novice } == ["Felix", "Tom"])
            #expect(names { $0.rank.contains(.novice ... .expert) } == ["Felix", "Kitty"])
            #expect(names { $0.mood.in([.calm, .playful]) } == ["Felix", "Kitty"])
            #expect(names { $0.lastMood == .wild } == ["Felix"])
            #expect(names { $0.lastMood == nil } == ["Kitty", "Tom"])
            #expect(names { $0.moods.contains(.playful) } == ["Kitty"])
            #expect(names { $0.friend.mood == .wild } == ["Felix"])
            #expect(names { $0.mood.rawValue.starts(with: "w") } == ["Tom"])
            #expect(names { $0.maybeRank.rawValue > 5 } == ["Felix"])
            #expect(
                cats.filter("mood == %@ OR rank == %@", Mood.wild, 1).map(\.name).sorted() == [
                    "Kitty", "Tom",
                ])
            #expect(cats.sorted(by: \.rank).map(\.name) == ["Kitty", "Felix", "Tom"])
            #expect(cats.max(of: \.rank) == .master && cats.min(of: \.maybeRank) == .master)
            #expect(kitty.moods.sorted(ascending: false).map(\.rawValue) == ["playful", "calm"])
            #expect(kitty.moods.index(of: .playful) == 1)
        }
    }

    /// A file in which another app has left values that our enums do not have.
    private func withUnknownValues(_ body: (Cat) throws -> Void) throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("cats.realm")
            try elsewhere {
                let realm = try Realm(
                    configuration: Realm.Configuration(fileURL: url, objectTypes: [RawCat.self]))
                let cat = RawCat(
                    value: [
                        "name": "Tom", "mood": "furious", "rank": 7, "lastMood": "furious",
                        "moods": ["calm", "furious"],
                    ] as [String: Any])
                try realm.write { realm.add(cat) }
            }
            let realm = try Realm(
                configuration: Realm.Configuration(fileURL: url, objectTypes: [Cat.self]))
            try body(try #require(realm.objects(Cat.self).first))
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A raw value of no case is nil where it can be, else misuse and the first case`() throws {
        try withUnknownValues { cat in
            #expect(cat.lastMood == nil)
            expectError(.typeMismatch) { #expect(cat.mood == .calm) }
            expectError(.typeMismatch) { #expect(cat.rank == .novice) }
            #expect(cat.moods[0] == .calm)
            expectError(.typeMismatch) { #expect(cat.moods[1] == .calm) }
            expectError(.typeMismatch) { #expect(Array(cat.moods) == [.calm, .calm]) }
        }
    }

    @Test
    func `Enums compare as their raw values do`() {
        #expect(Rank.novice < .master && Mood.calm < .wild)
    }
}
