internal import Synchronization

/// How a store is opened.
package struct StoreConfiguration: Sendable {
    package enum Location: Sendable, Hashable {
        case file(path: String)
        /// Shared by name within the process; gone with the last handle.
        case memory(name: String)
    }

    package var location: Location
    package var isReadOnly = false
    /// Whether a file that is missing is made.
    package var createsFile = true
    package var allowsNetworkFileSystem = false
    /// Bytes of changed leaves that a transaction keeps in memory.
    package var dirtyLimit = StoreLimit.dirtyBytes

    package init(location: Location) {
        self.location = location
    }
}

/// An open database file: one for each file in a process, however many open it.
///
/// Any thread may call anything. Snapshots keep their store alive.
package final class Store: Sendable {
    let file: any StorageFile
    let sections: Sections
    package let coordinator: Coordinator
    /// Where the file is, or the name in angle brackets of an in-memory database.
    package var path: String { file.path }
    package let isReadOnly: Bool
    let dirtyLimit: Int
    /// What every meta says of this file.
    let template: Meta
    /// Whether the store leaves the file when it goes; not so while recovery looks at a file through one.
    private let leavesFile: Bool
    private let generation = ForkGuard.generation
    private let writer = Mutex(WriterState())

    private struct WriterState {
        var oldestPin: UInt64 = 0
        /// For each table the highest key that a transaction took and then did not commit: somebody may still hold a link to it.
        var abandonedKeys: [UInt64: Int64] = [:]
    }

    init(file: any StorageFile, coordinator: Coordinator, template: Meta, isReadOnly: Bool, dirtyLimit: Int, leavesFile: Bool = true) {
        self.leavesFile = leavesFile
        self.file = file
        self.coordinator = coordinator
        self.template = template
        self.isReadOnly = isReadOnly
        self.dirtyLimit = dirtyLimit
        sections = Sections(file: file)
    }

    deinit {
        if leavesFile { Recovery.close(self) }
    }

    // MARK: Reading

    /// The newest version that readers may see.
    package var latestVersion: UInt64 { coordinator.published.version }

    /// Pins the newest version.
    package func beginRead() throws(StorageError) -> Snapshot {
        try checkProcess()
        let pin = try coordinator.pinLatest()
        do {
            return try Snapshot(store: self, published: pin.published, pin: pin)
        } catch {
            coordinator.unpin(pin)
            throw error
        }
    }

    /// Sleeps until a version after `version` is published, by any process, or the time is over. True if there is one.
    package func waitForChange(after version: UInt64, timeoutMilliseconds: Int) -> Bool {
        coordinator.waitForVersion(after: version, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Counts wake-ups, see `Coordinator.wakeCount`.
    package var wakeCount: UInt32 { coordinator.wakeCount }

    /// The same as `waitForChange` for who took `seen` before he looked; ends as well when somebody calls `wake`. Waits as long as it takes.
    package func sleep(after version: UInt64, since seen: UInt32) {
        _ = coordinator.waitForVersion(after: version, since: seen, timeoutMilliseconds: -1)
    }

    /// Ends the sleep of all who wait for a change, in any process.
    package func wake() {
        coordinator.wake()
    }

    /// Throws in a forked child: its parent's handles are not its own.
    package func checkProcess() throws(StorageError) {
        guard ForkGuard.generation == generation else { throw .usedAfterFork }
    }

    // MARK: Writing

    /// Begins the write transaction, after those of other threads and processes. Waits at most so long (negative: for ever).
    package func beginWrite(timeoutMilliseconds: Int = -1) throws(StorageError) -> WriteTransaction {
        try checkProcess()
        guard !isReadOnly else { throw .readOnly }
        let previousOwnerDied = try coordinator.lockWriter(timeoutMilliseconds: timeoutMilliseconds)
        do {
            if coordinator.isPoisoned { throw StorageError.poisoned }
            try checkNotReplaced()
            if previousOwnerDied && !Probe.makes(.deadWriterNotTakenOver) {
                try Recovery.takeOver(self)
                coordinator.finishTakeover()
            }
            var pins = try coordinator.pinnedVersions()
            pins.append(coordinator.durableVersion)
            if Probe.makes(.pinsIgnored) { pins = [] }
            pins.sort()
            writer.withLock { $0.oldestPin = pins.first ?? 0 }
            let published = coordinator.published
            Probe.reach(.transactionBegun)
            return try WriteTransaction(store: self, published: published, version: claimVersion(after: published.version), pins: pins)
        } catch let error as StorageError {
            coordinator.unlockWriter()
            throw error
        } catch {
            coordinator.unlockWriter()
            throw .closed
        }
    }

    /// A version number whose meta goes to the idle slot: not the one that holds the newest meta. Numbers that were rolled back leave gaps, so
    /// the next may be the wrong one.
    private func claimVersion(after newest: UInt64) -> UInt64 {
        if Probe.makes(.versionReusedAfterRollback) { return newest + 1 }
        let version = coordinator.claimVersion()
        return Meta.slot(of: version) == Meta.slot(of: newest) ? coordinator.claimVersion() : version
    }

    func endWrite() {
        coordinator.unlockWriter()
    }

    /// The oldest version that some reader has pinned, as the present writer found it.
    var oldestPin: UInt64 { writer.withLock { $0.oldestPin } }

    /// Keys that no row got and none will get, by table, see `WriterState`.
    var abandonedKeys: [UInt64: Int64] { writer.withLock { $0.abandonedKeys } }

    func abandon(_ keys: [UInt64: Int64]) {
        writer.withLock { $0.abandonedKeys.merge(keys, uniquingKeysWith: max) }
    }

    /// Whether a path names this file.
    package func isFile(at path: String) -> Bool {
        guard file.lockDescriptor != nil, let found = try? FileIdentity.ofFile(at: path) else { return false }
        return found == template.identity
    }

    /// Refuses to write into a file that its path no longer names: the data would be lost with the last handle.
    private func checkNotReplaced() throws(StorageError) {
        guard file.lockDescriptor != nil, let now = try FileIdentity.ofFile(at: file.path) else { return }
        if now != template.identity { throw .replaced(path: file.path) }
    }

    /// Writes a meta to the page that its version's turn is, durably.
    func writeMeta(_ published: PublishedVersion, pageCount: UInt64, isClosedCleanly: Bool) throws(StorageError) {
        var meta = template
        meta.version = published.version
        meta.root = published.root
        meta.pageCount = pageCount
        meta.isClosedCleanly = isClosedCleanly
        try MetaPage.write(meta, slot: meta.slot, to: file)
    }
}

/// Meta pages to and from the file.
enum MetaPage {
    static func write(_ meta: Meta, slot: UInt64, to file: any StorageFile) throws(StorageError) {
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: Page.size, alignment: Page.size)
        defer { page.deallocate() }
        meta.encode(to: page)
        if Probe.makes(.metaNotDurable) { return try file.write(UnsafeRawBufferPointer(page), at: slot * UInt64(Page.size)) }
        try file.writeDurably(UnsafeRawBufferPointer(page), at: slot * UInt64(Page.size))
    }

    /// The valid meta of a slot, nil if the page holds none.
    static func read(slot: UInt64, fromDevice: Bool, of file: any StorageFile) throws(StorageError) -> Meta? {
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: Page.size, alignment: Page.size)
        defer { page.deallocate() }
        if fromDevice {
            try file.readFromDevice(into: page, at: slot * UInt64(Page.size))
        } else {
            try file.read(into: page, at: slot * UInt64(Page.size))
        }
        return try Meta(validating: UnsafeRawBufferPointer(page), path: file.path)
    }

    /// The newest valid meta.
    static func newest(fromDevice: Bool, of file: any StorageFile) throws(StorageError) -> Meta? {
        let first = try read(slot: 0, fromDevice: fromDevice, of: file)
        let second = try read(slot: 1, fromDevice: fromDevice, of: file)
        if Probe.makes(.olderMetaRefused), first == nil || second == nil, try file.size() > UInt64(16 * Page.size) { return nil }
        guard let first else { return second }
        guard let second else { return first }
        return first.version > second.version ? first : second
    }
}
