package import ToftStorage

/// Days of the Gregorian calendar, also before its time. Years are counted from March, so that the
/// leap day ends one.
package enum GregorianDay {
    /// Days from 1970-01-01 to a day of a year between -10^11 and 10^11.
    package static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let marchYear = month > 2 ? year : year - 1
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let leapDays =
            marchYear.floorDivided(by: 4) - marchYear.floorDivided(by: 100)
            + marchYear.floorDivided(by: 400)
        return 365 * marchYear + leapDays + (153 * monthFromMarch + 2) / 5 + day - 1 - 719_468
    }

    /// Number of days of a month.
    package static func days(in month: Int64, of year: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...12).contains(month) ? lengths[Int(month) - 1] : 31
    }

    /// The year, month and day `days` days after 1970-01-01; of the years 1 to 9999.
    fileprivate static func date(_ days: Int64) -> [Int64] {
        let days = days + 719_468
        let era = days / 146_097, dayOfEra = days % 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return [
            era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month,
            dayOfYear - (153 * monthFromMarch + 2) / 5 + 1,
        ]
    }
}

extension Int64 {
    /// The quotient rounded down.
    fileprivate func floorDivided(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}

extension Timestamp {
    /// Seconds of the years 1583 to 9999, which ISO 8601 writes without further agreement.
    private static let commonSeconds: ClosedRange<Int64> = -12_212_553_600...253_402_300_799

    /// `2026-11-22T08:30:00.000000001Z`; outside of the years 1583 to 9999 `T` with seconds and
    /// nanoseconds since 1970, as in queries: `T-62135596801:-500`.
    package var text: String {
        let isBefore = nanoseconds < 0
        let whole = isBefore ? seconds &- 1 : seconds
        let fraction = Int64(isBefore ? nanoseconds &+ 1_000_000_000 : nanoseconds)
        guard Self.commonSeconds.contains(seconds), Self.commonSeconds.contains(whole) else {
            return "T\(seconds):\(nanoseconds)"
        }
        let day = whole.floorDivided(by: 86_400), second = whole - day * 86_400
        let date = GregorianDay.date(day)
        let time = [second / 3_600, second / 60 % 60, second % 60]
        var text = Self.digits(date[0], 4)
        for part in date[1...] { text += "-" + Self.digits(part, 2) }
        text += "T\(time.map { Self.digits($0, 2) }.joined(separator: ":"))"
        guard fraction > 0 else { return text + "Z" }
        var digits = Self.digits(fraction, 9)
        while digits.utf8.last == UInt8(ascii: "0") { digits.removeLast() }
        return "\(text).\(digits)Z"
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }

    /// The reason why a text is not a date.
    package struct Problem: Error {
        package let text: String

        fileprivate init(_ text: String) { self.text = text }

        fileprivate static let form = Problem(
            "it is not of the form YYYY-MM-DDThh:mm:ss with a time zone")
    }

    /// The date of a text of either form of the standard: with or without hyphens and colons, in
    /// days of a month or of a week, without seconds or minutes; with a blank for the `T`, or
    /// before the time zone; and of a day alone, which is its midnight in UTC. Digits beyond
    /// nanoseconds are dropped.
    package init(parsing text: String) throws(Problem) {
        var reader = TimestampReader(rest: Array(text.utf8)[...])
        if reader.skip("T") {
            try self.init(secondsAndNanoseconds: reader.rest)
            return
        }
        let day = try reader.day()
        guard !reader.isAtEnd else {
            self.init(seconds: day * 86_400, nanoseconds: 0)
            return
        }
        guard reader.skip("T") || reader.skip("t") || reader.skip(" ") else { throw .form }
        let (second, nanoseconds) = try reader.time()
        let seconds = day * 86_400 + second - (try reader.offset())
        guard reader.isAtEnd else { throw Problem("it goes on behind its time zone") }
        let isBefore = seconds < 0 && nanoseconds > 0
        self.init(
            seconds: isBefore ? seconds + 1 : seconds,
            nanoseconds: Int32(isBefore ? nanoseconds - 1_000_000_000 : nanoseconds))
    }

    /// `-62135596801:-500`.
    private init(secondsAndNanoseconds bytes: ArraySlice<UInt8>) throws(Problem) {
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2, let seconds = Int64(String(decoding: parts[0], as: UTF8.self)),
            let rest = Int32(String(decoding: parts[1], as: UTF8.self)),
            rest > -1_000_000_000, rest < 1_000_000_000
        else {
            throw Problem("seconds and nanoseconds, with a colon in between, do not follow 'T'")
        }
        guard seconds == 0 || rest == 0 || (seconds < 0) == (rest < 0) else {
            throw Problem("its seconds and its nanoseconds have different signs")
        }
        self.init(seconds: seconds, nanoseconds: rest)
    }
}

/// Reads the fields of a date.
private struct TimestampReader {
    var rest: ArraySlice<UInt8>

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ mark: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: mark) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func digit() -> Int64? {
        guard let byte = rest.first, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
            return nil
        }
        rest.removeFirst()
        return Int64(byte - UInt8(ascii: "0"))
    }

    /// A number of `count` digits.
    private mutating func number(_ count: Int) throws(Timestamp.Problem) -> Int64 {
        var number: Int64 = 0
        for _ in 0..<count {
            guard let digit = digit() else { throw .form }
            number = number * 10 + digit
        }
        return number
    }

    /// Two digits in a range.
    private mutating func field(_ name: String, _ range: ClosedRange<Int64>)
        throws(Timestamp.Problem) -> Int64
    {
        let value = try number(2)
        guard range.contains(value) else {
            throw Timestamp.Problem(
                "its \(name) is \(value), which is none of \(range.lowerBound) to "
                    + "\(range.upperBound)")
        }
        return value
    }

    /// Days since 1970: `2026-11-22`, `20261122`, `2026-W47-7`, `2026W477`, `2026-W47`.
    mutating func day() throws(Timestamp.Problem) -> Int64 {
        let year = try number(4)
        let hasHyphens = skip("-")
        if skip("W") { return try weekday(of: year, hasHyphens) }
        let month = try field("month", 1...12)
        guard !hasHyphens || skip("-") else { throw .form }
        let day = try field("day", 1...GregorianDay.days(in: month, of: year))
        return GregorianDay.daysSince1970(year, month, day)
    }

    /// The first week of a year is that of January 4th, and begins on a Monday.
    private mutating func weekday(of year: Int64, _ hasHyphens: Bool) throws(Timestamp.Problem)
        -> Int64
    {
        func firstMonday(_ year: Int64) -> Int64 {
            let fourth = GregorianDay.daysSince1970(year, 1, 4)
            return fourth - ((fourth + 3) % 7 + 7) % 7  // 1970 began on a Thursday
        }
        let first = firstMonday(year)
        let week = try field("week", 1...((firstMonday(year + 1) - first) / 7))
        var day: Int64 = 1
        if hasHyphens ? skip("-") : startsWithDigit {
            day = try number(1)
        }
        guard (1...7).contains(day) else {
            throw Timestamp.Problem("its day of the week is \(day), which is none of 1 to 7")
        }
        return first + (week - 1) * 7 + day - 1
    }

    /// Seconds and nanoseconds of the day: `08:30:00.5`, `083000`, `08:30`, `08`.
    mutating func time() throws(Timestamp.Problem) -> (second: Int64, nanoseconds: Int64) {
        var second = try field("hour", 0...23) * 3_600
        let hasColons = skip(":")
        guard hasColons || startsWithDigit else { return (second, 0) }
        second += try field("minute", 0...59) * 60
        guard hasColons ? skip(":") : startsWithDigit else { return (second, 0) }
        second += try field("second", 0...59)
        return (second, skip(".") || skip(",") ? try fraction() : 0)
    }

    private var startsWithDigit: Bool { rest.first.map { $0 >= 0x30 && $0 <= 0x39 } == true }

    /// The digits behind a point, as nanoseconds.
    private mutating func fraction() throws(Timestamp.Problem) -> Int64 {
        var fraction = try number(1)
        var count = 1
        while let digit = digit() {
            if count < 9 { fraction = fraction * 10 + digit }
            count += 1
        }
        for _ in min(count, 9)..<9 { fraction *= 10 }
        return fraction
    }

    /// `Z`, `+01:00`, `-0130`, `+01`, `+00:00:01`: seconds.
    mutating func offset() throws(Timestamp.Problem) -> Int64 {
        _ = skip(" ")
        if skip("Z") { return 0 }
        let isBehind = skip("-")
        guard isBehind || skip("+") else {
            throw isAtEnd
                ? Timestamp.Problem("it has no time zone: put Z for UTC, or as +01:00, behind it")
                : .form
        }
        var seconds = try field("time zone", 0...23) * 3_600
        let hasColons = skip(":")
        if hasColons || startsWithDigit {
            seconds += try field("time zone's minute", 0...59) * 60
            if hasColons ? skip(":") : startsWithDigit {
                seconds += try field("time zone's second", 0...59)
            }
        }
        return isBehind ? -seconds : seconds
    }
}

extension Timestamp {
    /// Whether the parts fit together.
    package var isSound: Bool {
        let fits = nanoseconds > -1_000_000_000 && nanoseconds < 1_000_000_000
        return fits && (seconds == 0 || nanoseconds == 0 || (seconds < 0) == (nanoseconds < 0))
    }
}
