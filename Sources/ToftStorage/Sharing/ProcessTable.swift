internal import Synchronization
internal import ToftPlatform

/// The processes that share the lock file: each takes a slot with an index, and holds a lock on a
/// byte of the data file as the proof of its life.
///
/// 1. A slot belongs to the process that holds its byte. Its incarnation counts its owners, so that
///    (index, incarnation) identifies one of them permanently.
/// 2. A new owner removes the pins of earlier ones before it makes itself known by the next
///    incarnation.
/// 3. An owner is dead when its incarnation is over, or its byte is free, or its process has
///    certainly ended (a forked child that keeps descriptors open without ever having run our code
///    holds the byte of a dead parent). The byte is the best evidence: a process's number counts
///    only for processes that see the same numbers.
struct ProcessTable: Sendable {
    let words: SharedWords
    /// Nil if there is only one process.
    let locks: FileLocks?
    let me: ProcessIdentity

    init(words: SharedWords, locks: FileLocks?) {
        self.words = words
        self.locks = locks
        me = locks == nil ? .alone() : .current()
    }

    /// The owner of records marked with this word. Never 0.
    struct Owner: Equatable, Sendable {
        let word: UInt64
        var index: Int { Int(word & 0xFFFF) - 1 }
        var incarnation: UInt64 { word >> 16 }

        init(word: UInt64) { self.word = word }
        init(index: Int, incarnation: UInt64) { word = incarnation << 16 | UInt64(index + 1) }
    }

    /// Takes a free slot. `clear` removes the remains of earlier owners of that index.
    func join(clear: (Int) -> Void) throws(StorageError) -> Owner {
        for index in 0..<LockFileLayout.processLimit {
            if let locks, try !system(locks.takeExclusive(LockByte.process(index))) { continue }
            clear(index)
            let incarnation =
                (words.process(index, LockFileLayout.Process.incarnation).pointee.load(
                    ordering: .relaxed) & Self.incarnationMask) + 1
            store(me.pid, index, LockFileLayout.Process.pid)
            store(me.pidNamespace, index, LockFileLayout.Process.pidNamespace)
            store(me.bootID.0, index, LockFileLayout.Process.bootID)
            store(me.bootID.1, index, LockFileLayout.Process.bootID + 8)
            words.process(index, LockFileLayout.Process.incarnation).pointee.store(
                incarnation, ordering: .sequentiallyConsistent)
            return Owner(index: index, incarnation: incarnation)
        }
        throw .tooManyReaders
    }

    func leave(_ owner: Owner) {
        locks?.release(LockByte.process(owner.index))
    }

    /// Whether the owner's remains may be removed. Any doubt, and any error, means that it lives.
    func isDead(_ owner: Owner) -> Bool {
        guard owner.index >= 0, owner.index < LockFileLayout.processLimit else { return true }
        let incarnation = words.process(owner.index, LockFileLayout.Process.incarnation).pointee
            .load(ordering: .acquiring)
        guard incarnation & Self.incarnationMask == owner.incarnation else { return true }
        guard let locks, let isHeld = try? locks.isHeldByOthers(LockByte.process(owner.index))
        else { return false }
        return !isHeld || identity(of: owner.index).hasEnded(seenBy: me)
    }

    func processID(of owner: Owner) -> UInt64 { load(owner.index, LockFileLayout.Process.pid) }

    private static let incarnationMask: UInt64 = 1 << 48 - 1

    private func identity(of index: Int) -> ProcessIdentity {
        ProcessIdentity(
            pid: load(index, LockFileLayout.Process.pid),
            pidNamespace: load(index, LockFileLayout.Process.pidNamespace),
            bootID: (
                load(index, LockFileLayout.Process.bootID),
                load(index, LockFileLayout.Process.bootID + 8)
            ))
    }

    private func load(_ index: Int, _ field: Int) -> UInt64 {
        words.process(index, field).pointee.load(ordering: .relaxed)
    }
    private func store(_ value: UInt64, _ index: Int, _ field: Int) {
        words.process(index, field).pointee.store(value, ordering: .relaxed)
    }
}
