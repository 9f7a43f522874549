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
        case TOFT_TYPE_LIST, TOFT_TYPE_SET, TOFT_TYPE_DICTIONARY:
            throw .invalidArgument("'\(name)' is a collection, not a single value.")
        default: throw value.type.refusal(name)
        }
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
        buffer = .allocate(byteCount: bytes.count, alignment: 1)
        buffer.copyBytes(from: bytes)
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
        }
    }
}
