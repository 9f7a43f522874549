/// Text for a terminal. Data may contain sequences that a terminal obeys instead of showing them:
/// to move the cursor, clear the screen or set its title, and controls that change the order of
/// letters.
package enum TerminalText {
    /// The text with each such character in JSON's spelling, `\u001b`, except tabs and line ends.
    package static func harmless(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isObeyed) else { return text }
        var shown = String.UnicodeScalarView()
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            let endsLine = scalar == "\r" && index + 1 < scalars.count && scalars[index + 1] == "\n"
            if isObeyed(scalar), !endsLine {
                shown += escape(scalar)
            } else {
                shown.append(scalar)
            }
        }
        return String(shown)
    }

    /// The text as one line: tabs and line ends in JSON's spelling, too.
    package static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { isObeyed($0) || $0 == "\t" || $0 == "\n" })
        else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\t": shown += "\\t".unicodeScalars
            case "\n": shown += "\\n".unicodeScalars
            case "\r": shown += "\\r".unicodeScalars
            case _ where isObeyed(scalar): shown += escape(scalar)
            default: shown.append(scalar)
            }
        }
        return String(shown)
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
        let digits = String(scalar.value, radix: 16)
        return ("\\u" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits)
            .unicodeScalars
    }

    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0..<0x20, 0x7F..<0xA0: true
        // Marks, embeddings, overrides and isolates of right-to-left text.
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Columns of a terminal that a text takes: two for letters of East Asia and pictures, none
    /// for marks that join what stands before them.
    package static func width(_ text: String) -> Int {
        var width = 0
        for scalar in text.unicodeScalars { width += self.width(scalar) }
        return width
    }

    /// The beginning of a text that takes at most `width` columns, and the columns it takes.
    package static func prefix(_ text: String, _ width: Int) -> (text: String, width: Int) {
        var taken = 0
        var start = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let next = self.width(scalar)
            if taken + next > width { break }
            taken += next
            start.append(scalar)
        }
        return (String(start), taken)
    }

    static func width(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        if wide.contains(where: { $0.contains(scalar.value) }) { return 2 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return 1
        }
    }

    /// The blocks whose characters are wide.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
        0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
        0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF,
        0x20000...0x3FFFD,
    ]
}
