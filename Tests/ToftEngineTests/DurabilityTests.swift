// Tests: Durability.swift
import Foundation
import Testing
import ToftModel
import ToftStorage
import ToftTestKit
@testable import ToftEngine

@Suite struct DurabilityTests {
    /// Sessions that any thread may use, one after the other: a test that waits for a process
    /// continues on another one.
    private static func configuration(_ path: String, _ mode: Configuration.Mode = .readWrite)
        -> Configuration
    {
        Configuration(
            location: .file(path: path), mode: mode, schema: TestDatabase.schema,
            confinement: .caller)
    }

    /// Adds a person in a transaction of its own. Returns the token to wait with until it is
    /// durable.
    private func add(_ id: Int64, to database: TestDatabase, _ durability: Durability)
        throws(EngineError) -> UInt64
    {
        try database.session.beginWrite()
        try database.addPerson(id)
        try database.session.commit(durability)
        return try database.session.facts().deferredSize
    }

    @Test
    func
        `A deferred commit is seen at once and is durable after a flush`()
        throws
    {
        try withTemporaryDatabase { file in
            let database = try TestDatabase(opening: Self.configuration(file.path))
            let other = try TestDatabase(opening: Self.configuration(file.path))
            var id: Int64 = 0
            func next(_ durability: Durability) throws -> UInt64 {
                id += 1
                let waiting = try add(id, to: database, durability)
                try other.session.refresh()
                #expect(try other.people().count == Int(id))
                return waiting
            }
            // Deferred commits become durable within a second: more often than not this is quicker.
            func deferred() throws -> Bool { try (0..<5).contains { _ in try next(.deferred) > 0 } }
            #expect(try deferred())
            try other.session.flush()
            #expect(try database.session.facts().deferredSize == 0)
            try other.session.flush()
            for durability in [Durability.immediate, .group] {
                #expect(try deferred())
                #expect(try next(durability) == 0)
            }
            try database.expectSound()
        }
    }

    @Test
    func
        `A flush is refused in a write transaction and to a read-only session`()
        throws
    {
        try withTemporaryDatabase { file in
            let database = try TestDatabase(opening: Self.configuration(file.path))
            try database.session.beginWrite()
            #expect(
                code { () throws(EngineError) in try database.session.flush() }
                    == .alreadyInTransaction)
            try database.session.cancel()
            try database.session.close()
            #expect(code { () throws(EngineError) in try database.session.flush() } == .closed)
            let reader = try Session.open(Self.configuration(file.path, .readOnly))
            #expect(code { () throws(EngineError) in try reader.flush() } == .readOnly)
            try reader.close()
        }
        let inMemory = try TestDatabase()
        #expect(try add(1, to: inMemory, .deferred) == 0)
        try inMemory.session.flush()
        try inMemory.expectSound()
    }

    @Test
    func `Observers know all that a transaction builds on, while other threads commit in groups`()
        throws
    {
        try withTemporaryDatabase { file in
            let database = try TestDatabase(opening: Self.configuration(file.path))
            let follower = try Follower.following(
                try database.people(), try database.property("name"))
            try normalize(database.session)
            let writers = try (0..<3).map { writer in
                try Worker {
                    let own = try TestDatabase(opening: Self.configuration(file.path))
                    for number in 0..<200 {
                        _ = try add(Int64(writer * 1000 + number), to: own, .group)
                    }
                }
            }
            for number in 0..<100 as Range<Int64> {
                try database.session.refresh()
                try database.session.beginWrite()
                #expect(try follower.isUpToDate(), "transaction \(number)")
                if number % 3 > 0 { try database.addPerson(10_000 + number) }
                if number % 3 == 1 {
                    try database.session.cancel()
                } else {
                    try database.session.commit(number % 2 == 0 ? .group : .immediate)
                }
            }
            for writer in writers { writer.join() }
            try database.session.refresh()
            #expect(try database.people().count == 633)
            #expect(follower.difference == nil)
            #expect(try follower.isUpToDate())
            #expect(try database.session.facts().deferredSize == 0)
            try database.expectSound()
        }
    }

    @Test
    func
        `A deferred commit outlives the kill of its process`()
        async throws
    {
        let directory = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(directory) }
        let path = directory + "/test.toft"
        let database = try TestDatabase(opening: Self.configuration(path))
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let database = try TestDatabase(opening: Self.configuration(path))
            for id in 0..<10 as Range<Int64> {
                _ = try DurabilityTests().add(id, to: database, .deferred)
            }
            kill(getpid(), SIGKILL)
        }
        try database.session.refresh()
        #expect(try database.people().count == 10)
        try database.session.flush()
        #expect(try database.session.facts().deferredSize == 0)
        try database.session.close()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let alone = try TestDatabase(opening: Self.configuration(path))
            for id in 10..<20 as Range<Int64> {
                _ = try DurabilityTests().add(id, to: alone, .deferred)
            }
            kill(getpid(), SIGKILL)
        }
        let next = try TestDatabase(opening: Self.configuration(path))
        #expect(try next.people().count == 20)
        try next.expectSound()
    }
}
