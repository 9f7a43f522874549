internal import ToftModel
internal import ToftStorage

/// The values of two collections of each row against each other, every one with every other: for
/// each left value the right quantifier decides, then the left one.
///
/// The right values of a row are kept while its left ones are compared, and these only until the
/// row is decided.
final class CrossPairNode: PredicateNode {
    private let left: Side
    private let right: Side
    private let others: OtherValues

    /// A collection, the value of its elements, and the number of them that must agree.
    struct Side {
        let start: OuterRows
        let expander: PathExpander
        let value: ValueNode
        let quantifier: Quantifier
    }

    init(_ left: Side, _ right: Side, _ test: PairTest) {
        self.left = left
        self.right = right
        others = OtherValues(test, right.quantifier, left.value.layout, right.value.layout)
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Selection {
        var verdicts = RowVerdicts()
        var kept: Int?
        try left.expander.forEachBatch(
            from: left.start.batch(for: batch), base: batch, wanted: wanted
        ) { expanded throws(ModelError) in
            let values = try left.value.evaluate(expanded, wanted: expanded.rows)
            for row in 0..<expanded.count {
                let owner = Int(expanded.owners[row])
                if verdicts.isDecided(owner, left.quantifier) { continue }
                if kept != owner {
                    try keepOthers(of: owner, batch)
                    kept = owner
                }
                try left.expander.checkInterruption()
                verdicts.note(others.pass(values, row), owner)
            }
        }
        return verdicts.rows(left.quantifier)
    }

    private func keepOthers(of owner: Int, _ batch: RowBatch) throws(ModelError) {
        others.removeAll()
        var only = Selection.empty
        only.insert(owner)
        try right.expander.forEachBatch(
            from: right.start.batch(for: batch), base: batch, wanted: only
        ) { expanded throws(ModelError) in
            let values = try right.value.evaluate(expanded, wanted: expanded.rows)
            for row in 0..<expanded.count { others.add(values, row) }
        }
        others.finish()
    }
}

/// Values to compare others with, reduced to those that decide a comparison.
///
/// The least and the greatest value for `<` and its kin with ALL or ANY; the distinct values in
/// order if one equal value decides; otherwise all. Null and NaN are kept apart, as they are not
/// ordered among values. Memory: some 16 bytes a value.
private final class OtherValues {
    private enum Kept { case extremes, distinct, all }

    private let test: PairTest
    private let quantifier: Quantifier
    private let kept: Kept
    private let layout: ValueLayout
    private var chunks: [Vector] = []
    private var count = 0
    /// The places of the values in ascending order, each value once; of `distinct` alone.
    private var ascending: [Int] = []
    private var hasNull = false
    private var hasNaN = false
    /// A comparison of one value: up to `Selection.capacity` others, and the value as often.
    private let deciding: Vector
    private let single: Vector

    init(
        _ test: PairTest, _ quantifier: Quantifier, _ layout: ValueLayout, _ other: ValueLayout
    ) {
        self.test = test
        self.quantifier = quantifier
        self.layout = other
        single = Vector(layout)
        deciding = Vector(other)
        let isOrdered = layout != .mixed && other != .mixed && test.options.isEmpty
        switch test.comparator {
        case .less, .lessOrEqual, .greater, .greaterOrEqual: kept = isOrdered ? .extremes : .all
        case .equal, .in:
            kept = !isOrdered ? .all : quantifier == .all ? .extremes : .distinct
        case .notEqual: kept = !isOrdered ? .all : quantifier == .all ? .distinct : .extremes
        default: kept = .all
        }
    }

    // MARK: Keeping

    func removeAll() {
        count = 0
        ascending.removeAll(keepingCapacity: true)
        hasNull = false
        hasNaN = false
    }

    func add(_ values: Vector, _ row: Int) {
        if kept == .all { return append(values, row) }
        if values.nulls[row] {
            hasNull = true
        } else if values.isNaN(row) {
            hasNaN = true
        } else if kept == .distinct || count < 2 {
            append(values, row)
            // The one value is the least and the greatest.
            if kept == .extremes { append(values, row) }
        } else {
            if order(of: 0, values, row) > 0 { chunks[0].replace(0, from: values, row) }
            if order(of: 1, values, row) < 0 { chunks[0].replace(1, from: values, row) }
        }
    }

    private func append(_ values: Vector, _ row: Int) {
        let place = count % Selection.capacity
        if count / Selection.capacity == chunks.count { chunks.append(Vector(layout)) }
        let chunk = chunks[count / Selection.capacity]
        if place == 0 { chunk.useOwnStorage() }
        chunk.copy(place, from: values, row)
        count += 1
    }

    /// Puts distinct values in order.
    func finish() {
        guard kept == .distinct else { return }
        let places = (0..<count).sorted { one, other in
            order(of: one, chunk(other), other % Selection.capacity) < 0
        }
        for place in places {
            if let last = ascending.last,
                order(of: last, chunk(place), place % Selection.capacity) == 0
            {
                continue
            }
            ascending.append(place)
        }
    }

    private func chunk(_ place: Int) -> Vector { chunks[place / Selection.capacity] }

    private func order(of place: Int, _ values: Vector, _ row: Int) -> Int {
        PairTest.order(chunk(place), place % Selection.capacity, values, row) ?? 0
    }

    // MARK: Comparing

    /// Whether a value agrees with enough of the others for the quantifier.
    func pass(_ values: Vector, _ row: Int) -> Bool {
        single.useOwnStorage()
        switch kept {
        case .all:
            for place in 0..<min(count, Selection.capacity) {
                single.copy(place, from: values, row)
            }
            var index = 0
            while index * Selection.capacity < count {
                let size = min(count - index * Selection.capacity, Selection.capacity)
                if let decided = decide(chunks[index], size) { return decided }
                index += 1
            }
            return quantifier != .any
        case .extremes:
            deciding.useOwnStorage()
            for place in 0..<count { deciding.copy(place, from: chunks[0], place) }
            return pass(values, row, among: count)
        case .distinct:
            deciding.useOwnStorage()
            guard !ascending.isEmpty else { return pass(values, row, among: 0) }
            let place = ascending[min(position(of: values, row), ascending.count - 1)]
            deciding.copy(0, from: chunk(place), place % Selection.capacity)
            return pass(values, row, among: 1)
        }
    }

    /// The index of the first distinct value that is not less.
    private func position(of values: Vector, _ row: Int) -> Int {
        guard !values.nulls[row], !values.isNaN(row) else { return 0 }
        var low = 0
        var high = ascending.count
        while low < high {
            let middle = (low + high) / 2
            if order(of: ascending[middle], values, row) < 0 {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    /// Adds null and NaN to the `count` values that decide, and compares.
    private func pass(_ values: Vector, _ row: Int, among count: Int) -> Bool {
        var size = count
        if hasNull {
            deciding.nulls.insert(size)
            size += 1
        }
        if hasNaN {
            deciding.setNaN(size)
            size += 1
        }
        for place in 0..<size { single.copy(place, from: values, row) }
        return decide(deciding, size) ?? (quantifier != .any)
    }

    /// The result that the first `size` of `others` decide; nil if further ones are necessary.
    private func decide(_ others: Vector, _ size: Int) -> Bool? {
        let wanted = Selection.first(size)
        let passing = test.evaluate(single, others, wanted: wanted) & wanted
        return switch quantifier {
        case .any: passing.isEmpty ? nil : true
        case .none: passing.isEmpty ? nil : false
        case .all: wanted.subtracting(passing).isEmpty ? nil : false
        }
    }
}

extension Vector {
    fileprivate func isNaN(_ row: Int) -> Bool {
        switch layout {
        case .double: doubles[row].isNaN
        case .decimal: decimal(row).isNaN
        default: false
        }
    }

    /// Sets one row of the vector's own storage.
    fileprivate func setNaN(_ row: Int) {
        switch layout {
        case .double: ownDoubles[row] = .nan
        case .decimal: set(row, Decimal128.nan.stored)
        default: break
        }
    }
}
