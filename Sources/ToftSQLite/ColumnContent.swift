internal import ToftModel
internal import ToftStorage

/// The content of a column: how many values of each kind, and what they have in common.
struct ColumnContent {
    /// Whole numbers up to here are the same as doubles.
    static let greatestExact: Int64 = 1 << 53

    private(set) var nulls = 0
    private(set) var ints = 0
    private(set) var reals = 0
    private(set) var texts = 0
    private(set) var blobs = 0
    /// Of all numbers.
    private(set) var least = Double.infinity
    private(set) var greatest = -Double.infinity
    private(set) var isBool = true
    private(set) var isWithinDouble = true
    private(set) var isDate = true
    private(set) var isUUID = true
    private(set) var isDecimal = true
    private let tests: Tests

    /// The form that is looked for in texts and blobs, as the declared type suggests it.
    enum Tests {
        case none, date, uuid, decimal
    }

    init(_ tests: Tests) { self.tests = tests }

    var count: Int { ints + reals + texts + blobs }
    var isInts: Bool { ints == count }
    var isTexts: Bool { texts == count }
    var isBlobs: Bool { blobs == count }
    var isNumbers: Bool { ints + reals == count }

    mutating func add(_ value: SQLiteValue) {
        switch value {
        case .null: nulls += 1
        case .int(let number):
            ints += 1
            add(Double(number))
            if number != 0, number != 1 { isBool = false }
            if abs(number.clamped) > Self.greatestExact { isWithinDouble = false }
        case .real(let number):
            reals += 1
            add(number)
            if !number.isFinite { isDecimal = false }
            isBool = false
        case .text(let text):
            texts += 1
            if Truth(text) == nil { isBool = false }
            add(text)
        case .notUTF8:
            texts += 1
            (isBool, isDate, isUUID, isDecimal) = (false, false, false, false)
        case .blob(let bytes):
            blobs += 1
            if bytes.count != 16 { isUUID = false }
            (isBool, isDate, isDecimal) = (false, false, false)
        }
    }

    private mutating func add(_ number: Double) {
        least = min(least, number)
        greatest = max(greatest, number)
        isUUID = false
    }

    private mutating func add(_ text: String) {
        switch tests {
        case .none: break
        case .date: if isDate, DateForm.iso.date(.text(text)) == nil { isDate = false }
        case .uuid: if isUUID, FixedBytes(uuidText: text) == nil { isUUID = false }
        case .decimal: if isDecimal, Decimal128(exact: text) == nil { isDecimal = false }
        }
    }
}

extension Int64 {
    /// The number itself, but for the least one, whose magnitude has no counterpart.
    fileprivate var clamped: Int64 { Swift.max(self, -Int64.max) }
}

/// A truth value as programs write it into a text.
struct Truth {
    let value: Bool

    init?(_ text: String) {
        switch text.identifier {
        case "1", "t", "true", "y", "yes": value = true
        case "0", "f", "false", "n", "no": value = false
        default: return nil
        }
    }
}

extension Decimal128 {
    /// The finite number that a text spells, which has at most 34 digits.
    init?(exact text: String) {
        guard let (value, isExact) = Self.parse(Array(text.utf8)), isExact, !value.isNaN,
            !value.isInfinite
        else { return nil }
        self = value
    }
}
