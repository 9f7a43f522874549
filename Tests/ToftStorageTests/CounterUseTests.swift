// Tests: Cipher.swift, CounterMode.swift, Digest.swift, Ref.swift
import Glibc
import Testing
internal import ToftPlatform
internal import ToftTestKit

@testable import ToftStorage

/// The counters that encryption uses, read from all writes to a file and to the states that crashes
/// and backups have made of it.
@Suite struct CounterUseTests {
    private static let tree = SystemTree.firstUser

    /// Bytes that were encrypted with one first counter.
    private struct Use {
        var hash: Int
        /// Blocks of 16 bytes: the counter increases by one for each.
        var blocks: Int
    }

    private struct Place: Hashable {
        var page: PageNumber
        var birth: Version
    }

    /// All writes of one key.
    private struct Uses {
        var uses: [UInt128: Use] = [:]
        var contents: [Place: Set<Int>] = [:]
        var extents = 0
        var frames = 0

        mutating func add(_ counter: Digest, _ bytes: ArraySlice<UInt8>, at place: Place?) {
            // The counter of the cipher is a number of 16 bytes, the highest first.
            let number =
                UInt128(counter.low.byteSwapped) << 64 | UInt128(counter.high.byteSwapped)
            let hash = bytes.hashValue
            if let known = uses[number] {
                #expect(known.hash == hash, "one counter for two contents")
            }
            uses[number] = Use(hash: hash, blocks: (bytes.count + 15) / 16)
            if let place { contents[place, default: []].insert(hash) }
        }

        /// Adds the writes over an image: whole extents, found without their parents, and frames.
        mutating func add(
            _ events: [DiskEvent], over image: [UInt8], _ finder: Cipher.Finder, _ cipher: Cipher
        ) throws {
            var disk = image
            var (run, before): ([UInt8], [UInt8]) = ([], [])
            var start = 0
            for event in events {
                guard case .write(let offset, let bytes) = event else { continue }
                if offset != start + run.count || run.isEmpty {
                    try read(run, over: before, at: start, finder, cipher)
                    (run, before, start) = ([], [], offset)
                }
                let end = offset + bytes.count
                if disk.count < end { disk += Array(repeating: 0, count: end - disk.count) }
                run += bytes
                before += disk[offset..<end]
                disk.replaceSubrange(offset..<end, with: bytes)
            }
            try read(run, over: before, at: start, finder, cipher)
        }

        private mutating func read(
            _ run: [UInt8], over before: [UInt8], at start: Int, _ finder: Cipher.Finder,
            _ cipher: Cipher
        ) throws {
            var offset = 0
            while offset < run.count {
                if start + offset < 8_192 {
                    offset += 4_096
                } else if Image.half(run, offset) == Int(LogLayout.magicWord) {
                    let length = Int(Image.word(run, offset + LogLayout.length))
                    let payload = offset + LogLayout.payload
                    let counter = run[payload...].withUnsafeBytes {
                        $0.baseAddress.map { Digest(decoding: $0) } ?? .none
                    }
                    frames += 1
                    add(counter, run[payload + Digest.size..<offset + length], at: nil)
                    offset += (length + 511) / 512 * 512
                } else if (start + offset) % 4_096 == 0,
                    let ref = try extent(in: run, at: offset, of: start, finder, cipher)
                {
                    extents += 1
                    let end = offset + Int(ref.pageCount) * 4_096
                    add(
                        ref.digest, run[offset..<end],
                        at: Place(page: ref.page, birth: ref.birth))
                    offset = end
                } else {
                    // Zeros of a new log, and old bytes: between two deferred frames is a remainder
                    // of an older one. All else must have been found.
                    let end = min(offset + 512, run.count)
                    #expect(
                        run[offset..<end].allSatisfy { $0 == 0 }
                            || run[offset..<end] == before[offset..<end])
                    offset = end
                }
            }
        }

        private func extent(
            in run: [UInt8], at offset: Int, of start: Int, _ finder: Cipher.Finder,
            _ cipher: Cipher
        ) throws -> Ref? {
            for raw in ExtentType.root.rawValue...ExtentType.blob.rawValue {
                guard let type = ExtentType(rawValue: raw) else { continue }
                let found = run[offset...].withUnsafeBytes { bytes in
                    bytes.baseAddress.flatMap {
                        finder.extent(type, PageNumber(ofByte: UInt64(start + offset)), $0)
                    }
                }
                guard let ref = found, offset + Int(ref.pageCount) * 4_096 <= run.count else {
                    continue
                }
                var plain = Array(run[offset..<offset + Int(ref.pageCount) * 4_096])
                let isIt = plain.withUnsafeMutableBytes { bytes in
                    bytes.baseAddress.flatMap { try? cipher.decrypt($0, ref, type) } != nil
                }
                if isIt { return ref }
            }
            return nil
        }

        /// The number of contents whose place and version another content also had.
        var rivals: Int { contents.values.reduce(0) { $0 + ($1.count > 1 ? $1.count : 0) } }

        func expectApart() {
            var end: UInt128 = 0
            for (counter, use) in uses.sorted(by: { $0.key < $1.key }) {
                #expect(counter >= end, "the counters of two contents overlap")
                end = counter + UInt128(use.blocks)
            }
        }
    }

    private static func edit(_ transaction: WriteTransaction, _ numbers: inout Seed) throws {
        if try !transaction.view.hasTree(tree) { _ = try transaction.createOrderedTree() }
        for _ in 0..<(1 + numbers.below(numbers.chance(10) ? 400 : 12)) {
            let key = [UInt8(numbers.below(4)), UInt8(numbers.below(250))]
            let value = numbers.bytes(
                numbers.chance(3) ? numbers.below(30_000) : numbers.below(200))
            try key.withUnsafeBytes { key throws in
                try value.withUnsafeBytes { value throws in
                    try transaction.treePut(tree, key, value, derived: false)
                }
            }
        }
    }

    /// Writes to a file with an image, some commits, and returns the writes.
    private static func write(
        _ image: [UInt8], _ key: EncryptionKey, _ numbers: inout Seed
    ) throws -> RecordingFile {
        let file = RecordingFile(try MemoryFile(content: image))
        let store = try Store.open(
            on: file, coordinator: try Coordinator.inMemory(), dirtyLimit: 64 << 10,
            firstLogPages: 8, encryptionKey: key, isCompacted: numbers.chance(5))
        for _ in 0..<(1 + numbers.below(6)) {
            let transaction = try store.beginWrite()
            try edit(transaction, &numbers)
            switch numbers.below(8) {
            case 0: transaction.rollback()
            case 1: _ = try transaction.commit(.deferred)
            default: _ = try transaction.commit()
            }
            if numbers.chance(10) { try store.checkpoint() }
        }
        // Otherwise it is left as by a process that was killed.
        if numbers.chance(40) { try store.close() }
        return file
    }

    /// The disk after a power failure at some moment of the writes.
    private static func crashed(
        _ image: [UInt8], _ events: [DiskEvent], _ numbers: inout Seed
    ) -> [UInt8] {
        var disk = SimulatedDisk(content: [PageContent](cutting: image))
        for event in events.prefix(numbers.below(events.count + 1)) { disk.apply(event) }
        let kept = disk.pending.filter { _ in numbers.chance(60) }
        return disk.image(with: kept).flatMap(\.bytes)
    }

    /// TOFT_COUNTER_WRITES: the number of extents and frames to write; a few thousand without it.
    private static let writes =
        getenv("TOFT_COUNTER_WRITES").flatMap { Int(String(cString: $0)) } ?? 6_000

    @Test func `No counter encrypts two contents, whatever crashes and put back copies do`() throws
    {
        let seed = UInt64.random(in: 0...UInt64(UInt32.max))
        print("seed \(seed)")
        var numbers = Seed(seed)
        let key = try EncryptionKey(numbers.bytes(64))
        let ground = MemoryFile(name: "counters")
        try Store.format(ground, encryptionKey: key)
        let cipher = try #require(try Cipher.of(ground, key))
        let finder = try cipher.finder()
        var uses = Uses()
        // Images that an operator may restore. Two successors of one image have the same versions.
        var images = [try ground.content()]
        var refused = 0
        while uses.extents + uses.frames < Self.writes {
            let image = images[numbers.below(images.count)]
            let file: RecordingFile
            do {
                file = try Self.write(image, key, &numbers)
            } catch StorageError.corrupt {
                // A power failure leaves no such file; the disk here keeps no order.
                refused += 1
                continue
            }
            try uses.add(file.events, over: image, finder, cipher)
            let next =
                numbers.chance(50)
                ? try file.content() : Self.crashed(image, file.events, &numbers)
            if images.count < 6 { images.append(next) } else { images[numbers.below(6)] = next }
        }
        uses.expectApart()
        print("\(uses.extents) extents, \(uses.frames) frames, \(uses.rivals) rivals, \(refused)")
        #expect(refused == 0)
        // Counters made of page and version would have been used again for these.
        #expect(uses.rivals > uses.extents / 20)
        #expect(uses.frames > 20)
    }
}
