// Tests: Durability.swift
import Foundation
import Glibc
import RealmSwift
import Testing

@testable import Toft

@Suite("Durability")
struct DurabilityTests {
    /// Puts a dog into the realm. Returns the token to wait with until it is durable.
    fileprivate static func put(_ name: String, into realm: Realm, _ durability: Realm.Durability)
        throws -> UInt64
    {
        try realm.write(durability: durability) { realm.add(Dog(name)) }
        return try TestRealm.deferredSize(realm)
    }

    @Test
    func `A deferred transaction becomes durable with a flush, or with one that waits`() throws {
        try TestRealm.withFile { realm, _ in
            // Deferred commits become durable within a second: more often than not this is quicker.
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

    @Test
    func `Closing reports that the disk failed, and the realm is closed all the same`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("test.realm")
            let configuration = Realm.Configuration(fileURL: url, objectTypes: nil)
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add(Dog("Rex")) }
            try realm.write(durability: .deferred) { realm.add(Dog("Max")) }
            try Self.breakDescriptors(of: url.resolvingSymlinksInPath().path)
            // Deferred commits may have become durable in the background.
            let error = #expect(throws: Realm.Error.self) { try realm.close() }
            #expect([.commitOutcomeUnknown, .fileAccess].contains(error?.code))
            #expect(throws: Realm.Error.self) { try realm.flush() }
            #expect(throws: Realm.Error.self) { try realm.close() }
            let again = try Realm(configuration: configuration)
            #expect([1, 2].contains(again.objects(Dog.self).count))
            try TestRealm.check(again)
            try again.close()
        }
    }

    /// Puts a pipe behind each descriptor that may write a file: nothing reaches a disk through it.
    private static func breakDescriptors(of path: String) throws {
        var pipes: [Int32] = [0, 0]
        try #require(pipe(&pipes) == 0)
        defer { pipes.forEach { _ = Glibc.close($0) } }
        var broken = 0
        for descriptor in Int32(3)..<1_000
        where fcntl(descriptor, F_GETFL) & O_ACCMODE == O_RDWR {
            let link = "/proc/self/fd/\(descriptor)"
            let name = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
            guard name == path else { continue }
            dup2(pipes[1], descriptor)
            broken += 1
        }
        try #require(broken > 0)
    }

    @Test
    func `A realm that was closed can be opened again, and a frozen one is let go instead`() throws
    {
        try TestRealm.withFile { realm, url in
            try realm.write { realm.add(Dog("Rex")) }
            let frozen = realm.freeze()
            #expect(throws: Realm.Error.self) { try frozen.close() }
            let configuration = Realm.Configuration(fileURL: url, objectTypes: nil)
            let other = try Realm(configuration: configuration)
            #expect(other.objects(Dog.self).count == 1)
            #expect(frozen.objects(Dog.self).count == 1)
        }
    }

    @Test
    func `A write that is asked for is committed with its durability`() throws {
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

    @Test
    func `Transactions spelled as in Realm are as they were: on disk when they return`() throws {
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

    @Test
    func `A flush in a write transaction is an error, and so is one of who may only read`() throws {
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

    @Test
    func `What a process defers is seen by another at once, and stays when the process is killed`()
        async throws
    {
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
