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

    /// How many days a month has.
    package static func days(in month: Int64, of year: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...12).contains(month) ? lengths[Int(month) - 1] : 31
    }

    /// The year, month and day so many days after 1970-01-01; of the years 1 to 9999.
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

    /// The date of a text of either form, also with an offset from UTC, and of a day alone, which
    /// is its midnight in UTC; nil for any other text. Digits beyond nanoseconds are dropped.
    package init?(text: String) {
        var reader = DigitReader(rest: Array(text.utf8)[...])
        if reader.skip("T") {
            let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let seconds = Int64(parts[0]), let rest = Int32(parts[1]),
                rest > -1_000_000_000, rest < 1_000_000_000,
                seconds == 0 || rest == 0 || (seconds < 0) == (rest < 0)
            else { return nil }
            self.init(seconds: seconds, nanoseconds: rest)
            return
        }
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2),
            reader.skip("-"), let day = reader.number(2), (1...12).contains(month),
            (1...GregorianDay.days(in: month, of: year)).contains(day)
        else { return nil }
        var seconds = GregorianDay.daysSince1970(year, month, day) * 86_400
        var nanoseconds: Int64 = 0
        if !reader.isAtEnd {
            guard reader.skip("T") || reader.skip(" "), let hour = reader.number(2),
                reader.skip(":"), let minute = reader.number(2), reader.skip(":"),
                let second = reader.number(2), hour < 24, minute < 60, second < 60
            else { return nil }
            if reader.skip(".") {
                guard let fraction = reader.fraction() else { return nil }
                nanoseconds = fraction
            }
            guard let offset = reader.offset(), reader.isAtEnd else { return nil }
            seconds += hour * 3_600 + minute * 60 + second - offset
        }
        self.init(
            seconds: seconds < 0 && nanoseconds > 0 ? seconds + 1 : seconds,
            nanoseconds: Int32(
                seconds < 0 && nanoseconds > 0 ? nanoseconds - 1_000_000_000 : nanoseconds))
    }
}

/// Reads the fields of a date.
private struct DigitReader {
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

    /// A number of so many digits.
    mutating func number(_ count: Int) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<count {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// The digits behind a point, as nanoseconds.
    mutating func fraction() -> Int64? {
        guard var fraction = digit() else { return nil }
        var count = 1
        while let digit = digit() {
            if count < 9 { fraction = fraction * 10 + digit }
            count += 1
        }
        for _ in min(count, 9)..<9 { fraction *= 10 }
        return fraction
    }

    /// `Z`, `+01:00`, `-0130`: seconds.
    mutating func offset() -> Int64? {
        if skip("Z") { return 0 }
        let isBehind = skip("-")
        guard isBehind || skip("+"), let hours = number(2) else { return nil }
        _ = skip(":")
        guard let minutes = number(2), hours < 24, minutes < 60 else { return nil }
        return (hours * 3_600 + minutes * 60) * (isBehind ? -1 : 1)
    }
}
