import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Durability")
struct DurabilityTests {
    /// Puts a dog into the realm. Gives what then waits to become durable.
    fileprivate static func put(_ name: String, into realm: Realm, _ durability: Realm.Durability)
        throws -> UInt64
    {
        try realm.write(durability: durability) { realm.add(Dog(name)) }
        return try TestRealm.deferredSize(realm)
    }

    @Test(
        """
        A deferred transaction waits for the disk until a flush, or a transaction that does not \
        wait
        """
    )
    func deferred() throws {
        try TestRealm.withFile { realm, _ in
            // What waits becomes durable within a second: more often than not this is quicker.
            func deferred() throws -> Bool {
                try (0..<5).contains { try Self.put("\($0)", into: realm, .deferred) > 0 }
            }
            #expect(try deferred())
            try realm.flush()
            #expect(try TestRealm.deferredSize(realm) == 0)
            for durability in [Realm.Durability.immediate, .group] {
                #expect(try deferred())
                #expect(try Self.put("Rex", into: realm, durability) == 0)
            }
            realm.beginWrite()
            realm.add(Dog("Max"))
            try realm.commitWrite(durability: .deferred)
            #expect(realm.objects(Dog.self).where { $0.name == "Max" }.count == 1)
        }
    }

    @Test("A write that is asked for is committed with its durability")
    func asked() throws {
        try TestRealm.withFolder { folder in
            let configuration = Realm.Configuration(
                fileURL: folder.appendingPathComponent("test.realm"))
            try LoopThread.run { loop in
                let realm = try Realm(configuration: configuration)
                let waiting = Box<[UInt64]>([])
                try loop.inside {
                    for number in 0..<5 {
                        realm.writeAsync(durability: .deferred) {
                            realm.add(Dog("\(number)"))
                        } onComplete: { error in
                            #expect(error == nil)
                            waiting.value.append((try? TestRealm.deferredSize(realm)) ?? 0)
                        }
                    }
                }
                loop.wait { waiting.value.count == 5 }
                // One of them, at least, was looked at before it became durable by itself.
                #expect((waiting.value.max() ?? 0) > 0)
                try TestRealm.check(realm)
            }
        }
    }

    @Test("Transactions spelled as in Realm are as they were: on disk when they return")
    func asInRealm() throws {
        try TestRealm.withFolder { folder in
            let configuration = Realm.Configuration(
                fileURL: folder.appendingPathComponent("test.realm"))
            try LoopThread.run { loop in
                try loop.inside {
                    let realm = try Realm(configuration: configuration)
                    let token = realm.objects(Dog.self).observe { _ in }
                    try realm.write { realm.add(Dog("Rex")) }
                    try realm.write(withoutNotifying: [token]) { realm.add(Dog("Max")) }
                    realm.beginWrite()
                    realm.add(Dog("Ace"))
                    try realm.commitWrite(withoutNotifying: [token])
                    #expect(try TestRealm.deferredSize(realm) == 0)
                    token.invalidate()
                    try TestRealm.check(realm)
                }
            }
        }
    }

    @Test("A flush in a write transaction is an error, and so is one of who may only read")
    func refused() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("test.realm")
            do {
                let realm = try Realm(fileURL: url)
                realm.beginWrite()
                expectError(.alreadyInTransaction) { try realm.flush() }
                realm.cancelWrite()
            }
            let reader = try Realm(configuration: Realm.Configuration(fileURL: url, readOnly: true))
            expectError(.readOnly) { try reader.flush() }
            try TestRealm.check(reader)
        }
    }

    @Test("What a process defers is seen by another at once, and stays when the process is killed")
    func killed() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "toft-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("test.realm").path
        let other = OtherProcess(path)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let realm = try Realm(fileURL: URL(fileURLWithPath: path))
            for number in 0..<10 { _ = try Self.put("\(number)", into: realm, .deferred) }
            while realm.objects(Dog.self).count == 10 {
                usleep(1000)
                realm.refresh()
            }
            _ = try Self.put("the last", into: realm, .deferred)
            kill(getpid(), SIGKILL)
        }
        #expect(other.hasSeenAll())
        // Nobody has the file open now.
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let realm = try Realm(fileURL: URL(fileURLWithPath: path))
            for number in 10..<20 { _ = try Self.put("\(number)", into: realm, .deferred) }
            kill(getpid(), SIGKILL)
        }
        let count = try elsewhere {
            let realm = try Realm(fileURL: URL(fileURLWithPath: path))
            try realm.flush()
            try TestRealm.check(realm)
            return realm.objects(Dog.self).count
        }
        #expect(count == 22)
    }

    /// For the process that is killed, this one is the other: it answers when it has seen ten dogs,
    /// and ends when there are twelve.
    private final class OtherProcess: Sendable {
        private let hasEnded = DispatchSemaphore(value: 0)
        private let count = Shared(0)

        init(_ path: String) {
            Thread { [self] in
                defer { hasEnded.signal() }
                guard let realm = try? Realm(fileURL: URL(fileURLWithPath: path)) else { return }
                wait(for: 10, in: realm)
                _ = try? DurabilityTests.put("seen", into: realm, .deferred)
                wait(for: 12, in: realm)
            }.start()
        }

        private func wait(for wanted: Int, in realm: Realm) {
            let end = Date(timeIntervalSinceNow: 60)
            while realm.objects(Dog.self).count < wanted, Date() < end {
                usleep(1000)
                realm.refresh()
            }
            count.change { $0 = realm.objects(Dog.self).count }
        }

        func hasSeenAll() -> Bool {
            hasEnded.wait()
            return count.current == 12
        }
    }
}
