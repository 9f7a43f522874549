// Tests: Map.swift, Map+Queries.swift, UnmanagedValues.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Maps")
struct MapTests {
    /// A library in a file, with the counts b 2, a 1.
    private func withLibrary(_ body: (Realm, Library) throws -> Void) throws {
        try TestRealm.withFile { realm, _ in
            let library = Library(1)
            library.counts["b"] = 2
            library.counts["a"] = 1
            try realm.write { realm.add(library) }
            try body(realm, library)
        }
    }

    private func text(_ map: Map<String, Int>) -> String {
        map.map { "\($0.key)\($0.value)" }.joined(separator: " ")
    }

    @Test
    func `A map of every type gives back what was put in, before it is added and after`() throws {
        let (day, uuid) = (Date(timeIntervalSince1970: 5), UUID())
        let objectId = ObjectId.generate()
        let library = Library(1)
        func fill() {
            library.flags["x"] = true
            library.counts["x"] = -5
            library.smallCounts["x"] = 7
            library.ratios["x"] = 1.5
            library.scores["x"] = .infinity
            library.notes["x"] = "text"
            library.covers["x"] = Data([1, 2])
            library.dueDates["x"] = day
            library.cards["x"] = uuid
            library.marks["x"] = objectId
            library.prices["x"] = 9.99
            library.feelings["x"] = .wild
            library.maybeNotes["x"] = "maybe"
            library.maybeNotes.updateValue(nil, forKey: "none")
        }
        func expectAll() {
            #expect(library.flags["x"] == true && library.counts["x"] == -5)
            #expect(library.smallCounts["x"] == 7 && library.ratios["x"] == 1.5)
            #expect(library.scores["x"] == .infinity && library.notes["x"] == "text")
            #expect(library.covers["x"] == Data([1, 2]) && library.dueDates["x"] == day)
            #expect(library.cards["x"] == uuid && library.marks["x"] == objectId)
            #expect(library.prices["x"] == 9.99)
            #expect(library.feelings["x"] == .wild && library.maybeNotes["x"] == "maybe")
            #expect(library.maybeNotes["none"] == .some(nil) && library.maybeNotes.count == 2)
            #expect(library.notes["y"] == nil && library.maybeNotes["y"] == nil as String??)
        }
        fill()
        expectAll()
        try TestRealm.withFile { realm, _ in
            try realm.write { realm.add(library) }
            expectAll()
            try realm.write { fill() }
            expectAll()
        }
    }

    @Test
    func `Every way to change a managed map`() throws {
        try withLibrary { realm, library in
            let counts = library.counts
            #expect(
                text(counts) == "a1 b2" && counts.keys == ["a", "b"] && counts.values == [1, 2])
            try realm.write {
                counts["ab"] = 3
                counts["a"] = 4
                #expect(text(counts) == "a4 ab3 b2" && counts.count == 3)
                counts["ab"] = nil
                counts["not there"] = nil
                counts.removeObject(for: "b")
                counts.updateValue(5, forKey: "c")
                #expect(text(counts) == "a4 c5" && counts["b"] == nil)
                counts["c"]? += 1
                counts.merge(["c": 10, "d": 1]) { old, new in old + new }
                #expect(text(counts) == "a4 c16 d1")
                counts.merge(counts) { old, _ in old }
                #expect(text(counts) == "a4 c16 d1")
                counts.removeAll()
                #expect(counts.isEmpty && counts["a"] == nil)
                counts[""] = 0
                #expect(counts[""] == 0)
            }
        }
    }

    @Test
    func `An unmanaged map is shared, and does the same`() {
        let counts: Map<String, Int> = ["b": 2, "a": 1, "b": 3]
        let other = counts
        other["c"] = 4
        #expect(Set(counts.keys) == ["a", "b", "c"] && counts["b"] == 3 && counts.count == 3)
        counts["b"] = nil
        counts.merge(["a": 5]) { $0 * 10 + $1 }
        #expect(counts == ["c": 4, "a": 15] && counts != ["c": 4, "a": 1] && counts != ["a": 15])
        #expect(counts.contains { key, value in key == "a" && value == 15 })
        #expect(counts.contains(where: { $0.value == 4 }) && !counts.contains { $1 == 5 })
        counts.removeAll()
        #expect(counts.isEmpty && counts.realm == nil && !counts.isInvalidated)
    }

    @Test
    func `A loop and functions of sequences get keys and values`() throws {
        try withLibrary { realm, library in
            var seen: [String] = []
            try realm.write {
                for (key, value) in library.counts {
                    seen.append("\(key)\(value)")
                    library.counts[key + "'"] = 9
                    library.counts["b"] = nil
                }
            }
            #expect(seen == ["a1", "b2"] && library.counts.keys == ["a", "a'", "b'"])
            #expect(library.counts.reduce(0) { $0 + $1.value } == 19)
            #expect(library.counts.asKeyValueSequence().map(\.key) == library.counts.keys)
            #expect(library.counts.contains { $0 == "a" && $1 == 1 })
        }
    }

    @Test
    func `Keys with a dot or a leading dollar are refused, all others are told apart by bytes`()
        throws
    {
        let unmanaged: Map<String, Int> = [:]
        expectError(.invalidArgument) { unmanaged["a.b"] = 1 }
        expectError(.invalidArgument) { unmanaged["$a"] = 1 }
        #expect(unmanaged.isEmpty)
        try withLibrary { realm, library in
            try realm.write {
                expectError(.invalidArgument) { library.counts["a.b"] = 1 }
                expectError(.invalidArgument) { library.counts["$a"] = 1 }
                library.counts["$a"] = nil
                let (one, two) = ("caf\u{e9}", "cafe\u{301}")
                for map in [library.counts, unmanaged] {
                    map["a$"] = 1
                    map[one] = 2
                    map[two] = 3
                    #expect(map["a$"] == 1 && map[one] == 2 && map[two] == 3)
                }
            }
            #expect(library.counts["a.b"] == nil && library.counts.count == 5)
        }
    }

    @Test
    func `Objects are added with the map; when one is deleted its keys stay with nil`() throws {
        try TestRealm.withFile { realm, _ in
            let library = Library(1)
            let (one, two) = (Book("A", pages: 10), Book("B", pages: 20))
            library.shelf["one"] = one
            library.shelf["again"] = one
            library.shelf["two"] = two
            library.shelf.updateValue(nil, forKey: "empty")
            let shelf = library.shelf
            try realm.write { realm.add(library) }
            #expect(library.shelf === shelf && shelf.keys == ["again", "empty", "one", "two"])
            #expect(shelf["one"]??.title == "A" && shelf["empty"] == .some(nil))
            #expect(one.shelves.count == 2 && two.shelves.first?.id == 1)
            #expect(shelf.filter("pages > 0").count == 3)
            try realm.write { realm.delete(one) }
            #expect(shelf.keys == ["again", "empty", "one", "two"] && shelf["one"] == .some(nil))
            #expect(shelf.values.map { $0?.title } == [nil, nil, nil, "B"])
            try realm.write {
                shelf["one"] = Book("C")
                shelf["two"] = nil
            }
            #expect(two.shelves.isEmpty && realm.objects(Book.self).count == 2)
            try realm.write { realm.delete(shelf) }
            #expect(shelf.count == 3 && shelf["one"] == .some(nil))
            #expect(realm.objects(Book.self).map(\.title) == ["B"])
        }
    }

    @Test
    func `A value deleted while a loop goes on is nil`() throws {
        try TestRealm.with { realm in
            let library = Library(1)
            library.shelf["a"] = Book("A")
            library.shelf["b"] = Book("B")
            try realm.write {
                realm.add(library)
                var seen: [String?] = []
                for (_, book) in library.shelf {
                    seen.append(book?.title)
                    realm.delete(realm.objects(Book.self))
                }
                #expect(seen == ["A", nil])
            }
        }
    }

    @Test
    func `Assigning a map fills it; assigning it to itself leaves it alone`() throws {
        try withLibrary { realm, library in
            let counts = library.counts
            try realm.write {
                library.counts = library.counts
                #expect(text(counts) == "a1 b2")
                library.counts = ["z": 9]
                #expect(text(counts) == "z9")
                let other = realm.create(Library.self, value: ["id": 2])
                other.counts = counts
                other.counts["y"] = 8
                #expect(text(other.counts) == "y8 z9" && text(counts) == "z9")
            }
            #expect(library.counts === counts)
        }
    }

    @Test
    func `Creating takes dictionaries; an update writes what is given`() throws {
        try TestRealm.with { realm in
            try realm.write {
                let library = realm.create(
                    Library.self,
                    value: [
                        "id": 1, "counts": ["b": 2, "a": 1], "maybeNotes": ["x": nil, "y": "Y"],
                        "shelf": ["one": ["title": "A"], "two": NSNull()] as [String: Any],
                        "feelings": ["now": "wild"],
                    ] as [String: Any])
                #expect(text(library.counts) == "a1 b2" && library.feelings["now"] == .wild)
                #expect(library.maybeNotes["x"] == .some(nil) && library.maybeNotes["y"] == "Y")
                #expect(library.shelf["one"]??.title == "A" && library.shelf["two"] == .some(nil))
                for policy in [Realm.UpdatePolicy.modified, .all] {
                    realm.create(
                        Library.self,
                        value: ["id": 1, "counts": ["a": 5, "c": 1]] as [String: Any],
                        update: policy)
                    #expect(text(library.counts) == "a5 c1" && library.shelf.count == 2)
                }
                let detached = Library(1)
                detached.counts["c"] = 1
                realm.add(detached, update: .modified)
                #expect(text(library.counts) == "c1" && library.shelf.isEmpty)
                realm.add(Library(1), update: .all)
                #expect(library.counts.isEmpty)
            }
            expectError(.typeMismatch) { Library(value: ["counts": 5]) }
            expectError(.typeMismatch) { Library(value: ["counts": ["a": "five"]]) }
            expectError(.nullNotAllowed) { Library(value: ["counts": ["a": NSNull()]]) }
            expectError(.invalidArgument) { Library(value: ["counts": ["a.b": 1]]) }
        }
    }

    @Test
    func `Objects with a key in a map are updated as the object that has the map is`() throws {
        try TestRealm.with { realm in
            try realm.write {
                let first = Reader("Ada")
                first.loans["may"] = Wish("Emma", price: 5)
                realm.add(first)
                let second = Reader("Ada")
                second.loans["may"] = Wish("Emma", price: 7)
                second.loans["june"] = Wish("Dune", price: 8)
                realm.add(second, update: .modified)
                #expect(first.loans == second.loans && first.loans["may"]??.price == 7)
                #expect(first.loans.sum(of: \.price) == 15 && realm.objects(Wish.self).count == 2)
            }
        }
    }

    @Test
    func `A copy of an object has maps of its own`() throws {
        try withLibrary { realm, library in
            let detached = Library(value: library)
            detached.counts["a"] = 7
            let copy = Library(value: detached)
            copy.counts["a"] = 8
            #expect(library.counts["a"] == 1 && detached.counts["a"] == 7 && copy.counts["b"] == 2)
        }
    }

    @Test
    func `What a map can't do is misuse, and changes nothing`() throws {
        try withLibrary { realm, library in
            let counts = library.counts
            expectError(.notInTransaction) { counts["x"] = 1 }
            expectError(.notInTransaction) { counts["a"] = nil }
            expectError(.notInTransaction) { counts.removeAll() }
            expectError(.notInTransaction) { library.counts = ["x": 1] }
            expectError(.readOnly) { counts.freeze()["x"] = 1 }
            let unmanaged: Map<String, Int> = ["a": 1]
            expectError(.unsupported) { unmanaged.sorted() }
            expectError(.unsupported) { unmanaged.observe { _ in } }
            expectError(.invalidArgument) { unmanaged.freeze() }
            expectError(.wrongThread) {
                let reference = Box(counts)
                try elsewhere { try Realm.attempt { _ = reference.value["a"] } }
            }
            #expect(text(counts) == "a1 b2")
            try TestRealm.with { other in
                let book = Book("B")
                try other.write { other.add(book) }
                try realm.write { expectError(.wrongRealm) { library.shelf["b"] = book } }
                #expect(library.shelf.isEmpty)
            }
            try realm.write {
                realm.delete(library)
                expectError(.collectionInvalidated) { counts["x"] = 1 }
            }
            #expect(counts.isInvalidated)
            expectError(.collectionInvalidated) { counts.count }
            expectError(.collectionInvalidated) { counts["a"] }
            expectError(.collectionInvalidated) { counts.keys }
            expectError(.collectionInvalidated) { counts.map(\.key) }
        }
    }

    @Test
    func `A cancelled write leaves the map as it was`() throws {
        try withLibrary { realm, library in
            realm.beginWrite()
            library.counts["x"] = 1
            library.counts["a"] = nil
            realm.cancelWrite()
            #expect(text(library.counts) == "a1 b2")
        }
    }

    @Test
    func `Frozen, thawed and carried to another thread`() throws {
        try withLibrary { realm, library in
            let frozen = library.counts.freeze()
            try realm.write { library.counts.removeAll() }
            #expect(frozen.isFrozen && text(frozen) == "a1 b2" && frozen["b"] == 2)
            #expect(frozen.thaw()?.isEmpty == true && frozen.thaw() == library.counts)
            let reference = ThreadSafeReference(to: library.counts)
            let configuration = realm.configuration
            try elsewhere {
                let realm = try Realm(configuration: configuration)
                let counts = try #require(realm.resolve(reference))
                try realm.write { counts["elsewhere"] = 1 }
            }
            realm.refresh()
            #expect(text(library.counts) == "elsewhere1")
        }
    }

    @Test
    func `The values are filtered, sorted, told apart and summed`() throws {
        try TestRealm.with { realm in
            let library = Library(1)
            for (key, value) in ["x": 4, "y": 9, "z": 4] { library.counts[key] = value }
            for (key, pages) in ["p": 30, "q": 10, "r": 20] {
                library.shelf[key] = Book(key.uppercased(), pages: pages)
            }
            try realm.write { realm.add(library) }
            let (counts, shelf) = (library.counts, library.shelf)
            #expect(counts.min() == 4 && counts.max() == 9 && counts.sum() == 17)
            #expect(counts.average() == 17.0 / 3 && library.scores.max() == nil)
            try realm.write { library.prices.merge(["a": 0.1, "b": 0.2]) { $1 } }
            #expect(library.prices.sum() == "0.3" && library.prices.average() == "0.15")
            #expect(Array(counts.sorted(ascending: false)) == [9, 4, 4])
            #expect(Array(counts.distinct()) == [4, 9])
            let long = shelf.where { $0.pages > 10 }.sorted(byKeyPath: "pages")
            #expect(long.map { $0?.title } == ["R", "P"] && long.first??.pages == 20)
            #expect(shelf.filter("title == %@", "Q").count == 1)
            #expect(shelf.filter("pages < 30").where { $0.title == "R" }.count == 1)
            #expect(shelf.sorted(by: \.pages).map { $0?.title } == ["Q", "R", "P"])
            #expect(shelf.min(of: \.pages) == 10 && shelf.max(of: \.pages) == 30)
            #expect(shelf.sum(of: \.pages) == 60 && shelf.average(of: \.pages) == 20)
            #expect(long.index(of: shelf["r"] ?? nil) == 0 && long.index(of: nil) == nil)
            var seen: [String?] = []
            for book in long { seen.append(book?.title) }
            #expect(seen == ["R", "P"])
        }
    }

    @Test
    func `Maps are coded as objects, described, and set by name`() throws {
        let counts = try JSONDecoder().decode(
            Map<String, Int>.self, from: Data(#"{"a":1,"b":2}"#.utf8))
        #expect(counts == ["a": 1, "b": 2])
        let notes: Map<String, String?> = ["a": nil]
        #expect(try JSONEncoder().encode(notes) == Data(#"{"a":null}"#.utf8))
        #expect(
            throws: Realm.Error.self,
            performing: {
                try JSONDecoder().decode(Map<String, Int>.self, from: Data(#"{"a.b":1}"#.utf8))
            })
        try withLibrary { realm, library in
            #expect(library.description.contains("counts = Map<string, int> <0x"))
            #expect(library.counts.description.contains("[b]: 2"))
            try realm.write {
                library["counts"] = ["q": 7]
                library.counts.setValue(8, forKey: "r")
                library.shelf.setValue(["title": "A"], forKey: "s")
            }
            #expect((library["counts"] as? Map<String, Int>)?["q"] == 7)
            #expect(library.counts.value(forKey: "r") as? Int == 8)
            #expect(library.counts.value(forKey: "s") == nil)
            #expect(library.shelf["s"]??.title == "A")
            try realm.write { library.counts.setValue(nil, forKey: "r") }
            #expect(library.counts.keys == ["q"])
            let property = try #require(library.objectSchema["shelf"])
            #expect(property.isMap && !property.isArray && !property.isSet && property.isOptional)
            #expect(property.description.contains("dictionary = YES;\n\toptional = YES;"))
        }
    }

    @Test(arguments: 1...4)
    func `A map is what a dictionary of the language would be after random changes`(_ round: Int)
        throws
    {
        try TestRealm.withFile { realm, _ in
            var seed = UInt64(round)
            func next(_ limit: Int) -> Int {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Int(seed >> 33) % limit
            }
            let library = Library(1)
            try realm.write { realm.add(library) }
            var model: [String: String] = [:]
            for _ in 0..<10 {
                try realm.write {
                    for _ in 0..<80 {
                        let key = String(repeating: "k", count: next(3)) + "\(next(60))"
                        let value = String(repeating: "v", count: next(30))
                        switch next(3) {
                        case 0:
                            library.notes[key] = nil
                            model[key] = nil
                        default:
                            library.notes[key] = value
                            model[key] = value
                        }
                    }
                }
                #expect(library.notes.keys == model.keys.sorted(), "round \(round)")
                #expect(library.notes.allSatisfy { model[$0.key] == $0.value }, "round \(round)")
            }
        }
    }
}
