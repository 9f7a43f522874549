#if Terminal
/// A variable that a class declares, with what stands before its name.
struct SourceMember {
    struct Word {
        let text: String
        /// With what stands in parentheses behind it.
        let range: Range<Int>
        let hasArguments: Bool
    }

    let attributes: [Word]
    let modifiers: [Word]
    /// `var` or `let`.
    let keyword: Range<Int>
    let isConstant: Bool
    let name: Range<Int>
    /// From behind the name to the last of its code.
    let rest: Range<Int>
    /// Whether a block makes its value or observes it.
    let hasBlock: Bool

    /// From the first attribute or modifier on.
    var start: Int {
        (attributes.map(\.range) + modifiers.map(\.range)).map(\.lowerBound).min()
            ?? keyword.lowerBound
    }

    func attribute(_ name: String) -> Word? { attributes.first { $0.text == name } }
    func modifier(_ name: String) -> Word? { modifiers.first { $0.text == name } }
}

extension SourceText {
    /// The variables that stand in the body of a class itself, not in what it contains.
    func members(of found: SourceClass) -> [SourceMember] {
        let statements = statements(in: found.body)
        return statements.enumerated().compactMap { index, statement in
            let following = index + 1 < statements.count ? statements[index + 1].lowerBound : nil
            let opensBlock = following.map { code[$0] == UInt8(ascii: "{") } ?? false
            return member(statement, opensBlock: opensBlock)
        }
    }

    /// The parts between line ends and semicolons outside of brackets, without blanks around them.
    private func statements(in body: Range<Int>) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var (start, depth) = (body.lowerBound, 0)
        func end(at index: Int) {
            var (low, high) = (start, index)
            while low < high, code[low] <= 0x20 { low += 1 }
            while low < high, code[high - 1] <= 0x20 { high -= 1 }
            if low < high { found.append(low..<high) }
            start = index + 1
        }
        for index in body {
            switch code[index] {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: "\n"), UInt8(ascii: ";"): if depth == 0 { end(at: index) }
            default: break
            }
        }
        end(at: body.upperBound)
        return found
    }

    private static let modifierNames: Set<String> = [
        "public", "private", "fileprivate", "internal", "open", "final", "dynamic", "static",
        "class", "override", "lazy", "weak", "unowned", "nonisolated", "package",
    ]

    private func member(_ statement: Range<Int>, opensBlock: Bool) -> SourceMember? {
        var tokens = SourceTokens(code, statement)
        var attributes: [SourceMember.Word] = [], modifiers: [SourceMember.Word] = []
        while let byte = tokens.peek() {
            let start = tokens.next
            if byte == UInt8(ascii: "@") {
                tokens.next += 1
                guard let name = tokens.takeName() else { return nil }
                let hasArguments =
                    tokens.next < tokens.end && code[tokens.next] == UInt8(ascii: "(")
                if hasArguments, !tokens.skipBrackets() { return nil }
                attributes.append(
                    SourceMember.Word(
                        text: tokens.text(name), range: start..<tokens.next,
                        hasArguments: hasArguments))
                continue
            }
            guard let word = tokens.takeName() else { return nil }
            let text = tokens.text(word)
            if Self.modifierNames.contains(text) {
                if tokens.next < tokens.end, code[tokens.next] == UInt8(ascii: "(") {
                    guard tokens.skipBrackets() else { return nil }
                }
                modifiers.append(
                    SourceMember.Word(
                        text: text, range: start..<tokens.next, hasArguments: false))
                continue
            }
            guard ["var", "let"].contains(text), let name = tokens.takeName() else { return nil }
            let rest = tokens.next..<statement.upperBound
            return SourceMember(
                attributes: attributes, modifiers: modifiers, keyword: word,
                isConstant: text == "let", name: name, rest: rest,
                hasBlock: opensBlock || hasBlock(rest))
        }
        return nil
    }

    private func hasBlock(_ rest: Range<Int>) -> Bool {
        var tokens = SourceTokens(code, rest)
        while let byte = tokens.peek() {
            switch byte {
            case UInt8(ascii: "{"): return true
            case UInt8(ascii: "("), UInt8(ascii: "["): if !tokens.skipBrackets() { return true }
            default: tokens.next += 1
            }
        }
        return false
    }

    /// Whether a comma outside of brackets parts two variables.
    func declaresSeveral(_ member: SourceMember) -> Bool {
        var tokens = SourceTokens(code, member.rest)
        while let byte = tokens.peek() {
            switch byte {
            case UInt8(ascii: ","): return true
            case UInt8(ascii: "("), UInt8(ascii: "["): if !tokens.skipBrackets() { return true }
            case UInt8(ascii: "<"): tokens.skipGenerics()
            default: tokens.next += 1
            }
        }
        return false
    }

    /// The type that a variable is said to have, and the call that makes its value.
    func value(of member: SourceMember) -> SourceValue {
        var tokens = SourceTokens(code, member.rest)
        var type: Range<Int>?
        if tokens.take(UInt8(ascii: ":")) {
            tokens.skipBlanks()
            let start = tokens.next
            while let byte = tokens.peek(), byte != UInt8(ascii: "=") {
                if byte == UInt8(ascii: "<") { tokens.skipGenerics() } else { tokens.next += 1 }
            }
            var end = tokens.next
            while end > start, code[end - 1] <= 0x20 { end -= 1 }
            type = start..<end
        }
        guard tokens.take(UInt8(ascii: "=")), let name = tokens.takeName() else {
            let isLiteral = tokens.peek() == UInt8(ascii: "[")
            return SourceValue(
                type: type, callee: isLiteral ? "[" : nil, generics: nil, arguments: nil)
        }
        var generics: Range<Int>?
        if tokens.next < tokens.end, code[tokens.next] == UInt8(ascii: "<") {
            let start = tokens.next
            tokens.skipGenerics()
            generics = (start + 1)..<max(start + 1, tokens.next - 1)
        }
        var arguments: Range<Int>?
        if tokens.peek() == UInt8(ascii: "(") {
            let start = tokens.next
            if tokens.skipBrackets(), case let end = tokens.next, tokens.peek() == nil {
                arguments = (start + 1)..<(end - 1)
            }
        }
        return SourceValue(
            type: type, callee: tokens.text(name), generics: generics, arguments: arguments)
    }
}

/// How a variable gets its value: `let age: RealmOptional<Int> = RealmOptional<Int>(5)`.
struct SourceValue {
    let type: Range<Int>?
    /// The name that is called, or that the value begins with.
    let callee: String?
    let generics: Range<Int>?
    /// Between the parentheses; nil if it is no call, or more than a call.
    let arguments: Range<Int>?
}
#endif
