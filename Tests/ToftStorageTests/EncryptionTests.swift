// Tests: CounterMode.swift, Cipher+File.swift, Identifiers.swift, LibCrypto.swift, LogLayout.swift,
// MessageCode.swift, PageReader.swift, RowKeys.swift, Store+Open.swift
import Testing
internal import ToftPlatform
internal import ToftTestKit

@testable import ToftStorage

/// Encrypted files: who can read them, and the effect of foreign changes to them.
@Suite struct EncryptionTests {
    private static let tree = SystemTree.firstUser
    /// Nothing else in a file looks like it.
    private static let secret = "the treasure lies under the old oak"

    private static func key(_ seed: UInt8 = 1) throws -> EncryptionKey {
        try EncryptionKey((0..<64).map { seed &+ UInt8($0) })
    }

    /// Sets keys of the tree, each to a value of `length` bytes with the secret, in one commit.
    private static func fill(_ store: Store, _ keys: Range<Int>, round: Int = 0, length: Int = 200)
        throws
    {
        let transaction = try store.beginWrite()
        if try !transaction.view.hasTree(tree) { _ = try transaction.createOrderedTree() }
        for key in keys { try put(transaction, key, round, length: length) }
        _ = try transaction.commit()
    }

    private static func put(
        _ transaction: WriteTransaction, _ key: Int, _ round: Int, length: Int = 200
    ) throws {
        try withUnsafeBytes(of: key.bigEndian) { bytes throws in
            try value(key, round, length: length).withUnsafeBytes { value throws in
                try transaction.treePut(tree, bytes, value, derived: false)
            }
        }
    }

    private static func value(_ key: Int, _ round: Int, length: Int = 200) -> [UInt8] {
        let text = Array("\(round) \(key) \(secret) ".utf8)
        return (0..<length).map { text[$0 % text.count] }
    }

    /// Everything in the tree, one entry behind the other.
    private static func content(_ store: Store) throws -> [UInt8] {
        let snapshot = try store.beginRead()
        defer { snapshot.release() }
        var found: [UInt8] = []
        let cursor = try snapshot.orderedTree(tree).cursor()
        var isThere = try cursor.seekFirst()
        while isThere {
            found += Array(cursor.key) + Array(try cursor.value)
            isThere = try cursor.next()
        }
        return found
    }

    private static func open(_ image: [UInt8], _ key: EncryptionKey?) throws -> Store {
        try Store.open(
            on: try MemoryFile(content: image), coordinator: try Coordinator.inMemory(),
            encryptionKey: key)
    }

    /// Files at rest, after each of three commits, one of them with long values.
    private static func images(_ key: EncryptionKey?, count: Int = 60) throws -> [[UInt8]] {
        let file = MemoryFile(name: "encrypted")
        try Store.format(file, encryptionKey: key)
        return try (0..<3).map { round in
            let store = try Store.open(
                on: WrappedFile(file), coordinator: try Coordinator.inMemory(), encryptionKey: key)
            try fill(store, 0..<count, round: round)
            try fill(store, 1_000..<1_004, round: round, length: 20_000)
            #expect(try store.check().isSound)
            try store.close()
            return try file.content()
        }
    }

    /// Whether a changed image shows an error. It must not show anything but the content.
    private static func isNoticed(_ image: [UInt8], _ key: EncryptionKey?, _ expected: [[UInt8]])
        throws -> Bool
    {
        do {
            let store = try open(image, key)
            let found = try content(store)
            #expect(expected.contains(found))
            return try !store.check().isSound
        } catch {
            guard let error = error as? StorageError else { throw error }
            switch error {
            case .corrupt, .unsupportedFormat: return true
            default: throw error
            }
        }
    }

    @Test func `A reference that is wrong changes nothing of what is read already`() throws {
        let image = try #require(try Self.images(Self.key()).last)
        let disk = try MemoryFile(content: image)
        let file = DataFile(disk, cipher: try Cipher.of(disk, Self.key()))
        let meta = try #require(try MetaPage.newest(fromDevice: false, of: file)?.meta)
        let pages = PageReader(PageCache(file), version: meta.version)
        let base = try pages.view(meta.root, as: .root)
        let content = Array(UnsafeRawBufferPointer(start: base, count: Page.size))
        for type in [ExtentType.root, .cluster, .blob] {
            // An older extent was there, of the same page or of one before it.
            for before: UInt64 in 0...1 {
                let stale = Ref(
                    page: PageNumber(meta.root.page.rawValue - before),
                    birth: Version(meta.root.birth.rawValue - 1), checksum: 5,
                    pageCount: UInt32(before) + 1)
                #expect(throws: StorageError.self) { try pages.view(stale, as: type) }
                #expect(
                    Array(UnsafeRawBufferPointer(start: base, count: Page.size)) == content)
                #expect(try pages.view(meta.root, as: .root) == base)
            }
        }
    }

    @Test(arguments: [false, true])
    func `What a transaction has written and changed again is read as it is`(rollsBack: Bool)
        throws
    {
        let disk = MemoryFile(name: "spilled")
        let key = try Self.key()
        try Store.format(disk, encryptionKey: key)
        // 2 MB of leaves, most of them written to make room for others.
        let store = try Store.open(
            on: WrappedFile(disk), coordinator: Coordinator.inMemory(), dirtyLimit: 1 << 18,
            encryptionKey: key)
        try Self.fill(store, 0..<10_000)
        var expected = try Self.content(store)
        let transaction = try store.beginWrite()
        for round in 1...3 {
            for step in 0..<10_000 {
                // Every leaf is changed in each round, first from one end, then from the other.
                let number = round % 2 == 0 ? 9_999 - step : step
                try Self.put(transaction, number, round)
            }
        }
        let cursor = try transaction.view.orderedTree(Self.tree).cursor()
        var isThere = try cursor.seekFirst(), count = 0
        while isThere {
            #expect(Array(try cursor.value) == Self.value(count, 3), "before the commit")
            count += 1
            isThere = try cursor.next()
        }
        #expect(count == 10_000)
        if rollsBack {
            transaction.rollback()
            // The next version has the same pages.
            try Self.fill(store, 0..<10_000, round: 4)
            expected = try Self.content(store)
        } else {
            _ = try transaction.commit()
            expected = try Self.content(store)
        }
        #expect(try store.check().isSound)
        try store.close()
        let again = try Self.open(try disk.content(), key)
        #expect(try Self.content(again) == expected)
        let round = rollsBack ? 4 : 3
        for number in [0, 5_000, 9_999] {
            let value = Self.value(number, round)
            #expect(Array(expected[(208 * number + 8)...].prefix(200)) == value)
        }
        #expect(try again.check().isSound)
    }

    @Test(arguments: [7, 12, 20, 33])
    func `A write that fails while the next ones are encrypted leaves the version before`(
        failing: Int
    ) throws {
        let disk = MemoryFile(name: "refused")
        let key = try Self.key()
        try Store.format(disk, encryptionKey: key)
        let faults = FaultFile(disk)
        let store = try Store.open(
            on: faults, coordinator: Coordinator.inMemory(), dirtyLimit: 1 << 18,
            encryptionKey: key)
        try Self.fill(store, 0..<5_000)
        let before = try Self.content(store)
        let writes = faults.operations.count { $0 == .write }
        // Counted in all operations; those of a spill are writes, but for a few that grow the file.
        faults.plan(
            FaultFile.Fault(
                index: failing, isLasting: true, writtenEighths: 3,
                error: .diskFull(path: disk.path)),
            after: faults.operations.count)
        #expect(throws: StorageError.self) { try Self.fill(store, 0..<5_000, round: 1) }
        #expect(faults.operations.count { $0 == .write } > writes)
        faults.repair()
        #expect(try Self.content(store) == before)
        // The next version has the same pages.
        try Self.fill(store, 0..<5_000, round: 2)
        let after = try Self.content(store)
        #expect(after != before)
        #expect(try store.check().isSound)
        try store.close()
        let again = try Self.open(try disk.content(), key)
        #expect(try Self.content(again) == after)
        #expect(try again.check().isSound)
    }

    // MARK: Scans

    /// A closed file with 20,000 rows, whose ids rise, in one table.
    private static func table(_ key: EncryptionKey) throws -> (image: [UInt8], id: TreeID) {
        let disk = MemoryFile(name: "scanned")
        try Store.format(disk, encryptionKey: key)
        let store = try Store.open(
            on: WrappedFile(disk), coordinator: Coordinator.inMemory(), encryptionKey: key)
        let writing = try store.beginWrite()
        let id = try writing.createTable(columns: [
            Column(id: 1, type: .int64, isNullable: false)
        ])
        for number in Int64(0)..<20_000 {
            try writing.rowInsert(id, number, derived: false)
            try writing.cellSet(
                id, number, 1, .int64(number &* 0x1E37_79B9_7F4A_7C15), derived: false)
        }
        _ = try writing.commit()
        try store.close()
        return (try disk.content(), id)
    }

    /// Keys and clusters that a scan of a new opening meets, and the error that ends it.
    private static func scan(
        _ image: [UInt8], _ id: TreeID, _ key: EncryptionKey, clusters limit: Int = .max
    ) throws -> (keys: [Int64], clusters: [PageNumber], error: StorageError?, reads: Int) {
        let disk = FaultFile(try MemoryFile(content: image))
        let store = try Store.open(
            on: disk, coordinator: Coordinator.inMemory(), encryptionKey: key)
        let snapshot = try store.beginRead()
        defer { snapshot.release() }
        let before = disk.operations.count { $0 == .read }
        var keys: [Int64] = [], clusters: [PageNumber] = [], failure: StorageError?
        do throws(StorageError) {
            try snapshot.table(id).forEachCluster { view throws(StorageError) in
                for row in 0..<view.count {
                    guard case .int64(let value) = try view.cell(row, 1) else { return false }
                    #expect(value == view.keys[row] &* 0x1E37_79B9_7F4A_7C15)
                    keys.append(view.keys[row])
                }
                clusters.append(view.identity.page)
                return clusters.count < limit
            }
        } catch {
            failure = error
        }
        return (keys, clusters, failure, disk.operations.count { $0 == .read } - before)
    }

    @Test func `A scan has further clusters decrypted, and ends where one is damaged`() throws {
        let key = try Self.key(), (image, id) = try Self.table(key)
        let whole = try Self.scan(image, id, key)
        #expect(whole.keys == Array(0..<20_000) && whole.error == nil)
        #expect(whole.clusters.count > 10)
        // At most twice as many as were wanted, and the nodes above them.
        for limit in 1...6 {
            let some = try Self.scan(image, id, key, clusters: limit)
            #expect(some.keys == Array(whole.keys[..<some.keys.count]) && some.error == nil)
            #expect(some.reads <= 2 * limit + 4, "\(some.reads) reads for \(limit) clusters")
        }
        for index in [0, 1, 4, 9] {
            var damaged = image
            damaged[Int(whole.clusters[index].byteOffset) + 500] ^= 4
            let found = try Self.scan(damaged, id, key)
            #expect(found.clusters == Array(whole.clusters[..<index]))
            #expect(found.keys == Array(whole.keys[..<found.keys.count]))
            guard case .corrupt(whole.clusters[index], _) = found.error else {
                Issue.record("cluster \(index): \(String(describing: found.error))")
                continue
            }
            // The entries before it can be read alone.
            #expect(try Self.scan(damaged, id, key, clusters: index).error == nil || index == 0)
        }
    }

    // MARK: The cipher

    private static func bytes(_ text: String) -> [UInt8] {
        let digits = text.filter { !$0.isWhitespace }
        return stride(from: 0, to: digits.count, by: 2).map {
            let start = digits.index(digits.startIndex, offsetBy: $0)
            return UInt8(digits[start...].prefix(2), radix: 16) ?? 0
        }
    }

    @Test(arguments: [
        (
            // RFC 4231, test case 1
            String(repeating: "0b", count: 20), "4869205468657265",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            // test case 2
            "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            // test case 3
            String(repeating: "aa", count: 20), String(repeating: "dd", count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            // test case 4
            "0102030405060708090a0b0c0d0e0f10111213141516171819",
            String(repeating: "cd", count: 50),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
        ),
    ])
    func `The code is HMAC with SHA-256 as RFC 4231 has it`(
        key: String, message: String, code: String
    ) throws {
        let message = Self.bytes(message)
        var found = [UInt8](repeating: 0, count: MessageCode.size)
        let maker = try Self.bytes(key).withUnsafeBytes { try MessageCode(key: $0) }
        // In one piece and in two.
        for cut in [0, message.count / 2] {
            message.withUnsafeBytes { message in
                found.withUnsafeMutableBytes { place in
                    guard let place = place.baseAddress else { return }
                    maker.write(
                        [
                            UnsafeRawBufferPointer(rebasing: message[..<cut]),
                            UnsafeRawBufferPointer(rebasing: message[cut...]),
                        ], to: place)
                }
            }
            #expect(found == Self.bytes(code))
        }
    }

    @Test func `The cipher is AES-256 in counter mode as NIST SP 800-38A has it`() throws {
        // F.5.5
        let key = SecretMemory(byteCount: 32)
        key.bytes.copyBytes(
            from: Self.bytes("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"))
        let counter = Self.bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff").withUnsafeBytes {
            $0.baseAddress.map { Digest(decoding: $0) } ?? .none
        }
        let plain = Self.bytes(
            """
            6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51
            30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710
            """)
        let sealed = Self.bytes(
            """
            601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5
            2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6
            """)
        let stream = try CounterMode(key: key)
        var text = plain
        for expected in [sealed, plain] {
            try text.withUnsafeMutableBytes { bytes throws in
                guard let base = bytes.baseAddress else { return }
                try stream.apply(counter, base, to: base, count: bytes.count)
            }
            #expect(text == expected)
        }
    }

    @Test(arguments: [0, 1, 63, 65, 128])
    func `A key of another size than 64 bytes is refused`(size: Int) throws {
        #expect(throws: StorageError.invalidKey(length: size)) {
            try EncryptionKey([UInt8](repeating: 7, count: size))
        }
        _ = try EncryptionKey([UInt8](repeating: 7, count: 64))
    }

    // MARK: Who can read it

    @Test func `What was written with a key is there with the same key`() throws {
        try withTemporaryDirectory { directory in
            var configuration = StoreConfiguration(location: .file(path: directory + "/a.toft"))
            configuration.encryptionKey = try Self.key()
            var expected: [UInt8] = []
            for round in 0..<4 {
                let store = try Store.open(configuration)
                if round > 0 { #expect(try Self.content(store) == expected) }
                try Self.fill(store, 0..<500, round: round)
                try Self.fill(store, 0..<5, round: round + 10)
                try Self.fill(store, 2_000..<2_010, round: round, length: 30_000)
                expected = try Self.content(store)
                #expect(try store.check().isSound)
                try store.close()
            }
            // Nobody may write; the file is read all the same.
            configuration.isReadOnly = true
            let store = try Store.open(configuration)
            #expect(try Self.content(store) == expected)
        }
    }

    @Test func `Another key, none, and one for a plain file are three errors`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/a.toft"
            let plain = directory + "/plain.toft"
            func open(_ path: String, _ key: EncryptionKey?, readOnly: Bool = false) throws -> Store
            {
                var configuration = StoreConfiguration(location: .file(path: path))
                configuration.encryptionKey = key
                configuration.isReadOnly = readOnly
                return try Store.open(configuration)
            }
            let store = try open(path, Self.key())
            try Self.fill(store, 0..<10)
            try Self.fill(open(plain, nil), 0..<10)
            // While it is open in this process, and when no process has it open.
            for _ in 0..<2 {
                for readOnly in [false, true] {
                    #expect(throws: StorageError.wrongKey(path: path)) {
                        try open(path, Self.key(2), readOnly: readOnly)
                    }
                    #expect(throws: StorageError.keyRequired(path: path)) {
                        try open(path, nil, readOnly: readOnly)
                    }
                    #expect(throws: StorageError.notEncrypted(path: plain)) {
                        try open(plain, Self.key(), readOnly: readOnly)
                    }
                }
                #expect(try !Self.content(open(path, Self.key())).isEmpty)
                try store.close()
            }
        }
    }

    @Test func `A key with any bit changed is another key`() throws {
        let image = try #require(Self.images(Self.key()).last)
        for bit in 0..<512 {
            var bytes = (0..<64).map { 1 + UInt8($0) }
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: StorageError.wrongKey(path: "<memory image>")) {
                try Self.open(image, EncryptionKey(bytes))
            }
        }
        _ = try Self.open(image, Self.key())
    }

    @Test func `Nothing that is stored can be read in the file, its lock file or a copy`() throws {
        try withTemporaryDirectory { directory in
            var configuration = StoreConfiguration(location: .file(path: directory + "/a.toft"))
            configuration.encryptionKey = try Self.key()
            let keyBytes = (0..<64).map { 1 + UInt8($0) }
            let store = try Store.open(configuration)
            try Self.fill(store, 0..<300)
            try Self.fill(store, 0..<3, round: 1)
            try Self.fill(store, 1_000..<1_003, length: 50_000)
            func expectNothing(in path: String) throws {
                let bytes = try PosixFile.bytes(of: path)
                #expect(!Self.has(bytes, Array(Self.secret.utf8)), "\(path)")
                #expect(!Self.has(bytes, Array(keyBytes[..<16])), "\(path)")
                #expect(!Self.has(bytes, Array(keyBytes[32..<48])), "\(path)")
            }
            func expectNothing() throws {
                for name in TemporaryDirectory.names(in: directory) {
                    try expectNothing(in: directory + "/" + name)
                }
            }
            try expectNothing()
            let snapshot = try store.beginRead()
            try snapshot.writeCopy(to: directory + "/b.toft", encryptionKey: Self.key(9))
            snapshot.release()
            try store.close()
            try expectNothing()
            _ = try Store.compact(directory + "/a.toft", encryptionKey: Self.key())
            try expectNothing()
            #expect(TemporaryDirectory.names(in: directory).count >= 3)
            // The search works: it finds the text in a plain file.
            let plain = try #require(Self.images(nil).last)
            #expect(Self.has(plain, Array(Self.secret.utf8)))
        }
    }

    private static func has(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard let first = part.first else { return true }
        return bytes.indices.contains { index in
            bytes[index] == first && index + part.count <= bytes.count
                && bytes[index..<index + part.count].elementsEqual(part)
        }
    }

    // MARK: Who changed it

    @Test func `A flipped bit is an error, or changes nothing that is shown`() throws {
        let key = try Self.key()
        let images = try Self.images(key)
        let image = try #require(images.last)
        let content = try Self.content(Self.open(image, key))
        var noticed = 0
        // Each page is hit several times, at places that differ from page to page.
        for offset in stride(from: 3, to: image.count, by: 1_021) {
            var damaged = image
            damaged[offset] ^= 1 << UInt8(offset % 8)
            if try Self.isNoticed(damaged, key, [content]) { noticed += 1 }
        }
        #expect(noticed > image.count / 1_021 / 4)
    }

    /// `ToftTrials bits` flips every bit.
    @Test(arguments: [true, false])
    func `A flipped bit of the smallest file is an error, or lies where nothing is`(isCopy: Bool)
        throws
    {
        let file = try EncryptedBits(isCopy: isCopy)
        #expect(file.image.count <= (isCopy ? 40_960 : 65_536))
        // Unread pages are those that the check counts as free.
        #expect(file.uses.count { $0 == .free } == file.freePages)
        #expect(file.uses.count { $0 == .needed } == 5)
        #expect(try file.surprises(stride: 1_021) == [])
    }

    @Test func `Every byte of a meta counts, and the other meta stands in for it`() throws {
        let key = try Self.key()
        let image = try #require(Self.images(key).last)
        let content = try Self.content(Self.open(image, key))
        for offset in stride(from: 0, to: 8_192, by: 5) {
            var damaged = image
            damaged[offset] ^= 0x10
            _ = try Self.isNoticed(damaged, key, [content])
        }
        // Both are damaged: that is unrelated to keys.
        var damaged = image
        damaged[300] ^= 1
        damaged[4_396] ^= 1
        #expect(try Self.isNoticed(damaged, key, []))
    }

    @Test func `A meta that somebody without the key has changed is an error`() throws {
        let key = try Self.key()
        let image = try #require(Self.images(key).last)
        for place in [MetaLayout.pageCount, MetaLayout.replicaID, MetaLayout.logSequence] {
            var changed = image
            for slot in 0..<2 {
                changed[slot * 4_096 + place] ^= 1
                Image.put(
                    Image.checksum(changed, slot * 4_096, MetaLayout.checksum), &changed,
                    slot * 4_096 + MetaLayout.checksum)
            }
            #expect(try Self.isNoticed(changed, key, []))
        }
    }

    @Test func `Pages that change places, or become zeros, are errors`() throws {
        let key = try Self.key()
        let image = try #require(Self.images(key).last)
        let content = try Self.content(Self.open(image, key))
        let pages = image.count / 4_096
        var noticed = 0
        var seed = Seed(7)
        for page in 2..<pages {
            var zeroed = image
            zeroed.replaceSubrange(
                page * 4_096..<(page + 1) * 4_096, with: [UInt8](repeating: 0, count: 4_096))
            if try Self.isNoticed(zeroed, key, [content]) { noticed += 1 }
            let other = 2 + Int(seed.next() % UInt64(pages - 2))
            var swapped = image
            for index in 0..<4_096 { swapped.swapAt(page * 4_096 + index, other * 4_096 + index) }
            if try Self.isNoticed(swapped, key, [content]) { noticed += 1 }
        }
        #expect(noticed > pages / 2)
    }

    @Test func `A file that is cut off anywhere is an error, or has lost nothing`() throws {
        let key = try Self.key()
        let image = try #require(Self.images(key).last)
        let content = try Self.content(Self.open(image, key))
        let pages = image.count / 4_096
        var noticed = 0
        for page in 2..<pages
        where try Self.isNoticed(
            Array(image[..<(page * 4_096)]), key, [content])
        {
            noticed += 1
        }
        #expect(noticed == pages - 2)
    }

    @Test func `An earlier content of a page, or a page of another file, is an error`() throws {
        let key = try Self.key()
        let images = try Self.images(key)
        let image = try #require(images.last)
        let content = try Self.content(Self.open(image, key))
        let other = try #require(Self.images(key).last)
        var noticed = 0
        for earlier in images.dropLast() + [other] {
            for page in 2..<min(image.count, earlier.count) / 4_096 {
                let range = page * 4_096..<(page + 1) * 4_096
                guard earlier[range] != image[range] else { continue }
                var changed = image
                changed.replaceSubrange(range, with: earlier[range])
                if try Self.isNoticed(changed, key, [content]) { noticed += 1 }
            }
        }
        #expect(noticed > 20)
    }

    // MARK: Crashes

    @Test func `The log of a crash is replayed, and nobody can read or change it`() throws {
        let key = try Self.key()
        let file = MemoryFile(name: "crashed")
        try Store.format(file, encryptionKey: key)
        let store = try Store.open(
            on: file, coordinator: try Coordinator.inMemory(), encryptionKey: key)
        try Self.fill(store, 0..<200)
        var contents = [try Self.content(store)]
        for round in 1...6 {
            try Self.fill(store, 10..<13, round: round)
            contents.append(try Self.content(store))
        }
        let image = try file.content()
        let last = try #require(contents.last)
        #expect(!Self.has(image, Array(Self.secret.utf8)))
        #expect(try Self.content(Self.open(image, key)) == last)
        // The frames: each begins at a multiple of 512 with its magic.
        let frames = stride(from: 8_192, to: image.count, by: 512).filter {
            Image.half(image, $0) == Int(LogLayout.magicWord)
        }
        #expect(frames.count >= 6)
        for frame in frames {
            for place in [LogLayout.version, LogLayout.payload, LogLayout.payload + 20] {
                let length = Int(Image.word(image, frame + LogLayout.length))
                // Behind the code of a marker there is nothing.
                if place >= length { continue }
                var damaged = image
                damaged[frame + place] ^= 1
                // A torn end of the log: everything committed before exists.
                _ = try Self.isNoticed(damaged, key, contents)
                // An attacker who makes the checksums right: that is not a torn end.
                Image.put(
                    Image.checksum(
                        damaged, frame + LogLayout.payload, length - LogLayout.payload), &damaged,
                    frame + LogLayout.payloadChecksum)
                Image.put(
                    Image.checksum(damaged, frame, LogLayout.hash), &damaged, frame + LogLayout.hash
                )
                #expect(try Self.isNoticed(damaged, key, contents), "frame \(frame), byte \(place)")
            }
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: [1, 3])
    func `A crash at any moment leaves what was committed to an encrypted file`(index: Int) throws {
        var limits = CrashImages.Limits()
        limits.exhaustivePages = 4
        limits.singlePages = 3
        limits.randomSubsets = 5
        limits.tornPages = 3
        limits.fullyTornMetas = 0
        limits.tornMetaPlaces = 4
        limits.lyingSubsets = 1
        limits.percentTried = 10
        var workload = Workload.scripted[index]
        workload.encryptionKey = try Self.key()
        let report = try CrashTrial.run(workload, seed: 1, limits: limits)
        #expect(report.violations == [])
    }

    // MARK: Copies

    @Test func `A copy has the key that it is given, or none`() throws {
        try withTemporaryDirectory { directory in
            let keys = [nil, try Self.key(1), try Self.key(2)]
            for (from, source) in keys.enumerated() {
                let path = directory + "/\(from).toft"
                var configuration = StoreConfiguration(location: .file(path: path))
                configuration.encryptionKey = source
                let store = try Store.open(configuration)
                try Self.fill(store, 0..<400)
                try Self.fill(store, 1_000..<1_010, length: 20_000)
                let table = try store.beginWrite()
                for _ in 0..<40 { _ = try table.createOrderedTree() }
                _ = try table.commit()
                let content = try Self.content(store)
                for (to, target) in keys.enumerated() {
                    let copy = directory + "/\(from)-\(to).toft"
                    let snapshot = try store.beginRead()
                    try snapshot.writeCopy(to: copy, encryptionKey: target)
                    snapshot.release()
                    var opening = StoreConfiguration(location: .file(path: copy))
                    opening.encryptionKey = target
                    let copied = try Store.open(opening)
                    #expect(try Self.content(copied) == content)
                    try Self.fill(copied, 0..<10, round: 5)
                    #expect(try copied.check().isSound)
                    try copied.close()
                }
                try store.close()
            }
        }
    }

    @Test func `A file gets another key where nobody has it open`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/a.toft"
            var configuration = StoreConfiguration(location: .file(path: path))
            let first = try Store.open(configuration)
            try Self.fill(first, 0..<300)
            let content = try Self.content(first)
            // Somebody has it open.
            #expect(try !Store.changeKey(of: path, from: nil, to: Self.key()))
            try first.close()
            let steps = [nil, try Self.key(1), try Self.key(2), nil]
            for (old, new) in zip(steps, steps.dropFirst()) {
                #expect(try Store.changeKey(of: path, from: old, to: new))
                configuration.encryptionKey = new
                let store = try Store.open(configuration)
                #expect(try Self.content(store) == content)
                #expect(try store.check().isSound)
                try store.close()
            }
            #expect(throws: StorageError.notEncrypted(path: path)) {
                try Store.changeKey(of: path, from: Self.key(), to: Self.key(2))
            }
            #expect(TemporaryDirectory.names(in: directory).sorted() == ["a.toft", "a.toft.lock"])
        }
    }

    @Test func `An encrypted file loses its free space and keeps its key`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/a.toft"
            var configuration = StoreConfiguration(location: .file(path: path))
            configuration.encryptionKey = try Self.key()
            let store = try Store.open(configuration)
            // The log, which keeps its place, comes with the first commit.
            try Self.fill(store, 0..<1)
            try Self.fill(store, 0..<8_000)
            let transaction = try store.beginWrite()
            for key in 5..<8_000 {
                _ = try withUnsafeBytes(of: key.bigEndian) {
                    try transaction.treeDelete(Self.tree, $0, derived: false)
                }
            }
            _ = try transaction.commit()
            let content = try Self.content(store)
            let size = try PosixFile.bytes(of: path).count
            try store.close()
            let sizes = try #require(try Store.compact(path, encryptionKey: Self.key()))
            #expect(sizes.after <= sizes.before && sizes.after < UInt64(size) / 2)
            let again = try Store.open(configuration)
            #expect(try Self.content(again) == content)
            #expect(try again.check().isSound)
        }
    }
}
