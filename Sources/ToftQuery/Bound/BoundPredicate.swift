internal import ToftModel

/// A predicate bound to a schema.
indirect enum BoundPredicate: Sendable {
    case constant(Bool)
    case not(BoundPredicate)
    case and([BoundPredicate])
    case or([BoundPredicate])
    /// One value against constants; for a multiple value, the number of its elements that must
    /// pass.
    case test(BoundExpression, ColumnPredicate, Quantifier)
    /// The whole of a multiple value against a list of constants, element by element, in order.
    case wholeList(BoundExpression, [ColumnPredicate])
    /// The whole of a set against constants: each element passes a test, each test has an element.
    case wholeSet(BoundExpression, [ColumnPredicate])
    /// Two values against each other.
    case pair(BoundExpression, Comparator, StringOptions, BoundExpression, Quantifier, Quantifier)

    var isTest: Bool { if case .test = self { true } else { false } }
}

/// A value bound to a schema: constants are folded, so at least one path is in it, or it is a
/// constant.
indirect enum BoundExpression: Sendable {
    case constant(Constant)
    case path(BoundPath)
    case arithmetic(BoundArithmetic)

    /// Nil for null.
    var type: ValueType? {
        switch self {
        case .constant(let constant): constant.type
        case .path(let path): path.type
        case .arithmetic(let arithmetic): arithmetic.type
        }
    }

    /// The decimal that a constant number is; nil for all else.
    var decimalConstant: Decimal128? {
        if case .constant(let constant) = self { constant.decimal } else { nil }
    }

    /// The path in it that gives several values.
    var multiplePath: BoundPath? {
        switch self {
        case .constant: nil
        case .path(let path): path.isMultiple ? path : nil
        case .arithmetic(let arithmetic): arithmetic.multiplePath
        }
    }

    /// Whether each value at the end of its path gives one result, whatever the object that the
    /// path begins at.
    var hangsOnPathAlone: Bool {
        switch self {
        case .constant: false
        case .path(let path): path.isMultiple && !path.leaf.isSubquery
        case .arithmetic(let arithmetic):
            switch (arithmetic.left, arithmetic.right) {
            case (let other, .constant), (.constant, let other): other.hangsOnPathAlone
            default: false
            }
        }
    }

    /// The quantifier written before one of its paths.
    var quantifier: Quantifier? {
        switch self {
        case .constant: nil
        case .path(let path): path.quantifier
        case .arithmetic(let arithmetic): arithmetic.quantifier
        }
    }

    /// As it is written.
    var description: String {
        switch self {
        case .constant(let constant): constant.description
        case .path(let path): path.description
        case .arithmetic(let arithmetic):
            "(\(arithmetic.left.description) \(arithmetic.operation.rawValue) "
                + "\(arithmetic.right.description))"
        }
    }
}

/// Two values and their operation.
///
/// Properties of a tree that are needed repeatedly are computed when two trees are joined: computed
/// for both sides at every level, the work would double with each.
struct BoundArithmetic: Sendable {
    let operation: ArithmeticOperator
    let left: BoundExpression
    let right: BoundExpression
    let type: ValueType
    /// The path in it that gives several values.
    let multiplePath: BoundPath?
    /// The quantifier written before one of its paths.
    let quantifier: Quantifier?
    /// Roughly, in nanoseconds for a row.
    let cost: Double

    init(_ operation: ArithmeticOperator, _ left: BoundExpression, _ right: BoundExpression) {
        self.operation = operation
        self.left = left
        self.right = right
        let types = [left.type, right.type]
        type =
            types.contains { $0 == .decimal || $0 == .mixed }
            ? .decimal : types.contains { $0 != .int && $0 != nil } ? .double : .int
        multiplePath = left.multiplePath ?? right.multiplePath
        quantifier = left.quantifier ?? right.quantifier
        cost = left.cost + right.cost + 3
    }
}
