internal import ToftModel
internal import ToftStorage

/// The verdict of a zone map about a cluster before it is read.
enum ZoneVerdict {
    /// No row can pass.
    case noRow
    /// Every row that is not null passes.
    case everyValue
    case unknown
}

/// A `ColumnPredicate` made ready to run: turns a vector into the mask of the rows that pass. One
/// virtual call per batch; loops inside.
class RowPredicate {
    /// The rows of `wanted` that pass; the result for other rows is undefined.
    func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection { .empty }

    /// The verdict for the least and the greatest value of an int or date column (its seconds).
    func verdict(_ minimum: Int64, _ maximum: Int64) -> ZoneVerdict { .unknown }

    /// The verdict for a double column.
    func verdict(_ minimum: Double, _ maximum: Double) -> ZoneVerdict { .unknown }

    /// Whether null passes.
    var passesNull: Bool { false }
}

/// Passes null and nothing else, or everything except null.
final class NullTest: RowPredicate {
    private let passes: Bool

    init(passes: Bool) {
        self.passes = passes
    }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        passes ? vector.nulls : ~vector.nulls
    }

    override var passesNull: Bool { passes }
}

/// Everything passes, or nothing.
final class FixedTest: RowPredicate {
    private let passes: Bool

    init(_ passes: Bool) {
        self.passes = passes
    }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        passes ? .full : .empty
    }

    override func verdict(_ minimum: Int64, _ maximum: Int64) -> ZoneVerdict {
        passes ? .unknown : .noRow
    }
    override func verdict(_ minimum: Double, _ maximum: Double) -> ZoneVerdict {
        passes ? .unknown : .noRow
    }
    override var passesNull: Bool { passes }
}

final class BoolTest: RowPredicate {
    private let value: Bool
    private let isInverted: Bool

    init(_ value: Bool, isInverted: Bool) {
        self.value = value
        self.isInverted = isInverted
    }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        let equal = (value ? vector.bits : ~vector.bits).subtracting(vector.nulls)
        return isInverted ? ~equal : equal
    }

    override var passesNull: Bool { isInverted }
}

/// Integers, or keys of links, from `low` to `high`; inverted all others and null.
final class IntRangeTest: RowPredicate {
    private let low: Int64
    private let high: Int64
    private let isInverted: Bool

    init(_ low: Int64, _ high: Int64, isInverted: Bool) {
        self.low = low
        self.high = high
        self.isInverted = isInverted
    }

    /// The passing range; nil if nothing or something else passes.
    var range: ClosedRange<Int64>? { low <= high && !isInverted ? low...high : nil }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        let within = IntLoops.range(vector.integers, count: count, low, high).subtracting(
            vector.nulls)
        return isInverted ? ~within : within
    }

    override func verdict(_ minimum: Int64, _ maximum: Int64) -> ZoneVerdict {
        if minimum > high || maximum < low { return isInverted ? .everyValue : .noRow }
        if minimum >= low && maximum <= high { return isInverted ? .unknown : .everyValue }
        return .unknown
    }

    override var passesNull: Bool { isInverted }
}

/// Integers of a sorted set.
final class IntSetTest: RowPredicate {
    private let values: [Int64]

    init(_ values: [Int64]) {
        self.values = values
    }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        guard let least = values.first, let greatest = values.last else { return .empty }
        var members = Selection.empty
        let candidates = (IntLoops.range(vector.integers, count: count, least, greatest) & wanted)
            .subtracting(vector.nulls)
        values.withUnsafeBufferPointer { values in
            var rows = candidates.rows
            while let row = rows.next() {
                if values.containsSorted(vector.ints[row]) { members.insert(row) }
            }
        }
        return members
    }

    override func verdict(_ minimum: Int64, _ maximum: Int64) -> ZoneVerdict {
        guard let least = values.first, let greatest = values.last else { return .noRow }
        return minimum > greatest || maximum < least ? .noRow : .unknown
    }
}

/// Doubles of a set.
final class DoubleSetTest: RowPredicate {
    private let values: Set<Double>

    init(_ values: Set<Double>) {
        self.values = values
    }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        wanted.subtracting(vector.nulls).filter { values.contains(vector.doubles[$0]) }
    }
}

/// Dates of a set.
final class DateSetTest: RowPredicate {
    private let values: Set<Timestamp>

    init(_ values: Set<Timestamp>) {
        self.values = values
    }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        wanted.subtracting(vector.nulls).filter {
            values.contains(
                Timestamp(seconds: vector.ints[$0], nanoseconds: vector.nanoseconds[$0]))
        }
    }
}

/// Uuids and object ids of a set.
final class FixedSetTest: RowPredicate {
    private let values: Set<FixedBytes>

    init(_ values: Set<FixedBytes>) {
        self.values = values
    }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        wanted.subtracting(vector.nulls).filter { values.contains(vector.fixed($0)) }
    }
}

/// Decimals of a set, by their order keys.
final class DecimalSetTest: RowPredicate {
    private let keys: Set<FixedBytes>

    init(_ keys: Set<FixedBytes>) {
        self.keys = keys
    }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        wanted.subtracting(vector.nulls).filter { keys.contains(vector.decimal($0).orderKey) }
    }
}

extension UnsafeBufferPointer<Int64> {
    /// Whether a sorted buffer holds `value`.
    @inline(__always)
    fileprivate func containsSorted(_ value: Int64) -> Bool {
        var low = 0
        var high = count
        while low < high {
            let middle = (low &+ high) >> 1
            if self[middle] < value { low = middle &+ 1 } else { high = middle }
        }
        return low < count && self[low] == value
    }
}

/// Doubles from `low` to `high`, inverted all other numbers and null; NaN apart.
final class DoubleRangeTest: RowPredicate {
    private let low: Double
    private let high: Double
    private let isInverted: Bool
    private let passesNaN: Bool

    init(_ low: Double, _ high: Double, isInverted: Bool, passesNaN: Bool) {
        self.low = low
        self.high = high
        self.isInverted = isInverted
        self.passesNaN = passesNaN
    }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        // NaN is never within, so inverted it passes; if it must not, its rows are found
        // separately.
        var passing = DoubleLoops.range(vector.doubles, count: count, low, high)
        if isInverted { passing = ~passing }
        if passesNaN != isInverted {
            let numberless = DoubleLoops.notANumber(vector.doubles, count: count)
            passing = passesNaN ? passing | numberless : passing.subtracting(numberless)
        }
        return isInverted ? passing | vector.nulls : passing.subtracting(vector.nulls)
    }

    override func verdict(_ minimum: Double, _ maximum: Double) -> ZoneVerdict {
        !isInverted && !passesNaN && (minimum > high || maximum < low) ? .noRow : .unknown
    }

    override var passesNull: Bool { isInverted }
}

/// Values of two parts between two others: the leading part, an integer, decides all rows but those
/// on the two edges.
class LeadingRangeTest: RowPredicate {
    fileprivate let low: Int64
    fileprivate let high: Int64
    fileprivate let isInverted: Bool

    fileprivate init(_ low: Int64, _ high: Int64, isInverted: Bool) {
        self.low = low
        self.high = high
        self.isInverted = isInverted
    }

    /// Whether the whole value of a row is within the range.
    fileprivate func isWithin(_ vector: Vector, _ row: Int) -> Bool { true }

    override final func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        var within = IntLoops.range(vector.integers, count: count, low, high)
        var edges =
            (IntLoops.range(vector.integers, count: count, low, low)
            | IntLoops.range(vector.integers, count: count, high, high)).rows
        var outside = Selection.empty
        while let row = edges.next() {
            if !isWithin(vector, row) { outside.insert(row) }
        }
        within = within.subtracting(outside).subtracting(vector.nulls)
        return isInverted ? ~within : within
    }

    override final var passesNull: Bool { isInverted }
}

/// Dates from one to another; inverted all others and null.
final class DateRangeTest: LeadingRangeTest {
    private let dates: ClosedRange<Timestamp>

    init(_ low: Timestamp, _ high: Timestamp, isInverted: Bool) {
        dates = ClosedRange(uncheckedBounds: (low, high))
        super.init(low.seconds, high.seconds, isInverted: isInverted)
    }

    override fileprivate func isWithin(_ vector: Vector, _ row: Int) -> Bool {
        dates.contains(
            Timestamp(seconds: vector.ints[row], nanoseconds: vector.nanoseconds[row]))
    }

    override func verdict(_ minimum: Int64, _ maximum: Int64) -> ZoneVerdict {
        if minimum > high || maximum < low { return isInverted ? .everyValue : .noRow }
        if minimum > low && maximum < high { return isInverted ? .unknown : .everyValue }
        return .unknown
    }
}

/// Uuids and object ids from one to another; inverted all others and null.
final class FixedRangeTest: LeadingRangeTest {
    private let bytes: ClosedRange<FixedBytes>

    init(_ low: FixedBytes, _ high: FixedBytes, isInverted: Bool) {
        bytes = ClosedRange(uncheckedBounds: (low, high))
        super.init(low.leading, high.leading, isInverted: isInverted)
    }

    override fileprivate func isWithin(_ vector: Vector, _ row: Int) -> Bool {
        bytes.contains(vector.fixed(row))
    }
}

/// Decimals from one to another, by their order keys; inverted all others and null.
final class DecimalRangeTest: RowPredicate {
    private let keys: ClosedRange<FixedBytes>
    private let isInverted: Bool

    init(_ low: FixedBytes, _ high: FixedBytes, isInverted: Bool) {
        keys = ClosedRange(uncheckedBounds: (low, high))
        self.isInverted = isInverted
    }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        var within = Selection.empty
        var rows = wanted.subtracting(vector.nulls).rows
        while let row = rows.next() {
            if keys.contains(vector.decimal(row).orderKey) { within.insert(row) }
        }
        return isInverted ? ~within : within
    }

    override var passesNull: Bool { isInverted }
}

/// Texts that a matcher accepts; `!=` also accepts null.
final class TextRowTest: RowPredicate {
    let matcher: TextMatcher

    init(_ matcher: TextMatcher) {
        self.matcher = matcher
    }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        var passing = Selection.empty
        var rows = wanted.subtracting(vector.nulls).rows
        while let row = rows.next() {
            if matcher.matches(vector.texts[row]) { passing.insert(row) }
        }
        return passesNull ? passing | vector.nulls : passing
    }

    override var passesNull: Bool { matcher.operation == .notEqual }
}

/// Texts of a set.
final class TextSetTest: RowPredicate {
    private let lookUp: TextLookUp

    init(_ texts: TextSet) {
        lookUp = TextLookUp(texts)
    }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        wanted.subtracting(vector.nulls).filter { lookUp.finds(vector.texts[$0]) }
    }
}

/// Looks texts up in a set, folded as the set's are.
final class TextLookUp {
    private let texts: TextSet
    /// A folded text.
    private var scratch: [UInt8] = []

    init(_ texts: TextSet) {
        self.texts = texts
    }

    func finds(_ text: UnsafeRawBufferPointer) -> Bool {
        if texts.count == 0 { return false }
        if texts.options.isEmpty { return texts.contains(text) }
        CaseFolding.fold(text, texts.options, into: &scratch)
        return scratch.withUnsafeBytes { texts.contains($0) }
    }
}

/// Any, or all, of several tests.
final class CombinedTest: RowPredicate {
    private let parts: [RowPredicate]
    private let needsAll: Bool

    init(_ parts: [RowPredicate], needsAll: Bool) {
        self.parts = parts
        self.needsAll = needsAll
    }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        var passing = needsAll ? wanted : .empty
        for part in parts {
            if needsAll {
                passing &= part.evaluate(vector, count: count, wanted: passing)
                if passing.isEmpty { break }
            } else {
                let open = wanted.subtracting(passing)
                if open.isEmpty { break }
                passing |= part.evaluate(vector, count: count, wanted: open) & open
            }
        }
        return passing
    }

    override func verdict(_ minimum: Int64, _ maximum: Int64) -> ZoneVerdict {
        combined { $0.verdict(minimum, maximum) }
    }

    override func verdict(_ minimum: Double, _ maximum: Double) -> ZoneVerdict {
        combined { $0.verdict(minimum, maximum) }
    }

    private func combined(_ verdict: (RowPredicate) -> ZoneVerdict) -> ZoneVerdict {
        let verdicts = parts.map(verdict)
        if needsAll {
            return verdicts.contains(.noRow)
                ? .noRow : verdicts.allSatisfy { $0 == .everyValue } ? .everyValue : .unknown
        }
        return verdicts.allSatisfy { $0 == .noRow }
            ? .noRow : verdicts.contains(.everyValue) ? .everyValue : .unknown
    }

    override var passesNull: Bool {
        needsAll ? parts.allSatisfy(\.passesNull) : parts.contains(where: \.passesNull)
    }
}

/// Passes the values that another test rejects, including null.
final class InvertedTest: RowPredicate {
    private let inner: RowPredicate

    init(_ inner: RowPredicate) {
        self.inner = inner
    }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        ~inner.evaluate(vector, count: count, wanted: wanted)
    }

    override var passesNull: Bool { !inner.passesNull }
}
