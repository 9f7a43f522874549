// Tests: Session+Observe.swift
import Testing
import ToftModel
@testable import ToftStorage
@testable import ToftEngine

/// Observers whose changes are not fully recorded: bulk commits, and more commits than are kept.
@Suite struct BehindTests {
    @Test
    func
        `A commit too large to be told in order is told by what it changes and by comparing lists`()
        throws
    {
        let database = try TestDatabase()
        let ada = try database.write { () throws(EngineError) in
            let ada = try database.addPerson(0, name: "Ada")
            for note in ["a", "b", "c"] {
                try ada.list(try database.property("notes")).append(Value.string(note))
            }
            return ada
        }
        let notes = try ada.list(try database.property("notes"))
        let name = try database.property("name")
        let followers = [
            try Follower.following(notes), try .following(try database.people(), name),
            try .following(try database.people().filter("name == 'new'"), name),
        ]
        let object = Calls()
        let token = try ada.observe(object.handler)
        try normalize(database.session)
        let text = String(repeating: "x", count: 100_000)
        let before = try database.session.version
        try database.write { () throws(EngineError) in
            for id in 1...60 as ClosedRange<Int64> { try database.addPerson(id, name: text) }
            for id in 1...30 as ClosedRange<Int64> {
                try database.setName("new", of: try database.findPerson(id))
            }
            try database.findPerson(7).delete()
            try notes.move(from: 0, to: 2)
            try notes.append(Value.string("d"))
        }
        let records = try #require(
            try database.session.view.snapshot.records(after: before))
        #expect(records.last?.isTouchOnly == true)
        try normalize(database.session)
        for follower in followers {
            #expect(follower.difference == nil)
            #expect(try follower.isUpToDate())
            #expect(follower.calls == 2)
        }
        #expect(try object.last?.object.properties == [database.property("notes")])
        token.stop()
        try database.expectSound()
    }

    @Test func `An observer that the records no longer reach back to compares the versions`() throws
    {
        let writer = try TestDatabase()
        let ada = try writer.write { () throws(EngineError) in
            for id in 1...300 as ClosedRange<Int64> { try writer.addPerson(id, name: "p\(id)") }
            return try writer.findPerson(100)
        }
        let watcher = try writer.other()
        let name = try watcher.property("name")
        let followers = [
            try Follower.following(try watcher.people(), name),
            try .following(try watcher.people().filter("name BEGINSWITH 'p1'"), name),
            try .following(try watcher.findPerson(100).list(try watcher.property("notes"))),
        ]
        try watcher.session.refresh()
        let before = try watcher.session.version
        let text = String(repeating: "y", count: 1_000_000)
        for round in 0..<8 as Range<Int64> {
            try writer.write { () throws(EngineError) in
                for _ in 0..<3 { try writer.setName(text, of: ada) }
                try writer.findPerson(round + 1).delete()
                try writer.addPerson(1000 + round, name: "p1 new")
                try ada.list(try writer.property("notes")).append(Value.string("n\(round)"))
            }
        }
        #expect(try writer.session.view.snapshot.records(after: before) == nil)
        try watcher.session.refresh()
        for follower in followers {
            #expect(follower.difference == nil)
            #expect(try follower.isUpToDate())
        }
        try writer.expectSound()
    }

    @Test func `Observers that dispatch hold no old version`() throws {
        let writer = try TestDatabase()
        let watcher = try writer.other()
        let tokens = [
            try watcher.people().observe { _ in },
            try watcher.people().filter("age > 3").observe { _ in },
            try watcher.session.observe { _ in },
            try writer.people().observe { _ in },
        ]
        for id in 0..<20 as Range<Int64> {
            try writer.write { () throws(EngineError) in try writer.addPerson(id, age: id) }
            try normalize(writer.session)
            try normalize(watcher.session)
        }
        #expect(try writer.session.facts().oldestPinnedVersion == writer.session.version)
        tokens.forEach { $0.stop() }
    }
}
