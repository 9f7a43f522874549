#if Terminal
/// A walk over the code of a `SourceText`, in which comments are blanks.
struct SourceTokens {
    let code: [UInt8]
    var next: Int
    let end: Int

    init(_ code: [UInt8], _ range: Range<Int>) {
        self.code = code
        next = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { next >= end }

    mutating func skipBlanks() {
        while next < end, [0x20, 0x09, 0x0A, 0x0D].contains(code[next]) { next += 1 }
    }

    /// The byte that comes after blanks; nil at the end.
    mutating func peek() -> UInt8? {
        skipBlanks()
        return next < end ? code[next] : nil
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        next += 1
        return true
    }

    /// The name that comes, which may be in backticks; nil if none does.
    mutating func takeName() -> Range<Int>? {
        skipBlanks()
        let start = next
        let isQuoted = next < end && code[next] == UInt8(ascii: "`")
        if isQuoted { next += 1 }
        while next < end, Self.isOfName(code[next]) { next += 1 }
        if isQuoted, next < end, code[next] == UInt8(ascii: "`") { next += 1 }
        return next > start ? start..<next : nil
    }

    static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    /// Skips what is in the brackets that begin here, and these. False where they do not end.
    mutating func skipBrackets() -> Bool {
        var depth = 0
        while next < end {
            switch code[next] {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
            next += 1
            if depth == 0 { return true }
        }
        return false
    }

    func text(_ range: Range<Int>) -> String { String(decoding: code[range], as: UTF8.self) }
}
#endif
