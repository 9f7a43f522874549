#if Terminal
/// A class that a file declares.
struct SourceClass {
    let name: String
    /// The name of its base without a module's; nil if it has none.
    let base: String?
    /// From the first attribute to the name.
    let header: Range<Int>
    /// Between the braces.
    let body: Range<Int>
}

extension SourceText {
    /// The classes of the file, also those in others.
    func classes() -> [SourceClass] {
        var found: [SourceClass] = []
        for word in words("class") {
            var tokens = SourceTokens(code, word.upperBound..<code.count)
            // `class func` and `class var` are members, `: class` is a constraint.
            guard let name = tokens.takeName(),
                !["func", "var", "let", "subscript", "override"].contains(tokens.text(name))
            else { continue }
            if tokens.peek() == UInt8(ascii: "<") { tokens.skipGenerics() }
            var base: String?
            if tokens.take(UInt8(ascii: ":")) {
                while let part = tokens.takeName() {
                    base = tokens.text(part)
                    guard tokens.take(UInt8(ascii: ".")) else { break }
                }
            }
            while let byte = tokens.peek(), byte != UInt8(ascii: "{"), byte != UInt8(ascii: "}") {
                tokens.next += 1
            }
            guard tokens.peek() == UInt8(ascii: "{") else { continue }
            let open = tokens.next
            let isClosed = tokens.skipBrackets()
            found.append(
                SourceClass(
                    name: tokens.text(name), base: base,
                    header: attributesStart(before: word.lowerBound)..<name.upperBound,
                    body: (open + 1)..<(isClosed ? tokens.next - 1 : tokens.next)))
        }
        return found
    }

    /// The places of a word in code, not as part of another.
    func words(_ word: StaticString) -> [Range<Int>] {
        word.withUTF8Buffer { word in
            guard code.count >= word.count else { return [] }
            return (0...(code.count - word.count)).compactMap { start in
                let end = start + word.count
                guard code[start] == word[0], code[start..<end].elementsEqual(word),
                    start == 0 || !SourceTokens.isOfName(code[start - 1]),
                    end == code.count || !SourceTokens.isOfName(code[end])
                else { return nil }
                return start..<end
            }
        }
    }

    /// The begin of the attributes and modifiers before a keyword.
    private func attributesStart(before keyword: Int) -> Int {
        var start = keyword
        while start > 0 {
            let byte = code[start - 1]
            // The statement before ends here.
            if [UInt8(ascii: "}"), UInt8(ascii: "{"), UInt8(ascii: ";")].contains(byte) { break }
            if byte == UInt8(ascii: "\n"), !isOnlyAttributes(line(of: start - 1)) { break }
            start -= 1
        }
        return start
    }

    private func isOnlyAttributes(_ line: Int) -> Bool {
        var tokens = SourceTokens(code, range(ofLine: line))
        guard tokens.peek() == UInt8(ascii: "@") else { return false }
        while tokens.take(UInt8(ascii: "@")) {
            guard tokens.takeName() != nil else { return false }
            if tokens.peek() == UInt8(ascii: "("), !tokens.skipBrackets() { return false }
        }
        return tokens.peek() == nil
    }

    /// The names in quotes of a class function that returns a list of them; nil if the function is
    /// there and says something else.
    func names(of function: StaticString, in body: Range<Int>) -> [String]? {
        guard let word = words(function).first(where: { body.contains($0.lowerBound) }) else {
            return []
        }
        var tokens = SourceTokens(code, word.upperBound..<body.upperBound)
        while let byte = tokens.peek(), byte != UInt8(ascii: "{") { tokens.next += 1 }
        let open = tokens.next
        guard tokens.skipBrackets() else { return nil }
        var inner = SourceTokens(code, (open + 1)..<(tokens.next - 1))
        if let first = inner.takeName(), inner.text(first) != "return" { return nil }
        guard inner.peek() == UInt8(ascii: "[") else { return nil }
        let list = inner.next
        guard inner.skipBrackets(), case let end = inner.next, inner.peek() == nil else {
            return nil
        }
        var names: [String] = []
        var index = list + 1
        while index < end - 1 {
            if code[index] == UInt8(ascii: "\"") {
                guard
                    let close = code[(index + 1)..<end].firstIndex(of: UInt8(ascii: "\""))
                else { return nil }
                names.append(text((index + 1)..<close))
                index = close
            } else if ![0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ",")].contains(code[index]) {
                return nil
            }
            index += 1
        }
        return names
    }
}

extension SourceTokens {
    /// Skips `<...>`, in which there are no comparisons.
    mutating func skipGenerics() {
        var depth = 0
        while next < end {
            if code[next] == UInt8(ascii: "<") { depth += 1 }
            if code[next] == UInt8(ascii: ">"), code[next - 1] != UInt8(ascii: "-") { depth -= 1 }
            next += 1
            if depth == 0 { return }
        }
    }
}
#endif
