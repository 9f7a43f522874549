internal import ToftModel
internal import ToftStorage

/// The values of one sort key, taken out once for all objects.
final class SortColumn {
    private let node: ValueNode
    let layout: Vector.Layout
    private(set) var nulls: [Bool] = []
    private(set) var ints: [Int64] = []
    private(set) var doubles: [Double] = []
    private(set) var nanoseconds: [Int32] = []
    private(set) var lows: [UInt64] = []
    private(set) var texts: [UnsafeRawBufferPointer] = []

    init(_ node: ValueNode) {
        self.node = node
        layout = node.layout
    }

    func evaluate(_ batch: RowBatch, _ wanted: Selection) throws(ModelError) -> Vector {
        try node.evaluate(batch, wanted: wanted)
    }

    /// Adds a row of a vector that this column computed.
    func append(_ vector: Vector, _ row: Int) {
        let isNull = vector.nulls[row]
        nulls.append(isNull)
        switch layout {
        case .bool: ints.append(!isNull && vector.bits[row] ? 1 : 0)
        case .int: ints.append(isNull ? 0 : vector.ints[row])
        case .double: doubles.append(isNull ? 0 : vector.doubles[row])
        case .date:
            ints.append(isNull ? 0 : vector.ints[row])
            nanoseconds.append(isNull ? 0 : vector.nanoseconds[row])
        case .fixed:
            ints.append(isNull ? 0 : vector.ints[row])
            lows.append(isNull ? 0 : vector.fixed(row).low)
        case .decimal:
            let key = isNull ? .zero : vector.decimal(row).orderKey
            ints.append(key.leading)
            lows.append(key.low)
        case .text, .mixed:
            texts.append(isNull ? UnsafeRawBufferPointer(start: nil, count: 0) : vector.texts[row])
        }
    }

    /// Takes the last row away again.
    func removeLast() {
        nulls.removeLast()
        switch layout {
        case .bool, .int: ints.removeLast()
        case .double: doubles.removeLast()
        case .date:
            ints.removeLast()
            nanoseconds.removeLast()
        case .fixed, .decimal:
            ints.removeLast()
            lows.removeLast()
        case .text, .mixed: texts.removeLast()
        }
    }

    /// A number that orders rows as their values do, except that different values may have the
    /// same.
    func prefix(_ row: Int) -> UInt64 {
        switch layout {
        case .bool, .int, .date, .fixed, .decimal: UInt64(bitPattern: ints[row]) ^ (1 << 63)
        case .double: Self.prefix(doubles[row])
        case .text: Self.prefix(texts[row])
        case .mixed: MixedRow(texts[row]).rank
        }
    }

    /// Whether rows with the same prefix have the same value.
    var isPrefixExact: Bool {
        switch layout {
        case .bool, .int, .double: true
        case .date, .fixed, .decimal, .text, .mixed: false
        }
    }

    /// NaN before all numbers; both zeros are one.
    private static func prefix(_ value: Double) -> UInt64 {
        if value.isNaN { return 0 }
        let bits = (value == 0 ? 0 : value).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }

    private static func prefix(_ text: UnsafeRawBufferPointer) -> UInt64 {
        guard let base = text.baseAddress else { return 0 }
        if text.count >= 8 { return UInt64(bigEndian: base.loadUnaligned(as: UInt64.self)) }
        var prefix: UInt64 = 0
        for index in 0..<text.count { prefix |= UInt64(text[index]) << UInt64(56 - index * 8) }
        return prefix
    }

    /// Less than, equal to or greater than 0 as the value of `left` sorts before, with or after
    /// that of `right`; null first.
    func order(_ left: Int, _ right: Int) -> Int {
        if nulls[left] || nulls[right] {
            return nulls[left] == nulls[right] ? 0 : nulls[left] ? -1 : 1
        }
        let leftPrefix = prefix(left)
        let rightPrefix = prefix(right)
        if leftPrefix != rightPrefix { return leftPrefix < rightPrefix ? -1 : 1 }
        switch layout {
        case .bool, .int, .double: return 0
        case .date: return Int(nanoseconds[left]) - Int(nanoseconds[right])
        case .fixed, .decimal:
            return lows[left] < lows[right] ? -1 : lows[left] == lows[right] ? 0 : 1
        case .text: return ByteSearch.order(texts[left], texts[right])
        case .mixed: return MixedRow(texts[left]).order(MixedRow(texts[right]))
        }
    }

    /// The value of a row, whose type the column does not know.
    func value(_ row: Int, _ type: ValueType) -> Value {
        if nulls[row] { return .null }
        switch layout {
        case .bool: return .bool(ints[row] != 0)
        case .int:
            if case .link(let classID) = type {
                return .link(ObjectRef(classID: classID, key: ints[row]))
            }
            return .int(ints[row])
        case .double: return type == .float ? .float(Float(doubles[row])) : .double(doubles[row])
        case .date:
            return .date(Timestamp(seconds: ints[row], nanoseconds: nanoseconds[row]))
        case .fixed:
            let bytes = FixedBytes(leading: ints[row], low: lows[row])
            return type == .uuid ? .uuid(bytes) : .objectId(bytes)
        case .decimal:
            return .decimal(
                Decimal128(orderKey: FixedBytes(leading: ints[row], low: lows[row])))
        case .text:
            return type == .data
                ? .data(Array(texts[row])) : .string(String(decoding: texts[row], as: UTF8.self))
        case .mixed: return MixedRow(texts[row]).owned
        }
    }

    /// A number that equal values share.
    func hash(_ row: Int, into hasher: inout Hasher) {
        hasher.combine(nulls[row])
        if nulls[row] { return }
        switch layout {
        case .bool, .int, .double: hasher.combine(prefix(row))
        case .date:
            hasher.combine(ints[row])
            hasher.combine(nanoseconds[row])
        case .fixed, .decimal:
            hasher.combine(ints[row])
            hasher.combine(lows[row])
        case .text: hasher.combine(bytes: texts[row])
        case .mixed: MixedRow(texts[row]).hash(into: &hasher)
        }
    }
}

/// Objects with the values that they are sorted or told apart by.
final class SortTable {
    private let columns: [SortColumn]
    private let isAscending: [Bool]
    private(set) var keys: [Int64] = []
    /// For DISTINCT: the rows with a hash.
    private var rowsByHash: [Int: [Int]] = [:]

    init(_ columns: [SortColumn], isAscending: [Bool]) {
        self.columns = columns
        self.isAscending = isAscending
    }

    /// Adds the objects of the rows of `passing`.
    func append(_ batch: RowBatch, _ passing: Selection) throws(ModelError) {
        for column in columns {
            let vector = try column.evaluate(batch, passing)
            var rows = passing.rows
            while let row = rows.next() { column.append(vector, row) }
        }
        var rows = passing.rows
        while let row = rows.next() { keys.append(batch.keys[row]) }
    }

    /// Adds those objects whose values no object has had before. Calls `body` with each row and the
    /// index of the object with its values.
    func appendDistinct(
        _ batch: RowBatch, _ passing: Selection, _ body: (Int, Int) -> Void = { _, _ in }
    ) throws(ModelError) {
        var vectors: [Vector] = []
        for column in columns { vectors.append(try column.evaluate(batch, passing)) }
        var rows = passing.rows
        while let row = rows.next() {
            for (column, vector) in zip(columns, vectors) { column.append(vector, row) }
            var hasher = Hasher()
            for column in columns { column.hash(keys.count, into: &hasher) }
            let hash = hasher.finalize()
            if let known = rowsByHash[hash]?.first(where: { isSame($0, keys.count) }) {
                for column in columns { column.removeLast() }
                body(row, known)
            } else {
                body(row, keys.count)
                rowsByHash[hash, default: []].append(keys.count)
                keys.append(batch.keys[row])
            }
        }
    }

    /// The indices of the objects, sorted by their values, ascending.
    func sortedRows() -> [Int] {
        keys.indices.sorted { left, right in
            for column in columns {
                let order = column.order(left, right)
                if order != 0 { return order < 0 }
            }
            return left < right
        }
    }

    /// The values of an object.
    func values(_ row: Int, _ types: [ValueType]) -> [Value] {
        zip(columns, types).map { $0.value(row, $1) }
    }

    private func isSame(_ left: Int, _ right: Int) -> Bool {
        columns.allSatisfy { $0.order(left, right) == 0 }
    }

    /// A row as the sort moves it: most comparisons need no more than the first value's prefix.
    private struct Record {
        var prefix: UInt64
        /// 0 sorts before 1: null is apart from all values.
        var rank: UInt32
        var row: UInt32
    }

    /// The first keys in sorted order; equal ones stay in theirs.
    func sortedKeys(limit: Int) -> [Int64] {
        guard let first = columns.first else {
            return limit < keys.count ? Array(keys[..<limit]) : keys
        }
        let flip: UInt64 = isAscending[0] ? 0 : .max
        var records = (0..<keys.count).map { row in
            let isNull = first.nulls[row]
            return Record(
                prefix: isNull ? 0 : first.prefix(row) ^ flip,
                rank: isNull == isAscending[0] ? 0 : 1, row: UInt32(row))
        }
        if limit < records.count / 4 { records = least(limit, of: records) }
        records.sort { isBefore($0, $1) }
        return records.prefix(limit).map { keys[Int($0.row)] }
    }

    /// The `count` records that come first, in no order: a heap with the last of them on top.
    private func least(_ count: Int, of records: [Record]) -> [Record] {
        guard count > 0 else { return [] }
        var heap: [Record] = []
        heap.reserveCapacity(count)
        for record in records {
            if heap.count < count {
                heap.append(record)
                siftUp(&heap)
            } else if isBefore(record, heap[0]) {
                heap[0] = record
                siftDown(&heap)
            }
        }
        return heap
    }

    private func siftUp(_ heap: inout [Record]) {
        var child = heap.count - 1
        while child > 0, isBefore(heap[(child - 1) / 2], heap[child]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private func siftDown(_ heap: inout [Record]) {
        var parent = 0
        while true {
            var child = parent * 2 + 1
            guard child < heap.count else { return }
            if child + 1 < heap.count, isBefore(heap[child], heap[child + 1]) { child += 1 }
            guard isBefore(heap[parent], heap[child]) else { return }
            heap.swapAt(parent, child)
            parent = child
        }
    }

    @inline(__always)
    private func isBefore(_ left: Record, _ right: Record) -> Bool {
        if left.rank != right.rank { return left.rank < right.rank }
        if left.prefix != right.prefix { return left.prefix < right.prefix }
        return isBefore(Int(left.row), Int(right.row))
    }

    /// Decides between rows whose first values have the same prefix.
    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        for (index, column) in columns.enumerated() where index > 0 || !column.isPrefixExact {
            let order = column.order(left, right)
            if order != 0 { return (order < 0) == isAscending[index] }
        }
        return left < right
    }
}
