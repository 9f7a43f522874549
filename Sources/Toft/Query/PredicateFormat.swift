internal import ToftEngine
internal import ToftQuery

/// A query in text with its arguments, as Cocoa's predicates write them: `%@` and its kin become
/// `$0`, `$1`..., `%K` a key path argument.
struct PredicateFormat {
    private(set) var text = ""
    let arguments: [QueryArgument]

    /// The databases that objects among the arguments are of.
    private let origins: Set<ObjectIdentifier>

    /// A query to be asked of a realm.
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

/// Goes through the text once; what is between quotes stays as it is.
private struct FormatReader {
    private let characters: [Character]
    private var position = 0
    /// Placeholders with `%`.
    private(set) var count = 0
    /// Whether there are placeholders with `$`.
    private(set) var hasNumbered = false

    /// The letters that may end a format, after lengths such as `ll`.
    private static let conversions: Set<Character> = [
        "@", "d", "D", "i", "u", "U", "x", "X", "f", "F", "e", "g", "G", "s", "c",
    ]

    init(_ format: String) {
        characters = Array(format)
    }

    mutating func translated() -> String {
        var text = ""
        while position < characters.count {
            let character = characters[position]
            switch character {
            case "'", "\"": text += quoted(character)
            case "%": text += placeholder()
            case "$":
                hasNumbered =
                    hasNumbered
                    || (position + 1 < characters.count && characters[position + 1].isNumber)
                text.append(character)
                position += 1
            default:
                text.append(character)
                position += 1
            }
        }
        return text
    }

    private mutating func quoted(_ quote: Character) -> String {
        let start = position
        position += 1
        while position < characters.count, characters[position] != quote {
            position += characters[position] == "\\" ? 2 : 1
        }
        position = min(position + 1, characters.count)
        return String(characters[start..<position])
    }

    private mutating func placeholder() -> String {
        var end = position + 1
        while end < characters.count, "hlqLzt0123456789.".contains(characters[end]) { end += 1 }
        guard end < characters.count else { return literal(through: end) }
        let letter = characters[end]
        guard letter == "K" || Self.conversions.contains(letter) else {
            return literal(through: end + (letter == "%" ? 1 : 0))
        }
        position = end + 1
        defer { count += 1 }
        return letter == "K" ? "$K\(count)" : "$\(count)"
    }

    /// A percent sign that is no placeholder.
    private mutating func literal(through end: Int) -> String {
        defer { position = max(end, position + 1) }
        return "%"
    }
}
