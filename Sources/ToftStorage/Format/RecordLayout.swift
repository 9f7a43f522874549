/// A commit record: a fixed header, then one entry for each effect of the transaction, in the order
/// in which they happened.
///
/// Numbers are LEB128 varints, signed ones zigzag. An annotated effect ends with a length and that
/// many bytes for the model.
enum RecordLayout {
    static let layout = 0
    static let flags = layout + 1
    static let origin = flags + 1
    static let version = origin + 6
    static let previousVersion = version + 8
    static let hlc = previousVersion + 8
    static let schemaVersion = hlc + 8
    static let recordBytes = schemaVersion + 8
    static let effects = recordBytes + 8

    static let current: UInt8 = 1
    static let touchOnly: UInt8 = 1
    static let truncated: UInt8 = 2
    static let isAnnotated: UInt8 = 0x40
    static let isDerived: UInt8 = 0x80
    static let kindMask: UInt8 = 0x3F

    /// The first byte of a cell's annotation: the cell is the old value plus an amount, which
    /// follows (signed). A merge of commits adds the amount to its own value.
    static let amountAdded: UInt8 = 1

    /// Bytes of effects of one transaction that are kept with their values; beyond that only the
    /// touched rows are kept.
    static let effectBytes = 4 * 1024 * 1024
    /// The longest record that is kept at all.
    static let limit = 12 * 1024 * 1024
}

/// One effect of a commit.
package struct Effect {
    /// Raw values are format.
    package enum Kind: UInt8, Sendable {
        case treePut = 1
        case treeDelete = 2
        case rowInsert = 3
        case rowErase = 4
        case cellSet = 5
        case listInsert = 6
        case listSet = 7
        case listErase = 8
        case listMove = 9
        case listSwap = 10
        case listClear = 11
        case treeCreate = 12
        case treeDrop = 13
        case columnAdd = 14
        case columnRemove = 15
        /// Bulk: `count` rows from `key` on were inserted.
        case rowsInserted = 16
        /// Bulk: `count` rows from `key` on were erased.
        case rowsErased = 17
        /// Bulk: the cell was set, or its list changed in a way that is not recorded.
        case cellTouched = 18
    }

    package var kind: Kind
    /// A consequence (index, backlink, nullified link), not an action of the user.
    package var isDerived: Bool
    package var tree: TreeID
    package var key: Int64
    package var column: UInt32
    /// The index in the list; the source, for a move.
    package var index: Int
    /// The destination of a move or a swap.
    package var otherIndex: Int
    /// Rows, of the bulk kinds; elements there were, of a clear.
    package var count: Int
    /// The range in the record of a tree entry's key.
    var entryKey: Range<Int>
    /// The range in the record of a tree entry's value, or of the cell.
    var value: Range<Int>
    /// The range in the record of the annotation; empty without one.
    var annotation: Range<Int> = 0..<0
}
