internal import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftQuery
internal import ToftStorage

extension Value {
    /// A value of C, to keep.
    init(copying pointer: UnsafePointer<toft_value>?, _ name: StaticString) throws(EngineError) {
        try self.init(copying: try Argument.pointer(pointer, name).pointee, name)
    }

    /// A value of C, to keep.
    init(copying value: toft_value, _ name: StaticString) throws(EngineError) {
        try Argument.reserved(value.reserved, name)
        switch value.type {
        case TOFT_TYPE_NULL: self = .null
        case TOFT_TYPE_BOOL: self = .bool(value.boolean)
        case TOFT_TYPE_INT: self = .int(value.integer)
        case TOFT_TYPE_FLOAT: self = .float(value.float32)
        case TOFT_TYPE_DOUBLE: self = .double(value.float64)
        case TOFT_TYPE_STRING: self = .string(try Argument.text(value.string, name))
        case TOFT_TYPE_DATA:
            self = .data(Array(try Argument.bytes(value.data.data, value.data.size, name)))
        case TOFT_TYPE_DATE: self = .date(Timestamp(value.date))
        case TOFT_TYPE_LINK: self = .link(ObjectRef(value.link))
        case TOFT_TYPE_UUID: self = .uuid(FixedBytes(value.uuid))
        case TOFT_TYPE_OBJECT_ID: self = .objectId(FixedBytes(value.object_id))
        case TOFT_TYPE_DECIMAL: self = .decimal(Decimal128(value.decimal))
        case TOFT_TYPE_LIST, TOFT_TYPE_DICTIONARY: self = try Self.collection(value, name)
        case TOFT_TYPE_SET:
            throw .invalidArgument("'\(name)' is a set, not a single value.")
        default: throw value.type.refusal(name)
        }
    }
}

extension Value {
    /// A list or a dictionary, which mixed properties hold.
    private static func collection(_ value: toft_value, _ name: StaticString) throws(EngineError)
        -> Value
    {
        let borrowed: Result<Value, EngineError>
        do throws(EngineError) {
            var copy = Value.null
            try BorrowedArguments.with { loan throws(EngineError) in
                let value = try loan.value(value, name)
                copy = try model { () throws(ModelError) in try value.owned() }
            }
            borrowed = .success(copy)
        } catch { borrowed = .failure(error) }
        return try borrowed.get()
    }
}

extension QueryArgument {
    /// An argument of a query: a value or a list of values.
    init(copying value: toft_value) throws(EngineError) {
        guard value.type == TOFT_TYPE_LIST || value.type == TOFT_TYPE_SET else {
            self = .value(try Value(copying: value, "arguments"))
            return
        }
        var values: [Value] = []
        for element in try Argument.array(value.list.data, value.list.count, "arguments") {
            values.append(try Value(copying: element, "arguments"))
        }
        self = .list(values)
    }
}

/// Bytes in memory that C can point into for as long as this object lives.
final class ForeignBytes {
    private let buffer: UnsafeMutableRawBufferPointer

    init(_ bytes: some Collection<UInt8>) {
        buffer = .allocate(byteCount: bytes.count, alignment: 8)
        buffer.copyBytes(from: bytes)
    }

    /// Elements of C, which hold nothing to release, side by side.
    static func array<Element>(
        of elements: [Element], _ kept: inout [ForeignBytes]
    ) -> UnsafePointer<Element>? {
        let copy = elements.withUnsafeBytes { ForeignBytes($0) }
        kept.append(copy)
        return copy.buffer.baseAddress.map {
            UnsafePointer($0.bindMemory(to: Element.self, capacity: elements.count))
        }
    }

    deinit { buffer.deallocate() }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(buffer) }
}

extension toft_value {
    /// A value of our own; its text or bytes, if it has any, are put into `kept`.
    init(_ value: Value, keeping kept: inout [ForeignBytes]) {
        switch value {
        case .null: self.init()
        case .bool(let value): self = toft_value_bool(value)
        case .int(let value): self = toft_value_int(value)
        case .float(let value): self = toft_value_float(value)
        case .double(let value): self = toft_value_double(value)
        case .date(let date): self = toft_value_date(date.seconds, date.nanoseconds)
        case .link(let ref): self = toft_value_link(toft_link(ref))
        case .uuid(let bytes): self = toft_value_uuid(toft_uuid(bytes))
        case .objectId(let bytes): self = toft_value_object_id(toft_object_id(bytes))
        case .decimal(let value): self = toft_value_decimal(toft_decimal(value))
        case .string(let text):
            let copy = ForeignBytes(text.utf8)
            kept.append(copy)
            self = toft_value_string(toft_string(copy.bytes))
        case .data(let bytes):
            let copy = ForeignBytes(bytes)
            kept.append(copy)
            self = toft_value_data(copy.bytes.baseAddress, copy.bytes.count)
        case .list(let values):
            let elements = values.map { toft_value($0, keeping: &kept) }
            self.init()
            type = TOFT_TYPE_LIST
            list = toft_values(data: ForeignBytes.array(of: elements, &kept), count: values.count)
        case .dictionary(let values):
            let elements = values.map { entry in
                let key = ForeignBytes(entry.key.utf8)
                kept.append(key)
                return toft_entry(
                    key: toft_string(key.bytes), value: toft_value(entry.value, keeping: &kept))
            }
            self.init()
            type = TOFT_TYPE_DICTIONARY
            entries = toft_entries(
                data: ForeignBytes.array(of: elements, &kept), count: values.count)
        }
    }
}
