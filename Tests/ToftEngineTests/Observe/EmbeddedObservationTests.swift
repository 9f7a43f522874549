// Tests: Change.swift
import Testing
import ToftModel
import ToftStorage
@testable import ToftEngine

/// The notifications for objects within others.
@Suite struct EmbeddedObservationTests {
    private static let schema = Schema([
        ClassSchema(
            "Owner",
            [
                PropertySchema("id", .int, isPrimaryKey: true),
                .link("part", to: "Part"), .links("parts", to: "Part"),
            ]),
        ClassSchema(
            "Part", isEmbedded: true,
            [PropertySchema("size", .int), .link("inner", to: "Part")]),
    ])

    /// An owner with a part in which another one is, and a list of two parts.
    private struct Ground {
        let database: TestDatabase
        let owner, part, inner: ObjectHandle
        let parts: CollectionHandle

        init() throws(EngineError) {
            let database = try TestDatabase(
                opening: Configuration(
                    location: .memory(name: "parts \(UInt64.random(in: 0 ... .max))"),
                    schema: schema))
            self.database = database
            let session = database.session
            (owner, part, inner) = try database.write { () throws(EngineError) in
                let owner = try session.create(
                    try database.classID("Owner"),
                    [(try database.property("id", of: "Owner"), .int(1))])
                let part = try owner.setEmbedded(try database.property("part", of: "Owner"), [])
                let inner = try part.setEmbedded(try database.property("inner", of: "Part"), [])
                let parts = try owner.list(try database.property("parts", of: "Owner"))
                for _ in 0..<2 { _ = try parts.insertEmbedded([], at: 0) }
                return (owner, part, inner)
            }
            parts = try owner.list(try database.property("parts", of: "Owner"))
        }

        func owners() throws(EngineError) -> Results {
            try database.session.results(of: try database.classID("Owner"))
        }

        func setSize(_ size: Int64, of part: ObjectHandle) throws(EngineError) {
            try database.write { () throws(EngineError) in
                try part.set(try database.property("size", of: "Part"), Value.int(size))
            }
            try normalize(database.session)
        }
    }

    @Test
    func `A change inside modifies the owner among results and in lists, not as an object`() throws
    {
        let ground = try Ground()
        let (owners, list, object, inner, path) = (Calls(), Calls(), Calls(), Calls(), Calls())
        let tokens = [
            try ground.owners().observe(owners.handler), try ground.parts.observe(list.handler),
            try ground.owner.observe(object.handler), try ground.inner.observe(inner.handler),
            try ground.owner.observe(keyPaths: ["part.inner.size"], path.handler),
        ]
        try normalize(ground.database.session)
        #expect([owners, list, object, inner, path].map(\.count) == [1, 1, 0, 0, 0])
        try ground.setSize(5, of: ground.inner)
        #expect([owners, list, object, inner, path].map(\.count) == [2, 1, 0, 1, 1])
        #expect(Array(try #require(owners.last).collection.modifications) == [0])
        #expect(
            try path.last?.object.properties
                == [ground.database.property("part", of: "Owner")])
        guard case .link(let second) = try ground.parts.value(at: 1) else {
            Issue.record("no second part")
            return
        }
        let element = try #require(try ground.database.session.object(second))
        try ground.setSize(6, of: element)
        #expect([owners, list, object, inner, path].map(\.count) == [3, 2, 0, 1, 1])
        #expect(Array(try #require(list.last).collection.modifications) == [1])
        tokens.forEach { $0.stop() }
        try ground.database.expectSound()
    }

    @Test func `Observers of what goes with its owner are told of its end`() throws {
        let ground = try Ground()
        let (inner, list, results, again) = (Calls(), Calls(), Calls(), Calls())
        let session = ground.database.session
        let all = try session.results(of: try ground.database.classID("Part"))
        let tokens = [
            try ground.inner.observe(inner.handler), try ground.parts.observe(list.handler),
            try all.observe(results.handler),
        ]
        try normalize(session)
        // Another part takes the place of the one that the observed one lives in.
        let part = try ground.database.property("part", of: "Owner")
        let replacing = try ground.database.write { () throws(EngineError) in
            try ground.owner.setEmbedded(part, [])
        }
        try normalize(session)
        #expect(inner.all.map(\.isDeletion) == [true])
        #expect(list.count == 1)
        #expect(results.last?.collection.deletions.count == 2)
        #expect(results.last?.collection.insertions.count == 1)
        let token = try replacing.observe(again.handler)
        try ground.database.write { () throws(EngineError) in try ground.owner.delete() }
        try normalize(session)
        #expect(inner.count == 1)
        #expect(again.all.map(\.isDeletion) == [true])
        #expect(list.last?.isDeletion == true)
        #expect(results.last?.collection.deletions.count == 3)
        #expect(try all.count == 0)
        (tokens + [token]).forEach { $0.stop() }
        try ground.database.expectSound()
    }
}
