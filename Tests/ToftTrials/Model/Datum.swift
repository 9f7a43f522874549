internal import Glibc

/// One value as the model holds it: plain bytes and numbers, no type of the engine.
enum Datum: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case float(Float)
    case double(Double)
    case text([UInt8])
    case data([UInt8])
    case date(Int64, Int32)
    /// The key of an object of the property's target class.
    case link(Int64)
    /// An object that a mixed value links to: its class and its key.
    case object(Int, Int64)
    /// 16 bytes.
    case uuid([UInt8])
    /// 12 bytes.
    case objectId([UInt8])
    /// The two words of a decimal of `Decimals`.
    case decimal(UInt64, UInt64)
    /// The elements of a list, a set or a dictionary, the latter two in their order; a list within
    /// a mixed value.
    case list([Datum])
    /// The entries of a dictionary within a mixed value.
    case map([Datum])
    /// A key of a dictionary and its value.
    indirect case entry([UInt8], Datum)

    var isNull: Bool { if case .null = self { true } else { false } }

    var elements: [Datum] {
        switch self {
        case .list(let elements), .map(let elements): elements
        default: []
        }
    }

    /// The value of an entry, otherwise the datum itself.
    var value: Datum { if case .entry(_, let value) = self { value } else { self } }

    /// The elements of a list or set, or the values of a dictionary.
    var values: [Datum] { elements.map(\.value) }

    /// The key of an entry.
    var key: [UInt8] { if case .entry(let key, _) = self { key } else { [] } }

    /// The targets of a link, or of a collection of links.
    var targets: [Datum] { if case .list = self { values } else { [self] } }

    /// The value that orders an element of a set or a dictionary: itself, or its key.
    var name: Datum { if case .entry(let key, _) = self { .text(key) } else { self } }

    /// The position of an element among others of a set or dictionary; `isFound` if it exists.
    func position(in elements: [Datum]) -> (index: Int, isFound: Bool) {
        var low = 0, high = elements.count
        while low < high {
            let middle = (low + high) / 2
            if Datum.sortOrder(elements[middle].name, name) < 0 {
                low = middle + 1
            } else {
                high = middle
            }
        }
        let isFound = low < elements.count && Datum.sortOrder(elements[low].name, name) == 0
        return (low, isFound)
    }

    /// Whether both are the same value, bit for bit; one NaN is as good as another.
    static func isSame(_ left: Datum, _ right: Datum) -> Bool {
        switch (left, right) {
        case (.float(let left), .float(let right)):
            left.bitPattern == right.bitPattern || left.isNaN && right.isNaN
        case (.double(let left), .double(let right)):
            left.bitPattern == right.bitPattern || left.isNaN && right.isNaN
        case (.list(let left), .list(let right)), (.map(let left), .map(let right)):
            left.count == right.count && zip(left, right).allSatisfy(isSame)
        case (.entry(let key, let left), .entry(let other, let right)):
            key == other && isSame(left, right)
        default: left == right
        }
    }

    /// The order of two values of one type, or of two numbers of mixed values: less than, equal to
    /// or greater than 0; nil for null and for NaN with a number.
    static func order(_ left: Datum, _ right: Datum) -> Int? {
        func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
            left < right ? -1 : left == right ? 0 : 1
        }
        switch (left, right) {
        case (.bool(let left), .bool(let right)): return order(left ? 1 : 0, right ? 1 : 0)
        case (.int(let left), .int(let right)), (.link(let left), .link(let right)):
            return order(left, right)
        case (.float(let left), .float(let right)):
            if left.isNaN || right.isNaN { return left.isNaN && right.isNaN ? 0 : nil }
            return order(left, right)
        case (.double(let left), .double(let right)):
            if left.isNaN || right.isNaN { return left.isNaN && right.isNaN ? 0 : nil }
            return order(left, right)
        case (.date(let left, let leftRest), .date(let right, let rightRest)):
            return left != right ? order(left, right) : order(leftRest, rightRest)
        case (.text(let left), .text(let right)), (.data(let left), .data(let right)),
            (.uuid(let left), .uuid(let right)), (.objectId(let left), .objectId(let right)):
            return byteOrder(left, right)
        case (.decimal(let low, let high), .decimal(let otherLow, let otherHigh)):
            let (one, other) = (Decimals.rank(low, high), Decimals.rank(otherLow, otherHigh))
            if one < 0 || other < 0 { return MixedNumbers.order(left, right) }
            if one == 0 || other == 0 { return one == other ? 0 : nil }
            return order(one, other)
        case (.object(let left, let leftKey), .object(let right, let rightKey)):
            return left != right ? order(left, right) : order(leftKey, rightKey)
        default: return MixedNumbers.order(left, right)
        }
    }

    /// By bytes; of two that begin alike the shorter one comes first.
    private static func byteOrder(_ left: [UInt8], _ right: [UInt8]) -> Int {
        let order = left.withUnsafeBytes { left in
            right.withUnsafeBytes { right -> Int in
                guard let base = left.baseAddress, let other = right.baseAddress else { return 0 }
                return Int(memcmp(base, other, min(left.count, right.count)))
            }
        }
        return order != 0 ? order : left.count - right.count
    }

    static func isSame(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count, let base = left.baseAddress,
            let other = right.baseAddress
        else { return left.count == right.count }
        return memcmp(base, other, left.count) == 0
    }

    /// The order of sorting: null, NaN, then the rest; mixed values by their kinds first.
    static func sortOrder(_ left: Datum, _ right: Datum) -> Int {
        if left.kind != right.kind { return left.kind - right.kind }
        if let order = order(left, right) { return order }
        switch (left, right) {
        case (.null, .null): return 0
        case (.list(let left), .list(let right)), (.map(let left), .map(let right)):
            for (one, other) in zip(left, right) {
                let names = one.isEntry ? sortOrder(one.name, other.name) : 0
                let order = names != 0 ? names : sortOrder(one.value, other.value)
                if order != 0 { return order }
            }
            return left.count - right.count
        default: return left.isNaN ? -1 : 1
        }
    }

    private var isEntry: Bool { if case .entry = self { true } else { false } }

    /// The rank of mixed values of its kind: numbers of all types are of one kind.
    var kind: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int, .float, .double, .decimal: 2
        case .text: 3
        case .data: 4
        case .date: 5
        case .objectId: 6
        case .uuid: 7
        case .link, .object: 8
        case .list, .entry: 9
        case .map: 10
        }
    }

    /// Whether it is a list or a dictionary.
    var isCollection: Bool { kind >= 9 }

    /// The number of nested lists and dictionaries, and itself if it is one.
    var depth: Int {
        switch self {
        case .list(let elements), .map(let elements):
            1 + elements.reduce(0) { max($0, $1.value.depth) }
        default: 0
        }
    }

    /// The value with null in place of some objects; nil if it has no such objects.
    func without(_ isGone: (Datum) -> Bool) -> Datum? {
        func elements(_ old: [Datum]) -> [Datum]? {
            var new = old, isChanged = false
            for index in old.indices {
                guard let value = old[index].value.without(isGone) else { continue }
                isChanged = true
                if case .entry(let key, _) = old[index] {
                    new[index] = .entry(key, value)
                } else {
                    new[index] = value
                }
            }
            return isChanged ? new : nil
        }
        switch self {
        case .object: return isGone(self) ? .null : nil
        case .list(let old): return elements(old).map { .list($0) }
        case .map(let old): return elements(old).map { .map($0) }
        default: return nil
        }
    }

    /// The element at the end of some steps.
    func element(at steps: ArraySlice<ModelStep>) -> Datum? {
        guard let step = steps.first else { return self }
        guard elements.indices.contains(step.index) else { return nil }
        return elements[step.index].value.element(at: steps.dropFirst())
    }

    /// The value with another one in the place that steps lead to.
    func replacing(_ steps: ArraySlice<ModelStep>, by new: Datum) -> Datum {
        guard let step = steps.first, elements.indices.contains(step.index) else { return new }
        var elements = elements
        let inner = elements[step.index].value.replacing(steps.dropFirst(), by: new)
        if case .entry(let key, _) = elements[step.index] {
            elements[step.index] = .entry(key, inner)
        } else {
            elements[step.index] = inner
        }
        if case .map = self { return .map(elements) }
        return .list(elements)
    }

    /// Calls `body` with each object that it links to.
    func forEachObject(_ body: (Int, Int64) -> Void) {
        if case .object(let owner, let key) = self { return body(owner, key) }
        for element in elements { element.value.forEachObject(body) }
    }

    var isNaN: Bool {
        switch self {
        case .float(let value): value.isNaN
        case .double(let value): value.isNaN
        case .decimal(let low, let high): Decimals.rank(low, high) == 0
        default: false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .int(let value), .link(let value): hasher.combine(value)
        case .float(let value): hasher.combine(value.isNaN ? .nan : value)
        case .double(let value): hasher.combine(value.isNaN ? .nan : value)
        case .text(let bytes), .data(let bytes), .uuid(let bytes), .objectId(let bytes):
            hasher.combine(bytes)
        case .decimal(let low, let high):
            let rank = Decimals.rank(low, high)
            hasher.combine(rank >= 0 ? rank : MixedNumbers.rank(self) ?? -1)
        case .object(let owner, let key):
            hasher.combine(owner)
            hasher.combine(key)
        case .date(let seconds, let rest):
            hasher.combine(seconds)
            hasher.combine(rest)
        case .list(let elements), .map(let elements):
            hasher.combine(kind)
            for element in elements { element.hash(into: &hasher) }
        case .entry(let key, let value):
            hasher.combine(key)
            value.hash(into: &hasher)
        }
    }
}

extension [Datum] {
    /// Puts an element into a set, unless it is there, or an entry into a dictionary.
    mutating func put(_ element: Datum) {
        let (index, isFound) = element.position(in: self)
        if !isFound {
            insert(element, at: index)
        } else if case .entry = element {
            self[index] = element
        }
    }
}

/// The decimals of the model, spelled by hand: their values and order do not come from the engine.
enum Decimals {
    /// NaN, then by value, equal ones side by side: the rank, the coefficient, the exponent and
    /// whether it is negative.
    private static let finite: [(rank: Int, UInt64, exponent: Int, isNegative: Bool)] = [
        (2, 1, 3, true), (2, 1_000, 0, true), (3, 150, -2, true), (3, 15, -1, true),
        (4, 1, -6176, true), (5, 0, 0, true), (5, 0, 0, false), (5, 0, -2, false),
        (6, 1, -6176, false), (7, 1, -1, false), (7, 10, -2, false), (8, 1, 0, false),
        (8, 10, -1, false), (8, 100, -2, false), (9, 2, 0, false), (10, .max, 0, false),
        (11, 1, 6111, false), (11, 1_000, 6108, false),
    ]
    private static let words: [(rank: Int, low: UInt64, high: UInt64)] =
        [(0, 0, 0x7C << 56), (1, 0, 0xF8 << 56), (12, 0, 0x78 << 56)]
        + finite.map {
            ($0.rank, $0.1, UInt64($0.exponent + 6176) << 49 | ($0.isNegative ? 1 << 63 : 0))
        }

    static func value(_ number: UInt64) -> Datum {
        let chosen = words[Int(number % UInt64(words.count))]
        return .decimal(chosen.low, chosen.high)
    }

    /// One of the decimals that equal a given one, always the same.
    static func first(equalTo low: UInt64, _ high: UInt64) -> Datum {
        let rank = rank(low, high)
        let first = words.first { $0.rank == rank }
        return first.map { .decimal($0.low, $0.high) } ?? .decimal(low, high)
    }

    /// 0 for NaN; -1 for a decimal that the model never wrote.
    static func rank(_ low: UInt64, _ high: UInt64) -> Int {
        words.first { $0.low == low && $0.high == high }?.rank ?? -1
    }
}

extension Datum: CustomStringConvertible {
    /// The value as a report shows it, long ones cut.
    var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .float(let value): "\(value)"
        case .double(let value): "\(value)"
        case .text(let bytes): "'\(Self.shown(bytes))' (\(bytes.count) bytes)"
        case .data(let bytes): "\(bytes.count) bytes of data \(Self.shown(bytes))"
        case .date(let seconds, let rest): "T\(seconds):\(rest)"
        case .link(let key): "object \(key)"
        case .object(let owner, let key): "object \(key) of class \(owner)"
        case .uuid(let bytes), .objectId(let bytes): "\(bytes)"
        case .decimal(let low, let high): "decimal \(low) \(high)"
        case .entry(let key, let value): "'\(Self.shown(key))': \(value)"
        case .list(let elements), .map(let elements):
            "\(elements.count) \(kind == 9 ? "elements" : "entries") ["
                + elements.prefix(4).map(\.description).joined(separator: ", ") + "]"
        }
    }

    private static func shown(_ bytes: [UInt8]) -> String {
        func text(_ bytes: some Sequence<UInt8>) -> String {
            String(
                decoding: bytes.map { $0 < 32 || $0 > 126 ? UInt8(ascii: "?") : $0 }, as: UTF8.self)
        }
        return bytes.count <= 40
            ? text(bytes) : text(bytes.prefix(12)) + "…" + text(bytes.suffix(12))
    }
}
