internal import ToftPlatform

/// A regular expression as MATCHES takes it, compiled to a program for an automaton.
///
/// It has characters, `.`, sets (`[a-z]`, `[^a-z]`), the classes `\d` `\w` `\s` and `\D` `\W`
/// `\S`, groups, `|`, `*` `+` `?` `{2}` `{2,}` `{2,5}`, `^` and `$`, and escapes. It has nothing
/// that an automaton cannot do in one pass: no references to groups, no looking around.
struct RegularExpression: Sendable {
    /// One step of an automaton; jumps are relative to it.
    enum Instruction: Sendable {
        case character(UInt32)
        /// Any character that ends no line.
        case any
        case set(CharacterSet)
        case split(Int, Int)
        case jump(Int)
        case beginning
        case end
    }

    /// The fault, and its byte.
    struct Failure: Error {
        var reason: String
        var offset: Int
    }

    /// The end of the program is a match.
    let program: [Instruction]

    /// Most steps of a program: a text takes at most as many for each character.
    static let programLimit = 2_000
    /// Most levels of nested groups.
    static let depthLimit = 100

    init(_ text: [UInt8]) throws(Failure) {
        var reader = ExpressionReader(text)
        program = try reader.whole()
    }
}

/// Characters between brackets, or a class of them.
struct CharacterSet: Sendable, Hashable {
    var isInverted = false
    /// First and last code points.
    var ranges: [ClosedRange<UInt32>] = []
    /// The letters of classes: `d`, `w`, `s`, `D`, `W`, `S`.
    var classes: [UInt8] = []

    /// Whether one of `scalars`, which count as one character, is in the set.
    func contains(_ scalars: [UInt32]) -> Bool {
        for scalar in scalars {
            for range in ranges where range.contains(scalar) { return !isInverted }
            for letter in classes
            where Self.isMember(scalar, of: letter | 0x20) == (letter & 0x20 != 0) {
                return !isInverted
            }
        }
        return isInverted
    }

    /// True for the characters that end a line: `.` does not match them.
    static func endsLine(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    private static func isMember(_ scalar: UInt32, of letter: UInt8) -> Bool {
        guard let properties = Unicode.Scalar(scalar)?.properties else { return false }
        let category = properties.generalCategory
        switch letter {
        case UInt8(ascii: "d"): return category == .decimalNumber
        case UInt8(ascii: "s"): return properties.isWhitespace
        default:
            switch category {
            case .decimalNumber, .connectorPunctuation, .nonspacingMark, .spacingMark,
                .enclosingMark:
                return true
            default: return properties.isAlphabetic || properties.isJoinControl
            }
        }
    }
}

/// Reads an expression from left to right; each part gives the instructions for it.
private struct ExpressionReader {
    typealias Program = [RegularExpression.Instruction]

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func whole() throws(RegularExpression.Failure) -> Program {
        let program = try alternatives()
        if position < bytes.count { throw failure("This ) closes nothing.") }
        return program
    }

    private func failure(_ reason: String, at offset: Int? = nil) -> RegularExpression.Failure {
        RegularExpression.Failure(reason: reason, offset: offset ?? position)
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func accept(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// The character here, which is stepped over.
    private mutating func scalar() throws(RegularExpression.Failure) -> UInt32 {
        guard position < bytes.count else { throw failure("The expression ends here.") }
        let (scalar, length) = bytes.withUnsafeBytes { UTF8Decoding.scalar($0, at: position) }
        position += length
        return scalar
    }

    private func limited(_ program: Program, times count: Int = 1)
        throws(RegularExpression.Failure) -> Program
    {
        if program.count * count > RegularExpression.programLimit {
            throw failure(
                "It takes more than \(RegularExpression.programLimit) steps: repeat less.")
        }
        return program
    }

    private mutating func alternatives() throws(RegularExpression.Failure) -> Program {
        var program = try sequence()
        while accept("|") {
            let other = try sequence()
            program =
                [.split(1, program.count + 2)] + program + [.jump(other.count + 1)] + other
            _ = try limited(program)
        }
        return program
    }

    private mutating func sequence() throws(RegularExpression.Failure) -> Program {
        var program: Program = []
        while let next, next != UInt8(ascii: "|"), next != UInt8(ascii: ")") {
            program += try repeated(try atom())
            _ = try limited(program)
        }
        return program
    }

    /// `atom` with the repetition that follows it. Greediness makes no difference to matching a
    /// whole text.
    private mutating func repeated(_ atom: Program) throws(RegularExpression.Failure) -> Program {
        var program = atom
        while true {
            switch next {
            case UInt8(ascii: "*"):
                program =
                    [.split(1, program.count + 2)] + program + [.jump(-program.count - 1)]
            case UInt8(ascii: "+"): program += [.split(-program.count, 1)]
            case UInt8(ascii: "?"): program = [.split(1, program.count + 1)] + program
            case UInt8(ascii: "{"):
                program = try counted(program)
                position -= 1
            default: return program
            }
            position += 1
            _ = accept("?")
            if let next, [UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "{")].contains(next) {
                throw failure("A repetition is repeated.")
            }
        }
    }

    /// At `{`: `{2}`, `{2,}` or `{2,5}`.
    private mutating func counted(_ atom: Program) throws(RegularExpression.Failure) -> Program {
        let start = position
        position += 1
        let least = number()
        var most: Int? = least
        if accept(",") { most = next == UInt8(ascii: "}") ? nil : number() ?? -1 }
        guard let least, accept("}"), most.map({ $0 >= least }) != false else {
            throw failure("Repetitions are written {2}, {2,} or {2,5}.", at: start)
        }
        if atom.isEmpty { return atom }
        _ = try limited(atom, times: least)
        var program = Program(repeatElement(atom, count: least).joined())
        if let most {
            let optional: Program = [.split(1, atom.count + 1)] + atom
            _ = try limited(optional, times: most - least)
            program += repeatElement(optional, count: most - least).joined()
        } else {
            program += [.split(1, atom.count + 2)] + atom + [.jump(-atom.count - 1)]
        }
        return try limited(program)
    }

    private mutating func number() -> Int? {
        var value: Int?
        while let digit = next, ASCII.isDigit(digit) {
            value = min((value ?? 0) * 10 + Int(digit & 0x0F), 1_000_000)
            position += 1
        }
        return value
    }

    private mutating func atom() throws(RegularExpression.Failure) -> Program {
        let start = position
        let scalar = try scalar()
        switch Unicode.Scalar(scalar) {
        case "(": return try group(from: start)
        case "[": return [.set(try set(from: start))]
        case ".": return [.any]
        case "^": return [.beginning]
        case "$": return [.end]
        case "\\":
            let (value, letter) = try escape()
            if let letter { return [.set(CharacterSet(classes: [letter]))] }
            return [.character(value)]
        case "*", "+", "?", "{": throw failure("There is nothing to repeat.", at: start)
        default: return [.character(scalar)]
        }
    }

    /// After `(`.
    private mutating func group(from start: Int) throws(RegularExpression.Failure) -> Program {
        if accept("?"), !accept(":") {
            throw failure("Groups are written (...) or (?:...); there is no looking around.")
        }
        depth += 1
        guard depth <= RegularExpression.depthLimit else {
            throw failure("Groups nest deeper than \(RegularExpression.depthLimit) levels.")
        }
        guard ThreadStack.hasRoom() else {
            throw failure("Groups nest deeper than the stack of the calling thread allows.")
        }
        let program = try alternatives()
        depth -= 1
        guard accept(")") else { throw failure("This group has no end.", at: start) }
        return program
    }

    /// After a backslash: the character that is meant, or the letter of a class.
    private mutating func escape() throws(RegularExpression.Failure) -> (UInt32, UInt8?) {
        let start = position - 1
        let scalar = try scalar()
        let isASCII = scalar < 0x80
        switch Unicode.Scalar(scalar) {
        case "d", "w", "s", "D", "W", "S": return (0, UInt8(truncatingIfNeeded: scalar))
        case "n": return (0x0A, nil)
        case "r": return (0x0D, nil)
        case "t": return (0x09, nil)
        case "f": return (0x0C, nil)
        case "u":
            var value: UInt32 = 0
            for _ in 0..<4 {
                guard let digit = next.flatMap(ASCII.hexadecimalDigit) else {
                    throw failure("\\u needs four hexadecimal digits.", at: start)
                }
                value = value << 4 | UInt32(digit)
                position += 1
            }
            return (value, nil)
        case let letter? where isASCII && letter.properties.isAlphabetic || (48...57) ~= scalar:
            throw failure("There is no such escape.", at: start)
        default: return (scalar, nil)
        }
    }

    /// After `[`.
    private mutating func set(from start: Int) throws(RegularExpression.Failure) -> CharacterSet {
        var set = CharacterSet(isInverted: accept("^"))
        repeat {
            guard next != nil else { throw failure("This set has no end.", at: start) }
            let itemStart = position
            guard let first = try setItem(&set) else { continue }
            var last = first
            if next == UInt8(ascii: "-"), position + 1 < bytes.count,
                bytes[position + 1] != UInt8(ascii: "]")
            {
                position += 1
                last = try setItem(&set) ?? 0
            }
            guard first <= last else { throw failure("This range runs backwards.", at: itemStart) }
            set.ranges.append(first...last)
        } while !accept("]")
        return set
    }

    /// One character of a set; nil for a class, which is added.
    private mutating func setItem(_ set: inout CharacterSet) throws(RegularExpression.Failure)
        -> UInt32?
    {
        let scalar = try scalar()
        switch Unicode.Scalar(scalar) {
        case "\\":
            let (value, letter) = try escape()
            guard let letter else { return value }
            set.classes.append(letter)
            return nil
        case "[": throw failure("Within a set write \\[.", at: position - 1)
        default: return scalar
        }
    }
}
