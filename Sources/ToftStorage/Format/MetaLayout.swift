/// A meta page: the kind of the file and the reference of its newest checkpoint's root. Pages 0 and
/// 1 are metas, used in turn; the valid one with the higher version counts.
package enum MetaLayout {
    static let magic = 0
    static let formatVersion = magic + 8
    static let pageSize = formatVersion + 4
    static let compatibleFeatures = pageSize + 4
    static let incompatibleFeatures = compatibleFeatures + 8
    static let databaseID = incompatibleFeatures + 8
    static let replicaID = databaseID + 16
    static let replicaCounter = replicaID + 8
    static let version = replicaCounter + 8
    static let root = version + 8
    static let pageCount = root + Ref.size
    static let flags = pageCount + 8
    static let device = flags + 8
    static let inode = device + 8
    static let logSalt = inode + 8
    static let logBase = logSalt + 8
    static let logPosition = logBase + 8
    static let logSequence = logPosition + 8
    static let logSegmentCount = logSequence + 8
    static let cipher = logSegmentCount + 4
    static let keyCheck = cipher + 4
    static let keySalt = keyCheck + 32
    static let logHash = keySalt + 32
    static let spare = logHash + 8
    static let logSegments = spare + 56
    static let logSegmentSize = 24
    static let logSegmentLimit = 64
    static let zeros = logSegments + logSegmentLimit * logSegmentSize
    static let authentication = Page.size - 24
    static let checksum = authentication + Digest.size

    static let magicBytes: [UInt8] = [0x54, 0x4F, 0x46, 0x54, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The format that this build reads and writes.
    package static let currentFormat: UInt32 = 8
    static let closedCleanly: UInt64 = 1
    /// The bit of the incompatible features that encrypted files have.
    static let encrypted: UInt64 = 1
    /// AES-256 in counter mode, begun with an HMAC-SHA-256.
    static let currentCipher = 1
}

/// The root extent of a version, from which everything in it is reached.
enum RootLayout {
    static let version = ExtentHeader.size
    static let previousVersion = version + 8
    static let catalog = previousVersion + 8
    static let directory = catalog + 64
    static let batchList = directory + Ref.size
    static let nextTreeID = batchList + Ref.size
    static let pageCount = nextTreeID + 8
    static let recordBytes = pageCount + 8
    static let flags = recordBytes + 8
    static let spare = flags + 8
    static let runCount = spare + 56
    static let recordLength = runCount + 4
    static let tail = recordLength + 4
}

/// Trees that the engine itself keeps: in the same snapshots and transactions as the others,
/// outside schema, queries and notifications.
package enum SystemTree {
    /// The schema of classes.
    package static let schema: TreeID = 1
    /// Version -> commit record.
    package static let records: TreeID = 2
    /// The levels of the insert buffer: new entries on their way to large ordered trees.
    package static let insertBuffer: [TreeID] = [4, 5, 6, 7, 8]
    /// The schema of classes again, in other pages.
    package static let schemaCopy: TreeID = 9
    /// Reserved except for the insert buffer and the copy of the schema: named cursors into the
    /// records, staging, tombstones.
    package static let reserved: ClosedRange<TreeID> = 3...15
    /// The first id that a user's tree gets.
    package static let firstUser: TreeID = 16
}
