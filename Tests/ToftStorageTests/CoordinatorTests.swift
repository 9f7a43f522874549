// Tests: Coordinator.swift, Coordinator+Attach.swift, FileAccess.swift, LockFile.swift,
// PosixFile+Creation.swift, ProcessTable.swift, RandomBytes.swift, ReadOnlyAttachments.swift,
// ReaderTable.swift, SharedWords+Layout.swift, SharedWordsFile.swift, VersionRing.swift
internal import Glibc
internal import Synchronization
import Testing
internal import ToftPlatform
@testable internal import ToftStorage

/// A coordinator in a temporary directory; closed files and removed names at the end.
private final class Place {
    let directory: String
    let path: String

    init() throws {
        var template = Array("/tmp/toft-coordinator-XXXXXX".utf8CString)
        directory = try #require(mkdtemp(&template).map { String(cString: $0) })
        path = directory + "/a.toft"
        _ = try PosixFile.create(path) { file throws(SystemError) in try file.grow(to: 65_536) }
    }

    func remove() {
        for name in ["a.toft", "a.toft.lock", "b.toft", "b.toft.lock"] {
            unlink(directory + "/" + name)
        }
        rmdir(directory)
    }

    func file(forWriting: Bool = true) throws -> PosixFile {
        try PosixFile.open(path, forWriting: forWriting)
    }

    /// Attaches, and opens when it is the first.
    func attach(version: Version = 1) throws -> Coordinator {
        let coordinator = try Coordinator.attach(try file())
        if coordinator.isFirst { try coordinator.open(published: published(version.rawValue)) }
        return coordinator
    }
}

private func published(_ version: UInt64) -> PublishedVersion {
    PublishedVersion(
        version: Version(version),
        root: Ref(
            page: PageNumber(version), birth: Version(version), checksum: ~version, pageCount: 1),
        fileSize: version * 4_096)
}

@Suite struct `Coordinators of one file` {
    @Test func `The first recovers, the others join and see what it published`() throws {
        let place = try Place()
        defer { place.remove() }
        let first = try Coordinator.attach(try place.file())
        #expect(first.isFirst)
        #expect(throws: StorageError.lockTimeout) {
            try Coordinator.attach(try place.file(), timeoutMilliseconds: 20)
        }
        var configuration = StoreConfiguration(location: .file(path: try place.file().path))
        configuration.attachTimeoutMilliseconds = 20
        #expect(throws: (any Error).self) { try Store.open(configuration) }
        try first.open(published: published(7))
        let second = try Coordinator.attach(try place.file())
        #expect(!first.isFirst && !second.isFirst)
        #expect(second.published == published(7))
        first.publish(published(9))
        #expect(second.published == published(9))
        #expect(second.claimVersion() == 10)
        #expect(first.claimVersion() == 11)
        first.durableVersion = 9
        #expect(second.durableVersion == 9)
    }

    @Test func `Only the last to leave is told so, and the next is the first again`() throws {
        let place = try Place()
        defer { place.remove() }
        let first = try place.attach()
        let second = try place.attach()
        var calls: [Int] = []
        first.detach { calls.append(1) }
        #expect(calls.isEmpty)
        second.poison()
        #expect(second.isPoisoned)
        second.detach { calls.append(2) }
        second.detach { calls.append(3) }
        #expect(calls == [2])
        let third = try Coordinator.attach(try place.file())
        #expect(third.isFirst)
        #expect(!third.isPoisoned)
        #expect(throws: StorageError.closed) { try second.pinLatest() }
    }

    @Test func `A first that vanishes before it has opened leaves that to the next`() throws {
        let place = try Place()
        defer { place.remove() }
        do {
            let file = try place.file()
            let coordinator = try Coordinator.attach(file)
            #expect(coordinator.isFirst)
            try file.close()
        }
        #expect(try Coordinator.attach(try place.file(), timeoutMilliseconds: 1_000).isFirst)
    }

    @Test func `Pins are seen by others, counted once a version, and gone when given back`() throws
    {
        let place = try Place()
        defer { place.remove() }
        let first = try place.attach()
        let second = try place.attach()
        let pins = try (0..<3).map { _ in try second.pinLatest() }
        first.publish(published(2))
        let newer = try second.pinLatest()
        #expect(newer.published == published(2))
        #expect(try first.pinnedVersions() == [1, 2])
        second.unpin(pins[0])
        second.unpin(pins[1])
        #expect(try first.pinnedVersions() == [1, 2])
        second.unpin(pins[2])
        #expect(try first.pinnedVersions() == [2])
        second.unpin(newer)
        #expect(try first.pinnedVersions() == [])
    }

    @Test func `Pins of a participant that is gone without a word are given back`() throws {
        let place = try Place()
        defer { place.remove() }
        let first = try place.attach()
        let file = try place.file()
        let second = try Coordinator.attach(file)
        _ = try second.pinLatest()
        first.publish(published(2))
        #expect(try first.pinnedVersions() == [1])
        // The lock that proves its life is released, though a process with its number lives.
        try second.living?.close()
        try file.close()
        #expect(try first.pinnedVersions() == [])
        // Its place in the table of processes can be had again, and the new owner's pins are its
        // own.
        let third = try place.attach()
        let pin = try third.pinLatest()
        first.publish(published(3))
        #expect(try first.pinnedVersions() == [2])
        third.unpin(pin)
    }

    @Test func `A full table of pins is an error, and room again after one is given back`() throws {
        let place = try Place()
        defer { place.remove() }
        let first = try place.attach()
        let second = try place.attach()
        var pins: [Pin] = []
        for version in 2...UInt64(LockFileLayout.pinLimit + 1) {
            pins.append(try second.pinLatest())
            first.publish(published(version))
        }
        #expect(throws: StorageError.tooManyReaders) { try second.pinLatest() }
        #expect(throws: StorageError.tooManyReaders) { try first.pinLatest() }
        #expect(try first.pinnedVersions().count == LockFileLayout.pinLimit)
        second.unpin(pins[5])
        second.unpin(try second.pinLatest())
        #expect(try first.pinnedVersions().count == LockFileLayout.pinLimit - 1)
    }

    @Test func `One writes at a time, waiting ends at the deadline and with the owner`() throws {
        let place = try Place()
        defer { place.remove() }
        let first = try place.attach()
        let file = try place.file()
        let second = try Coordinator.attach(file)
        #expect(try second.lockWriter(timeoutMilliseconds: 0) == false)
        #expect(throws: StorageError.lockTimeout) { try first.lockWriter(timeoutMilliseconds: 20) }
        #expect(throws: StorageError.lockTimeout) { try second.lockWriter(timeoutMilliseconds: 20) }
        second.unlockWriter()
        #expect(try first.lockWriter(timeoutMilliseconds: 0) == false)
        first.unlockWriter()
        // An owner dies: its descriptor is closed, its phase stays. A process that another test is
        // starting has a copy of the descriptor for a moment.
        #expect(try second.lockWriter(timeoutMilliseconds: 0) == false)
        try file.close()
        #expect(try first.lockWriter(timeoutMilliseconds: 60_000) == true)
        first.unlockWriter()
        #expect(try first.lockWriter(timeoutMilliseconds: 0) == true)
        first.finishTakeover()
        first.unlockWriter()
        #expect(try first.lockWriter(timeoutMilliseconds: 0) == false)
        first.unlockWriter()
    }

    @Test func `A lock file of another layout, of another file, or missing, keeps newcomers out`()
        throws
    {
        let place = try Place()
        defer { place.remove() }
        let first = try place.attach()
        link(place.path, place.directory + "/b.toft")
        #expect(throws: StorageError.self) {
            try Coordinator.attach(
                try PosixFile.open(place.directory + "/b.toft", forWriting: true))
        }
        let descriptor = open(place.path + ".lock", O_RDWR)
        defer { close(descriptor) }
        var other: UInt64 = 99
        pwrite(descriptor, &other, 8, 8)
        #expect {
            try Coordinator.attach(try place.file())
        } throws: { error in
            guard case StorageError.incompatibleProcess(let reason) = error else { return false }
            return reason.contains("layout 99")
        }
        first.detach {}
        #expect(try place.attach().isFirst == false)
    }

    @Test func `Who waited for a file that was deleted or replaced meanwhile begins again`() throws
    {
        let place = try Place()
        defer { place.remove() }
        let file = try place.file()
        #expect(unlink(place.path) == 0)
        #expect(throws: StorageError.replaced(path: place.path)) { try Coordinator.attach(file) }
        close(open(place.path, O_RDWR | O_CREAT, 0o600))
        #expect(throws: StorageError.replaced(path: place.path)) { try Coordinator.attach(file) }
    }

    @Test func `Something else with the lock file's name is not touched`() throws {
        let place = try Place()
        defer { place.remove() }
        let descriptor = open(place.path + ".lock", O_RDWR | O_CREAT, 0o600)
        write(descriptor, "a diary, not a lock file, of some length", 40)
        close(descriptor)
        #expect(
            throws: StorageError.incompatibleProcess(
                "'\(place.path).lock' is in the way, as it is not a lock file: move it, or use "
                    + "another name")
        ) {
            try Coordinator.attach(try place.file())
        }
    }

    @Test func `The lock file has the data file's mode, and a file moved away keeps its own`()
        throws
    {
        let place = try Place()
        defer { place.remove() }
        chmod(place.path, 0o640)
        let first = try place.attach(version: 5)
        var status = stat()
        stat(place.path + ".lock", &status)
        #expect(status.st_mode & 0o777 == 0o640)
        #expect(
            status.st_size == LockFileLayout.size && status.st_blocks * 512 >= LockFileLayout.size)
        // Another file takes the name: its participants share other words.
        rename(place.path, place.directory + "/b.toft")
        _ = try PosixFile.create(place.path) { file throws(SystemError) in
            try file.grow(to: 65_536)
        }
        let other = try place.attach(version: 50)
        #expect(first.published.version == 5)
        #expect(other.published.version == 50)
    }

    @Test func `A sleeper is woken by a commit of another participant, and by nothing else`() throws
    {
        let place = try Place()
        defer { place.remove() }
        let first = try place.attach()
        let second = try place.attach()
        #expect(!second.waitForVersion(after: 1, timeoutMilliseconds: 5))
        #expect(second.waitForVersion(after: 0, timeoutMilliseconds: -1))
        let thread = try PlatformThread(name: "publisher") {
            usleep(20_000)
            first.publish(published(2))
            first.wake()
        }
        #expect(second.waitForVersion(after: 1, timeoutMilliseconds: 10_000))
        thread.join()
    }
}

@Suite struct `Attachments that only read` {
    @Test func `A reader pins what participants must then keep, and follows them`() throws {
        let place = try Place()
        defer { place.remove() }
        let reader = try Coordinator.readOnly(try place.file(forWriting: false)) {
            () throws(StorageError) in published(4)
        }
        #expect(reader.isFirst)
        try reader.open(published: published(4))
        let atRest = try reader.pinLatest()
        #expect(atRest.published == published(4))
        let participant = try place.attach(version: 6)
        #expect(try participant.pinnedVersions() == [4])
        #expect(reader.published == published(6))
        let six = try reader.pinLatest()
        participant.publish(published(7))
        let seven = try reader.pinLatest()
        #expect(try participant.pinnedVersions() == [4, 6, 7])
        reader.unpin(six)
        reader.unpin(six)
        #expect(try participant.pinnedVersions() == [4, 7])
        reader.unpin(seven)
        reader.unpin(atRest)
        #expect(try participant.pinnedVersions() == [])
        #expect(throws: StorageError.readOnly) { try reader.lockWriter(timeoutMilliseconds: 0) }
        _ = try reader.pinLatest()
        reader.detach {}
        #expect(try participant.pinnedVersions() == [])
    }

    @Test func `A reader without a lock file reads the file alone, and creates nothing`() throws {
        let place = try Place()
        defer { place.remove() }
        let reader = try Coordinator.readOnly(try place.file(forWriting: false)) {
            () throws(StorageError) in published(4)
        }
        _ = try reader.pinLatest()
        #expect(access(place.path + ".lock", F_OK) != 0)
        #expect(!reader.waitForVersion(after: 4, timeoutMilliseconds: 5))
    }
}
