/// A block of list elements, for reading. Its header is verified when it is made, an element of
/// bytes when it is read.
///
/// The elements of a coded block are codes of texts in another block of the cluster: code 1 is its
/// first text, and code 0 is null.
struct ElementBlock {
    let base: UnsafeRawPointer
    let page: PageNumber
    let count: Int
    let kind: ElementKind
    /// Bytes of the whole block.
    let length: Int
    /// The block with the slots of the elements: for a coded block that of its texts, otherwise
    /// itself.
    private let slots: UnsafeRawPointer
    private let slotCount: Int
    private let slotsLength: Int

    /// Checks the header of a block that has `available` bytes at most and whose elements the
    /// column says to be `kind`.
    ///
    /// - Parameter before: number of bytes before `base` at which the column's heap begins, which
    ///   has the texts of coded blocks.
    init(
        _ base: UnsafeRawPointer, available: Int, kind: ElementKind, page: PageNumber,
        before: Int = 0
    ) throws(StorageError) {
        guard available >= ElementLayout.codes else { throw Self.damage(page) }
        let flags = base.uint8(at: ElementLayout.flags)
        let isNullable = flags & ElementLayout.nullableFlag != 0
        guard base.uint8(at: ElementLayout.type) == Int(kind.type.rawValue),
            flags & ~(ElementLayout.nullableFlag | ElementLayout.codedFlag) == 0,
            kind.isNullable || !isNullable
        else { throw Self.damage(page) }
        self.base = base
        self.page = page
        self.kind = ElementKind(type: kind.type, isNullable: isNullable)
        if flags & ElementLayout.codedFlag == 0 {
            guard available >= ElementLayout.values else { throw Self.damage(page) }
            count = base.uint16(at: ElementLayout.count)
            length = base.uint32(at: ElementLayout.length)
            let least = self.kind.blockSize(count: count, heapBytes: 0)
            guard least <= length, length <= available, kind.type == .bytes || least == length
            else { throw Self.damage(page) }
            (slots, slotCount, slotsLength) = (base, count, length)
        } else {
            guard kind.type == .bytes, before >= ElementLayout.values else {
                throw Self.damage(page)
            }
            count = available &- ElementLayout.codes
            length = available
            slots = base - before
            slotCount = slots.uint16(at: ElementLayout.count)
            slotsLength = slots.uint32(at: ElementLayout.length)
            guard slots.uint8(at: ElementLayout.type) == Int(kind.type.rawValue),
                slots.uint8(at: ElementLayout.flags) == 0, slotsLength <= before,
                ElementLayout.values &+ slotCount &* ElementLayout.slotSize <= slotsLength
            else { throw Self.damage(page) }
        }
    }

    /// Whether the elements are codes of texts.
    var isCoded: Bool { slots != base }

    /// The block of the texts of a coded block.
    func texts() throws(StorageError) -> ElementBlock {
        try ElementBlock(
            slots, available: slotsLength, kind: ElementKind(type: kind.type, isNullable: false),
            page: page)
    }

    /// Whether the elements of a block are codes. The header is not verified.
    static func isCoded(_ base: UnsafeRawPointer, available: Int) -> Bool {
        available >= ElementLayout.codes
            && base.uint8(at: ElementLayout.flags) & ElementLayout.codedFlag != 0
    }

    private static func damage(_ page: PageNumber) -> StorageError {
        .corrupt(page: page, reason: "a block of list elements contradicts itself")
    }

    /// Element `index`, which is below `count`.
    @inline(__always)
    func element(_ index: Int) throws(StorageError) -> Element {
        if kind.type == .bytes { return try bytesElement(index) }
        if kind.isNullable && isNull(index) { return .cell(.null) }
        return .cell(value(index))
    }

    private func bytesElement(_ index: Int) throws(StorageError) -> Element {
        let place = isCoded ? base.uint8(at: ElementLayout.codes &+ index) &- 1 : index
        guard place < slotCount, place >= 0 || kind.isNullable else { throw Self.damage(page) }
        if place < 0 { return .cell(.null) }
        let slot = ElementLayout.values &+ place &* ElementLayout.slotSize
        let offset = slots.uint16(at: slot)
        let raw = slots.uint16(at: slot &+ ElementLayout.slotLength)
        if raw == ElementLayout.nullLength {
            guard kind.isNullable, !isCoded else { throw Self.damage(page) }
            return .cell(.null)
        }
        let isBlob = raw & ElementLayout.blobFlag != 0
        let count = raw & ~ElementLayout.blobFlag
        guard offset >= ElementLayout.values, offset &+ count <= slotsLength,
            isBlob ? count == Ref.size && !isCoded : count <= TreeLimits.inlineValue
        else {
            throw Self.damage(page)
        }
        let bytes = UnsafeRawBufferPointer(start: slots + offset, count: count)
        return isBlob ? .blob(bytes) : .cell(.bytes(bytes))
    }

    private func isNull(_ index: Int) -> Bool {
        guard let width = kind.type.elementWidth else { return false }
        let word = base.uint64(
            at: kind.nullsOffset(count: count, width: width) &+ (index >> 6) &* 8)
        return word & (1 << UInt64(index & 63)) != 0
    }

    @inline(__always)
    private func value(_ index: Int) -> Cell {
        let values = ElementLayout.values
        switch kind.type {
        case .bool: return .bool(base.uint8(at: values &+ index) != 0)
        case .int64: return .int64(base.int64(at: values &+ index &* 8))
        case .float32:
            return .float32(
                Float(bitPattern: UInt32(truncatingIfNeeded: base.uint32(at: values &+ index &* 4)))
            )
        case .float64: return .float64(Double(bitPattern: base.uint64(at: values &+ index &* 8)))
        case .timestamp:
            let offset = values &+ index &* 12
            let nanoseconds = Int32(
                bitPattern: UInt32(truncatingIfNeeded: base.uint32(at: offset &+ 8)))
            return .timestamp(Timestamp(seconds: base.int64(at: offset), nanoseconds: nanoseconds))
        case .fixed16: return .fixed(base.fixed(at: values &+ index &* 16, width: 16))
        case .fixed12: return .fixed(base.fixed(at: values &+ index &* 12, width: 12))
        case .bytes, .list: return .null
        }
    }

    /// Bytes of heap that a range of elements takes.
    func heapBytes(_ range: Range<Int>) throws(StorageError) -> Int {
        guard kind.type == .bytes else { return 0 }
        var sum = 0
        for index in range { sum += try element(index).heapBytes }
        return sum
    }

    /// The elements as aligned numbers, if they are non-nullable integers.
    var int64s: UnsafePointer<Int64>? {
        guard kind.type == .int64, !kind.isNullable, count > 0, UInt(bitPattern: base) & 7 == 0
        else { return nil }
        return (base + ElementLayout.values).assumingMemoryBound(to: Int64.self)
    }
}

/// Writes a block of list elements, front to back. The number of elements is known at the start.
struct ElementWriter {
    private let base: UnsafeMutableRawPointer
    private let capacity: Int
    private let kind: ElementKind
    private let count: Int
    private var position = 0
    private var end: Int

    /// A writer into `capacity` bytes; an error if `count` elements do not fit into them.
    init(
        _ base: UnsafeMutableRawPointer, capacity: Int, kind: ElementKind, count: Int,
        page: PageNumber
    ) throws(StorageError) {
        guard count <= ElementLayout.countLimit,
            kind.blockSize(count: count, heapBytes: 0) <= capacity
        else {
            throw .corrupt(page: page, reason: "a block of list elements is too long")
        }
        self.base = base
        self.capacity = capacity
        self.kind = kind
        self.count = count
        end = kind.blockSize(count: count, heapBytes: 0)
        base.clear(at: 0, count: end)
        base.storeUInt16(count, at: ElementLayout.count)
        base.storeUInt8(Int(kind.type.rawValue), at: ElementLayout.type)
        base.storeUInt8(kind.isNullable ? ElementLayout.nullableFlag : 0, at: ElementLayout.flags)
        base.storeUInt32(end, at: ElementLayout.length)
    }

    /// Bytes of the block so far.
    var length: Int { end }

    /// Writes a coded block: the codes of its elements.
    ///
    /// - Returns: its length.
    static func writeCoded(
        _ codes: ArraySlice<UInt8>, _ base: UnsafeMutableRawPointer, kind: ElementKind
    ) -> Int {
        base.storeUInt8(Int(kind.type.rawValue), at: ElementLayout.type)
        base.storeUInt8(
            ElementLayout.codedFlag | (kind.isNullable ? ElementLayout.nullableFlag : 0),
            at: ElementLayout.flags)
        var offset = ElementLayout.codes
        for code in codes {
            base.storeUInt8(Int(code), at: offset)
            offset &+= 1
        }
        return offset
    }

    /// Appends elements of another block of the same type.
    mutating func append(_ range: Range<Int>, of block: ElementBlock) throws(StorageError) {
        if let width = kind.type.elementWidth, !kind.isNullable, !block.kind.isNullable,
            position + range.count <= count
        {
            base.store(
                block.base + ElementLayout.values + range.lowerBound * width,
                count: range.count * width, at: ElementLayout.values + position * width)
            position += range.count
            return
        }
        for index in range { try append(try block.element(index), page: block.page) }
    }

    /// Appends one element; an error only if a damaged block is larger than it said.
    mutating func append(_ element: Element, page: PageNumber) throws(StorageError) {
        guard position < count else {
            throw .corrupt(page: page, reason: "a list has more elements than it counts")
        }
        switch element {
        case .blob(let bytes): try appendBytes(bytes, flag: ElementLayout.blobFlag, page)
        case .cell(.bytes(let bytes)): try appendBytes(bytes, flag: 0, page)
        case .cell(.null): appendNull()
        case .cell(let cell): appendFixed(cell)
        }
        position += 1
    }

    private mutating func appendBytes(
        _ bytes: UnsafeRawBufferPointer, flag: Int, _ page: PageNumber
    )
        throws(StorageError)
    {
        guard end + bytes.count <= capacity else {
            throw .corrupt(page: page, reason: "the elements of a list overlap")
        }
        let slot = ElementLayout.values + position * ElementLayout.slotSize
        if let source = bytes.baseAddress { base.store(source, count: bytes.count, at: end) }
        base.storeUInt16(end, at: slot)
        base.storeUInt16(bytes.count | flag, at: slot + ElementLayout.slotLength)
        end += bytes.count
        base.storeUInt32(end, at: ElementLayout.length)
    }

    private func appendNull() {
        guard let width = kind.type.elementWidth else {
            return base.storeUInt16(
                ElementLayout.nullLength,
                at: ElementLayout.values + position * ElementLayout.slotSize
                    + ElementLayout.slotLength)
        }
        let word = kind.nullsOffset(count: count, width: width) + (position >> 6) * 8
        base.storeUInt64(base.reading.uint64(at: word) | (1 << UInt64(position & 63)), at: word)
    }

    private func appendFixed(_ cell: Cell) {
        ElementWriter.store(cell, of: kind.type, in: base, at: position)
    }

    /// Writes a fixed-width value to its place in a block.
    static func store(
        _ cell: Cell, of type: ColumnType, in base: UnsafeMutableRawPointer, at index: Int
    ) {
        let values = ElementLayout.values
        switch cell {
        case .bool(let value): base.storeUInt8(value ? 1 : 0, at: values + index)
        case .int64(let value): base.storeInt64(value, at: values + index * 8)
        case .float32(let value): base.storeUInt32(Int(value.bitPattern), at: values + index * 4)
        case .float64(let value): base.storeUInt64(value.bitPattern, at: values + index * 8)
        case .timestamp(let value):
            base.storeInt64(value.seconds, at: values + index * 12)
            base.storeUInt32(
                Int(UInt32(bitPattern: value.nanoseconds)), at: values + index * 12 + 8)
        case .fixed(let value):
            let width = type.elementWidth ?? 0
            base.storeFixed(value, width: width, at: values + index * width)
        case .bytes, .null: break
        }
    }
}
