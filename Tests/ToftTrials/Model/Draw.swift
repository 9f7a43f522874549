internal import ToftModel

/// The ingredients of a value: a length for text and data (-1: null) and bits for the rest. The
/// value itself depends on the property, so that a command survives the loss of others.
struct Draw: Equatable {
    var size: Int
    var bits: UInt64

    init(_ size: Int, _ bits: UInt64) {
        self.size = size
        self.bits = bits
    }

    /// A draw for a command that writes `count` values: together at most 32 MiB, for the model has
    /// them all in memory.
    func bounded(for count: Int) -> Draw {
        count > 1 ? Draw(min(size, (32 << 20) / count), bits) : self
    }

    /// The next one of many.
    func plus(_ index: Int) -> Draw {
        Draw(size, bits &+ UInt64(truncatingIfNeeded: index) &* 0x1_0001)
    }
}

extension Draw: CustomStringConvertible, CustomDebugStringConvertible {
    var description: String { ".init(\(size), \(bits))" }
    var debugDescription: String { description }
}

extension Draw {
    /// The value for a property, or for an element of a list.
    func value(_ property: ShapeProperty, in content: ModelContent) -> Datum {
        if property.isPrimaryKey { return primaryKey(property) }
        if size < 0, property.takesNull { return .null }
        switch property.type {
        case .bool: return .bool(bits & 1 == 1)
        case .int: return .int(integer)
        case .float: return .float(Float(number))
        case .double: return .double(number)
        case .text: return .text(text(max(0, size)))
        case .data: return .data(data(max(0, size)))
        case .date: return date
        case .uuid: return .uuid(fixed(16))
        case .objectId: return .objectId(fixed(12))
        case .decimal: return Decimals.value(bits >> 4)
        case .mixed: return mixed(in: content, property.collection == .set, depth: 0)
        case .link:
            let keys = content.classes[property.target].keys
            return keys.isEmpty ? .null : .link(keys[Int(bits % UInt64(keys.count))])
        }
    }

    /// A mixed value of any kind.
    /// - Parameter isPlain: no list and no dictionary, and of equal numbers always the same one.
    private func mixed(in content: ModelContent, _ isPlain: Bool, depth: Int) -> Datum {
        let rest = bits >> 4
        switch bits & 15 {
        case 0: return .bool(rest & 1 == 1)
        case 1...4:
            let number = MixedNumbers.value(rest)
            return isPlain ? MixedNumbers.first(equalTo: number) : number
        case 5...7: return .text(text(max(0, depth == 0 ? size : min(size, 300))))
        case 8: return .data(data(max(0, depth == 0 ? size : min(size, 300))))
        case 9: return Draw(0, rest).date
        case 10: return rest & 1 == 0 ? .uuid(fixed(16)) : .objectId(fixed(12))
        case 11, 12:
            let owner = Int(rest % UInt64(content.classes.count))
            let keys = content.classes[owner].keys
            guard !keys.isEmpty, !content.shape.classes[owner].isEmbedded else { return .null }
            return .object(owner, keys[Int(rest / 8 % UInt64(keys.count))])
        case 13 where !isPlain && depth < 4, 14 where !isPlain && depth < 4:
            let elements = (0..<Int(rest % 4)).map { index in
                let bits = (bits &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(index) &* 0xC2B2_AE3D) >> 9
                return Draw(size, bits).mixed(in: content, false, depth: depth + 1)
            }
            guard bits & 15 == 14 else { return .list(elements) }
            var entries: [Datum] = []
            for (index, value) in elements.enumerated() {
                entries.put(.entry(Draw(0, rest &+ UInt64(index) &* 77).entryKey(), value))
            }
            return .map(entries)
        default:
            // The greatest number of nested collections, or one more.
            guard !isPlain, depth == 0, rest & 31 == 1 else { return .null }
            return (0..<98 + Int(rest >> 5) % 4).reduce(Datum.bool(true)) { inner, index in
                index & 1 == 0 ? .list([inner]) : .map([.entry([UInt8(ascii: "k")], inner)])
            }
        }
    }

    /// A key of a dictionary: few different ones, some of them long.
    func entryKey() -> [UInt8] {
        let choice = bits >> 3
        let length = bits & 7 == 0 ? 1 + Int(choice % 300) : Int(choice % 4)
        return Array(repeating: UInt8(ascii: "k"), count: length)
            + Array(String(choice % 29, radix: 3).utf8)
    }

    private func primaryKey(_ property: ShapeProperty) -> Datum {
        if size < 0, property.takesNull { return .null }
        switch property.type {
        case .int: return .int(Int64(bitPattern: bits))
        case .uuid: return .uuid(fixed(16))
        case .objectId: return .objectId(fixed(12))
        default: break
        }
        var bytes = Array(repeating: UInt8(ascii: "k"), count: max(0, size - 8))
        // The last letters distinguish most of them: long ones begin alike.
        for index in (0..<8).reversed() {
            bytes.append(
                UInt8(ascii: "a") + UInt8(truncatingIfNeeded: bits >> UInt64(index * 4)) & 15)
        }
        return .text(bytes)
    }

    /// Few different values, half of them with a common beginning; the least and the greatest.
    private func fixed(_ count: Int) -> [UInt8] {
        let choice = UInt8((bits >> 4) % 24)
        switch bits & 15 {
        case 0: return Array(repeating: 0, count: count)
        case 1: return Array(repeating: 0xFF, count: count)
        case 2..<9: return Array(repeating: 0x7F, count: count - 1) + [choice &* 11]
        default: return [choice &* 11] + Array(repeating: choice, count: count - 1)
        }
    }

    private var integer: Int64 {
        switch bits & 15 {
        case 0..<8: Int64((bits >> 4) % 12)
        case 8..<12: Self.integers[Int((bits >> 4) % UInt64(Self.integers.count))]
        default: Int64(bitPattern: bits) >> Int64((bits >> 4) & 63)
        }
    }

    private static let integers: [Int64] = [
        0, -1, 1, 127, 128, -128, -129, 255, 256, 32_767, 32_768, -32_768, -32_769,
        2_147_483_647, 2_147_483_648, -2_147_483_648, -2_147_483_649, .max, .min, .max - 1,
        .min + 1,
    ]

    private var number: Double {
        switch bits & 15 {
        case 0..<12: Double((bits >> 4) % 100) / 8 - 3
        default: Self.numbers[Int((bits >> 4) % UInt64(Self.numbers.count))]
        }
    }

    private static let numbers: [Double] = [
        0, -0.0, .nan, .infinity, -.infinity, 1.5, -1.5, .leastNonzeroMagnitude,
        .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 16_777_217, 9_007_199_254_740_992,
    ]

    private var date: Datum {
        switch bits & 15 {
        case 0..<11: .date(Int64((bits >> 4) % 50), Int32((bits >> 12) % 32 / 30))
        case 11: .date(.max, 999_999_999)
        case 12: .date(.min, -999_999_999)
        case 13: .date(0, bits & 16 == 0 ? -1 : 999_999_999)
        case 14: .date(.min, 0)
        default: .date(Int64(bits >> 33) - 1_000_000_000, 0)
        }
    }

    /// Texts with common beginnings, so that comparing beginnings is not enough to distinguish
    /// them; now and then with a NUL or with characters of two bytes.
    private func text(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: UInt8(ascii: "a") + UInt8(bits & 1), count: count)
        var rest = bits >> 1
        for index in stride(from: count - 1, through: max(0, count - 6), by: -1) {
            bytes[index] = UInt8(ascii: "a") + UInt8(rest & 7)
            rest >>= 3
        }
        if count >= 2, rest & 7 == 0 {
            bytes[0] = 0xC3
            bytes[1] = 0xA9
        } else if count >= 1, rest & 7 == 1 {
            bytes[count / 2] = 0
        }
        return bytes
    }

    private func data(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: bits), count: count)
        for index in 0..<min(8, count) {
            bytes[count - 1 - index] = UInt8(truncatingIfNeeded: bits >> UInt64(index * 8))
        }
        return bytes
    }
}
