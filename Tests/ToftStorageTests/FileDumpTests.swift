// Tests: FileDump.swift
import Foundation
import Testing
import ToftPlatform
import ToftTestKit

@testable import ToftStorage

/// The pages of a file, read without opening it.
@Suite struct FileDumpTests {
    private static func content(_ directory: String) throws -> [UInt8] {
        let path = directory + "/whole.toft"
        let store = try Store.open(StoreConfiguration(location: .file(path: path)))
        let transaction = try store.beginWrite()
        let tree = try transaction.createOrderedTree()
        let table = try transaction.createTable(columns: [])
        for key in 0..<2_000 {
            try withUnsafeBytes(of: key.bigEndian) { key throws in
                try transaction.treePut(tree, key, key, derived: false)
            }
            try transaction.rowInsert(table, Int64(key), derived: false)
        }
        _ = try transaction.commit()
        // Unclean, with a commit in the log.
        let second = try store.beginWrite()
        try [UInt8(1)].withUnsafeBytes { key throws in
            try second.treePut(tree, key, key, derived: false)
        }
        _ = try second.commit()
        return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    @Test func `A file that is open is shown with its log`() throws {
        try withTemporaryDirectory { directory throws in
            let path = directory + "/copy.toft"
            try Data(try Self.content(directory)).write(to: URL(fileURLWithPath: path))
            let dump = try FileDump.read(path)
            #expect(dump.problems == [])
            #expect(dump.trees.contains { $0.kind == .ordered && $0.count >= 2_000 })
            #expect(dump.trees.contains { $0.kind == .table && $0.count == 2_000 })
            #expect(dump.loggedVersions.count == 1)
            let known = dump.use.reduce(0) { $0 + $1.pages } + dump.emptyPages + dump.otherPages
            #expect(known == dump.byteCount / UInt64(Page.size) - Page.firstData.rawValue)
        }
    }

    @Test func `A thousand damaged files are shown, and nothing traps`() throws {
        try withTemporaryDirectory { directory throws in
            let whole = try Self.content(directory)
            let path = directory + "/damaged.toft"
            var seed = Seed.random()
            print("Damaged files: \(seed)")
            var damaged = 0
            for _ in 0..<1_000 {
                var content = whole
                for _ in 0..<[1, 4, 40][seed.below(3)] {
                    let page = seed.chance(50) ? seed.below(6) : seed.below(content.count / 4_096)
                    let at = page * 4_096 + seed.below(seed.chance(50) ? 96 : 4_096)
                    let count = min(content.count - at, 1 + seed.below(16))
                    content.replaceSubrange(at..<(at + count), with: seed.bytes(count))
                }
                if seed.chance(20) { content.removeLast(seed.below(content.count)) }
                try Data(content).write(to: URL(fileURLWithPath: path))
                let dump = try FileDump.read(path)
                if !dump.problems.isEmpty { damaged += 1 }
            }
            #expect(damaged > 100)
        }
    }
}
