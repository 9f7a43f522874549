internal import ToftModel

extension PathSyntax {
    /// A path that is given as a text of its own: `boss.name`, `marks['math']`. Names are as they
    /// are, without escapes.
    /// - Parameter offset: below 0; distinguishes the path from others of the query.
    package init(keyPath text: String, offset: Int = -1) {
        self.init(Element.Kind.parts(of: text).map { Element($0) }, offset: offset)
    }
}

extension PathSyntax.Element.Kind {
    /// The parts of a path that is given as a text of its own.
    static func parts(of text: String) -> [Self] {
        pieces(of: text).flatMap { piece -> [Self] in
            guard let bracket = piece.unicodeScalars.firstIndex(of: "["),
                bracket != piece.startIndex,
                let indices = try? Parser.indices(String(piece[bracket...]))
            else { return [named(piece)] }
            return [named(String(piece[..<bracket]))] + indices
        }
    }

    private static func named(_ part: String) -> Self {
        PathOperation(rawValue: part).map { .operation($0) } ?? .name(part)
    }

    /// The parts between the points, except within brackets.
    private static func pieces(of text: String) -> [String] {
        guard text.utf8.contains(UInt8(ascii: "[")) else { return text.pathNames }
        var pieces = [String.UnicodeScalarView()]
        var isWithin = false
        var quote: Unicode.Scalar?
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if let open = quote {
                if scalar == open, !isEscaped { quote = nil }
                isEscaped = scalar == "\\" && !isEscaped
            } else if isWithin {
                if scalar == "'" || scalar == "\"" { quote = scalar }
                isWithin = scalar != "]"
            } else if scalar == "[" {
                isWithin = true
            } else if scalar == "." {
                pieces.append(String.UnicodeScalarView())
                continue
            }
            pieces[pieces.count - 1].append(scalar)
        }
        return pieces.map { String($0) }
    }
}
