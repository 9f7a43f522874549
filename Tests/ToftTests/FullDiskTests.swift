// Tests: RealmCollection+Exchange.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

/// A disk of a few megabytes: a file system in memory.
private enum SmallDisk {
    /// Whether this process may mount one.
    static let isAllowed: Bool = {
        var isMounted = false
        try? with(megabytes: 1) { _, _ in isMounted = true }
        return isMounted
    }()

    /// Runs a body with the disk and a function that gives it another size.
    static func with(megabytes: Int, _ body: (URL, (Int) throws -> Void) throws -> Void) throws {
        try TestRealm.withFolder { folder in
            try mount(["-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", folder.path])
            defer { try? run("umount", ["-l", folder.path]) }
            try body(folder) { try mount(["-o", "remount,size=\($0)m", folder.path]) }
        }
    }

    private static func mount(_ arguments: [String]) throws { try run("mount", arguments) }

    private static func run(_ command: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [command] + arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}

@Suite("A full disk")
struct FullDiskTests {
    @Test(.enabled(if: SmallDisk.isAllowed, "needs root, to mount"))
    func
        `A write that a full disk stops is an error, changes nothing, and works later`()
        throws
    {
        try SmallDisk.with(megabytes: 3) { disk, resize in
            let configuration = Realm.Configuration(
                fileURL: disk.appendingPathComponent("full.realm"), objectTypes: [Hidden.self])
            let realm = try Realm(configuration: configuration)
            let text = String(repeating: "x", count: 200)
            func add() throws {
                try realm.write {
                    for _ in 0..<500 { realm.add(Hidden(value: ["text": text])) }
                }
            }
            var count = 0
            let error = #expect(throws: Realm.Error.self) {
                while count < 100_000 {
                    try add()
                    count += 500
                }
            }
            #expect(error?.code == .diskFull)
            #expect(count > 0 && realm.objects(Hidden.self).count == count)
            #expect(!realm.isInWriteTransaction)
            try TestRealm.check(realm)
            try resize(30)
            try add()
            #expect(realm.objects(Hidden.self).count == count + 500)
            try TestRealm.check(realm)
        }
    }

    @Test(.enabled(if: SmallDisk.isAllowed, "needs root, to mount"))
    func `A full disk ends the writing of objects as text, and what was there stays`() throws {
        try SmallDisk.with(megabytes: 1) { disk, resize in
            try TestRealm.with([Hidden.self]) { realm in
                let text = String(repeating: "x", count: 200)
                try realm.write {
                    for _ in 0..<10_000 { realm.add(Hidden(value: ["text": text])) }
                }
                let all = realm.objects(Hidden.self), before = Data("before".utf8)
                let writers: [(URL) throws -> Int] = [
                    { try all.writeJSONLines(to: $0) }, { try all.writeCSV(to: $0) },
                ]
                let url = disk.appendingPathComponent("objects")
                for write in writers {
                    try resize(1)
                    try before.write(to: url)
                    let error = #expect(throws: Realm.Error.self) { try write(url) }
                    #expect(error?.code == .diskFull)
                    #expect(try Data(contentsOf: url) == before)
                    #expect(
                        try FileManager.default.contentsOfDirectory(atPath: disk.path)
                            == ["objects"])
                    try resize(10)
                    #expect(try write(url) == 10_000)
                    try FileManager.default.removeItem(at: url)
                }
            }
        }
    }
}
