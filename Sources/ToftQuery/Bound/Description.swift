internal import ToftModel
internal import ToftStorage

/// Writes syntax back as the text of a query: with the values of arguments, the paths of aliases,
/// the least parentheses and one spelling for each operator. The text parses and binds to the same
/// query in the same schema.
struct Description {
    private(set) var text = ""
    private var arguments: [QueryArgument] = []
    private var expansions: [Int: [PathSyntax.Element.Kind]] = [:]

    /// Queries that each apply to the results of the one before. A condition moves into the first
    /// one as long as only sorts are in between.
    init(_ sources: [BoundQuery.Source]) {
        var conditions: [BoundQuery.Source] = []
        var isSortedOnly = true
        var later = Description()
        for source in sources {
            if case .constant(true) = source.syntax.predicate {
            } else if isSortedOnly {
                conditions.append(source)
            } else {
                later.take(source)
                later.text += " FILTER("
                later.write(source.syntax.predicate)
                later.text += ")"
            }
            for ordering in source.syntax.orderings {
                later.take(source)
                later.write(ordering)
                if case .sort = ordering { continue }
                isSortedOnly = false
            }
        }
        for (index, source) in conditions.enumerated() {
            take(source)
            if index > 0 { text += " AND " }
            write(source.syntax.predicate, within: conditions.count > 1 ? .conjunction : .all)
        }
        text = (conditions.isEmpty ? "TRUEPREDICATE" : text) + later.text
    }

    private init() {}

    /// Takes the paths of aliases and the arguments of a query.
    private mutating func take(_ source: BoundQuery.Source) {
        arguments = source.arguments
        expansions = source.expansions
    }

    // MARK: Predicates

    /// The context of a predicate.
    private enum Surroundings {
        case all, conjunction, negation
    }

    private mutating func write(
        _ predicate: PredicateSyntax, within surroundings: Surroundings = .all
    ) {
        switch predicate {
        case .constant(let value): text += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .not(let inner):
            text += "NOT "
            write(inner, within: .negation)
        case .and(let parts):
            writeParts(parts, " AND ", .conjunction, inParentheses: surroundings == .negation)
        case .or(let parts): writeParts(parts, " OR ", .all, inParentheses: surroundings != .all)
        case .comparison(let comparison): write(comparison)
        }
    }

    private mutating func writeParts(
        _ parts: [PredicateSyntax], _ separator: String, _ surroundings: Surroundings,
        inParentheses: Bool
    ) {
        if inParentheses { text += "(" }
        for (index, part) in parts.enumerated() {
            if index > 0 { text += separator }
            write(part, within: surroundings)
        }
        if inParentheses { text += ")" }
    }

    private mutating func write(_ comparison: ComparisonSyntax) {
        let isPattern = comparison.comparator == .like
        write(comparison.left, isPattern: isPattern)
        text += " " + comparison.comparator.rawValue + comparison.options.spelling + " "
        write(comparison.right, isPattern: isPattern)
    }

    // MARK: Values

    private mutating func write(
        _ expression: ExpressionSyntax, isPattern: Bool = false, tighterThan precedence: Int = 0
    ) {
        switch expression {
        case .literal(let literal, _): write(literal, isPattern: isPattern)
        case .list(let quantifier, let elements, _):
            writeList(quantifier, elements.map(\.literal), isPattern: isPattern)
        case .quantifiedArgument(let quantifier, let index, _):
            text += quantifier.rawValue + " "
            write(.argument(index), isPattern: isPattern)
        case .path(let path): write(path)
        case .arithmetic(let operation, let left, let right, _):
            let own = operation == .add || operation == .subtract ? 1 : 2
            let inParentheses = own <= precedence
            if inParentheses { text += "(" }
            write(left, tighterThan: own - 1)
            text += " " + operation.rawValue + " "
            write(right, tighterThan: own)
            if inParentheses { text += ")" }
        case .subquery(let subquery):
            text += "SUBQUERY("
            write(subquery.collection)
            text += ", " + Lexer.spelling(ofName: subquery.variable) + ", "
            write(subquery.predicate)
            text += ").@count"
        }
    }

    private mutating func writeList(
        _ quantifier: Quantifier?, _ elements: [Literal], isPattern: Bool
    ) {
        text += (quantifier.map { $0.rawValue + " " } ?? "") + "{"
        for (index, element) in elements.enumerated() {
            if index > 0 { text += ", " }
            write(element, isPattern: isPattern)
        }
        text += "}"
    }

    private mutating func write(_ literal: Literal, isPattern: Bool) {
        switch literal {
        case .null: text += "null"
        case .bool(let value): text += "\(value)"
        case .integer(.small(let value)): text += "\(value)"
        case .integer(.large(let isNegative, let digits)):
            text += (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self)
        case .double(let number): text += Self.spelling(of: number.double, number.decimal)
        case .float(let value): text += value.isFinite ? "\(value)f" : "\(value)"
        case .string(let string): write(string, isPattern: isPattern)
        case .data(let bytes): text += "binary(B64\"\(Base64.text(bytes))\")"
        case .date(let date): text += "T\(date.seconds):\(date.nanoseconds)"
        case .uuid(let bytes): text += "uuid(\(FixedBytes(bytes: bytes).uuidText))"
        case .objectId(let bytes): text += "oid(\(Self.hexadecimal(bytes)))"
        case .value(let value): write(value, isPattern: isPattern)
        case .objectKey(let key): text += "O\(key)"
        case .argument(let index):
            switch index < arguments.count ? arguments[index] : nil {
            case .value(let value)?: write(value, isPattern: isPattern)
            case .list(let values)?:
                writeList(nil, values.map { .value($0) }, isPattern: isPattern)
            case nil: text += "$\(index)"
            }
        case .object(let className, let key):
            text += "obj("
            write(.string(StringLiteral(className)), isPattern: false)
            text += ", "
            write(key.literal, isPattern: false)
            text += ")"
        }
    }

    /// A value that a caller handed in: numbers in the form that keeps their type.
    private mutating func write(_ value: Value, isPattern: Bool) {
        switch value {
        case .double(let value) where value.isFinite: text += "double(\(value))"
        case .double(let value): text += "\(value)"
        case .decimal(let value) where !value.isNaN && !value.isInfinite:
            text += "decimal(\(value.description))"
        case .decimal(let value): text += Self.spelling(of: value.nearestDouble, value)
        case .bool(let value): write(Literal.bool(value), isPattern: false)
        case .int(let value): text += "\(value)"
        case .float(let value): write(Literal.float(value), isPattern: false)
        case .string(let value): write(StringLiteral(value), isPattern: isPattern)
        case .data(let value): write(Literal.data(value), isPattern: false)
        case .date(let value): write(Literal.date(value), isPattern: false)
        case .uuid(let value): text += "uuid(\(value.uuidText))"
        case .objectId(let value): text += "oid(\(value.objectIdText))"
        case .link(let object): text += "L\(object.classID):\(object.key)"
        case .null, .list, .dictionary: text += "null"
        }
    }

    private static func spelling(of value: Double, _ decimal: Decimal128) -> String {
        if decimal.isNaN { return "nan" }
        if decimal.isInfinite { return value < 0 ? "-inf" : "inf" }
        let digits = decimal.description
        return digits.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "E") }
            ? digits : digits + "e0"
    }

    private mutating func write(_ string: StringLiteral, isPattern: Bool) {
        let isText = String(validating: string.bytes, as: UTF8.self) != nil
        if isPattern, let pattern = string.pattern ?? (isText ? LikePattern(string.bytes) : nil) {
            text += "'"
            var plain: [UInt8] = []
            for unit in pattern.units {
                switch unit {
                case LikePattern.anyCharacter: plain.append(UInt8(ascii: "?"))
                case LikePattern.anyRun: plain.append(UInt8(ascii: "*"))
                case UInt16(UInt8(ascii: "?")), UInt16(UInt8(ascii: "*")):
                    writeEscaped(plain)
                    plain = []
                    text += "\\" + (unit == UInt16(UInt8(ascii: "?")) ? "?" : "*")
                default: plain.append(UInt8(truncatingIfNeeded: unit))
                }
            }
            writeEscaped(plain)
            text += "'"
        } else if !isText {
            text += "B64\"\(Base64.text(string.bytes))\""
        } else {
            text += "'"
            writeEscaped(string.bytes)
            text += "'"
        }
    }

    private mutating func writeEscaped(_ bytes: [UInt8]) {
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            switch scalar {
            case "'": text += "\\'"
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\0": text += "\\0"
            default:
                if scalar.value < 0x20 || scalar.value == 0x7F {
                    text += "\\u00" + Self.hexadecimal([UInt8(scalar.value)])
                } else {
                    text.unicodeScalars.append(scalar)
                }
            }
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self)
    }

    // MARK: Paths

    private mutating func write(_ path: PathSyntax) {
        if let quantifier = path.quantifier { text += quantifier.rawValue + " " }
        var isFirst = true
        let written =
            expansions[path.offset] ?? path.elements.flatMap { $0.expanded(with: arguments) }
        for element in written {
            switch element {
            case .index(let index):
                text += "["
                write(index)
                text += "]"
            case .name(let name): text += (isFirst ? "" : ".") + Lexer.spelling(ofName: name)
            case .operation(let operation): text += (isFirst ? "" : ".") + operation.rawValue
            case .argument(let index): text += (isFirst ? "" : ".") + "$K\(index)"
            }
            isFirst = false
        }
    }

    private mutating func write(_ index: PathIndex) {
        switch index {
        case .position(let position): text += "\(position)"
        case .first: text += "FIRST"
        case .last: text += "LAST"
        case .size: text += "SIZE"
        case .every: text += "*"
        case .key(let key): write(.string(StringLiteral(key)), isPattern: false)
        case .argument(let index): write(.argument(index), isPattern: false)
        }
    }

    // MARK: Orderings

    private mutating func write(_ ordering: OrderingSyntax) {
        switch ordering {
        case .sort(let keys):
            writePaths("SORT", keys.map(\.path)) { keys[$0].isAscending ? " ASC" : " DESC" }
        case .distinct(let paths): writePaths("DISTINCT", paths) { _ in "" }
        case .limit(let count): text += " LIMIT(\(count))"
        case .offset(let count): text += " OFFSET(\(count))"
        case .filter(let predicate):
            text += " FILTER("
            write(predicate)
            text += ")"
        }
    }

    private mutating func writePaths(
        _ word: String, _ paths: [PathSyntax], _ direction: (Int) -> String
    ) {
        text += " " + word + "("
        for (index, path) in paths.enumerated() {
            if index > 0 { text += ", " }
            write(path)
            text += direction(index)
        }
        text += ")"
    }
}

extension Literal.PrimaryKeyLiteral {
    fileprivate var literal: Literal {
        switch self {
        case .null, .other: .null
        case .integer(let value): .integer(.small(value))
        case .string(let value): .string(StringLiteral(value))
        case .uuid(let bytes): .uuid(bytes)
        case .objectId(let bytes): .objectId(bytes)
        case .argument(let index): .argument(index)
        }
    }
}

extension PathSyntax.Element {
    /// The elements of `$K0`; other elements unchanged. An argument that is not a key path gives
    /// nothing.
    func expanded(with arguments: [QueryArgument]) -> [Kind] {
        guard case .argument(let index) = kind else { return [kind] }
        guard index < arguments.count, case .value(.string(let text)) = arguments[index],
            !text.isEmpty
        else { return [] }
        return Self.Kind.parts(of: text)
    }
}
