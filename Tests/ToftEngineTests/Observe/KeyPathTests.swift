// Tests: KeyPathTest.swift, ChangeCalculation.swift, ChangeCalculation+KeyPaths.swift,
// ResultsDefinition+Order.swift, ResultsDefinition+Values.swift,
// TransactionChanges+Comparison.swift, WatchedPaths.swift
import Testing
import ToftModel
import ToftStorage
import ToftTestKit
@testable import ToftEngine

@Suite struct KeyPathTests {
    /// Ada leads Ben and Cleo; Ada has Rex.
    private struct Office {
        let database: TestDatabase
        let ada, ben, cleo, rex: ObjectHandle

        init() throws(EngineError) {
            let database = try TestDatabase()
            self.database = database
            (ada, ben, cleo, rex) = try database.write { () throws(EngineError) in
                let (ada, ben, cleo) = (
                    try database.addPerson(1, name: "Ada"), try database.addPerson(2, name: "Ben"),
                    try database.addPerson(3, name: "Cleo")
                )
                let rex = try database.session.create(
                    try database.dog, [(try database.property("name", of: "Dog"), .string("Rex"))])
                for person in [ben, cleo] {
                    try person.set(try database.property("boss"), Value.link(ada.ref))
                }
                try ada.list(try database.property("dogs")).append(Value.link(rex.ref))
                return (ada, ben, cleo, rex)
            }
        }

        /// The people that an observer of them sees as modified by a transaction; nil if it is not
        /// called.
        func modified(_ keyPaths: [String]?, _ change: () throws(EngineError) -> Void) throws
            -> [Int]?
        {
            let calls = Calls()
            let token = try database.people().observe(keyPaths: keyPaths, calls.handler)
            defer { token.stop() }
            try normalize(database.session)
            try database.write(change)
            try normalize(database.session)
            guard calls.count > 1 else { return nil }
            return Array(try #require(calls.last).collection.modifications)
        }

        func age(_ person: ObjectHandle) throws(EngineError) {
            try person.set(try database.property("age"), Value.int(5))
        }
        func name(_ person: ObjectHandle) throws(EngineError) {
            try database.setName("new", of: person)
        }
        func boss(_ person: ObjectHandle, _ boss: ObjectHandle?) throws(EngineError) {
            try person.set(
                try database.property("boss"), boss.map { Value.link($0.ref) } ?? Value.null)
        }
    }

    @Test func `Only what the paths name counts, in the row itself and beyond links`() throws {
        let office = try Office()
        #expect(
            try office.modified(["name"]) { () throws(EngineError) in try office.age(office.ben) }
                == nil)
        #expect(
            try office.modified(["name", "age"]) { () throws(EngineError) in
                try office.age(office.ben)
            } == [1])
        #expect(
            try office.modified(["boss.name"]) { () throws(EngineError) in
                try office.name(office.ada)
            } == [1, 2])
        #expect(
            try office.modified(["boss.name"]) { () throws(EngineError) in
                try office.age(office.ada)
            } == nil)
        #expect(
            try office.modified(["boss"]) { () throws(EngineError) in try office.name(office.ada) }
                == nil)
        #expect(
            try office.modified(["boss.name"]) { () throws(EngineError) in
                try office.boss(office.ben, nil)
            } == [1])
        #expect(
            try office.modified(["*.name"]) { () throws(EngineError) in
                try office.rex.set(
                    try office.database.property("name", of: "Dog"), Value.string("Fido"))
            } == [0])
        try office.database.expectSound()
    }

    @Test(arguments: ["reports.reports.name", "reports.name"])
    func `Deleting what is linked to and links breaks no path over inverses`(path: String) throws {
        // Cleo's boss is Ben, and Ben's is Ada.
        let office = try Office()
        let database = office.database
        try database.write { () throws(EngineError) in try office.boss(office.cleo, office.ben) }
        let (all, one) = (Calls(), Calls())
        let tokens = [
            try database.people().observe(keyPaths: [path], all.handler),
            try office.ada.observe(keyPaths: [path], one.handler),
        ]
        try normalize(database.session)
        try database.write { () throws(EngineError) in try office.ben.delete() }
        try normalize(database.session)
        let change = try #require(all.last).collection
        #expect(change.deletions == [1])
        #expect(change.modifications == [0] && change.modificationsNew == [0])
        #expect(one.count == 1 && one.last?.isUpdate == true)
        tokens.forEach { $0.stop() }
        try database.expectSound()
    }

    @Test func `No paths at all: only comings and goings`() throws {
        let office = try Office()
        #expect(
            try office.modified([]) { () throws(EngineError) in try office.name(office.ben) } == nil
        )
        #expect(
            try office.modified([]) { () throws(EngineError) in try office.database.addPerson(9) }
                == [])
        #expect(try office.modified([]) { () throws(EngineError) in try office.ben.delete() } == [])
    }

    @Test
    func
        `An inverse property changes when links to the object come and go`()
        throws
    {
        let office = try Office()
        #expect(
            try office.modified(["reports"]) { () throws(EngineError) in
                try office.boss(office.ben, office.cleo)
            } == [0, 2])
        #expect(
            try office.modified(["reports"]) { () throws(EngineError) in
                try office.boss(office.ben, office.cleo)
            } == nil)
        #expect(
            try office.modified(["reports"]) { () throws(EngineError) in try office.name(office.ben)
            } == nil)
        #expect(
            try office.modified(["reports.name"]) { () throws(EngineError) in
                try office.name(office.ben)
            } == [2])
        #expect(
            try office.modified(["reports"]) { () throws(EngineError) in try office.ben.delete() }
                == [2])
        try office.database.expectSound()
    }

    @Test func `An object tells the property at which a changed path begins, and what it held`()
        throws
    {
        let office = try Office()
        let database = office.database
        let calls = Calls()
        let token = try office.ben.observe(keyPaths: ["boss.name", "age"], calls.handler)
        let (age, boss) = (try database.property("age"), try database.property("boss"))
        try database.write { () throws(EngineError) in try office.name(office.ben) }
        try normalize(database.session)
        #expect(calls.count == 0)
        try database.write { () throws(EngineError) in try office.name(office.ada) }
        try normalize(database.session)
        #expect(calls.last?.object.properties == [boss])
        try database.write { () throws(EngineError) in
            try office.age(office.ben)
            try office.boss(office.ben, nil)
        }
        try normalize(database.session)
        #expect(calls.last?.object.properties == [age, boss].sorted())
        #expect(calls.last?.object.oldValues == [age: .null, boss: .link(office.ada.ref)])
        try database.write { () throws(EngineError) in try office.ben.delete() }
        try normalize(database.session)
        #expect(calls.last?.isDeletion == true && calls.count == 3)
        token.stop()
    }

    @Test
    func `A path that names nothing, goes on behind a value, or begins at values is an error`()
        throws
    {
        let office = try Office()
        let people = try office.database.people()
        let notes = try office.ada.list(try office.database.property("notes"))
        for path in ["", "nam", "boss.", "boss.nam", ".name", "dogs.*.name", "*.nam"] {
            #expect(
                code { () throws(EngineError) in _ = try people.observe(keyPaths: [path]) { _ in } }
                    == .noSuchProperty, "\(path)")
        }
        #expect(
            code { () throws(EngineError) in
                _ = try people.observe(keyPaths: ["name", "name.boss"]) { _ in }
            } == .invalidArgument)
        let endless = Array(repeating: "boss", count: 100_000).joined(separator: ".")
        #expect(
            code { () throws(EngineError) in _ = try people.observe(keyPaths: [endless]) { _ in } }
                == .invalidArgument)
        #expect(
            code { () throws(EngineError) in _ = try notes.observe(keyPaths: ["name"]) { _ in } }
                == .invalidArgument)
        #expect(
            code { () throws(EngineError) in try notes.observe(keyPaths: []) { _ in }.stop() }
                == nil)
    }

    @Test func `Stars on stars make a small graph`() throws {
        let office = try Office()
        let path = Array(repeating: "*", count: 60).joined(separator: ".")
        let paths = try WatchedPaths(
            [path], from: try office.database.person, in: office.database.session.schema)
        #expect(paths.nodes.count <= 120)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `Both ways find what walking every path finds, with records and by comparing`(
        number: UInt64
    ) throws {
        let database = try TestDatabase()
        var commits = RandomCommits(database, Seed(number), lane: 1)
        for _ in 0..<30 { try commits.commit() }
        let texts = [
            ["name"], ["boss.name"], ["dogs.name", "age"], ["boss.boss.age"], ["*"], ["*.*"],
            ["reports.dogs"], ["boss.reports.age", "dogs.owners"],
        ]
        let paths = try texts.map {
            try WatchedPaths($0, from: try database.person, in: database.session.schema)
        }
        for _ in 0..<40 {
            let old = database.session.view
            for _ in 0...commits.seed.below(3) { try commits.commit() }
            let new = database.session.view
            var interest = ChangeFilter()
            for paths in paths { interest.properties.formUnion(paths.properties) }
            for calculation in [
                try ChangeCalculation(from: old, to: new, interest: interest),
                try ChangeCalculation(comparing: old, with: new),
            ] {
                for (paths, text) in zip(paths, texts) {
                    try check(
                        paths, calculation, new, try database.person, "seed \(number), \(text)")
                }
            }
        }
        try database.expectSound()
    }

    private func check(
        _ paths: WatchedPaths, _ calculation: ChangeCalculation, _ new: ModelView,
        _ classID: ClassID,
        _ comment: Comment
    ) throws {
        let changed = try calculation.changed(paths)
        let links = VersionLinks(view: new)
        let backwards = try KeyPathTest(paths, changed: changed, reader: links, budget: 1_000_000)
        let forwards = try KeyPathTest(paths, changed: changed, reader: links, budget: -1)
        #expect(backwards.rows != nil && forwards.rows == nil)
        for key in try new.allKeys(of: new.schema.classHandle(id: classID)) {
            let expected = try paths.roots.contains { try walk(paths, $0, key, changed, new) }
            #expect(try backwards.isModified(key) == expected, comment)
            #expect(try forwards.isModified(key) == expected, comment)
        }
    }

    private func walk(
        _ paths: WatchedPaths, _ node: Int, _ key: Int64, _ changed: [IndexRanges],
        _ view: ModelView
    ) throws -> Bool {
        if changed[node].contains(Int(key)) { return true }
        return try paths.nodes[node].steps.contains { step throws in
            let property = try view.schema.classHandle(id: paths.nodes[node].classID).property(
                id: step.property)
            var targets: [Int64] = []
            if step.isInverse {
                targets = try view.backlinks(to: key, through: try view.schema.origin(of: property))
            } else if property.isCollection {
                targets = try view.linkedKeys(
                    CollectionRef(
                        owner: ObjectRef(classID: property.classID, key: key), property: property.id
                    ))
            } else if case .int64(let target) = try view.cell(key, property) {
                targets = [target]
            }
            return try targets.contains { try walk(paths, step.next, $0, changed, view) }
        }
    }
}
