// Tests: ToftEngine/Observation.swift, ChangeCalculation+Collections.swift,
// ChangeCalculation+Nested.swift, ChangeCalculation+Objects.swift,
// ChangeCalculation+Ordered.swift, ChangeCalculation+Results.swift, ChangeNotification.swift,
// CollectionHandle.swift, CollectionHandle+Nested.swift, HandleErrors.swift, HandleTable.swift,
// NotificationPackage.swift, ResultRows.swift, Results+Objects.swift,
// ResultsDefinition.swift, Session+Observe.swift, Subject.swift,
// TransactionChanges.swift
import Foundation
import Testing
import ToftPlatform
import ToftModel
import ToftStorage
@testable import ToftEngine

/// Keeps the notifications of a handler.
final class Calls {
    private(set) var all: [ChangeNotification] = []

    var handler: NotificationHandler { { [unowned self] in all.append($0) } }
    var count: Int { all.count }
    var last: ChangeNotification? { all.last }
    var changes: [CollectionChange] { all.map(\.collection) }
}

extension ChangeNotification {
    var isInitial: Bool { if case .initial = kind { true } else { false } }
    var isUpdate: Bool { if case .update = kind { true } else { false } }
    var isDeletion: Bool { if case .deleted = kind { true } else { false } }
}

@Suite struct ObservationTests {
    // MARK: When

    @Test func `The first call comes with the next dispatch, and the descriptor says so`() throws {
        let database = try TestDatabase()
        let calls = Calls()
        _ = try database.session.eventDescriptor()
        #expect(database.session.channel?.flag.wait(timeoutMilliseconds: 0) == false)
        let token = try database.people().observe(calls.handler)
        #expect(calls.count == 0)
        #expect(database.session.channel?.flag.wait(timeoutMilliseconds: 0) == true)
        #expect(try database.session.dispatch() == 1)
        #expect(calls.all.map(\.isInitial) == [true])
        #expect(database.session.channel?.flag.wait(timeoutMilliseconds: 0) == false)
        #expect(try database.session.dispatch() == 0)
        token.stop()
    }

    @Test func `The descriptor does not stay readable for what is done another way`() throws {
        let writer = try TestDatabase()
        let watcher = try writer.other()
        let flag = try #require(
            try watcher.session.eventDescriptor() >= 0 ? watcher.session.channel?.flag : nil)
        let calls = Calls()
        try watcher.people().observe(calls.handler).stop()
        #expect(flag.wait(timeoutMilliseconds: 0) == false)  // a token released before its call
        let token = try watcher.people().observe(calls.handler)
        try writer.write { () throws(EngineError) in try writer.addPerson(1) }
        try watcher.session.refresh()
        #expect(calls.all.map(\.isInitial) == [true])
        #expect(flag.wait(timeoutMilliseconds: 0) == false)  // a first call by a refresh
        for age in 2...20 {
            try writer.write { () throws(EngineError) in try writer.addPerson(Int64(age)) }
            #expect(flag.wait(timeoutMilliseconds: 5000) == true)
            if age.isMultiple(of: 2) {
                try watcher.session.refresh()
            } else {
                try watcher.write { () throws(EngineError) in }
            }
            #expect(flag.wait(timeoutMilliseconds: 0) == false)  // a package that was dropped
        }
        try watcher.session.dispatch()
        #expect(calls.changes.last?.insertions == [19])
        token.stop()
    }

    /// In a process of its own, in which nothing else starts threads.
    @Test func `No thread before the first observer, none after the last session`() async {
        await #expect(processExitsWith: .success) {
            let before = threadCount()
            do {
                let database = try TestDatabase()
                guard threadCount() == before else { exit(1) }
                let token = try database.session.observe { _ in }
                guard threadCount() == before + 1 else { exit(2) }
                let other = try database.other()
                let second = try other.session.observe { _ in }
                guard threadCount() == before + 1 else { exit(3) }
                token.stop()
                second.stop()
            }
            exit(threadCount() == before ? 0 : 4)
        }
    }

    @Test
    func
        `Another session's commit makes the descriptor readable, and the dispatch moves and tells`()
        throws
    {
        let writer = try TestDatabase()
        let watcher = try writer.other()
        let calls = Calls()
        let token = try watcher.people().observe(calls.handler)
        try watcher.session.dispatch()
        let version = try watcher.session.version
        try writer.write { () throws(EngineError) in try writer.addPerson(1) }
        #expect(watcher.session.channel?.flag.wait(timeoutMilliseconds: 5000) == true)
        #expect(try watcher.session.version == version)
        #expect(try watcher.people().count == 0)
        try watcher.session.dispatch()
        #expect(try watcher.session.version == writer.session.version)
        #expect(calls.count == 2)
        #expect(calls.last?.collection.insertions == [0])
        #expect(calls.last?.previousVersion == version)
        #expect(try calls.last?.version == writer.session.version)
        token.stop()
    }

    @Test
    func
        `An own commit calls database observers at once, others with a dispatch`()
        throws
    {
        let database = try TestDatabase()
        let (commits, changes) = (Calls(), Calls())
        let tokens = [
            try database.session.observe(commits.handler),
            try database.people().observe(changes.handler),
        ]
        try normalize(database.session)
        #expect(commits.count == 0 && changes.count == 1)
        try database.write { () throws(EngineError) in try database.addPerson(1) }
        #expect(commits.count == 1)
        #expect(changes.count == 1)
        try normalize(database.session)
        #expect(commits.count == 1)
        #expect(changes.count == 2)
        #expect(changes.last?.collection.insertions == [0])
        tokens.forEach { $0.stop() }
    }

    @Test func `Beginning a transaction that moves the session delivers first, inside it`() throws {
        let writer = try TestDatabase()
        let watcher = try writer.other()
        var seen: [(isInitial: Bool, isWriting: Bool, count: Int)] = []
        let people = try watcher.people()
        let session = watcher.session
        let token = try people.observe {
            seen.append(($0.isInitial, session.isWriting, (try? people.count) ?? -1))
        }
        try watcher.session.dispatch()
        try writer.write { () throws(EngineError) in try writer.addPerson(1) }
        try watcher.session.beginWrite()
        #expect(seen.count == 2)
        #expect(seen.last?.isWriting == true)
        #expect(seen.last?.count == 1)
        try watcher.session.cancel()
        try normalize(watcher.session)
        #expect(seen.count == 2)
        token.stop()
    }

    @Test func `A commit may skip observers that were told the session's own commits before`()
        throws
    {
        let database = try TestDatabase()
        let calls = Calls()
        let token = try database.people().observe(calls.handler)
        try database.session.dispatch()
        try database.write { () throws(EngineError) in try database.addPerson(1) }
        #expect(calls.count == 1)
        try database.session.beginWrite(tellsOwnCommits: true)
        #expect(calls.last?.collection.insertions == [0])
        // This commit, which the caller has shown already, is therefore not notified.
        try database.addPerson(2)
        try database.session.commit(skipping: [token])
        try normalize(database.session)
        #expect(calls.count == 2)
        try database.write { () throws(EngineError) in try database.addPerson(3) }
        try normalize(database.session)
        #expect(calls.count == 3 && calls.last?.collection.insertions == [2])
        token.stop()
    }

    @Test func `A commit that skips an observer of everything does not call it`() throws {
        let database = try TestDatabase()
        let (skipped, told) = (Calls(), Calls())
        let tokens = [
            try database.session.observe(skipped.handler),
            try database.session.observe(told.handler),
        ]
        try database.session.beginWrite()
        try database.addPerson(1)
        try database.session.commit(skipping: [tokens[0]])
        try normalize(database.session)
        #expect(skipped.count == 0 && told.count == 1)
        try database.write { () throws(EngineError) in try database.addPerson(2) }
        #expect(skipped.count == 1 && told.count == 2)
        #expect(skipped.last?.previousVersion == told.all[0].version)
        tokens.forEach { $0.stop() }
    }

    @Test func `A first call that fell due within a transaction comes after it`() throws {
        let database = try TestDatabase()
        let calls = Calls()
        let token = try database.people().observe(calls.handler)
        let flag = try #require(database.session.channel).flag
        try database.session.beginWrite()
        #expect(try database.session.dispatch() == 0)
        #expect(!flag.wait(timeoutMilliseconds: 0))
        try database.addPerson(1)
        try database.session.commit()
        #expect(flag.wait(timeoutMilliseconds: 0))
        try database.session.dispatch()
        #expect(calls.count == 1 && calls.last?.isInitial == true)
        token.stop()
    }

    @Test func `A first call waits where a handler has changed something in the transaction`()
        throws
    {
        let writer = try TestDatabase()
        let watcher = try writer.other()
        let calls = Calls()
        let people = try watcher.people()
        let first = try people.observe { notification in
            guard watcher.session.isWriting else { return }
            _ = try? watcher.addPerson(9)
        }
        try watcher.session.dispatch()
        let late = try people.observe(calls.handler)
        try writer.write { () throws(EngineError) in try writer.addPerson(1) }
        try watcher.write {}
        #expect(calls.count == 0)
        try normalize(watcher.session)
        #expect(calls.count == 1 && calls.last?.isInitial == true)
        #expect(try people.count == 2)
        [first, late].forEach { $0.stop() }
    }

    @Test func `What a handler commits makes no call stale: those after it hear of both`() throws {
        let database = try TestDatabase()
        let people = try database.people()
        try database.write { () throws(EngineError) in
            for id in 1...3 as ClosedRange<Int64> { try database.addPerson(id) }
        }
        var mirror: [Int64] = []
        var versions: [(told: Version, stood: Version)] = []
        func follow(_ notification: ChangeNotification) {
            versions.append((notification.version, (try? database.session.version) ?? 0))
            let keys = (try? people.keys()) ?? []
            for index in notification.collection.deletions.reversed() { mirror.remove(at: index) }
            for index in notification.collection.insertions {
                mirror.insert(keys[index], at: index)
            }
            if notification.isInitial { mirror = keys }
        }
        let tokens = [
            try people.observe { notification in
                guard notification.isUpdate, (try? people.count) == 4 else { return }
                _ = try? database.write { () throws(EngineError) in try people.deleteAll() }
            },
            try people.observe(follow),
        ]
        try normalize(database.session)
        #expect(mirror.count == 3)
        try database.write { () throws(EngineError) in try database.addPerson(4) }
        try normalize(database.session)
        #expect(try mirror == people.keys() && mirror.isEmpty)
        #expect(versions.allSatisfy { $0.told == $0.stood })
        tokens.forEach { $0.stop() }
        try database.expectSound()
    }

    @Test func `Several commits come as one call with the net effect`() throws {
        let writer = try TestDatabase()
        let watcher = try writer.other()
        let calls = Calls()
        let token = try watcher.people().observe(calls.handler)
        try watcher.session.refresh()
        for id in 1...3 as ClosedRange<Int64> {
            try writer.write { () throws(EngineError) in try writer.addPerson(id) }
        }
        try writer.write { () throws(EngineError) in try writer.findPerson(2).delete() }
        try watcher.session.refresh()
        #expect(calls.count == 2)
        #expect(calls.last?.collection.insertions == [0, 1])
        try writer.write { () throws(EngineError) in try writer.addPerson(9) }
        try writer.write { () throws(EngineError) in try writer.findPerson(9).delete() }
        try watcher.session.refresh()
        #expect(calls.count == 2)
        token.stop()
    }

    @Test func `A cancelled transaction and one that changes other things are not told`() throws {
        let database = try TestDatabase()
        let calls = Calls()
        let token = try database.people().observe(calls.handler)
        try database.session.refresh()
        try database.session.beginWrite()
        try database.addPerson(1)
        try database.session.cancel()
        try database.write { () throws(EngineError) in try database.session.create(try database.dog)
        }
        try normalize(database.session)
        try database.session.refresh()
        #expect(calls.count == 1)
        token.stop()
    }

    @Test func `In a transaction that has changed something nobody can begin to observe`() throws {
        let database = try TestDatabase()
        try database.session.beginWrite()
        let early = try database.people().observe { _ in }
        try database.addPerson(1)
        #expect(
            code { () throws(EngineError) in _ = try database.people().observe { _ in } }
                == .observeInTransaction)
        try database.session.commit()
        early.stop()
    }

    // MARK: What

    @Test func `An object's observer hears of its own properties and its end, and then no more`()
        throws
    {
        let database = try TestDatabase()
        let (ada, bob) = try database.write { () throws(EngineError) in
            (try database.addPerson(1), try database.addPerson(2))
        }
        let calls = Calls()
        let token = try ada.observe(calls.handler)
        try normalize(database.session)
        #expect(calls.count == 0)
        try database.write { () throws(EngineError) in
            try ada.set(try database.property("boss"), Value.link(bob.ref))
            try ada.list(try database.property("notes")).append(Value.string("x"))
        }
        try database.session.refresh()
        #expect(
            try calls.last?.object.properties
                == [database.property("boss"), database.property("notes")].sorted())
        try database.write { () throws(EngineError) in try database.setName("Bob", of: bob) }
        try database.session.refresh()
        #expect(calls.count == 1)
        try database.write { () throws(EngineError) in try bob.delete() }
        try database.session.refresh()
        #expect(try calls.last?.object.properties == [database.property("boss")])
        try database.write { () throws(EngineError) in try ada.delete() }
        try database.session.refresh()
        #expect(calls.last?.isDeletion == true)
        try database.write { () throws(EngineError) in try database.addPerson(1) }
        try database.session.refresh()
        #expect(calls.count == 3)
        token.stop()
    }

    @Test func `A list whose object is deleted is told so, even when it was empty`() throws {
        let database = try TestDatabase()
        let ada = try database.write { () throws(EngineError) in try database.addPerson(1) }
        let (list, results) = (Calls(), Calls())
        let dogs = try ada.list(try database.property("dogs"))
        let tokens = [try dogs.observe(list.handler), try dogs.results().observe(results.handler)]
        try database.session.refresh()
        try database.write { () throws(EngineError) in try ada.delete() }
        try database.session.refresh()
        #expect(list.last?.isDeletion == true && list.last?.collection.isRootDeleted == true)
        #expect(results.last?.isDeletion == true)
        #expect(
            code { () throws(EngineError) in _ = try dogs.observe { _ in } }
                == .collectionInvalidated)
        tokens.forEach { $0.stop() }
    }

    @Test func `A list whose object is deleted before the first call gets that as its only call`()
        throws
    {
        let database = try TestDatabase()
        let ada = try database.write { () throws(EngineError) in try database.addPerson(1) }
        let calls = Calls()
        let token = try ada.list(try database.property("dogs")).observe(calls.handler)
        try database.write { () throws(EngineError) in try ada.delete() }
        try normalize(database.session)
        try database.write { () throws(EngineError) in try database.addPerson(2) }
        try normalize(database.session)
        #expect(calls.all.map(\.isDeletion) == [true])
        token.stop()
    }

    @Test func `Moves are reported by lists, by their results as deletion and insertion`() throws {
        let database = try TestDatabase()
        let ada = try database.write { () throws(EngineError) in try database.addPerson(1) }
        let notes = try ada.list(try database.property("notes"))
        try database.write { () throws(EngineError) in
            for text in ["a", "b", "c"] { try notes.append(Value.string(text)) }
        }
        let (list, results) = (Calls(), Calls())
        let tokens = [
            try notes.observe(list.handler), try notes.results().observe(results.handler),
        ]
        try database.session.refresh()
        try database.write { () throws(EngineError) in try notes.move(from: 0, to: 2) }
        try database.session.refresh()
        #expect(list.last?.collection.moves == [.init(from: 0, to: 2)])
        #expect(results.last?.collection.moves == [])
        #expect(
            results.last?.collection.deletions == [0] && results.last?.collection.insertions == [2])
        tokens.forEach { $0.stop() }
    }

    @Test func `A sorted list of values follows its elements through moves and edits`() throws {
        let database = try TestDatabase()
        let ada = try database.write { () throws(EngineError) in try database.addPerson(1) }
        let notes = try ada.list(try database.property("notes"))
        try database.write { () throws(EngineError) in
            for text in ["c", "a", "b"] { try notes.append(Value.string(text)) }
        }
        let calls = Calls()
        let token = try notes.results().sorted(by: [("self", true)]).observe(calls.handler)
        try database.session.refresh()
        try database.write { () throws(EngineError) in try notes.move(from: 0, to: 2) }
        try database.session.refresh()
        #expect(calls.count == 1)
        try database.write { () throws(EngineError) in try notes.set(Value.string("d"), at: 0) }
        try database.session.refresh()
        // "a", "b", "c" became "b", "c", "d": the first moved to the end.
        #expect(calls.last?.collection.deletions == [0] && calls.last?.collection.insertions == [2])
        // The list is "d", "b", "c". An element that is set and moved at once is reported as
        // another one.
        try database.write { () throws(EngineError) in
            try notes.set(Value.string("e"), at: 0)
            try notes.move(from: 0, to: 1)
        }
        try database.session.refresh()
        #expect(calls.count == 3)
        #expect(calls.last?.collection.deletions == [2] && calls.last?.collection.insertions == [2])
        token.stop()
    }

    @Test
    func
        `Without records a comparison finds the same, but for equal values and moves`()
        throws
    {
        let writer = try TestDatabase()
        let (ada, dogs) = try writer.write { () throws(EngineError) in
            for id in 1...700 as ClosedRange<Int64> { try writer.addPerson(id) }
            return (
                try writer.findPerson(1),
                try (0..<4).map { _ throws(EngineError) in try writer.session.create(try writer.dog)
                }
            )
        }
        let list = try ada.list(try writer.property("dogs"))
        try writer.write { () throws(EngineError) in
            for dog in dogs.dropLast() { try list.append(Value.link(dog.ref)) }
        }
        let old = try writer.other().session.view
        try writer.write { () throws(EngineError) in
            try writer.findPerson(300).delete()
            try writer.addPerson(1000)
            try writer.setName("new", of: try writer.findPerson(600))
            try list.move(from: 0, to: 2)
            try list.append(Value.link(dogs[3].ref))
        }
        let new = writer.session.view
        let compared = try TransactionChanges(comparing: old, with: new)
        let people = try #require(try compared.rows[writer.person])
        #expect((people.inserted.count, people.erased.count, people.modified.count) == (1, 1, 2))
        #expect(try compared.rows[writer.dog] == nil || compared.rows[writer.dog]?.isEmpty == true)
        var calculation = try ChangeCalculation(comparing: old, with: new)
        let change = try calculation.change(of: list.ref, watching: nil)
        #expect((change.deletions.count, change.insertions.count) == (1, 2))
        #expect(change.moves.isEmpty)
        #expect(
            try Set(calculation.change(of: ada.ref, watching: nil).properties) == [
                writer.property("dogs")
            ])
        var next = ObservedVersion(view: new)
        let all = try calculation.change(
            of: ResultsDefinition(.all(writer.person), classID: writer.person), watching: nil,
            basis: ObservedVersion(view: old), next: &next)
        #expect(all.deletions == [299] && all.insertions == [699])
        #expect(all.modifications == [0, 599] && all.modificationsNew == [0, 598])
    }

    // MARK: Inside handlers

    @Test func `A handler may observe, stop itself and others, refresh in vain, and write`() throws
    {
        let database = try TestDatabase()
        let (first, second, late) = (Calls(), Calls(), Calls())
        var tokens: [Token] = []
        var refreshed: [Bool] = []
        let people = try database.people()
        tokens.append(
            try people.observe { notification in
                first.handler(notification)
                guard notification.isInitial else { return }
                refreshed.append((try? database.session.refresh()) ?? true)
                #expect(
                    code { () throws(EngineError) in try database.session.dispatch() }
                        == .insideCallback)
                tokens[1].stop()
                if let token = try? people.observe(late.handler) { tokens.append(token) }
                _ = try? database.write { () throws(EngineError) in try database.addPerson(1) }
            })
        tokens.append(try people.observe(second.handler))
        try normalize(database.session)
        #expect(refreshed == [false])
        #expect(second.count == 0)
        #expect(first.count == 2 && first.last?.collection.insertions == [0])
        #expect(late.count == 1 && late.last?.isInitial == true)
        tokens.forEach { $0.stop() }
        try database.expectSound()
    }

    @Test func `A handler that commits does not call itself without end`() throws {
        let database = try TestDatabase()
        var calls = 0
        let token = try database.session.observe { _ in
            calls += 1
            if calls < 5 {
                _ = try? database.write { () throws(EngineError) in
                    try database.addPerson(Int64(calls))
                }
            }
        }
        try database.write { () throws(EngineError) in try database.addPerson(100) }
        #expect(calls == 1)
        try normalize(database.session)
        #expect(calls == 5)
        #expect(try database.people().count == 5)
        token.stop()
    }

    @Test func `A handler may close the session: those after it are not called`() throws {
        let database = try TestDatabase()
        let calls = Calls()
        let tokens = [
            try database.people().observe { _ in
                #expect(code { () throws(EngineError) in try database.session.close() } == nil)
            },
            try database.people().observe(calls.handler),
        ]
        #expect(try database.session.dispatch() == 1)
        #expect(calls.count == 0)
        #expect(code { () throws(EngineError) in try database.session.dispatch() } == .closed)
        tokens.forEach { $0.stop() }
    }

    @Test func `The transaction that is being begun can't be ended by a handler`() throws {
        let writer = try TestDatabase()
        let watcher = try writer.other()
        var codes: [ErrorCode?] = []
        let token = try watcher.session.observe { _ in
            codes = [
                code { () throws(EngineError) in try watcher.session.commit() },
                code { () throws(EngineError) in try watcher.session.cancel() },
                code { () throws(EngineError) in try watcher.session.beginWrite() },
            ]
        }
        try writer.write { () throws(EngineError) in try writer.addPerson(1) }
        try watcher.session.beginWrite()
        #expect(codes == [.insideCallback, .insideCallback, .alreadyInTransaction])
        try watcher.session.cancel()
        token.stop()
    }

    // MARK: Tokens

    @Test func `A stopped token is not called, even for what was already worked out`() throws {
        let writer = try TestDatabase()
        let watcher = try writer.other()
        let calls = Calls()
        let token = try watcher.people().observe(calls.handler)
        try watcher.session.dispatch()
        try writer.write { () throws(EngineError) in try writer.addPerson(1) }
        #expect(watcher.session.channel?.flag.wait(timeoutMilliseconds: 5000) == true)
        try onAnotherThread { token.stop() }
        try watcher.session.dispatch()
        #expect(calls.count == 1)
    }

    @Test func `Dropping the token stops, and lets the handler's things go once`() throws {
        final class Guarded {}
        let database = try TestDatabase()
        weak var held: Guarded?
        var token: Token?
        do {
            let guarded = Guarded()
            held = guarded
            token = try database.people().observe { _ in withExtendedLifetime(guarded) {} }
        }
        #expect(held != nil)
        token = nil
        #expect(held == nil)
        #expect(try database.session.dispatch() == 0)
        withExtendedLifetime(token) {}
    }
}

/// Threads of this process.
private func threadCount() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? -1
}
