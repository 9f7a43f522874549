internal import ToftStorage

/// Builds a key of an index, a primary key tree or a backlink tree in memory that the caller owns.
///
/// - A value: if the property is optional 00 (null) or 01, then
///   - int: 8 bytes, sign flipped, big-endian
///   - bool: 1 byte
///   - date: the seconds as an int, the nanoseconds as 4 bytes
///   - uuid: its 16 bytes; object id: its 12 bytes and four zeros
///   - string: UTF-8, 00 as 00 FF, ended by 00 00; of a string of more than 200 bytes its first
///     200 so, then 00 01, its length (4 bytes) and its hash (8 bytes)
///   - mixed: the rank of its kind (1 byte), then a bool, string, date, uuid or object id as above,
///     data as a string, a link as two ints, its class and its key, a number of any type as the 16
///     bytes of `Decimal128.orderKey`, rounded down to 34 digits. Equal numbers have one key,
///     though others may have it too. A list or a dictionary has no more.
/// - An index entry: value, object key. Its value is empty.
/// - A primary key entry: value, for a long string also the object key. Its value is the object
///   key, little-endian, without the zeros at its end.
/// - An entry of a unique constraint: hash of the values, like an int, object key. Its value is
///   empty.
/// - A backlink entry: target key, source key; of a mixed property before them the target's class,
///   like an object key. Its value is empty for one link, otherwise the number of links, 4 bytes.
///
/// An object key within a key is its lowest n bytes, as few as it needs, big-endian, between two
/// halves of bytes: 7 + n, or 8 - n if it is negative; and n at its end. It can therefore be read
/// from either end.
///
/// Bytes sort as values do, null first; among long strings with the same 200 bytes the order means
/// nothing.
struct KeyBytes {
    /// Room for any key.
    static let capacity = 512
    /// Bytes of a string in a key.
    static let textLimit = 200

    let base: UnsafeMutableRawPointer
    private(set) var count = 0
    /// Whether equal bytes mean equal values; not so for long strings, whose rows must be compared.
    private(set) var isExact = true

    init(_ base: UnsafeMutableRawPointer) {
        self.base = base
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// Begins again.
    mutating func removeAll() {
        count = 0
        isExact = true
    }

    @inline(__always)
    mutating func put(byte: UInt8) {
        base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    @inline(__always)
    mutating func put(_ number: Int64) {
        base.storeBytes(
            of: (UInt64(bitPattern: number) ^ (1 << 63)).bigEndian, toByteOffset: count,
            as: UInt64.self)
        count &+= 8
    }

    /// Adds the prefix of an object's backlinks: its key, before that its class if the property is
    /// mixed.
    @inline(__always)
    mutating func put(target: Int64, of owner: ClassID?) {
        if let owner { put(objectKey: Int64(owner)) }
        put(objectKey: target)
    }

    @inline(__always)
    mutating func put(objectKey key: Int64) {
        let size = Self.size(objectKey: key)
        let bits = UInt64(bitPattern: key) & UInt64.max &>> UInt64(64 &- 8 &* size)
        let lead = UInt64(key < 0 ? 8 &- size : 7 &+ size)
        let first = lead << 4 | bits &>> UInt64(8 &* size &- 4)
        base.storeBytes(
            of: UInt8(truncatingIfNeeded: first), toByteOffset: count, as: UInt8.self)
        base.storeBytes(
            of: ((bits << 4 | UInt64(size)) &<< UInt64(64 &- 8 &* size)).bigEndian,
            toByteOffset: count &+ 1, as: UInt64.self)
        count &+= size &+ 1
    }

    /// Adds an entry of a unique constraint.
    mutating func putUnique(_ hash: UInt64, _ key: Int64) {
        put(Int64(bitPattern: hash))
        put(objectKey: key)
    }

    /// Bytes that an object key needs: 1 to 8.
    @inline(__always)
    private static func size(objectKey key: Int64) -> Int {
        (64 &- (key ^ key >> 63 | 1).leadingZeroBitCount &+ 7) / 8
    }

    @inline(__always)
    mutating func put(_ number: Int32) {
        base.storeBytes(
            of: (UInt32(bitPattern: number) ^ (1 << 31)).bigEndian, toByteOffset: count,
            as: UInt32.self)
        count &+= 4
    }

    /// Adds a value of an indexed or primary key property. False if the cell has no type that keys
    /// are made of.
    @inline(__always)
    mutating func put(_ cell: Cell, of type: PropertyType, optional: Bool) -> Bool {
        if case .null = cell {
            put(byte: 0)
            return true
        }
        if optional { put(byte: 1) }
        switch cell {
        case .int64(let value): put(value)
        case .bool(let value): put(byte: value ? 1 : 0)
        case .timestamp(let value):
            put(value.seconds)
            put(value.nanoseconds)
        case .bytes(let bytes):
            if type == .mixed { return putMixed(bytes) }
            put(text: bytes)
        case .fixed(let bytes): put(bytes)
        default: return false
        }
        return true
    }

    @inline(__always)
    private mutating func put(_ bytes: FixedBytes) {
        base.storeBytes(of: bytes.high.bigEndian, toByteOffset: count, as: UInt64.self)
        base.storeBytes(of: bytes.low.bigEndian, toByteOffset: count &+ 8, as: UInt64.self)
        count &+= 16
    }

    /// False if the bytes are not a mixed value.
    @inline(never)
    private mutating func putMixed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch try? MixedValue(encoded: bytes) {
        case .scalar(let value): put(mixed: value)
        case .collection(let collection): put(byte: collection.kind == .list ? 9 : 10)
        case nil: return false
        }
        return true
    }

    /// Adds the prefix of the keys of a mixed value.
    /// - Parameter isBound: for a long string, only the prefix of all with the same 200 bytes.
    @inline(never)
    mutating func put(mixed value: BorrowedValue, isBound: Bool = false) {
        put(byte: UInt8(truncatingIfNeeded: value.mixedRank))
        switch value {
        case .null, .list, .dictionary: break
        case .bool(let value): put(byte: value ? 1 : 0)
        case .int(let value): put(Decimal128(value).orderKey)
        case .float(let value): put(Decimal128.converted(Double(value), .down).value.orderKey)
        case .double(let value): put(Decimal128.converted(value, .down).value.orderKey)
        case .decimal(let value): put(value.orderKey)
        case .string(let text) where isBound && text.count > Self.textLimit,
            .data(let text) where isBound && text.count > Self.textLimit:
            putStart(of: text)
        case .string(let text), .data(let text): put(text: text)
        case .date(let date):
            put(date.seconds)
            put(date.nanoseconds)
        case .objectId(let bytes), .uuid(let bytes): put(bytes)
        case .link(let target):
            put(Int64(target.classID))
            put(target.key)
        }
    }

    /// Adds the prefix of the entries of all strings with the same first 200 bytes.
    mutating func putPrefix(of text: UnsafeRawBufferPointer, optional: Bool) {
        if optional { put(byte: 1) }
        putStart(of: text)
    }

    private mutating func putStart(of text: UnsafeRawBufferPointer) {
        let start = UnsafeRawBufferPointer(rebasing: text.prefix(Self.textLimit))
        guard Self.hasZero(start) else {
            UnsafeMutableRawBufferPointer(start: base + count, count: start.count)
                .copyMemory(from: start)
            count &+= start.count
            return
        }
        for byte in start {
            put(byte: byte)
            if byte == 0 { put(byte: 0xFF) }
        }
    }

    @inline(__always)
    private static func hasZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress, bytes.count >= 8 else { return bytes.contains(0) }
        var offset = 0
        while true {
            let eight = base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            // The highest bit of the lowest byte that is zero is left, if there is one.
            if (eight &- 0x0101_0101_0101_0101) & ~eight & 0x8080_8080_8080_8080 != 0 {
                return true
            }
            if offset &+ 8 == bytes.count { return false }
            offset = min(offset &+ 8, bytes.count &- 8)
        }
    }

    private mutating func put(text: UnsafeRawBufferPointer) {
        let isLong = text.count > Self.textLimit
        putStart(of: text)
        put(byte: 0)
        put(byte: isLong ? 1 : 0)
        guard isLong else { return }
        isExact = false
        put(Int32(truncatingIfNeeded: text.count))
        put(Int64(bitPattern: Self.hash(text, after: Self.emptyHash)))
    }

    /// The hash of no bytes.
    static let emptyHash: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The hash of bytes behind others that have a hash. FNV-1a with 64 bits: part of the format.
    static func hash(_ bytes: UnsafeRawBufferPointer, after hash: UInt64) -> UInt64 {
        var hash = hash
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }

    /// The int at the end of a key; nil if the key is too short.
    static func lastInt(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        guard bytes.count >= 8 else { return nil }
        let stored = bytes.loadUnaligned(fromByteOffset: bytes.count &- 8, as: UInt64.self)
        return Int64(bitPattern: UInt64(bigEndian: stored) ^ (1 << 63))
    }

    /// The object key at the end of an entry, behind `prefix` bytes or more, and its start; nil if
    /// the entry is too short.
    @inline(__always)
    static func lastKey(_ bytes: UnsafeRawBufferPointer, after prefix: Int = 0) -> (
        key: Int64, start: Int
    )? {
        guard let base = bytes.baseAddress, bytes.count > prefix &+ 1 else { return nil }
        let size = Int(base.load(fromByteOffset: bytes.count &- 1, as: UInt8.self) & 15)
        let start = bytes.count &- size &- 1
        guard (1...8).contains(size), start >= prefix else { return nil }
        let first = UInt64(base.load(fromByteOffset: start, as: UInt8.self))
        var rest: UInt64 = 0
        for offset in start &+ 1..<bytes.count {
            rest = rest << 8 | UInt64(base.load(fromByteOffset: offset, as: UInt8.self))
        }
        let bits = (first & 15) &<< UInt64(8 &* size &- 4) | rest >> 4
        let isNegative = first >> 4 < 8
        guard first >> 4 == UInt64(isNegative ? 8 &- size : 7 &+ size) else { return nil }
        let above = isNegative && size < 8 ? UInt64.max &<< UInt64(8 &* size) : 0
        return (Int64(bitPattern: bits | above), start)
    }

    /// Lends room for a key on the stack.
    @inline(__always)
    static func with<Result>(_ body: (inout KeyBytes) throws(ModelError) -> Result)
        throws(ModelError) -> Result
    {
        try withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 16) {
            buffer throws(ModelError) in
            guard let base = buffer.baseAddress else { throw .inconsistent("no room for a key") }
            var key = KeyBytes(base)
            return try body(&key)
        }
    }
}
