// Tests: EngineError+Storage.swift, Channel.swift, SystemError+Advice.swift
import Foundation
import Testing
import ToftPlatform
import ToftModel
import ToftStorage
import ToftTestKit
@testable import ToftEngine

@Suite struct FileTests {
    private static func configuration(
        _ path: String, _ mode: Configuration.Mode = .readWrite,
        _ schema: Schema? = TestDatabase.schema
    ) -> Configuration {
        Configuration(location: .file(path: path), mode: mode, schema: schema)
    }

    @Test func `What is committed is there when the file is opened again`() throws {
        try withTemporaryDatabase { file in
            do {
                let database = try TestDatabase(opening: Self.configuration(file.path))
                try database.write { () throws(EngineError) in
                    for id in 0..<500 as Range<Int64> { try database.addPerson(id, name: "p\(id)") }
                }
                try database.session.close()
            }
            let database = try TestDatabase(opening: Self.configuration(file.path, .existing))
            #expect(try database.people().count == 500)
            #expect(
                try database.findPerson(123).value(try database.property("name")) == .string("p123")
            )
            try database.expectSound()
        }
    }

    @Test func `A system call that fails is told with what it means and what helps`() {
        for (operation, code, words) in [
            ("open", 24, "ulimit -n"), ("pthread_create", 11, "threads"),
            ("rename", 16, "mounted"), ("pread", 5, "disk"), ("mmap", 12, "memory"),
            ("open", 40, "links"), ("write", 121, "Check the path"),
        ] as [(String, Int32, String)] {
            let path = operation == "pthread_create" ? "" : "/a.toft"
            let error = EngineError(
                StorageError.io(operation: operation, path: path, errno: code))
            #expect(error.message.contains(words), "\(error)")
            #expect(error.message.contains("(error \(code))") && !error.message.contains("''"))
            #expect(error.number == Int64(code) && error.code == .fileAccess)
        }
        let full = EngineError(StorageError.tooManyFiles(path: "/a.toft"))
        #expect(full.message.contains("2048") && full.number == 24)
        // Damage is found also while something is written.
        let damage = EngineError(StorageError.corrupt(page: 3, reason: "torn"))
        #expect(damage.message.contains("salvage") && !damage.message.contains("not changed"))
    }

    @Test func `A closed session lets go of the file, whatever of it is still held`() throws {
        try withTemporaryDatabase { file in
            let database = try TestDatabase(opening: Self.configuration(file.path))
            try database.write { () throws(EngineError) in try database.addPerson(1, name: "Ada") }
            let people = try database.people()
            let ada = try database.findPerson(1)
            let name = try database.property("name")
            _ = try people.object(at: 0)
            #expect(Database.isOpen(path: file.path))
            try database.session.close()
            #expect(!Database.isOpen(path: file.path))
            func code(_ body: () throws -> Void) -> ErrorCode? {
                do {
                    try body()
                    return nil
                } catch { return (error as? EngineError)?.code }
            }
            #expect(code { _ = try people.count } == .closed)
            #expect(code { _ = try ada.value(name) } == .closed)
            let again = try TestDatabase(opening: Self.configuration(file.path, .existing))
            #expect(try again.people().count == 1)
            try again.expectSound()
        }
    }

    @Test
    func `Two sessions of one file are sessions of one database, and see each other's commits`()
        throws
    {
        try withTemporaryDatabase { file in
            let one = try TestDatabase(opening: Self.configuration(file.path))
            let other = try TestDatabase(opening: Self.configuration(file.path))
            #expect(one.session.database === other.session.database)
            let calls = Calls()
            let token = try other.people().observe(calls.handler)
            try normalize(other.session)
            try one.write { () throws(EngineError) in try one.addPerson(1) }
            try normalize(other.session)
            #expect(calls.last?.collection.insertions == [0])
            token.stop()
        }
    }

    @Test func `What is open for reading only can be opened for writing beside it`() throws {
        try withTemporaryDatabase { file in
            do {
                let database = try TestDatabase(opening: Self.configuration(file.path))
                try database.write { () throws(EngineError) in try database.addPerson(1) }
                try database.session.close()
            }
            let reader = try TestDatabase(opening: Self.configuration(file.path, .readOnly))
            let calls = Calls()
            let token = try reader.people().observe(calls.handler)
            try normalize(reader.session)
            let writer = try TestDatabase(opening: Self.configuration(file.path))
            #expect(writer.session.database !== reader.session.database)
            try writer.write { () throws(EngineError) in try writer.addPerson(2) }
            try normalize(reader.session)
            #expect(calls.last?.collection.insertions == [1])
            #expect(try reader.people().count == 2)
            #expect(
                code { () throws(EngineError) in try reader.session.beginWrite() } == .readOnly)

            // A further reader joins those that write.
            let late = try TestDatabase(opening: Self.configuration(file.path, .readOnly))
            #expect(late.session.database === writer.session.database)
            #expect(code { () throws(EngineError) in try late.session.beginWrite() } == .readOnly)
            try late.session.close()
            try writer.session.close()
            #expect(try reader.people().count == 2)
            #expect(Database.isOpen(path: file.path))
            token.stop()
            try reader.session.close()
            #expect(!Database.isOpen(path: file.path))
            let again = try TestDatabase(opening: Self.configuration(file.path, .existing))
            try again.expectSound()
        }
    }

    @Test func `Paths that can't be opened say why`() throws {
        try withTemporaryDatabase { file in
            let missing = Self.configuration(file.path, .existing)
            #expect(
                code { () throws(EngineError) in _ = try Session.open(missing) } == .fileNotFound)
            #expect(
                code { () throws(EngineError) in
                    _ = try Session.open(Self.configuration(file.path, .readOnly))
                } == .fileNotFound)
            #expect(
                code { () throws(EngineError) in
                    _ = try Session.open(Self.configuration(file.directory))
                } == .isDirectory)
            try Data("not a database at all".utf8).write(
                to: URL(fileURLWithPath: file.path + ".txt"))
            #expect(
                code { () throws(EngineError) in
                    _ = try Session.open(Self.configuration(file.path + ".txt"))
                } == .notADatabase)
        }
    }

    @Test func `A file opened read-only is read, without a schema and with one that fits`() throws {
        try withTemporaryDatabase { file in
            do {
                let database = try TestDatabase(opening: Self.configuration(file.path))
                try database.write { () throws(EngineError) in try database.addPerson(1) }
            }
            let reader = try Session.open(Self.configuration(file.path, .readOnly, nil))
            #expect(Set(reader.schema.visibleClasses.map(\.name)) == ["Person", "Dog"])
            #expect(code { () throws(EngineError) in try reader.beginWrite() } == .readOnly)
            try reader.close()
            let fitting = try TestDatabase(opening: Self.configuration(file.path, .readOnly))
            #expect(try fitting.people().count == 1)
            try fitting.session.close()
        }
    }

    /// A file that came with a program could not be read once the program had one class more.
    @Test func `What a file that is only read lacks is there without objects and values`() throws {
        let person = ClassSchema(
            "Person",
            [
                PropertySchema("id", .int, isPrimaryKey: true), PropertySchema("name", .string),
            ])
        var later = person
        later.properties += [
            PropertySchema("age", .int, isIndexed: true),
            PropertySchema("nick", .string, isOptional: true), .link("cat", to: "Cat"),
            PropertySchema("tags", .string, collection: .list),
            PropertySchema("scores", .int, collection: .dictionary),
        ]
        let cat = ClassSchema(
            "Cat",
            [
                PropertySchema("name", .string, isPrimaryKey: true), .link("owner", to: "Person"),
                PropertySchema("chip", .int),
                .linkingObjects("people", from: "Person", "cat"),
            ], uniques: [["chip"]])
        let schema = Schema([later, cat])
        try withTemporaryDatabase { file in
            let writer = try Session.open(
                Self.configuration(file.path, .readWrite, Schema([person])))
            try writer.beginWrite()
            for id in 0..<600 { _ = try writer.make("Person", ["id": .int(Int64(id))]) }
            try writer.commit()
            let reader = try Session.open(Self.configuration(file.path, .readOnly, schema))
            let (people, cats) = (
                try reader.classHandle(named: "Person"), try reader.classHandle(named: "Cat")
            )
            #expect(try reader.count(of: people.id) == 600 && reader.count(of: cats.id) == 0)
            #expect(try reader.find(Value.string("Tom"), in: cats.id) == nil)
            let one = try #require(try reader.find(Value.int(7), in: people.id))
            let read = { (name: String) -> Value in
                try one.value(people.property(named: name).id)
            }
            #expect(try read("age") == Value.int(0))
            #expect(try read("nick") == Value.null && read("cat") == Value.null)
            #expect(try one.collection(people.property(named: "tags").id, .list).count == 0)
            #expect(try one.collection(people.property(named: "scores").id, .dictionary).count == 0)
            let all = try reader.results(of: people.id)
            for (query, count) in [
                ("age == 0", 600), ("age > 0", 0), ("nick == null", 600), ("cat == null", 600),
                ("tags.@count == 0", 600), ("cat.name == 'Tom'", 0),
                ("age == 0 SORT(age ASC, id DESC) LIMIT(2)", 2),
            ] {
                #expect(try all.filter(query, arguments: []).count == count, "\(query)")
            }
            let none = try reader.results(of: cats.id)
            #expect(try none.filter("people.@count == 0 SORT(name ASC)", arguments: []).count == 0)
            #expect(try reader.checkEverything().problems == [])

            // The reader follows the commits of others, even if they add a class or property that
            // it lacks.
            try writer.beginWrite()
            _ = try writer.make("Person", ["id": .int(600)])
            try writer.commit()
            #expect(try reader.refresh())
            #expect(try reader.count(of: people.id) == 601 && reader.count(of: cats.id) == 0)
            let adding = try Session.open(Self.configuration(file.path, .readWrite, schema))
            try adding.beginWrite()
            _ = try adding.make("Cat", ["name": .string("Tom")])
            try adding.commit()
            #expect(try reader.refresh())
            #expect(try reader.find(Value.string("Tom"), in: cats.id) != nil)
            #expect(try reader.checkEverything().problems == [])

            // But not where something else has the place of it.
            let dog = ClassSchema("Dog", [PropertySchema("name", .string)])
            let cow = ClassSchema("Cow", [PropertySchema("name", .string)])
            let lacking = try Session.open(
                Self.configuration(file.path, .readOnly, Schema([later, cat, dog])))
            try Session.open(Self.configuration(file.path, .readWrite, Schema([cow]))).close()
            let outdated = failure { () throws(EngineError) in _ = try lacking.refresh() }
            #expect(outdated?.0 == .schemaMismatch)
            #expect(outdated?.1.contains("class 'Dog' is not in the file any more") == true)
            #expect(try lacking.count(of: people.id) == 601)
            for session in [reader, lacking, adding, writer] { try session.close() }
        }
    }

    @Test func `A file without a byte becomes a database, but not for who only reads`() throws {
        try withTemporaryDatabase { file in
            let url = URL(fileURLWithPath: file.path)
            try Data().write(to: url)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o640], ofItemAtPath: file.path)
            for mode in [.readOnly, .existing] as [Configuration.Mode] {
                let refused = failure { () throws(EngineError) in
                    _ = try Session.open(Self.configuration(file.path, mode))
                }
                #expect(refused?.0 == .notADatabase)
                #expect(refused?.1.contains("is an empty file, which holds no database") == true)
                #expect(try Data(contentsOf: url).isEmpty)
            }
            let database = try TestDatabase(opening: Self.configuration(file.path))
            try database.write { () throws(EngineError) in try database.addPerson(1) }
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[
                .posixPermissions]
            #expect(mode as? Int == 0o640)
            try database.expectSound()
            try database.session.close()
            #expect(
                try TestDatabase(opening: Self.configuration(file.path, .existing)).people().count
                    == 1)
        }
    }

    @Test func `Threads that open an empty file at once share one database`() async throws {
        let directory = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(directory) }
        for round in 0..<5 {
            let path = directory + "/\(round).toft"
            try Data().write(to: URL(fileURLWithPath: path))
            let ids = await withTaskGroup(of: Bool.self) { group in
                for id in 0..<4 as Range<Int64> {
                    group.addTask {
                        guard let database = try? TestDatabase(opening: Self.configuration(path))
                        else { return false }
                        return
                            (try? database.write { () throws(EngineError) in
                                try database.addPerson(id)
                            }) != nil
                    }
                }
                return await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            #expect(ids == [true, true, true, true])
            let database = try TestDatabase(opening: Self.configuration(path))
            #expect(try database.people().count == 4)
            try database.expectSound()
        }
    }

    /// The other process commits a hundred times; this one sleeps on the descriptor and follows.
    @Test
    func `Commits of another process wake an observer, and following them gives what is there`()
        async throws
    {
        let directory = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(directory) }
        let path = directory + "/test.toft"
        let watcher = try Worker {
            let database = try TestDatabase(opening: Self.configuration(path))
            let follower = try Follower.following(
                try database.people(), try database.property("name"))
            var wakes = 0
            while try database.people().count < 100 {
                guard database.session.channel?.flag.wait(timeoutMilliseconds: 20_000) == true
                else { break }
                wakes += 1
                try database.session.dispatch()
            }
            #expect(try database.people().count == 100)
            #expect(follower.difference == nil)
            #expect(try follower.isUpToDate())
            #expect(wakes > 1)
            try database.expectSound()
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            let database = try TestDatabase(opening: Self.configuration(path))
            for id in 0..<100 as Range<Int64> {
                try database.write { () throws(EngineError) in
                    try database.addPerson(id, name: "p\(id)")
                }
            }
            try database.session.close()
        }
        watcher.join()
    }
}
