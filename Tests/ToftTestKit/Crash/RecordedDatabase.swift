internal import Synchronization
package import ToftPlatform
package import ToftStorage

/// A database on a recording disk, with the content that each of its commits must have.
package final class RecordedDatabase {
    package let file: RecordingFile
    /// The disk before the recording began.
    package private(set) var start: [PageContent]
    /// The commit that it shows.
    package private(set) var startNumber: Int
    private var store: Store?
    private var content: Content
    private var number: Int
    private var next: Int
    /// The expected content after each commit, by its number.
    package private(set) var contents: [Int: Content]
    private var pins: [(snapshot: Snapshot, canonical: [UInt8])] = []
    private var unseen: [Snapshot] = []
    private var isDoomed = false
    private let dirtyLimit: Int
    private let firstLogPages: UInt64
    private let insertBuffer: InsertBufferPolicy
    private var encryptionKey: EncryptionKey?
    /// The versions of the commits whose writers did not die, by their numbers.
    package private(set) var versions: [Int: Version] = [:]

    /// On a new file in memory.
    package convenience init(
        lies: Set<RecordingFile.Lie> = [], dirtyLimit: Int = StoreLimit.dirtyBytes,
        firstLogPages: UInt64 = 8, insertBuffer: InsertBufferPolicy = .usual,
        encryptionKey: EncryptionKey? = nil
    ) throws {
        let ground = MemoryFile(name: "ground")
        try Store.format(ground, encryptionKey: encryptionKey)
        try self.init(
            on: ground, lies: lies, dirtyLimit: dirtyLimit, firstLogPages: firstLogPages,
            insertBuffer: insertBuffer, encryptionKey: encryptionKey)
    }

    /// On a file that has this content, as the commit with this number left it; the next one gets
    /// the number `next`. On request it is compacted at its opening.
    package init(
        on ground: any StorageFile, content: Content = Content(), number: Int = 0, next: Int = 1,
        lies: Set<RecordingFile.Lie> = [],
        dirtyLimit: Int = StoreLimit.dirtyBytes, firstLogPages: UInt64 = 8,
        insertBuffer: InsertBufferPolicy = .usual, encryptionKey: EncryptionKey? = nil,
        isCompacted: Bool = false
    ) throws {
        self.encryptionKey = encryptionKey
        start = [PageContent](cutting: try ground.content())
        file = RecordingFile(ground, lies: lies)
        self.dirtyLimit = dirtyLimit
        self.firstLogPages = firstLogPages
        self.insertBuffer = insertBuffer
        self.content = content
        self.number = number
        startNumber = number
        self.next = next
        contents = [number: content]
        try open(isCompacted: isCompacted)
    }

    // MARK: What a workload does

    /// Edits the transaction and the model alike.
    package struct Editor {
        package let transaction: WriteTransaction
        fileprivate var isDoomed = false
        package internal(set) var content: Content

        /// `content`: the content that the transaction shows.
        package init(transaction: WriteTransaction, content: Content) {
            self.transaction = transaction
            self.content = content
        }

        package func keys(of tree: TreeID) -> [[UInt8]] { content.keys(of: tree) }

        /// Commits. Nil if the writer has died at that, as planned by a trial.
        fileprivate func survives(_ durability: Durability) throws -> Version? {
            do throws(StorageError) {
                return try transaction.commit(durability)
            } catch {
                switch error {
                case .closed: return nil
                // One that leads a group dies between its write and its publication.
                case .commitOutcomeUnknown where isDoomed: return nil
                default: throw error
                }
            }
        }

        package mutating func makeTree() throws -> TreeID {
            let id = try transaction.createOrderedTree()
            content.trees[id] = [:]
            if id != Content.directory { try put(Content.directory, Content.listing(id), []) }
            return id
        }

        package mutating func dropTree(_ id: TreeID) throws {
            try transaction.dropTree(id)
            content.trees[id] = nil
            try delete(Content.directory, Content.listing(id))
        }

        package mutating func put(_ tree: TreeID, _ key: [UInt8], _ value: [UInt8]) throws {
            try key.withUnsafeBytes { key throws in
                try value.withUnsafeBytes { value throws in
                    try transaction.treePut(tree, key, value, derived: false)
                }
            }
            content.trees[tree]?[key] = value
        }

        /// Puts a new key: its entry may wait in the insert buffer.
        package mutating func putNew(_ id: TreeID, _ key: [UInt8], _ value: [UInt8]) throws {
            let batch = try transaction.entryBatch(of: id, count: 1, derived: true)
            try key.withUnsafeBytes { key throws in
                try value.withUnsafeBytes { value throws in try batch.insert(key, value) }
            }
            content.trees[id]?[key] = value
        }

        package mutating func delete(_ tree: TreeID, _ key: [UInt8]) throws {
            _ = try key.withUnsafeBytes { key throws in
                try transaction.treeDelete(tree, key, derived: false)
            }
            content.trees[tree]?[key] = nil
        }
    }

    /// Commits the changes of the body, as the next commit, through a store that sees the same file
    /// as another process would if one is given.
    package func commit(
        _ durability: Durability = .immediate, through other: Store? = nil,
        _ body: (inout Editor) throws -> Void
    ) throws {
        file.note(.transaction)
        var editor = Editor(transaction: try (other ?? openStore()).beginWrite(), content: content)
        if content.trees[Content.directory] == nil {
            guard try editor.makeTree() == Content.directory else {
                throw Failure("the first tree has another id")
            }
        }
        try body(&editor)
        let next = next
        self.next += 1
        try editor.put(
            Content.directory, Content.commitKey, withUnsafeBytes(of: UInt64(next)) { Array($0) })
        contents[next] = editor.content
        file.note(.began(next))
        editor.isDoomed = isDoomed
        guard let version = try editor.survives(durability) else {
            return try settleDeath(of: next, editor.content, through: other)
        }
        versions[next] = version
        file.note(durability == .deferred ? .returned(next) : .acknowledged(next))
        content = editor.content
        number = next
    }

    /// The writer has died while it committed, as planned by a trial: the next writer's findings
    /// determine the commit.
    private func settleDeath(of next: Int, _ tried: Content, through other: Store?) throws {
        file.note(.transaction)
        let transaction = try (other ?? openStore()).beginWrite()
        let found = try Content.commitNumber(transaction.view)
        transaction.rollback()
        guard found == next || found == number else {
            throw Failure("after a death in commit \(next), \(found) is there")
        }
        guard found == next else { return }
        content = tried
        number = next
        file.note(.returned(next))
    }

    /// Makes all that was committed durable.
    package func flush() throws {
        try openStore().flush()
        file.note(.acknowledged(number))
    }

    /// Makes all commits durable without the log. A checkpoint that dies, as planned by a trial,
    /// has no effect on durability.
    package func checkpoint(through other: Store? = nil) throws {
        let store = try other ?? openStore()
        do throws(StorageError) {
            try store.checkpoint()
        } catch {
            guard case .closed = error else { throw error }
            return
        }
        file.note(.acknowledged(number))
    }

    /// A step of a compaction beside those who read: the commit that it makes leaves nothing behind
    /// in the log.
    package func compactStep(through other: Store? = nil, movingAtMost byteCount: UInt64 = 1 << 18)
        throws
    {
        file.note(.transaction)
        let step = try (other ?? openStore()).compactStep(movingAtMost: byteCount)
        if step.hasMore { file.note(.acknowledged(number)) }
    }

    /// Runs an action within `body`, at a moment of it, as if another process did it. Does nothing
    /// if the build has no moments.
    package func interrupt(
        at moment: Failpoint, with action: @escaping () throws -> Void, _ body: () throws -> Void
    ) throws {
        #if TOFT_TRIALS
        var failure: (any Error)?
        var isDone = false
        Failpoint.script.interruption = { reached in
            guard reached == moment, !isDone else { return }
            isDone = true
            do { try action() } catch { failure = error }
        }
        defer { Failpoint.script.interruption = nil }
        #endif
        try body()
        #if TOFT_TRIALS
        if let failure { throw failure }
        #endif
    }

    /// The next thread that reaches this moment dies there. Does nothing if the build has no
    /// moments.
    package func die(at moment: Failpoint) {
        isDoomed = true
        #if TOFT_TRIALS
        Failpoint.script.death = moment
        #endif
    }

    /// Nobody dies any more.
    package func live() {
        isDoomed = false
        #if TOFT_TRIALS
        Failpoint.script.death = nil
        #endif
    }

    /// Does it and takes it back.
    package func rollback(_ body: (inout Editor) throws -> Void) throws {
        file.note(.transaction)
        var editor = Editor(transaction: try openStore().beginWrite(), content: content)
        try body(&editor)
        editor.transaction.rollback()
    }

    /// Keeps the newest version as it is now.
    package func pin() throws {
        let snapshot = try openStore().beginRead()
        pins.append((snapshot, try Content.canonical(snapshot)))
    }

    /// Keeps the newest version until the database is closed, without ever looking at it.
    package func pinUnseen() throws {
        unseen.append(try openStore().beginRead())
    }

    /// Releases the oldest pinned version, which must be unchanged.
    package func unpin() throws {
        guard !pins.isEmpty else { return }
        let (snapshot, canonical) = pins.removeFirst()
        guard try Content.canonical(snapshot) == canonical else {
            throw Failure("a pinned version has changed")
        }
        snapshot.release()
    }

    /// Closes and opens again, with a compaction if requested.
    package func reopen(isCompacted: Bool = false) throws {
        while !pins.isEmpty { try unpin() }
        try closeReporting()
        try open(isCompacted: isCompacted)
    }

    /// Gives the file another key, as `Store.changeKey` does: a new file, which is durable, takes
    /// its place.
    package func changeKey(to key: EncryptionKey?) throws {
        while !pins.isEmpty { try unpin() }
        try closeReporting()
        let snapshot = try Store.readOnlySnapshot(
            on: WrappedFile(file), encryptionKey: encryptionKey)
        let new = RecordingFile(MemoryFile(name: "another key"))
        try snapshot.writeCopy(to: new, encryptionKey: key)
        snapshot.release()
        try new.sync()
        try file.become(new, key: key)
        encryptionKey = key
        try open()
    }

    private func open(isCompacted: Bool = false) throws {
        file.note(.transaction)
        let opened = try Store.open(
            on: file, coordinator: try Coordinator.inMemory(), dirtyLimit: dirtyLimit,
            firstLogPages: firstLogPages, encryptionKey: encryptionKey, isCompacted: isCompacted)
        opened.insertBuffer.withLock { $0.policy = insertBuffer }
        store = opened
    }

    /// Closes. Only `reopen` may follow.
    package func close() {
        pins = []
        unseen = []
        guard store != nil else { return }
        store = nil
        file.note(.acknowledged(number))
    }

    /// Closes, and throws the error of the steps that failed then. Only `reopen` may follow.
    package func closeReporting() throws {
        pins = []
        unseen = []
        let closing = store
        store = nil
        guard let closing else { return }
        try closing.close()
        file.note(.acknowledged(number))
    }

    /// The possible contents of the file when a failed sync has left open which of the commits are
    /// durable: the last one that certainly is, or a later one.
    package var possibleAfterFailedSync: [[UInt8]] {
        var durable = startNumber
        for case .acknowledged(let number) in file.events { durable = number }
        return contents.filter { $0.key >= durable }.map { $0.value.canonical() }
    }

    /// Forgets the history of the file: crashes come only from here on. All that was committed is
    /// durable.
    package func startRecordingHere() throws {
        start = [PageContent](cutting: try file.content())
        startNumber = number
        file.startOver()
    }

    package func openStore() throws -> Store {
        guard let store else { throw Failure("the database is closed") }
        return store
    }

    /// The content after the last commit that succeeded.
    package var canonical: [UInt8] { content.canonical() }
    /// The content that the last attempted commit would have left.
    package var lastTried: Content { contents[contents.keys.max() ?? 0] ?? content }

    /// The trees that are there now, without the directory.
    package var trees: [TreeID] { content.trees.keys.filter { $0 != Content.directory }.sorted() }
    package func keys(of tree: TreeID) -> [[UInt8]] { content.keys(of: tree) }

    /// Ends the recording: pins are looked at, the file is checked and closed.
    package func finish() throws {
        while !pins.isEmpty { try unpin() }
        let report = try openStore().check()
        guard report.isSound else {
            throw Failure("unsound: " + report.problems.joined(separator: "; "))
        }
        close()
    }
}
