// Tests: MarkedDescriptor.swift
internal import Glibc
internal import ToftModel
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// Descriptors are closed under the engine, as a daemon does, and other files get their numbers: at
/// any moment of a transaction, of a read, of a checkpoint, of a close.
///
/// Afterwards no other file has changed or lost its descriptor; acknowledged commits are in the
/// file, and refused ones are not; a version that was being read is read; the process opens the
/// file again though it has it open, and commits; and the file is sound.
enum DescriptorTrials {
    static func run(rounds: Int, seed: UInt64) throws -> Bool {
        var lost = 0
        for number in seed..<seed + UInt64(rounds) {
            do {
                if try Round(seed: number).run() { lost += 1 }
            } catch {
                print("descriptors, seed \(number): \(error)")
                return false
            }
        }
        print("descriptors: \(rounds) rounds from seed \(seed), \(lost) met a lost descriptor")
        return true
    }

    /// The fate of a descriptor.
    private enum Loss: CaseIterable {
        case closed, anotherFile, samePath, pipe
    }

    private final class Round {
        private var random: Seed
        private let directory: String
        private let path: String
        private var configuration: StoreConfiguration
        /// The last acknowledged values, and the possible others.
        private var known: UInt8 = 0
        private var doubtful: Set<UInt8> = []
        private var next: UInt8 = 1
        private var hasLost = false
        /// Numbers that belong to others by now, and which file that is.
        private var foreign: [(descriptor: Int32, identity: FileIdentity)] = []
        private var victims: [String] = []
        private static let content = [UInt8](repeating: 0x5A, count: 2 << 20)

        init(seed: UInt64) throws {
            random = Seed(seed)
            directory = try TemporaryDirectory.make()
            path = directory + "/a.toft"
            configuration = StoreConfiguration(location: .file(path: path))
            configuration.firstLogPages = random.chance(25) ? 0 : LogLimit.firstPages
            configuration.usesMapping = random.chance(50)
            if random.chance(33) {
                configuration.encryptionKey = try EncryptionKey((0..<64).map { $0 })
            }
        }

        deinit { TemporaryDirectory.remove(directory) }

        /// Returns whether a call met a lost descriptor.
        func run() throws -> Bool {
            let first = try Store.open(configuration)
            for _ in 0...random.below(3) { try commit(in: first) }
            let pinned = try first.beginRead()
            let seen = known
            let lossAt = random.below(6)
            for step in 0..<6 {
                if step == lossAt, !random.chance(33) { try lose() }
                try operate(on: first, losing: step == lossAt)
            }
            try expect(pinned, seen)
            pinned.release()
            let second = try Store.open(configuration)
            try commit(in: second)
            if random.chance(50) { try close(first) }
            try read(second)
            try close(second)
            try close(first)
            try checkVictims()
            try check()
            return hasLost
        }

        // MARK: Steps

        private func operate(on store: Store, losing: Bool) throws {
            switch random.below(6) {
            case 0, 1, 2: try commit(in: store, losing: losing && foreign.isEmpty)
            case 3: try allowing { () throws(StorageError) in try store.checkpoint() }
            case 4: try allowing { () throws(StorageError) in try store.flush() }
            default: try allowing { () throws(StorageError) in try read(store) }
            }
        }

        private func commit(in store: Store, losing: Bool = false) throws {
            let value = next
            next &+= 1
            let kind: Durability = random.one(of: [.immediate, .group, .deferred])
            do throws(StorageError) {
                let transaction = try store.beginWrite(timeoutMilliseconds: 10_000)
                defer { transaction.rollback() }
                if try !transaction.view.hasTree(Content.directory) {
                    _ = try transaction.createOrderedTree()
                }
                try Self.put(value, in: transaction)
                if losing { try? lose() }
                _ = try transaction.commit(kind)
                known = value
                doubtful = []
            } catch {
                try allow(error)
                if case .commitOutcomeUnknown = error { doubtful.insert(value) }
            }
        }

        private static func put(_ value: UInt8, in transaction: WriteTransaction)
            throws(StorageError)
        {
            let bytes = [UInt8](repeating: value, count: 100)
            try bytes.withBytes { bytes throws(StorageError) in
                try transaction.treePut(
                    Content.directory, UnsafeRawBufferPointer(rebasing: bytes[..<1]), bytes,
                    derived: false)
                try [0].withBytes { key throws(StorageError) in
                    try transaction.treePut(Content.directory, key, bytes, derived: false)
                }
            }
        }

        private func read(_ store: Store) throws(StorageError) {
            let snapshot = try store.beginRead()
            defer { snapshot.release() }
            let value = try Self.value(in: snapshot)
            if value == known { return }
            guard doubtful.contains(value) else { throw .typeMismatch("read another value") }
            known = value
        }

        private static func value(in snapshot: Snapshot) throws(StorageError) -> UInt8 {
            try [0].withBytes { key throws(StorageError) in
                try snapshot.orderedTree(Content.directory).value(forKey: key)?.first ?? 0
            }
        }

        private func expect(_ snapshot: Snapshot, _ value: UInt8) throws {
            try allowing { () throws(StorageError) in
                let found = try Self.value(in: snapshot)
                if found != value { throw .typeMismatch("\(found) in a version of \(value)") }
            }
        }

        private func close(_ store: Store) throws {
            do throws(StorageError) { try store.close() } catch {
                try allow(error)
            }
        }

        private func allowing(_ body: () throws(StorageError) -> Void) throws {
            do throws(StorageError) { try body() } catch { try allow(error) }
        }

        /// An error that names the cause.
        private func allow(_ error: StorageError) throws {
            switch error {
            case .descriptorLost, .commitOutcomeUnknown, .closed:
                guard !foreign.isEmpty || hasLost else { throw error }
                hasLost = true
            default: throw error
            }
        }

        // MARK: Descriptors

        private func lose() throws {
            let own = TemporaryDirectory.names(in: "/proc/self/fd").compactMap { Int32($0) }
                .filter { Self.target(of: $0) == path }
            hasLost = true
            let lost = random.chance(50) ? own : [random.one(of: own)]
            for descriptor in lost {
                switch random.one(of: Loss.allCases) {
                case .closed: Glibc.close(descriptor)
                case .anotherFile: try replace(descriptor, by: try makeVictim())
                case .samePath: try replace(descriptor, by: Glibc.open(path, O_RDWR | O_CLOEXEC))
                case .pipe:
                    var ends: [Int32] = [0, 0]
                    guard Glibc.pipe(&ends) == 0 else { throw Failure("pipe: errno \(errno)") }
                    Glibc.close(ends[0])
                    try replace(descriptor, by: ends[1])
                }
            }
        }

        private func replace(_ descriptor: Int32, by other: Int32) throws {
            guard dup2(other, descriptor) == descriptor else { throw Failure("errno \(errno)") }
            Glibc.close(other)
            foreign.append((descriptor, try Self.identity(of: descriptor)))
        }

        private func makeVictim() throws -> Int32 {
            let name = directory + "/victim\(victims.count)"
            victims.append(name)
            let file = Glibc.open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard write(file, Self.content, Self.content.count) == Self.content.count else {
                throw Failure("write: errno \(errno)")
            }
            lseek(file, off_t(random.below(Self.content.count)), SEEK_SET)
            return file
        }

        private static func identity(of descriptor: Int32) throws -> FileIdentity {
            guard let identity = try FileIdentity.ofFile(at: "/proc/self/fd/\(descriptor)") else {
                throw Failure("somebody else's descriptor \(descriptor) was closed")
            }
            return identity
        }

        private static func target(of descriptor: Int32) -> String {
            var path = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink("/proc/self/fd/\(descriptor)", &path, path.count - 1)
            return String(
                decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        private func checkVictims() throws {
            for (descriptor, identity) in foreign {
                guard try Self.identity(of: descriptor) == identity else {
                    throw Failure("descriptor \(descriptor) is another file")
                }
                Glibc.close(descriptor)
            }
            for name in victims {
                let file = try PosixFile.open(name, forWriting: false)
                defer { try? file.close() }
                guard try file.content() == Self.content else {
                    throw Failure("'\(name)' was written to")
                }
            }
        }

        private func check() throws {
            let store = try Store.open(configuration)
            try read(store)
            try commit(in: store)
            try read(store)
            let report = try store.check()
            guard report.isSound else { throw Failure("unsound: \(report.problems)") }
            try store.close()
        }
    }
}
