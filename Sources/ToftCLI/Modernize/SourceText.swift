#if Terminal
/// A file of Swift as bytes, and the same bytes with blanks for what is no code, so that a search
/// for code finds none in comments and texts.
struct SourceText {
    let bytes: [UInt8]
    /// As long as `bytes`: comments and the contents of texts are blanks, line ends stay.
    let code: [UInt8]
    /// The begin of each line; the last is the end.
    let lineStarts: [Int]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var blanker = Blanker(bytes)
        code = blanker.run()
        lineStarts =
            [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
            + (bytes.last == UInt8(ascii: "\n") || bytes.isEmpty ? [] : [bytes.count])
    }

    var lineCount: Int { lineStarts.count - 1 }

    /// The bytes of a line without its end.
    func range(ofLine line: Int) -> Range<Int> {
        var end = lineStarts[line + 1]
        while end > lineStarts[line], [0x0A, 0x0D].contains(bytes[end - 1]) { end -= 1 }
        return lineStarts[line]..<end
    }

    /// The line, from 0, that a byte is in.
    func line(of index: Int) -> Int {
        var (low, high) = (0, lineStarts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= index { low = middle } else { high = middle }
        }
        return low
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

/// Goes through Swift and blanks comments and texts. An unfinished one ends with the file.
private struct Blanker {
    private let bytes: [UInt8]
    private var code: [UInt8]
    private var next = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        code = bytes
    }

    mutating func run() -> [UInt8] {
        skipCode(untilParenthesis: false)
        return code
    }

    private func has(_ text: StaticString, at index: Int) -> Bool {
        text.withUTF8Buffer { wanted in
            index + wanted.count <= bytes.count
                && wanted.indices.allSatisfy { bytes[index + $0] == wanted[$0] }
        }
    }

    private mutating func blank(_ count: Int) {
        for index in next..<min(next + count, bytes.count)
        where ![0x0A, 0x0D].contains(bytes[index]) {
            code[index] = UInt8(ascii: " ")
        }
        next += count
    }

    /// - Parameter untilParenthesis: whether it ends behind the parenthesis that closes an
    ///   interpolation.
    private mutating func skipCode(untilParenthesis: Bool) {
        var depth = 0
        while next < bytes.count {
            if has("//", at: next) {
                while next < bytes.count, bytes[next] != UInt8(ascii: "\n") { blank(1) }
            } else if has("/*", at: next) {
                skipComment()
            } else if let hashes = textStart() {
                skipText(hashes)
            } else {
                let byte = bytes[next]
                if untilParenthesis {
                    if byte == UInt8(ascii: "(") { depth += 1 }
                    if byte == UInt8(ascii: ")") {
                        guard depth > 0 else { return blank(1) }
                        depth -= 1
                    }
                    blank(1)
                } else {
                    next += 1
                }
            }
        }
    }

    /// Comments stand in one another.
    private mutating func skipComment() {
        var depth = 0
        while next < bytes.count {
            if has("/*", at: next) {
                depth += 1
                blank(2)
            } else if has("*/", at: next) {
                depth -= 1
                blank(2)
                if depth == 0 { return }
            } else {
                blank(1)
            }
        }
    }

    /// How many `#` stand before the quotes that begin here; nil where no text does.
    private func textStart() -> Int? {
        var index = next
        while index < bytes.count, bytes[index] == UInt8(ascii: "#") { index += 1 }
        return index < bytes.count && bytes[index] == UInt8(ascii: "\"") ? index - next : nil
    }

    /// The quotes stay.
    private mutating func skipText(_ hashes: Int) {
        next += hashes
        let isLong = has("\"\"\"", at: next)
        let quotes = isLong ? 3 : 1
        next += quotes
        while next < bytes.count {
            if !isLong, bytes[next] == UInt8(ascii: "\n") { return }
            if bytes[next] == UInt8(ascii: "\\"), hasHashes(hashes, at: next + 1) {
                let escaped = next + 1 + hashes
                if escaped < bytes.count, bytes[escaped] == UInt8(ascii: "(") {
                    blank(hashes + 2)
                    skipCode(untilParenthesis: true)
                } else {
                    blank(hashes + 2)
                }
            } else if isLong ? has("\"\"\"", at: next) : has("\"", at: next),
                hasHashes(hashes, at: next + quotes)
            {
                next += quotes + hashes
                return
            } else {
                blank(1)
            }
        }
    }

    private func hasHashes(_ count: Int, at index: Int) -> Bool {
        index + count <= bytes.count
            && bytes[index..<(index + count)].allSatisfy { $0 == UInt8(ascii: "#") }
    }
}
#endif
