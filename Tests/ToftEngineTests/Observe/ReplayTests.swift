// Tests: Replay.swift, PlatformThread.swift
import Synchronization
import Testing
import ToftModel
import ToftPlatform
import ToftStorage
import ToftTestKit
@testable import ToftEngine

/// A follower of the change sets has the present content, whatever others commit and however often
/// the follower reads.
@Suite struct ReplayTests {
    private static let queries = [
        "age > 20", "age > 10 AND boss.age < 30", "ANY dogs.name == 'd3'",
        "TRUEPREDICATE SORT(age DESC, name ASC)", "age != null SORT(boss.name ASC)",
        "dogs.@count > 0 SORT(name ASC) LIMIT(5)", "TRUEPREDICATE DISTINCT(name)",
        "@links.@count > 0", "name BEGINSWITH 'n1' OR notes.@count > 1",
        "SUBQUERY(reports, $r, $r.age > 10).@count > 0",
    ]

    /// Everything of a database that can be followed.
    private static func followers(in database: TestDatabase) throws(EngineError) -> [Follower] {
        let name = try database.property("name")
        var followers = [try Follower.following(try database.people(), name)]
        let people = try database.people()
        for query in queries { followers.append(try .following(try people.filter(query), name)) }
        for index in 0..<min(3, try people.count) {
            let object = try people.object(at: index)
            followers.append(try .following(try object.list(try database.property("notes"))))
            followers.append(try .following(try object.list(try database.property("dogs"))))
            followers.append(
                try .following(
                    try object.list(try database.property("dogs")).results(),
                    try database.property("name", of: "Dog")))
            followers.append(
                try .following(try object.linkingObjects(try database.property("reports")), name))
        }
        return followers
    }

    private static func expectFaithful(_ followers: [Follower], _ seed: Seed) throws {
        for follower in followers {
            #expect(follower.difference == nil, "\(seed)")
            #expect(try follower.isUpToDate(), "\(seed)")
            #expect(follower.calls > 0)
        }
    }

    private static func prepared(_ seed: Seed) throws(EngineError) -> TestDatabase {
        let database = try TestDatabase()
        var commits = RandomCommits(database, seed, lane: 99)
        for _ in 0..<20 { try commits.commit() }
        return database
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>) func `In one thread, refreshing now and then`(
        number: UInt64
    ) throws {
        var seed = Seed(number)
        let database = try Self.prepared(seed)
        let watcher = try database.other()
        let followers = try Self.followers(in: watcher)
        try watcher.session.refresh()
        var commits = RandomCommits(database, Seed(seed.next()), lane: 1)
        for _ in 0..<60 {
            try commits.commit()
            if seed.chance(30) { try watcher.session.refresh() }
        }
        try watcher.session.refresh()
        try Self.expectFaithful(followers, seed)
        try database.expectSound()
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>) func `A session that writes and watches itself`(
        number: UInt64
    ) throws {
        var seed = Seed(number)
        let database = try Self.prepared(seed)
        let followers = try Self.followers(in: database)
        var commits = RandomCommits(database, Seed(seed.next()), lane: 1)
        for _ in 0..<60 {
            if seed.chance(50) { try database.session.dispatch() }
            try commits.commit()
        }
        try normalize(database.session)
        try Self.expectFaithful(followers, seed)
        try database.expectSound()
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `Writers on two threads, watchers on three that dispatch`(number: UInt64) throws {
        let seed = Seed(number)
        let database = try Self.prepared(seed)
        let done = Flag()
        let name = database.name
        let watchers = try (0..<3).map { _ in
            try Worker {
                let watcher = try TestDatabase(name)
                let followers = try Self.followers(in: watcher)
                while !done.isSet {
                    _ = watcher.session.channel?.flag.wait(timeoutMilliseconds: 20)
                    try watcher.session.dispatch()
                }
                try normalize(watcher.session)
                try Self.expectFaithful(followers, seed)
            }
        }
        let writers = try (0..<2).map { lane in
            try Worker {
                let database = try TestDatabase(name)
                var commits = RandomCommits(database, Seed(number * 100 + UInt64(lane)), lane: lane)
                let followers = try Self.followers(in: database)
                for _ in 0..<150 {
                    try commits.commit()
                    if commits.seed.chance(30) { try database.session.dispatch() }
                }
                try normalize(database.session)
                try Self.expectFaithful(followers, seed)
            }
        }
        writers.forEach { $0.join() }
        done.set()
        watchers.forEach { $0.join() }
        try database.expectSound()
    }

    @Test func `Tokens let go on other threads, while commits and dispatches go on, end quietly`()
        throws
    {
        let database = try Self.prepared(Seed(5))
        let name = database.name
        let done = Flag()
        let tokens = Mutex<[Token]>([])
        let writer = try Worker {
            let database = try TestDatabase(name)
            var commits = RandomCommits(database, Seed(6), lane: 1)
            for _ in 0..<200 { try commits.commit() }
            done.set()
        }
        let watcher = try Worker {
            let watcher = try TestDatabase(name)
            let calls = Counter()
            while !done.isSet {
                let made = [
                    try watcher.people().observe { _ in calls.add() },
                    try watcher.session.observe { _ in calls.add() },
                ]
                tokens.withLock { $0 += made }
                try watcher.session.dispatch()
            }
            try normalize(watcher.session)
            #expect(calls.value > 0)
        }
        let stopper = try Worker {
            while !done.isSet {
                let token = tokens.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                token?.stop()
            }
        }
        [writer, watcher, stopper].forEach { $0.join() }
        tokens.withLock { $0 = [] }
        try database.expectSound()
    }

    @Test func `Sessions opened, observed and closed at once on many threads`() throws {
        let database = try Self.prepared(Seed(7))
        let name = database.name
        let workers = try (0..<4).map { lane in
            try Worker {
                for round in 0..<15 {
                    let session = try TestDatabase(name)
                    let followers = try Self.followers(in: session)
                    var commits = RandomCommits(
                        session, Seed(UInt64(lane * 1000 + round)), lane: lane)
                    for _ in 0..<3 { try commits.commit() }
                    try session.session.dispatch()
                    for follower in followers { #expect(follower.difference == nil) }
                    if round % 2 == 0 { try session.session.close() }
                }
            }
        }
        workers.forEach { $0.join() }
        try database.expectSound()
    }
}

/// A thread of a test; an error of its body is an issue.
struct Worker {
    private let thread: PlatformThread

    init(_ body: @escaping @Sendable () throws -> Void) throws {
        thread = try PlatformThread(name: "test") {
            do { try body() } catch { Issue.record(error) }
        }
    }

    func join() {
        thread.join()
    }
}

/// Something that one thread sets and others look at.
final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

/// Counts from any thread.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.add(1, ordering: .relaxed) }
}
