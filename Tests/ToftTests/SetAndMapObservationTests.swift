// Tests: Map+Observation.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Observing sets and maps")
struct SetAndMapObservationTests {
    /// Observers' notifications, in short; indices and keys after `-`, `+` and `*`.
    final class Log: @unchecked Sendable {
        private let lines = Shared<[String]>([])
        var last: String { lines.current.last ?? "" }
        var count: Int { lines.current.count }

        func add<Collection: RealmCollection>(_ change: RealmCollectionChange<Collection>) {
            switch change {
            case .initial(let collection): add("initial \(collection.count)")
            case .update(let collection, let deletions, let insertions, let modifications):
                let count = collection.isInvalidated ? 0 : collection.count
                add("\(count) -\(deletions) +\(insertions) *\(modifications)")
            case .error(let error): add("\(error)")
            }
        }

        func add<Value>(_ change: RealmMapChange<Map<String, Value>>) {
            switch change {
            case .initial(let map): add("initial \(map.count)")
            case .update(let map, let deletions, let insertions, let modifications):
                let count = map.isInvalidated ? 0 : map.count
                add("\(count) -\(deletions) +\(insertions) *\(modifications)")
            case .error(let error): add("\(error)")
            }
        }

        func add(_ line: String) { lines.change { $0.append(line) } }
    }

    /// A library with the tags b and d, the counts b 2 and d 4, and a book A in both ways.
    private func makeLibrary() -> Library {
        let library = Library(1)
        library.tags.insert(objectsIn: ["b", "d"])
        library.counts.merge(["b": 2, "d": 4]) { $1 }
        let book = Book("A")
        library.books.insert(book)
        library.shelf["a"] = book
        return library
    }

    /// Changes the library on another thread.
    private func change(
        _ configuration: Realm.Configuration, _ body: @escaping @Sendable (Realm, Library) -> Void
    ) throws {
        try elsewhere {
            let realm = try Realm(configuration: configuration)
            let library = try #require(realm.object(ofType: Library.self, forPrimaryKey: 1))
            try realm.write { body(realm, library) }
        }
    }

    @Test
    func `A set tells the indices of what came and went, and its end`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let library = makeLibrary()
            try realm.write { realm.add(library) }
            let (tags, books) = (Log(), Log())
            let tokens = try loop.inside {
                [library.tags.observe { tags.add($0) }, library.books.observe { books.add($0) }]
            }
            loop.wait { tags.count == 1 && books.count == 1 }
            #expect(tags.last == "initial 2" && books.last == "initial 1")
            try change(configuration) { _, library in
                library.tags.insert(objectsIn: ["a", "c", "d"])
                library.tags.remove("b")
                library.books.first?.pages = 7
            }
            loop.wait { tags.count == 2 && books.count == 2 }
            #expect(tags.last == "3 -[0] +[0, 1] *[]")
            #expect(books.last == "1 -[] +[] *[0]")
            try change(configuration) { _, library in
                library.tags.insert("a")
                library.tags.remove("d")
                library.tags.insert("d")
                library.ints.insert(1)
            }
            loop.rest()
            #expect(tags.count == 2)
            try change(configuration) { realm, library in
                realm.delete(library.books)
                realm.delete(library)
            }
            loop.wait { tags.count == 3 && books.count == 3 }
            #expect(tags.last == "0 -[0, 1, 2] +[] *[]" && books.last == "0 -[0] +[] *[]")
            withExtendedLifetime(tokens) {}
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A map tells the keys of what came, went and was set, and its end`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let library = makeLibrary()
            try realm.write { realm.add(library) }
            let (counts, shelf, titles) = (Log(), Log(), Log())
            let tokens = try loop.inside {
                [
                    library.counts.observe { counts.add($0) },
                    library.shelf.observe { shelf.add($0) },
                    library.shelf.observe(keyPaths: [\.title]) { titles.add($0) },
                ]
            }
            loop.wait { counts.count == 1 && shelf.count == 1 && titles.count == 1 }
            #expect(counts.last == "initial 2" && shelf.last == "initial 1")
            try change(configuration) { _, library in
                library.counts["c"] = 3
                library.counts["a"] = 1
                library.counts["b"] = nil
                library.counts["d"] = 4
                library.shelf["a"]??.pages = 7
            }
            loop.wait { counts.count == 2 && shelf.count == 2 }
            #expect(counts.last == #"3 -["b"] +["a", "c"] *["d"]"#)
            #expect(shelf.last == #"1 -[] +[] *["a"]"# && titles.count == 1)
            try change(configuration) { _, library in library.shelf["a"]??.title = "B" }
            loop.wait { titles.count == 2 }
            #expect(titles.last == #"1 -[] +[] *["a"]"#)
            try change(configuration) { realm, library in realm.delete(library.shelf) }
            loop.wait { shelf.count == 4 }
            #expect(shelf.last == #"1 -[] +[] *["a"]"# && library.shelf["a"] == .some(nil))
            try change(configuration) { realm, library in realm.delete(library) }
            loop.wait { counts.count == 3 && shelf.count == 5 }
            #expect(counts.last == #"0 -["a", "c", "d"] +[] *[]"#)
            #expect(shelf.last == #"0 -["a"] +[] *[]"#)
            withExtendedLifetime(tokens) {}
            try TestRealm.check(realm)
        }
    }

    @Test
    func `On a queue the set and the map come from a realm of that queue`() throws {
        let configuration = TestRealm.inMemory()
        let realm = try Realm(configuration: configuration)
        let library = makeLibrary()
        try realm.write { realm.add(library) }
        let queue = DispatchQueue(label: "observer")
        let (tags, counts) = (Log(), Log())
        let tokens = [
            library.tags.observe(on: queue) { tags.add($0) },
            library.counts.observe(on: queue) { counts.add($0) },
        ]
        func wait(for count: Int) {
            for _ in 0..<500 where tags.count < count || counts.count < count {
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
        wait(for: 1)
        #expect(tags.last == "initial 2" && counts.last == "initial 2")
        try realm.write {
            library.tags.insert("c")
            library.counts["c"] = 3
        }
        wait(for: 2)
        #expect(tags.last == "3 -[] +[1] *[]" && counts.last == #"3 -[] +["c"] *[]"#)
        for token in tokens { token.invalidate() }
        queue.sync {}
        try TestRealm.check(realm)
    }

    @Test
    func `An object tells that its sets and maps were changed`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let library = makeLibrary()
            try realm.write { realm.add(library) }
            let log = Log()
            let token = try loop.inside {
                library.observe(keyPaths: [\Library.tags, \Library.counts]) {
                    (change: ObjectChange<Library>) in
                    guard case .change(_, let properties) = change else { return }
                    log.add(
                        properties.map { "\($0.name) \($0.newValue == nil)" }.sorted().joined(
                            separator: ", "))
                }
            }
            try change(configuration) { _, library in
                library.tags.insert("x")
                library.counts["x"] = 1
                library.ints.insert(1)
            }
            loop.wait { log.count == 1 }
            #expect(log.last == "counts true, tags true")
            withExtendedLifetime(token) {}
            try TestRealm.check(realm)
        }
    }

    @Test
    func `Key paths lead through sets and maps to their objects`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let library = makeLibrary()
            try realm.write { realm.add(library) }
            let (books, shelf) = (Log(), Log())
            func observe(_ keyPath: PartialKeyPath<Library>, _ log: Log) -> NotificationToken {
                library.observe(keyPaths: [keyPath]) { (change: ObjectChange<Library>) in
                    guard case .change(_, let properties) = change else { return }
                    log.add(properties.map(\.name).joined(separator: ", "))
                }
            }
            let tokens = try loop.inside {
                [observe(\.books[0].title, books), observe(\.shelf["any"]??.pages, shelf)]
            }
            try change(configuration) { realm, _ in realm.objects(Book.self).first?.title = "B" }
            loop.wait { books.count == 1 }
            #expect(books.last == "books")
            try change(configuration) { realm, _ in realm.objects(Book.self).first?.pages = 5 }
            loop.wait { shelf.count == 1 }
            #expect(shelf.last == "shelf" && books.count == 1)
            withExtendedLifetime(tokens) {}
            try TestRealm.check(realm)
        }
    }
}
