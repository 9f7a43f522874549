package import ToftStorage

/// The value of a `mixed` property or element, whose type is its own: read from the bytes of a
/// cell, from which it borrows.
///
/// The bytes are a tag, then its content; numbers are little-endian:
/// - 0 null, only within a collection: a property that is null has a null cell
/// - 1 bool: 1 byte; 2 int, 4 double: 8 bytes; 3 float: 4 bytes
/// - 5 string, 6 data: number of bytes (4), the bytes
/// - 7 date: seconds (8), nanoseconds (4)
/// - 8 link: class (4), key (8)
/// - 10 decimal128, 11 object id, 12 uuid: 16 bytes as two numbers, the first half and the other
/// - 14 list, 15 dictionary: id (8), number of elements (4), number of their bytes (4), the
///   elements, each so; before each element of a dictionary its key: number of bytes (4), the
///   bytes. Keys ascend.
package enum MixedValue {
    /// Never a list or a dictionary.
    case scalar(BorrowedValue)
    case collection(MixedCollection)
}

/// A list or a dictionary within a mixed value.
package struct MixedCollection {
    /// Its permanent identity: no other collection of the database gets the same one.
    package let id: UInt64
    package let count: Int
    /// `.list` or `.dictionary`.
    package let kind: CollectionKind
    let content: UnsafeRawBufferPointer

    /// The elements in their order.
    package var elements: MixedElements {
        MixedElements(rest: content, left: count, isDictionary: kind == .dictionary)
    }
}

/// One element of a collection within a mixed value.
package struct MixedElement {
    /// Of a dictionary; of a list empty.
    package let key: UnsafeRawBufferPointer
    /// The value, encoded.
    package let bytes: UnsafeRawBufferPointer
    /// The key and the value, encoded.
    let entry: UnsafeRawBufferPointer

    /// The value itself. O(1).
    package func value() throws(ModelError) -> MixedValue { try MixedValue(encoded: bytes) }
}

/// Goes through the elements of a collection within a mixed value.
package struct MixedElements {
    private var rest: UnsafeRawBufferPointer
    private var left: Int
    private let isDictionary: Bool

    init(rest: UnsafeRawBufferPointer, left: Int, isDictionary: Bool) {
        self.rest = rest
        self.left = left
        self.isDictionary = isDictionary
    }

    /// The next element, nil after the last one.
    @inline(never)
    package mutating func next() throws(ModelError) -> MixedElement? {
        guard left > 0 else {
            guard rest.isEmpty else { throw MixedFormat.damaged }
            return nil
        }
        left -= 1
        var key = UnsafeRawBufferPointer(start: nil, count: 0), value = rest
        if isDictionary {
            key = try MixedFormat.slice(rest, 4, try MixedFormat.number(rest, at: 0))
            value = UnsafeRawBufferPointer(rebasing: rest[(4 + key.count)...])
        }
        let bytes = UnsafeRawBufferPointer(rebasing: value[..<(try MixedFormat.size(of: value))])
        let entry = UnsafeRawBufferPointer(
            rebasing: rest[..<(rest.count - value.count + bytes.count)])
        rest = UnsafeRawBufferPointer(rebasing: rest[entry.count...])
        return MixedElement(key: key, bytes: bytes, entry: entry)
    }
}

/// The positions of the parts of an encoded mixed value.
enum MixedFormat {
    static let list: UInt8 = 14
    static let dictionary: UInt8 = 15
    /// Bytes before the elements of a collection.
    static let collectionHeader = 17
    /// The offsets of a collection's number of elements and of their number of bytes.
    static let countOffset = 9
    static let lengthOffset = 13

    static var damaged: ModelError { .inconsistent("a value of type mixed is damaged") }

    /// An unsigned number of four bytes.
    static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(ModelError) -> Int {
        guard offset >= 0, bytes.count >= 4, offset <= bytes.count - 4 else { throw damaged }
        return Int(
            UInt32(
                littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    /// An unsigned number of eight bytes.
    static func long(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(ModelError) -> UInt64 {
        guard offset >= 0, bytes.count >= 8, offset <= bytes.count - 8 else { throw damaged }
        return UInt64(
            littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    static func slice(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ length: Int)
        throws(ModelError) -> UnsafeRawBufferPointer
    {
        guard bytes.count >= offset, length <= bytes.count - offset else { throw damaged }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)])
    }

    /// The number of bytes of the value that is first in these.
    static func size(of bytes: UnsafeRawBufferPointer) throws(ModelError) -> Int {
        guard let tag = bytes.first else { throw damaged }
        let size: Int
        switch tag {
        case 0: size = 1
        case 1: size = 2
        case 2, 4: size = 9
        case 3: size = 5
        case 5, 6: size = 5 + (try number(bytes, at: 1))
        case 7, 8: size = 13
        case 10, 11, 12: size = 17
        case list, dictionary: size = collectionHeader + (try number(bytes, at: lengthOffset))
        default: throw damaged
        }
        guard size <= bytes.count else { throw damaged }
        return size
    }
}

extension MixedValue {
    /// The value of a cell.
    package init(_ cell: Cell) throws(ModelError) {
        guard case .bytes(let bytes) = cell else {
            self = .scalar(.null)
            return
        }
        try self.init(encoded: bytes)
    }

    /// Reads the value that these bytes are. O(1).
    @inline(never)
    init(encoded bytes: UnsafeRawBufferPointer) throws(ModelError) {
        guard try MixedFormat.size(of: bytes) == bytes.count else { throw MixedFormat.damaged }
        switch bytes[0] {
        case 0: self = .scalar(.null)
        case 1: self = .scalar(.bool(bytes[1] != 0))
        case 2: self = .scalar(.int(Int64(bitPattern: try MixedFormat.long(bytes, at: 1))))
        case 3:
            self = .scalar(
                .float(
                    Float(
                        bitPattern: UInt32(
                            truncatingIfNeeded: try MixedFormat.number(bytes, at: 1)))))
        case 4: self = .scalar(.double(Double(bitPattern: try MixedFormat.long(bytes, at: 1))))
        case 5: self = .scalar(.string(try MixedFormat.slice(bytes, 5, bytes.count - 5)))
        case 6: self = .scalar(.data(try MixedFormat.slice(bytes, 5, bytes.count - 5)))
        case 7:
            let seconds = Int64(bitPattern: try MixedFormat.long(bytes, at: 1)),
                nanoseconds = UInt32(truncatingIfNeeded: try MixedFormat.number(bytes, at: 9))
            self = .scalar(
                .date(Timestamp(seconds: seconds, nanoseconds: Int32(bitPattern: nanoseconds))))
        case 8:
            self = .scalar(
                .link(
                    ObjectRef(
                        classID: ClassID(truncatingIfNeeded: try MixedFormat.number(bytes, at: 1)),
                        key: Int64(bitPattern: try MixedFormat.long(bytes, at: 5)))))
        case 10, 11, 12:
            let fixed = FixedBytes(
                high: try MixedFormat.long(bytes, at: 1), low: try MixedFormat.long(bytes, at: 9))
            self = .scalar(
                bytes[0] == 10
                    ? .decimal(Decimal128(stored: fixed))
                    : bytes[0] == 11 ? .objectId(fixed) : .uuid(fixed))
        default:
            let header = MixedFormat.collectionHeader
            self = .collection(
                MixedCollection(
                    id: try MixedFormat.long(bytes, at: 1),
                    count: try MixedFormat.number(bytes, at: MixedFormat.countOffset),
                    kind: bytes[0] == MixedFormat.list ? .list : .dictionary,
                    content: try MixedFormat.slice(bytes, header, bytes.count - header)))
        }
    }

    /// The value with all that is in it, owned by the caller.
    @inline(never)
    package func owned(depth: Int = 0) throws(ModelError) -> Value {
        switch self {
        case .scalar(let value): return try value.owned()
        case .collection(let collection):
            guard depth < Limits.nestedCollections else { throw MixedFormat.damaged }
            try ModelError.requireStack(forLevel: depth)
            var elements = collection.elements
            var values: [Value] = []
            var entries: [ValueEntry] = []
            while let element = try elements.next() {
                let value = try element.value().owned(depth: depth + 1)
                if collection.kind == .list {
                    values.append(value)
                } else {
                    entries.append(ValueEntry(key: try element.key.text(), value: value))
                }
            }
            return collection.kind == .list ? .list(values) : .dictionary(entries)
        }
    }

    /// The links in a cell of a mixed property, in their order.
    @inline(never)
    package static func links(in cell: Cell) throws(ModelError) -> [ObjectRef] {
        if case .bytes = cell { try MixedValue(cell).links() } else { [] }
    }

    /// The objects that the value links to, itself and within its collections. O(its elements).
    package func links() throws(ModelError) -> [ObjectRef] {
        var links: [ObjectRef] = []
        try addLinks(to: &links, 0)
        return links
    }

    private func addLinks(to links: inout [ObjectRef], _ depth: Int) throws(ModelError) {
        switch self {
        case .scalar(.link(let target)): links.append(target)
        case .scalar: break
        case .collection(let collection):
            guard depth < Limits.nestedCollections else { throw MixedFormat.damaged }
            try ModelError.requireStack(forLevel: depth)
            var elements = collection.elements
            while let element = try elements.next() {
                try element.value().addLinks(to: &links, depth + 1)
            }
        }
    }

    /// Throws unless the value is one that could have been written.
    func check(depth: Int = 0) throws(ModelError) {
        switch self {
        case .scalar(.string(let text)): _ = try text.text()
        case .scalar(.date(let date)): if !date.isSound { throw MixedFormat.damaged }
        case .scalar: break
        case .collection(let collection):
            guard depth < Limits.nestedCollections else { throw MixedFormat.damaged }
            try ModelError.requireStack(forLevel: depth)
            var elements = collection.elements
            var last: UnsafeRawBufferPointer?
            while let element = try elements.next() {
                if collection.kind == .dictionary {
                    if let last, !last.isBefore(element.key) { throw MixedFormat.damaged }
                    _ = try element.key.text()
                    last = element.key
                }
                try element.value().check(depth: depth + 1)
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func text() throws(ModelError) -> String {
        guard let text = String(validating: self, as: UTF8.self) else {
            throw .inconsistent("a value of type mixed holds text that is not UTF-8")
        }
        return text
    }
}

extension BorrowedValue {
    /// A copy with all that is in it.
    package func owned() throws(ModelError) -> Value {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .int(let value): .int(value)
        case .float(let value): .float(value)
        case .double(let value): .double(value)
        case .string(let text): .string(try text.text())
        case .data(let bytes): .data(Array(bytes))
        case .date(let value): .date(value)
        case .link(let value): .link(value)
        case .uuid(let value): .uuid(value)
        case .objectId(let value): .objectId(value)
        case .decimal(let value): .decimal(value)
        case .list(let values):
            .list(try values.map { value throws(ModelError) in try value.owned() })
        case .dictionary(let entries):
            .dictionary(
                try BorrowedEntry.ascending(entries).map { entry throws(ModelError) in
                    ValueEntry(key: try entry.key.text(), value: try entry.value.owned())
                })
        }
    }
}

extension BorrowedEntry {
    /// Entries in the order of their keys; of equal keys the last one counts.
    static func ascending(_ entries: UnsafeBufferPointer<BorrowedEntry>) -> [BorrowedEntry] {
        let order = entries.indices.sorted { left, right in
            let (one, other) = (entries[left].key, entries[right].key)
            return one.isBefore(other) || (one.isSame(as: other) && left < right)
        }
        var ascending: [BorrowedEntry] = []
        ascending.reserveCapacity(order.count)
        for index in order {
            if let last = ascending.last, last.key.isSame(as: entries[index].key) {
                ascending.removeLast()
            }
            ascending.append(entries[index])
        }
        return ascending
    }
}

extension MixedValue {
    /// The value that begins at `offset`.
    init(at offset: Int, in bytes: UnsafeRawBufferPointer) throws(ModelError) {
        let rest = try MixedFormat.slice(bytes, offset, bytes.count - offset)
        try self.init(
            encoded: try MixedFormat.slice(rest, 0, try MixedFormat.size(of: rest)))
    }
}
