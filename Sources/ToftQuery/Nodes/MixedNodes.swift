internal import ToftModel
internal import ToftStorage

/// One mixed value, borrowed; an unreadable one is null.
struct MixedRow {
    let value: MixedValue

    @inline(never)
    init(_ bytes: UnsafeRawBufferPointer) {
        value = (try? MixedValue(.bytes(bytes))) ?? .scalar(.null)
    }

    /// The value, unless it is a list or a dictionary.
    var scalar: BorrowedValue? { if case .scalar(let value) = value { value } else { nil } }

    var isNaN: Bool { scalar?.isNaN == true }

    /// The value as a number; nil if it is not one.
    var number: Decimal128? { scalar?.decimal }

    var owned: Value { (try? value.owned()) ?? .null }

    /// The rank of the value's kind.
    var rank: UInt64 { UInt64(scalar?.mixedRank ?? 9) }

    @inline(never)
    func order(_ other: MixedRow) -> Int { value.order(other.value) }

    /// The bytes of a string or of data, and whether it is a string.
    var text: (bytes: UnsafeRawBufferPointer, isString: Bool)? { scalar?.text }

    /// A number that equal values share.
    func hash(into hasher: inout Hasher) {
        hasher.combine(rank)
        hasher.combine(owned.numberAsDecimal)
    }

    /// Number of its bytes or elements.
    var size: Int? {
        if case .collection(let collection) = value { return collection.count }
        return text?.bytes.count
    }
}

/// Mixed values of a set.
final class MixedSetTest: RowPredicate {
    private let values: MixedSet
    private let objects: Set<ObjectRef>
    private let isNullOneOfThem: Bool
    private let strings: TextLookUp
    private let data: TextLookUp

    /// `objects` are those that the set names by primary key.
    init(_ values: MixedSet, _ objects: Set<ObjectRef>, passesNull: Bool) {
        self.values = values
        self.objects = objects
        isNullOneOfThem = passesNull
        strings = TextLookUp(values.strings)
        data = TextLookUp(values.data)
    }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        let passing = wanted.subtracting(vector.nulls).filter {
            contains(MixedRow(vector.texts[$0]))
        }
        return passesNull ? passing | vector.nulls : passing
    }

    private func contains(_ row: MixedRow) -> Bool {
        guard let value = row.scalar else { return false }
        switch value {
        case .string(let text): return strings.finds(text)
        case .data(let bytes): return data.finds(bytes)
        case .link(let object):
            return values.contains(value) || !objects.isEmpty && objects.contains(object)
        default: return values.contains(value)
        }
    }

    override var passesNull: Bool { isNullOneOfThem }
}

/// Mixed values that a comparison with a constant accepts.
final class MixedRowTest: RowPredicate {
    private let test: MixedTest
    private let constant: BorrowedValue
    private let decimal: BorrowedValue
    private let lender = ValueLender()
    private let matcher: TextMatcher?

    /// `key` is that of the object that the constant names; nil if it does not exist.
    init(_ test: MixedTest, _ key: Int64?) {
        self.test = test
        var value = test.value
        if test.link != nil {
            value = key.map { .link(ObjectRef(classID: test.linkClass, key: $0)) } ?? .null
        }
        constant = lender.lend(value)
        decimal = test.decimal.map { .decimal($0) } ?? constant
        matcher = test.text.map { TextMatcher($0) }
    }

    override func evaluate(_ vector: Vector, count: Int, wanted: Selection) -> Selection {
        var passing = Selection.empty
        var rows = wanted.subtracting(vector.nulls).rows
        while let row = rows.next() {
            if passes(MixedRow(vector.texts[row])) { passing.insert(row) }
        }
        return passesNull ? passing | vector.nulls : passing
    }

    override var passesNull: Bool {
        if constant.isNull {
            return [.equal, .in, .lessOrEqual, .greaterOrEqual].contains(test.comparator)
        }
        return test.comparator == .notEqual
    }

    private func passes(_ row: MixedRow) -> Bool {
        switch test.comparator {
        case .notEqual: return !isEqual(row)
        case .equal, .in: return isEqual(row)
        case .less: return order(row).map { $0 < 0 } ?? false
        case .lessOrEqual: return order(row).map { $0 <= 0 } ?? false
        case .greater: return order(row).map { $0 > 0 } ?? false
        case .greaterOrEqual: return order(row).map { $0 >= 0 } ?? false
        default: return matches(row)
        }
    }

    private func isEqual(_ row: MixedRow) -> Bool {
        test.options.isEmpty || matcher == nil ? order(row) == 0 : matches(row)
    }

    private func order(_ row: MixedRow) -> Int? {
        guard let value = row.scalar else { return nil }
        if let inexact = test.inexact { return inexact.order(value) }
        if case .decimal = value { return value.comparison(decimal) }
        return value.comparison(constant)
    }

    private func matches(_ row: MixedRow) -> Bool {
        guard let text = row.text, text.isString == test.isString, let matcher else { return false }
        return matcher.matches(text.bytes)
    }
}

extension PairTest {
    /// The order of two rows if one side is mixed; nil if they have no order.
    @inline(never)
    func mixedOrder(_ left: Vector, _ right: Vector, _ row: Int) -> Int? {
        if left.layout == .mixed, right.layout == .mixed {
            let (one, other) = (MixedRow(left.texts[row]), MixedRow(right.texts[row]))
            guard let first = one.scalar, let second = other.scalar else {
                return one.rank == other.rank && one.order(other) == 0 ? 0 : nil
            }
            return first.comparison(second)
        }
        guard let first = left.borrowed(row, leftType), let second = right.borrowed(row, rightType)
        else { return nil }
        return first.comparison(second)
    }

    /// BEGINSWITH and its kin, of strings or of data.
    @inline(never)
    func mixedTexts(_ left: Vector, _ right: Vector, _ open: Selection) -> Selection {
        guard let operation = TextTest.Operation(comparator) else { return .empty }
        return open.filter { mixedTexts(operation, left, right, $0) ?? false }
    }

    /// Equality with options, which say something of strings and of data alone.
    @inline(never)
    func mixedEqual(_ left: Vector, _ right: Vector, _ open: Selection) -> Selection {
        open.filter { row in
            mixedTexts(.equal, left, right, row) ?? (mixedOrder(left, right, row) == 0)
        }
    }

    /// Whether `left operation right` holds of two strings, or of data; nil of anything else.
    private func mixedTexts(
        _ operation: TextTest.Operation, _ left: Vector, _ right: Vector, _ row: Int
    ) -> Bool? {
        guard let first = left.borrowed(row, leftType)?.text,
            let second = right.borrowed(row, rightType)?.text, first.isString == second.isString
        else { return nil }
        return TextMatcher.matches(operation, options, first.bytes, second.bytes)
    }
}

extension Vector {
    /// A row in the form of a mixed value; nil for a list or a dictionary.
    @inline(never)
    fileprivate func borrowed(_ row: Int, _ type: ValueType?) -> BorrowedValue? {
        switch (layout, type) {
        case (.mixed, _): MixedRow(texts[row]).scalar
        case (.bool, _): .bool(bits[row])
        case (.int, .link(let id)): .link(ObjectRef(classID: id, key: ints[row]))
        case (.int, _): .int(ints[row])
        case (.double, _): .double(doubles[row])
        case (.date, _):
            .date(Timestamp(seconds: ints[row], nanoseconds: nanoseconds[row]))
        case (.fixed, .uuid): .uuid(fixed(row))
        case (.fixed, _): .objectId(fixed(row))
        case (.decimal, _): .decimal(decimal(row))
        case (.text, .data): .data(texts[row])
        case (.text, _): .string(texts[row])
        }
    }
}

/// A part of mixed values: null for values without it.
class MixedPartNode: ValueNode {
    private let inner: ValueNode

    fileprivate init(_ inner: ValueNode, _ layout: ValueLayout) {
        self.inner = inner
        super.init(layout)
    }

    /// Puts a value's part into a row; false if it does not have the part.
    fileprivate func take(_ value: MixedRow, to row: Int) -> Bool { false }

    override final func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Vector
    {
        let values = try inner.evaluate(batch, wanted: wanted)
        vector.useOwnStorage()
        vector.nulls = values.nulls
        var rows = wanted.subtracting(values.nulls).rows
        while let row = rows.next() {
            if !take(MixedRow(values.texts[row]), to: row) { vector.nulls.insert(row) }
        }
        return vector
    }
}

/// The numbers among mixed values, as decimals.
final class MixedNumberNode: MixedPartNode {
    init(_ inner: ValueNode) { super.init(inner, .decimal) }

    override fileprivate func take(_ value: MixedRow, to row: Int) -> Bool {
        guard let number = value.number else { return false }
        vector.set(row, number.stored)
        return true
    }
}

/// Number of bytes or elements of mixed values.
final class MixedSizeNode: MixedPartNode {
    init(_ inner: ValueNode) { super.init(inner, .int) }

    override fileprivate func take(_ value: MixedRow, to row: Int) -> Bool {
        guard let size = value.size else { return false }
        vector.ownInts[row] = Int64(size)
        return true
    }
}

/// The types of mixed values, as `TypeNames` numbers them; null has one too.
final class TypeNameNode: ValueNode {
    private let inner: ValueNode

    init(_ inner: ValueNode) {
        self.inner = inner
        super.init(.int)
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Vector {
        let values = try inner.evaluate(batch, wanted: wanted)
        vector.useOwnStorage()
        var rows = wanted.rows
        while let row = rows.next() {
            vector.ownInts[row] =
                values.nulls[row] ? TypeNames.null : TypeNames.tag(MixedRow(values.texts[row]))
        }
        return vector
    }
}

/// Follows a path into mixed values.
final class MixedWalk {
    private let base: NestedBase
    private let steps: [NestedStep]
    private unowned let source: DataSource
    /// Encoded values that are not so in the file: keys of dictionaries, properties of linked
    /// objects. They live as long as the query runs.
    private var made: [UnsafeMutableRawBufferPointer] = []
    private var found: [(row: Int, cell: Cell)] = []
    /// Whether an object is walked on from once for each row, however many links lead to it.
    var isDistinct = false
    /// Most values of a row that are searched; for all others, objects without a result are not
    /// followed again.
    var limit: Int?
    /// Places already visited for the present row, or found empty.
    private var known: Set<Place> = []
    private var knownRow = -1
    /// The first of the present row in `found`.
    private var firstOfRow = 0

    /// An object and the steps that are still to go from there.
    private struct Place: Hashable {
        var object: ObjectRef
        var steps: Int
    }

    init(_ base: NestedBase, _ steps: [NestedStep], _ source: DataSource) {
        self.base = base
        self.steps = steps
        self.source = source
    }

    deinit { for bytes in made { bytes.deallocate() } }

    /// Each wanted row with each value at the end of the path, as a cell of a mixed property. It
    /// returns an array instead of calling a closure, as the compiler would make as many functions
    /// as there are callers.
    @inline(never)
    func values(_ column: UInt32, _ batch: RowBatch, _ wanted: Selection) throws(ModelError) -> [(
        row: Int, cell: Cell
    )] {
        found.removeAll(keepingCapacity: true)
        knownRow = -1
        guard let reader = batch.reader else { return [] }
        switch base {
        case .value:
            try reader.forEachCell(column, batch, wanted: wanted) { row, cell throws(ModelError) in
                try follow(cell, steps[...], row)
            }
        case .elements, .element:
            try reader.forEachList(column, batch, wanted: wanted) { row, list throws(ModelError) in
                var range = 0..<list.count
                if case .element(let position) = base {
                    guard let index = position.index(in: list.count) else { return }
                    range = index..<index + 1
                }
                for index in range {
                    try follow(try list.element(index), steps[...], row)
                }
            }
        case .entry(let key):
            let read = ColumnRead(
                PropertyRef(classID: reader.classID, propertyID: column), .mixed, key: key)
            let values = Vector(.mixed)
            try reader.read(read, batch, wanted: wanted, into: values)
            var rows = wanted.rows
            while let row = rows.next() {
                if !values.nulls[row] {
                    try follow(.bytes(values.texts[row]), steps[...], row)
                }
            }
        }
        return found
    }

    private func follow(
        _ cell: Cell, _ steps: ArraySlice<NestedStep>, _ row: Int
    ) throws(ModelError) {
        guard let step = steps.first else {
            if case .bytes(let bytes) = cell, bytes.first == 0 {
                found.append((row, .null))
            } else {
                found.append((row, cell))
            }
            return
        }
        let rest = steps.dropFirst()
        switch try MixedValue(cell) {
        case .scalar(.link(let target)):
            guard case .key(let name) = step else { return }
            try follow(String(decoding: name, as: UTF8.self), of: target, rest, row)
        case .scalar: return
        case .collection(let collection):
            try follow(collection, step, rest, row)
        }
    }

    /// Follows a property of an object that a value links to, unless that is known to give nothing
    /// new.
    private func follow(
        _ name: String, of target: ObjectRef, _ rest: ArraySlice<NestedStep>, _ row: Int
    ) throws(ModelError) {
        if knownRow != row {
            known.removeAll(keepingCapacity: true)
            (knownRow, firstOfRow) = (row, found.count)
        }
        if let limit, found.count - firstOfRow >= limit { return }
        let place = Place(object: target, steps: rest.count)
        if isDistinct, !known.insert(place).inserted { return }
        if limit != nil, known.contains(place) { return }
        let before = found.count
        if let linked = try value(name, of: target) { try follow(linked, rest, row) }
        if limit != nil, found.count == before { known.insert(place) }
    }

    private func follow(
        _ collection: MixedCollection, _ step: NestedStep, _ rest: ArraySlice<NestedStep>,
        _ row: Int
    ) throws(ModelError) {
        var wanted: Int?
        switch (step, collection.kind) {
        case (.every, _), (.keys, .dictionary), (.key, .dictionary): break
        case (.index(let position), .list):
            guard let index = position.index(in: collection.count) else { return }
            wanted = index
        default: return
        }
        var elements = collection.elements, index = 0
        while let element = try elements.next() {
            defer { index += 1 }
            switch step {
            case .every: try follow(.bytes(element.bytes), rest, row)
            case .keys: try follow(made(.string(element.key)), rest, row)
            case .index:
                guard index == wanted else { continue }
                return try follow(.bytes(element.bytes), rest, row)
            case .key(let key):
                guard element.key.elementsEqual(key) else { continue }
                return try follow(.bytes(element.bytes), rest, row)
            }
        }
        // A key that is missing is null.
        if case .key = step, rest.isEmpty { found.append((row, .null)) }
    }

    /// A property of an object that a mixed value links to; nil if it has no such property with one
    /// value.
    private func value(_ name: String, of target: ObjectRef) throws(ModelError) -> Cell? {
        let view = source.view
        guard let owner = view.schema.anyClass(id: target.classID), !owner.isHidden,
            let property = owner.visibleProperties.first(where: { $0.name.isSameName(as: name) }),
            property.isStored, !property.isCollection
        else { return nil }
        let cell = try view.cell(target.key, property)
        if property.type == .mixed { return cell }
        let lender = ValueLender()
        return withExtendedLifetime(lender) {
            guard let value = try? property.value(of: cell) else { return nil }
            return made(lender.lend(value))
        }
    }

    /// A value that is not a collection, encoded.
    private func made(_ value: BorrowedValue) -> Cell {
        let bytes = MixedValue.encoded(value)
        guard !bytes.isEmpty else { return .null }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        copy.copyBytes(from: bytes)
        made.append(copy)
        return .bytes(UnsafeRawBufferPointer(copy))
    }
}

extension TypeNames {
    /// The number of a value's type.
    static func tag(_ row: MixedRow) -> Int64 {
        guard let scalar = row.scalar else {
            if case .collection(let collection) = row.value, collection.kind == .list { return 12 }
            return 13
        }
        switch scalar {
        case .null: return null
        case .bool: return 1
        case .int: return 2
        case .float: return 3
        case .double: return 4
        case .decimal: return 5
        case .string: return 6
        case .data: return 7
        case .date: return 8
        case .objectId: return 9
        case .uuid: return 10
        case .link: return 11
        case .list: return 12
        case .dictionary: return 13
        }
    }
}
