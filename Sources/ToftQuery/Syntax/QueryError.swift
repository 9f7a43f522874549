/// A fault of a query. Thrown by parsing and binding; running a bound query fails only if the
/// storage fails.
package struct QueryError: Error, Sendable, Equatable {
    package enum Kind: Sendable {
        /// The text does not follow the grammar.
        case syntax
        /// The grammar is right, but a name, an index or a combination means nothing for this
        /// class.
        case invalidQuery
        /// Two things are compared or computed with that cannot be.
        case typeMismatch
        /// An argument is missing or of the wrong kind.
        case invalidArgument
    }

    package var kind: Kind
    /// The fault, in one sentence.
    package var summary: String
    /// The remedy, if there is one.
    package var hint: String?
    /// The offset in the text, in UTF-8 bytes; nil for a query that was built from code.
    package var offset: Int?
    /// The line of the query with a caret under the place; empty for a query that was built from
    /// code.
    package var excerpt: String

    /// The summary, the excerpt and the hint.
    package var message: String {
        [summary, excerpt, hint ?? ""].filter { !$0.isEmpty }.joined(separator: "\n")
    }
}

extension QueryError {
    /// An error at a place of `source`, with its message drawn.
    init(
        _ kind: Kind, _ summary: String, hint: String? = nil, at offset: Int, in source: QuerySource
    ) {
        self.kind = kind
        self.summary = Self.shortened(summary)
        self.hint = hint.map(Self.shortened)
        self.offset =
            source.isEmpty && offset == 0 ? 0 : offset < 0 ? nil : min(offset, source.bytes.count)
        excerpt =
            offset < 0
            ? ""
            : source.excerpt(at: min(offset, source.bytes.count)).joined(separator: "\n")
    }
}

extension QueryError {
    /// A query that could not be read, bound or written on a thread with so small a stack.
    static func stackTooSmall(at offset: Int, in source: QuerySource) -> QueryError {
        QueryError(
            .syntax, "The query nests deeper than the stack of the calling thread allows.",
            hint: "Use a thread with a larger stack: 1 MiB is always enough.", at: offset,
            in: source)
    }

    /// A name in a sentence may be as long as the query.
    private static func shortened(_ text: String) -> String {
        let letters = text.unicodeScalars
        guard letters.count > 2_000 else { return text }
        return "\(String(letters.prefix(300)))…\(String(letters.suffix(100)))"
    }
}

/// The text of a query, kept for its error messages.
package struct QuerySource: Sendable {
    /// UTF-8.
    package let bytes: [UInt8]

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// The source of a query built from code: nothing to point at.
    package static let none = QuerySource("")

    var isEmpty: Bool { bytes.isEmpty }

    /// Characters shown on each side of the caret.
    private static let context = 60
    /// Bytes on each side of the caret that are considered.
    private static let reach = 4_000

    private static func continuesCharacter(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

    /// The line that holds `offset` and a line with a caret under it, indented; before them its
    /// number, if there are several. A long line is cut on both sides.
    func excerpt(at offset: Int) -> [String] {
        var start = offset
        while start > 0, offset - start < Self.reach, !Self.breaksLine(bytes[start - 1]) {
            start -= 1
        }
        while start < offset, Self.continuesCharacter(bytes[start]) { start += 1 }
        var end = offset
        while end < bytes.count, end - offset < Self.reach, !Self.breaksLine(bytes[end]) {
            end += 1
        }
        while end < bytes.count, end > offset, Self.continuesCharacter(bytes[end]) { end -= 1 }
        let before = Array(String(decoding: bytes[start..<offset], as: UTF8.self))
        let after = Array(String(decoding: bytes[offset..<end], as: UTF8.self))
        let shownBefore =
            before.count > Self.context
            ? "…" + String(before.suffix(Self.context)) : String(before)
        let shownAfter =
            after.count > Self.context ? String(after.prefix(Self.context)) + "…" : String(after)
        // A tab is kept as a tab in the line below, so that the caret is under the character in the
        // reader's terminal.
        let margin = String(
            shownBefore.map { character -> Character in character == "\t" ? "\t" : " " })
        let shown = ["    " + shownBefore + shownAfter, "    " + margin + "^"]
        return line(at: offset).map { ["    Line \($0):"] + shown } ?? shown
    }

    /// The number of the line with `offset`, from 1; nil if the text has one line.
    private func line(at offset: Int) -> Int? {
        var count = 0
        var number = 1
        for index in bytes.indices where Self.breaksLine(bytes[index]) {
            // A line ends with one or both.
            if bytes[index] == 0x0A, index > 0, bytes[index - 1] == 0x0D { continue }
            count += 1
            if index < offset { number += 1 }
        }
        return count == 0 ? nil : number
    }

    private static func breaksLine(_ byte: UInt8) -> Bool {
        byte == 0x0A || byte == 0x0D
    }
}
