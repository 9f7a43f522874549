/// The record of one commit, as it was kept.
package struct CommitRecord: Sendable {
    package let version: Version
    package let previousVersion: Version
    /// Rows come in runs and cells without order: the transaction was too large to keep more.
    let isTouchOnly: Bool
    /// Nothing but the fact of the commit was kept; a caller that needs more compares two
    /// snapshots.
    package let isTruncated: Bool
    let bytes: [UInt8]

    init(validating value: UnsafeRawBufferPointer) throws(StorageError) {
        guard value.count >= RecordLayout.effects, let base = value.baseAddress,
            value[RecordLayout.layout] == RecordLayout.current
        else {
            throw .corrupt(page: 0, reason: "a commit record has an unknown layout")
        }
        version = base.uint64(at: RecordLayout.version)
        previousVersion = base.uint64(at: RecordLayout.previousVersion)
        isTouchOnly = value[RecordLayout.flags] & RecordLayout.touchOnly != 0
        isTruncated = value[RecordLayout.flags] & RecordLayout.truncated != 0
        bytes = Array(value)
    }

    /// Calls `body` with each effect, in order. False if the record ends inside an effect.
    @discardableResult
    package func forEach(_ body: (Effect) -> Void) -> Bool {
        EffectReader.forEach(in: bytes, from: RecordLayout.effects, body)
    }

    /// The amount for a cell that was set by an addition to its old value. `effect` is one of this
    /// record's.
    func amountAdded(by effect: Effect) -> Int64? {
        guard effect.kind == .cellSet, !effect.annotation.isEmpty else { return nil }
        return EffectReader.amount(effect.annotation, in: bytes)
    }
}

/// Decodes effects; stops at the first that makes no sense.
struct EffectReader {
    private let bytes: [UInt8]
    private var offset: Int
    private var isSound = true

    @discardableResult
    static func forEach(in bytes: [UInt8], from offset: Int, _ body: (Effect) -> Void) -> Bool {
        var reader = EffectReader(bytes: bytes, offset: offset)
        while let effect = reader.next() { body(effect) }
        return reader.isAtEnd
    }

    init(bytes: [UInt8], offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    /// Whether everything was read and made sense.
    var isAtEnd: Bool { isSound && offset == bytes.count }

    /// The next effect; nil at the end, and if the bytes make no sense.
    mutating func next() -> Effect? {
        guard isSound, offset < bytes.count else { return nil }
        let tag = byte()
        guard let kind = Effect.Kind(rawValue: tag & RecordLayout.kindMask) else {
            isSound = false
            return nil
        }
        var effect = Effect(
            kind: kind, isDerived: tag & RecordLayout.isDerived != 0, tree: TreeID(varint()),
            key: 0,
            column: 0, index: 0, otherIndex: 0, count: 1,
            entryKey: 0..<0, value: 0..<0)
        switch kind {
        case .treePut:
            effect.entryKey = skip(count())
            effect.value = skip(count())
        case .treeDelete:
            effect.entryKey = skip(count())
        case .rowInsert, .rowErase:
            effect.key = signed()
        case .rowsInserted, .rowsErased:
            effect.key = signed()
            effect.count = count()
        case .cellTouched:
            readCellPlace(&effect)
        case .cellSet:
            readCellPlace(&effect)
            readCell(&effect)
        case .listInsert, .listSet:
            readCellPlace(&effect)
            effect.index = count()
            readCell(&effect)
        case .listErase:
            readCellPlace(&effect)
            effect.index = count()
        case .listMove, .listSwap:
            readCellPlace(&effect)
            effect.index = count()
            effect.otherIndex = count()
        case .listClear:
            readCellPlace(&effect)
            effect.index = count()
            effect.count = count()
        case .treeCreate, .treeDrop:
            break
        case .columnAdd, .columnRemove:
            effect.column = UInt32(truncatingIfNeeded: varint())
        }
        if tag & RecordLayout.isAnnotated != 0 { effect.annotation = skip(count()) }
        return isSound ? effect : nil
    }

    private mutating func readCellPlace(_ effect: inout Effect) {
        effect.key = signed()
        effect.column = UInt32(truncatingIfNeeded: varint())
    }

    private mutating func readCell(_ effect: inout Effect) {
        let start = offset
        switch byte() {
        case CellCode.null: break
        case CellCode.bool: _ = skip(1)
        case CellCode.int64: _ = varint()
        case CellCode.float32: _ = skip(4)
        case CellCode.float64: _ = skip(8)
        case CellCode.timestamp: _ = skip(12)
        case CellCode.bytes: _ = skip(count())
        case CellCode.fixed: _ = skip(16)
        default: isSound = false
        }
        effect.value = start..<offset
    }

    /// The cell of an effect that this reader has read. `bytes` are those of the record.
    static func cell(_ effect: Effect, in bytes: [UInt8], _ raw: UnsafeRawBufferPointer) -> Cell {
        var reader = EffectReader(bytes: bytes, offset: effect.value.lowerBound)
        let code = reader.byte()
        let start = reader.offset
        switch code {
        case CellCode.bool: return .bool(reader.byte() != 0)
        case CellCode.int64: return .int64(reader.signed())
        case CellCode.float32:
            return .float32(
                Float(
                    bitPattern: UInt32(
                        littleEndian: raw.loadUnaligned(fromByteOffset: start, as: UInt32.self))))
        case CellCode.float64:
            return .float64(
                Double(
                    bitPattern: UInt64(
                        littleEndian: raw.loadUnaligned(fromByteOffset: start, as: UInt64.self))))
        case CellCode.timestamp:
            return .timestamp(
                Timestamp(
                    seconds: Int64(
                        littleEndian: raw.loadUnaligned(fromByteOffset: start, as: Int64.self)),
                    nanoseconds: Int32(
                        littleEndian: raw.loadUnaligned(fromByteOffset: start + 8, as: Int32.self)))
            )
        case CellCode.bytes:
            _ = reader.count()
            return .bytes(
                UnsafeRawBufferPointer(rebasing: raw[reader.offset..<effect.value.upperBound]))
        case CellCode.fixed:
            guard let base = raw.baseAddress else { return .null }
            return .fixed((base + start).fixed(at: 0, width: 16))
        default: return .null
        }
    }

    /// The amount in an annotation of a record.
    fileprivate static func amount(_ annotation: Range<Int>, in bytes: [UInt8]) -> Int64? {
        var reader = EffectReader(bytes: bytes, offset: annotation.lowerBound)
        guard reader.byte() == RecordLayout.amountAdded else { return nil }
        let amount = reader.signed()
        return reader.isSound && reader.offset == annotation.upperBound ? amount : nil
    }

    private mutating func byte() -> UInt8 {
        guard offset < bytes.count else {
            isSound = false
            return 0
        }
        defer { offset += 1 }
        return bytes[offset]
    }

    private mutating func skip(_ count: Int) -> Range<Int> {
        guard count >= 0, count <= bytes.count - offset else {
            isSound = false
            offset = bytes.count
            return offset..<offset
        }
        offset += count
        return (offset - count)..<offset
    }

    private mutating func varint() -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while shift < 64 {
            let part = byte()
            value |= UInt64(part & 0x7F) << shift
            if part & 0x80 == 0 { return value }
            shift += 7
        }
        isSound = false
        return value
    }

    private mutating func count() -> Int {
        let value = varint()
        if value > UInt64(Int.max) { isSound = false }
        return Int(truncatingIfNeeded: value)
    }

    private mutating func signed() -> Int64 {
        let value = varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }
}

/// The first byte of a value in a record.
enum CellCode {
    static let null: UInt8 = 0
    static let bool: UInt8 = 1
    static let int64: UInt8 = 2
    static let float32: UInt8 = 3
    static let float64: UInt8 = 4
    static let timestamp: UInt8 = 5
    static let bytes: UInt8 = 6
    static let fixed: UInt8 = 7
}
