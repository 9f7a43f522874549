// Tests: Query+Map.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Queries of sets and maps")
struct SetAndMapQueryTests {
    /// Three libraries: 1 has much, 2 has little, 3 has nothing.
    private func withLibraries(_ body: (Realm, Results<Library>) throws -> Void) throws {
        try TestRealm.with { realm in
            let (one, two) = (Library(1), Library(2))
            one.ints.insert(objectsIn: [3, 9])
            one.tags.insert(objectsIn: ["red", "green"])
            one.moods.insert(.wild)
            one.books.insert(objectsIn: [Book("Emma", pages: 300), Book("Dune", pages: 600)])
            one.counts.merge(["a": 5, "b": 7]) { $1 }
            one.notes["a"] = "alpha"
            one.feelings["now"] = .calm
            one.shelf["top"] = Book("Ulysses", pages: 900)
            one.shelf["low"] = Book("Candide", pages: 100)
            two.ints.insert(1)
            two.counts["b"] = 1
            two.maybeNotes.updateValue(nil, forKey: "b")
            two.shelf.updateValue(nil, forKey: "top")
            try realm.write { realm.add([one, two, Library(3)]) }
            try body(realm, realm.objects(Library.self))
        }
    }

    // A function and not #expect: closures within the macro can get the symbol of another closure
    // around it (Swift 6.3).
    private func expect(
        _ libraries: Results<Library>, _ ids: [Int],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = Array(libraries.map { $0.id })
        #expect(found == ids, sourceLocation: sourceLocation)
    }

    @Test
    func `A set is asked for its elements, their number and what can be made of them`() throws {
        try withLibraries { realm, all in
            expect(all.where { $0.tags.contains("red") }, [1])
            expect(all.where { $0.ints.containsAny(in: [1, 3]) }, [1, 2])
            expect(all.where { $0.moods.contains(.wild) }, [1])
            expect(all.where { $0.ints.count == 0 }, [3])
            expect(all.where { $0.ints.max > 5 }, [1])
            expect(all.where { $0.ints.sum == 12 || $0.ints.avg == 1 }, [1, 2])
            expect(all.where { $0.ints.contains(3...9) }, [1])
            expect(all.where { $0.books.pages > 500 }, [1])
            expect(all.where { $0.books.pages.min == 300 }, [1])
            expect(all.where { ($0.books.pages > 100).count == 2 }, [1])
            let emma = try #require(realm.objects(Book.self).where { $0.title == "Emma" }.first)
            expect(all.where { $0.books.contains(emma) }, [1])
            expect(all.filter("ANY tags BEGINSWITH 'gr' OR ints == %@", 1), [1, 2])
            expect(all.filter("books.@count == 2 AND NONE ints == 4"), [1])
            let readers = realm.objects(Book.self).where { $0.libraries.id == 1 }
            #expect(readers.count == 2)
        }
    }

    @Test
    func `A map is asked for what it has under a key; a key that is not there is null`() throws {
        try withLibraries { realm, all in
            expect(all.where { $0.counts["a"] == 5 }, [1])
            expect(all.where { $0.counts["b"] > 0 }, [1, 2])
            expect(all.where { $0.notes["a"].starts(with: "al") }, [1])
            expect(all.where { $0.feelings["now"] == .calm }, [1])
            expect(all.where { $0.maybeNotes["b"] == nil }, [1, 2, 3])
            expect(all.where { $0.shelf["top"].title == "Ulysses" }, [1])
            expect(all.where { $0.shelf["top"] == nil }, [2, 3])
            expect(all.filter("counts['a'] == 5 OR counts.b == 1"), [1, 2])
            expect(all.filter("counts[%@] == %@", "b", 7), [1])
            expect(all.sorted(byKeyPath: "id", ascending: false), [3, 2, 1])
        }
    }

    @Test
    func `A map is asked for any key, any value, and what can be made of all`() throws {
        try withLibraries { realm, all in
            expect(all.where { $0.counts.keys == "a" }, [1])
            expect(all.where { $0.counts.keys.starts(with: "b") }, [1, 2])
            expect(all.where { $0.counts.keys.in(["a", "z"]) }, [1])
            expect(all.where { $0.counts.values > 5 }, [1])
            expect(all.where { $0.counts.contains(1) }, [2])
            expect(all.where { $0.counts.containsAny(in: [1, 5]) }, [1, 2])
            expect(all.where { $0.counts.count == 2 }, [1])
            expect(all.where { $0.counts.min == 5 && $0.counts.max == 7 }, [1])
            expect(all.where { $0.counts.sum == 12 || $0.counts.avg == 1 }, [1, 2])
            expect(all.where { $0.counts.contains(1..<2) }, [2])
            expect(all.where { $0.shelf.values.pages > 500 }, [1])
            expect(all.where { $0.shelf.values.pages.max == 900 }, [1])
            expect(all.where { ($0.shelf.values.pages > 50).count == 2 }, [1])
            expect(all.where { $0.shelf.count == 1 }, [2])
            let candide = try #require(
                realm.objects(Book.self).where { $0.title == "Candide" }.first)
            expect(all.where { $0.shelf.contains(candide) }, [1])
            expect(all.filter("ANY counts.@values == 1 OR 'a' == counts.@keys"), [1, 2])
            #expect(realm.objects(Book.self).where { $0.shelves.id == 1 }.count == 2)
        }
    }

    @Test
    func `A mistake in a query of a map is misuse that says what is wrong`() throws {
        try withLibraries { _, all in
            expectError(.invalidQuery) { all.filter("counts[0] == 1").count }
            expectError(.invalidQuery) { all.filter("tags['a'] == 'x'").count }
        }
    }
}
