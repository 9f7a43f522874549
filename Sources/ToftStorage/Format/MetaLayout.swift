/// A meta page: what the file is and where its newest checkpoint's root lies. Pages 0 and 1 are
/// metas, used in turn; the valid one with the higher version counts.
///
/// ```
///    0  magic "TOFT" CR LF SUB LF            8
///    8  format version                       4    page size                        4
///   16  compatible features                  8    (unknown bits are ignored)
///   24  incompatible features                8    (unknown bits refuse the file)
///   32  database id                         16    random, made with the file
///   48  replica id                           8    random, made with the file; a copy that lives on
///   its own takes a new one 56  replica counter                      8    high-water mark of
///   generated ids 64  version                              8 72  root
///   40    reference to the root extent 112  page count                           8    pages of the
///   file that this version may reach 120  flags                                8    bit 0: closed
///   cleanly 128  device, inode                       16    the file that this meta was written to:
///   another one is a copy 144  log salt, log base               16    salt 0: no log is open, see
///   LogLayout 160  log position, log sequence       16    of the first frame behind this version
///   176  log segment count, cipher           8     0: no log, plain 184  key check, key salt
///   64    0 in plain files 248  log hash                          8    of the last frame that this
///   version holds 256  spare                            56 312  log segments
///   1536    64 of {page, page count, reserved} 1848  zeros 4088  checksum
///   8    XXH64 of the bytes before it
/// ```
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
    static let checksum = Page.size - 8

    static let magicBytes: [UInt8] = [0x54, 0x4F, 0x46, 0x54, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The format that this build reads and writes.
    package static let currentFormat: UInt32 = 2
    static let closedCleanly: UInt64 = 1

    /// Each field with its name on the format page, for the test that holds the page against the
    /// code.
    package static let fields: [(name: String, offset: Int)] = [
        ("magic", magic), ("format version", formatVersion),
        ("compatible features", compatibleFeatures),
        ("incompatible features", incompatibleFeatures), ("database id", databaseID),
        ("replica id", replicaID),
        ("replica counter", replicaCounter), ("version", version), ("root", root),
        ("page count", pageCount), ("flags", flags),
        ("device, inode", device), ("log salt, log base", logSalt), ("log position", logPosition),
        ("log segment count", logSegmentCount),
        ("key check", keyCheck), ("log hash", logHash), ("spare", spare),
        ("log segments", logSegments), ("zeros", zeros), ("checksum", checksum),
    ]
}

/// The root extent of a version: where everything of it begins.
///
/// ```
///  32  version                 8
///  40  previous version        8
///  48  catalog                64    the tree of trees: tree id -> tree root (and columns)
/// 112  directory of regions   40    reference
/// 152  list of batches        40    reference, or nothing: freed runs that have no room here
/// 192  next tree id            8
/// 200  page count              8
/// 208  bytes of all records    8    ever written, so that progress is a subtraction
/// 216  flags                   8    places in the bitmaps: 1 holes, 2 runs
/// 224  spare                  56
/// 280  freed runs              4    how many
/// 284  record                  4    how many bytes, 0 where it lies in its tree
/// 288  the newest freed runs, then the commit record where it is short
/// ```
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
    package static let schema: UInt64 = 1
    /// Version -> commit record.
    package static let records: UInt64 = 2
    /// The levels of the delta: new entries on their way to large ordered trees.
    package static let delta: ClosedRange<UInt64> = 4...8
    /// Reserved but for the delta: named cursors into the records, staging, tombstones.
    package static let reserved: ClosedRange<UInt64> = 3...15
    /// The first id that a user's tree gets.
    package static let firstUser: UInt64 = 16
}
