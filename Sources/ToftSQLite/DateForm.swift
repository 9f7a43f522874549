internal import ToftStorage
internal import ToftModel

/// How a column stores dates, as SQLite has no type for them.
package enum DateForm: String, Sendable, CaseIterable {
    /// Texts of ISO 8601. One without a time zone is in UTC.
    case iso
    /// Since 1970 in UTC.
    case seconds, milliseconds, microseconds, nanoseconds
    /// Days since noon of the 24th of November of the year -4713 in Greenwich.
    case julian
    /// Seconds since 2001, as Core Data has them.
    case apple
    /// Microseconds since 1601, as Chrome has them.
    case webkit

    /// The form that fits numbers of such sizes: whole ones by the greatest, as each unit is a
    /// thousand times the next; others are Julian days within the years 1 to 9999, else seconds.
    static func fitting(_ content: ColumnContent) -> DateForm {
        if content.reals > 0 {
            let isJulian = content.least >= 1_721_425.5 && content.greatest <= 5_373_484.5
            return isJulian ? .julian : .seconds
        }
        switch max(content.greatest, -content.least) {
        case ..<1e11: return .seconds
        case ..<1e14: return .milliseconds
        case ..<1e17: return .microseconds
        default: return .nanoseconds
        }
    }

    /// The date that a value is; nil if it has another form.
    func date(_ value: SQLiteValue) -> Timestamp? {
        switch (self, value) {
        case (.iso, .text(let text)):
            // A blank at an end would be one of the time.
            (try? Timestamp(parsing: text)) ?? (try? Timestamp(parsing: text + "Z"))
        case (.iso, _): nil
        case (_, .int(let number)): date(number)
        case (_, .real(let number)): date(number)
        default: nil
        }
    }

    /// For each form of numbers: units of a second, and seconds from 1970 to its beginning.
    private var scale: (units: Int64, start: Int64) {
        switch self {
        case .iso, .seconds: (1, 0)
        case .milliseconds: (1_000, 0)
        case .microseconds: (1_000_000, 0)
        case .nanoseconds: (1_000_000_000, 0)
        case .julian: (0, 0)
        case .apple: (1, 978_307_200)
        case .webkit: (1_000_000, -11_644_473_600)
        }
    }

    private func date(_ number: Int64) -> Timestamp? {
        if self == .julian { return date(Double(number)) }
        let (units, start) = scale
        let (whole, rest) = number.quotientAndRemainder(dividingBy: units)
        let (seconds, isTooFar) = whole.addingReportingOverflow(start)
        return isTooFar ? nil : Self.date(seconds, rest * (1_000_000_000 / units))
    }

    private func date(_ number: Double) -> Timestamp? {
        guard number.isFinite, abs(number) < 9e18 else { return nil }
        if self == .julian {
            // SQLite counts days in whole milliseconds, as it can't do better.
            return DateForm.milliseconds.date(
                Int64(((number - 2_440_587.5) * 86_400_000).rounded()))
        }
        let (units, start) = scale
        let whole = number.rounded(.down)
        let (quotient, rest) = Int64(whole).quotientAndRemainder(dividingBy: units)
        let (seconds, isTooFar) = quotient.addingReportingOverflow(start)
        guard !isTooFar else { return nil }
        let unit = 1_000_000_000 / units
        // Microseconds are what a double has of today's seconds.
        let fraction = Int64(((number - whole) * 1_000_000).rounded()) * unit / 1_000_000
        return Self.date(seconds, rest * unit + fraction)
    }

    /// A date of seconds, and nanoseconds of either sign, which may be more than a second.
    private static func date(_ seconds: Int64, _ nanoseconds: Int64) -> Timestamp? {
        let billion: Int64 = 1_000_000_000
        var (carry, rest) = nanoseconds.quotientAndRemainder(dividingBy: billion)
        var (whole, isTooFar) = seconds.addingReportingOverflow(carry)
        guard !isTooFar else { return nil }
        // Both have one sign.
        if whole > 0, rest < 0 { (whole, rest) = (whole - 1, rest + billion) }
        if whole < 0, rest > 0 { (whole, rest) = (whole + 1, rest - billion) }
        carry = rest
        return Timestamp(seconds: whole, nanoseconds: Int32(carry))
    }
}
