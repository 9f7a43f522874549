package import ToftEngine
internal import ToftModel

/// A command of the shell itself: `.mode json`.
package enum DotCommand {
    case help
    case quit
    case schema(String?)
    case classes
    case indexes
    case mode(OutputMode?)
    case timer(Bool?)
    case pager(Bool?)
    /// The questions are statements.
    case explain(String)
    case watch(String)
    /// A file, and nothing else.
    case open(String)
    /// The file with the key of the next file to open; nil: an unencrypted one.
    case key(String?)

    /// The commands with their arguments and meanings, for `.help`.
    package static let descriptions: [(command: String, meaning: String)] = [
        (".classes", "the classes, and how many objects they have"),
        (".schema [CLASS]", "the properties of a class, or of all"),
        (".indexes", "the indexes, primary keys and unique constraints"),
        (".mode table|json|csv|line", "the form of the rows; alone it says which it is"),
        (".timer on|off", "whether the time of each statement is told"),
        (".pager on|off", "whether rows that fill the screen go to a pager"),
        (".explain QUESTION", "how a question is answered, and what it reads"),
        (".watch QUESTION", "the objects, and each change of them, until Control-C"),
        (".open FILE", "continue with another file"),
        (".key [FILE]", "the key of an encrypted file, for it and the next .open"),
        (".help", "this"),
        (".quit", "the end; so does Control-D"),
    ]

    /// The names, for completion.
    package static var names: [String] {
        descriptions.map { String($0.command.prefix { $0 != " " }) }
    }

    /// Parses a line that begins with a point. An error shows the place.
    package static func parse(_ line: String) throws(EngineError) -> DotCommand {
        let text = line.trimmingBlanks
        let name = String(text.prefix { $0 != " " && $0 != "\t" })
        let rest = String(text.dropFirst(name.count)).trimmingBlanks
        let argument = rest.isEmpty ? nil : rest
        func failure(_ message: String, at offset: Int) -> EngineError {
            let place = String(repeating: " ", count: max(0, offset))
            return EngineError(
                .invalidArgument, message,
                detail: "    \(text)\n    \(place)^", number: Int64(offset))
        }
        let place = text.count - rest.count
        func required(_ what: String) throws(EngineError) -> String {
            guard let argument else {
                throw failure("\(name) needs \(what) behind it.", at: text.count)
            }
            return argument
        }
        func without(_ command: DotCommand) throws(EngineError) -> DotCommand {
            guard argument == nil else {
                throw failure("\(name) takes nothing behind it.", at: place)
            }
            return command
        }
        func toggle() throws(EngineError) -> Bool? {
            switch argument {
            case nil: return nil
            case "on": return true
            case "off": return false
            default: throw failure("\(name) takes on or off.", at: place)
            }
        }
        switch name {
        case ".help", ".h", ".?": return try without(.help)
        case ".quit", ".exit", ".q": return try without(.quit)
        case ".schema": return .schema(argument)
        case ".classes", ".tables": return try without(.classes)
        case ".indexes": return try without(.indexes)
        case ".timer": return .timer(try toggle())
        case ".pager": return .pager(try toggle())
        case ".explain": return .explain(try required("a question"))
        case ".watch": return .watch(try required("a question"))
        case ".open": return .open(try required("a file"))
        case ".key": return .key(argument)
        case ".mode":
            guard let argument else { return .mode(nil) }
            guard let mode = OutputMode(rawValue: argument) else {
                throw failure("The modes are table, json, csv and line.", at: place)
            }
            return .mode(mode)
        default:
            let hint = NearestName.hint(for: name, among: names).map { " \($0)" } ?? ""
            throw failure("There is no command '\(name)'.\(hint) .help lists them.", at: 0)
        }
    }
}

extension String {
    /// The text without blanks at its ends.
    package var trimmingBlanks: String {
        func isBlank(_ scalar: Unicode.Scalar) -> Bool {
            scalar == " " || (0x09...0x0D).contains(scalar.value)
        }
        let start = unicodeScalars.drop(while: isBlank)
        guard let last = start.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(start[...last])
    }
}
