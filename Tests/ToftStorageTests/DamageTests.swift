// Tests: FileIdentity.swift, LogFrame.swift
import Testing
import ToftTestKit
@testable import ToftPlatform
@testable import ToftStorage

/// Files with right checksums and a wrong structure: each of these once ended the process, or was
/// believed.
struct DamageTests {
    /// A closed database with one tree of some height, one table and freed runs.
    private func image() throws -> [UInt8] {
        let file = WrappedFile(MemoryFile(name: "hostile"))
        try Store.format(file)
        try fill(try Store.open(on: file, coordinator: try Coordinator.inMemory()))
        return try file.content()
    }

    private func fill(_ store: Store) throws {
        for round in UInt8(0)..<3 {
            let transaction = try store.beginWrite()
            let tree = round == 0 ? try transaction.createOrderedTree() : 16
            for key in UInt8(0)..<200 {
                try [key].withUnsafeBytes { key throws in
                    try [UInt8](repeating: round, count: 100).withUnsafeBytes { value throws in
                        try transaction.treePut(tree, key, value, derived: false)
                    }
                }
            }
            _ = try transaction.commit()
        }
    }

    /// Changes the image, seals it, and uses it: opening, the check, a transaction, another
    /// opening.
    private func use(_ change: (inout [UInt8], ImageMap) -> Void) throws -> [String] {
        var image = try image()
        let map = try ImageMap(of: image)
        change(&image, map)
        map.seal(&image)
        let identity = FileIdentity(
            device: Image.word(image, map.meta * 4_096 + 128),
            inode: Image.word(image, map.meta * 4_096 + 136))
        let file = WrappedFile(
            try GuardFile(image, identity: identity))
        var findings: [String] = []
        for _ in 0..<2 {
            do {
                let store = try Store.open(on: file, coordinator: try Coordinator.inMemory())
                findings += try store.check().problems
                try fill(store)
            } catch let error as StorageError {
                findings.append("\(error)")
            }
        }
        return findings
    }

    @Test
    func `A sound image is sound`() throws {
        #expect(try use { _, _ in } == [])
    }

    @Test func `What one damaged node leads to is told in few lines`() throws {
        let file = WrappedFile(MemoryFile(name: "hostile"))
        try Store.format(file)
        let filled = try Store.open(on: file, coordinator: try Coordinator.inMemory())
        let transaction = try filled.beginWrite()
        let tree = try transaction.createOrderedTree()
        for number in UInt32(0)..<20_000 {
            try withUnsafeBytes(of: number.bigEndian) { key throws in
                try [UInt8](repeating: 7, count: 100).withUnsafeBytes { value throws in
                    try transaction.treePut(tree, key, value, derived: false)
                }
            }
        }
        _ = try transaction.commit()
        #expect(try filled.check().problems == [])
        var image = try file.content()
        for page in stride(from: 2 * Page.size, to: image.count, by: Page.size)
        where image[page + ExtentHeader.type] == ExtentType.treeInner.rawValue {
            image[page + 200] ^= 1
        }
        let damaged = WrappedFile(try MemoryFile(content: image))
        let report = try Store.checkOfDurableVersion(of: damaged)
        #expect(report.problems.count < 10, "\(report.problems.count) problems")
        #expect(report.problems.contains { $0.contains("nothing sound leads there") })
        #expect(report.problems.contains { $0.hasPrefix("tree \(tree):") })
    }

    @Test(arguments: [0, 1])
    func `Damage to one meta of a closed file loses nothing`(_ slot: Int) throws {
        var image = try image()
        image[slot * 4_096 + 64] ^= 1
        let store = try Store.open(
            on: try MemoryFile(content: image), coordinator: try Coordinator.inMemory())
        let snapshot = try store.beginRead()
        try [UInt8(7)].withUnsafeBytes { key throws in
            let value = try #require(try snapshot.orderedTree(16).value(forKey: key))
            #expect(value.allSatisfy { $0 == 2 })
        }
        snapshot.release()
        #expect(try store.check().isSound)
    }

    @Test
    func `Damage to both metas is an error`() throws {
        var image = try image()
        for slot in 0..<2 { image[slot * 4_096 + 64] ^= 1 }
        #expect(throws: StorageError.self) {
            try Store.open(
                on: try MemoryFile(content: image), coordinator: try Coordinator.inMemory())
        }
    }

    @Test(arguments: [0, 1, 2, 1 << 36, 1 << 62, UInt64(Int64.max), .max] as [UInt64])
    func `A meta that counts absurdly many pages is damaged`(_ pages: UInt64) throws {
        let found = try use { image, map in Image.put(pages, &image, map.meta * 4_096 + 112) }
        #expect(found.contains { $0.contains("page") })
    }

    /// Copies both metas of an image over those of another.
    private func putMetas(of older: [UInt8], into image: inout [UInt8]) {
        image.replaceSubrange(0..<8_192, with: older[0..<8_192])
    }

    @Test
    func `Two older metas of a closed file are an error where it was used since`() throws {
        let file = WrappedFile(MemoryFile(name: "hostile"))
        try Store.format(file)
        try fill(try Store.open(on: file, coordinator: try Coordinator.inMemory()))
        let older = try file.content()
        #expect(older[0..<4_096] == older[4_096..<8_192])
        let store = try Store.open(on: file, coordinator: try Coordinator.inMemory())
        let transaction = try store.beginWrite()
        _ = try transaction.createOrderedTree()
        _ = try transaction.commit()
        try Recovery.markClean(store)
        var image = try file.content()
        putMetas(of: older, into: &image)
        #expect {
            try Store.open(
                on: try MemoryFile(content: image), coordinator: try Coordinator.inMemory())
        } throws: { "\($0)".contains("no meta page holds it") }
    }

    @Test
    func `The first meta of a file is not believed where the second is damaged`() throws {
        let file = WrappedFile(MemoryFile(name: "hostile"))
        try Store.format(file)
        let store = try Store.open(on: file, coordinator: try Coordinator.inMemory())
        let transaction = try store.beginWrite()
        _ = try transaction.createOrderedTree()
        _ = try transaction.commit()
        var image = try withExtendedLifetime(store) { try file.content() }
        image[4_096 + 64] ^= 1
        #expect {
            try Store.open(
                on: try MemoryFile(content: image), coordinator: try Coordinator.inMemory())
        } throws: { "\($0)".contains("no meta page holds it") }
    }

    /// An unclean file whose log has, behind its end, the likeness of a frame of another log that
    /// knows a later checkpoint.
    private func imageWithFrame(salt: (Meta) -> UInt64) throws -> [UInt8] {
        let file = WrappedFile(MemoryFile(name: "hostile"))
        try Store.format(file)
        let store = try Store.open(on: file, coordinator: try Coordinator.inMemory())
        for _ in 0..<3 {
            let transaction = try store.beginWrite()
            _ = try transaction.createOrderedTree()
            _ = try transaction.commit()
        }
        var image = try withExtendedLifetime(store) { try file.content() }
        let map = try ImageMap(of: image)
        let meta = try #require(
            try image[(map.meta * 4_096)...].prefix(4_096).withUnsafeBytes { page throws in
                try Meta(validating: page, in: PageNumber(UInt64(map.meta)), path: "")
            })
        var frame: [UInt8] = []
        _ = try LogFrame(
            .marker, version: Version(1 << 40), previousVersion: 1, before: .start,
            durablePosition: 0,
            durableCheckpoint: Version(1 << 40), salt: salt(meta), payload: [], into: &frame)
        let end = try #require(map.logPages.last) * 4_096
        image.replaceSubrange(end..<end + frame.count, with: frame)
        return image
    }

    @Test
    func `A value that looks like a frame of the log is no proof against a file`() throws {
        let image = try imageWithFrame { ~$0.logMap.salt }
        let store = try Store.open(
            on: try MemoryFile(content: image), coordinator: try Coordinator.inMemory())
        #expect(try store.check().isSound)
    }

    @Test
    func `A frame of an earlier log that knows a later meta is an error`() throws {
        let image = try imageWithFrame { $0.logMap.salt ^ 1 }
        #expect {
            try Store.open(
                on: try MemoryFile(content: image), coordinator: try Coordinator.inMemory())
        } throws: { "\($0)".contains("no meta page holds it") }
    }

    @Test(arguments: [1 << 30, 1 << 40, UInt64(Int64.max)] as [UInt64])
    func `A tree that counts more than the file can hold is damaged`(_ count: UInt64) throws {
        let found = try use { image, map in
            let catalog = map.extents.last { $0.type == 8 && !$0.references.isEmpty }
            guard let reference = catalog?.references.last else { return }
            Image.put(count, &image, reference.offset - 16)
        }
        #expect(found.contains { $0.contains("more than the file can hold") })
    }

    @Test(arguments: [UInt64(1) << 62, UInt64(Int64.max), .max])
    func `A version that no file reaches is damaged`(_ version: UInt64) throws {
        let found = try use { image, map in Image.put(version, &image, map.meta * 4_096 + 64) }
        #expect(found.contains { $0.contains("page") })
    }

    @Test(arguments: [0, 1] as [PageNumber])
    func `A meta that contradicts itself is reported with its own page`(_ slot: PageNumber) throws {
        var image = try image()
        let start = Int(slot.byteOffset)
        for version in [0, 1 << 62, 1 << 62 + 1] as [UInt64] {
            Image.put(version, &image, start + MetaLayout.version)
            let checksum = Image.checksum(image, start, MetaLayout.checksum)
            Image.put(checksum, &image, start + MetaLayout.checksum)
            let file = DataFile(try MemoryFile(content: image))
            #expect(
                throws: StorageError.corrupt(page: slot, reason: "a meta contradicts itself")
            ) { try MetaPage.newest(fromDevice: false, of: file) }
        }
    }

    @Test(arguments: [1 << 36, 1 << 62, UInt64(Int64.max), .max] as [UInt64])
    func `A root that counts absurdly many pages is damaged`(_ pages: UInt64) throws {
        let found = try use { image, map in
            Image.put(pages, &image, (map.extents.last?.offset ?? 0) + 200)
        }
        #expect(found.contains { $0.contains("page") })
    }

    @Test
    func `Segments of the log that overlap are damaged`() throws {
        let found = try use { image, map in
            let segments = map.meta * 4_096 + 312
            Image.put(Image.word(image, segments), &image, segments + 24)
            Image.put(Image.word(image, segments + 8), &image, segments + 32)
            Image.put(2, &image, map.meta * 4_096 + 176)
        }
        #expect(found.contains { $0.contains("overlap") })
    }

    @Test(arguments: [0, 1, 1 << 40, .max - 1, .max] as [UInt64])
    func `A freed run outside the file is damaged`(_ page: UInt64) throws {
        let found = try use { image, map in
            let root = map.extents.last?.offset ?? 0
            Image.put(1, &image, root + 280)
            Image.put(page, &image, root + 288)
            Image.put(1, &image, root + 296)
            Image.put(0, &image, root + 304)
            Image.put(1, &image, root + 312)
            image[root + 284] = 0
            image[root + 285] = 0
        }
        #expect(!found.isEmpty)
    }

    @Test(arguments: [0, 1, 1 << 40, .max - 1, .max] as [UInt64])
    func `A reference outside the file is damaged`(_ page: UInt64) throws {
        let map = try ImageMap(of: try image())
        for extent in map.extents.indices {
            for reference in map.extents[extent].references.indices {
                let found = try use { image, map in
                    guard extent < map.extents.count,
                        reference < map.extents[extent].references.count
                    else { return }
                    Image.put(page, &image, map.extents[extent].references[reference].offset)
                }
                #expect(!found.isEmpty)
            }
        }
    }
}
