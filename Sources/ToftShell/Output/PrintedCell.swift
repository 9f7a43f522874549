package import ToftEngine
package import ToftModel
package import ToftStorage

/// A value as a row of output has it. Texts and data are borrowed until the next rows are read.
package enum PrintedCell {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case text(UnsafeRawBufferPointer)
    case data(UnsafeRawBufferPointer)
    case date(Timestamp)
    case uuid(FixedBytes)
    case objectId(FixedBytes)
    case decimal(Decimal128)
    /// All else: collections, links by their names, mixed and embedded values.
    case json(JSONValue)
}

extension PrintedCell {
    /// Appends the value as JSON: the form that `ObjectToJSON` gives it.
    func appendJSON(to buffer: inout ByteBuffer) {
        switch self {
        case .null: buffer.append("null")
        case .bool(let value): buffer.append(value ? "true" : "false")
        case .int(let value): buffer.append(value)
        case .double(let value) where value.isFinite: buffer.append("\(value)")
        case .double(let value): buffer.append(value.isNaN ? "\"nan\"" : "\"\(value)\"")
        case .text(let text): buffer.appendJSON(text)
        case .data(let data):
            buffer.append(UInt8(ascii: "\""))
            buffer.appendBase64(data)
            buffer.append(UInt8(ascii: "\""))
        case .date, .uuid, .objectId, .decimal:
            buffer.append(UInt8(ascii: "\""))
            appendPlain(to: &buffer)
            buffer.append(UInt8(ascii: "\""))
        case .json(let value): buffer.append(value.description)
        }
    }

    /// Appends the value as a field of comma-separated values.
    func appendCSV(to buffer: inout ByteBuffer) {
        switch self {
        case .null, .json(.null): break
        case .text(let text): buffer.appendCSV(text)
        case .json(.text(let text)): buffer.appendCSV(text)
        case .json(let value): buffer.appendCSV(value.description)
        case .data(let data) where data.isEmpty: buffer.append("\"\"")
        default: appendPlain(to: &buffer)
        }
    }

    /// Appends the value as people read it, with all characters that it has.
    func appendPlain(to buffer: inout ByteBuffer) {
        switch self {
        case .null: buffer.append("null")
        case .bool(let value): buffer.append(value ? "true" : "false")
        case .int(let value): buffer.append(value)
        case .double(let value): buffer.append(value.isNaN ? "nan" : "\(value)")
        case .text(let text): buffer.append(text)
        case .data(let data): buffer.appendBase64(data)
        case .date(let date): buffer.append(date)
        case .uuid(let id):
            let groups: [(UInt64, Int)] = [
                (id.high >> 32, 8), (id.high >> 16, 4), (id.high, 4), (id.low >> 48, 4),
                (id.low, 12),
            ]
            for (index, group) in groups.enumerated() {
                if index > 0 { buffer.append(UInt8(ascii: "-")) }
                buffer.appendHex(group.0, count: group.1)
            }
        case .objectId(let id):
            buffer.appendHex(id.high, count: 16)
            buffer.appendHex(id.low >> 32, count: 8)
        case .decimal(let value): buffer.append(value.description)
        case .json(.text(let text)): buffer.append(text)
        case .json(let value): buffer.append(value.description)
        }
    }
}

extension ByteBuffer {
    /// A date as `Timestamp.text` writes it.
    mutating func append(_ date: Timestamp) {
        // From 1970-01-01 to the end of the year 9999, in whole seconds.
        guard date.nanoseconds == 0, (0...253_402_300_799).contains(date.seconds) else {
            return append(date.text)
        }
        // Years are counted from March 0000, so that the leap day ends one.
        let days = UInt64(date.seconds / 86_400) + 719_468
        let era = days / 146_097, dayOfEra = days % 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let second = UInt64(date.seconds % 86_400)
        appendDigits(era * 400 + yearOfEra + (month <= 2 ? 1 : 0), atLeast: 4)
        append(UInt8(ascii: "-"))
        appendDigits(month, atLeast: 2)
        append(UInt8(ascii: "-"))
        appendDigits(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1, atLeast: 2)
        append(UInt8(ascii: "T"))
        appendDigits(second / 3_600, atLeast: 2)
        append(UInt8(ascii: ":"))
        appendDigits(second / 60 % 60, atLeast: 2)
        append(UInt8(ascii: ":"))
        appendDigits(second % 60, atLeast: 2)
        append(UInt8(ascii: "Z"))
    }
}
