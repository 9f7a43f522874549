internal import ToftModel
internal import ToftStorage

/// Values to compare with by hashing or bisection: a row costs the same however many they are. Made
/// when a query is bound, once for all its runs.
enum Members: Sendable {
    /// Ascending, each once; also for the numbers of types.
    case integers([Int64])
    /// Float and double, without NaN.
    case doubles(Set<Double>)
    case dates(Set<Timestamp>)
    /// Uuids and object ids.
    case fixed(Set<FixedBytes>)
    /// Decimals, by `Decimal128.orderKey`.
    case decimals(Set<FixedBytes>)
    case texts(TextSet)
    /// Objects of the class that the link leads to.
    case links([ColumnPredicate.LinkConstant])
    case mixed(MixedSet)

    var count: Int {
        switch self {
        case .integers(let values): values.count
        case .doubles(let values): values.count
        case .dates(let values): values.count
        case .fixed(let values), .decimals(let values): values.count
        case .texts(let texts): texts.count
        case .links(let links): links.count
        case .mixed(let values): values.tests.count
        }
    }

    /// A test for each value, those of one type that has an order in this.
    var tests: [ColumnPredicate] {
        switch self {
        case .integers(let values): values.map { .int($0, $0, isInverted: false) }
        case .doubles(let values):
            values.sorted().map { .double($0, $0, isInverted: false, passesNaN: false) }
        case .dates(let values): values.sorted().map { .date($0, $0, isInverted: false) }
        case .fixed(let values): values.sorted().map { .fixed($0, $0, isInverted: false) }
        case .decimals(let values): values.sorted().map { .decimal($0, $0, isInverted: false) }
        case .texts(let texts): texts.tests
        case .links(let links): links.map { .link($0, isInverted: false) }
        case .mixed(let values): values.tests.map { .mixed($0) }
        }
    }
}

/// Texts, or data, that others are looked up among.
final class TextSet: Sendable {
    /// The comparison's options, by which the texts are folded.
    let options: StringOptions
    /// All texts, one after the other.
    private let bytes: [UInt8]
    /// The start of each text, and the end of the last one.
    private let bounds: [Int]
    /// The numbers of the texts from 1 on, each at the bucket of its hash or behind it; 0 in free
    /// buckets. There are at least twice as many buckets as texts, a power of two.
    private let places: [UInt32]

    init(_ texts: [[UInt8]], _ options: StringOptions) {
        self.options = options
        var capacity = 4
        while capacity < texts.count * 2 { capacity *= 2 }
        var bytes: [UInt8] = []
        var bounds = [0]
        var places = [UInt32](repeating: 0, count: capacity)
        for text in texts {
            text.withUnsafeBytes { text in
                let place = Self.place(of: text, bytes, bounds, places)
                guard places[place] == 0 else { return }
                bytes.append(contentsOf: text)
                bounds.append(bytes.count)
                places[place] = UInt32(truncatingIfNeeded: bounds.count - 1)
            }
        }
        self.bytes = bytes
        self.bounds = bounds
        self.places = places
    }

    var count: Int { bounds.count - 1 }

    /// Bytes of the longest text.
    var longest: Int { zip(bounds, bounds.dropFirst()).reduce(0) { max($0, $1.1 - $1.0) } }

    var tests: [ColumnPredicate] {
        (0..<count).map {
            .text(
                TextTest(
                    operation: .equal, needle: Array(bytes[bounds[$0]..<bounds[$0 + 1]]),
                    options: options))
        }
    }

    /// Whether a text, folded, is one of them.
    func contains(_ text: UnsafeRawBufferPointer) -> Bool {
        places[Self.place(of: text, bytes, bounds, places)] != 0
    }

    /// The bucket of a text, or the free one for it.
    @inline(__always)
    private static func place(
        of text: UnsafeRawBufferPointer, _ bytes: [UInt8], _ bounds: [Int], _ places: [UInt32]
    ) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: text)
        var place = hasher.finalize() & (places.count - 1)
        return bytes.withUnsafeBytes { bytes in
            while true {
                let number = Int(places[place])
                if number == 0 { return place }
                let own = UnsafeRawBufferPointer(
                    rebasing: bytes[bounds[number - 1]..<bounds[number]])
                if ByteSearch.isEqual(own, text) { return place }
                place = (place + 1) & (places.count - 1)
            }
        }
    }
}

/// Mixed values, each given by an equality with a constant.
final class MixedSet: Sendable {
    let tests: [MixedTest]
    /// Whether an index finds them.
    let areIndexed: Bool
    let strings: TextSet
    let data: TextSet
    /// The constants that are neither texts nor named by primary key, ascending; of values of any
    /// type but decimals.
    private let values: OrderedValues
    /// Values beside decimals.
    private let decimals: OrderedValues
    /// The objects that are named by primary key.
    let objects: [(classID: ClassID, key: Value)]

    init(_ tests: [MixedTest]) {
        self.tests = tests
        areIndexed = tests.allSatisfy(\.isEquality)
        var (strings, data): ([[UInt8]], [[UInt8]]) = ([], [])
        var (values, decimals): ([BorrowedValue], [BorrowedValue]) = ([], [])
        var objects: [(classID: ClassID, key: Value)] = []
        for test in tests {
            switch test.link {
            case .key(let key)?:
                values.append(.link(ObjectRef(classID: test.linkClass, key: key)))
                continue
            case .primaryKey(let id, let key)?:
                objects.append((id, key))
                continue
            case nil: break
            }
            if let text = test.text {
                if test.isString == true {
                    strings.append(text.needle)
                } else {
                    data.append(text.needle)
                }
            } else if let inexact = test.inexact {
                // It may still be a double, and is nothing else.
                if inexact.double.orderOfNearest == 0 {
                    values.append(.double(inexact.double.nearest))
                }
            } else if let value = test.value.withoutMemory {
                values.append(value)
                decimals.append(test.decimal.map { .decimal($0) } ?? value)
            }
        }
        let options = tests.first?.options ?? []
        self.strings = TextSet(strings, options)
        self.data = TextSet(data, options)
        self.values = OrderedValues(values)
        self.decimals = OrderedValues(decimals)
        self.objects = objects
    }

    /// Whether a value other than a text is one of them, apart from `objects`.
    func contains(_ value: BorrowedValue) -> Bool {
        if case .decimal = value { decimals.contains(value) } else { values.contains(value) }
    }
}

/// Mixed values that borrow nothing, in their order.
private struct OrderedValues: Sendable {
    nonisolated(unsafe) private let values: [BorrowedValue]

    init(_ values: [BorrowedValue]) {
        self.values = values.sorted { $0.mixedOrder($1) < 0 }
    }

    func contains(_ value: BorrowedValue) -> Bool {
        var low = 0
        var high = values.count
        while low < high {
            let middle = (low + high) / 2
            if values[middle].mixedOrder(value) < 0 { low = middle + 1 } else { high = middle }
        }
        return low < values.count && values[low].mixedOrder(value) == 0
    }
}

extension Value {
    /// The value as one that borrows nothing; nil of texts, data and collections.
    fileprivate var withoutMemory: BorrowedValue? {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .int(let value): .int(value)
        case .float(let value): .float(value)
        case .double(let value): .double(value)
        case .date(let value): .date(value)
        case .uuid(let value): .uuid(value)
        case .objectId(let value): .objectId(value)
        case .decimal(let value): .decimal(value)
        case .link(let value): .link(value)
        case .string, .data, .list, .dictionary: nil
        }
    }
}

// MARK: Gathering

extension ColumnPredicate {
    /// Passes values that pass all of `tests`.
    static func allOf(_ tests: [ColumnPredicate]) -> ColumnPredicate {
        let excluded = tests.compactMap(\.excluded)
        return excluded.count == tests.count ? .not(anyOf(excluded)) : .all(tests)
    }

    /// Passes values that pass any of `tests`. From a few on, values of one type are one test.
    static func anyOf(_ tests: [ColumnPredicate]) -> ColumnPredicate {
        guard tests.count != 1 else { return tests[0] }
        var gathered = GatheredTests()
        for test in tests { gathered.add(test) }
        return gathered.predicate
    }

    /// Whether it passes one value, or one of several.
    var isEquality: Bool {
        switch self {
        case .null(let passes): passes
        case .bool(_, let isInverted), .link(_, let isInverted): !isInverted
        case .int(let low, let high, let isInverted): low == high && !isInverted
        case .double(let low, let high, let isInverted, let passesNaN):
            !isInverted && (passesNaN ? low > high : low == high)
        case .date(let low, let high, let isInverted): low == high && !isInverted
        case .fixed(let low, let high, let isInverted), .decimal(let low, let high, let isInverted):
            low == high && !isInverted
        case .text(let text): text.operation == .equal
        case .mixed(let test): test.comparator == .equal || test.comparator == .in
        case .members: true
        case .any(let parts): parts.allSatisfy(\.isEquality)
        case .constant, .all, .not: false
        }
    }

    /// The equality that no passing value satisfies; nil for other tests than `!=`.
    var excluded: ColumnPredicate? {
        let equality: ColumnPredicate
        switch self {
        case .not(let inner): equality = inner
        case .null(passes: false): equality = .null(passes: true)
        case .bool(let value, isInverted: true): equality = .bool(value, isInverted: false)
        case .link(let target, isInverted: true): equality = .link(target, isInverted: false)
        case .int(let low, let high, isInverted: true):
            equality = .int(low, high, isInverted: false)
        case .double(let low, let high, isInverted: true, let passesNaN):
            equality = .double(low, high, isInverted: false, passesNaN: !passesNaN)
        case .date(let low, let high, isInverted: true):
            equality = .date(low, high, isInverted: false)
        case .fixed(let low, let high, isInverted: true):
            equality = .fixed(low, high, isInverted: false)
        case .decimal(let low, let high, isInverted: true):
            equality = .decimal(low, high, isInverted: false)
        case .text(var text) where text.operation == .notEqual:
            text.operation = .equal
            equality = .text(text)
        case .mixed(var test) where test.comparator == .notEqual:
            test.comparator = .equal
            equality = .mixed(test)
        default: return nil
        }
        return equality.isEquality ? equality : nil
    }
}

/// Alternative tests, sorted by the kind of their constants.
private struct GatheredTests {
    private var integers: [Int64] = []
    private var doubles: [Double] = []
    private var dates: [Timestamp] = []
    private var fixed: [FixedBytes] = []
    private var decimals: [FixedBytes] = []
    private var links: [ColumnPredicate.LinkConstant] = []
    /// By the bits of their options.
    private var texts = [[[UInt8]]](repeating: [], count: 4)
    private var mixed = [[MixedTest]](repeating: [], count: 4)
    private var hasNull = false
    private var hasNaN = false
    private var hasTrue = false
    private var hasFalse = false
    private var others: [ColumnPredicate] = []
    private var passesAll = false

    /// Up to this number, values of a type are tested one by one.
    private static let fewValues = 2

    mutating func add(_ test: ColumnPredicate) {
        guard test.isEquality else {
            switch test {
            case .constant(let value): passesAll = passesAll || value
            case .any(let parts): for part in parts { add(part) }
            default: others.append(test)
            }
            return
        }
        switch test {
        case .null: hasNull = true
        case .bool(let value, _): if value { hasTrue = true } else { hasFalse = true }
        case .int(let value, _, _): integers.append(value)
        case .double(_, _, _, passesNaN: true): hasNaN = true
        case .double(let value, _, _, _): doubles.append(value)
        case .date(let value, _, _): dates.append(value)
        case .fixed(let value, _, _): fixed.append(value)
        case .decimal(let value, _, _): decimals.append(value)
        case .text(let text): texts[Int(text.options.rawValue)].append(text.needle)
        case .mixed(let test): mixed[Int(test.options.rawValue)].append(test)
        case .link(let target, _): links.append(target)
        case .members(let members): add(members)
        case .any(let parts): for part in parts { add(part) }
        case .constant, .all, .not: others.append(test)
        }
    }

    private mutating func add(_ members: Members) {
        switch members {
        case .integers(let values): integers += values
        case .doubles(let values): doubles += values
        case .dates(let values): dates += values
        case .fixed(let values): fixed += values
        case .decimals(let values): decimals += values
        case .links(let values): links += values
        case .mixed(let values): for test in values.tests { add(.mixed(test)) }
        case .texts(let texts): for test in texts.tests { add(test) }
        }
    }

    var predicate: ColumnPredicate {
        if passesAll { return .constant(true) }
        var tests: [ColumnPredicate] = []
        func add(_ members: Members) {
            if members.count > Self.fewValues {
                tests.append(.members(members))
            } else {
                tests += members.tests
            }
        }
        add(.integers(Array(Set(integers)).sorted()))
        add(.doubles(Set(doubles)))
        add(.dates(Set(dates)))
        add(.fixed(Set(fixed)))
        add(.decimals(Set(decimals)))
        add(.links(links))
        for (options, texts) in texts.enumerated() where !texts.isEmpty {
            add(.texts(TextSet(texts, StringOptions(rawValue: UInt8(options)))))
        }
        for tests in mixed where !tests.isEmpty { add(.mixed(MixedSet(tests))) }
        if hasNull { tests.append(.null(passes: true)) }
        if hasNaN {
            tests.append(.double(.infinity, -.infinity, isInverted: false, passesNaN: true))
        }
        if hasTrue { tests.append(.bool(true, isInverted: false)) }
        if hasFalse { tests.append(.bool(false, isInverted: false)) }
        tests += others
        return tests.count == 1 ? tests[0] : tests.isEmpty ? .constant(false) : .any(tests)
    }
}
