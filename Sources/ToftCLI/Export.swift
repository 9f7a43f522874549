import ArgumentParser
import ToftEngine
import ToftModel
import ToftStorage

struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print all objects of a class as JSON lines.",
        discussion:
            "Links are the primary keys of their targets, dates ISO 8601, data base64: what "
            + "`toftdb import` reads."
    )

    @Argument(help: "The database file.", completion: .file())
    var file: String

    @Argument(help: "The class.")
    var className: String

    @OptionGroup var key: KeyArgument

    func run() throws {
        try reportingErrors {
            let session = try FileArgument.open(file, key)
            let owner = try session.classHandle(named: className)
            try ObjectPrinter(session: session, owner: owner, asJSON: true).print(
                session.results(of: owner.id))
        }
    }
}
