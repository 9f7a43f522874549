/// Collects the effects of a transaction, as bytes while they are few, otherwise as touched rows
/// and cells.
struct RecordBuilder {
    private var bytes: [UInt8] = []
    private var bulk: BulkTouch?
    private(set) var isEmpty = true
    /// Number of recorded effects: the work of a replay.
    private(set) var effectCount: UInt64 = 0
    private var undoCount: UInt64 = 0
    /// Whether it turns to bulk when it becomes long.
    private let isLimited: Bool

    init(isLimited: Bool = true) {
        self.isLimited = isLimited
        bytes.reserveCapacity(isLimited ? 1_000 : 0)
    }

    /// Bytes of the effects that are kept one by one.
    var byteCount: Int { bytes.count }

    /// Forgets the effects that begin at a number of bytes or after it.
    mutating func truncate(to count: Int) { bytes.removeLast(bytes.count - count) }

    /// Calls `body` with the effects that are kept one by one.
    func withEffects(_ body: ([UInt8]) throws(StorageError) -> Void) throws(StorageError) {
        try body(bytes)
    }

    /// Whether effects are kept with their values, so that they can be replayed.
    var isComplete: Bool { bulk == nil }

    /// A position in the record, to return to if the change that was being recorded does not
    /// happen.
    struct Mark {
        fileprivate var count: Int
        fileprivate var isEmpty: Bool
    }

    @inline(__always)
    var mark: Mark { Mark(count: bytes.count, isEmpty: isEmpty) }

    /// Removes the effects recorded since. A bulk record keeps them: an untouched row that counts
    /// as touched does no harm.
    mutating func undo(to mark: Mark) {
        guard bulk == nil else { return }
        bytes.removeLast(bytes.count - mark.count)
        isEmpty = mark.isEmpty
        undoCount &+= 1
    }

    /// Calls `body` with each effect after `position`, and moves that to the end. Calls it with all
    /// effects if some were undone since. Returns false if they are no longer kept one by one.
    func forEachEffect(after position: inout RecordPosition, _ body: (Effect) -> Void) -> Bool {
        guard bulk == nil else { return false }
        let start = position.undoCount == undoCount ? position.byteCount : 0
        EffectReader.forEach(in: bytes, from: start, body)
        position = end
        return true
    }

    /// The end of the record so far.
    var end: RecordPosition { RecordPosition(byteCount: bytes.count, undoCount: undoCount) }

    @inline(__always)
    private mutating func begin(
        _ kind: Effect.Kind, _ tree: TreeID, derived: Bool, isAnnotated: Bool = false
    ) {
        bytes.append(
            kind.rawValue | (derived ? RecordLayout.isDerived : 0)
                | (isAnnotated ? RecordLayout.isAnnotated : 0))
        bytes.appendVarint(tree.rawValue)
    }

    private mutating func finishEffect() {
        isEmpty = false
        effectCount &+= 1
        if isLimited, bytes.count > RecordLayout.effectBytes { turnToBulk() }
    }

    private mutating func turnToBulk() {
        var touch = BulkTouch()
        EffectReader.forEach(in: bytes, from: 0) { touch.add($0) }
        bulk = touch
        bytes = []
    }

    mutating func treePut(
        _ tree: TreeID, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        derived: Bool
    ) {
        guard bulk == nil else { return }
        begin(.treePut, tree, derived: derived)
        bytes.appendBytes(key)
        bytes.appendBytes(value)
        finishEffect()
    }

    mutating func treeDelete(_ tree: TreeID, _ key: UnsafeRawBufferPointer, derived: Bool) {
        guard bulk == nil else { return }
        begin(.treeDelete, tree, derived: derived)
        bytes.appendBytes(key)
        finishEffect()
    }

    mutating func row(_ kind: Effect.Kind, _ tree: TreeID, _ key: Int64, derived: Bool) {
        if bulk != nil {
            bulk?.add(kind, tree, key)
            return
        }
        begin(kind, tree, derived: derived)
        bytes.appendSigned(key)
        finishEffect()
    }

    /// A row that is inserted with values: the same effects as one by one.
    mutating func row(_ tree: TreeID, _ key: Int64, _ content: RowContent, derived: Bool) {
        row(.rowInsert, tree, key, derived: derived)
        guard bulk == nil else { return }
        for value in content.values {
            if !value.isList { cell(tree, key, value.column, value.cell, derived: derived) }
            for (index, element) in content.elements(value).enumerated() {
                list(.listInsert, tree, key, value.column, index: index, element, derived: derived)
            }
        }
    }

    /// A cell that was set; `amount`: by adding it to the old value.
    mutating func cell(
        _ tree: TreeID, _ key: Int64, _ column: UInt32, _ cell: Cell, adding amount: Int64? = nil,
        derived: Bool
    ) {
        if bulk != nil {
            bulk?.touch(tree, key, column)
            return
        }
        begin(.cellSet, tree, derived: derived, isAnnotated: amount != nil)
        bytes.appendSigned(key)
        bytes.appendVarint(UInt64(column))
        bytes.appendCell(cell)
        if let amount {
            var annotation = [RecordLayout.amountAdded]
            annotation.appendSigned(amount)
            annotation.withUnsafeBytes { bytes.appendBytes($0) }
        }
        finishEffect()
    }

    /// A change of a list; `cell` is given for insert and set, `other` for move (to), swap and
    /// clear (count).
    mutating func list(
        _ kind: Effect.Kind, _ tree: TreeID, _ key: Int64, _ column: UInt32, index: Int,
        other: Int? = nil, _ cell: Cell? = nil, derived: Bool
    ) {
        if bulk != nil {
            bulk?.touch(tree, key, column)
            return
        }
        begin(kind, tree, derived: derived)
        bytes.appendSigned(key)
        bytes.appendVarint(UInt64(column))
        bytes.appendVarint(UInt64(truncatingIfNeeded: index))
        if let other { bytes.appendVarint(UInt64(truncatingIfNeeded: other)) }
        if let cell { bytes.appendCell(cell) }
        finishEffect()
    }

    mutating func tree(_ kind: Effect.Kind, _ tree: TreeID, column: UInt32? = nil) {
        guard bulk == nil else { return }
        begin(kind, tree, derived: true)
        if let column { bytes.appendVarint(UInt64(column)) }
        finishEffect()
    }

    /// The finished record.
    func finish(version: Version, previousVersion: Version, recordBytes: UInt64) -> [UInt8] {
        var effects = bulk?.encoded() ?? bytes
        var flags: UInt8 = bulk == nil ? 0 : RecordLayout.touchOnly
        if effects.count > RecordLayout.limit {
            effects = []
            flags |= RecordLayout.truncated
        }
        var record = [UInt8](repeating: 0, count: RecordLayout.effects)
        record[RecordLayout.layout] = RecordLayout.current
        record[RecordLayout.flags] = flags
        record.withUnsafeMutableBytes { header in
            header.storeBytes(
                of: version.rawValue.littleEndian, toByteOffset: RecordLayout.version,
                as: UInt64.self)
            header.storeBytes(
                of: previousVersion.rawValue.littleEndian,
                toByteOffset: RecordLayout.previousVersion,
                as: UInt64.self)
            let total = recordBytes &+ UInt64(RecordLayout.effects + effects.count)
            header.storeBytes(
                of: total.littleEndian, toByteOffset: RecordLayout.recordBytes, as: UInt64.self)
        }
        return record + effects
    }
}

/// A place in the record of an active transaction.
package struct RecordPosition: Sendable {
    fileprivate var byteCount: Int
    /// Number of undone effects.
    fileprivate var undoCount: UInt64

    /// The beginning.
    package static let start = RecordPosition(byteCount: 0, undoCount: 0)
}

/// The rows and cells that a bulk transaction touched: runs of rows and single cells, without
/// values.
private struct BulkTouch {
    private struct Table {
        var inserted: [ClosedRange<Int64>] = []
        var erased: [ClosedRange<Int64>] = []
        /// In the order in which they were touched, some again and again.
        var cells: [TouchedCell] = []
        /// Number of cells before repeated ones are removed.
        var room = 1 << 12

        mutating func touch(_ cell: TouchedCell) {
            if cells.last == cell { return }
            cells.append(cell)
            guard cells.count > room else { return }
            cells = sortedCells()
            room = max(room, 2 * cells.count)
        }

        /// Each once, in ascending order.
        func sortedCells() -> [TouchedCell] {
            var sorted: [TouchedCell] = []
            for cell in cells.sorted() where cell != sorted.last { sorted.append(cell) }
            return sorted
        }
    }

    private struct TouchedCell: Comparable {
        var key: Int64
        var column: UInt32

        static func < (left: TouchedCell, right: TouchedCell) -> Bool {
            left.key != right.key ? left.key < right.key : left.column < right.column
        }
    }

    private var tables: [TreeID: Table] = [:]
    /// The row that was inserted last: its cells follow one by one.
    private var newestTree: TreeID = 0
    private var newestKey: Int64 = 0

    mutating func add(_ effect: Effect) {
        switch effect.kind {
        case .rowInsert, .rowErase: add(effect.kind, effect.tree, effect.key)
        case .cellSet, .listInsert, .listSet, .listErase, .listMove, .listSwap, .listClear:
            touch(effect.tree, effect.key, effect.column)
        default: break
        }
    }

    mutating func add(_ kind: Effect.Kind, _ tree: TreeID, _ key: Int64) {
        if kind == .rowInsert {
            newestTree = tree
            newestKey = key
            Self.append(key, to: &tables[tree, default: Table()].inserted)
        } else {
            Self.append(key, to: &tables[tree, default: Table()].erased)
        }
    }

    private static func append(_ key: Int64, to runs: inout [ClosedRange<Int64>]) {
        if let last = runs.last, last.upperBound < .max, key == last.upperBound + 1 {
            runs[runs.count - 1] = last.lowerBound...key
        } else {
            runs.append(key...key)
        }
    }

    mutating func touch(_ tree: TreeID, _ key: Int64, _ column: UInt32) {
        if tree == newestTree, key == newestKey { return }
        if let last = tables[tree]?.inserted.last, last.contains(key) { return }
        tables[tree, default: Table()].touch(TouchedCell(key: key, column: column))
    }

    /// Effects of the bulk kinds, tables and keys in ascending order.
    func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        for (tree, table) in tables.sorted(by: { $0.key < $1.key }) {
            for (kind, runs) in [
                (Effect.Kind.rowsInserted, table.inserted), (.rowsErased, table.erased),
            ] {
                for run in runs {
                    bytes.append(kind.rawValue)
                    bytes.appendVarint(tree.rawValue)
                    bytes.appendSigned(run.lowerBound)
                    bytes.appendVarint(UInt64(bitPattern: run.upperBound &- run.lowerBound) &+ 1)
                }
            }
            for cell in table.sortedCells() {
                bytes.append(Effect.Kind.cellTouched.rawValue)
                bytes.appendVarint(tree.rawValue)
                bytes.appendSigned(cell.key)
                bytes.appendVarint(UInt64(cell.column))
            }
        }
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    fileprivate mutating func appendSigned(_ value: Int64) {
        appendVarint(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    fileprivate mutating func appendBytes(_ bytes: UnsafeRawBufferPointer) {
        appendVarint(UInt64(bytes.count))
        append(contentsOf: bytes)
    }

    fileprivate mutating func appendCell(_ cell: Cell) {
        switch cell {
        case .null:
            append(CellCode.null)
        case .bool(let value):
            append(CellCode.bool)
            append(value ? 1 : 0)
        case .int64(let value):
            append(CellCode.int64)
            appendSigned(value)
        case .float32(let value):
            append(CellCode.float32)
            Swift.withUnsafeBytes(of: value.bitPattern.littleEndian) { append(contentsOf: $0) }
        case .float64(let value):
            append(CellCode.float64)
            Swift.withUnsafeBytes(of: value.bitPattern.littleEndian) { append(contentsOf: $0) }
        case .timestamp(let value):
            append(CellCode.timestamp)
            Swift.withUnsafeBytes(of: value.seconds.littleEndian) { append(contentsOf: $0) }
            Swift.withUnsafeBytes(of: value.nanoseconds.littleEndian) { append(contentsOf: $0) }
        case .bytes(let value):
            append(CellCode.bytes)
            appendBytes(value)
        case .fixed(let value):
            append(CellCode.fixed)
            Swift.withUnsafeBytes(of: value.high.bigEndian) { append(contentsOf: $0) }
            Swift.withUnsafeBytes(of: value.low.bigEndian) { append(contentsOf: $0) }
        }
    }
}
