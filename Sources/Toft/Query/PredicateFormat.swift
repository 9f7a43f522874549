internal import ToftEngine
internal import ToftQuery

/// A query in text with its arguments, as Cocoa's predicates write them: `%@` and its kin become
/// `$0`, `$1`..., `%K` a key path argument.
struct PredicateFormat {
    private(set) var text = ""
    let arguments: [QueryArgument]

    /// The databases that objects among the arguments are of.
    private let origins: Set<ObjectIdentifier>

    /// A query for a realm.
    init(_ format: String, _ arguments: [Any], in session: RealmSession) throws {
        try self.init(format, arguments)
        try QueryValue.require(origins, in: session)
    }

    init(_ format: String, _ arguments: [Any]) throws {
        var values = QueryValue()
        self.arguments = try arguments.enumerated().map {
            try values.argument($1, for: "Argument \($0)")
        }
        origins = values.origins
        var reader = FormatReader(format)
        text = reader.translated()
        guard reader.count == 0 || !reader.hasNumbered else {
            throw Realm.Error(.invalidQueryArgument, "A query can't use both %@ and $0: \(format)")
        }
        guard reader.count == 0 || reader.count == arguments.count else {
            throw Realm.Error(
                .invalidQueryArgument,
                "The query has \(reader.count) placeholders, but \(arguments.count) arguments were "
                    + "given: \(format)"
            )
        }
    }
}

/// Reads the text once; quoted parts stay unchanged. By scalars: a mark that combines with a quote
/// leaves it one.
private struct FormatReader {
    private let scalars: [Unicode.Scalar]
    private var position = 0
    /// Placeholders with `%`.
    private(set) var count = 0
    /// Whether there are placeholders with `$`.
    private(set) var hasNumbered = false

    /// The letters that may end a format, after lengths such as `ll`.
    private static let conversions = Set("@dDiuUxXfFegGsc".unicodeScalars)
    private static let lengths = Set("hlqLzt0123456789.".unicodeScalars)
    /// The names of a map's parts in Cocoa's predicates, and the query language's words for them.
    private static let operations = ["@allKeys": "@keys", "@allValues": "@values"]

    init(_ format: String) {
        scalars = Array(format.unicodeScalars)
    }

    mutating func translated() -> String {
        var text: [Unicode.Scalar] = []
        while position < scalars.count {
            let scalar = scalars[position]
            switch scalar {
            case "'", "\"": text += quoted(scalar)
            case "%": text += placeholder().unicodeScalars
            case "@": text += operation().unicodeScalars
            case "$":
                hasNumbered =
                    hasNumbered
                    || (position + 1 < scalars.count && Self.isDigit(scalars[position + 1]))
                text.append(scalar)
                position += 1
            case _ where Self.continuesName(scalar):
                text += word()
            default:
                text.append(scalar)
                position += 1
            }
        }
        return Self.string(text)
    }

    private static func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        String(String.UnicodeScalarView(scalars))
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    private static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
        isDigit(scalar) || scalar == "_" || scalar.properties.isAlphabetic
    }

    /// Goes past the name that begins here.
    private mutating func word() -> ArraySlice<Unicode.Scalar> {
        let start = position
        while position < scalars.count, Self.continuesName(scalars[position]) { position += 1 }
        return scalars[start..<position]
    }

    private mutating func quoted(_ quote: Unicode.Scalar) -> ArraySlice<Unicode.Scalar> {
        let start = position
        position += 1
        while position < scalars.count, scalars[position] != quote {
            position += scalars[position] == "\\" ? 2 : 1
        }
        position = min(position + 1, scalars.count)
        return scalars[start..<position]
    }

    /// `@count` and its kin.
    private mutating func operation() -> String {
        position += 1
        let text = "@" + Self.string(word())
        return Self.operations[text] ?? text
    }

    private mutating func placeholder() -> String {
        var end = position + 1
        while end < scalars.count, Self.lengths.contains(scalars[end]) { end += 1 }
        guard end < scalars.count else { return literal(through: end) }
        let letter = scalars[end]
        guard letter == "K" || Self.conversions.contains(letter) else {
            return literal(through: end + (letter == "%" ? 1 : 0))
        }
        position = end + 1
        defer { count += 1 }
        return letter == "K" ? "$K\(count)" : "$\(count)"
    }

    /// A percent sign that is not a placeholder.
    private mutating func literal(through end: Int) -> String {
        defer { position = max(end, position + 1) }
        return "%"
    }
}
