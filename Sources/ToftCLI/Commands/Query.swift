#if Terminal
import ArgumentParser
import Foundation
import ToftEngine
import ToftExchange
import ToftModel
import ToftQuery
import ToftShell

struct Query: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the objects that match a query.",
        discussion: """
            toftdb query app.toft Person "age > 30 AND ANY dogs.name BEGINSWITH[c] 'r' SORT(age \
            DESC) LIMIT(10)"
            toftdb query app.toft Person "city == 'Bonn'" --count
            toftdb query app.toft Person "age > 30" --explain
            toftdb query app.toft Person 'name == $0' --arg Rex --fields name,boss.name --csv
            toftdb query app.toft Person --group city --count --avg age

            Objects are printed as lines of their values; with --fields, --group and aggregates \
            as a table on a terminal and as JSON lines elsewhere. \
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

    @Option(help: "Paths to print, separated by commas: name,boss.name,dogs.@count.")
    var fields: String?

    @Option(help: "Paths to group by, separated by commas.")
    var group: String?

    @Option(help: "A path of which to print the sum; may be given again.")
    var sum: [String] = []

    @Option(help: "A path of which to print the average.")
    var avg: [String] = []

    @Option(help: "A path of which to print the least value.")
    var min: [String] = []

    @Option(help: "A path of which to print the greatest value.")
    var max: [String] = []

    @Flag(help: "Print comma-separated values.")
    var csv = false

    @OptionGroup var values: ValueArguments

    @Flag(help: "Print how the query is evaluated and what it read, instead of the objects.")
    var explain = false

    @Option(parsing: .unconditional, help: "The greatest number of objects to print.")
    var limit: Int?

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is \(limit). It is 0 or more.") }
        if csv, target.json { throw ValidationError("Give one of --json and --csv.") }
        if fields != nil, group != nil || count || !aggregates.isEmpty {
            throw ValidationError("--fields prints objects: it has no groups and no aggregates.")
        }
    }

    private var aggregates: [(name: AggregateName, path: String)] {
        sum.map { (.sum, $0) } + avg.map { (.avg, $0) } + min.map { (.min, $0) }
            + max.map { (.max, $0) }
    }

    /// Whether rows are printed in place of whole objects.
    private var printsRows: Bool {
        fields != nil || group != nil || !aggregates.isEmpty || csv
    }

    private var mode: OutputMode {
        csv ? .csv : target.json || isatty(STDOUT_FILENO) != 1 ? .json : .table
    }

    private func printRows(of results: Results, _ session: Session) throws {
        let answer: Question.Answer
        do throws(QueryError) {
            answer = try StatementParser.answer(
                fields: fields, keys: group, aggregates: aggregates, counts: count)
        } catch {
            throw EngineError(error)
        }
        try QuestionRunner(session).print(
            answer, of: results,
            with: RowPrinter(mode, to: ShellTerminal(isInteractive: false)))
    }

    func run() throws {
        try reportingErrors {
            let session = try target.open()
            let owner = try session.givenClass(className)
            var results = try session.results(of: owner.id)
            if let query { results = try results.filter(given: query, values.arguments) }
            if let limit { results = try results.limited(to: limit) }
            if explain {
                let explanation = try results.explain()
                Output.print(
                    target.json
                        ? JSONValue.object([("explanation", .text(explanation))]).description
                        : explanation)
            } else if printsRows {
                try printRows(of: results, session)
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
