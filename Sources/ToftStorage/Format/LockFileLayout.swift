/// The lock file `NAME.lock`: no data, only words that the processes which have NAME open share
/// through memory.
///
/// Every word is native-endian (it never leaves the machine), 8 bytes, aligned, and changed by
/// atomic operations alone. Words that different parties write often are 64 bytes apart.
package enum LockFileLayout {
    static let magic = 0
    static let layoutVersion = magic + 8
    static let device = layoutVersion + 8
    static let inode = device + 8
    static let state = inode + 8
    static let stamp = state + 8
    static let published = 64
    static let signal = published + line
    static let signalSleepers = signal + 4
    static let writerLock = signal + line
    static let checkpointLock = writerLock + line
    static let claimedVersion = checkpointLock + line
    static let durableVersion = claimedVersion + 8
    static let poison = durableVersion + 8
    static let pinEnd = claimedVersion + line
    static let checkpoint = pinEnd + line
    static let logTail = checkpoint + 8
    static let flushedLog = logTail + 8
    static let backlogEffects = flushedLog + 8
    static let backlogBytes = backlogEffects + 8
    static let logMap = checkpoint + line
    static let logBase = logMap + 8
    static let logSegmentCount = logBase + 8
    static let ring = 1024
    static let descriptorSize = 128
    static let descriptorCount: UInt64 = 16
    static let logSegmentSize = 16
    static let logSegmentLimit = 64
    static let logSegments = ring + descriptorSize * Int(descriptorCount)
    static let processes = 4096
    static let processSize = 64
    static let processLimit = 1024
    static let pins = processes + processLimit * processSize
    static let pinSize = 24
    package static let pinLimit = 16_384
    package static let size = pins + pinLimit * pinSize

    private static let line = 64
    /// "TOFTLOCK" as a number in memory order.
    static let magicWord = UInt64(littleEndian: 0x4B43_4F4C_5446_4F54)
    static let currentLayout: UInt64 = 3

    /// Words of a descriptor.
    enum Descriptor {
        static let version = 0
        static let root = version + 8
        static let fileSize = root + Ref.size
        static let logPosition = fileSize + 8
        static let logSequence = logPosition + 8
        static let logHash = logSequence + 8
        static let durableLog = logHash + 8
    }

    /// Words of a lock.
    enum Lock {
        static let phase = 0
        static let acquisitions = phase + 8
        static let turn = acquisitions + 8
        static let sleepers = turn + 4
    }

    /// Words of a process.
    enum Process {
        static let incarnation = 0
        static let pid = incarnation + 8
        static let pidNamespace = pid + 16
        static let bootID = pidNamespace + 8
    }

    /// Words of a reader slot, which contains a pin.
    enum ReaderSlot {
        static let owner = 0
        static let version = owner + 8
        /// When it was pinned, by the monotonic clock in nanoseconds.
        static let time = version + 8
    }

    enum State {
        static let building: UInt64 = 1
        static let open: UInt64 = 2
        static let closed: UInt64 = 3
    }

    /// Each field with its name on this page, for the test that compares the page with the code.
    package static let fields: [(name: String, offset: Int)] = [
        ("magic", magic), ("layout version", layoutVersion), ("device, inode", device),
        ("state", state), ("stamp", stamp),
        ("published", published), ("signal, sleepers", signal), ("writer lock", writerLock),
        ("checkpoint lock", checkpointLock),
        ("claimed version", claimedVersion), ("durable version", durableVersion),
        ("poison", poison), ("pin end", pinEnd),
        ("checkpoint", checkpoint), ("log tail", logTail), ("flushed log", flushedLog),
        ("backlog effects", backlogEffects),
        ("backlog bytes", backlogBytes), ("log map", logMap), ("base, segment count", logBase),
        ("ring", ring), ("log segments", logSegments),
        ("processes", processes), ("pins", pins), ("end", size),
    ]
}

/// Bytes of the data file, far behind any data, that locks are taken on. They are never written;
/// the locks are those of open file descriptions, so they end with the process that holds them,
/// however it ends.
enum LockByte {
    private static let base: Int64 = 1 << 62
    /// Shared by every process that has the file open; exclusive while one recovers it, or closes
    /// it as the last.
    static let attach = base
    static let writer = base + 1
    static let checkpoint = base + 2
    /// Held, besides `attach`, by a process that has the file for itself alone.
    static let alone = base + 3
    /// Held by the process with this index as long as it lives.
    static func process(_ index: Int) -> Int64 { base + 4096 + Int64(index) }

    /// Held, shared, by read-only openers for each version that they have pinned. Every other byte,
    /// so that neighbours stay apart.
    static func readOnlyPin(_ version: Version) -> Int64 {
        readOnlyPins.lowerBound + 2 * Int64(version.rawValue & pinnedVersionMask)
    }
    static func pinnedVersion(_ byte: Int64) -> Version {
        Version(UInt64(max(0, byte - readOnlyPins.lowerBound) / 2))
    }
    static let readOnlyPins: Range<Int64> = (base + 1 << 61)..<Int64.max
    private static let pinnedVersionMask: UInt64 = 1 << 59 - 1
}
