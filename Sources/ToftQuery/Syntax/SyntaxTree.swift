package import ToftModel
package import ToftStorage

// The syntax of a query, before it is bound to a schema. The parser makes these from text; an API
// that builds queries from code makes them directly (offsets are then `-1`) and passes them to the
// same binder.

/// A predicate, then the operations on the objects that satisfy it, in order.
package struct QuerySyntax: Sendable {
    package var predicate: PredicateSyntax
    package var orderings: [OrderingSyntax]
    /// The text, for messages.
    package var source: QuerySource

    package init(
        _ predicate: PredicateSyntax, orderings: [OrderingSyntax] = [], source: QuerySource = .none
    ) {
        self.predicate = predicate
        self.orderings = orderings
        self.source = source
    }
}

/// Something that is true or false of an object.
package indirect enum PredicateSyntax: Sendable {
    /// TRUEPREDICATE, FALSEPREDICATE
    case constant(Bool)
    case not(PredicateSyntax)
    /// Two or more.
    case and([PredicateSyntax])
    /// Two or more.
    case or([PredicateSyntax])
    case comparison(ComparisonSyntax)
}

/// Two values and how they are compared.
package struct ComparisonSyntax: Sendable {
    package var left: ExpressionSyntax
    package var comparator: Comparator
    package var options: StringOptions
    package var right: ExpressionSyntax
    /// The operator's offset.
    package var offset: Int

    package init(
        _ left: ExpressionSyntax, _ comparator: Comparator, options: StringOptions = [],
        _ right: ExpressionSyntax, offset: Int = -1
    ) {
        self.left = left
        self.comparator = comparator
        self.options = options
        self.right = right
        self.offset = offset
    }
}

/// The comparison of two values.
package enum Comparator: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case `in` = "IN"
    case between = "BETWEEN"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case contains = "CONTAINS"
    case like = "LIKE"
    /// The whole text matches a regular expression.
    case matches = "MATCHES"

    /// BEGINSWITH and its kin: strings and data only.
    var isStringOperator: Bool {
        switch self {
        case .beginsWith, .endsWith, .contains, .like, .matches: true
        default: false
        }
    }
}

/// ANY (or SOME), ALL, NONE before a collection.
package enum Quantifier: String, Sendable {
    case any = "ANY"
    case all = "ALL"
    case none = "NONE"
}

/// A value: a constant, a path, or a computation with them.
package indirect enum ExpressionSyntax: Sendable {
    case literal(Literal, offset: Int)
    /// `{1, 2}`; elements are literals.
    case list(Quantifier?, [ListElement], offset: Int)
    /// `ANY $0`
    case quantifiedArgument(Quantifier, Int, offset: Int)
    case path(PathSyntax)
    case arithmetic(ArithmeticOperator, ExpressionSyntax, ExpressionSyntax, offset: Int)
    case subquery(SubquerySyntax)

    /// An element of a list literal.
    package struct ListElement: Sendable {
        package var literal: Literal
        package var offset: Int

        init(_ literal: Literal, offset: Int = -1) {
            self.literal = literal
            self.offset = offset
        }
    }

    /// The expression's offset.
    package var offset: Int {
        switch self {
        case .literal(_, let offset), .list(_, _, let offset),
            .quantifiedArgument(_, _, let offset):
            offset
        case .path(let path): path.offset
        case .arithmetic(_, let left, _, _): left.offset
        case .subquery(let subquery): subquery.offset
        }
    }
}

package enum ArithmeticOperator: String, Sendable {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
}

/// A constant as it is written.
package enum Literal: Sendable {
    case null
    case bool(Bool)
    case integer(IntegerLiteral)
    /// A number with a point or an exponent, infinity or NaN.
    case double(WrittenNumber)
    /// A number that ends in `f`.
    case float(Float)
    case string(StringLiteral)
    case data([UInt8])
    case date(Timestamp)
    /// 16 bytes.
    case uuid([UInt8])
    /// 12 bytes.
    case objectId([UInt8])
    /// A double, a decimal or a link of just this type: `double(0.1)`, `decimal(0.1)`, `L3:17`.
    case value(Value)
    /// `O17`: an object of the class that the link beside it leads to.
    case objectKey(Int64)
    /// `$0`
    case argument(Int)
    /// `obj('Person', 5)`
    case object(className: String, primaryKey: PrimaryKeyLiteral)

    /// The key inside `obj(...)`.
    package enum PrimaryKeyLiteral: Sendable {
        case null
        case integer(Int64)
        case string(String)
        case uuid([UInt8])
        case objectId([UInt8])
        case argument(Int)
        /// No type of primary keys.
        case other
    }
}

extension Literal {
    /// The constant that a word means if no property has this name: Cocoa's YES and NO, and `O17`.
    init?(word: String) {
        switch word {
        case "YES": self = .bool(true)
        case "NO": self = .bool(false)
        default:
            let digits = word.utf8.dropFirst()
            guard word.utf8.first == UInt8(ascii: "O"), digits.allSatisfy(ASCII.isDigit),
                let key = Int64(word.dropFirst())
            else { return nil }
            self = .objectKey(key)
        }
    }
}

/// A whole number of any length.
package enum IntegerLiteral: Hashable, Sendable {
    case small(Int64)
    /// Beyond 64 bits: the digits without leading zeros.
    case large(isNegative: Bool, digits: [UInt8])
}

/// A number as it is written with a point or an exponent.
package struct WrittenNumber: Sendable {
    /// The double next to it.
    var double: Double
    /// The decimal next to it, which is finite.
    var decimal: Decimal128
    /// Whether it has no more digits than a decimal.
    var isExact = true

    static let infinity = WrittenNumber(double: .infinity, decimal: .infinity)
    static let nan = WrittenNumber(double: .nan, decimal: .nan)

    var negated: WrittenNumber {
        WrittenNumber(double: -double, decimal: decimal.negated, isExact: isExact)
    }

    /// Whether no double is near it because its magnitude is out of range.
    var isBeyondDouble: Bool {
        double.isInfinite && !decimal.isInfinite || double == 0 && !decimal.isZero
    }
}

/// A text constant.
package struct StringLiteral: Sendable {
    /// UTF-8, or whatever bytes a `B64"..."` held.
    package var bytes: [UInt8]
    /// The pattern for LIKE, when the text was written in a query: there a backslash makes `*`, `?`
    /// and `\` ordinary.
    var pattern: LikePattern?

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    init(bytes: [UInt8], pattern: LikePattern? = nil) {
        self.bytes = bytes
        self.pattern = pattern
    }
}

/// A path from an object: `boss.dogs.@max.age`, `ANY friends.city.name`.
package struct PathSyntax: Sendable {
    var quantifier: Quantifier?
    package var elements: [Element]
    package var offset: Int

    package init(_ elements: [Element], quantifier: Quantifier? = nil, offset: Int = -1) {
        self.quantifier = quantifier
        self.elements = elements
        self.offset = offset
    }

    /// One step of a path.
    package struct Element: Sendable {
        package enum Kind: Sendable, Equatable {
            /// A property, a class after `@links`, or a variable of a subquery.
            case name(String)
            /// `$K0`: a property path that is given as an argument.
            case argument(Int)
            case operation(PathOperation)
            case index(PathIndex)
        }

        package var kind: Kind
        package var offset: Int

        package init(_ kind: Kind, offset: Int = -1) {
            self.kind = kind
            self.offset = offset
        }
    }
}

/// The words with `@`.
package enum PathOperation: String, Sendable {
    case count = "@count"
    case size = "@size"
    case minimum = "@min"
    case maximum = "@max"
    case sum = "@sum"
    case average = "@avg"
    case links = "@links"
    case type = "@type"
    case keys = "@keys"
    case values = "@values"
}

/// The possible contents of brackets.
package enum PathIndex: Sendable, Equatable {
    case position(Int)
    case first
    case last
    case size
    /// `[*]`
    case every
    /// `['key']`, of a dictionary.
    case key(String)
    /// `[$0]`
    case argument(Int)
}

/// `SUBQUERY(path, $variable, predicate).@count`
package struct SubquerySyntax: Sendable {
    package var collection: PathSyntax
    /// With its `$`.
    package var variable: String
    package var predicate: PredicateSyntax
    package var offset: Int

    package init(
        _ collection: PathSyntax, variable: String, _ predicate: PredicateSyntax, offset: Int = -1
    ) {
        self.collection = collection
        self.variable = variable
        self.predicate = predicate
        self.offset = offset
    }
}

/// SORT, DISTINCT, LIMIT, OFFSET, FILTER: applied in written order.
package enum OrderingSyntax: Sendable {
    case sort([SortKey])
    case distinct([PathSyntax])
    case limit(Int)
    /// All but the first.
    case offset(Int)
    /// A condition on the results of the previous steps.
    case filter(PredicateSyntax)

    /// A path and a direction.
    package struct SortKey: Sendable {
        package var path: PathSyntax
        package var isAscending: Bool

        package init(_ path: PathSyntax, isAscending: Bool) {
            self.path = path
            self.isAscending = isAscending
        }
    }
}
