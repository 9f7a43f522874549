internal import ToftModel
internal import ToftStorage

/// A type of Arrow whose values can be read.
package indirect enum ArrowFormat {
    case null
    case bool
    /// Of `bytes` bytes each.
    case integer(bytes: Int, isSigned: Bool)
    /// Of 2, 4 or 8 bytes.
    case float(bytes: Int)
    /// Of `bytes` bytes each; its last `scale` digits are behind the point.
    case decimal(bytes: Int, scale: Int)
    /// Texts or data; offsets have 4 or 8 bytes.
    case bytes(isText: Bool, isWide: Bool)
    /// Texts or data, each of which says where it is.
    case view(isText: Bool)
    /// Data of one length.
    case fixed(Int)
    /// Days or milliseconds since 1970.
    case date(isDays: Bool)
    /// Points in time in units of which a second has `perSecond`. `zone`: empty for local times.
    case timestamp(perSecond: Int64, zone: String)
    case list(isWide: Bool)
    case listView(isWide: Bool)
    case fixedList(Int)
    case structure
    case map

    /// Bytes or elements of each value of a type of one size, otherwise 1.
    package var valueSize: Int {
        switch self {
        case .fixed(let size), .fixedList(let size): size
        default: 1
        }
    }

    /// Number of buffers; the least one for views.
    package var bufferCount: Int {
        switch self {
        case .null: 0
        case .fixedList, .structure: 1
        case .bool, .integer, .float, .decimal, .fixed, .date, .timestamp, .list, .map: 2
        case .bytes, .view, .listView: 3
        }
    }

    /// Reads a format string of the C data interface; nil for types that are not supported.
    package init?(_ format: String) {
        switch format {
        case "n": self = .null
        case "b": self = .bool
        case "c": self = .integer(bytes: 1, isSigned: true)
        case "C": self = .integer(bytes: 1, isSigned: false)
        case "s": self = .integer(bytes: 2, isSigned: true)
        case "S": self = .integer(bytes: 2, isSigned: false)
        case "i": self = .integer(bytes: 4, isSigned: true)
        case "I": self = .integer(bytes: 4, isSigned: false)
        case "l": self = .integer(bytes: 8, isSigned: true)
        case "L": self = .integer(bytes: 8, isSigned: false)
        case "e": self = .float(bytes: 2)
        case "f": self = .float(bytes: 4)
        case "g": self = .float(bytes: 8)
        case "u": self = .bytes(isText: true, isWide: false)
        case "U": self = .bytes(isText: true, isWide: true)
        case "z": self = .bytes(isText: false, isWide: false)
        case "Z": self = .bytes(isText: false, isWide: true)
        case "vu": self = .view(isText: true)
        case "vz": self = .view(isText: false)
        case "tdD": self = .date(isDays: true)
        case "tdm": self = .date(isDays: false)
        case "+l": self = .list(isWide: false)
        case "+L": self = .list(isWide: true)
        case "+vl": self = .listView(isWide: false)
        case "+vL": self = .listView(isWide: true)
        case "+s": self = .structure
        case "+m": self = .map
        default:
            guard let found = Self.withParameters(format) else { return nil }
            self = found
        }
    }

    private static func withParameters(_ format: String) -> ArrowFormat? {
        guard let colon = format.firstIndex(of: ":") else { return nil }
        let parameters = String(format[format.index(after: colon)...])
        let numbers = parameters.split(separator: ",", omittingEmptySubsequences: false).map {
            Int($0)
        }
        switch format[..<colon] {
        case "w":
            guard numbers.count == 1, let size = numbers[0], size >= 0, size <= 1 << 30 else {
                return nil
            }
            return .fixed(size)
        case "+w":
            guard numbers.count == 1, let size = numbers[0], size >= 0, size <= 1 << 30 else {
                return nil
            }
            return .fixedList(size)
        case "d":
            guard 2...3 ~= numbers.count, let scale = numbers[1], -76...76 ~= scale,
                let bits = numbers.count == 3 ? numbers[2] : 128, [32, 64, 128].contains(bits)
            else { return nil }
            return .decimal(bytes: bits / 8, scale: scale)
        case "tss": return .timestamp(perSecond: 1, zone: parameters)
        case "tsm": return .timestamp(perSecond: 1_000, zone: parameters)
        case "tsu": return .timestamp(perSecond: 1_000_000, zone: parameters)
        case "tsn": return .timestamp(perSecond: 1_000_000_000, zone: parameters)
        default: return nil
        }
    }
}

/// A column of Arrow that was handed in, as its schema describes it.
package struct ArrowInputField {
    package var name: String
    /// The format string, for messages.
    package var formatText: String
    /// Nil for a type that is not supported.
    package var format: ArrowFormat?
    package var extensionName: String
    package var children: [ArrowInputField]
    /// The values of a dictionary-encoded column.
    package var dictionary: [ArrowInputField]

    package init(
        name: String, formatText: String, extensionName: String, children: [ArrowInputField],
        dictionary: [ArrowInputField]
    ) {
        self.name = name
        self.formatText = formatText
        format = ArrowFormat(formatText)
        self.extensionName = extensionName
        self.children = children
        self.dictionary = dictionary
    }
}

/// Values of a column that was handed in, in memory of its producer. Its counts have been held
/// against its schema; numbers in its buffers are checked when they are read.
package final class ArrowInput {
    package let field: ArrowInputField
    package let format: ArrowFormat
    package let length: Int
    private let offset: Int
    /// A bit for each value, 0 for null; nil if no value is null.
    private let validity: UnsafePointer<UInt8>?
    private let buffers: [UnsafeRawPointer?]
    package let children: [ArrowInput]
    private let dictionary: ArrowInput?

    /// - Parameters:
    ///   - length, offset: not negative, together at most 2^46, and times the size of a value, too.
    ///   - buffers: as many as the format has; those of values are not nil if there are values.
    package init(
        _ field: ArrowInputField, _ format: ArrowFormat, length: Int, offset: Int,
        buffers: [UnsafeRawPointer?], children: [ArrowInput], dictionary: ArrowInput?
    ) {
        self.field = field
        self.format = format
        self.length = length
        self.offset = offset
        self.buffers = buffers
        self.children = children
        self.dictionary = dictionary
        validity = buffers.first??.assumingMemoryBound(to: UInt8.self)
    }

    // MARK: Places

    private func load<Element: BitwiseCopyable>(_ index: Int, _ buffer: Int, _: Element.Type)
        throws(EngineError) -> Element
    {
        guard let base = buffers[buffer] else { throw damaged("a buffer is missing") }
        return base.loadUnaligned(
            fromByteOffset: index * MemoryLayout<Element>.stride, as: Element.self)
    }

    /// An error for memory that contradicts itself.
    func damaged(_ reason: String) -> EngineError {
        EngineError(.invalidArgument, "Arrow's column '\(field.name)' is damaged: \(reason).")
    }

    /// Whether a value is null.
    package func isNull(_ row: Int) throws(EngineError) -> Bool {
        if case .null = format { return true }
        if let validity {
            let bit = offset + row
            if validity[bit >> 3] >> UInt8(bit & 7) & 1 == 0 { return true }
        }
        if let dictionary { return try dictionary.isNull(try code(row, dictionary)) }
        return false
    }

    /// The index of a dictionary-encoded value.
    private func code(_ row: Int, _ dictionary: ArrowInput) throws(EngineError) -> Int {
        guard let code = try Int(exactly: integer(row)), 0..<dictionary.length ~= code else {
            throw damaged("an index is outside of its dictionary of \(dictionary.length) values")
        }
        return code
    }

    /// The column that has a value itself, and its row there.
    private func resolved(_ row: Int) throws(EngineError) -> (ArrowInput, Int) {
        guard let dictionary else { return (self, row) }
        return try dictionary.resolved(try code(row, dictionary))
    }

    /// The child's rows that are the elements of a list or map.
    fileprivate func elements(_ row: Int) throws(EngineError) -> Range<Int> {
        let child = children[0]
        let start: Int64
        let end: Int64
        let index = offset + row
        switch format {
        case .list(isWide: true):
            (start, end) = (try load(index, 1, Int64.self), try load(index + 1, 1, Int64.self))
        case .list, .map:
            start = Int64(try load(index, 1, Int32.self))
            end = Int64(try load(index + 1, 1, Int32.self))
        case .listView(let isWide):
            start =
                isWide ? try load(index, 1, Int64.self) : Int64(try load(index, 1, Int32.self))
            let count =
                isWide ? try load(index, 2, Int64.self) : Int64(try load(index, 2, Int32.self))
            let (sum, overflows) = start.addingReportingOverflow(count)
            end = overflows ? -1 : sum
        case .fixedList(let size):
            start = Int64(index) * Int64(size)
            end = start + Int64(size)
        default: throw damaged("it is no list")
        }
        guard 0 <= start, start <= end, end <= Int64(child.length) else {
            throw damaged(
                "row \(row) has elements \(start) to \(end), but there are \(child.length)")
        }
        return Int(start)..<Int(end)
    }

    /// The row of a struct in its children.
    fileprivate func childRow(_ row: Int) -> Int { offset + row }

    // MARK: Values

    /// An integer of any width.
    private func integer(_ row: Int) throws(EngineError) -> Int128 {
        let index = offset + row
        switch format {
        case .integer(1, true): return Int128(try load(index, 1, Int8.self))
        case .integer(1, false): return Int128(try load(index, 1, UInt8.self))
        case .integer(2, true): return Int128(try load(index, 1, Int16.self))
        case .integer(2, false): return Int128(try load(index, 1, UInt16.self))
        case .integer(4, true): return Int128(try load(index, 1, Int32.self))
        case .integer(4, false): return Int128(try load(index, 1, UInt32.self))
        case .integer(_, true): return Int128(try load(index, 1, Int64.self))
        case .integer(_, false): return Int128(try load(index, 1, UInt64.self))
        case .decimal(4, _): return Int128(try load(index, 1, Int32.self))
        case .decimal(8, _): return Int128(try load(index, 1, Int64.self))
        case .decimal:
            let low = try load(2 * index, 1, UInt64.self)
            let high = try load(2 * index + 1, 1, Int64.self)
            return Int128(high) << 64 | Int128(low)
        default: throw damaged("it has no integers")
        }
    }

    private func float(_ row: Int) throws(EngineError) -> Double {
        let index = offset + row
        switch format {
        case .float(2): return Self.half(try load(index, 1, UInt16.self))
        case .float(4): return Double(try load(index, 1, Float.self))
        default: return try load(index, 1, Double.self)
        }
    }

    /// The number of a half-precision pattern.
    private static func half(_ bits: UInt16) -> Double {
        let fraction = Double(bits & 0x3FF), exponent = Int(bits >> 10 & 0x1F)
        let magnitude: Double =
            switch exponent {
            case 0: fraction * 0x1p-24
            case 31: fraction == 0 ? .infinity : .nan
            default: Double(sign: .plus, exponent: exponent - 25, significand: 1_024 + fraction)
            }
        return bits >> 15 == 0 ? magnitude : -magnitude
    }

    /// Texts and data.
    private func bytes(_ row: Int) throws(EngineError) -> UnsafeRawBufferPointer {
        let index = offset + row
        switch format {
        case .bytes(_, let isWide):
            let start =
                isWide ? try load(index, 1, Int64.self) : Int64(try load(index, 1, Int32.self))
            let end =
                isWide
                ? try load(index + 1, 1, Int64.self) : Int64(try load(index + 1, 1, Int32.self))
            guard 0 <= start, start <= end, end <= 1 << 46 else {
                throw damaged("row \(row) has the offsets \(start) and \(end)")
            }
            if start == end { return UnsafeRawBufferPointer(start: nil, count: 0) }
            guard let base = buffers[2] else { throw damaged("a buffer is missing") }
            return UnsafeRawBufferPointer(start: base + Int(start), count: Int(end - start))
        case .view: return try view(row)
        case .fixed(let size):
            guard let base = buffers[1] else { throw damaged("a buffer is missing") }
            return UnsafeRawBufferPointer(start: base + index * size, count: size)
        default: throw damaged("it has no bytes")
        }
    }

    /// The buffers of views are: validity, views, those with long values, and the sizes of these.
    private func view(_ row: Int) throws(EngineError) -> UnsafeRawBufferPointer {
        let index = offset + row
        guard let views = buffers[1] else { throw damaged("a buffer is missing") }
        let view = views + index * 16
        let size = Int(view.loadUnaligned(as: Int32.self))
        guard size >= 0 else { throw damaged("row \(row) has the size \(size)") }
        if size <= 12 { return UnsafeRawBufferPointer(start: view + 4, count: size) }
        let number = Int(view.loadUnaligned(fromByteOffset: 8, as: Int32.self))
        let start = Int(view.loadUnaligned(fromByteOffset: 12, as: Int32.self))
        let longCount = buffers.count - 3
        guard 0..<longCount ~= number, let base = buffers[2 + number], start >= 0 else {
            throw damaged("row \(row) is in buffer \(number) of \(longCount)")
        }
        let room = try load(number, buffers.count - 1, Int64.self)
        guard Int64(start) + Int64(size) <= room else {
            throw damaged("row \(row) ends behind its buffer")
        }
        return UnsafeRawBufferPointer(start: base + start, count: size)
    }

    private func text(_ row: Int) throws(EngineError) -> String {
        guard let text = String(validating: try bytes(row), as: UTF8.self) else {
            throw EngineError(
                .invalidArgument, "Arrow's column '\(field.name)' has a text that is not UTF-8.")
        }
        return text
    }

    /// A point in time.
    private func date(_ row: Int) throws(EngineError) -> Timestamp {
        let index = offset + row
        switch format {
        case .date(isDays: true):
            return Timestamp(
                seconds: Int64(try load(index, 1, Int32.self)) * 86_400, nanoseconds: 0)
        case .date: return Self.date(try load(index, 1, Int64.self), 1_000)
        case .timestamp(let perSecond, let zone):
            guard !zone.isEmpty else {
                throw EngineError(
                    .typeMismatch,
                    "The times of Arrow's column '\(field.name)' have no time zone: say which they "
                        + "are of, 'UTC' for instance.")
            }
            return Self.date(try load(index, 1, Int64.self), perSecond)
        default: throw damaged("it has no dates")
        }
    }

    private static func date(_ units: Int64, _ perSecond: Int64) -> Timestamp {
        let (seconds, rest) = units.quotientAndRemainder(dividingBy: perSecond)
        return Timestamp(
            seconds: seconds, nanoseconds: Int32(rest * (1_000_000_000 / perSecond)))
    }

    private func decimal(_ row: Int) throws(EngineError) -> Decimal128 {
        guard case .decimal(_, let scale) = format,
            let value = Decimal128(try integer(row), scale: scale)
        else {
            throw EngineError(
                .typeMismatch,
                "Arrow's column '\(field.name)' has a decimal of more than 34 digits.")
        }
        return value
    }

    private func mismatch(_ property: PropertyHandle) -> EngineError {
        EngineError(
            .typeMismatch,
            "'\(property.className).\(property.name)' is \(property.typeName) and can't be made of "
                + "Arrow's '\(field.formatText)'.")
    }
}

// MARK: Values of properties

extension ArrowInput {
    /// Lends a value, or an element, of a property that is neither a link nor mixed.
    func value(_ row: Int, of property: PropertyHandle) throws(EngineError) -> BorrowedValue {
        if try isNull(row) { return .null }
        let (input, row) = try resolved(row)
        return try input.plain(row, of: property)
    }

    private func plain(_ row: Int, of property: PropertyHandle) throws(EngineError)
        -> BorrowedValue
    {
        switch (property.type, format) {
        case (.bool, .bool):
            let bit = offset + row
            return .bool(try load(bit >> 3, 1, UInt8.self) >> UInt8(bit & 7) & 1 != 0)
        case (.int, .integer):
            guard let value = Int64(exactly: try integer(row)) else {
                throw inexact(row, property)
            }
            return .int(value)
        case (.int, .float):
            // Columns of integers with nulls come as floating-point numbers from some libraries.
            guard let value = Int64(exactly: try float(row)) else { throw inexact(row, property) }
            return .int(value)
        case (.double, .float): return .double(try float(row))
        case (.double, .integer):
            let number = try integer(row)
            guard let value = Double(exactly: number) else { throw inexact(row, property) }
            return .double(value)
        case (.float, .float):
            let number = try float(row)
            let value = Float(number)
            guard value.isFinite || !number.isFinite else { throw inexact(row, property) }
            return .float(value)
        case (.float, .integer):
            guard let value = Float(exactly: try integer(row)) else {
                throw inexact(row, property)
            }
            return .float(value)
        case (.decimal128, .decimal): return .decimal(try decimal(row))
        case (.decimal128, .integer): return .decimal(Decimal128(try integer(row)))
        case (.string, .bytes(isText: true, _)), (.string, .view(isText: true)):
            return .string(try bytes(row))
        case (.data, .bytes(isText: false, _)), (.data, .view(isText: false)):
            return .data(try bytes(row))
        case (.uuid, .fixed(16)): return .uuid(FixedBytes(try bytes(row)))
        case (.objectId, .fixed(12)): return .objectId(FixedBytes(try bytes(row)))
        case (.data, .fixed): return .data(try bytes(row))
        case (.uuid, .bytes(isText: false, _)), (.uuid, .view(isText: false)):
            return .uuid(try identifier(row, 16, property))
        case (.objectId, .bytes(isText: false, _)), (.objectId, .view(isText: false)):
            return .objectId(try identifier(row, 12, property))
        case (.date, .date), (.date, .timestamp): return .date(try date(row))
        case (.uuid, .bytes), (.objectId, .bytes), (.decimal128, .bytes), (.uuid, .view),
            (.objectId, .view), (.decimal128, .view):
            switch try Value(JSONValue.text(try text(row)), for: property) {
            case .uuid(let bytes): return .uuid(bytes)
            case .objectId(let bytes): return .objectId(bytes)
            case .decimal(let value): return .decimal(value)
            default: throw mismatch(property)
            }
        default: throw mismatch(property)
        }
    }

    /// The bytes of an identifier from a library that has no data of one length.
    private func identifier(_ row: Int, _ size: Int, _ property: PropertyHandle)
        throws(EngineError) -> FixedBytes
    {
        let bytes = try bytes(row)
        guard bytes.count == size else {
            throw EngineError(
                .typeMismatch,
                "'\(property.className).\(property.name)' is \(property.typeName), which has "
                    + "\(size) bytes and not \(bytes.count).")
        }
        return FixedBytes(bytes)
    }

    private func inexact(_ row: Int, _ property: PropertyHandle) -> EngineError {
        let number: String =
            if case .float = format, let value = try? float(row) { "\(value)" } else {
                (try? integer(row)).map { "\($0)" } ?? "a number"
            }
        return EngineError(
            .typeMismatch,
            "'\(property.className).\(property.name)' is \(property.typeName) and does not hold "
                + "\(number) exactly.")
    }

    /// The values of a list, set or dictionary as rows of the column that this gives; the keys of a
    /// dictionary are in its column before.
    func collection(_ row: Int, of property: PropertyHandle) throws(EngineError)
        -> (rows: Range<Int>, keys: ArrowInput?, values: ArrowInput)
    {
        let (input, row) = try resolved(row)
        switch input.format {
        case .list, .listView, .fixedList, .map: break
        default: throw input.mismatch(property)
        }
        let rows = try input.elements(row)
        let child = input.children[0]
        guard property.collection == .dictionary else {
            if case .map = input.format { throw input.mismatch(property) }
            return (rows, nil, child)
        }
        // A map, or what libraries without maps make of one.
        guard case .structure = child.format, child.children.count == 2 else {
            throw input.mismatch(property)
        }
        let first = child.childRow(rows.lowerBound)
        return (first..<first + rows.count, child.children[0], child.children[1])
    }

    /// The bytes of a dictionary's key.
    func key(_ row: Int, of property: PropertyHandle) throws(EngineError)
        -> UnsafeRawBufferPointer
    {
        let (input, row) = try resolved(row)
        switch input.format {
        case .bytes(isText: true, _), .view(isText: true):
            guard try !input.isNull(row) else { throw damaged("a key is null") }
            return try input.bytes(row)
        default: throw mismatch(property)
        }
    }
}

// MARK: Values as JSON

extension ArrowInput {
    /// A value of a property, or one of its elements, as JSON has it.
    func json(_ row: Int, of property: PropertyHandle, in schema: ModelSchema, isElement: Bool)
        throws(EngineError) -> JSONValue
    {
        try model { () throws(ModelError) in try ModelError.requireStack() }
        if try isNull(row) { return .null }
        if property.isCollection, !isElement {
            let (rows, keys, values) = try collection(row, of: property)
            var elements: [JSONValue] = []
            for row in rows {
                elements.append(try values.json(row, of: property, in: schema, isElement: true))
            }
            guard let keys else { return .list(elements) }
            var members: [(key: String, value: JSONValue)] = []
            for (row, element) in zip(rows, elements) {
                members.append((try keys.resolvedText(row, of: property), element))
            }
            return .dictionary(members)
        }
        let (input, row) = try resolved(row)
        if property.type == .mixed { return try input.mixed(row, property) }
        guard property.type == .link else {
            return try input.json(of: try input.plain(row, of: property), property)
        }
        let target = try model { () throws(ModelError) in
            try schema.classHandle(id: property.targetClassID ?? 0)
        }
        if property.ownsTargets {
            if case .bytes(isText: true, _) = input.format,
                input.field.extensionName == "arrow.json"
            {
                return try JSONParser.value(of: try input.bytes(row))
            }
            return try input.object(row, of: target, property, in: schema)
        }
        guard let primaryKey = target.primaryKey else {
            guard case .integer = input.format, let key = Int64(exactly: try input.integer(row))
            else { throw input.mismatch(property) }
            return .integer(key)
        }
        return try input.json(of: try input.plain(row, of: primaryKey), primaryKey)
    }

    private func resolvedText(_ row: Int, of property: PropertyHandle) throws(EngineError) -> String
    {
        guard let text = String(validating: try key(row, of: property), as: UTF8.self) else {
            throw EngineError(
                .invalidArgument, "Arrow's column '\(field.name)' has a text that is not UTF-8.")
        }
        return text
    }

    /// An embedded object.
    private func object(
        _ row: Int, of target: ClassHandle, _ property: PropertyHandle, in schema: ModelSchema
    ) throws(EngineError) -> JSONValue {
        guard case .structure = format else { throw mismatch(property) }
        var members: [(key: String, value: JSONValue)] = []
        for child in children {
            guard let each = target.storedProperty(named: child.field.name) else {
                throw EngineError(
                    .noSuchProperty,
                    "'\(target.name)' has no stored property '\(child.field.name)'.")
            }
            let row = childRow(row)
            members.append(
                (
                    each.persistedName,
                    try child.json(row, of: each, in: schema, isElement: false)
                ))
        }
        return .dictionary(members)
    }

    private func json(of value: BorrowedValue, _ property: PropertyHandle) throws(EngineError)
        -> JSONValue
    {
        switch value {
        case .null, .link, .list, .dictionary: .null
        case .bool(let value): .bool(value)
        case .int(let value): .integer(value)
        case .float(let value): .double(Double(value))
        case .double(let value): .double(value)
        case .string(let bytes):
            if let text = String(validating: bytes, as: UTF8.self) {
                .text(text)
            } else {
                throw EngineError(
                    .invalidArgument,
                    "Arrow's column '\(field.name)' has a text that is not UTF-8.")
            }
        case .data(let bytes): .text(Base64.text(Array(bytes)))
        case .date(let date): .text(date.text)
        case .uuid(let bytes): .text(bytes.uuidText)
        case .objectId(let bytes): .text(bytes.objectIdText)
        case .decimal(let value): .text(value.description)
        }
    }

    /// A value of a mixed property, by its type in Arrow.
    private func mixed(_ row: Int, _ property: PropertyHandle) throws(EngineError) -> JSONValue {
        try model { () throws(ModelError) in try ModelError.requireStack() }
        if try isNull(row) { return .null }
        if dictionary != nil {
            let (input, row) = try resolved(row)
            return try input.mixed(row, property)
        }
        func tagged(_ tag: String, _ text: String) -> JSONValue { .object([(tag, .text(text))]) }
        switch format {
        case .null: return .null
        case .bool:
            let bit = offset + row
            return .bool(try load(bit >> 3, 1, UInt8.self) >> UInt8(bit & 7) & 1 != 0)
        case .integer:
            guard let value = Int64(exactly: try integer(row)) else { throw inexact(row, property) }
            return .integer(value)
        case .float: return .object([("$double", .double(try float(row)))])
        case .decimal: return tagged("$decimal", try decimal(row).description)
        case .bytes(isText: true, _), .view(isText: true):
            if field.extensionName == "arrow.json" {
                return try JSONParser.value(of: try bytes(row))
            }
            return .text(try text(row))
        case .fixed(16) where field.extensionName == "arrow.uuid":
            return tagged("$uuid", FixedBytes(try bytes(row)).uuidText)
        case .bytes, .view, .fixed: return tagged("$data", Base64.text(Array(try bytes(row))))
        case .date, .timestamp: return tagged("$date", try date(row).text)
        case .list, .listView, .fixedList:
            var elements: [JSONValue] = []
            for row in try self.elements(row) {
                elements.append(try children[0].mixed(row, property))
            }
            return .list(elements)
        case .structure, .map:
            throw EngineError(
                .typeMismatch,
                "'\(property.className).\(property.name)' is mixed, and Arrow's "
                    + "'\(field.formatText)' has no counterpart there: give texts of JSON, as the "
                    + "extension type arrow.json.")
        }
    }
}
