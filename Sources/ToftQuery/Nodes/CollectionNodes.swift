internal import ToftModel
internal import ToftStorage

/// Number of elements or objects of a collection of each row.
final class CountNode: ValueNode {
    private let collection: BoundCollection
    private let source: DataSource
    private let links: PropertyNode?

    init(_ collection: BoundCollection, _ source: DataSource) {
        self.collection = collection
        self.source = source
        links =
            if case .link(let step) = collection { PropertyNode(ColumnRead(step)) } else { nil }
        super.init(.int)
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Vector {
        let nulls = try links?.evaluate(batch, wanted: wanted).nulls
        vector.useOwnStorage()
        for row in 0..<batch.count { vector.ownInts[row] = 0 }
        switch collection {
        case .list(let property):
            try batch.reader?.forEachList(property.propertyID, batch, wanted: wanted) {
                row, list throws(ModelError) in
                vector.ownInts[row] = Int64(list.count)
            }
        case .link:
            var rows = wanted.subtracting(nulls ?? .empty).rows
            while let row = rows.next() { vector.ownInts[row] = 1 }
        case .backlinks(let origin): try countBacklinks(origin, batch, wanted)
        case .allBacklinks(let origins):
            for origin in origins { try countBacklinks(origin, batch, wanted) }
        }
        return vector
    }

    private func countBacklinks(_ origin: PropertyRef, _ batch: RowBatch, _ wanted: Selection)
        throws(ModelError)
    {
        var rows = wanted.subtracting(batch.absent).rows
        while let row = rows.next() {
            try source.forEachBacklink(
                to: batch.keys[row], of: batch.reader?.classID, through: origin
            ) {
                _, links throws(ModelError) in
                vector.ownInts[row] += Int64(links)
            }
        }
    }
}

/// @min, @max, @sum or @avg of the elements of a collection, or of a property of the objects of a
/// collection. Null and NaN do not count.
final class AggregateNode: ValueNode {
    private let expander: PathExpander
    private let value: ValueNode
    private let operation: AggregateOperation

    /// `value` is computed for the objects that `expander` reaches.
    init(
        _ operation: AggregateOperation, _ expander: PathExpander, _ value: ValueNode,
        _ type: ValueType
    ) {
        self.operation = operation
        self.expander = expander
        self.value = value
        super.init(ValueLayout(type))
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Vector {
        var accumulators = [Accumulator](repeating: Accumulator(operation), count: batch.count)
        try expander.forEachBatch(from: batch, base: batch, wanted: wanted) {
            expanded throws(ModelError) in
            let values = try value.evaluate(expanded, wanted: expanded.rows)
            for row in 0..<expanded.count {
                accumulators[Int(expanded.owners[row])].add(values, row)
            }
        }
        vector.useOwnStorage()
        for row in 0..<batch.count { accumulators[row].store(row, in: vector) }
        return vector
    }
}

/// @min or @max of values that are neither numbers nor dates. Null and NaN do not count.
final class ExtremeNode: ValueNode {
    private let expander: PathExpander
    private let value: ValueNode
    private let isLeast: Bool

    /// `value` is computed for the objects that `expander` reaches.
    init(_ operation: AggregateOperation, _ expander: PathExpander, _ value: ValueNode) {
        isLeast = operation == .minimum
        self.expander = expander
        self.value = value
        super.init(value.layout)
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Vector {
        vector.useOwnStorage()
        vector.nulls = .full
        try expander.forEachBatch(from: batch, base: batch, wanted: wanted) {
            expanded throws(ModelError) in
            let values = try value.evaluate(expanded, wanted: expanded.rows)
            var rows = expanded.rows.subtracting(values.nulls).rows
            while let row = rows.next() {
                if values.layout == .mixed {
                    let value = MixedRow(values.texts[row])
                    if value.isNaN || value.scalar == nil { continue }
                }
                let owner = Int(expanded.owners[row])
                if !vector.nulls[owner] {
                    let order = PairTest.order(values, row, vector, owner) ?? 0
                    guard isLeast ? order < 0 : order > 0 else { continue }
                }
                vector.replace(owner, from: values, row)
            }
        }
        return vector
    }
}

/// An aggregate's state after the values so far.
struct Accumulator {
    private let operation: AggregateOperation
    private(set) var count = 0
    private var sum: Int128 = 0
    private var total = ExactSum()
    private var minimum = Timestamp(seconds: 0, nanoseconds: 0)
    private var maximum = Timestamp(seconds: 0, nanoseconds: 0)
    private var lowest = 0.0
    private var highest = 0.0
    private var decimal = Decimal128.zero
    private var leastDecimal = Decimal128.zero
    private var greatestDecimal = Decimal128.zero

    init(_ operation: AggregateOperation) {
        self.operation = operation
    }

    /// Adds a row of a vector, unless it is null or NaN.
    mutating func add(_ vector: Vector, _ row: Int) {
        guard !vector.nulls[row] else { return }
        switch vector.layout {
        case .int: add(vector.ints[row])
        case .double: add(vector.doubles[row])
        case .date: add(Timestamp(seconds: vector.ints[row], nanoseconds: vector.nanoseconds[row]))
        case .decimal: add(vector.decimal(row))
        case .mixed: if let number = MixedRow(vector.texts[row]).number { add(number) }
        case .bool, .fixed, .text: return
        }
    }

    mutating func add(_ value: Int64) {
        sum &+= Int128(value)
        add(Timestamp(seconds: value, nanoseconds: 0))
    }

    mutating func add(_ value: Double) {
        guard !value.isNaN else { return }
        switch operation {
        case .sum, .average: _ = total.add(value)
        case .minimum: lowest = count == 0 ? value : Swift.min(lowest, value)
        case .maximum: highest = count == 0 ? value : Swift.max(highest, value)
        }
        count += 1
    }

    mutating func add(_ value: Decimal128) {
        guard !value.isNaN else { return }
        decimal = decimal + value
        leastDecimal = count == 0 ? value : Swift.min(leastDecimal, value)
        greatestDecimal = count == 0 ? value : Swift.max(greatestDecimal, value)
        count += 1
    }

    mutating func add(_ value: Timestamp) {
        minimum = count == 0 || value < minimum ? value : minimum
        maximum = count == 0 || value > maximum ? value : maximum
        count += 1
    }

    /// Leaves the result in a row of `vector`, whose layout is that of the result.
    func store(_ row: Int, in vector: Vector) {
        guard count > 0 || operation == .sum else {
            vector.nulls.insert(row)
            return
        }
        switch (operation, vector.layout) {
        case (.sum, .int):
            if let sum = Int64(exactly: sum) {
                vector.ownInts[row] = sum
            } else {
                vector.nulls.insert(row)
            }
        case (.sum, .decimal): vector.set(row, decimal.stored)
        case (.average, .decimal):
            vector.set(row, (decimal / Decimal128(Int64(count))).stored)
        case (_, .decimal):
            vector.set(row, (operation == .minimum ? leastDecimal : greatestDecimal).stored)
        case (.sum, _): vector.ownDoubles[row] = total.value
        // Of integers `total` is zero, of others `sum` is.
        case (.average, _):
            vector.ownDoubles[row] = total.average(of: count) + ExactSum.average(sum, of: count)
        case (_, .int):
            vector.ownInts[row] = operation == .minimum ? minimum.seconds : maximum.seconds
        case (_, .double): vector.ownDoubles[row] = operation == .minimum ? lowest : highest
        default: vector.set(row, .timestamp(operation == .minimum ? minimum : maximum))
        }
    }
}

/// Number of objects at the end of a path that satisfy a predicate.
final class SubqueryNode: ValueNode {
    private let start: OuterRows
    private let expander: PathExpander
    private let predicate: PredicateNode

    init(_ start: OuterRows, _ expander: PathExpander, _ predicate: PredicateNode) {
        self.start = start
        self.expander = expander
        self.predicate = predicate
        super.init(.int)
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Vector {
        vector.useOwnStorage()
        for row in 0..<batch.count { vector.ownInts[row] = 0 }
        let start = start.batch(for: batch)
        // Shorter paths have few ways to an object, and are faster enumerated.
        guard expander.levels.count > 2 else {
            try expander.forEachBatch(from: start, base: batch, wanted: wanted) {
                expanded throws(ModelError) in
                var rows = try passing(expanded).rows
                while let row = rows.next() { vector.ownInts[Int(expanded.owners[row])] += 1 }
            }
            return vector
        }
        try expander.forEachCounted(from: start, base: batch, wanted: wanted) {
            expanded, ways throws(ModelError) in
            var rows = try passing(expanded).rows
            while let row = rows.next() {
                let owner = Int(expanded.owners[row])
                vector.ownInts[owner] = vector.ownInts[owner].addingClamped(
                    ways[ways.startIndex + row])
            }
        }
        return vector
    }

    private func passing(_ batch: RowBatch) throws(ModelError) -> Selection {
        try predicate.evaluate(batch, wanted: batch.rows) & batch.rows
    }
}
