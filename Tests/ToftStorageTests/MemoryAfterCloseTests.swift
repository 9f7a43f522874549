// Tests: SecretMemory.swift, EncryptionKey.swift
import Glibc
import Testing
internal import ToftPlatform
internal import ToftTestKit

@testable import ToftStorage

/// The contents of a core dump after an encrypted file was closed: every mapping that the process
/// may write, read through `/proc/self/mem` in a process of its own. Core files need not be enabled
/// for that, and nothing is left out that a core file would have.
@Suite struct MemoryAfterCloseTests {
    @Test func `Nothing of a key is in memory when the last file with it is closed`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory.make()
            defer { TemporaryDirectory.remove(directory) }
            let key = HiddenBytes(count: EncryptionKey.size)
            // The search works: it finds the key.
            var copies = [key.revealed()]
            try #require(try key.count(inMemoryPiecesOf: 16) > 0)
            try useFile(
                directory + "/a.toft", try EncryptionKey(UnsafeRawBufferPointer(copies[0].bytes)))
            copies = []
            try #require(try key.count(inMemoryPiecesOf: 16) == 0)
        }
    }
}

/// Makes, fills, closes, opens, reads, compacts and copies an encrypted file.
@inline(never)
private func useFile(_ path: String, _ key: EncryptionKey) throws {
    var configuration = StoreConfiguration(location: .file(path: path))
    configuration.encryptionKey = key
    for round in 0..<2 {
        let store = try Store.open(configuration)
        for number in 0..<20 {
            let transaction = try store.beginWrite()
            if try !transaction.view.hasTree(SystemTree.firstUser) {
                _ = try transaction.createOrderedTree()
            }
            let value = [UInt8](repeating: UInt8(number), count: 100 + 2_000 * round)
            try value.withUnsafeBytes { value throws in
                try withUnsafeBytes(of: number.bigEndian) { key throws in
                    try transaction.treePut(SystemTree.firstUser, key, value, derived: false)
                }
            }
            _ = try transaction.commit()
        }
        let snapshot = try store.beginRead()
        try snapshot.writeCopy(to: path + ".\(round)", encryptionKey: key)
        snapshot.release()
        try #require(try store.check().isSound)
        try store.close()
    }
    try #require(try Store.compact(path, encryptionKey: key) != nil)
}

/// Random bytes; memory contains only their complement, with all bits inverted.
private struct HiddenBytes {
    private let hidden: [UInt8]

    init(count: Int) {
        var numbers = SystemRandomNumberGenerator()
        hidden = (0..<count).map { _ in UInt8.random(in: 0...255, using: &numbers) }
    }

    func revealed() -> SecretMemory {
        let memory = SecretMemory(byteCount: hidden.count)
        for index in hidden.indices { memory.bytes[index] = ~hidden[index] }
        return memory
    }

    /// Number of occurrences of pieces of `length` bytes of it in memory that the process may
    /// write, each piece counted for itself.
    func count(inMemoryPiecesOf length: Int) throws -> Int {
        let size = 1 << 20
        guard
            let room = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            room != MAP_FAILED
        else { throw Failure("mmap: errno \(errno)") }
        defer {
            explicit_bzero(room, size)
            munmap(room, size)
        }
        let own = UInt(bitPattern: room)..<UInt(bitPattern: room) + UInt(size)
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw Failure("/proc/self/mem: errno \(errno)") }
        defer { close(memory) }
        var found = 0
        for mapping in try Self.writableMappings(but: own) {
            var start = mapping.lowerBound
            while start < mapping.upperBound {
                let count = min(size, Int(mapping.upperBound - start))
                // The next part begins before the end of this one, for pieces that span both.
                defer { start += UInt(count == size ? size - hidden.count : count) }
                let read = pread(memory, room, count, off_t(clamping: start))
                if read <= 0 { continue }
                found += pieces(of: length, in: UnsafeRawBufferPointer(start: room, count: read))
            }
        }
        return found
    }

    private func pieces(of length: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        guard let base = bytes.baseAddress else { return 0 }
        var found = 0
        for start in stride(from: 0, through: hidden.count - length, by: length) {
            let first = Int32(~hidden[start])
            var place = 0
            while place + length <= bytes.count,
                let hit = memchr(base + place, first, bytes.count - length + 1 - place)
            {
                let offset = UnsafeRawPointer(hit) - base
                if (0..<length).allSatisfy({ bytes[offset + $0] == ~hidden[start + $0] }) {
                    found += 1
                }
                place = offset + 1
            }
        }
        return found
    }

    /// As `/proc/self/maps` lists them, `7f..-7f.. rw-p ...`, without a part of one.
    private static func writableMappings(but own: Range<UInt>) throws -> [Range<UInt>] {
        guard let file = fopen("/proc/self/maps", "r") else { throw Failure("no maps") }
        defer { fclose(file) }
        var mappings: [Range<UInt>] = []
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        defer { free(line) }
        while getline(&line, &room, file) > 0, let text = line {
            let words = String(cString: text).split(separator: " ")
            let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            if words.count > 1, words[1].hasPrefix("rw"), ends.count == 2, ends[0] < ends[1] {
                mappings.append(ends[0]..<max(ends[0], min(ends[1], own.lowerBound)))
                mappings.append(min(ends[1], max(ends[0], own.upperBound))..<ends[1])
            }
        }
        return mappings
    }
}
