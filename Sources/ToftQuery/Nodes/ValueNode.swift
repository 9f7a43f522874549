internal import ToftModel
internal import ToftStorage

/// An expression made ready to run: computes a vector for the rows of a batch. One virtual call per
/// batch; loops inside.
class ValueNode {
    /// The vector for the result, unless it is that of another node.
    let vector: Vector

    init(_ layout: ValueLayout) {
        vector = Vector(layout)
    }

    var layout: ValueLayout { vector.layout }

    /// The values of the wanted rows; of other rows the result says nothing. It is good until the
    /// next call.
    func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Vector { vector }

    /// The verdict of a cluster's zone map about a test of this value.
    func verdict(_ test: RowPredicate, _ cluster: ClusterView) -> ZoneVerdict { .unknown }
}

/// One value for every row.
final class ConstantNode: ValueNode {
    init(_ constant: Constant, as type: ValueType) {
        super.init(ValueLayout(type))
        for row in 0..<Selection.capacity { Self.set(vector, row, constant) }
    }

    private static func set(_ vector: Vector, _ row: Int, _ constant: Constant) {
        switch (constant, vector.layout) {
        case (.int(let value), .int): vector.ownInts[row] = value
        case (.link(let object), .int): vector.ownInts[row] = object.key
        case (.bool(let value), .bool): if value { vector.bits.insert(row) }
        case (.date(let value), .date): vector.set(row, .timestamp(value))
        case (.uuid(let value), .fixed), (.objectId(let value), .fixed): vector.set(row, value)
        case (_, .decimal):
            if let decimal = constant.decimal {
                vector.set(row, decimal.stored)
            } else {
                vector.nulls.insert(row)
            }
        case (_, .double):
            if let number = constant.number {
                vector.ownDoubles[row] = number
            } else {
                vector.nulls.insert(row)
            }
        default: vector.nulls.insert(row)
        }
    }
}

/// A constant text, which the node keeps.
final class ConstantTextNode: ValueNode {
    private let bytes: UnsafeMutableRawBufferPointer

    init(_ text: [UInt8]) {
        bytes = .allocate(byteCount: text.count, alignment: 8)
        bytes.copyBytes(from: text)
        super.init(.text)
        for row in 0..<Selection.capacity { vector.ownTexts[row] = UnsafeRawBufferPointer(bytes) }
    }

    deinit { bytes.deallocate() }
}

/// A property of the objects themselves, or the value of one of their dictionaries under a key.
final class PropertyNode: ValueNode {
    private let column: ColumnRead

    init(_ column: ColumnRead) {
        self.column = column
        super.init(column.layout)
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Vector {
        try batch.reader?.read(column, batch, wanted: wanted, into: vector)
        return vector
    }

    override func verdict(_ test: RowPredicate, _ cluster: ClusterView) -> ZoneVerdict {
        cluster.verdict(test, column)
    }
}

/// The objects themselves, as links to them.
final class ObjectNode: ValueNode {
    init() {
        super.init(.int)
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Vector {
        vector.useOwnStorage()
        for row in 0..<batch.count { vector.ownInts[row] = batch.keys[row] }
        vector.nulls = batch.absent
        return vector
    }
}

/// The elements of a collection, in a batch of elements.
final class ElementNode: ValueNode {
    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Vector {
        batch.elements ?? vector
    }
}

/// The length in bytes of a text; null of null.
final class LengthNode: ValueNode {
    private let inner: ValueNode

    init(_ inner: ValueNode) {
        self.inner = inner
        super.init(.int)
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Vector {
        let texts = try inner.evaluate(batch, wanted: wanted)
        vector.useOwnStorage()
        vector.nulls = texts.nulls
        var rows = wanted.subtracting(texts.nulls).rows
        while let row = rows.next() { vector.ownInts[row] = Int64(texts.texts[row].count) }
        return vector
    }
}

/// A value at the other end of one or more to-one links: null if one of them is.
final class LinkedNode: ValueNode {
    private let hops: [Hop]
    private let inner: ValueNode
    /// The batch at the end of the last hop.
    private var last: RowBatch?

    private final class Hop {
        let column: ColumnRead
        let links = Vector(.int)
        let batch: RowBatch

        init(_ step: PathStep, _ source: DataSource) throws(ModelError) {
            column = ColumnRead(step)
            batch = RowBatch(try source.reader(step.target))
        }
    }

    init(_ steps: [PathStep], _ inner: ValueNode, _ source: DataSource) throws(ModelError) {
        var hops: [Hop] = []
        for step in steps { hops.append(try Hop(step, source)) }
        self.hops = hops
        self.inner = inner
        super.init(inner.layout)
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Vector {
        var current = batch
        for hop in hops {
            try current.reader?.read(hop.column, current, wanted: wanted, into: hop.links)
            hop.batch.fill(links: hop.links, of: current, wanted: wanted)
            current = hop.batch
        }
        return try inner.evaluate(current, wanted: wanted)
    }
}

/// A computation with two values, row by row.
final class ArithmeticNode: ValueNode {
    private let operation: ArithmeticOperator
    private let left: ValueNode
    private let right: ValueNode

    init(_ operation: ArithmeticOperator, _ left: ValueNode, _ right: ValueNode) {
        self.operation = operation
        self.left = left
        self.right = right
        let isDecimal = left.layout == .decimal || right.layout == .decimal
        super.init(
            isDecimal ? .decimal : left.layout == .int && right.layout == .int ? .int : .double)
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Vector {
        let first = try left.evaluate(batch, wanted: wanted)
        let second = try right.evaluate(batch, wanted: wanted)
        vector.useOwnStorage()
        vector.nulls = first.nulls | second.nulls
        let open = wanted.subtracting(vector.nulls)
        switch layout {
        case .int: computeInts(first, second, open)
        case .decimal: computeDecimals(first, second, open)
        default: computeDoubles(first, second, open)
        }
        return vector
    }

    private func computeInts(_ first: Vector, _ second: Vector, _ open: Selection) {
        var rows = open.rows
        while let row = rows.next() {
            if let result = Arithmetic.compute(operation, first.ints[row], second.ints[row]) {
                vector.ownInts[row] = result
            } else {
                vector.nulls.insert(row)
            }
        }
    }

    private func computeDecimals(_ first: Vector, _ second: Vector, _ open: Selection) {
        var rows = open.rows
        while let row = rows.next() {
            let (one, other) = (first.decimalNumber(row), second.decimalNumber(row))
            if let result = Arithmetic.compute(operation, one, other) {
                vector.set(row, result.stored)
            } else {
                vector.nulls.insert(row)
            }
        }
    }

    private func computeDoubles(_ first: Vector, _ second: Vector, _ open: Selection) {
        var rows = open.rows
        while let row = rows.next() {
            if let result = Arithmetic.compute(operation, first.number(row), second.number(row)) {
                vector.ownDoubles[row] = result
            } else {
                vector.nulls.insert(row)
            }
        }
    }
}

extension Vector {
    /// A row of a numeric vector as a double.
    @inline(__always)
    func number(_ row: Int) -> Double {
        layout == .int ? Double(ints[row]) : doubles[row]
    }

    /// A row of a numeric vector as a decimal.
    func decimalNumber(_ row: Int) -> Decimal128 {
        switch layout {
        case .int: Decimal128(ints[row])
        case .decimal: decimal(row)
        default: Decimal128(doubles[row])
        }
    }
}

/// A value of the base's rows, for the rows that belong to them.
final class BroadcastNode: ValueNode {
    private let inner: ValueNode
    /// The values for the base's rows, kept while the base stays the same.
    private var known: (batch: ObjectIdentifier, generation: Int, vector: Vector)?

    init(_ inner: ValueNode) {
        self.inner = inner
        super.init(inner.layout)
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Vector {
        guard let base = batch.base else { return try inner.evaluate(batch, wanted: wanted) }
        vector.gather(try values(of: base), batch.owners, count: batch.count)
        return vector
    }

    private func values(of base: RowBatch) throws(ModelError) -> Vector {
        if let known, known.batch == ObjectIdentifier(base), known.generation == base.generation {
            return known.vector
        }
        let values = try inner.evaluate(base, wanted: base.rows)
        known = (ObjectIdentifier(base), base.generation, values)
        return values
    }
}

/// A value of an object further out, seen from within a subquery: for each row the object of the
/// enclosing row.
final class OuterNode: ValueNode {
    private let start: OuterRows
    private let inner: ValueNode

    init(_ depth: Int, _ inner: ValueNode, _ reader: ClassReader) {
        start = OuterRows(depth, reader)
        self.inner = inner
        super.init(inner.layout)
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Vector {
        try inner.evaluate(start.batch(for: batch), wanted: wanted)
    }
}

/// The start of a path: the objects of the batch, or those some subqueries further out.
final class OuterRows {
    private let depth: Int
    private let outer: RowBatch

    init(_ depth: Int, _ reader: ClassReader) {
        self.depth = depth
        outer = RowBatch(reader)
    }

    /// The batch whose rows begin the path, one for each row of `batch`.
    func batch(for batch: RowBatch) -> RowBatch {
        guard depth > 0 else { return batch }
        var ancestor = batch
        for _ in 0..<depth { ancestor = ancestor.base ?? ancestor }
        outer.fill(ancestor, count: batch.count) { row in
            var owner = row
            var current = batch
            for _ in 0..<depth {
                guard let base = current.base else { break }
                owner = Int(current.owners[owner])
                current = base
            }
            return owner
        }
        return outer
    }
}

extension ClusterView {
    /// The verdict of the zone map of `column` about a test of it.
    func verdict(_ test: RowPredicate, _ column: ColumnRead) -> ZoneVerdict { .unknown }
}
