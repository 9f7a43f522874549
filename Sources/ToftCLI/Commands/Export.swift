#if Terminal
import ArgumentParser
import ToftEngine
import ToftExchange
import ToftModel
import ToftQuery
import ToftShell

struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the objects of a class as JSON lines or as CSV.",
        discussion: """
            toftdb export app.toft Person > people.jsonl
            toftdb export app.toft Person --csv > people.csv
            toftdb export app.toft Person 'age > $0 SORT(name ASC)' --arg 30 > older.jsonl

            Links are the primary keys of their targets, dates ISO 8601, data base64: what \
            `toftdb import` reads. In CSV nothing between two commas is null, "" an empty text; \
            lists, sets, dictionaries, embedded objects and mixed values are JSON. On a terminal a \
            bar shows how far it is; Control-C ends it.
            """
    )

    @Argument(help: "The database file.", completion: .file())
    var file: String

    @Argument(help: "The class.")
    var className: String

    @Argument(help: "The query; all objects if it is left out.")
    var query: String?

    @OptionGroup var values: ValueArguments

    @Flag(help: "Print comma-separated values, the names of properties first.")
    var csv = false

    @OptionGroup var key: KeyArgument

    func run() throws {
        try reportingErrors {
            let session = try FileArgument.open(file, key)
            let owner = try session.givenClass(className)
            var results = try session.results(of: owner.id)
            if let query { results = try results.filter(given: query, values.arguments) }
            var text: ObjectText =
                csv ? .csv(of: owner, in: session) : .json(of: owner, in: session)
            Output.print(text.header, terminator: "")
            try ObjectPrinter.forEach(of: results) {
                Output.print(try text.line(of: $0), terminator: "")
            }
        }
    }
}
#endif
