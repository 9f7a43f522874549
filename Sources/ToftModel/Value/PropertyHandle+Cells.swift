internal import ToftStorage

extension PropertyHandle {
    /// Checks a value for this property (no list) by itself, and makes it a cell. A link's target is not looked up here.
    @inline(__always)
    func checkedCell(_ value: BorrowedValue, in schema: ModelSchema) throws(ModelError) -> Cell {
        guard collection == .none, isStored else { throw notSettable(value) }
        return try checkedElement(value, in: schema)
    }

    /// The same for the value itself or an element of the list.
    @inline(__always)
    func checkedElement(_ value: BorrowedValue, in schema: ModelSchema) throws(ModelError) -> Cell {
        switch (value, type) {
        case (.int(let value), .int): return .int64(value)
        case (.string(let text), .string):
            try check(length: text.count)
            guard UTF8Text.isValid(text) else { throw .invalidText(className: className, property: name) }
            return .bytes(text)
        case (.bool(let value), .bool): return .bool(value)
        case (.double(let value), .double): return .float64(value)
        case (.float(let value), .float): return .float32(value)
        case (.date(let date), .date):
            try check(date)
            return .timestamp(date)
        case (.data(let bytes), .data):
            try check(length: bytes.count)
            return .bytes(bytes)
        case (.link(let target), .link):
            guard target.classID == targetClassID else { throw wrongTarget(target, schema) }
            return .int64(target.key)
        case (.null, _):
            guard isOptional else { throw .nullNotAllowed(className: className, property: name) }
            return .null
        default:
            throw .typeMismatch(className: className, property: name, expected: typeName, found: value.kindName)
        }
    }

    private func check(length: Int) throws(ModelError) {
        guard length <= Limits.valueBytes else {
            throw .valueTooLong(className: className, property: name, length: length, limit: Limits.valueBytes)
        }
    }

    private func check(_ date: Timestamp) throws(ModelError) {
        let fits = date.nanoseconds > -1_000_000_000 && date.nanoseconds < 1_000_000_000
        let isOneSign = date.seconds == 0 || date.nanoseconds == 0 || (date.seconds < 0) == (date.nanoseconds < 0)
        guard fits, isOneSign else { throw .invalidDate(className: className, property: name) }
    }

    private func wrongTarget(_ target: ObjectRef, _ schema: ModelSchema) -> ModelError {
        let found = schema.anyClass(id: target.classID)?.name ?? "#\(target.classID)"
        return .wrongLinkTarget(className: className, property: name, expected: targetName ?? "?", found: found)
    }

    private func notSettable(_ value: BorrowedValue) -> ModelError {
        isStored ? .isAList(className: className, property: name) : .propertyNotWritable(className: className, property: name)
    }
}

/// UTF-8, checked without making a string.
enum UTF8Text {
    /// Whether the bytes are well-formed UTF-8; NUL is a character like others.
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        isASCII(bytes) || String(validating: bytes, as: UTF8.self) != nil
    }

    private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard var next = bytes.baseAddress else { return true }
        var rest = bytes.count, seen: UInt64 = 0
        while rest >= 8 {
            seen |= next.loadUnaligned(as: UInt64.self)
            next += 8
            rest &-= 8
        }
        for offset in 0..<rest { seen |= UInt64(next.load(fromByteOffset: offset, as: UInt8.self)) }
        return seen & 0x8080_8080_8080_8080 == 0
    }
}
