import ArgumentParser
import ToftEngine
import ToftModel
import ToftStorage

struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print all objects of a class as JSON lines or as CSV.",
        discussion: """
            toftdb export app.toft Person > people.jsonl
            toftdb export app.toft Person --csv > people.csv

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

    @Flag(help: "Print comma-separated values, the names of properties first.")
    var csv = false

    @OptionGroup var key: KeyArgument

    func run() throws {
        try reportingErrors {
            let session = try FileArgument.open(file, key)
            let owner = try session.classHandle(named: className)
            let results = try session.results(of: owner.id)
            guard csv else {
                return try ObjectPrinter(session: session, owner: owner, asJSON: true)
                    .print(results)
            }
            Output.print(CSV.header(of: owner), terminator: "\r\n")
            try ObjectPrinter.forEach(of: results, owner) {
                Output.print(try CSV.record($0, of: owner), terminator: "\r\n")
            }
        }
    }
}
