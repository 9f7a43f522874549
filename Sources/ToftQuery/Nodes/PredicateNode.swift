internal import ToftModel
internal import ToftStorage

/// A predicate made ready to run: finds the rows of a batch that satisfy it; all of them unless a
/// subclass overrides it. One virtual call per batch; loops inside.
class PredicateNode {
    /// The rows of `wanted` that satisfy the predicate; the result for other rows is undefined.
    func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Selection { wanted }

    /// Number of rows of a batch that satisfy it, of those that have an object.
    func count(in batch: RowBatch) throws(ModelError) -> Int {
        let rows = batch.presentRows
        return (try evaluate(batch, wanted: rows) & rows).count
    }
}

final class FixedNode: PredicateNode {
    private let value: Bool

    init(_ value: Bool) {
        self.value = value
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Selection {
        value ? wanted : .empty
    }
}

final class NotNode: PredicateNode {
    private let inner: PredicateNode

    init(_ inner: PredicateNode) {
        self.inner = inner
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Selection {
        wanted.subtracting(try inner.evaluate(batch, wanted: wanted))
    }
}

/// All parts: each is tested only for the rows that all before it have passed.
final class AndNode: PredicateNode {
    private let parts: [PredicateNode]

    init(_ parts: [PredicateNode]) {
        self.parts = parts
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Selection {
        var left = wanted
        for part in parts {
            left &= try part.evaluate(batch, wanted: left)
            if left.isEmpty { break }
        }
        return left
    }
}

/// Any part: each is tested only for the rows that no earlier part has found.
final class OrNode: PredicateNode {
    private let parts: [PredicateNode]

    init(_ parts: [PredicateNode]) {
        self.parts = parts
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Selection {
        var found = Selection.empty
        var open = wanted
        for part in parts {
            let more = try part.evaluate(batch, wanted: open) & open
            found |= more
            open = open.subtracting(more)
            if open.isEmpty { break }
        }
        return found
    }
}

/// One value of each row against constants.
final class TestNode: PredicateNode {
    private let value: ValueNode
    private let test: RowPredicate

    init(_ value: ValueNode, _ test: RowPredicate) {
        self.value = value
        self.test = test
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Selection {
        if let cluster = batch.cluster, value.verdict(test, cluster.pointee) == .noRow {
            return .empty
        }
        return test.evaluate(
            try value.evaluate(batch, wanted: wanted), count: batch.count, wanted: wanted)
    }
}

/// An integer or a link of the objects themselves from `low` to `high`: compared within its
/// cluster, without a vector in between.
final class IntRangeNode: PredicateNode {
    private let column: UInt32
    private let low: Int64
    private let high: Int64
    @exclusivity(unchecked) private var known: KnownColumn?
    /// The test for objects of several clusters.
    private let scattered: PredicateNode

    init(_ column: UInt32, _ low: Int64, _ high: Int64, scattered: PredicateNode) {
        self.column = column
        self.low = low
        self.high = high
        self.scattered = scattered
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Selection {
        guard let cluster = batch.cluster else {
            return try scattered.evaluate(batch, wanted: wanted)
        }
        do {
            let (values, nulls) = try cluster.pointee.nullableIntegers(column, &known)
            return rows(values, nulls, batch.count)
        } catch {
            throw .storage(error)
        }
    }

    override func count(in batch: RowBatch) throws(ModelError) -> Int {
        guard let cluster = batch.cluster else { return try scattered.count(in: batch) }
        do {
            let (values, nulls) = try cluster.pointee.nullableIntegers(column, &known)
            let count = batch.count
            return nulls == nil
                ? IntLoops.count(values, count: count, low, high) : rows(values, nulls, count).count
        } catch {
            throw .storage(error)
        }
    }

    @inline(__always)
    private func rows(_ values: IntegerColumn, _ nulls: UnsafePointer<UInt64>?, _ count: Int)
        -> Selection
    {
        let within = IntLoops.range(values, count: count, low, high)
        guard let nulls else { return within }
        return within.subtracting(Selection(bitmap: nulls, count: count))
    }
}

/// Collects, for the rows of a base, the results for the elements that belong to them.
struct RowVerdicts {
    private var passed = Selection.empty
    private var failed = Selection.empty

    /// Notes which rows of a batch pass.
    mutating func note(_ passing: Selection, of expanded: RowBatch) {
        for row in 0..<expanded.count { note(passing[row], Int(expanded.owners[row])) }
    }

    /// Notes whether an element of `owner` passes.
    @inline(__always)
    mutating func note(_ passes: Bool, _ owner: Int) {
        if passes { passed.insert(owner) } else { failed.insert(owner) }
    }

    /// Whether further elements change nothing for a row.
    func isDecided(_ row: Int, _ quantifier: Quantifier) -> Bool {
        quantifier == .all ? failed[row] : passed[row]
    }

    /// The rows whose elements pass by `quantifier`.
    func rows(_ quantifier: Quantifier) -> Selection {
        switch quantifier {
        case .any: passed
        case .all: ~failed
        case .none: ~passed
        }
    }
}

/// A predicate on all values that a path leads to from each row.
class PathValuesNode: PredicateNode {
    private let start: OuterRows
    fileprivate let expander: PathExpander
    private let value: ValueNode

    fileprivate init(_ start: OuterRows, _ expander: PathExpander, _ value: ValueNode) {
        self.start = start
        self.expander = expander
        self.value = value
    }

    /// Calls `body` with the values of the wanted rows, a batch after the other.
    fileprivate final func forEachBatch(
        of batch: RowBatch, wanted: Selection, _ body: (RowBatch, Vector) throws(ModelError) -> Void
    ) throws(ModelError) {
        try expander.forEachBatch(from: start.batch(for: batch), base: batch, wanted: wanted) {
            expanded throws(ModelError) in
            try body(expanded, try value.evaluate(expanded, wanted: expanded.rows))
        }
    }
}

/// The values of a collection of each row against constants, one by one.
final class CollectionTestNode: PathValuesNode {
    private let test: RowPredicate
    private let quantifier: Quantifier

    init(
        _ start: OuterRows, _ expander: PathExpander, _ value: ValueNode, _ test: RowPredicate,
        _ quantifier: Quantifier
    ) {
        self.test = test
        self.quantifier = quantifier
        super.init(start, expander, value)
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Selection {
        var verdicts = RowVerdicts()
        try forEachBatch(of: batch, wanted: wanted) { expanded, values in
            verdicts.note(
                test.evaluate(values, count: expanded.count, wanted: expanded.rows), of: expanded)
        }
        return verdicts.rows(quantifier)
    }
}

/// The values of a collection of each row as a whole: as many as there are tests, each passing its
/// own.
final class WholeListNode: PathValuesNode {
    private let tests: [RowPredicate]
    private var counts = [Int](repeating: 0, count: Selection.capacity)

    init(_ start: OuterRows, _ expander: PathExpander, _ value: ValueNode, _ tests: [RowPredicate])
    {
        self.tests = tests
        super.init(start, expander, value)
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Selection {
        for row in 0..<batch.count { counts[row] = 0 }
        var failed = Selection.empty
        try forEachBatch(of: batch, wanted: wanted) { expanded, values in
            for row in 0..<expanded.count {
                let owner = Int(expanded.owners[row])
                let index = counts[owner]
                counts[owner] += 1
                var only = Selection.empty
                only.insert(row)
                if index >= tests.count
                    || !tests[index].evaluate(values, count: expanded.count, wanted: only)[row]
                {
                    failed.insert(owner)
                    expander.settled.insert(owner)
                }
            }
        }
        for row in 0..<batch.count where counts[row] != tests.count { failed.insert(row) }
        return ~failed
    }
}

/// The values of a set of each row as a whole, in whatever order: each passes one test at least,
/// and each test is passed by one of them.
final class WholeSetNode: PathValuesNode {
    private let tests: [RowPredicate]

    init(_ start: OuterRows, _ expander: PathExpander, _ value: ValueNode, _ tests: [RowPredicate])
    {
        self.tests = tests
        super.init(start, expander, value)
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Selection {
        var failed = Selection.empty
        var found = [Selection](repeating: .empty, count: tests.count)
        try forEachBatch(of: batch, wanted: wanted) { expanded, values in
            var passing = Selection.empty
            for (index, test) in tests.enumerated() {
                let passed =
                    test.evaluate(values, count: expanded.count, wanted: expanded.rows)
                    & expanded.rows
                passing = passing | passed
                var rows = passed.rows
                while let row = rows.next() { found[index].insert(Int(expanded.owners[row])) }
            }
            var others = expanded.rows.subtracting(passing).rows
            while let row = others.next() { failed.insert(Int(expanded.owners[row])) }
        }
        return found.reduce(~failed) { $0 & $1 }
    }
}
