// Tests: CollectionBacking.swift, KeyedElements.swift, MutableSet.swift,
// MutableSet+Persistable.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Sets")
struct SetTests {
    /// A library in a file, with the tags c, a, b.
    private func withLibrary(_ body: (Realm, Library) throws -> Void) throws {
        try TestRealm.withFile { realm, _ in
            let library = Library(1)
            library.tags.insert(objectsIn: ["c", "a", "b", "a"])
            try realm.write { realm.add(library) }
            try body(realm, library)
        }
    }

    private func titles(_ books: MutableSet<Book>) -> Set<String> { Set(books.map(\.title)) }

    @Test
    func `A set of every type holds each value once, before it is added and after`() throws {
        let (day, uuid) = (Date(timeIntervalSince1970: 5), UUID())
        let objectId = ObjectId.generate()
        let library = Library(1)
        func fill() {
            library.bools.insert(objectsIn: [true, false, true])
            library.ints.insert(objectsIn: [3, -1, 3])
            library.int8s.insert(objectsIn: [7, 7])
            library.floats.insert(objectsIn: [1.5, .nan, .nan, -.infinity])
            library.doubles.insert(objectsIn: [0.0, -0.0, 2.25])
            library.datas.insert(objectsIn: [Data([2]), Data(), Data([2])])
            library.dates.insert(objectsIn: [day, .distantPast, day])
            library.uuids.insert(objectsIn: [uuid, uuid])
            library.objectIds.insert(objectsIn: [objectId, objectId])
            library.decimals.insert(objectsIn: [1.5, 1.50, -2])
            library.moods.insert(objectsIn: [.wild, .calm, .wild])
            library.maybeInts.insert(objectsIn: [nil, 4, nil])
        }
        func expectAll() {
            #expect(Set(library.bools) == [true, false] && library.bools.count == 2)
            #expect(Set(library.ints) == [-1, 3] && library.ints.count == 2)
            #expect(Array(library.int8s) == [7])
            #expect(library.floats.count == 3 && library.floats.contains(.nan))
            #expect(Set(library.doubles) == [0, 2.25] && library.doubles.count == 2)
            #expect(Set(library.datas) == [Data(), Data([2])] && library.datas.count == 2)
            #expect(Set(library.dates) == [.distantPast, day] && library.dates.count == 2)
            #expect(Array(library.uuids) == [uuid] && Array(library.objectIds) == [objectId])
            #expect(Set(library.decimals) == [1.5, -2] && library.decimals.count == 2)
            #expect(Set(library.moods) == [.calm, .wild] && library.moods.count == 2)
            #expect(Set(library.maybeInts) == [nil, 4] && library.maybeInts.contains(nil))
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
    func `Texts are told apart by their bytes, not by how they look`() throws {
        try withLibrary { realm, library in
            let (one, two) = ("caf\u{e9}", "cafe\u{301}")
            let unmanaged: MutableSet<String> = [one, two, one]
            #expect(unmanaged.count == 2)
            try realm.write { library.tags.insert(objectsIn: unmanaged) }
            #expect(library.tags.count == 5)
            try realm.write { library.tags.remove(two) }
            #expect(library.tags.contains(one) && !library.tags.contains(two))
        }
    }

    @Test
    func `Every way to change a managed set`() throws {
        try withLibrary { realm, library in
            let tags = library.tags
            #expect(Array(tags) == ["a", "b", "c"])
            try realm.write {
                tags.insert("b")
                tags.insert("ab")
                #expect(Array(tags) == ["a", "ab", "b", "c"])
                tags.insert(objectsIn: ["z", "a", "z"])
                #expect(tags.count == 5 && tags.last == "z" && tags[1] == "ab")
                tags.remove("ab")
                tags.remove("not there")
                #expect(Array(tags) == ["a", "b", "c", "z"])
                #expect(tags.index(of: "c") == 2 && tags.index(of: "d") == nil)
                #expect(tags.contains("z") && !tags.contains("y"))
                tags.removeAll()
                #expect(tags.isEmpty && tags.first == nil)
            }
        }
    }

    @Test
    func `Two sets of values, managed or not`() throws {
        try TestRealm.with { realm in
            let (managed, other) = (Library(1), Library(2))
            try realm.write { realm.add([managed, other]) }
            let pairs: [(MutableSet<Int>, MutableSet<Int>)] = [
                (managed.ints, other.ints), (managed.ints, []), ([], other.ints), ([], []),
            ]
            for (left, right) in pairs {
                try realm.write {
                    for set in [left, right] { set.removeAll() }
                    left.insert(objectsIn: [1, 2])
                    right.insert(objectsIn: [1, 2, 3])
                    #expect(left.isSubset(of: right) && !right.isSubset(of: left))
                    #expect(left.isSubset(of: left) && left.intersects(right))
                    #expect(!left.intersects([7]) && !left.intersects([]))
                    right.subtract(left)
                    #expect(Array(right) == [3])
                    left.formUnion(right)
                    #expect(Set(left) == [1, 2, 3] && left.count == 3)
                    right.insert(9)
                    left.formIntersection(right)
                    #expect(Array(left) == [3] && Set(right) == [3, 9])
                    left.formUnion(left)
                    left.formIntersection(left)
                    #expect(left.count == 1)
                    left.subtract(left)
                    #expect(left.isEmpty)
                }
            }
        }
    }

    @Test
    func `Two sets of objects`() throws {
        try TestRealm.with { realm in
            let (one, two) = (Library(1), Library(2))
            try realm.write {
                realm.add([one, two])
                one.books.insert(objectsIn: [Book("A"), Book("B")])
                two.books.insert(objectsIn: one.books)
                two.books.insert(Book("C"))
            }
            let copies: MutableSet<Book> = []
            copies.insert(objectsIn: realm.objects(Book.self))
            #expect(one.books.isSubset(of: two.books) && one.books.isSubset(of: copies))
            #expect(!two.books.isSubset(of: one.books) && copies.intersects(one.books))
            #expect(!one.books.intersects([Book("A")]))
            try realm.write {
                two.books.formIntersection(one.books)
                #expect(titles(two.books) == ["A", "B"])
                two.books.formUnion([Book("D")])
                copies.subtract(one.books)
                #expect(titles(copies) == ["C"])
                two.books.subtract(one.books)
                #expect(titles(two.books) == ["D"])
            }
            try TestRealm.with { elsewhere in
                let stranger = Library(3)
                try elsewhere.write {
                    elsewhere.add(stranger)
                    stranger.books.insert(Book("E"))
                    stranger.ints.insert(1)
                }
                expectError(.wrongRealm) { one.books.isSubset(of: stranger.books) }
                expectError(.wrongRealm) { one.books.intersects(stranger.books) }
                #expect(!one.ints.intersects(stranger.ints))
                try realm.write {
                    expectError(.wrongRealm) { one.books.formUnion(stranger.books) }
                    expectError(.wrongRealm) { one.books.subtract(stranger.books) }
                    expectError(.wrongRealm) { one.books.formIntersection(stranger.books) }
                }
                #expect(titles(one.books) == ["A", "B"])
            }
        }
    }

    @Test
    func `Objects are added with the set, found in it, and leave it when they are deleted`() throws
    {
        try TestRealm.withFile { realm, _ in
            let library = Library(1)
            let (one, two) = (Book("A", pages: 10), Book("B", pages: 20))
            library.books.insert(objectsIn: [one, two, one])
            #expect(library.books.count == 2 && library.books.contains(one))
            let books = library.books
            try realm.write { realm.add(library) }
            #expect(library.books === books && books.realm == realm)
            #expect(books.contains(two) && !books.contains(Book("A")))
            #expect(one.libraries.count == 1 && one.libraries.first?.id == 1)
            try realm.write {
                books.insert(Book("C", pages: 30))
                books.insert(one)
                books.remove(Book("A"))
            }
            #expect(books.count == 3 && realm.objects(Book.self).count == 3)
            try realm.write { realm.delete(two) }
            #expect(titles(books) == ["A", "C"] && one.isInvalidated == false)
            try realm.write { books.remove(one) }
            #expect(one.libraries.isEmpty && realm.objects(Book.self).count == 2)
            try realm.write { realm.delete(books) }
            #expect(books.isEmpty && realm.objects(Book.self).count == 1)
        }
    }

    @Test
    func `Assigning a set fills it; assigning it to itself leaves it alone`() throws {
        try withLibrary { realm, library in
            let tags = library.tags
            try realm.write {
                library.tags = library.tags
                #expect(Array(tags) == ["a", "b", "c"])
                library.tags = ["x", "b"]
                #expect(Array(tags) == ["b", "x"])
                let other = realm.create(Library.self, value: ["id": 2])
                other.tags = tags
                other.tags.insert("y")
                #expect(Array(other.tags) == ["b", "x", "y"] && tags.count == 2)
            }
            #expect(library.tags === tags)
        }
    }

    @Test
    func `Creating takes arrays and sets; an update writes what is given`() throws {
        try TestRealm.with { realm in
            try realm.write {
                let library = realm.create(
                    Library.self,
                    value: [
                        "id": 1, "ints": [2, 1, 2], "tags": Set(["x"]),
                        "books": [["title": "A"], ["title": "B"]], "moods": ["wild", "calm"],
                    ] as [String: Any])
                #expect(Array(library.ints) == [1, 2] && Array(library.tags) == ["x"])
                #expect(titles(library.books) == ["A", "B"] && library.moods.count == 2)
                for policy in [Realm.UpdatePolicy.modified, .all] {
                    realm.create(
                        Library.self, value: ["id": 1, "ints": [2, 5]] as [String: Any],
                        update: policy)
                    #expect(Array(library.ints) == [2, 5] && Array(library.tags) == ["x"])
                }
                let detached = Library(1)
                detached.tags.insert(objectsIn: ["y", "x"])
                realm.add(detached, update: .modified)
                #expect(Array(library.tags) == ["x", "y"] && library.ints.isEmpty)
                let last = Library(1)
                realm.add(last, update: .all)
                #expect(library.tags.isEmpty && library.books.isEmpty)
            }
            expectError(.typeMismatch) { Library(value: ["ints": 5]) }
            expectError(.typeMismatch) { Library(value: ["ints": ["five"]]) }
            expectError(.nullNotAllowed) { Library(value: ["ints": [NSNull()]]) }
        }
    }

    @Test
    func `Objects with a key in a set are updated as the object that has the set is`() throws {
        try TestRealm.with { realm in
            try realm.write {
                let first = Reader("Ada")
                first.wishes.insert(objectsIn: [Wish("Emma", price: 5), Wish("Ulysses", price: 6)])
                realm.add(first)
                let second = Reader("Ada")
                second.wishes.insert(objectsIn: [Wish("Emma", price: 7), Wish("Dune", price: 8)])
                realm.add(second, update: .modified)
                #expect(first.wishes.count == 2 && second.wishes == first.wishes)
                #expect(first.wishes.sum(of: \.price) == 15)
                #expect(realm.objects(Wish.self).count == 3)
                expectError(.duplicatePrimaryKey) { first.wishes.insert(Wish("Dune")) }
            }
        }
    }

    @Test
    func `A copy of an object has sets and lists of its own`() throws {
        let library = Library(1)
        library.tags.insert("a")
        let person = Person(1, "Ada")
        person.dogs.append(Dog("Rex"))
        let copies = (Library(value: library), Person(value: person))
        copies.0.tags.insert("b")
        copies.1.dogs.removeAll()
        #expect(Array(library.tags) == ["a"] && copies.0.tags.count == 2 && person.dogs.count == 1)
        try withLibrary { realm, library in
            let detached = Library(value: library)
            detached.tags.insert("d")
            #expect(
                detached.tags.count == 4 && detached.tags.realm == nil && library.tags.count == 3)
        }
    }

    @Test
    func `What a set can't do is misuse, and changes nothing`() throws {
        try withLibrary { realm, library in
            let tags = library.tags
            expectError(.notInTransaction) { tags.insert("x") }
            expectError(.notInTransaction) { tags.remove("a") }
            expectError(.notInTransaction) { tags.removeAll() }
            expectError(.notInTransaction) { tags.subtract([]) }
            expectError(.notInTransaction) { library.tags = ["x"] }
            expectError(.readOnly) { tags.freeze().insert("x") }
            expectError(.indexOutOfRange) { tags[3] }
            expectError(.indexOutOfRange) { tags[-1] }
            let unmanaged: MutableSet<Int> = [1]
            expectError(.indexOutOfRange) { unmanaged[1] }
            expectError(.unsupported) { unmanaged.sorted() }
            expectError(.unsupported) { unmanaged.observe { _ in } }
            expectError(.invalidArgument) { unmanaged.freeze() }
            expectError(.wrongThread) {
                let reference = Box(tags)
                try elsewhere { try Realm.attempt { _ = reference.value.count } }
            }
            #expect(Array(tags) == ["a", "b", "c"])
            try TestRealm.with { other in
                let book = Book("B")
                try other.write { other.add(book) }
                #expect(!library.books.contains(book))
                try realm.write { expectError(.wrongRealm) { library.books.insert(book) } }
            }
            try realm.write {
                realm.delete(library)
                expectError(.collectionInvalidated) { tags.insert("x") }
            }
            #expect(tags.isInvalidated)
            expectError(.collectionInvalidated) { tags.count }
            expectError(.collectionInvalidated) { tags.contains("a") }
            expectError(.collectionInvalidated) { Array(tags) }
        }
    }

    @Test
    func `A cancelled write leaves the set as it was`() throws {
        try withLibrary { realm, library in
            realm.beginWrite()
            library.tags.insert("x")
            library.tags.remove("a")
            realm.cancelWrite()
            #expect(Array(library.tags) == ["a", "b", "c"])
        }
    }

    @Test
    func `Frozen, thawed and carried to another thread`() throws {
        try withLibrary { realm, library in
            let frozen = library.tags.freeze()
            try realm.write { library.tags.removeAll() }
            #expect(frozen.isFrozen && Array(frozen) == ["a", "b", "c"] && frozen.contains("b"))
            #expect(frozen.thaw()?.isEmpty == true && frozen.thaw() == library.tags)
            let reference = ThreadSafeReference(to: library.tags)
            let configuration = realm.configuration
            try elsewhere {
                let realm = try Realm(configuration: configuration)
                let tags = try #require(realm.resolve(reference))
                try realm.write { tags.insert("elsewhere") }
            }
            realm.refresh()
            #expect(Array(library.tags) == ["elsewhere"])
        }
    }

    @Test
    func `Sets are sorted, told apart and summed`() throws {
        try TestRealm.with { realm in
            let library = Library(1)
            library.ints.insert(objectsIn: [4, 9, -3])
            library.books.insert(objectsIn: [
                Book("A", pages: 30), Book("B", pages: 10), Book("C", pages: 30),
            ])
            try realm.write { realm.add(library) }
            let (ints, books) = (library.ints, library.books)
            #expect(ints.min() == -3 && ints.max() == 9 && ints.sum() == 10)
            #expect(ints.average() == 10.0 / 3 && library.floats.max() == nil)
            #expect(Array(ints.sorted(ascending: false)) == [9, 4, -3])
            let long = books.where { $0.pages > 10 }.sorted(by: \.title)
            #expect(long.map(\.title) == ["A", "C"])
            #expect(books.filter("title == 'B'").count == 1 && books.max(of: \.pages) == 30)
            #expect(books.distinct(by: [\Book.pages]).count == 2)
            #expect(books.index(matching: { $0.title == "B" }) != nil)
            try realm.write { books.setValue(7, forKey: "pages") }
            #expect(long.isEmpty && books.value(forKey: "pages") as? [Int] == [7, 7, 7])
        }
    }

    @Test
    func `A loop goes through the elements that were there when it began`() throws {
        try withLibrary { realm, library in
            try realm.write {
                var seen = ""
                for tag in library.tags {
                    seen += tag
                    library.tags.remove("c")
                    library.tags.insert(tag + "'")
                }
                #expect(seen == "abc" && Array(library.tags) == ["a", "a'", "b", "b'", "c'"])
            }
        }
    }

    @Test
    func `Sets are coded as arrays, described, and set by name`() throws {
        let tags = try JSONDecoder().decode(MutableSet<String>.self, from: Data(#"["a","b"]"#.utf8))
        #expect(Set(tags) == ["a", "b"])
        #expect(try JSONEncoder().encode(tags) == Data(#"["a","b"]"#.utf8))
        #expect(tags.description.contains("[1] b"))
        try withLibrary { realm, library in
            #expect(library.description.contains("tags = MutableSet<string> <0x"))
            try realm.write { library["tags"] = ["q"] }
            #expect((library["tags"] as? MutableSet<String>).map { Array($0) } == ["q"])
            let property = try #require(library.objectSchema["maybeInts"])
            #expect(property.isSet && !property.isArray && !property.isMap && property.isOptional)
            #expect(property.description.contains("set = YES;"))
        }
    }

    @Test(arguments: 1...4)
    func `A set is what a set of the language would be after random changes`(_ round: Int) throws {
        try TestRealm.withFile { realm, _ in
            var seed = UInt64(round)
            func next(_ limit: Int) -> Int {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Int(seed >> 33) % limit
            }
            let library = Library(1)
            try realm.write { realm.add(library) }
            var model: Set<String> = []
            for _ in 0..<10 {
                try realm.write {
                    for _ in 0..<80 {
                        let text = String(repeating: "x", count: next(3)) + "\(next(60))"
                        switch next(12) {
                        case 0:
                            library.tags.subtract([text, "1", "x2"])
                            model.subtract([text, "1", "x2"])
                        case 1...4:
                            library.tags.remove(text)
                            model.remove(text)
                        default:
                            library.tags.insert(text)
                            model.insert(text)
                        }
                    }
                }
                #expect(Array(library.tags) == model.sorted(), "round \(round)")
            }
        }
    }
}
