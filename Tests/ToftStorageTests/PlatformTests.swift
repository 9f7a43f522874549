// Tests: EventFlag.swift, FilePath.swift, MarkedDescriptor.swift, MemoryFile.swift,
// PosixFile.swift, PosixFile+Opening.swift, Reservation.swift, SharedWork.swift,
// SystemError.swift, ThreadLocal.swift
internal import Glibc
internal import Synchronization
import Testing
@testable internal import ToftPlatform
internal import ToftStorage

@Suite struct `Files of the file system` {
    private func withDirectory(_ body: (String) throws -> Void) throws {
        var template = Array("/tmp/toft-platform-XXXXXX".utf8CString)
        let directory = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { removeTree(directory) }
        try body(directory)
    }

    private func removeTree(_ directory: String) {
        if let stream = opendir(directory) {
            while let entry = readdir(stream) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name != "." && name != ".." { remove(directory + "/" + name) }
            }
            closedir(stream)
        }
        rmdir(directory)
    }

    private func create(_ path: String, size: UInt64) throws -> Bool {
        try PosixFile.create(path) { file throws(SystemError) in try file.grow(to: size) }
    }

    private func bytes(_ value: UInt8, _ count: Int) -> [UInt8] {
        Array(repeating: value, count: count)
    }

    @Test
    func `What is written is read back, through the cache, from the device and through a mapping`()
        throws
    {
        try withDirectory { directory throws in
            let path = directory + "/a.toft"
            #expect(try create(path, size: 12_288))
            let file = try PosixFile.open(path, forWriting: true)
            let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try content.withUnsafeBytes { try file.write($0, at: 5_000) }
            try file.sync()
            var back = bytes(0, content.count)
            try back.withUnsafeMutableBytes { try file.read(into: $0, at: 5_000) }
            #expect(back == content)
            back = bytes(0, content.count)
            try back.withUnsafeMutableBytes { try file.readFromDevice(into: $0, at: 5_000) }
            #expect(back == content)
            let size = try file.size()
            #expect(size == 205_000)
            let memory = try Reservation(byteCount: 1 << 20)
            try file.map(0..<size, at: memory.base)
            try file.populate(0..<size, at: memory.base, readingAhead: true)
            func mapped(_ range: Range<Int>) -> UnsafeRawBufferPointer {
                UnsafeRawBufferPointer(start: memory.base + range.lowerBound, count: range.count)
            }
            #expect(mapped(5_000..<205_000).elementsEqual(content))
            try content.withUnsafeBytes { try file.writeDurably($0, at: size) }
            try file.map(size..<405_000, at: memory.base + 205_000)
            #expect(mapped(5_000..<205_000).elementsEqual(content))
            #expect(mapped(205_000..<405_000).elementsEqual(content))
            #expect(throws: SystemError.fileEnds(path: file.path, offset: 405_000)) {
                try file.map(0..<405_001, at: memory.base)
            }
            try file.close()
            try file.close()
            #expect(throws: SystemError.closed) { try file.size() }
        }
    }

    @Test func `A page of a mapping that the file has lost is an error of populate, not a signal`()
        throws
    {
        try withDirectory { directory throws in
            let path = directory + "/a.toft"
            _ = try create(path, size: 65_536)
            let file = try PosixFile.open(path, forWriting: true)
            let memory = try Reservation(byteCount: 65_536)
            try file.map(0..<65_536, at: memory.base)
            try file.populate(0..<65_536, at: memory.base, readingAhead: false)
            truncate(path, 8_192)
            try file.populate(0..<8_192, at: memory.base, readingAhead: false)
            #expect(throws: SystemError.fileEnds(path: file.path, offset: 8_192)) {
                try file.populate(4_096..<12_288, at: memory.base + 4_096, readingAhead: true)
            }
        }
    }

    @Test func `Memory that becomes one page of the machine keeps what lies there`() throws {
        let size = Reservation.blockSize
        let memory = try Reservation(byteCount: 3 * size)
        try memory.becomeMemory()
        #expect((3...4).contains(memory.blockCount))
        for offset in stride(from: 0, to: 3 * size, by: 5_000) {
            memory.base.storeBytes(of: UInt32(offset), toByteOffset: offset, as: UInt32.self)
        }
        #expect(!memory.joinBlock(memory.blockCount), "it lies behind the memory")
        var whole = 0
        for index in 0..<memory.blockCount where memory.joinBlock(index) { whole += 1 }
        print("\(whole) of \(memory.blockCount) blocks joined")
        #expect(whole <= 3)
        for offset in stride(from: 0, to: 3 * size, by: 5_000) {
            let address = memory.base + offset
            #expect(address.load(as: UInt32.self) == UInt32(offset))
            #expect((0..<memory.blockCount).contains(memory.block(at: address)))
        }
        memory.discard()
        #expect(memory.base.load(fromByteOffset: 5_000, as: UInt32.self) == 0)
    }

    @Test func `A file in memory is mapped as one on the disk`() throws {
        let file = MemoryFile(name: "mapped")
        let memory = try Reservation(byteCount: 1 << 20)
        try file.grow(to: 8_192)
        try [UInt8](repeating: 7, count: 5_000).withUnsafeBytes { try file.write($0, at: 5_000) }
        #expect(try file.size() == 10_000)
        try file.map(0..<10_000, at: memory.base)
        #expect((memory.base + 9_999).load(as: UInt8.self) == 7)
        try file.truncate(to: 6_000)
        try file.grow(to: 10_000)
        #expect((memory.base + 5_999).load(as: UInt8.self) == 7)
        #expect((memory.base + 6_000).load(as: UInt8.self) == 0)
        #expect(throws: SystemError.self) { try file.map(0..<10_001, at: memory.base) }
        try file.close()
        #expect(throws: SystemError.closed) { try file.size() }
    }

    @Test func `A file is created once, and dead creators leave nothing behind`() throws {
        try withDirectory { directory throws in
            let path = directory + "/a.toft"
            let leftover = directory + "/.a.toft.dead.new"
            close(open(leftover, O_CREAT | O_RDWR, 0o600))
            #expect(try create(path, size: 4_096))
            #expect(try create(path, size: 4_096) == false)
            #expect(access(leftover, F_OK) != 0)
            var status = stat()
            let found = stat(path, &status)
            #expect(found == 0 && status.st_mode & 0o777 == 0o600 && status.st_size == 4_096)
            #expect(throws: SystemError.readOnly) {
                try PosixFile.create(directory + "/b.toft") { _ throws(SystemError) in
                    throw .readOnly
                }
            }
            #expect(access(directory + "/b.toft", F_OK) != 0)
        }
    }

    @Test func `Each thing that cannot be opened has its own error`() throws {
        try withDirectory { directory throws in
            #expect(throws: SystemError.fileNotFound(path: directory + "/none")) {
                try PosixFile.open(directory + "/none", forWriting: true)
            }
            #expect(throws: SystemError.isDirectory(path: directory)) {
                try PosixFile.open(directory, forWriting: true)
            }
            #expect(throws: SystemError.isDirectory(path: directory)) {
                try PosixFile.open(directory, forWriting: false)
            }
            symlink(directory + "/loop", directory + "/loop")
            #expect(
                throws: SystemError.io(operation: "open", path: directory + "/loop", errno: ELOOP)
            ) {
                try PosixFile.open(directory + "/loop", forWriting: true)
            }
            mkfifo(directory + "/pipe", 0o600)
            #expect(
                throws: SystemError.notAFile(path: directory + "/pipe", kind: "a named pipe")
            ) {
                try PosixFile.open(directory + "/pipe", forWriting: true)
            }
            #expect(throws: SystemError.fileNotFound(path: directory + "/no/file")) {
                try PosixFile.create(directory + "/no/file") { _ throws(SystemError) in }
            }
            #expect(FileSystemKind.unsharableName(magic: 0x6969) == "NFS")
        }
    }

    @Test func `A link to a file that does not exist yet is followed when it is created`() throws {
        try withDirectory { directory throws in
            symlink("real.toft", directory + "/link.toft")
            #expect(try create(directory + "/link.toft", size: 10))
            let file = try PosixFile.open(directory + "/link.toft", forWriting: true)
            let resolved = try FilePath.resolved(directory)
            #expect(file.path == resolved + "/real.toft")
            let identity = try FilePath.identity(of: directory + "/real.toft")
            #expect(try file.identity() == identity)
        }
    }
}

@Suite struct `Threads, flags and forks` {
    @Test func `A thread of the library has every signal blocked and runs to its end`() throws {
        let blocked = Atomic<Int>(0)
        let box = Box(blocked)
        let thread = try PlatformThread(name: "toft test") {
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            box.value.store(
                Int(sigismember(&mask, SIGTERM) + sigismember(&mask, SIGUSR1)), ordering: .relaxed)
        }
        thread.join()
        #expect(box.value.load(ordering: .relaxed) == 2)
    }

    @Test func `Threads that look together have an object each, which ends with its thread`() throws
    {
        for _ in 0..<8 {
            let looks = Looks()
            let threads = try (0..<Looks.threads).map { number in
                try PlatformThread(name: "looks \(number)") { looks.look() }
            }
            for thread in threads { thread.join() }
            #expect(looks.found.withLock { Set($0).count } == Looks.threads)
            #expect(looks.strange.load(ordering: .relaxed) == 0)
            #expect(looks.living.value.load(ordering: .relaxed) == 0)
        }
    }

    @Test(arguments: [0, 1, 2, 3, 1_000])
    func `Work in parts is done once each, and its threads have ended`(count: Int) {
        let times = FutexMutex([Int](repeating: 0, count: count))
        let box = Lent(times)
        SharedWork.run(count) { part in box.value.withLock { $0[part] += 1 } }
        #expect(box.value.withLock { $0 } == [Int](repeating: 1, count: count))
    }

    @Test func `What a part of the work throws is thrown when all threads have ended`() {
        struct Failure: Error, Equatable { var part: Int }
        let begun = Box(Atomic<Int>(0))
        #expect(throws: Failure(part: 5)) {
            try SharedWork.run(100_000) { part throws(Failure) in
                begun.value.add(1, ordering: .relaxed)
                if part == 5 { throw Failure(part: part) }
            }
        }
        let count = begun.value.load(ordering: .relaxed)
        #expect(count >= 6 && count < 100_000, "what had not begun is left out")
        #expect(begun.value.load(ordering: .relaxed) == count)
    }

    @Test func `A flag is seen by whoever polls its descriptor until it is cleared`() throws {
        let flag = try EventFlag()
        #expect(!flag.wait(timeoutMilliseconds: 0))
        flag.set()
        flag.set()
        #expect(flag.wait(timeoutMilliseconds: nil))
        #expect(flag.clear())
        #expect(!flag.clear())
        #expect(!flag.wait(timeoutMilliseconds: 1))
    }
}

private final class Lent<Value>: Sendable {
    let value: FutexMutex<Value>
    init(_ value: consuming FutexMutex<Value>) { self.value = value }
}

private final class Box: Sendable {
    let value: Atomic<Int>
    init(_ value: consuming Atomic<Int>) { self.value = value }
}

/// The values that threads see in one variable.
private final class Looks: Sendable {
    static let threads = 4

    private let local = ThreadLocal<Looked>()
    private let arrived = Atomic(0)
    let found = FutexMutex<[ObjectIdentifier]>([])
    let strange = Atomic(0)
    /// Objects that have not ended.
    let living = Box(Atomic(0))

    func look() {
        meet(Self.threads)
        let object = local.value { Looked(living) }
        let again = local.value { Looked(living) }
        let isSame = local.ask(orMake: { Looked(living) }) { $0 === object }
        if object !== again || !isSame || !local.isCurrent(.passUnretained(object)) {
            strange.add(1, ordering: .relaxed)
        }
        found.withLock { $0.append(ObjectIdentifier(object)) }
        meet(2 * Self.threads)
    }

    /// Waits for the others.
    private func meet(_ count: Int) {
        arrived.add(1, ordering: .sequentiallyConsistent)
        while arrived.load(ordering: .sequentiallyConsistent) < count { sched_yield() }
    }
}

private final class Looked {
    private let living: Box

    init(_ living: Box) {
        self.living = living
        living.value.add(1, ordering: .relaxed)
    }

    deinit { living.value.subtract(1, ordering: .relaxed) }
}
