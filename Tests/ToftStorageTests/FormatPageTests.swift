// Tests: Checksum.swift, FreeSpaceLayout.swift, LockFileLayout.swift, MetaLayout.swift,
// PageLayout.swift, RecordLayout.swift
import Foundation
import Testing
import ToftTestKit

import ToftPlatform
@testable import ToftStorage

/// The format page draws the bytes for people; the constants draw them for the compiler. They must
/// be the same bytes.
@Suite struct FormatPageTests {
    /// A field of a table; `size`: its bytes, nil if that varies.
    struct Field {
        var name: String
        var offset: Int
        var size: Int?
    }

    static func page() throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try String(
            contentsOf: root.appendingPathComponent("Sources/Toft/Toft.docc/FileFormat.md"),
            encoding: .utf8)
    }

    /// The tables of the page, by their titles.
    static func tables() throws -> [String: [Field]] {
        var tables: [String: [Field]] = [:]
        var title: String?
        for line in try page().split(separator: "\n", omittingEmptySubsequences: false) {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard line.hasPrefix("|") else {
                title = nil
                continue
            }
            if cells.count == 3, cells[1] == "offset" {
                title = cells[0]
            } else if let title, cells.count >= 2, let offset = Int(cells[1]) {
                let size = cells.count > 2 ? Int(cells[2]) : nil
                tables[title, default: []].append(Field(name: cells[0], offset: offset, size: size))
            }
        }
        return tables
    }

    /// The fields of a table are at these offsets, with the unused ones between them, and end at
    /// `end`; nil: the last one is as long as necessary.
    static func expect(_ title: String, _ offsets: [Int], end: Int?) throws {
        let fields = try #require(try tables()[title], "the page has no table called \(title)")
        let used = fields.filter { $0.name != "unused" }
        #expect(used.map(\.offset) == offsets, "\(title): \(used.map(\.name))")
        for (field, next) in zip(fields, fields.dropFirst()) {
            #expect(
                field.size.map { field.offset + $0 } == next.offset,
                "\(title): after \(field.name) comes \(next.name)")
        }
        let last = try #require(fields.last)
        #expect(last.size.map { last.offset + $0 } == end, "\(title): \(last.name)")
    }

    @Test func `The page names the version of the format`() throws {
        #expect(try Self.page().contains("\nFormat version \(MetaLayout.currentFormat). "))
    }

    @Test func `The tables of the page are the constants of the code`() throws {
        try Self.expect(
            "Extent header",
            [
                ExtentHeader.type, ExtentHeader.encoding, ExtentHeader.flags,
                ExtentHeader.pageCount, ExtentHeader.page, ExtentHeader.birth,
                ExtentHeader.payloadLength, ExtentHeader.payloadOffset,
            ], end: ExtentHeader.size)
        #expect(ExtentHeader.size == 32)
        try Self.expect(
            "Meta",
            [
                MetaLayout.magic, MetaLayout.formatVersion, MetaLayout.pageSize,
                MetaLayout.compatibleFeatures, MetaLayout.incompatibleFeatures,
                MetaLayout.databaseID, MetaLayout.replicaID, MetaLayout.replicaCounter,
                MetaLayout.version, MetaLayout.root, MetaLayout.pageCount,
                MetaLayout.flags, MetaLayout.device, MetaLayout.logSalt, MetaLayout.logBase,
                MetaLayout.logPosition, MetaLayout.logSequence,
                MetaLayout.logSegmentCount, MetaLayout.cipher, MetaLayout.keyCheck,
                MetaLayout.keySalt, MetaLayout.logHash, MetaLayout.spare, MetaLayout.logSegments,
                MetaLayout.zeros, MetaLayout.authentication, MetaLayout.checksum,
            ], end: Page.size)
        try Self.expect(
            "Log frame",
            LogLayout.fields.filter { $0.name != "magic" }.reduce(into: [LogLayout.magic]) {
                $0.append($1.offset)
            }, end: nil)
        try Self.expect(
            "Root",
            [
                RootLayout.version, RootLayout.previousVersion, RootLayout.catalog,
                RootLayout.directory, RootLayout.batchList,
                RootLayout.nextTreeID, RootLayout.pageCount, RootLayout.recordBytes,
                RootLayout.flags, RootLayout.spare,
                RootLayout.runCount, RootLayout.recordLength, RootLayout.tail,
            ], end: nil)
        try Self.expect(
            "Region entry", [RegionEntry.bitmap, RegionEntry.freePages, RegionEntry.reserved],
            end: RegionEntry.size)
        try Self.expect(
            "Freed run",
            [
                FreedRunLayout.page, FreedRunLayout.count, FreedRunLayout.birth,
                FreedRunLayout.death,
            ], end: FreedRunLayout.size)
        try Self.expect(
            "Batch reference",
            [
                FreedBatchLayout.ref, FreedBatchLayout.maxBirth, FreedBatchLayout.minDeath,
                FreedBatchLayout.firstPin, FreedBatchLayout.lastPin, FreedBatchLayout.pinCount,
            ], end: FreedBatchLayout.size)
        try Self.expect(
            "Record",
            [
                RecordLayout.layout, RecordLayout.flags, RecordLayout.origin,
                RecordLayout.origin + 1, RecordLayout.version,
                RecordLayout.previousVersion, RecordLayout.hlc, RecordLayout.schemaVersion,
                RecordLayout.recordBytes, RecordLayout.effects,
            ], end: nil)
    }

    @Test func `The page draws the lock file as it is`() throws {
        try Self.expect(
            "Lock file",
            [
                LockFileLayout.magic, LockFileLayout.layoutVersion, LockFileLayout.device,
                LockFileLayout.state, LockFileLayout.stamp, LockFileLayout.published,
                LockFileLayout.signal, LockFileLayout.writerLock, LockFileLayout.checkpointLock,
                LockFileLayout.claimedVersion, LockFileLayout.durableVersion,
                LockFileLayout.poison, LockFileLayout.pinEnd, LockFileLayout.checkpoint,
                LockFileLayout.logTail, LockFileLayout.flushedLog, LockFileLayout.backlogEffects,
                LockFileLayout.backlogBytes, LockFileLayout.logMap, LockFileLayout.logBase,
                LockFileLayout.ring, LockFileLayout.logSegments, LockFileLayout.processes,
                LockFileLayout.pins,
            ], end: LockFileLayout.size)
    }

    @Test func `The reference of the page is the one that is written`() throws {
        let ref = Ref(page: 1, birth: 2, checksum: 3, checksumHigh: 4, pageCount: 5)
        var bytes = [UInt8](repeating: 0xFF, count: Ref.size)
        bytes.withUnsafeMutableBytes { ref.encode(to: $0.baseAddress!) }
        let rows = try #require(try Self.tables()["Reference"])
        #expect(rows.map { Int(bytes[$0.offset]) } == [1, 2, 3, 4, 5, 0])
        #expect(bytes.withUnsafeBytes { Ref(decoding: $0.baseAddress!) } == ref)
    }

    @Test func `An XXH64 of known texts is the known one`() {
        func hash(_ text: String) -> UInt64 { Array(text.utf8).withUnsafeBytes { Checksum.of($0) } }
        #expect(hash("") == 0xEF46_DB37_51D8_E999)
        #expect(hash("a") == 0xD24E_C4F1_A98C_6E5B)
        #expect(hash("abc") == 0x44BC_2CF5_AD77_0999)
        #expect(hash("The quick brown fox jumps over the lazy dog") == 0x0B24_2D36_1FDA_71BC)
    }

    @Test func `A file of another format says which`() throws {
        let file = MemoryFile()
        try Store.format(file)
        var content = try file.content()
        content.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(
                of: UInt32(1).littleEndian, toByteOffset: MetaLayout.formatVersion, as: UInt32.self)
            let checksum = Checksum.of(
                UnsafeRawBufferPointer(rebasing: bytes[..<MetaLayout.checksum]))
            bytes.storeBytes(
                of: checksum.littleEndian, toByteOffset: MetaLayout.checksum, as: UInt64.self)
        }
        #expect {
            try Store.open(
                on: try MemoryFile(content: content), coordinator: try Coordinator.inMemory())
        } throws: { error in
            guard case StorageError.unsupportedFormat(_, let found, _) = error else { return false }
            return found == 1
        }
    }
}
