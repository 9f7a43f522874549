internal import ToftModel
internal import ToftStorage

/// One word of a query.
struct Token {
    /// The kind of a word, with its value if it has one.
    enum Kind {
        case end
        /// A name or a keyword: the parser decides by its position.
        case identifier
        case integer(IntegerLiteral)
        case double(WrittenNumber)
        case float(Float)
        case string(StringLiteral)
        /// `B64"..."`, decoded.
        case base64([UInt8])
        case date(Timestamp)
        case uuid([UInt8])
        case objectId([UInt8])
        /// `double(0.1)`, `decimal(0.1)`, `L3:17`
        case value(Value)
        /// `$0`
        case argument(Int)
        /// `$K0`
        case keyPathArgument(Int)
        /// `@count`, `@links`...
        case operation(PathOperation)
        /// `[c]`, `[d]`, `[cd]`
        case options(StringOptions)
        case symbol(Symbol)
    }

    /// Punctuation and operators.
    enum Symbol: String {
        case openParenthesis = "("
        case closeParenthesis = ")"
        case openBrace = "{"
        case closeBrace = "}"
        case openBracket = "["
        case closeBracket = "]"
        case comma = ","
        /// Of statements: no query has one.
        case colon = ":"
        case dot = "."
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case plus = "+"
        case minus = "-"
        case times = "*"
        case divide = "/"
        case not = "!"
        case and = "&&"
        case or = "||"
    }

    var kind: Kind
    /// The bytes of the text that the word takes.
    var range: Range<Int>
}

/// Words with a meaning. Most may also be the name of a property, in the place of a name.
enum Keyword: String {
    case and, or, not
    case anyOf, allOf, noneOf
    case beginsWith = "beginswith"
    case endsWith = "endswith"
    case contains, like, matches, between
    case `in`
    case text
    case geoWithin = "geowithin"
    case truePredicate = "truepredicate"
    case falsePredicate = "falsepredicate"
    case `true`, `false`, null, infinity, nan
    case sort, distinct, limit, offset, filter, ascending, descending
    case subquery
    case object = "obj"
    case binary
    case first, last, size

    /// Whether a property may have this name and still be found.
    var canBeName: Bool {
        switch self {
        case .contains, .like, .matches, .between, .in, .text, .geoWithin, .sort, .distinct,
            .limit, .offset, .filter,
            .ascending, .descending, .binary, .first, .last, .size,
            .beginsWith, .endsWith:
            true
        default:
            false
        }
    }

    /// The keyword that `bytes` spell, in a letter case that counts.
    init?(spelling bytes: ArraySlice<UInt8>) {
        guard let first = bytes.first, bytes.count < Self.beginnings.count,
            Self.beginnings[bytes.count] >> UInt32(first & 31) & 1 == 1
        else { return nil }
        let word = Word(bytes)
        guard let keyword = Self.words.first(where: { $0.word == word })?.keyword else {
            return nil
        }
        if keyword.isCaseSensitive {
            let uppercase = bytes.count { $0 >= 0x41 && $0 <= 0x5A }
            if uppercase != 0, uppercase != bytes.count { return nil }
        }
        self = keyword
    }

    /// A word of up to 15 bytes in lower case, which is compared as a whole.
    private struct Word: Equatable {
        // A one, then the bytes.
        private var high: UInt64 = 0
        private var low: UInt64 = 1

        init(_ bytes: some Sequence<UInt8>) {
            for byte in bytes {
                let isUppercase = byte >= 0x41 && byte <= 0x5A
                high = high << 8 | low >> 56
                low = low << 8 | UInt64(isUppercase ? byte | 0x20 : byte)
            }
        }
    }

    private static let words: [(word: Word, keyword: Keyword)] = spellings.map {
        (Word($0.key.utf8), $0.value)
    }

    /// For each length the letters that keywords of it begin with: bit 1 for A, whatever the case.
    private static let beginnings: [UInt32] = {
        var beginnings = [UInt32](repeating: 0, count: 15)
        for word in spellings.keys {
            for first in word.utf8.prefix(1) {
                beginnings[word.utf8.count] |= 1 << UInt32(first & 31)
            }
        }
        return beginnings
    }()

    /// All-lower or all-upper only; the other keywords may be written in any case.
    private var isCaseSensitive: Bool {
        switch self {
        case .in, .not, .anyOf, .allOf, .noneOf, .true, .false, .first, .last, .size: true
        default: false
        }
    }

    private static let spellings: [String: Keyword] = [
        "and": .and, "or": .or, "not": .not, "any": .anyOf, "some": .anyOf, "all": .allOf,
        "none": .noneOf,
        "beginswith": .beginsWith, "endswith": .endsWith, "contains": .contains, "like": .like,
        "matches": .matches, "between": .between, "in": .in,
        "text": .text, "geowithin": .geoWithin, "truepredicate": .truePredicate,
        "falsepredicate": .falsePredicate,
        "true": .true, "false": .false, "null": .null, "nil": .null, "inf": .infinity,
        "infinity": .infinity, "nan": .nan,
        "sort": .sort, "distinct": .distinct, "limit": .limit,
        "offset": .offset, "filter": .filter, "asc": .ascending,
        "ascending": .ascending,
        "desc": .descending, "descending": .descending, "subquery": .subquery, "obj": .object,
        "bin": .binary, "binary": .binary,
        "first": .first, "last": .last, "size": .size,
    ]
}
