// Tests: Projection.swift, Persistable+Links.swift, ProjectedCollection.swift,
// Projection+Observation.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

/// The contents of a person's card.
class PersonCard: Projection<Person> {
    @Projected(\Person.name) var title
    @Projected(\Person.nickname) var nickname
    @Projected(\Person.name.localizedUppercase) var loudName
    @Projected(\Person.boss?.name) var bossName
    @Projected(\Person.boss) var boss
    @Projected(\Person.dogs.projectTo.name) var dogNames: ProjectedCollection<String>
}

final class LongCard: PersonCard {
    @Projected(\Person.age) var age
}

@Suite("Projections")
struct ProjectionTests {
    /// Ada, and Ben, whose boss she is, with her dogs Rex and Fido.
    private func people(in realm: Realm) throws -> (ada: Person, ben: Person) {
        let (ada, ben) = (Person(1, "Ada", age: 60), Person(2, "Ben", age: 30))
        ben.boss = ada
        ada.dogs.append(objectsIn: [Dog("Rex"), Dog("Fido")])
        try realm.write { realm.add([ada, ben]) }
        return (ada, ben)
    }

    @Test
    func `A projection shows what its object has, under names of its own`() throws {
        try TestRealm.with { realm in
            let (ada, ben) = try people(in: realm)
            let (first, second) = (LongCard(projecting: ada), LongCard(projecting: ben))
            #expect(first.title == "Ada" && first.loudName == "ADA" && first.age == 60)
            #expect(first.bossName == nil && second.bossName == "Ada")
            #expect(second.boss?.isSameObject(as: ada) == true)
            #expect(Array(first.dogNames) == ["Rex", "Fido"] && second.dogNames.isEmpty)
            #expect(first.description.hasPrefix("LongCard <0x"))
            #expect(first == LongCard(projecting: ada) && first != second)
            #expect(first != PersonCard(projecting: ada))
            #expect(Set([first, LongCard(projecting: ada)]).count == 1)
            try realm.write { ada.name = "Grace" }
            #expect(first.title == "Grace" && second.bossName == "Grace")
            #expect(first.realm == realm && !first.isInvalidated)
            try realm.write { realm.delete(ada) }
            #expect(first.isInvalidated && second.bossName == nil)
        }
    }

    @Test
    func `What can be written is written through it, the rest is misuse`() throws {
        let card = PersonCard(projecting: Person(7, "Cleo"))
        card.title = "Cleopatra"
        #expect(card.rootObject.name == "Cleopatra" && card.realm == nil)
        try TestRealm.with { realm in
            let (ada, ben) = try people(in: realm)
            let card = PersonCard(projecting: ben)
            try realm.write {
                card.title = "Benjamin"
                card.nickname = "B"
                card.boss = nil
            }
            #expect(ben.name == "Benjamin" && ben.nickname == "B" && ben.boss == nil)
            expectError(.notInTransaction) { card.title = "x" }
            realm.beginWrite()
            expectError(.invalidArgument) { card.loudName = "x" }
            expectError(.invalidArgument) { card.bossName = "x" }
            realm.cancelWrite()
            #expect(ben.name == "Benjamin" && ada.name == "Ada")
        }
    }

    @Test
    func `Results of projections are filtered, sorted, summed and looked at`() throws {
        try TestRealm.with { realm in
            let (ada, ben) = try people(in: realm)
            let cards = realm.objects(LongCard.self)
            #expect(cards.count == 2 && cards[1].title == "Ben" && cards.first?.title == "Ada")
            #expect(cards.map(\.title) == ["Ada", "Ben"])
            #expect(cards.filter("name == 'Ben'").map(\.title) == ["Ben"])
            #expect(cards.where { $0.age > 40 && $0.dogs.name == "Rex" }.map(\.title) == ["Ada"])
            #expect(cards.sorted(by: \.age).map(\.age) == [30, 60])
            #expect(cards.sorted(by: \.bossName, ascending: false).map(\.title) == ["Ben", "Ada"])
            #expect(cards.sorted(byKeyPath: "age").first?.title == "Ben")
            #expect(cards.sum(ofProperty: "age") == 90)
            #expect(cards.index(of: LongCard(projecting: ben)) == 1)
            #expect(cards.index(matching: "name == 'Ben'") == 1)
            #expect(cards.distinct(by: ["name"]).count == 2)
            expectError(.indexOutOfRange) { cards[2] }
            expectError(.invalidQuery) { cards.sorted(byKeyPath: "title").count }
            try realm.write {
                var seen: [String] = []
                for card in cards {
                    seen.append(card.isInvalidated ? "gone" : card.title)
                    if seen.count == 1 { realm.delete(ben) }
                }
                #expect(seen == ["Ada", "gone"])
            }
            #expect(cards.count == 1 && cards[0].rootObject.isSameObject(as: ada))
        }
    }

    @Test
    func `A projected collection is as live as its own`() throws {
        try TestRealm.with { realm in
            let (ada, _) = try people(in: realm)
            let names = PersonCard(projecting: ada).dogNames
            #expect(names.count == 2 && names[1] == "Fido" && names.index(of: "Fido") == 1)
            #expect(names.index(matching: "name BEGINSWITH 'F'") == 1)
            #expect(names.description.hasSuffix("> (\n\t[0] Rex,\n\t[1] Fido\n)"))
            try realm.write { ada.dogs.insert(Dog("Bello"), at: 0) }
            #expect(Array(names) == ["Bello", "Rex", "Fido"])
            let frozen = names.freeze()
            try realm.write { realm.delete(ada) }
            #expect(names.isInvalidated && Array(frozen) == ["Bello", "Rex", "Fido"])
        }
    }

    @Test
    func `Projections and their results go to other threads, and freeze`() throws {
        try TestRealm.with { realm in
            let (ada, ben) = try people(in: realm)
            let frozen = PersonCard(projecting: ada).freeze()
            let results = realm.objects(PersonCard.self).freeze()
            try realm.write { ada.name = "Grace" }
            #expect(frozen.isFrozen && frozen.title == "Ada" && frozen.thaw()?.title == "Grace")
            #expect(results[0].title == "Ada" && results.thaw()?[0].title == "Grace")
            let reference = ThreadSafeReference(to: PersonCard(projecting: ben))
            let configuration = realm.configuration
            try elsewhere {
                let card = try Realm(configuration: configuration).resolve(reference)
                #expect(card?.bossName == "Grace")
            }
        }
    }

    @Test
    func `Observers of a projection are told what is projected of it, with old and new values`()
        throws
    {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let (ada, ben) = try people(in: realm)
            let card = PersonCard(projecting: ben)
            var told: [String] = [], loud: [String] = []
            func text(_ change: ObjectChange<PersonCard>) -> String {
                guard case .change(_, let properties) = change else { return "deleted" }
                return properties.map {
                    "\($0.name): \($0.oldValue ?? "nil") -> \($0.newValue ?? "nil")"
                }.joined(separator: ", ")
            }
            let tokens = try loop.inside {
                [
                    card.observe { told.append(text($0)) },
                    card.observe(keyPaths: [\.bossName]) { loud.append(text($0)) },
                ]
            }
            try realm.write { ben.name = "Benjamin" }
            loop.wait { told.count == 1 }
            try realm.write { ada.name = "Grace" }
            loop.wait { told.count == 2 && loud.count == 1 }
            try realm.write { ben.age += 1 }
            try realm.write { ben.dogs.append(Dog("Bello")) }
            loop.wait { told.count == 3 }
            try realm.write { realm.delete(ben) }
            loop.wait { told.count == 4 && loud.count == 2 }
            #expect(
                told == [
                    "title: Ben -> Benjamin, loudName: BEN -> BENJAMIN",
                    "bossName: Ada -> Grace", "dogNames: nil -> nil", "deleted",
                ])
            #expect(loud == ["bossName: Ada -> Grace", "deleted"])
            tokens.forEach { $0.invalidate() }
            expectError(.noSuchProperty) {
                card.observe(keyPaths: ["name"]) { (_: ObjectChange<PersonCard>) in }
            }
            try TestRealm.check(realm)
        }
    }

    @Test
    func `Observers of results and of projected collections hear of what is projected alone`()
        throws
    {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let (ada, ben) = try people(in: realm)
            let (all, titles, names) = (
                ObservationTests.Log(), ObservationTests.Log(), Box<[[String]]>([])
            )
            let cards = realm.objects(PersonCard.self)
            let tokens = try loop.inside {
                [
                    cards.observe { all.add($0) },
                    cards.observe(keyPaths: [\.title]) { titles.add($0) },
                    PersonCard(projecting: ada).dogNames.observe { change in
                        switch change {
                        case .initial(let found), .update(let found, _, _, _):
                            names.value.append(Array(found))
                        case .error: names.value.append([])
                        }
                    },
                ]
            }
            loop.wait {
                all.events.count == 1 && titles.events.count == 1 && names.value.count == 1
            }
            try realm.write { ben.age = 31 }
            loop.rest()
            #expect(all.events == [.initial(2)] && titles.events == [.initial(2)])
            try realm.write { ada.dogs[0].name = "Bello" }
            loop.wait { all.events.count == 2 && names.value.count == 2 }
            try realm.write { ada.dogs[0].age = 9 }
            try realm.write { ben.name = "Benjamin" }
            loop.wait { all.events.count == 3 && titles.events.count == 2 }
            func modified(_ row: Int) -> ObservationTests.Event {
                .update(deletions: [], insertions: [], modifications: [row])
            }
            #expect(all.events == [.initial(2), modified(0), modified(1)])
            #expect(titles.events == [.initial(2), modified(1)])
            #expect(names.value == [["Rex", "Fido"], ["Bello", "Fido"]])
            tokens.forEach { $0.invalidate() }
            try TestRealm.check(realm)
        }
    }
}
