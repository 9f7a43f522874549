internal import ToftPlatform
internal import ToftStorage

/// Encodes values for a mixed property and checks them.
struct MixedWriter {
    /// Checks links; nil for a search value.
    let transaction: ModelTransaction?
    let property: PropertyHandle
    private var encoder = MixedEncoder()
    var bytes: [UInt8] { encoder.bytes }

    init(_ transaction: ModelTransaction?, _ property: PropertyHandle) {
        self.transaction = transaction
        self.property = property
    }

    /// Appends a value.
    /// - Parameter depth: the number of collections around it.
    @inline(never)
    mutating func put(_ value: BorrowedValue, depth: Int) throws(ModelError) {
        switch value {
        case .string(let bytes) where bytes.count > Limits.valueBytes,
            .data(let bytes) where bytes.count > Limits.valueBytes:
            throw tooLong(bytes.count)
        case .string(let text) where !UTF8Text.isValid(text):
            throw .invalidText(className: property.className, property: property.name)
        case .date(let date) where !date.isSound:
            throw .invalidDate(className: property.className, property: property.name)
        case .link(let target): try transaction?.checkTarget(target, of: property)
        case .list(let values):
            return try putCollection(MixedFormat.list, count: values.count, depth) {
                writer throws(ModelError) in
                for value in values { try writer.put(value, depth: depth + 1) }
            }
        case .dictionary(let entries):
            let ordered = BorrowedEntry.ascending(entries)
            return try putCollection(MixedFormat.dictionary, count: ordered.count, depth) {
                writer throws(ModelError) in
                for entry in ordered {
                    try writer.putKey(entry.key)
                    try writer.put(entry.value, depth: depth + 1)
                }
            }
        default: break
        }
        encoder.put(value)
        try checkLength()
    }

    /// Appends a key of a dictionary; its value comes next.
    mutating func putKey(_ key: UnsafeRawBufferPointer) throws(ModelError) {
        try property.checkEntryKey(key)
        encoder.put(UInt32(truncatingIfNeeded: key.count))
        encoder.bytes.append(contentsOf: key)
    }

    private mutating func putCollection(
        _ tag: UInt8, count: Int, _ depth: Int,
        _ body: (inout MixedWriter) throws(ModelError) -> Void
    ) throws(ModelError) {
        guard depth < Limits.nestedCollections else {
            throw .nestedTooDeep(
                className: property.className, property: property.name,
                limit: Limits.nestedCollections)
        }
        try ModelError.requireStack()
        encoder.put(tag, UInt64.random(in: .min ... .max))
        encoder.put(UInt32(truncatingIfNeeded: count))
        let length = bytes.count
        encoder.put(UInt32(0))
        try body(&self)
        try checkLength()
        store(bytes.count - length - 4, at: length, in: &encoder.bytes)
    }

    /// Throws if the value has become longer than a value may be.
    private func checkLength() throws(ModelError) {
        guard bytes.count <= Limits.valueBytes else { throw tooLong(bytes.count) }
    }

    private func tooLong(_ length: Int) -> ModelError {
        .valueTooLong(
            className: property.className, property: property.name, length: length,
            limit: Limits.valueBytes)
    }
}

/// Encodes values as they are, unchecked.
struct MixedEncoder {
    var bytes: [UInt8] = []

    /// Appends a value that is not a collection.
    mutating func put(_ value: BorrowedValue) {
        switch value {
        case .null, .list, .dictionary: bytes.append(0)
        case .bool(let value): bytes += [1, value ? 1 : 0]
        case .int(let value): put(2, UInt64(bitPattern: value))
        case .float(let value): put(3, value.bitPattern)
        case .double(let value): put(4, value.bitPattern)
        case .string(let text): put(5, text)
        case .data(let data): put(6, data)
        case .date(let date):
            put(7, UInt64(bitPattern: date.seconds))
            put(UInt32(bitPattern: date.nanoseconds))
        case .link(let target):
            put(8, target.classID)
            put(UInt64(bitPattern: target.key))
        case .decimal(let value): put(10, value.stored)
        case .objectId(let value): put(11, value)
        case .uuid(let value): put(12, value)
        }
    }

    mutating func put(_ tag: UInt8, _ content: UnsafeRawBufferPointer) {
        put(tag, UInt32(truncatingIfNeeded: content.count))
        bytes.append(contentsOf: content)
    }

    mutating func put(_ tag: UInt8, _ value: FixedBytes) {
        put(tag, value.high)
        put(value.low)
    }

    mutating func put(_ tag: UInt8, _ number: some FixedWidthInteger) {
        bytes.append(tag)
        put(number)
    }

    mutating func put(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
}

extension MixedValue {
    /// The bytes of a value that is not a collection; empty for null.
    package static func encoded(_ value: BorrowedValue) -> [UInt8] {
        guard !value.isNull else { return [] }
        var encoder = MixedEncoder()
        encoder.put(value)
        return encoder.bytes
    }
}

/// Stores an unsigned number of four bytes.
func store(_ number: Int, at offset: Int, in bytes: inout [UInt8]) {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).littleEndian) {
        bytes.replaceSubrange(offset..<offset + 4, with: $0)
    }
}

extension PropertyHandle {
    /// Calls `body` with the search cell of a value, a mixed one too: see `soughtCell`.
    func withSoughtCell<Result>(
        _ value: BorrowedValue, in schema: ModelSchema,
        _ body: (Cell) throws(ModelError) -> Result
    ) throws(ModelError) -> Result {
        guard type == .mixed else { return try body(try soughtCell(value, in: schema)) }
        if case .null = value { return try body(.null) }
        var writer = MixedWriter(nil, self)
        try writer.put(value, depth: 0)
        return try writer.bytes.withBytes { bytes throws(ModelError) in try body(.bytes(bytes)) }
    }
}

extension ModelTransaction {
    /// The cell of a value of a mixed property, or of an element of one, its bytes in `arena`.
    @inline(never)
    func prepareMixed(_ value: BorrowedValue, _ property: PropertyHandle) throws(ModelError) -> Cell
    {
        switch value {
        case .null: return .null
        case .list where property.collection == .set,
            .dictionary where property.collection == .set:
            throw .typeMismatch(
                className: property.className, property: property.name,
                expected: "one value, as an element of a set", found: value.kindName)
        default:
            var writer = MixedWriter(self, property)
            try writer.put(value, depth: 0)
            return writer.bytes.withUnsafeBytes { .bytes(arena.copy($0)) }
        }
    }

    /// Throws unless a mixed value may link to an object: it exists, and is not embedded.
    func checkTarget(_ target: ObjectRef, of property: PropertyHandle) throws(ModelError) {
        guard let owner = view.schema.anyClass(id: target.classID), !owner.isHidden else {
            throw .noSuchClass("#\(target.classID)")
        }
        guard !owner.isEmbedded else { throw property.alreadyOwned }
        if !buffer.isCreated(target.key, owner.position) {
            try view.requireObject(target.key, owner)
        }
    }

    /// Changes the backlinks of a mixed property from those of one value to those of another.
    @inline(never)
    func replaceMixedLinks(
        _ property: PropertyHandle, of key: Int64, _ old: [ObjectRef], by cell: Cell
    ) throws(ModelError) {
        let added = try MixedValue.links(in: cell)
        guard added != old else { return }
        for target in old {
            try removeBacklink(property, target: target.key, of: target.classID, source: key)
        }
        for target in added {
            try addBacklink(property, target: target.key, of: target.classID, source: key)
        }
    }
}

extension MixedFormat {
    /// An encoded value with null in place of some links; nil if it has no such links.
    static func replacing(
        linksTo isDeleted: (ObjectRef) -> Bool, in bytes: UnsafeRawBufferPointer
    ) throws(ModelError) -> [UInt8]? {
        var copy: [UInt8] = []
        copy.reserveCapacity(bytes.count)
        return try append(bytes, to: &copy, isDeleted, 0) ? copy : nil
    }

    private static func append(
        _ bytes: UnsafeRawBufferPointer, to copy: inout [UInt8],
        _ isDeleted: (ObjectRef) -> Bool, _ depth: Int
    ) throws(ModelError) -> Bool {
        switch try MixedValue(encoded: bytes) {
        case .scalar(.link(let target)) where isDeleted(target):
            copy.append(0)
            return true
        case .scalar:
            copy.append(contentsOf: bytes)
            return false
        case .collection(let collection):
            guard depth < Limits.nestedCollections else { throw damaged }
            try ModelError.requireStack()
            let start = copy.count
            copy.append(contentsOf: bytes[..<collectionHeader])
            var elements = collection.elements, isChanged = false
            while let element = try elements.next() {
                copy.append(
                    contentsOf: element.entry[..<(element.entry.count - element.bytes.count)])
                if try append(element.bytes, to: &copy, isDeleted, depth + 1) { isChanged = true }
            }
            store(copy.count - start - collectionHeader, at: start + lengthOffset, in: &copy)
            return isChanged
        }
    }

    /// Whether two values are alike in all but the ids of their collections.
    static func isIdentical(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, depth: Int = 0
    ) -> Bool {
        guard left.count == right.count else { return false }
        guard let tag = left.first, tag >= list else { return left.isSame(as: right) }
        guard depth < Limits.nestedCollections, ThreadStack.hasRoom(), tag == right.first,
            case .collection(let one)? = try? MixedValue(encoded: left),
            case .collection(let other)? = try? MixedValue(encoded: right), one.count == other.count
        else { return false }
        var elements = one.elements, others = other.elements
        while let first = try? elements.next(), let second = try? others.next() {
            guard first.key.isSame(as: second.key),
                isIdentical(first.bytes, second.bytes, depth: depth + 1)
            else { return false }
        }
        return true
    }
}
