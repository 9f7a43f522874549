internal import ToftModel
internal import ToftStorage

/// The values of one sort key, extracted once for all objects, as numbers that sort and compare as
/// the values do.
final class SortColumn {
    private let node: ValueNode
    private let layout: ValueLayout
    private let isAscending: Bool
    private var capacity = 0
    private(set) var count = 0
    private var hasNulls = false
    private var nulls: UnsafeMutablePointer<Bool>
    /// The value, or its first part.
    private var heads: UnsafeMutablePointer<UInt64>
    /// The second part, of all that does not fit into one.
    private var tails: UnsafeMutablePointer<UInt64>
    /// Texts and mixed values, as borrowed bytes of the file.
    private var texts: UnsafeMutablePointer<UnsafeRawBufferPointer>
    /// The column of the objects themselves that has the values; nil for other values.
    private let direct: UInt32?
    /// For each code of a cluster 1 if its text is not behind, otherwise 0.
    private let verdicts: UnsafeMutablePointer<UInt8>

    /// - Parameter direct: the column of the objects themselves that `node` reads, if it does no
    ///   more.
    init(_ node: ValueNode, isAscending: Bool, direct: UInt32? = nil) {
        self.node = node
        self.isAscending = isAscending
        self.direct = direct
        layout = node.layout
        nulls = .allocate(capacity: 0)
        heads = .allocate(capacity: 0)
        tails = .allocate(capacity: 0)
        texts = .allocate(capacity: 0)
        verdicts = .allocate(capacity: 256)
    }

    deinit {
        nulls.deallocate()
        heads.deallocate()
        tails.deallocate()
        texts.deallocate()
        verdicts.deallocate()
    }

    func evaluate(_ batch: RowBatch, _ wanted: Selection) throws(ModelError) -> Vector {
        try node.evaluate(batch, wanted: wanted)
    }

    private var hasTexts: Bool { layout == .text || layout == .mixed }

    private var hasTails: Bool {
        switch layout {
        case .bool, .int, .double, .mixed: false
        case .date, .fixed, .decimal, .text: true
        }
    }

    // MARK: Filling

    /// Adds the selected rows of a vector that this column computed.
    func append(_ vector: Vector, _ selection: Selection) {
        reserve(count + selection.count)
        var rows = selection.rows
        while let row = rows.next() { put(vector, row) }
    }

    /// Adds one row.
    func append(_ vector: Vector, row: Int) {
        reserve(count + 1)
        put(vector, row)
    }

    /// Adds a row for which there is room.
    @inline(__always)
    private func put(_ vector: Vector, _ row: Int) {
        let isNull = vector.nulls[row]
        if isNull { hasNulls = true }
        nulls[count] = isNull
        // The vector's bits for a null row are no value.
        heads[count] = isNull ? 0 : Self.head(vector, row)
        if hasTails { tails[count] = isNull ? 0 : Self.tail(vector, row) }
        if hasTexts {
            texts[count] = isNull ? UnsafeRawBufferPointer(start: nil, count: 0) : vector.texts[row]
        }
        count &+= 1
    }

    /// Takes the last row away again.
    func removeLast() { count -= 1 }

    /// Leaves these rows, in this order.
    func keep(_ rows: ArraySlice<UInt32>) {
        nulls = Self.taken(nulls, rows)
        heads = Self.taken(heads, rows)
        if hasTails { tails = Self.taken(tails, rows) }
        if hasTexts { texts = Self.taken(texts, rows) }
        capacity = rows.count
        count = rows.count
    }

    private static func taken<Element>(
        _ values: UnsafeMutablePointer<Element>, _ rows: ArraySlice<UInt32>
    ) -> UnsafeMutablePointer<Element> {
        defer { values.deallocate() }
        let kept = UnsafeMutablePointer<Element>.allocate(capacity: rows.count)
        for (index, row) in rows.enumerated() { kept[index] = values[Int(row)] }
        return kept
    }

    private func reserve(_ needed: Int) {
        guard needed > capacity else { return }
        capacity = max(needed, capacity * 2, Selection.capacity)
        nulls = Self.grown(nulls, count, capacity)
        heads = Self.grown(heads, count, capacity)
        if hasTails { tails = Self.grown(tails, count, capacity) }
        if hasTexts { texts = Self.grown(texts, count, capacity) }
    }

    private static func grown<Element>(
        _ values: UnsafeMutablePointer<Element>, _ count: Int, _ capacity: Int
    ) -> UnsafeMutablePointer<Element> {
        let grown = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        grown.moveInitialize(from: values, count: count)
        values.deallocate()
        return grown
    }

    // MARK: Numbers that sort as values do

    /// The first part of a value.
    @inline(__always)
    private static func head(_ vector: Vector, _ row: Int) -> UInt64 {
        switch vector.layout {
        case .bool: vector.bits[row] ? 1 : 0
        case .int, .date, .fixed: RadixSort.head(vector.ints[row])
        case .double: head(vector.doubles[row])
        case .decimal: RadixSort.head(vector.decimal(row).orderKey.leading)
        case .text: part(0, of: vector.texts[row])
        case .mixed: MixedRow(vector.texts[row]).rank
        }
    }

    @inline(__always)
    private static func tail(_ vector: Vector, _ row: Int) -> UInt64 {
        switch vector.layout {
        case .date: RadixSort.head(Int64(vector.nanoseconds[row]))
        case .fixed: vector.fixed(row).low
        case .decimal: vector.decimal(row).orderKey.low
        case .text: part(1, of: vector.texts[row])
        case .bool, .int, .double, .mixed: 0
        }
    }

    /// NaN before all numbers; both zeros are one.
    private static func head(_ value: Double) -> UInt64 {
        if value.isNaN { return 0 }
        let bits = (value == 0 ? 0 : value).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }

    /// The number that has this head.
    private static func double(_ head: UInt64) -> Double {
        if head == 0 { return .nan }
        return Double(bitPattern: head >> 63 == 1 ? head ^ 1 << 63 : ~head)
    }

    /// Seven bytes of a text, and the number of its bytes from there on, 8 for more than seven: the
    /// texts "a" and "a\0" differ in that.
    @inline(__always)
    private static func part(_ part: Int, of text: UnsafeRawBufferPointer) -> UInt64 {
        let offset = part &* 7
        let rest = text.count &- offset
        guard let base = text.baseAddress, rest > 0 else { return 0 }
        if rest >= 8 {
            let word = base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            return UInt64(bigEndian: word) & ~0xFF | 8
        }
        if text.count >= 8 {
            // The last eight bytes, without those before the part.
            let word = base.loadUnaligned(fromByteOffset: text.count &- 8, as: UInt64.self)
            return UInt64(bigEndian: word) &<< UInt64(truncatingIfNeeded: 64 &- rest &* 8)
                | UInt64(truncatingIfNeeded: rest)
        }
        var head = UInt64(rest)
        for index in 0..<rest { head |= UInt64(text[offset &+ index]) << UInt64(56 - index * 8) }
        return head
    }

    /// Whether a part of a text is its last.
    @inline(__always)
    private static func isLast(_ part: UInt64) -> Bool { part & 0xFF < 8 }

    /// The first sort key of a row of a vector: rows that sort before another have a smaller or an
    /// equal one. Nulls first or last.
    @inline(__always)
    private func leading(_ vector: Vector, _ row: Int) -> Leading {
        if vector.nulls[row] { return Leading(rank: isAscending ? 0 : 2, head: 0) }
        let head = Self.head(vector, row)
        return Leading(rank: 1, head: isAscending ? head : ~head)
    }

    struct Leading {
        var rank: UInt8
        var head: UInt64
    }

    /// The selected rows that can sort before or with a row that begins like `last`, judged by the
    /// bounds of a cluster if it has some, and by a text's first bytes in place.
    func notBehind(_ last: Leading, _ batch: RowBatch, _ selection: Selection) throws(ModelError)
        -> Selection
    {
        if let direct, let cluster = batch.cluster?.pointee, last.rank == 1 {
            do throws(StorageError) {
                if layout == .text {
                    let (nulls, values) = try cluster.nullableBytes(direct)
                    let texts = try textsNotBehind(last.head, values, selection, cluster.count)
                    guard let nulls else { return texts }
                    let empty = Selection(bitmap: nulls, count: cluster.count)
                    return isAscending ? texts | empty & selection : texts.subtracting(empty)
                }
                if try isBehind(last.head, cluster, direct) { return .empty }
            } catch { throw .storage(error) }
        }
        let vector = try evaluate(batch, selection)
        return selection.filter {
            let leading = leading(vector, $0)
            return leading.rank < last.rank
                || leading.rank == last.rank && leading.head <= last.head
        }
    }

    /// Whether the bounds of a column show that all rows of a cluster sort behind a value with this
    /// head, in the given order.
    private func isBehind(_ last: UInt64, _ cluster: ClusterView, _ column: UInt32)
        throws(StorageError) -> Bool
    {
        let first: UInt64
        switch try cluster.zone(column) {
        case nil: return false
        case .integers(let low, let high):
            first = isAscending ? RadixSort.head(low) : ~RadixSort.head(high)
        case .numbers(let low, let high): first = isAscending ? Self.head(low) : ~Self.head(high)
        }
        // Nulls are first, or last.
        guard first > last else { return false }
        if isAscending, try cluster.nulls(column) != nil { return false }
        return true
    }

    /// The selected rows of a column of texts whose first part, in the given order, is not greater
    /// than `last`. In a coded column each text is tested once.
    private func textsNotBehind(
        _ last: UInt64, _ texts: BytesColumn, _ selection: Selection, _ count: Int
    ) throws(StorageError) -> Selection {
        let flip: UInt64 = isAscending ? 0 : .max
        guard let coding = texts.coding else {
            return try selection.filter { row throws(StorageError) in
                try Self.head(texts, row) ^ flip <= last
            }
        }
        var isAny: UInt8 = 0
        for code in 0..<coding.count {
            verdicts[code] = try Self.head(texts, code) ^ flip <= last ? 1 : 0
            isAny |= verdicts[code]
        }
        if isAny == 0 { return .empty }
        return selection & IntLoops.verdicts(coding.codes, count: count, verdicts, coding.count)
    }

    /// The first part of the text of a row, or of a code.
    @inline(__always)
    private static func head(_ texts: BytesColumn, _ index: Int) throws(StorageError) -> UInt64 {
        guard let text = texts.near(index) else {
            return part(0, of: texts.coding == nil ? try texts[index] : try texts.text(index))
        }
        return part(0, of: text)
    }

    /// The leading part of a row of this column.
    func leading(_ row: Int) -> Leading {
        if nulls[row] { return Leading(rank: isAscending ? 0 : 2, head: 0) }
        return Leading(rank: 1, head: isAscending ? heads[row] : ~heads[row])
    }

    // MARK: Sorting

    /// Parts of a text that are sorted one by one; rows that are still equal then are compared.
    private static let mostTextParts = 8

    /// Number of parts of the values.
    var partCount: Int {
        switch layout {
        case .bool, .int, .double, .mixed: 1
        case .date, .fixed, .decimal: 2
        case .text: Self.mostTextParts
        }
    }

    @inline(__always)
    private func part(_ part: Int, of row: Int) -> UInt64 {
        switch part {
        case 0: heads[row]
        case 1: tails[row]
        default: Self.part(part, of: texts[row])
        }
    }

    /// Sorts rows without nulls by one part; those with the same stay as they are.
    func radixSort(_ rows: UnsafeMutableBufferPointer<UInt32>, by part: Int) -> RadixSort {
        let flip: UInt64 = isAscending ? 0 : .max
        var sort = RadixSort(count: rows.count) { index in
            RadixSort.Item(head: self.part(part, of: Int(rows[index])) ^ flip, index: rows[index])
        }
        sort.sort()
        return sort
    }

    /// Whether rows whose part is this one have the same value, if they had the same parts before.
    func isLast(_ part: Int, _ head: UInt64) -> Bool {
        switch layout {
        case .text: Self.isLast(isAscending ? head : ~head)
        case .mixed: false
        case .bool, .int, .double, .date, .fixed, .decimal: part + 1 == partCount
        }
    }

    /// Moves the nulls to one end, all else unchanged. Returns the rows that are null and the
    /// others.
    func partition(_ rows: UnsafeMutableBufferPointer<UInt32>) -> (
        nulls: UnsafeMutableBufferPointer<UInt32>, values: UnsafeMutableBufferPointer<UInt32>
    ) {
        let none = UnsafeMutableBufferPointer(rebasing: rows[..<0])
        guard hasNulls else { return (none, rows) }
        let empty = rows.filter { nulls[Int($0)] }
        let full = rows.filter { !nulls[Int($0)] }
        let split = isAscending ? empty.count : full.count
        _ = rows.update(fromContentsOf: isAscending ? empty + full : full + empty)
        let front = UnsafeMutableBufferPointer(rebasing: rows[..<split])
        let back = UnsafeMutableBufferPointer(rebasing: rows[split...])
        return isAscending ? (front, back) : (back, front)
    }

    /// Less than, equal to or greater than 0 as `left` comes before, with or after `right`.
    func order(_ left: Int, _ right: Int) -> Int {
        let order =
            if nulls[left] || nulls[right] {
                nulls[left] == nulls[right] ? 0 : nulls[left] ? -1 : 1
            } else if heads[left] != heads[right] {
                heads[left] < heads[right] ? -1 : 1
            } else if hasTails, tails[left] != tails[right] {
                tails[left] < tails[right] ? -1 : 1
            } else {
                orderOfRest(left, right)
            }
        return isAscending ? order : -order
    }

    /// The order of values whose first two parts are the same.
    private func orderOfRest(_ left: Int, _ right: Int) -> Int {
        switch layout {
        case .text: Self.isLast(tails[left]) ? 0 : ByteSearch.order(texts[left], texts[right])
        case .mixed: MixedRow(texts[left]).order(MixedRow(texts[right]))
        case .bool, .int, .double, .date, .fixed, .decimal: 0
        }
    }

    /// The value of a row, whose type the column does not know.
    func value(_ row: Int, _ type: ValueType) -> Value {
        if nulls[row] { return .null }
        let int = Int64(bitPattern: heads[row] ^ (1 << 63))
        switch layout {
        case .bool: return .bool(heads[row] != 0)
        case .int:
            if case .link(let classID) = type {
                return .link(ObjectRef(classID: classID, key: int))
            }
            return .int(int)
        case .double:
            let double = Self.double(heads[row])
            return type == .float ? .float(Float(double)) : .double(double)
        case .date:
            let nanoseconds = Int64(bitPattern: tails[row] ^ (1 << 63))
            return .date(
                Timestamp(seconds: int, nanoseconds: Int32(truncatingIfNeeded: nanoseconds)))
        case .fixed:
            let bytes = FixedBytes(leading: int, low: tails[row])
            return type == .uuid ? .uuid(bytes) : .objectId(bytes)
        case .decimal:
            return .decimal(Decimal128(orderKey: FixedBytes(leading: int, low: tails[row])))
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
        case .bool, .int, .double: hasher.combine(heads[row])
        case .date, .fixed, .decimal:
            hasher.combine(heads[row])
            hasher.combine(tails[row])
        case .text: hasher.combine(bytes: texts[row])
        case .mixed: MixedRow(texts[row]).hash(into: &hasher)
        }
    }
}

/// Objects with the values of their sort or DISTINCT keys.
///
/// Sorts column by column, and within one part by part of eight bytes: each value is visited once
/// for each part, and rows that differ early are never compared.
final class SortTable {
    private let columns: [SortColumn]
    /// Number of sorted objects that are wanted.
    private let limit: Int
    private(set) var keys: [Int64] = []
    /// The leading part of the last of the wanted rows that have been found so far.
    private var last: SortColumn.Leading?
    /// For DISTINCT: the rows with a hash.
    private var rowsByHash: [Int: [Int]] = [:]

    init(_ columns: [SortColumn], limit: Int = .max) {
        self.columns = columns
        self.limit = limit
    }

    /// Adds the objects of the rows of `passing`, except those too far back to be wanted.
    func append(_ batch: RowBatch, _ passing: Selection) throws(ModelError) {
        var passing = passing
        if let last, let first = columns.first {
            passing = try first.notBehind(last, batch, passing)
        }
        if passing.isEmpty { return }
        for column in columns { column.append(try column.evaluate(batch, passing), passing) }
        var rows = passing.rows
        while let row = rows.next() { keys.append(batch.keys[row]) }
        if keys.count / 4 >= max(limit, 128) { prune() }
    }

    /// Leaves no more rows than are wanted.
    private func prune() {
        let rows = sortedRows()[..<limit]
        keys = rows.map { keys[Int($0)] }
        for column in columns { column.keep(rows) }
        last = limit > 0 ? columns.first?.leading(limit - 1) : nil
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
            for (column, vector) in zip(columns, vectors) { column.append(vector, row: row) }
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

    /// The values of an object.
    func values(_ row: Int, _ types: [ValueType]) -> [Value] {
        zip(columns, types).map { $0.value(row, $1) }
    }

    private func isSame(_ left: Int, _ right: Int) -> Bool {
        columns.allSatisfy { $0.order(left, right) == 0 }
    }

    /// The first keys in sorted order, no more than the limit; equal ones stay in theirs.
    func sortedKeys() -> [Int64] { sortedRows().prefix(limit).map { keys[Int($0)] } }

    /// The rows in sorted order.
    func sortedRows() -> [UInt32] {
        var rows = (0..<keys.count).map { UInt32($0) }
        rows.withUnsafeMutableBufferPointer { sort($0, by: 0, part: 0) }
        return rows
    }

    /// So few rows are compared, not sorted by numbers.
    private static let fewRows = 4

    /// Sorts ascending rows that are equal in the columns before `column` and in its parts before
    /// `part`; equal ones stay ascending.
    private func sort(_ rows: UnsafeMutableBufferPointer<UInt32>, by column: Int, part: Int) {
        guard rows.count > 1, column < columns.count else { return }
        guard rows.count > Self.fewRows, part < columns[column].partCount else {
            var rows = rows
            return rows.sort { isBefore(Int($0), Int($1), from: column) }
        }
        guard part > 0 else {
            let (nulls, values) = columns[column].partition(rows)
            sort(nulls, by: column + 1, part: 0)
            return sortByPart(values, column, part)
        }
        sortByPart(rows, column, part)
    }

    private func sortByPart(
        _ rows: UnsafeMutableBufferPointer<UInt32>, _ column: Int, _ part: Int
    ) {
        let sorted = columns[column].radixSort(rows, by: part)
        var start = 0
        while start < rows.count {
            let head = sorted.items[start].head
            var end = start
            while end < rows.count, sorted.items[end].head == head {
                rows[end] = sorted.items[end].index
                end &+= 1
            }
            if end - start > 1 {
                let isLast = columns[column].isLast(part, head)
                sort(
                    UnsafeMutableBufferPointer(rebasing: rows[start..<end]),
                    by: isLast ? column + 1 : column, part: isLast ? 0 : part + 1)
            }
            start = end
        }
    }

    private func isBefore(_ left: Int, _ right: Int, from first: Int) -> Bool {
        for index in first..<columns.count {
            let order = columns[index].order(left, right)
            if order != 0 { return order < 0 }
        }
        return left < right
    }
}
