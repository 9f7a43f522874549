internal import ToftModel
internal import ToftStorage

extension Lexer {
    /// At `T`: `T<seconds>:<nanoseconds>`, both parts with the same sign. Anything else is a name.
    mutating func timestamp() throws(QueryError) -> Timestamp? {
        let start = position
        var index = position + 1
        guard let seconds = signedDigits(&index), index < source.bytes.count,
            source.bytes[index] == UInt8(ascii: ":")
        else { return nil }
        index += 1
        guard let nanoseconds = signedDigits(&index) else { return nil }
        move(to: index)
        guard let wholeSeconds = seconds.value, let wholeNanoseconds = nanoseconds.value,
            wholeNanoseconds.magnitude < 1_000_000_000
        else {
            throw failure(
                "This date is out of range.",
                hint:
                    "After T come 64-bit seconds since 1970, ':' and at most 999999999 "
                    + "nanoseconds.",
                at: start)
        }
        if (wholeSeconds < 0 && wholeNanoseconds > 0) || (wholeSeconds > 0 && wholeNanoseconds < 0)
        {
            throw failure(
                "Seconds and nanoseconds of a date must have the same sign.",
                hint: "Write half a second before T-1:0 as T-1:-500000000.", at: start)
        }
        return Timestamp(seconds: wholeSeconds, nanoseconds: Int32(wholeNanoseconds))
    }

    /// An optional sign and digits; a nil value if they do not fit 64 bits.
    func signedDigits(_ index: inout Int) -> (value: Int64?, Void)? {
        let start = index
        if index < source.bytes.count,
            source.bytes[index] == UInt8(ascii: "-") || source.bytes[index] == UInt8(ascii: "+")
        {
            index += 1
        }
        let firstDigit = index
        while index < source.bytes.count, ASCII.isDigit(source.bytes[index]) { index += 1 }
        guard index > firstDigit else { return nil }
        return (Int64(String(decoding: source.bytes[start..<index], as: UTF8.self)), ())
    }

    /// At a digit: `2020-01-31@23:59:59` with `:nanoseconds` or without, `T` also in the place of
    /// `@`. Anything else is a number.
    mutating func date() throws(QueryError) -> Token.Kind? {
        guard let (fields, end) = dateFields() else { return nil }
        let start = position
        for (field, limits) in zip(
            fields.dropFirst(), Self.limits(year: fields[0].value, month: fields[1].value))
        {
            guard limits.range.contains(field.value) else {
                throw failure(
                    "The \(limits.name) of this date is out of range.",
                    hint: "It is from \(limits.range.lowerBound) to \(limits.range.upperBound).",
                    at: field.offset)
            }
        }
        guard fields[0].value <= Self.lastYear else {
            throw failure(
                "The year of this date is out of range.",
                hint: "It is from 0 to \(Self.lastYear).", at: start)
        }
        move(to: end)
        return .date(Self.timestamp(fields.map(\.value)))
    }

    /// Keeps seconds within 64 bits.
    private static let lastYear: Int64 = 999_999_999

    private typealias Field = (value: Int64, offset: Int)

    /// Year, month, day, hour, minute, second and, when written, nanoseconds.
    private func dateFields() -> ([Field], end: Int)? {
        let separators: [[UInt8]] = [
            [UInt8(ascii: "-")], [UInt8(ascii: "-")], [UInt8(ascii: "@"), UInt8(ascii: "T")],
            [UInt8(ascii: ":")], [UInt8(ascii: ":")],
            [UInt8(ascii: ":")],
        ]
        var index = position
        guard let year = digits(&index) else { return nil }
        var fields = [year]
        for allowed in separators {
            let isOptional = fields.count == 6
            guard index < source.bytes.count, allowed.contains(source.bytes[index]) else {
                return isOptional ? (fields, index) : nil
            }
            var next = index + 1
            guard let field = digits(&next) else { return isOptional ? (fields, index) : nil }
            fields.append(field)
            index = next
        }
        return (fields, index)
    }

    private func digits(_ index: inout Int) -> Field? {
        let start = index
        var value: Int64 = 0
        while index < source.bytes.count, ASCII.isDigit(source.bytes[index]) {
            value = min(value * 10 + Int64(source.bytes[index] & 0x0F), 100_000_000_000)
            index += 1
        }
        return index > start ? (value, start) : nil
    }

    /// The ranges of the fields after the year.
    private static func limits(year: Int64, month: Int64) -> [(
        name: String, range: ClosedRange<Int64>
    )] {
        let days = GregorianDay.days(in: month, of: year)
        return [
            ("month", 1...12), ("day", 1...days), ("hour", 0...23), ("minute", 0...59),
            ("second", 0...59), ("nanosecond", 0...999_999_999),
        ]
    }

    /// Fields that are within their limits, as UTC. Before 1970 the nanoseconds count backwards
    /// from the second, as in Realm, since both parts of a timestamp have one sign.
    private static func timestamp(_ fields: [Int64]) -> Timestamp {
        let seconds =
            GregorianDay.daysSince1970(fields[0], fields[1], fields[2]) * 86_400 + fields[3] * 3_600
            + fields[4] * 60 + fields[5]
        let nanoseconds = Int32(fields.count > 6 ? fields[6] : 0)
        return Timestamp(seconds: seconds, nanoseconds: seconds < 0 ? -nanoseconds : nanoseconds)
    }
}
