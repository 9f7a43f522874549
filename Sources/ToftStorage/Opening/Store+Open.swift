internal import Synchronization
package import ToftPlatform

/// The stores that this process has open, so that a file that is opened twice is one store: two at
/// most, if it was opened for reading only first and for writing then.
///
/// The registry's lock is held for a lookup only. Attaching to a file, which may wait for another
/// process, holds the lock of that file's entry: only openers of the same file wait for it.
private enum StoreRegistry {
    enum Key: Hashable {
        case file(FileIdentity, isReadOnly: Bool)
        case memory(String)
    }

    struct WeakStore {
        weak var store: Store?
    }

    final class Entry: Sendable {
        /// Locked while the file is attached to.
        let open = FutexMutex(WeakStore())
        /// The thread that is attaching to the file; otherwise 0.
        private let opener = Atomic<UInt>(0)

        private static var thread: UInt {
            UInt(bitPattern: Unmanaged.passUnretained(ThreadMark.current).toOpaque())
        }

        /// Attaches to the file, which may call the program.
        func attaching(_ make: () throws(StorageError) -> Store) throws(StorageError) -> Store {
            opener.store(Self.thread, ordering: .relaxed)
            defer { opener.store(0, ordering: .relaxed) }
            return try make()
        }

        /// Throws if the program's callback opens the file again, which would wait for itself.
        func expectOtherThread(_ path: String) throws(StorageError) {
            guard opener.load(ordering: .relaxed) != Self.thread else {
                throw .openingHere(path: path)
            }
        }
    }

    struct Slot {
        let entry = Entry()
        /// Threads that use the entry now. An unused entry without a store is removed.
        var users = 0
    }

    static let slots = ProcessWide<[Key: Slot]> { [:] }

    /// The store of a key if it is open.
    static func store(_ key: Key, at path: String) throws(StorageError) -> Store? {
        guard let entry = slots.withLock({ $0[key]?.entry }) else { return nil }
        try entry.expectOtherThread(path)
        return entry.open.withLock { open in
            guard let store = open.store, store.isIntact, store.addHandle() else { return nil }
            return store
        }
    }

    /// The store of a key: the one that is open, or the one that `make` opens.
    static func store(
        _ key: Key, at path: String, orOpen make: () throws(StorageError) -> Store
    ) throws(StorageError) -> Store {
        let entry = slots.withLock { slots in
            slots = slots.filter {
                $0.value.users > 0 || $0.value.entry.open.withLock { $0.store != nil }
            }
            var slot = slots[key] ?? Slot()
            slot.users += 1
            slots[key] = slot
            return slot.entry
        }
        defer { slots.withLock { $0[key]?.users -= 1 } }
        try entry.expectOtherThread(path)
        let result: Result<Store, StorageError> = entry.open.withLock { open in
            // One whose descriptors the program has closed can do nothing more.
            if let store = open.store, store.isIntact, store.addHandle() { return .success(store) }
            do throws(StorageError) {
                let store = try entry.attaching(make)
                open.store = store
                return .success(store)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

extension Store {
    /// Opens a database, or joins the store that this process has open for the same file already.
    /// Waits behind others that open the same file, never behind those that open another.
    ///
    /// Each store that this returned is closed by one `close`, or by releasing it.
    ///
    /// - Throws: `fileNotFound`, `permissionDenied`, `isDirectory`, `notADatabase`, `keyRequired`,
    ///   `wrongKey`, `notEncrypted`, `cipherMissing`, `unsupportedFormat`, `versionTooLow`,
    ///   `corrupt`, `incompatibleProcess`, `diskFull`, `io`...
    package static func open(_ configuration: StoreConfiguration) throws(StorageError) -> Store {
        let store = try joinOrOpen(configuration)
        do throws(StorageError) {
            if configuration.sharing == .none, case .file = configuration.location, !store.isAlone {
                throw .sharedAlready(path: store.path)
            }
            // A recovered one has been checked before: its version has changed since.
            try store.expect(atLeast: configuration.minimumVersion)
            return store
        } catch {
            try? store.close()
            throw error
        }
    }

    private static func joinOrOpen(_ configuration: StoreConfiguration) throws(StorageError)
        -> Store
    {
        switch configuration.location {
        case .memory(let name):
            return try StoreRegistry.store(.memory(name), at: name) { () throws(StorageError) in
                try openMemory(name, configuration)
            }
        case .file(let path):
            var attempts = 0
            while true {
                do throws(StorageError) {
                    return try openFile(at: path, configuration)
                } catch .replaced where attempts < mostAttempts {
                    // The path names another file now, which is to be opened instead, or no file.
                    attempts += 1
                }
            }
        }
    }

    /// Most attempts of an opening while others delete or replace the file.
    private static let mostAttempts = 100

    @inline(never)
    private static func openFile(at path: String, _ configuration: StoreConfiguration)
        throws(StorageError) -> Store
    {
        let (file, cipher, isNew) = try openFile(path, configuration)
        var configuration = configuration
        // A new file has nothing to release.
        if isNew { configuration.compacts = nil }
        let identity = try system(file.identity())
        // A reader can use the store of writers.
        if configuration.isReadOnly,
            let store = try joined(identity, file)
        {
            try? file.close()
            return store
        }
        var isJoined = true
        let key = StoreRegistry.Key.file(identity, isReadOnly: configuration.isReadOnly)
        let store: Store
        do throws(StorageError) {
            store = try StoreRegistry.store(key, at: file.path) { () throws(StorageError) in
                isJoined = false
                return try attach(file, cipher, configuration)
            }
        } catch {
            if isJoined { try? file.close() }
            throw error
        }
        if isJoined { try? file.close() }
        return store
    }

    /// The store that this process has open for reading and writing, if it has.
    private static func joined(_ identity: FileIdentity, _ file: PosixFile) throws(StorageError)
        -> Store?
    {
        do throws(StorageError) {
            return try StoreRegistry.store(.file(identity, isReadOnly: false), at: file.path)
        } catch {
            try? file.close()
            throw error
        }
    }

    @inline(never)
    private static func openMemory(_ name: String, _ configuration: StoreConfiguration)
        throws(StorageError) -> Store
    {
        let file = MappedFile(MemoryFile(name: name))
        try Recovery.format(file)
        return try recoverAndOpen(
            file, try Coordinator.inMemory(), dirtyLimit: configuration.dirtyLimit,
            firstLogPages: 0)
    }

    /// Opens a store on a file and a coordinator of the caller's, as the first to attach: for tests
    /// with disks of their own.
    ///
    /// It has no thread: checkpoints happen when the log is full, when `checkpoint` is called, and
    /// at the last close.
    package static func open(
        on file: any StorageFile, coordinator: Coordinator, dirtyLimit: Int = StoreLimit.dirtyBytes,
        firstLogPages: UInt64 = LogLimit.firstPages, isBuffered: Bool = false,
        encryptionKey: EncryptionKey? = nil, keptBytes: Int = MappedFile.defaultKeptBytes,
        isCompacted: Bool = false, minimumVersion: Version = 0
    ) throws(StorageError) -> Store {
        let cipher = try cipher(of: file, encryptionKey)
        let always: @Sendable (UInt64, UInt64) -> Bool = { _, _ in true }
        return try recoverAndOpen(
            MappedFile(file, isBuffered: isBuffered, cipher: cipher, keptBytes: keptBytes),
            coordinator,
            dirtyLimit: dirtyLimit, firstLogPages: firstLogPages, minimumVersion: minimumVersion,
            compacts: isCompacted ? always : nil)
    }

    /// A read-only attachment's view of a file that nobody else has open, for tests with disks of
    /// their own. Nothing is written.
    package static func readOnlySnapshot(
        on file: any StorageFile, encryptionKey: EncryptionKey? = nil
    ) throws(StorageError) -> Snapshot {
        let file = MappedFile(file, cipher: try cipher(of: file, encryptionKey))
        let coordinator = try Coordinator.inMemory()
        let meta = try Recovery.look(file)
        try coordinator.open(published: PublishedVersion(meta))
        let store = Store(
            file: file, coordinator: coordinator, template: meta, isReadOnly: true, dirtyLimit: 0)
        var pin = try coordinator.pinLatest()
        pin.isRecovered = false
        guard let snapshot = try store.snapshot(pinned: pin) else { throw .closed }
        return snapshot
    }

    /// Another store on the same file and coordinator, as another process would have it: for tests.
    package func twin() -> Store {
        Store(
            file: file.reopened(), coordinator: coordinator, template: template,
            isReadOnly: isReadOnly,
            dirtyLimit: dirtyLimit, firstLogPages: firstLogPages,
            leavesFile: false)
    }

    /// Writes an empty database into an empty file: for tests with disks of their own.
    package static func format(_ file: any StorageFile, encryptionKey: EncryptionKey? = nil)
        throws(StorageError)
    {
        try Recovery.format(MappedFile(file, cipher: try newCipher(encryptionKey)))
    }

    /// The cipher of a file that is about to be made.
    static func newCipher(_ key: EncryptionKey?) throws(StorageError) -> Cipher? {
        guard let key else { return nil }
        return try Cipher(ofNewFileWith: key)
    }

    /// The cipher of a file, if the key is the one that it was made with; nil for a plain file.
    ///
    /// - Throws: `keyRequired`, `wrongKey`, `notEncrypted`, `cipherMissing`.
    static func cipher(of file: any StorageFile, _ key: EncryptionKey?) throws(StorageError)
        -> Cipher?
    {
        // Without a valid meta nothing is known of it: recovery reports that.
        guard let meta = try MetaPage.unauthenticated(of: file) else { return nil }
        guard let header = meta.key else {
            if key != nil { throw .notEncrypted(path: file.path) }
            return nil
        }
        guard let key else { throw .keyRequired(path: file.path) }
        let cipher = try Cipher(key, fileID: header.fileID)
        guard cipher.header.keyCheck.matches(header.keyCheck) else {
            throw .wrongKey(path: file.path)
        }
        return cipher
    }

    /// A file, its cipher, and whether the file was made for this opening.
    @inline(never)
    private static func openFile(_ path: String, _ configuration: StoreConfiguration)
        throws(StorageError) -> (PosixFile, Cipher?, isNew: Bool)
    {
        do throws(StorageError) {
            let (file, cipher) = try existingFile(path, configuration)
            return (file, cipher, false)
        } catch .emptyFile(let found) where configuration.makesFile {
            try replaceEmptyFile(found, configuration)
            let (file, cipher) = try existingFile(path, configuration)
            return (file, cipher, true)
        } catch .fileNotFound(let missing) where configuration.minimumVersion == 0 {
            if !configuration.isReadOnly,
                configuration.createsFile || configuration.seedPath != nil
            {
                try LockFile.expectPlace(besides: path)
            }
            if configuration.seedPath != nil {
                try make(path, configuration)
                let (file, cipher) = try existingFile(path, configuration)
                return (file, cipher, true)
            }
            guard configuration.makesFile else { throw .fileNotFound(path: missing) }
            try make(path, configuration)
            do throws(StorageError) {
                let (file, cipher) = try existingFile(path, configuration)
                return (file, cipher, true)
            } catch .fileNotFound {
                // Somebody has deleted it since.
                throw .replaced(path: path)
            }
        }
    }

    /// Makes a new database, or a copy of the seed. Somebody else may be faster.
    private static func make(
        _ path: String, _ configuration: StoreConfiguration, isReplacing: Bool = false
    ) throws(StorageError) {
        if let seed = configuration.seedPath {
            return try copy(seed, to: path, configuration, isReplacing: isReplacing)
        }
        var failure: StorageError?
        do throws(SystemError) {
            _ = try PosixFile.create(
                path, onAnyFileSystem: configuration.sharing == .none, isReplacing: isReplacing
            ) { file throws(SystemError) in
                do throws(StorageError) {
                    try format(file, encryptionKey: configuration.encryptionKey)
                } catch {
                    failure = error
                    // Any error ends the creation; `failure` says which.
                    throw .closed
                }
            }
        } catch {
            throw failure ?? StorageError(error)
        }
    }

    /// Copies another database, which need not be writable.
    private static func copy(
        _ seed: String, to path: String, _ configuration: StoreConfiguration, isReplacing: Bool
    ) throws(StorageError) {
        var source = StoreConfiguration(location: .file(path: seed))
        source.isReadOnly = true
        source.usesMapping = configuration.usesMapping
        source.sharing = .whereItCan
        source.encryptionKey = configuration.encryptionKey
        let store = try open(source)
        defer { try? store.close() }
        let snapshot = try store.beginRead()
        defer { snapshot.release() }
        do throws(StorageError) {
            try snapshot.writeCopy(
                to: path, encryptionKey: configuration.encryptionKey, isReplacing: isReplacing,
                onAnyFileSystem: configuration.sharing == .none)
        } catch .fileExists {}
    }

    /// Replaces an empty file with a new database that has its owner and mode. A process that opens
    /// the empty file at the same moment waits, and then finds the new one.
    private static func replaceEmptyFile(_ path: String, _ configuration: StoreConfiguration)
        throws(StorageError)
    {
        try LockFile.expectPlace(besides: path)
        let isAlone = configuration.sharing == .none
        let file = try system(
            PosixFile.open(path, forWriting: true, onAnyFileSystem: isAlone))
        defer { try? file.close() }
        let replace = { () throws(StorageError) in
            guard try system(file.size()) == 0 else { throw .replaced(path: path) }
            try make(file.path, configuration, isReplacing: true)
        }
        // If one process has the file for itself, locks may be unavailable.
        if isAlone { return try replace() }
        try Coordinator.withAttachLock(
            of: file, timeoutMilliseconds: configuration.attachTimeoutMilliseconds, replace)
    }

    @inline(never)
    private static func existingFile(_ path: String, _ configuration: StoreConfiguration)
        throws(StorageError) -> (PosixFile, Cipher?)
    {
        let file = try system(
            PosixFile.open(
                path, forWriting: !configuration.isReadOnly,
                onAnyFileSystem: configuration.sharing == .none
                    || configuration.isReadOnly && configuration.sharing == .whereItCan))
        do throws(StorageError) {
            try ForeignFile.refuse(file)
            return (file, try cipher(of: file, configuration.encryptionKey))
        } catch {
            try system(file.close())
            throw error
        }
    }

    private static func attach(
        _ file: PosixFile, _ cipher: Cipher?, _ configuration: StoreConfiguration
    ) throws(StorageError) -> Store {
        if configuration.isReadOnly { return try attachReadOnly(file, cipher, configuration) }
        let coordinator = try attach(file, configuration)
        let isBuffered = !configuration.usesMapping || !file.canBeShared
        let file = MappedFile(file, isBuffered: isBuffered, cipher: cipher)
        guard !coordinator.isFirst else {
            PosixFile.removeLeftovers(of: file.path)
            return try recoverAndOpen(
                file, coordinator, dirtyLimit: configuration.dirtyLimit,
                firstLogPages: configuration.firstLogPages,
                minimumVersion: configuration.minimumVersion, checkpointsItself: true,
                compacts: configuration.compacts)
        }
        guard var meta = try MetaPage.newest(fromDevice: false, of: file)?.meta else {
            throw .noMeta
        }
        meta.identity = try file.identity()
        return Store(
            file: file, coordinator: coordinator, template: meta, isReadOnly: false,
            dirtyLimit: configuration.dirtyLimit,
            firstLogPages: configuration.firstLogPages, checkpointsItself: true)
    }

    private static func attach(_ file: PosixFile, _ configuration: StoreConfiguration)
        throws(StorageError) -> Coordinator
    {
        let timeout = configuration.attachTimeoutMilliseconds
        return configuration.sharing == .none
            ? try Coordinator.alone(file, timeoutMilliseconds: timeout)
            : try Coordinator.attach(file, timeoutMilliseconds: timeout)
    }

    /// Opens for reading only, beside writers: nothing is written, and the version that is read
    /// stays pinned.
    private static func attachReadOnly(
        _ file: PosixFile, _ cipher: Cipher?, _ configuration: StoreConfiguration
    ) throws(StorageError) -> Store {
        let locked = file
        let isBuffered = !configuration.usesMapping || !file.canBeShared
        let isAlone = configuration.sharing == .none || !file.canBeShared
        let file = MappedFile(file, isBuffered: isBuffered, cipher: cipher)
        let coordinator = try Coordinator.readOnly(locked, isAlone: isAlone) {
            () throws(StorageError) in
            guard let meta = try MetaPage.newest(fromDevice: false, of: file)?.meta else {
                throw .noMeta
            }
            return PublishedVersion(meta)
        }
        let pin = try coordinator.pinLatest()
        defer { coordinator.unpin(pin) }
        do throws(StorageError) {
            let meta = try Recovery.look(file)
            try coordinator.open(published: PublishedVersion(meta))
            return Store(
                file: file, coordinator: coordinator, template: meta, isReadOnly: true,
                dirtyLimit: 0)
        } catch {
            coordinator.detach {}
            try? file.close()
            throw error
        }
    }

    private static func recoverAndOpen(
        _ file: MappedFile, _ coordinator: Coordinator, dirtyLimit: Int, firstLogPages: UInt64,
        minimumVersion: Version = 0, checkpointsItself: Bool = false,
        compacts: (@Sendable (_ total: UInt64, _ used: UInt64) -> Bool)? = nil
    ) throws(StorageError) -> Store {
        var file = file
        do throws(StorageError) {
            var meta = try Recovery.recover(
                file, readOnlyPins: try coordinator.readOnlyPins(),
                abandoned: coordinator.abandoned, minimumVersion: minimumVersion,
                dirtyLimit: dirtyLimit)
            if let compacts, try coordinator.readOnlyPins().isEmpty {
                let use = try FileUse(meta, file)
                let used = (use.pages - use.wasted) * UInt64(Page.size)
                if compacts(try file.size(), used) {
                    try Recovery.confirm(file, coordinator)
                    meta = try compact(meta, file, coordinator, dirtyLimit)
                    // Nothing may be read if the file has lost its end.
                    file = file.reopened()
                }
            }
            try coordinator.open(published: PublishedVersion(meta), log: meta.logMap)
            return Store(
                file: file, coordinator: coordinator, template: meta, isReadOnly: false,
                dirtyLimit: dirtyLimit, firstLogPages: firstLogPages,
                checkpointsItself: checkpointsItself)
        } catch {
            coordinator.detach {}
            try? file.close()
            throw error
        }
    }

    /// Compacts a file that has just been recovered. If the disk is too full for that, the file
    /// stays as it is.
    private static func compact(
        _ meta: Meta, _ file: MappedFile, _ coordinator: Coordinator, _ dirtyLimit: Int
    ) throws(StorageError) -> Meta {
        let start = MonotonicClock.nanoseconds
        let size = try file.size()
        coordinator.claimVersions(upTo: meta.version)
        do throws(StorageError) {
            let compacted = try Compaction.run(
                .whole, file.forOneWalk(), coordinator, meta, dirtyLimit: dirtyLimit)
            let newSize = try file.size()
            Diagnostics.tell(
                .info,
                "Compacted '\(file.path)' from \(size) to \(newSize) bytes in "
                    + "\(Diagnostics.since(start)).")
            return compacted
        } catch .diskFull {
            Diagnostics.tell(.warn, "No space left to compact '\(file.path)'.")
            return try Recovery.recover(file, readOnlyPins: [], dirtyLimit: dirtyLimit)
        }
    }

    /// Compacts a file that nobody has open, in this process or another. Returns its sizes in bytes
    /// before and after; nil, without a change, if somebody has it open. O(file).
    ///
    /// - Throws: errors of `open` and `close`. The file holds the same as before.
    package static func compact(
        _ path: String, encryptionKey: EncryptionKey? = nil, minimumVersion: Version = 0,
        sharing: StoreConfiguration.Sharing = .processes
    ) throws(StorageError) -> (before: UInt64, after: UInt64)? {
        let hasBegun = CompactionMark()
        var configuration = StoreConfiguration(location: .file(path: path))
        configuration.sharing = sharing
        configuration.encryptionKey = encryptionKey
        configuration.minimumVersion = minimumVersion
        configuration.createsFile = false
        configuration.compacts = { total, _ in
            hasBegun.size.store(total, ordering: .relaxed)
            return true
        }
        let store = try open(configuration)
        let file = try system(
            PosixFile.open(store.path, forWriting: false, onAnyFileSystem: true))
        defer { try? file.close() }
        try store.close()
        let size = hasBegun.size.load(ordering: .relaxed)
        return size == 0 ? nil : (size, try system(file.size()))
    }

    /// Encrypts a file with another key, or with the first, or decrypts it, if nobody has it open,
    /// in this process or another. False, without a change, if somebody has. O(file).
    ///
    /// The file's content is written to a new one, which replaces it when it is durable: a crash
    /// leaves one or the other.
    ///
    /// - Throws: errors of `open` and `writeCopy`. The file is as before.
    package static func changeKey(
        of path: String, from old: EncryptionKey?, to new: EncryptionKey?,
        minimumVersion: Version = 0, sharing: StoreConfiguration.Sharing = .processes
    ) throws(StorageError) -> Bool {
        var configuration = StoreConfiguration(location: .file(path: path))
        configuration.sharing = sharing
        configuration.createsFile = false
        configuration.encryptionKey = old
        let (opened, cipher, _) = try openFile(path, configuration)
        defer { try? opened.close() }
        let coordinator = try attach(opened, configuration)
        // Before the file is closed, so that who waits for its lock finds the new one.
        defer { coordinator.detach {} }
        guard coordinator.isFirst, try coordinator.readOnlyPins().isEmpty else { return false }
        PosixFile.removeLeftovers(of: opened.path)
        let file = MappedFile(opened, cipher: cipher)
        let meta = try Recovery.recover(
            file, readOnlyPins: [], abandoned: coordinator.abandoned,
            minimumVersion: minimumVersion, dirtyLimit: configuration.dirtyLimit)
        let snapshot = try aside(meta, file).beginRead()
        defer { snapshot.release() }
        try snapshot.writeCopy(
            to: opened.path, encryptionKey: new, isReplacing: true,
            onAnyFileSystem: sharing == .none)
        return true
    }
}

/// The size of a file that was compacted; 0: it was not.
private final class CompactionMark: Sendable {
    let size = Atomic<UInt64>(0)
}

/// Tells files that are not ours by their first bytes, before any lock file is laid beside them.
enum ForeignFile {
    static func refuse(_ file: PosixFile) throws(StorageError) {
        let size = try system(file.size())
        guard size > 0 else { throw .emptyFile(path: file.path) }
        let head = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(size, UInt64(2 * Page.size))), alignment: 16)
        defer { head.deallocate() }
        try system(file.read(into: head, at: 0))
        let bytes = UnsafeRawBufferPointer(head)
        if has(MetaLayout.magicBytes, at: 0, bytes)
            || has(MetaLayout.magicBytes, at: Page.size, bytes)
        {
            guard size >= UInt64(3 * Page.size) else {
                throw .corrupt(
                    page: PageNumber(ofByte: size),
                    reason: "the file is truncated: it has \(size) bytes")
            }
            return
        }
        throw .notADatabase(path: file.path, what: kind(of: bytes))
    }

    private static func kind(of head: UnsafeRawBufferPointer) -> String {
        if has(Array("T-DB".utf8), at: 16, head) {
            return
                "a Realm file; `toftdb import NEW FILE` or Realm.importRealmFile reads it into a "
                + "new file of Toft"
        }
        if has(Array("SQLite format 3\0".utf8), at: 0, head) {
            return "an SQLite database; `toftdb import NEW FILE` reads it into a new file of Toft"
        }
        if has([0xDE, 0xC0, 0xEF, 0xBE], at: 16, head) { return "an LMDB database" }
        return "another kind of file"
    }

    private static func has(_ magic: [UInt8], at offset: Int, _ head: UnsafeRawBufferPointer)
        -> Bool
    {
        offset + magic.count <= head.count
            && magic.indices.allSatisfy { head[offset + $0] == magic[$0] }
    }
}
