#if Terminal
import ArgumentParser
import ToftEngine
import ToftExchange
import ToftModel

struct Query: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the objects that match a query.",
        discussion: """
            toftdb query app.toft Person "age > 30 AND ANY dogs.name BEGINSWITH[c] 'r' SORT(age \
            DESC) LIMIT(10)"
            toftdb query app.toft Person "city == 'Bonn'" --count
            toftdb query app.toft Person "age > 30" --explain

            Comparisons: == != < <= > >= BETWEEN IN CONTAINS BEGINSWITH ENDSWITH LIKE \
            MATCHES, [c] ignores case, [d] accents; AND OR NOT; ANY ALL NONE over lists, sets and \
            dictionaries; list.@count, list.@sum.age...; scores['key'], scores.@keys; paths \
            follow links (boss.city.name); \
            @links.Person.dogs goes backwards; then SORT(path ASC), DISTINCT(path), LIMIT(n), \
            OFFSET(n). Every operator has an example in Sources/Toft/Toft.docc/QueryLanguage.md.
            """)

    @OptionGroup var target: FileArgument

    @Argument(help: "The class.")
    var className: String

    @Argument(help: "The query; all objects if it is left out.")
    var query: String?

    @Flag(help: "Print only how many there are.")
    var count = false

    @Flag(help: "Print how the query is evaluated and what it read, instead of the objects.")
    var explain = false

    @Option(parsing: .unconditional, help: "The greatest number of objects to print.")
    var limit: Int?

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is \(limit). It is 0 or more.") }
    }

    func run() throws {
        try reportingErrors {
            let session = try target.open()
            let owner = try session.givenClass(className)
            var results = try session.results(of: owner.id)
            if let query { results = try results.filter(given: query) }
            if let limit { results = try results.limited(to: limit) }
            if explain {
                let explanation = try results.explain()
                Output.print(
                    target.json
                        ? JSONValue.object([("explanation", .text(explanation))]).description
                        : explanation)
            } else if count {
                Output.print(
                    target.json
                        ? JSONValue.object([("count", .integer(Int64(try results.count)))])
                            .description : String(try results.count))
            } else {
                try ObjectPrinter(session: session, owner: owner, asJSON: target.json).print(
                    results)
            }
        }
    }
}

/// Prints objects, as JSON lines or as lines of `property: value` pairs.
struct ObjectPrinter {
    let session: Session
    let owner: ClassHandle
    let asJSON: Bool

    func print(_ results: Results) throws {
        var json = ObjectToJSON(session)
        try Self.forEach(of: results) {
            let object = try json.object($0, of: owner)
            Output.print(asJSON ? object.description : line(object))
        }
    }

    /// Calls `body` with each object. Shows the progress.
    static func forEach(of results: Results, _ body: (ObjectHandle) throws -> Void) throws {
        var progress = Progress(total: try results.count, isPrinting: true)
        defer { progress.finish() }
        var done = 0
        try results.forEachObject {
            try Output.check()
            try body($0)
            done += 1
            progress.advance(to: done)
        }
    }

    /// One object for people: empty values are left out.
    func line(_ object: JSONValue) -> String {
        guard case .dictionary(let members) = object else { return object.description }
        return members.compactMap { name, value in
            switch value {
            case .null: nil
            case .list(let values):
                values.isEmpty
                    ? nil : "\(name)=[\(values.map { Self.plain($0) }.joined(separator: " "))]"
            case .dictionary(let entries):
                entries.isEmpty
                    ? nil
                    : "\(name)={\(entries.map { Self.plain($0) }.joined(separator: " "))}"
            default: "\(name)=\(Self.plain(value))"
            }
        }.joined(separator: "  ")
    }

    private static func plain(_ entry: (key: String, value: JSONValue)) -> String {
        "\(plain(.text(entry.key)))=\(plain(entry.value))"
    }

    private static func plain(_ value: JSONValue) -> String {
        guard case .text(let text) = value, !text.isEmpty,
            !text.unicodeScalars.contains(where: { $0 == "\"" || $0.properties.isWhitespace })
        else { return value.description }
        return text
    }
}
#endif
