internal import ToftModel
internal import ToftStorage

/// A comparison with constants, in the form for the executor's loops: the passing values, for one
/// type.
///
/// Every comparison of a number with a number becomes a closed range of the column's own type,
/// exactly: `age < 18.5` is `age` in `min...18`. So a loop never converts, and ranges serve zone
/// maps and indexes too.
indirect enum ColumnPredicate: Sendable {
    /// Null passes or fails; every other value does the opposite.
    case null(passes: Bool)
    /// Nothing passes, or everything.
    case constant(Bool)
    case bool(Bool, isInverted: Bool)
    case int(Int64, Int64, isInverted: Bool)
    /// Float and double, in the values of a double. NaN passes or fails apart.
    case double(Double, Double, isInverted: Bool, passesNaN: Bool)
    case date(Timestamp, Timestamp, isInverted: Bool)
    /// Uuid and object id.
    case fixed(FixedBytes, FixedBytes, isInverted: Bool)
    /// Decimals, by `Decimal128.orderKey`.
    case decimal(FixedBytes, FixedBytes, isInverted: Bool)
    case text(TextTest)
    /// Mixed values; only those of the constant's kind can be less or greater.
    case mixed(MixedTest)
    /// The object with this key, of the class that the link leads to.
    case link(LinkConstant, isInverted: Bool)
    /// One of several values of one type.
    case members(Members)
    /// Any of them; an empty one passes nothing.
    case any([ColumnPredicate])
    /// All of them.
    case all([ColumnPredicate])
    case not(ColumnPredicate)

    /// An object that a link is compared with.
    enum LinkConstant: Sendable {
        case key(Int64)
        /// To be looked up when the query runs; without such an object it is a null link.
        case primaryKey(ClassID, Value)
    }
}

/// A comparison of a text with a constant text.
struct TextTest: Sendable {
    enum Operation: Sendable, Equatable {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual, beginsWith, endsWith,
            contains, like, matches
    }

    var operation: Operation
    /// The constant, folded as `options` say.
    var needle: [UInt8]
    var options: StringOptions
    /// For LIKE.
    var pattern: LikePattern?
    /// For MATCHES.
    var expression: RegularExpression?
}

extension ColumnPredicate {
    /// The test that a value of `type` compares so with `constant`. The types fit; a constant of
    /// another numeric type is compared by value.
    init(
        _ type: ValueType, _ comparator: Comparator, _ constant: Constant,
        options: StringOptions = []
    ) {
        if constant.isNull {
            self = Self.nullTest(comparator)
            return
        }
        switch type {
        case .bool: self = Self.boolTest(comparator, constant)
        case .int: self = Self.intTest(comparator, constant)
        case .float, .double: self = Self.doubleTest(comparator, constant, isFloat: type == .float)
        case .string, .data: self = Self.textTest(comparator, constant, options)
        case .date: self = Self.dateTest(comparator, constant)
        case .uuid, .objectId: self = Self.fixedTest(comparator, constant)
        case .decimal: self = Self.decimalTest(comparator, constant)
        case .link: self = Self.linkTest(comparator, constant)
        case .mixed: self = .mixed(MixedTest(comparator, constant, options))
        case .typeName:
            let tags = TypeNames.tags(of: constant) ?? []
            let isOne = Self.anyOf(tags.map { .int($0, $0, isInverted: false) })
            self = comparator == .notEqual ? .not(isOne) : isOne
        }
    }

    /// Null equals null and is neither less nor greater than anything.
    private static func nullTest(_ comparator: Comparator) -> ColumnPredicate {
        switch comparator {
        case .equal, .in, .lessOrEqual, .greaterOrEqual, .like: .null(passes: true)
        case .notEqual: .null(passes: false)
        default: .constant(false)
        }
    }

    private static func boolTest(_ comparator: Comparator, _ constant: Constant) -> ColumnPredicate
    {
        guard case .bool(let value) = constant else { return .constant(false) }
        return switch comparator {
        case .equal, .in: .bool(value, isInverted: false)
        case .notEqual: .bool(value, isInverted: true)
        case .less: value ? .bool(false, isInverted: false) : .constant(false)
        case .lessOrEqual: value ? .null(passes: false) : .bool(false, isInverted: false)
        case .greater: value ? .constant(false) : .bool(true, isInverted: false)
        case .greaterOrEqual: value ? .bool(true, isInverted: false) : .null(passes: false)
        default: .constant(false)
        }
    }

    private static func dateTest(_ comparator: Comparator, _ constant: Constant) -> ColumnPredicate
    {
        guard case .date(let date) = constant else { return .constant(false) }
        return switch comparator {
        case .equal, .in: .date(date, date, isInverted: false)
        case .notEqual: .date(date, date, isInverted: true)
        case .less:
            date.predecessor.map { .date(.minimum, $0, isInverted: false) } ?? .constant(false)
        case .lessOrEqual: .date(.minimum, date, isInverted: false)
        case .greater:
            date.successor.map { .date($0, .maximum, isInverted: false) } ?? .constant(false)
        case .greaterOrEqual: .date(date, .maximum, isInverted: false)
        default: .constant(false)
        }
    }

    private static func fixedTest(_ comparator: Comparator, _ constant: Constant)
        -> ColumnPredicate
    {
        let bytes: FixedBytes
        switch constant {
        case .uuid(let value), .objectId(let value): bytes = value
        default: return .constant(false)
        }
        return switch comparator {
        case .equal, .in: .fixed(bytes, bytes, isInverted: false)
        case .notEqual: .fixed(bytes, bytes, isInverted: true)
        case .less:
            bytes.predecessor.map { .fixed(.zero, $0, isInverted: false) } ?? .constant(false)
        case .lessOrEqual: .fixed(.zero, bytes, isInverted: false)
        case .greater:
            bytes.successor.map { .fixed($0, .maximum, isInverted: false) } ?? .constant(false)
        case .greaterOrEqual: .fixed(bytes, .maximum, isInverted: false)
        default: .constant(false)
        }
    }

    private static func linkTest(_ comparator: Comparator, _ constant: Constant) -> ColumnPredicate
    {
        let target: LinkConstant
        switch constant {
        case .link(let object): target = .key(object.key)
        case .objectWithKey(let classID, let key): target = .primaryKey(classID, key)
        default: return .constant(false)
        }
        return .link(target, isInverted: comparator == .notEqual)
    }

    private static func textTest(
        _ comparator: Comparator, _ constant: Constant, _ options: StringOptions
    ) -> ColumnPredicate {
        let bytes: [UInt8]
        var pattern: LikePattern?
        switch constant {
        case .string(let text):
            bytes = text.bytes
            pattern = text.pattern
        case .data(let data): bytes = data
        default: return .constant(false)
        }
        guard let operation = TextTest.Operation(comparator) else { return .constant(false) }
        let needle = options.isEmpty ? bytes : CaseFolding.folded(bytes, options)
        return .text(
            TextTest(
                operation: operation, needle: needle, options: options,
                pattern: operation == .like ? (pattern ?? LikePattern(bytes)) : nil,
                expression: operation == .matches ? try? RegularExpression(bytes) : nil))
    }

    // MARK: Numbers

    private static func intTest(_ comparator: Comparator, _ constant: Constant) -> ColumnPredicate {
        if case .int(let value) = constant { return intTest(comparator, value) }
        guard let number = constant.number else { return .constant(false) }
        if number.isNaN { return comparator == .notEqual ? .constant(true) : .constant(false) }
        switch constant {
        case .decimal(let decimal): return intTest(comparator, decimal)
        case .written(let number) where number.isBeyondDouble:
            return intTest(comparator, number.decimal)
        default: break
        }
        // The number is between two integers, or beyond all of them.
        if number >= 0x1p63 { return beyond(comparator, isAbove: true) }
        if number < -0x1p63 { return beyond(comparator, isAbove: false) }
        if case .large(let large) = constant, large.orderOfNearest != 0 || large.isNegative {
            return beyond(comparator, isAbove: !large.isNegative)
        }
        let floor = number.rounded(.down)
        return floor == number
            ? intTest(comparator, Int64(number)) : intTest(comparator, above: Int64(floor))
    }

    private static func intTest(_ comparator: Comparator, _ decimal: Decimal128)
        -> ColumnPredicate
    {
        guard let (floor, isExact) = decimal.floor else {
            return beyond(comparator, isAbove: !decimal.isNegative)
        }
        return isExact ? intTest(comparator, floor) : intTest(comparator, above: floor)
    }

    /// The constant is between an integer and the next.
    private static func intTest(_ comparator: Comparator, above floor: Int64) -> ColumnPredicate {
        switch comparator {
        case .less, .lessOrEqual: .int(.min, floor, isInverted: false)
        case .greater, .greaterOrEqual:
            floor == .max ? .constant(false) : .int(floor + 1, .max, isInverted: false)
        case .notEqual: .constant(true)
        default: .constant(false)
        }
    }

    private static func intTest(_ comparator: Comparator, _ value: Int64) -> ColumnPredicate {
        switch comparator {
        case .equal, .in: .int(value, value, isInverted: false)
        case .notEqual: .int(value, value, isInverted: true)
        case .less: value == .min ? .constant(false) : .int(.min, value - 1, isInverted: false)
        case .lessOrEqual: .int(.min, value, isInverted: false)
        case .greater: value == .max ? .constant(false) : .int(value + 1, .max, isInverted: false)
        case .greaterOrEqual: .int(value, .max, isInverted: false)
        default: .constant(false)
        }
    }

    /// Every integer is on one side of the constant.
    private static func beyond(_ comparator: Comparator, isAbove: Bool) -> ColumnPredicate {
        switch comparator {
        case .notEqual: .constant(true)
        case .less, .lessOrEqual: isAbove ? .null(passes: false) : .constant(false)
        case .greater, .greaterOrEqual: isAbove ? .constant(false) : .null(passes: false)
        default: .constant(false)
        }
    }

    private static func doubleTest(_ comparator: Comparator, _ constant: Constant, isFloat: Bool)
        -> ColumnPredicate
    {
        guard var number = constant.number else { return .constant(false) }
        var order = 0
        switch constant {
        case .int(let value): order = Self.order(of: number, to: value)
        case .large(let large): order = large.orderOfNearest
        case .written(let written) where written.isBeyondDouble:
            order = Decimal128.order(of: number, to: written.decimal)
        case .double where isFloat, .written where isFloat:
            // A number without a near float stays unchanged.
            let float = Float(number)
            if float.isFinite == number.isFinite, float != 0 || number == 0 {
                number = Double(float)
            }
        case .decimal(let value) where !value.isNaN:
            order = Decimal128.order(of: number, to: value)
        default: break
        }
        if number.isNaN { return nanTest(comparator) }
        // `order` is the side of the exact constant on which the double next to it is.
        let lowest = order < 0 ? number.nextUp : number
        let highest = order > 0 ? number.nextDown : number
        return switch comparator {
        case .equal, .in:
            order == 0
                ? .double(number, number, isInverted: false, passesNaN: false) : .constant(false)
        case .notEqual:
            order == 0
                ? .double(number, number, isInverted: true, passesNaN: true) : .constant(true)
        case .less:
            .double(
                -.infinity, order < 0 ? number : number.nextDown, isInverted: false,
                passesNaN: false
            ).emptyIf(order >= 0 && number == -.infinity)
        case .lessOrEqual: .double(-.infinity, highest, isInverted: false, passesNaN: false)
        case .greater:
            .double(
                order > 0 ? number : number.nextUp, .infinity, isInverted: false, passesNaN: false
            ).emptyIf(order <= 0 && number == .infinity)
        case .greaterOrEqual: .double(lowest, .infinity, isInverted: false, passesNaN: false)
        default: .constant(false)
        }
    }

    private func emptyIf(_ isEmpty: Bool) -> ColumnPredicate {
        isEmpty ? .constant(false) : self
    }

    private static func decimalTest(_ comparator: Comparator, _ constant: Constant)
        -> ColumnPredicate
    {
        guard let (floor, isExact) = constant.decimalFloor else { return .constant(false) }
        let key = floor.orderKey
        if floor.isNaN {
            return switch comparator {
            case .equal, .in, .lessOrEqual, .greaterOrEqual: .decimal(key, key, isInverted: false)
            case .notEqual: .decimal(key, key, isInverted: true)
            default: .constant(false)
            }
        }
        // The key of NaN is less than this one.
        let least = Decimal128.infinity.negated.orderKey
        switch comparator {
        case .equal, .in: return isExact ? .decimal(key, key, isInverted: false) : .constant(false)
        case .notEqual: return isExact ? .decimal(key, key, isInverted: true) : .constant(true)
        case .less where isExact, .greaterOrEqual where isExact:
            guard comparator == .less else { return .decimal(key, .maximum, isInverted: false) }
            guard key > least, let before = key.predecessor else { return .constant(false) }
            return .decimal(least, before, isInverted: false)
        case .less, .lessOrEqual: return .decimal(least, key, isInverted: false)
        case .greater, .greaterOrEqual:
            return key.successor.map { .decimal($0, .maximum, isInverted: false) }
                ?? .constant(false)
        default: return .constant(false)
        }
    }

    /// NaN equals NaN and is neither less nor greater than anything.
    private static func nanTest(_ comparator: Comparator) -> ColumnPredicate {
        switch comparator {
        case .equal, .in, .lessOrEqual, .greaterOrEqual:
            .double(.infinity, -.infinity, isInverted: false, passesNaN: true)
        case .notEqual: .double(.infinity, -.infinity, isInverted: true, passesNaN: false)
        default: .constant(false)
        }
    }

    /// -1, 0 or 1 as the double is less than, equal to or greater than the integer, exactly.
    static func order(of double: Double, to integer: Int64) -> Int {
        if double >= 0x1p63 { return 1 }
        if double < -0x1p63 { return -1 }
        let whole = Int64(double.rounded(.down))
        if whole != integer { return whole < integer ? -1 : 1 }
        return double.rounded(.down) == double ? 0 : 1
    }
}

extension TextTest.Operation {
    init?(_ comparator: Comparator) {
        switch comparator {
        case .equal, .in: self = .equal
        case .notEqual: self = .notEqual
        case .less: self = .less
        case .lessOrEqual: self = .lessOrEqual
        case .greater: self = .greater
        case .greaterOrEqual: self = .greaterOrEqual
        case .beginsWith: self = .beginsWith
        case .endsWith: self = .endsWith
        case .contains: self = .contains
        case .like: self = .like
        case .matches: self = .matches
        case .between: return nil
        }
    }
}

extension Timestamp {
    static let minimum = Timestamp(seconds: .min, nanoseconds: -999_999_999)
    static let maximum = Timestamp(seconds: .max, nanoseconds: 999_999_999)

    /// The next pair in order, whether or not a date can be written so; nil at the end of time.
    var successor: Timestamp? {
        if nanoseconds < 999_999_999 {
            return Timestamp(seconds: seconds, nanoseconds: nanoseconds + 1)
        }
        return seconds == .max ? nil : Timestamp(seconds: seconds + 1, nanoseconds: -999_999_999)
    }

    /// The pair before in order, whether or not a date can be written so; nil at the beginning of
    /// time.
    var predecessor: Timestamp? {
        if nanoseconds > -999_999_999 {
            return Timestamp(seconds: seconds, nanoseconds: nanoseconds - 1)
        }
        return seconds == .min ? nil : Timestamp(seconds: seconds - 1, nanoseconds: 999_999_999)
    }
}

extension FixedBytes {
    static let maximum = FixedBytes(high: .max, low: .max)

    /// The next greater 16 bytes; nil after the greatest.
    var successor: FixedBytes? {
        if low < .max { return FixedBytes(high: high, low: low + 1) }
        return high < .max ? FixedBytes(high: high + 1, low: 0) : nil
    }

    /// The next smaller 16 bytes; nil before the smallest.
    var predecessor: FixedBytes? {
        if low > 0 { return FixedBytes(high: high, low: low - 1) }
        return high > 0 ? FixedBytes(high: high - 1, low: .max) : nil
    }

    /// The first eight bytes as an integer that sorts as they do.
    @inline(__always)
    var leading: Int64 { Int64(bitPattern: high ^ (1 << 63)) }

    @inline(__always)
    init(leading: Int64, low: UInt64) {
        self.init(high: UInt64(bitPattern: leading) ^ (1 << 63), low: low)
    }
}
