// Tests: Session.swift, ChangeCounters.swift, ColumnBuffer.swift, ErrorCode.swift,
// Handles+Check.swift, ModelTransaction+Check.swift, ObservationScope.swift, Position.swift,
// ReaderCache.swift, Results+Columns.swift, RowChange.swift, RowReader.swift,
// Session+Open.swift, Session+Reading.swift, Session+Transaction.swift, SessionEpoch.swift,
// SessionIdentity.swift, TouchedKeys.swift, VersionChanges.swift, WriteScope.swift
import Testing
import ToftModel
import ToftPlatform
import ToftStorage
import ToftTestKit
@testable import ToftEngine

@Suite struct SessionTests {
    @Test func `What one session commits another sees when it refreshes`() throws {
        let writer = try TestDatabase()
        let reader = try writer.other()
        try writer.write { () throws(EngineError) in try writer.addPerson(1, name: "Ada") }
        #expect(try reader.people().count == 0)
        #expect(try reader.session.refresh())
        #expect(try reader.people().count == 1)
        #expect(try reader.session.version == writer.session.version)
        #expect(try !reader.session.refresh())
        try writer.expectSound()
    }

    @Test func `Sessions of one declaration share a schema, also after others with another`() throws
    {
        let database = try TestDatabase()
        let again = try database.other()
        #expect(again.session.schema === database.session.schema)
        var configuration = database.configuration
        let whole = configuration.schema
        for count in 0..<6 {
            configuration.schema = Schema([ClassSchema("Extra\(count)")])
            let other = try Session.open(on: database.session.database.store, configuration)
            #expect(other.schema !== database.session.schema)
            try other.close()
        }
        configuration.schema = whole
        let last = try Session.open(on: database.session.database.store, configuration)
        #expect(
            last.schema.visibleClasses.map(\.name)
                == database.session.schema.visibleClasses.map(\.name))
        try last.close()
        try database.expectSound()
    }

    @Test func `Objects and results show the changes of their own transaction at once`() throws {
        let database = try TestDatabase()
        let people = try database.people()
        try database.session.beginWrite()
        let ada = try database.addPerson(1, name: "Ada")
        #expect(try people.count == 1)
        try database.setName("Countess", of: ada)
        #expect(try ada.value(try database.property("name")) == .string("Countess"))
        #expect(try people.object(at: 0) == ada)
        try database.session.commit()
        #expect(try ada.value(try database.property("name")) == .string("Countess"))
        try database.expectSound()
    }

    @Test func `Cancelling takes everything back, and what was made is deleted for ever`() throws {
        let database = try TestDatabase()
        try database.write { () throws(EngineError) in try database.addPerson(1, name: "Ada") }
        try database.session.beginWrite()
        let bob = try database.addPerson(2)
        let again = try database.findPerson(2)
        try database.findPerson(1).delete()
        try database.session.cancel()
        #expect(try !bob.isValid && !again.isValid)
        #expect(
            code { () throws(EngineError) in _ = try bob.value(try database.property("name")) }
                == .objectDeleted)
        #expect(try database.findPerson(1).isValid)
        // The next object does not get the key of the one that never was.
        let carol = try database.write { () throws(EngineError) in try database.addPerson(3) }
        #expect(try !bob.isValid)
        #expect(carol.ref != bob.ref)
        #expect(try database.session.object(bob.ref) == nil)
        try database.expectSound()
    }

    @Test func `A deleted object answers with an error, its list is invalid, and nothing dangles`()
        throws
    {
        let database = try TestDatabase()
        let ada = try database.write { () throws(EngineError) in try database.addPerson(1) }
        let notes = try ada.list(try database.property("notes"))
        let reports = try ada.linkingObjects(try database.property("reports"))
        try database.write { () throws(EngineError) in try ada.delete() }
        #expect(try !ada.isValid)
        #expect(
            code { () throws(EngineError) in _ = try ada.value(try database.property("name")) }
                == .objectDeleted)
        #expect(
            code { () throws(EngineError) in _ = try ada.list(try database.property("notes")) }
                == .objectDeleted)
        #expect(code { () throws(EngineError) in _ = try notes.count } == .collectionInvalidated)
        #expect(code { () throws(EngineError) in _ = try reports.count } == .collectionInvalidated)
        try database.expectSound()
    }

    @Test func `An object is found by its integer primary key, wherever its own key lies`() throws {
        let database = try TestDatabase()
        let owner = try database.person
        let ids = [try database.property("id"), try database.property("name")]
        var expected: [Int64: String] = [:]
        func add(_ numbers: some Sequence<Int64>) throws(EngineError) {
            try database.write { () throws(EngineError) in
                for number in numbers {
                    expected[number] = "person \(number), \(expected.count)"
                    try database.addPerson(number, name: expected[number] ?? "")
                }
            }
        }
        func delete(_ numbers: some Sequence<Int64>) throws(EngineError) {
            try database.write { () throws(EngineError) in
                for number in numbers {
                    expected[number] = nil
                    try database.findPerson(number).delete()
                }
            }
        }
        /// Looks up all that are there, and neighbours of theirs that are not.
        func expectAll(in order: [Int64]) throws(EngineError) {
            for number in order {
                var cells: [String] = []
                let isFound = try ids.withUnsafeBufferPointer { ids throws(EngineError) in
                    try database.session.forEachCell(ofPrimaryKey: .int(number), in: owner, ids) {
                        switch $2 {
                        case .int64(let number): cells.append("\(number)")
                        case .bytes(let text): cells.append(String(decoding: text, as: UTF8.self))
                        default: Issue.record("a cell of neither type")
                        }
                    }
                }
                if let name = expected[number] {
                    #expect(isFound && cells == ["\(number)", name])
                } else {
                    #expect(!isFound && cells.isEmpty, "\(number)")
                }
            }
        }

        // In the order of their primary keys, in two sequences that begin elsewhere, and the ends.
        try add(0..<700)
        try add(5_000..<5_700)
        try add([.max, .min, -1])
        let all: [Int64] =
            Array(-3..<710) + Array(4_990..<5_710) + [.min, .min + 1, .max - 1, .max]
        try expectAll(in: all)
        try expectAll(in: all.reversed())
        // The keys of some are no longer as far from the others', and some are missing.
        try delete(stride(from: 3, to: 700, by: 7))
        try add(stride(from: 3, to: 700, by: 14))
        try expectAll(in: all)
        var seed = Seed(5)
        try expectAll(in: (0..<3_000).map { _ in all[seed.below(all.count)] })
        // Changes are visible in their own transaction, and undone when it is cancelled.
        try database.session.beginWrite()
        try database.findPerson(11).delete()
        let name = expected.removeValue(forKey: 11)
        try expectAll(in: Array(0..<20))
        try database.session.cancel()
        expected[11] = name
        try expectAll(in: Array(0..<20))
        try database.expectSound()
    }

    @Test func `Changes outside a transaction, nested and missing transactions are errors`() throws
    {
        let database = try TestDatabase()
        #expect(code { () throws(EngineError) in try database.addPerson(1) } == .notInTransaction)
        #expect(
            code { () throws(EngineError) in try database.session.commit() } == .notInTransaction)
        #expect(
            code { () throws(EngineError) in try database.session.cancel() } == .notInTransaction)
        try database.session.beginWrite()
        #expect(database.session.isWriting)
        #expect(
            code { () throws(EngineError) in try database.session.beginWrite() }
                == .alreadyInTransaction)
        #expect(try !database.session.refresh())
        try database.session.cancel()
        #expect(!database.session.isWriting)
    }

    @Test func `An empty transaction makes no version`() throws {
        let database = try TestDatabase()
        let version = try database.session.version
        try database.session.beginWrite()
        #expect(try database.session.commit() == version)
        #expect(try database.session.version == version)
    }

    @Test func `A second writer waits no longer than it was told to`() throws {
        let writer = try TestDatabase()
        try writer.session.beginWrite()
        let configuration = writer.configuration
        try onAnotherThread {
            var hasty = configuration
            hasty.writeTimeoutMilliseconds = 0
            let session = try Session.open(hasty)
            #expect(code { () throws(EngineError) in try session.beginWrite() } == .lockTimeout)
        }
        try writer.session.cancel()
    }

    @Test func `A second writer of the same thread does not wait for ever`() throws {
        let writer = try TestDatabase()
        let second = try writer.other()
        for end in [
            { try writer.session.cancel() }, { _ = try writer.session.commit() },
            { try writer.session.close() },
        ] as [() throws -> Void] {
            try writer.session.beginWrite()
            #expect(
                code { () throws(EngineError) in try second.session.beginWrite() }
                    == .alreadyInTransaction)
            #expect(
                code { () throws(EngineError) in try second.session.flush() }
                    == .alreadyInTransaction)
            var wider = writer.configuration
            wider.schema = Schema([ClassSchema("Note")])
            #expect(
                code { () throws(EngineError) in _ = try Session.open(wider) }
                    == .alreadyInTransaction)
            try end()
            try second.session.beginWrite()
            try second.session.cancel()
        }
    }

    @Test func `A session that its caller confines may wait for one of the same thread`() throws {
        let writer = try TestDatabase()
        var configuration = writer.configuration
        configuration.confinement = .caller
        configuration.writeTimeoutMilliseconds = 1
        let loose = try Session.open(configuration)
        try writer.session.beginWrite()
        #expect(code { () throws(EngineError) in try loose.beginWrite() } == .lockTimeout)
        try writer.session.cancel()
        try loose.beginWrite()
        try writer.session.refresh()
        try loose.cancel()
    }

    @Test func `A wait for another writer is ended from another thread, the next one is not`()
        throws
    {
        let writer = try TestDatabase()
        try writer.session.beginWrite()
        var configuration = writer.configuration
        configuration.confinement = .caller
        let waiting = try Session.open(configuration)
        let interruption = waiting.interruption
        interruption.interrupt()
        let interrupter = try PlatformThread(name: "test") {
            Futex.sleep(nanoseconds: 100_000_000)
            interruption.interrupt()
        }
        #expect(
            code { () throws(EngineError) in
                try waiting.beginWrite(timeoutMilliseconds: 30_000)
            } == .interrupted)
        interrupter.join()
        #expect(
            code { () throws(EngineError) in
                try waiting.beginWrite(timeoutMilliseconds: 120)
            } == .lockTimeout)
        try writer.session.cancel()
    }

    @Test func `A session answers on its own thread only, unless its caller serialises`() throws {
        let database = try TestDatabase()
        let ada = try database.write { () throws(EngineError) in try database.addPerson(1) }
        let loose = try Session.open(
            Configuration(
                location: .memory(name: database.name), schema: TestDatabase.schema,
                confinement: .caller))
        let (session, name) = (database.session, try database.property("name"))
        try onAnotherThread {
            #expect(code { () throws(EngineError) in _ = try session.version } == .wrongThread)
            #expect(code { () throws(EngineError) in _ = try ada.value(name) } == .wrongThread)
            #expect(code { () throws(EngineError) in try session.close() } == .wrongThread)
            #expect(code { () throws(EngineError) in _ = try loose.version } == nil)
        }
    }

    @Test
    func `After close everything is closed, an open transaction is cancelled, and others go on`()
        throws
    {
        let database = try TestDatabase()
        let other = try database.other()
        let ada = try database.write { () throws(EngineError) in try database.addPerson(1) }
        let people = try database.people()
        try database.session.beginWrite()
        try database.addPerson(2)
        let name = try database.property("name")
        try database.session.close()
        #expect(code { () throws(EngineError) in _ = try ada.value(name) } == .closed)
        #expect(code { () throws(EngineError) in _ = try people.count } == .closed)
        #expect(code { () throws(EngineError) in try database.session.close() } == .closed)
        try other.session.refresh()
        #expect(try other.people().count == 1)
        try other.write { () throws(EngineError) in try other.addPerson(3) }
        try other.expectSound()
    }

    @Test func `An in-memory database goes with its last session`() throws {
        let name = "gone \(UInt64.random(in: 0 ... .max))"
        do {
            let database = try TestDatabase(name)
            try database.write { () throws(EngineError) in try database.addPerson(1) }
        }
        #expect(try TestDatabase(name).people().count == 0)
    }

    @Test
    func `A session may see fewer classes, and may bring new ones while the database is open`()
        throws
    {
        let database = try TestDatabase()
        try database.write { () throws(EngineError) in try database.addPerson(1) }
        let location = StoreConfiguration.Location.memory(name: database.name)
        let narrow = try Session.open(
            Configuration(
                location: location,
                schema: Schema([ClassSchema("Dog", [PropertySchema("name", .string)])])))
        #expect(narrow.schema.visibleClasses.map(\.name) == ["Dog"])
        #expect(
            code { () throws(EngineError) in _ = try narrow.count(of: try database.person) }
                == .noSuchClass)
        let wider = try Session.open(
            Configuration(
                location: location,
                schema: Schema([ClassSchema("Cat", [PropertySchema("lives", .int)])])))
        #expect(wider.schema.visibleClasses.map(\.name) == ["Cat"])
        let clash = Schema([ClassSchema("Dog", [PropertySchema("name", .int)])])
        #expect(
            code { () throws(EngineError) in
                _ = try Session.open(Configuration(location: location, schema: clash))
            } == .schemaMismatch)
        try database.session.refresh()
        #expect(try database.people().count == 1)
        let whole = try Session.open(Configuration(location: location))
        #expect(Set(whole.schema.visibleClasses.map(\.name)) == ["Person", "Dog", "Cat"])
    }

    @Test func `A read-only session of an open database reads and does not write`() throws {
        let database = try TestDatabase()
        var configuration = TestDatabase.configuration(database.name)
        configuration.mode = .readOnly
        let reader = try Session.open(configuration)
        #expect(code { () throws(EngineError) in try reader.beginWrite() } == .readOnly)
        let cat = ClassSchema("Cat", [PropertySchema("lives", .int)])
        configuration.schema = Schema([cat])
        let lacking = try Session.open(configuration)
        #expect(try lacking.count(of: lacking.classHandle(named: "Cat").id) == 0)
        // A session that writes it shows its changes, too.
        configuration.mode = .readWrite
        let writer = try Session.open(configuration)
        try writer.beginWrite()
        _ = try writer.make("Cat", ["lives": .int(9)])
        try writer.commit()
        try lacking.refresh()
        #expect(try lacking.count(of: lacking.classHandle(named: "Cat").id) == 1)
    }

    @Test func `Results find their objects again after something else has changed`() throws {
        let database = try TestDatabase()
        let people = try database.people()
        try database.write { () throws(EngineError) in
            for id in 0..<1000 as Range<Int64> { try database.addPerson(id) }
        }
        let frozen = try people.snapshot()
        try database.write { () throws(EngineError) in try people.object(at: 500).delete() }
        #expect(try people.count == 999)
        #expect(try people.index(of: .link(people.object(at: 700).ref)) == 700)
        #expect(try frozen.count == 1000)
        #expect(try frozen.value(at: 500) == .null)
        #expect(code { () throws(EngineError) in _ = try frozen.object(at: 500) } == .objectDeleted)
        #expect(
            code { () throws(EngineError) in _ = try people.object(at: 999) } == .indexOutOfRange)
        #expect(
            code { () throws(EngineError) in _ = try people.object(at: -1) } == .indexOutOfRange)
        try database.write { () throws(EngineError) in try frozen.deleteAll() }
        #expect(try people.count == 0)
        try database.expectSound()
    }

    @Test func `Lists of values are sorted, told apart and cut off, and stay live`() throws {
        let database = try TestDatabase()
        let ada = try database.write { () throws(EngineError) in try database.addPerson(1) }
        let notes = try ada.list(try database.property("notes"))
        let sorted = try notes.results().sorted(by: [("self", true)]).distinct(by: ["self"])
            .limited(to: 2)
        try database.write { () throws(EngineError) in
            for note in ["pear", "apple", "pear", "fig"] { try notes.append(Value.string(note)) }
        }
        #expect(
            try (0..<sorted.count).map { try sorted.value(at: $0) } == [
                .string("apple"), .string("fig"),
            ])
        #expect(try sorted.index(of: .string("fig")) == 1)
        #expect(try notes.firstIndex(of: .string("fig")) == 3)
        #expect(
            code { () throws(EngineError) in _ = try notes.results().sorted(by: [("name", true)]) }
                == .invalidQuery)
    }

    @Test func `Columns are read in batches, with nulls, from classes and from other orders`()
        throws
    {
        let database = try TestDatabase()
        try database.write { () throws(EngineError) in
            for id in 0..<600 as Range<Int64> {
                try database.addPerson(id, name: "p\(id)", age: id % 3 == 0 ? nil : id * 2)
            }
        }
        for results in [try database.people(), try database.people().snapshot()] {
            try expectColumns(of: results, database)
        }
    }

    private func expectColumns(of results: Results, _ database: TestDatabase) throws {
        let ages = UnsafeMutablePointer<Int64>.allocate(capacity: 500)
        let nulls = UnsafeMutablePointer<UInt8>.allocate(capacity: 500)
        let names = UnsafeMutablePointer<(UnsafeRawPointer?, Int)>.allocate(capacity: 500)
        defer {
            ages.deallocate()
            nulls.deallocate()
            names.deallocate()
        }
        let columns = [
            ColumnBuffer(property: try database.property("age"), values: ages, nulls: nulls),
            ColumnBuffer(property: try database.property("name"), values: names, nulls: nil),
        ]
        let rows = try results.read(columns, from: 250, capacity: 500)
        #expect(rows == 350)
        for row in 0..<rows {
            let id = row + 250
            #expect(nulls[row] == (id % 3 == 0 ? 1 : 0))
            #expect(ages[row] == (id % 3 == 0 ? 0 : Int64(id) * 2))
            #expect(
                String(
                    decoding: UnsafeRawBufferPointer(start: names[row].0, count: names[row].1),
                    as: UTF8.self) == "p\(id)")
        }
        #expect(try results.read(columns, from: 600, capacity: 500) == 0)
        #expect(
            code { () throws(EngineError) in _ = try results.read(columns, from: 601, capacity: 500)
            } == .indexOutOfRange)
        let list = ColumnBuffer(property: try database.property("dogs"), values: ages, nulls: nil)
        #expect(
            code { () throws(EngineError) in _ = try results.read([list], from: 0, capacity: 1) }
                == .typeMismatch)
    }
}
