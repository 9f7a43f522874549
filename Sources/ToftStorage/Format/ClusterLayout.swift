/// The layout of a cluster: up to some hundred rows of a table, column by column in one extent.
///
/// Offsets count from the extent's first byte; entries are sorted by column id. A column is a run
/// of arrays, each of which begins at a multiple of eight and has room for every row of the
/// capacity. The page on the file format has a drawing.
enum ClusterLayout {
    static let rowCount = 0
    static let rowCapacity = rowCount + 2
    static let columnCount = rowCapacity + 2
    static let flags = columnCount + 2
    static let heapStart = flags + 2
    static let heapEnd = heapStart + 4
    static let garbage = heapEnd + 4
    static let headerSize = garbage + 4 + 12

    static let entryID = 0
    static let entryType = entryID + 4
    static let entryEncoding = entryType + 1
    static let entryFlags = entryEncoding + 1
    static let entryTextRoom = entryFlags + 1
    static let entryOffset = entryTextRoom + 1
    static let entryNullCount = entryOffset + 4
    static let entryTextCount = entryNullCount + 2
    static let entryLow = entryTextCount + 2
    static let entryHigh = entryLow + 8
    static let entrySize = entryHigh + 8

    /// The only key that is stored is the first: each further row has the key after the one before.
    static let denseKeysFlag = 1

    static let nullableFlag = 1
    /// `low` and `high` say nothing: a value is not a number.
    static let unboundedFlag = 2
    /// A column of timestamps has no nanoseconds: they are 0.
    static let wholeSecondsFlag = 4

    static let cellLengthShift = 19
    static let cellOffsetMask = 1 << cellLengthShift - 1
    static let cellLengthMask = 1 << 12 - 1
    static let externalFlag = 1 << 31
    /// Bytes of the id of a list's sequence tree.
    static let sequenceIDSize = 8
}

extension ClusterLayout {
    /// Bytes of the keys.
    @inline(__always)
    static func keysSize(_ capacity: Int, isDense: Bool) -> Int { isDense ? 8 : capacity &* 8 }
}

/// The sizes of clusters.
enum ClusterLimits {
    /// Rows of a cluster.
    package static let rows = 256
    /// Least rows that a cluster keeps if further ones would not fill a page.
    static let filledRows = rows * 3 / 4
    /// Number of rows from which columns of bytes and lists may be coded; less if they are long.
    static let codedRows = 8
    /// Most different texts of a coded column; the codes are one byte, and 0 has no text.
    static let codedTexts = 255
    /// Texts that a coded column has room for at least.
    static let leastTextRoom = 4
    /// Rows that a tail may have however long they are.
    static let tailRows = 8
    /// Bytes beyond which a cluster of several rows is split.
    static let bytes = 16 * Page.size
    /// Most bytes of a value within its cluster; longer ones have a blob.
    static let inlineBytes = 2_048
    /// Most bytes of a list within its cluster; longer ones have a sequence tree.
    static let inlineList = 1_024
    /// Bytes of heap from which a single row's further values go elsewhere, however short.
    static let heap = 256 * 1_024
    /// Columns of a table.
    package static let columns = 2_000
}

/// A block of list elements: in a cluster's heap for a short list, or in a leaf of a sequence tree.
enum ElementLayout {
    static let type = 0
    static let flags = type + 1
    /// Of a coded block, whose header ends there.
    static let codes = flags + 1
    static let count = flags + 1
    static let length = count + 2
    static let values = length + 4

    static let slotLength = 2
    static let slotSize = slotLength + 2

    static let nullableFlag = 1
    /// The block has a code of one byte for each element, and a header without count and length.
    /// 2 is reserved for identities of elements.
    static let codedFlag = 4
    static let blobFlag = 0x8000
    static let nullLength = 0x7FFF
    /// Elements that a block can count.
    static let countLimit = 0xFFFF
}

extension ColumnType {
    /// Bytes of an element of a block; nil for bytes, and for lists, which cannot be elements.
    var elementWidth: Int? {
        switch self {
        case .bool: 1
        case .int64, .float64: 8
        case .float32: 4
        case .timestamp, .fixed12: 12
        case .fixed16: 16
        case .bytes, .list: nil
        }
    }
}

extension ColumnType {
    /// Whether its values are 16 or 12 bytes.
    @inline(__always)
    var isFixed: Bool { self == .fixed16 || self == .fixed12 }

    /// Whether a column's values are integers, wholly or in part, which a cluster keeps as narrow
    /// as they are.
    @inline(__always)
    var hasIntegers: Bool { self == .int64 || self == .timestamp }
}

extension Int {
    /// The next multiple of eight.
    @inline(__always)
    var roundedUpToEight: Int { (self &+ 7) & ~7 }
}

/// A column as the catalog keeps it, after the root of its table.
enum ColumnLayout {
    static let id = 0
    static let type = id + 4
    static let flags = type + 1
    static let elementType = flags + 1
    static let size = elementType + 1 + 5

    static let nullableFlag = 1
    static let elementNullableFlag = 2
    static let wasRequiredFlag = 4
    static let allFlags = nullableFlag | elementNullableFlag | wasRequiredFlag
}
