internal import Glibc

/// One value as the model holds it: plain bytes and numbers, no type of the engine.
enum Datum: Hashable {
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
    /// 16 bytes.
    case uuid([UInt8])
    /// 12 bytes.
    case objectId([UInt8])
    /// The two words of a decimal of `Decimals`.
    case decimal(UInt64, UInt64)
    /// What a list, a set or a dictionary holds, the latter two in their order.
    case list([Datum])
    /// A key of a dictionary and its value.
    indirect case entry([UInt8], Datum)

    var isNull: Bool { if case .null = self { true } else { false } }

    var elements: [Datum] { if case .list(let elements) = self { elements } else { [] } }

    /// The value of an entry, else the datum itself.
    var value: Datum { if case .entry(_, let value) = self { value } else { self } }

    /// The elements of a list or set, or the values of a dictionary.
    var values: [Datum] { elements.map(\.value) }

    /// The key of an entry.
    var key: [UInt8] { if case .entry(let key, _) = self { key } else { [] } }

    /// What a link, or a collection of them, holds.
    var targets: [Datum] { if case .list = self { values } else { [self] } }

    /// What puts an element of a set or a dictionary in its place: itself, or its key.
    var name: Datum { if case .entry(let key, _) = self { .text(key) } else { self } }

    /// Where an element belongs among others of a set or dictionary, and whether it is there.
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
        case (.list(let left), .list(let right)):
            left.count == right.count && zip(left, right).allSatisfy(isSame)
        case (.entry(let key, let left), .entry(let other, let right)):
            key == other && isSame(left, right)
        default: left == right
        }
    }

    /// How two values of one type compare: less than, equal to or greater than 0; nil for null and
    /// for NaN with a number.
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
        case (.decimal(let left, let leftHigh), .decimal(let right, let rightHigh)):
            let (one, other) = (
                Decimals.rank(left, leftHigh), Decimals.rank(right, rightHigh)
            )
            if one == 0 || other == 0 { return one == other ? 0 : nil }
            return order(one, other)
        default: return nil
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

    /// The order of sorting: null, NaN, then the rest.
    static func sortOrder(_ left: Datum, _ right: Datum) -> Int {
        if left.isNull || right.isNull {
            return left.isNull == right.isNull ? 0 : left.isNull ? -1 : 1
        }
        if let order = order(left, right) { return order }
        return left.isNaN ? -1 : 1
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
        case .decimal(let low, let high): hasher.combine(Decimals.rank(low, high))
        case .date(let seconds, let rest):
            hasher.combine(seconds)
            hasher.combine(rest)
        case .list(let elements): for element in elements { element.hash(into: &hasher) }
        case .entry(let key, let value):
            hasher.combine(key)
            value.hash(into: &hasher)
        }
    }
}

/// The decimals of the model, spelled by hand: no code of the engine says what they are and how
/// they compare.
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

    /// 0 for NaN; -1 for what the model never wrote.
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
        case .uuid(let bytes), .objectId(let bytes): "\(bytes)"
        case .decimal(let low, let high): "decimal \(low) \(high)"
        case .entry(let key, let value): "'\(Self.shown(key))': \(value)"
        case .list(let elements):
            "\(elements.count) elements ["
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
