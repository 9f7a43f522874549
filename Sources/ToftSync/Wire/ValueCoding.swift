/// The first byte of an encoded value. Raw values are those of the wire.
enum ValueTag: UInt8 {
    case null = 0
    case bool = 1
    case int = 2
    case float = 3
    case double = 4
    case text = 5
    case data = 6
    case date = 7
    case link = 8
    case decimal = 10
    case objectID = 11
    case uuid = 12
    case made = 13
    case nestedList = 14
    case nestedDictionary = 15
    case embedded = 16
    case absent = 17
    case list = 21
    case set = 22
    case dictionary = 23
    case element = 24
    case label = 25
    case member = 26
}

extension ByteWriter {
    mutating func tag(_ tag: ValueTag) { byte(tag.rawValue) }

    mutating func made(_ id: MadeID) {
        varint(UInt64(id.replica.rawValue))
        varint(id.counter)
    }

    mutating func key(_ key: ObjectKey) {
        switch key {
        case .null: value(.null)
        case .int(let number): value(.int(number))
        case .text(let text): value(.text(text))
        case .objectID(let bytes): value(.objectID(bytes))
        case .uuid(let bytes): value(.uuid(bytes))
        case .made(let id):
            tag(.made)
            made(id)
        }
    }

    mutating func object(_ object: ObjectID) {
        varint(UInt64(object.type.rawValue))
        key(object.key)
    }

    package mutating func value(_ value: SyncValue) {
        switch value {
        case .null: tag(.null)
        case .bool(let value):
            tag(.bool)
            byte(value ? 1 : 0)
        case .int(let value):
            tag(.int)
            svarint(value)
        case .floatBits(let bits):
            tag(.float)
            fixed(bits)
        case .doubleBits(let bits):
            tag(.double)
            fixed(bits)
        case .text(let value):
            tag(.text)
            text(value)
        case .data(let value):
            tag(.data)
            data(value)
        case .date(let seconds, let nanoseconds):
            tag(.date)
            svarint(seconds)
            svarint(Int64(nanoseconds))
        case .link(let target):
            tag(.link)
            object(target)
        case .decimal(let value):
            tag(.decimal)
            bytes16(value)
        case .objectID(let value):
            tag(.objectID)
            bytes12(value)
        case .uuid(let value):
            tag(.uuid)
            bytes16(value)
        case .list(let id, let elements):
            tag(.nestedList)
            fixed(id.rawValue)
            count(elements.count)
            for element in elements { self.value(element) }
        case .dictionary(let id, let entries):
            tag(.nestedDictionary)
            fixed(id.rawValue)
            count(entries.count)
            for entry in entries {
                text(entry.key)
                self.value(entry.value)
            }
        }
    }

    mutating func node(_ node: Node) {
        switch node {
        case .value(let value): self.value(value)
        case .fields(let fields):
            tag(.embedded)
            count(fields.all.count)
            for field in fields.all {
                varint(UInt64(field.property.rawValue))
                self.node(field.node)
            }
        case .list(let list):
            tag(.list)
            count(list.count)
            var previous: Int64 = 0
            for place in list.order {
                made(place.id)
                svarint(place.label.whole &- previous)
                previous = place.label.whole
                self.node(list.node(place))
            }
        case .set(let members):
            tag(.set)
            count(members.count)
            // A set has no order of its own: its members ascend by their bytes.
            for member in sortedByBytes(members) { raw(member) }
        case .dictionary(let entries):
            tag(.dictionary)
            count(entries.count)
            for (key, node) in entries.sorted(by: { $0.key < $1.key }) {
                text(key)
                self.node(node)
            }
        }
    }

    private func sortedByBytes(_ members: Set<SyncValue>) -> [[UInt8]] {
        let encoded = members.map { member in
            var writer = ByteWriter()
            writer.value(member)
            return writer.bytes
        }
        return encoded.sorted { $0.lexicographicallyPrecedes($1) }
    }

    mutating func content(_ content: Content) {
        switch content {
        case .absent: tag(.absent)
        case .member: tag(.member)
        case .node(let node): self.node(node)
        case .label(let label):
            tag(.label)
            svarint(label.whole)
        case .element(let label, let node):
            tag(.element)
            svarint(label.whole)
            self.node(node)
        }
    }
}

extension ByteReader {
    mutating func tag() throws(DecodingError) -> ValueTag {
        let byte = try byte()
        guard let tag = ValueTag(rawValue: byte) else { throw .unknownKind(byte) }
        return tag
    }

    mutating func made() throws(DecodingError) -> MadeID {
        MadeID(ReplicaNumber(try varint32()), try varint())
    }

    mutating func key() throws(DecodingError) -> ObjectKey {
        switch try tag() {
        case .null: .null
        case .int: .int(try svarint())
        case .text: .text(try text())
        case .objectID: .objectID(try bytes12())
        case .uuid: .uuid(try bytes16())
        case .made: .made(try made())
        case let other: throw .unknownKind(other.rawValue)
        }
    }

    mutating func object() throws(DecodingError) -> ObjectID {
        ObjectID(ClassNumber(try varint32()), try key())
    }

    package mutating func value() throws(DecodingError) -> SyncValue {
        try value(try tag(), depth: 0)
    }

    private mutating func value(
        _ tag: ValueTag, depth: Int
    ) throws(DecodingError) -> SyncValue {
        switch tag {
        case .null: return .null
        case .bool:
            let byte = try byte()
            if byte > 1 { throw .notCanonical }
            return .bool(byte == 1)
        case .int: return .int(try svarint())
        case .float:
            let bits = try fixed(UInt32.self)
            if SyncValue.float(Float(bitPattern: bits)) != .floatBits(bits) { throw .notCanonical }
            return .floatBits(bits)
        case .double:
            let bits = try fixed(UInt64.self)
            if SyncValue.double(Double(bitPattern: bits)) != .doubleBits(bits) {
                throw .notCanonical
            }
            return .doubleBits(bits)
        case .text: return .text(try text())
        case .data: return .data(try data())
        case .date: return try date()
        case .link: return .link(try object())
        case .decimal: return .decimal(try bytes16())
        case .objectID: return .objectID(try bytes12())
        case .uuid: return .uuid(try bytes16())
        case .nestedList, .nestedDictionary: return try nested(tag, depth: depth + 1)
        default: throw .unknownKind(tag.rawValue)
        }
    }

    private mutating func date() throws(DecodingError) -> SyncValue {
        let seconds = try svarint()
        let nanoseconds = try svarint()
        guard abs(nanoseconds.clamped) < 1_000_000_000,
            seconds == 0 || nanoseconds == 0 || (seconds < 0) == (nanoseconds < 0)
        else { throw .notCanonical }
        return .date(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }

    private mutating func nested(
        _ tag: ValueTag, depth: Int
    ) throws(DecodingError) -> SyncValue {
        if depth > Schema.nesting { throw .nestedTooDeep }
        let id = CollectionID(try fixed(UInt64.self))
        let count = try count()
        if tag == .nestedList {
            var elements: [SyncValue] = []
            for _ in 0..<count { elements.append(try value(try self.tag(), depth: depth)) }
            return .list(id, elements)
        }
        var entries: [NestedEntry] = []
        for _ in 0..<count {
            let key = try text()
            if let last = entries.last, last.key >= key { throw .notCanonical }
            entries.append(NestedEntry(key, try value(try self.tag(), depth: depth)))
        }
        return .dictionary(id, entries)
    }

    mutating func node() throws(DecodingError) -> Node { try node(try tag(), depth: 0) }

    private mutating func node(_ tag: ValueTag, depth: Int) throws(DecodingError) -> Node {
        if depth > Schema.nesting { throw .nestedTooDeep }
        switch tag {
        case .embedded: return .fields(try fields(depth: depth))
        case .list:
            var list = ElementList()
            var previous: ElementPlace?
            for _ in 0..<(try count()) {
                let id = try made()
                let label = Label((previous?.label.whole ?? 0) &+ (try svarint()))
                let place = ElementPlace(label, id)
                if let previous, previous >= place { throw .notCanonical }
                if list[id] != nil { throw .notCanonical }
                list[id] = .init(label: label, node: try node(try self.tag(), depth: depth + 1))
                previous = place
            }
            return .list(list)
        case .set: return .set(try members())
        case .dictionary:
            var entries: [Text: Node] = [:]
            var previous: Text?
            for _ in 0..<(try count()) {
                let key = try text()
                if let previous, previous >= key { throw .notCanonical }
                entries[key] = try node(try self.tag(), depth: depth + 1)
                previous = key
            }
            return .dictionary(entries)
        default: return .value(try value(tag, depth: 0))
        }
    }

    private mutating func fields(depth: Int) throws(DecodingError) -> Fields {
        var all: [Fields.Field] = []
        for _ in 0..<(try count()) {
            let property = PropertyNumber(try varint32())
            if let last = all.last, last.property >= property { throw .notCanonical }
            all.append(.init(property, try node(try tag(), depth: depth + 1)))
        }
        return Fields(ascending: all)
    }

    private mutating func members() throws(DecodingError) -> Set<SyncValue> {
        var members: Set<SyncValue> = []
        var previous: ArraySlice<UInt8> = []
        for _ in 0..<(try count()) {
            let start = position
            members.insert(try value())
            let bytes = slice(from: start)
            guard previous.lexicographicallyPrecedes(bytes) else { throw .notCanonical }
            previous = bytes
        }
        return members
    }

    mutating func content() throws(DecodingError) -> Content {
        switch try tag() {
        case .absent: return .absent
        case .member: return .member
        case .label: return .label(Label(try svarint()))
        case .element: return .element(Label(try svarint()), try node())
        case let tag: return .node(try node(tag, depth: 0))
        }
    }
}

extension Int64 {
    /// The number, or one whose magnitude can be told.
    fileprivate var clamped: Int64 { Swift.max(self, -.max) }
}
