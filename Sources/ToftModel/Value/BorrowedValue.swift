package import ToftStorage

/// One value that a caller hands in, or a whole list: text and bytes stay the caller's and are
/// copied before anything changes.
package enum BorrowedValue {
    case null
    case bool(Bool)
    case int(Int64)
    case float(Float)
    case double(Double)
    /// Must be UTF-8; it is checked.
    case string(UnsafeRawBufferPointer)
    case data(UnsafeRawBufferPointer)
    case date(Timestamp)
    case link(ObjectRef)
    case uuid(FixedBytes)
    /// 12 bytes, and four zeros.
    case objectId(FixedBytes)
    case decimal(Decimal128)
    /// A whole list or set.
    case list(UnsafeBufferPointer<BorrowedValue>)
    case dictionary(UnsafeBufferPointer<BorrowedEntry>)
}

/// A key of a dictionary and its value, as a caller hands them in.
package struct BorrowedEntry {
    /// Must be UTF-8; it is checked.
    package var key: UnsafeRawBufferPointer
    package var value: BorrowedValue

    package init(key: UnsafeRawBufferPointer, value: BorrowedValue) {
        self.key = key
        self.value = value
    }
}

extension BorrowedValue {
    /// The kind of value in plain words, for messages.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .int: "int"
        case .float: "float"
        case .double: "double"
        case .string: "string"
        case .data: "data"
        case .date: "date"
        case .link: "link"
        case .uuid: "uuid"
        case .objectId: "objectId"
        case .decimal: "decimal128"
        case .list: "list"
        case .dictionary: "dictionary"
        }
    }

    /// Whether this is `.null`.
    package var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension Value {
    /// A value that needs no memory of its own; null for text, data and collections.
    @inline(__always)
    var plain: BorrowedValue {
        switch self {
        case .bool(let value): .bool(value)
        case .int(let value): .int(value)
        case .float(let value): .float(value)
        case .double(let value): .double(value)
        case .date(let value): .date(value)
        case .link(let value): .link(value)
        case .uuid(let value): .uuid(value)
        case .objectId(let value): .objectId(value)
        case .decimal(let value): .decimal(value)
        case .null, .string, .data, .list, .dictionary: .null
        }
    }

    /// Lends the value for the time of the call.
    package func withBorrowed<Result>(_ body: (BorrowedValue) throws(ModelError) -> Result)
        throws(ModelError) -> Result
    {
        switch self {
        case .list, .dictionary:
            let lender = ValueLender()
            return try withExtendedLifetime(lender) { () throws(ModelError) in
                try body(lender.lend(self))
            }
        case .data(let bytes):
            return try bytes.withBytes { buffer throws(ModelError) in try body(.data(buffer)) }
        case .string(let text):
            var copy = text
            let utf8: Swift.Result<Result, ModelError> = copy.withUTF8 { buffer in
                do throws(ModelError) {
                    return .success(try body(.string(UnsafeRawBufferPointer(buffer))))
                } catch { return .failure(error) }
            }
            return try utf8.get()
        default: return try body(plain)
        }
    }
}

/// Lends values with all that is in them, as long as it lives.
package final class ValueLender {
    private var blocks: [UnsafeMutableRawPointer] = []

    package init() {}

    deinit { for block in blocks { block.deallocate() } }

    /// The value, copied to memory of the lender.
    package func lend(_ value: Value) -> BorrowedValue {
        switch value {
        case .string(let text): return .string(copy(text.utf8))
        case .data(let bytes): return .data(copy(bytes))
        case .list(let values): return .list(array(values.map(lend)))
        case .dictionary(let entries):
            return .dictionary(
                array(entries.map { BorrowedEntry(key: copy($0.key.utf8), value: lend($0.value)) }))
        default: return value.plain
        }
    }

    private func copy(_ bytes: some Collection<UInt8>) -> UnsafeRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        if let base = copy.baseAddress { blocks.append(base) }
        return UnsafeRawBufferPointer(copy)
    }

    /// The elements hold nothing that must be released.
    private func array<Element>(_ elements: [Element]) -> UnsafeBufferPointer<Element> {
        let copy = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
        _ = copy.initialize(fromContentsOf: elements)
        if let base = copy.baseAddress { blocks.append(UnsafeMutableRawPointer(base)) }
        return UnsafeBufferPointer(copy)
    }
}
