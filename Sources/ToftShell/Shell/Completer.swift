package import ToftModel

/// Completes the word before the cursor of a line, from the schema and the shell's own words.
package struct Completer {
    private let schema: ModelSchema

    package init(_ schema: ModelSchema) { self.schema = schema }

    /// The characters between which words are completed.
    package static let wordBreaks = " \t\n(),=<>!{}'\""

    private static let statements = [
        "begin", "cancel", "commit", "create", "delete", "explain", "set", "undo",
    ]
    private static let clauses = [
        "where", "sort", "distinct", "limit", "offset", "show", "group", "having", "count", "sum",
        "avg", "min", "max", "asc", "desc",
    ]
    private static let operators = [
        "and", "or", "not", "any", "all", "none", "in", "between", "contains", "beginswith",
        "endswith", "like", "matches", "true", "false", "null", "TRUEPREDICATE", "SUBQUERY",
    ]
    private static let operations = [
        "@count", "@size", "@min", "@max", "@sum", "@avg", "@keys", "@values",
    ]

    /// The words that may stand in the place of `word`.
    /// - Parameters:
    ///   - line: the text before the word.
    package func completions(of word: String, after line: String) -> [String] {
        let words = line.split(whereSeparator: { Self.wordBreaks.contains($0) }).map(String.init)
        let candidates: [String]
        if words.isEmpty {
            candidates =
                word.hasPrefix(".") ? DotCommand.names : Self.statements + classNames
        } else if words.count == 1, words[0].hasPrefix(".") {
            candidates = Self.arguments(of: words[0]) ?? classNames
        } else if let owner = owner(words) {
            candidates = paths(word, owner) + Self.clauses + Self.operators
        } else {
            candidates = classNames
        }
        var found: [String] = []
        for candidate in candidates where Self.begins(candidate, with: word) {
            if !found.contains(candidate) { found.append(candidate) }
        }
        return found
    }

    private static func begins(_ candidate: String, with word: String) -> Bool {
        candidate.lowercased().hasPrefix(word.lowercased())
    }

    /// The arguments of a command; nil if it takes a class or a question.
    private static func arguments(of command: String) -> [String]? {
        switch command {
        case ".mode": OutputMode.allCases.map(\.rawValue)
        case ".timer", ".pager": ["on", "off"]
        case ".schema", ".explain", ".watch": nil
        default: []
        }
    }

    private var classNames: [String] { schema.visibleClasses.map { Self.spelled($0.name) } }

    /// The class that the statement is about: the first name of one.
    private func owner(_ words: [String]) -> ClassHandle? {
        for word in words {
            if let owner = schema.visibleClasses.first(where: { Self.spelled($0.name) == word }) {
                return owner
            }
        }
        return nil
    }

    /// The paths that begin with the whole steps of `word`.
    private func paths(_ word: String, _ owner: ClassHandle) -> [String] {
        let steps = word.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let start = steps.dropLast().map { $0 + "." }.joined()
        var present: ClassHandle? = owner
        var names = steps.dropLast()[...]
        while let name = names.popFirst() {
            if name == "@links" {
                guard let origin = names.popFirst() else {
                    return classNames.map { start + $0 }
                }
                present = schema.visibleClasses.first { Self.spelled($0.name) == origin }
                if names.isEmpty {
                    return (present?.visibleProperties ?? []).filter { $0.type == .link }.map {
                        start + Self.spelled($0.name)
                    }
                }
                names = names.dropFirst()
                continue
            }
            let property = present?.visibleProperties.first { Self.spelled($0.name) == name }
            present = property?.targetClassID.flatMap { schema.anyClass(id: $0) }
        }
        let properties = (present?.visibleProperties ?? []).map { Self.spelled($0.name) }
        let operations = steps.count > 1 ? Self.operations : ["@links."]
        return (properties + operations).map { start + $0 }
    }

    /// A name as a statement writes it: other characters than letters and digits with a backslash.
    private static func spelled(_ name: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            let isPlain =
                scalar.value >= 0x80 || scalar == "_" || scalar == "$"
                || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
            if !isPlain { text.append("\\") }
            text.append(scalar)
        }
        return String(text)
    }
}
