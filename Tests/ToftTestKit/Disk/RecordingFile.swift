internal import Synchronization
package import ToftPlatform
package import ToftStorage

/// Something that happened to a disk, or that the one who uses it wants remembered at this moment.
package enum DiskEvent: Sendable {
    case write(offset: Int, bytes: [UInt8])
    /// Writes to this range are on the disk.
    case rangeSync(offset: Int, count: Int)
    /// All that was written before is on the disk, and the size.
    case sync
    case grow(to: Int)
    case truncate(to: Int)
    /// Another file, to which this has happened since it was made, takes the name; then the
    /// directory is synced. `key`: of the other file.
    case replaced(by: [DiskEvent], key: EncryptionKey?)
    /// A write transaction, or an opening, begins: pages get new births.
    case transaction
    /// The workload called `commit` for the commit with this number.
    case began(Int)
    /// `commit` returned: the commit is visible, and survives the process.
    case returned(Int)
    /// The commit, and all before it, survives a power failure.
    case acknowledged(Int)
}

/// A disk that remembers all that changes it.
package final class RecordingFile: WrappedFile, @unchecked Sendable {
    private let log = Mutex<[DiskEvent]>([])
    private let lies: Set<Lie>
    /// The next durable writer dies in the middle of its write: the bytes are in the cache.
    private let isNextHalfDone = Mutex(false)

    /// Ways in which the engine could be wrong, simulated below it: the disk gets what it would get
    /// then. Each has to be found.
    package enum Lie: String, Sendable, CaseIterable {
        case syncsAreForgotten
        case metasAreNotDurable
        case metasAreWrittenBeforeTheirData
        case everyTenthPageIsLost
    }

    package init(_ base: any StorageFile, lies: Set<Lie> = []) {
        self.lies = lies
        super.init(base)
    }

    package var events: [DiskEvent] { log.withLock { $0 } }

    /// The next durable write is one in whose middle a process dies.
    package func breakNextDurableWrite() { isNextHalfDone.withLock { $0 = true } }

    /// Leads to another file, which has this key, from now on. Nobody may have it open.
    package func become(_ other: RecordingFile, key: EncryptionKey?) throws {
        let content = try other.content()
        try base.truncate(to: UInt64(content.count))
        try content.withUnsafeBytes { try base.write($0, at: 0) }
        note(.replaced(by: other.events, key: key))
    }

    /// Forgets all events so far.
    package func startOver() { log.withLock { $0 = [] } }

    package func note(_ event: DiskEvent) { log.withLock { $0.append(event) } }

    package override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try base.write(bytes, at: offset)
        if lies.contains(.everyTenthPageIsLost), log.withLock({ $0.count }) % 10 == 9 { return }
        note(.write(offset: Int(offset), bytes: Array(bytes)))
    }

    package override func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try base.writeDurably(bytes, at: offset)
        let write = DiskEvent.write(offset: Int(offset), bytes: Array(bytes))
        let isLate = lies.contains(.metasAreWrittenBeforeTheirData) && insertBeforeLastSync(write)
        if !isLate { note(write) }
        let isHalfDone = isNextHalfDone.withLock { isNext in
            defer { isNext = false }
            return isNext
        }
        if !isHalfDone && !lies.contains(.metasAreNotDurable) {
            note(.rangeSync(offset: Int(offset), count: bytes.count))
        }
    }

    private func insertBeforeLastSync(_ event: DiskEvent) -> Bool {
        log.withLock { log in
            guard let place = log.lastIndex(where: { if case .sync = $0 { true } else { false } })
            else { return false }
            log.insert(event, at: place)
            return true
        }
    }

    package override func sync() throws(SystemError) {
        try base.sync()
        if !lies.contains(.syncsAreForgotten) { note(.sync) }
    }

    package override func grow(to size: UInt64) throws(SystemError) {
        try base.grow(to: size)
        note(.grow(to: Int(size)))
    }

    package override func truncate(to size: UInt64) throws(SystemError) {
        try base.truncate(to: size)
        note(.truncate(to: Int(size)))
    }
}
