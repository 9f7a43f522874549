internal import ToftModel
internal import ToftStorage

/// Compares two values of the same row.
struct PairTest {
    let comparator: Comparator
    let options: StringOptions
    /// Of the two sides, which mixed values need to know; nil for null.
    let leftType: ValueType?
    let rightType: ValueType?

    /// The wanted rows for which `left comparator right` holds.
    @inline(never)
    func evaluate(_ left: Vector, _ right: Vector, wanted: Selection) -> Selection {
        let open = wanted.subtracting(left.nulls | right.nulls)
        let bothNull = left.nulls & right.nulls
        let oneNull = (left.nulls | right.nulls).subtracting(bothNull)
        switch comparator {
        case .beginsWith, .endsWith, .contains: return texts(left, right, open)
        case .like: return texts(left, right, open) | bothNull
        case .equal, .in: return equal(left, right, open) | bothNull
        case .notEqual: return open.subtracting(equal(left, right, open)) | oneNull
        case .less: return ordered(left, right, open).less
        case .greater: return ordered(left, right, open).greater
        case .lessOrEqual:
            let order = ordered(left, right, open)
            return order.less | order.equal | bothNull
        case .greaterOrEqual:
            let order = ordered(left, right, open)
            return order.greater | order.equal | bothNull
        case .matches, .between: return .empty
        }
    }

    /// BEGINSWITH and its kin.
    private func texts(_ left: Vector, _ right: Vector, _ open: Selection) -> Selection {
        if left.layout == .mixed || right.layout == .mixed {
            return mixedTexts(left, right, open)
        }
        guard left.layout == .text, right.layout == .text,
            let operation = TextTest.Operation(comparator)
        else { return .empty }
        var found = Selection.empty
        var rows = open.rows
        while let row = rows.next() {
            if TextMatcher.matches(operation, options, left.texts[row], right.texts[row]) {
                found.insert(row)
            }
        }
        return found
    }

    private func equal(_ left: Vector, _ right: Vector, _ open: Selection) -> Selection {
        if !options.isEmpty, left.layout == .mixed || right.layout == .mixed {
            return mixedEqual(left, right, open)
        }
        guard left.layout == .text, right.layout == .text else {
            return ordered(left, right, open).equal
        }
        var found = Selection.empty
        var rows = open.rows
        while let row = rows.next() {
            let isEqual =
                options.isEmpty
                ? ByteSearch.isEqual(left.texts[row], right.texts[row])
                : TextMatcher.matches(.equal, options, left.texts[row], right.texts[row])
            if isEqual { found.insert(row) }
        }
        return found
    }

    /// The rows that are less, equal and greater; NaN beside a number is in no set.
    @inline(never)
    private func ordered(_ left: Vector, _ right: Vector, _ open: Selection) -> (
        less: Selection, equal: Selection, greater: Selection
    ) {
        var less = Selection.empty
        var equal = Selection.empty
        var greater = Selection.empty
        var rows = open.rows
        while let row = rows.next() {
            let isMixed = left.layout == .mixed || right.layout == .mixed
            guard
                let order = isMixed
                    ? mixedOrder(left, right, row) : Self.order(left, row, right, row)
            else { continue }
            if order < 0 {
                less.insert(row)
            } else if order == 0 {
                equal.insert(row)
            } else {
                greater.insert(row)
            }
        }
        return (less, equal, greater)
    }

    /// Less than, equal to or greater than 0 as a row of `left` is before, with or after one of
    /// `right`; nil if they have no order.
    @inline(__always)
    static func order(_ left: Vector, _ row: Int, _ right: Vector, _ other: Int) -> Int? {
        switch (left.layout, right.layout) {
        case (.int, .int): compare(left.ints[row], right.ints[other])
        case (.double, .double): compare(left.doubles[row], right.doubles[other])
        case (.double, .int):
            left.doubles[row].isNaN
                ? nil : ColumnPredicate.order(of: left.doubles[row], to: right.ints[other])
        case (.int, .double):
            right.doubles[other].isNaN
                ? nil : -ColumnPredicate.order(of: right.doubles[other], to: left.ints[row])
        case (.bool, .bool): compare(left.bits[row] ? 1 : 0, right.bits[other] ? 1 : 0)
        case (.date, .date):
            compare(
                Timestamp(seconds: left.ints[row], nanoseconds: left.nanoseconds[row]),
                Timestamp(seconds: right.ints[other], nanoseconds: right.nanoseconds[other]))
        case (.decimal, .decimal), (.decimal, .int), (.int, .decimal):
            order(left.decimalNumber(row), right.decimalNumber(other))
        case (.decimal, .double): order(right.doubles[other], left.decimal(row)).map { -$0 }
        case (.double, .decimal): order(left.doubles[row], right.decimal(other))
        case (.fixed, .fixed): compare(left.fixed(row), right.fixed(other))
        case (.text, .text): ByteSearch.order(left.texts[row], right.texts[other])
        case (.mixed, .mixed): MixedRow(left.texts[row]).order(MixedRow(right.texts[other]))
        default: nil
        }
    }

    private static func compare<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
        left < right ? -1 : left == right ? 0 : 1
    }

    private static func order(_ left: Decimal128, _ right: Decimal128) -> Int? {
        left.isNaN == right.isNaN ? compare(left.orderKey, right.orderKey) : nil
    }

    private static func order(_ left: Double, _ right: Decimal128) -> Int? {
        left.isNaN == right.isNaN ? Decimal128.order(of: left, to: right) : nil
    }

    private static func compare(_ left: Double, _ right: Double) -> Int? {
        if left.isNaN || right.isNaN { return left.isNaN && right.isNaN ? 0 : nil }
        return left < right ? -1 : left == right ? 0 : 1
    }
}

/// Two values of each row against each other.
final class PairNode: PredicateNode {
    private let left: ValueNode
    private let right: ValueNode
    private let test: PairTest

    init(_ left: ValueNode, _ right: ValueNode, _ test: PairTest) {
        self.left = left
        self.right = right
        self.test = test
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Selection {
        test.evaluate(
            try left.evaluate(batch, wanted: wanted), try right.evaluate(batch, wanted: wanted),
            wanted: wanted)
    }
}

/// A value of a collection of each row against another value, which is broadcast.
final class CollectionPairNode: PredicateNode {
    private let start: OuterRows
    private let expander: PathExpander
    private let left: ValueNode
    private let right: ValueNode
    private let test: PairTest
    private let quantifier: Quantifier

    /// `left` and `right` are computed for the objects that `expander` reaches.
    init(
        _ start: OuterRows, _ expander: PathExpander, _ left: ValueNode, _ right: ValueNode,
        _ test: PairTest, _ quantifier: Quantifier
    ) {
        self.start = start
        self.expander = expander
        self.left = left
        self.right = right
        self.test = test
        self.quantifier = quantifier
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Selection {
        var verdicts = RowVerdicts()
        try expander.forEachBatch(from: start.batch(for: batch), base: batch, wanted: wanted) {
            expanded throws(ModelError) in
            let leftValues = try left.evaluate(expanded, wanted: expanded.rows)
            let rightValues = try right.evaluate(expanded, wanted: expanded.rows)
            verdicts.note(
                test.evaluate(leftValues, rightValues, wanted: expanded.rows), of: expanded)
        }
        return verdicts.rows(quantifier)
    }
}
