internal import ToftModel

/// A comparison of mixed values with a constant.
struct MixedTest: Sendable {
    var comparator: Comparator
    var options: StringOptions
    /// Not a link.
    var value = Value.null
    /// The constant beside a decimal, if that is a different value.
    var decimal: Decimal128?
    /// The constant if it is a number that `value` cannot represent.
    var inexact: InexactNumber?
    var link: ColumnPredicate.LinkConstant?
    var linkClass: ClassID = 0
    var text: TextTest?

    init(_ comparator: Comparator, _ constant: Constant, _ options: StringOptions) {
        self.comparator = comparator
        self.options = options
        switch constant {
        case .null: break
        case .bool(let bool): value = .bool(bool)
        case .int(let int): value = .int(int)
        case .large(let large):
            let floor = constant.decimalFloor ?? (.nan, true)
            value = .decimal(floor.value)
            if !floor.isExact { inexact = InexactNumber(floor: floor.value, double: large) }
        case .float(let float): value = .float(float)
        case .double(let double): value = .double(double)
        case .decimal(let decimal): value = .decimal(decimal)
        case .written(let number) where number.isBeyondDouble: value = .decimal(number.decimal)
        case .written(let number): (value, decimal) = (.double(number.double), number.decimal)
        case .string(let text): value = .string(String(decoding: text.bytes, as: UTF8.self))
        case .data(let bytes): value = .data(bytes)
        case .date(let date): value = .date(date)
        case .uuid(let bytes): value = .uuid(bytes)
        case .objectId(let bytes): value = .objectId(bytes)
        case .link(let ref): (link, linkClass) = (.key(ref.key), ref.classID)
        case .objectWithKey(let id, let key): (link, linkClass) = (.primaryKey(id, key), id)
        }
        if case .text(let test) = ColumnPredicate(
            .string, comparator == .notEqual ? .equal : comparator, constant, options: options)
        {
            text = test
        }
    }

    /// Whether an index finds the passing values: those equal to a value that is not an object.
    var isEquality: Bool { isIndexed && (comparator == .equal || comparator == .in) }

    /// True for a test of values less or greater that an index can answer.
    var isRange: Bool { isIndexed && isBoundBelow != isBoundAbove }

    private var isIndexed: Bool { link == nil && options.isEmpty && inexact == nil }

    /// Whether passing values are not less than the constant.
    var isBoundBelow: Bool { [.equal, .in, .greater, .greaterOrEqual].contains(comparator) }

    /// Whether passing values are not greater.
    var isBoundAbove: Bool { [.equal, .in, .less, .lessOrEqual].contains(comparator) }

    /// Whether the constant is a string or data, and then which.
    var isString: Bool? {
        switch value {
        case .string: true
        case .data: false
        default: nil
        }
    }
}

/// A whole number of more digits than a decimal has.
struct InexactNumber: Sendable {
    /// The greatest decimal that is less.
    let floor: Decimal128
    /// The number's place among doubles.
    let double: LargeInteger

    /// Less than or greater than 0 as a number is; nil for NaN and for other values.
    func order(_ number: BorrowedValue) -> Int? {
        if number.isNaN { return nil }
        switch number {
        case .int(let value): return Decimal128(value) <= floor ? -1 : 1
        case .decimal(let value): return value <= floor ? -1 : 1
        case .float(let value): return order(Double(value))
        case .double(let value): return order(value)
        default: return nil
        }
    }

    private func order(_ number: Double) -> Int {
        number == double.nearest ? double.orderOfNearest : number < double.nearest ? -1 : 1
    }
}

extension BorrowedValue {
    var isNaN: Bool {
        switch self {
        case .float(let value): value.isNaN
        case .double(let value): value.isNaN
        case .decimal(let value): value.isNaN
        default: false
        }
    }

    /// A number as a decimal, rounded to 34 digits.
    var decimal: Decimal128? {
        switch self {
        case .int(let value): Decimal128(value)
        case .float(let value): Decimal128(Double(value))
        case .double(let value): Decimal128(value)
        case .decimal(let value): value
        default: nil
        }
    }

    var text: (bytes: UnsafeRawBufferPointer, isString: Bool)? {
        switch self {
        case .string(let bytes): (bytes, true)
        case .data(let bytes): (bytes, false)
        default: nil
        }
    }

    /// The order of two values of one kind; nil of others, and of NaN beside a number.
    func comparison(_ other: BorrowedValue) -> Int? {
        mixedRank == other.mixedRank && isNaN == other.isNaN ? mixedOrder(other) : nil
    }
}
