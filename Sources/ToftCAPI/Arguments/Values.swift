internal import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftStorage

/// Values of C, lent to the engine for the time of a call.
struct BorrowedArguments: ~Copyable {
    /// Memory that is enough for most calls.
    private var room: UnsafeMutableRawBufferPointer.SubSequence
    private var buffers: [UnsafeMutableRawPointer] = []

    private init(_ room: UnsafeMutableRawBufferPointer) { self.room = room[...] }

    deinit {
        for buffer in buffers { buffer.deallocate() }
    }

    /// Runs a call that lends values.
    static func with(_ body: (inout BorrowedArguments) throws(EngineError) -> Void)
        throws(EngineError)
    {
        try withUnsafeTemporaryAllocation(byteCount: 1_024, alignment: 16) {
            room throws(EngineError) in
            var loan = BorrowedArguments(room)
            try body(&loan)
        }
    }

    /// Runs a call with one borrowed value; only collections allocate memory.
    static func with(
        _ pointer: UnsafePointer<toft_value>?, _ name: StaticString,
        _ body: (BorrowedValue) throws(EngineError) -> Void
    ) throws(EngineError) {
        let value = try Argument.pointer(pointer, name).pointee
        if let single = try single(value, name) { return try body(single) }
        try with { loan throws(EngineError) in
            try body(try loan.collection(value, name, 0))
        }
    }

    mutating func buffer<Element>(of count: Int) -> UnsafeMutableBufferPointer<Element> {
        let size = (count * MemoryLayout<Element>.stride + 15) & ~15
        if size <= room.count {
            defer { room = room.dropFirst(size) }
            return UnsafeMutableRawBufferPointer(rebasing: room.prefix(size)).bindMemory(
                to: Element.self)
        }
        let buffer = UnsafeMutableBufferPointer<Element>.allocate(capacity: count)
        if let base = buffer.baseAddress { buffers.append(UnsafeMutableRawPointer(base)) }
        return buffer
    }

    /// Properties and values from parallel arrays.
    mutating func assignments(
        _ keys: UnsafePointer<toft_property_key>?, _ values: UnsafePointer<toft_value>?,
        _ count: Int
    ) throws(EngineError) -> UnsafeBufferPointer<Assignment> {
        let keys = try Argument.properties(keys, count)
        let given = try Argument.array(values, count, "values")
        let assignments: UnsafeMutableBufferPointer<Assignment> = buffer(of: count)
        for index in 0..<count {
            assignments.initializeElement(
                at: index, to: Assignment(keys[index], try value(given[index], "values")))
        }
        return UnsafeBufferPointer(rebasing: assignments[..<count])
    }

    /// `count` values. The addresses of their texts and bytes are checked; the rest is the model's.
    mutating func values(_ values: UnsafePointer<toft_value>?, _ count: Int, _ name: StaticString)
        throws(EngineError) -> UnsafeBufferPointer<BorrowedValue>
    {
        let given = try Argument.array(values, count, name)
        try checkCount(count, name)
        let copies: UnsafeMutableBufferPointer<BorrowedValue> = buffer(of: count)
        for index in 0..<count {
            copies.initializeElement(at: index, to: try value(given[index], name))
        }
        return UnsafeBufferPointer(rebasing: copies[..<count])
    }

    mutating func value(_ value: toft_value, _ name: StaticString, depth: Int = 0)
        throws(EngineError) -> BorrowedValue
    {
        if let single = try Self.single(value, name) { return single }
        return try collection(value, name, depth)
    }

    /// A value that is not a collection; otherwise nil.
    @inline(__always)
    private static func single(_ value: toft_value, _ name: StaticString) throws(EngineError)
        -> BorrowedValue?
    {
        try Argument.reserved(value.reserved, name)
        switch value.type {
        case TOFT_TYPE_NULL: return .null
        case TOFT_TYPE_BOOL: return .bool(value.boolean)
        case TOFT_TYPE_INT: return .int(value.integer)
        case TOFT_TYPE_FLOAT: return .float(value.float32)
        case TOFT_TYPE_DOUBLE: return .double(value.float64)
        case TOFT_TYPE_STRING:
            return .string(
                try Argument.bytes(UnsafeRawPointer(value.string.data), value.string.size, name))
        case TOFT_TYPE_DATA:
            return .data(try Argument.bytes(value.data.data, value.data.size, name))
        case TOFT_TYPE_DATE: return .date(Timestamp(value.date))
        case TOFT_TYPE_LINK: return .link(ObjectRef(value.link))
        case TOFT_TYPE_UUID: return .uuid(FixedBytes(value.uuid))
        case TOFT_TYPE_OBJECT_ID: return .objectId(FixedBytes(value.object_id))
        case TOFT_TYPE_DECIMAL: return .decimal(Decimal128(value.decimal))
        case TOFT_TYPE_LIST, TOFT_TYPE_SET, TOFT_TYPE_DICTIONARY: return nil
        default: throw value.type.refusal(name)
        }
    }

    /// A whole collection. Not inlined, to keep the common case short.
    @inline(never)
    private mutating func collection(_ value: toft_value, _ name: StaticString, _ depth: Int)
        throws(EngineError) -> BorrowedValue
    {
        // The model limits the depth of a property's values; this limits the reading itself.
        guard depth <= Limits.nestedCollections else {
            throw EngineError(
                .valueTooLong,
                "'\(name)' has more than \(Limits.nestedCollections) collections in one another.")
        }
        try model { () throws(ModelError) in try ModelError.requireStack(forLevel: depth) }
        if value.type == TOFT_TYPE_SET, depth > 0 {
            throw .invalidArgument("'\(name)' is a collection that contains a set.")
        }
        return value.type == TOFT_TYPE_DICTIONARY
            ? .dictionary(try entries(value.entries, name, depth + 1))
            : .list(try elements(value.list, name, depth + 1))
    }

    private mutating func elements(_ list: toft_values, _ name: StaticString, _ depth: Int)
        throws(EngineError) -> UnsafeBufferPointer<BorrowedValue>
    {
        let given = try Argument.array(list.data, list.count, name)
        try checkCount(given.count, name)
        let copies: UnsafeMutableBufferPointer<BorrowedValue> = buffer(of: given.count)
        for index in given.indices {
            copies.initializeElement(at: index, to: try value(given[index], name, depth: depth))
        }
        return UnsafeBufferPointer(rebasing: copies[..<given.count])
    }

    private mutating func entries(_ given: toft_entries, _ name: StaticString, _ depth: Int)
        throws(EngineError) -> UnsafeBufferPointer<BorrowedEntry>
    {
        let entries = try Argument.array(given.data, given.count, name)
        try checkCount(entries.count, name)
        let copies: UnsafeMutableBufferPointer<BorrowedEntry> = buffer(of: entries.count)
        for (index, entry) in entries.enumerated() {
            let key = try Argument.bytes(UnsafeRawPointer(entry.key.data), entry.key.size, name)
            copies.initializeElement(
                at: index,
                to: BorrowedEntry(key: key, value: try value(entry.value, name, depth: depth)))
        }
        return UnsafeBufferPointer(rebasing: copies[..<entries.count])
    }

    private func checkCount(_ count: Int, _ name: StaticString) throws(EngineError) {
        guard count <= Limits.collectionElements else {
            throw .invalidArgument(
                "'\(name)' has \(count) elements, too many for a collection.")
        }
    }
}

extension Timestamp {
    init(_ date: toft_date) {
        self.init(seconds: date.seconds, nanoseconds: date.nanoseconds)
    }
}

extension ObjectRef {
    init(_ link: toft_link) {
        self.init(classID: link.class_key, key: link.object_key)
    }
}

extension FixedBytes {
    init(_ uuid: toft_uuid) {
        self = withUnsafeBytes(of: uuid) { FixedBytes($0) }
    }

    init(_ objectId: toft_object_id) {
        self = withUnsafeBytes(of: objectId) { FixedBytes($0) }
    }
}

extension Decimal128 {
    init(_ decimal: toft_decimal) { self.init(low: decimal.low, high: decimal.high) }
}

extension toft_decimal {
    init(_ value: Decimal128) { self.init(low: value.low, high: value.high) }
}

extension toft_uuid {
    init(_ value: FixedBytes) {
        self.init()
        withUnsafeMutableBytes(of: &self) { value.write(to: $0) }
    }
}

extension toft_object_id {
    init(_ value: FixedBytes) {
        self.init()
        withUnsafeMutableBytes(of: &self) { value.write(to: $0) }
    }
}

extension toft_link {
    init(_ ref: ObjectRef) {
        self.init(object_key: ref.key, class_key: ref.classID)
    }
}

extension toft_value {
    /// A value of the file, as long as the cell is valid. Types are matched, not compared by `==`,
    /// which is a call.
    init(_ cell: Cell, _ type: PropertyType, target: ClassID) {
        switch cell {
        case .null: self.init()
        case .bool(let value): self = toft_value_bool(value)
        case .int64(let value):
            if case .link = type {
                self = toft_value_link(toft_link(object_key: value, class_key: target))
            } else {
                self = toft_value_int(value)
            }
        case .float32(let value): self = toft_value_float(value)
        case .float64(let value): self = toft_value_double(value)
        case .timestamp(let date): self = toft_value_date(date.seconds, date.nanoseconds)
        case .fixed(let bytes):
            self =
                switch type {
                case .uuid: toft_value_uuid(toft_uuid(bytes))
                case .decimal128: toft_value_decimal(toft_decimal(Decimal128(stored: bytes)))
                default: toft_value_object_id(toft_object_id(bytes))
                }
        case .bytes(let bytes):
            switch type {
            case .mixed: self.init(mixed: cell)
            case .data: self = toft_value_data(bytes.baseAddress, bytes.count)
            default: self = toft_value_string(toft_string(bytes))
            }
        }
    }
}

extension toft_value {
    /// A mixed value, borrowed. For a list or a dictionary its type and its count; an unreadable
    /// one has the type TOFT_TYPE_MIXED, see `sound`.
    @inline(never)
    private init(mixed cell: Cell) {
        self.init()
        switch try? MixedValue(cell) {
        case nil: type = TOFT_TYPE_MIXED
        case .collection(let collection)?:
            type = collection.kind == .list ? TOFT_TYPE_LIST : TOFT_TYPE_DICTIONARY
            list.count = collection.count
        case .scalar(let value)?:
            switch value {
            case .bool(let value): self = toft_value_bool(value)
            case .int(let value): self = toft_value_int(value)
            case .float(let value): self = toft_value_float(value)
            case .double(let value): self = toft_value_double(value)
            case .string(let text): self = toft_value_string(toft_string(text))
            case .data(let bytes): self = toft_value_data(bytes.baseAddress, bytes.count)
            case .date(let date): self = toft_value_date(date.seconds, date.nanoseconds)
            case .link(let ref): self = toft_value_link(toft_link(ref))
            case .uuid(let bytes): self = toft_value_uuid(toft_uuid(bytes))
            case .objectId(let bytes): self = toft_value_object_id(toft_object_id(bytes))
            case .decimal(let value): self = toft_value_decimal(toft_decimal(value))
            case .null, .list, .dictionary: break
            }
        }
    }

    /// The value itself.
    /// - Throws: `corrupt` if the file's value is not a valid one.
    @inline(__always)
    func sound() throws(EngineError) -> toft_value {
        if type == TOFT_TYPE_MIXED {
            throw EngineError(.corrupt, "A value of type mixed is damaged.")
        }
        return self
    }
}

extension toft_string {
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(data: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), size: bytes.count)
    }
}

extension toft_type {
    /// Why a value of this type is not taken: it is reserved, or not a type at all.
    func refusal(_ name: StaticString) -> EngineError {
        self == TOFT_TYPE_OBJECT
            ? EngineError(
                .unsupported,
                "'\(name)' has the type \(rawValue), which this version of the library does not "
                    + "have.")
            : .invalidArgument("'\(name)' has the unknown type \(rawValue).")
    }
}
