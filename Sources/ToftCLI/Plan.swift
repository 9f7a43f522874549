import ArgumentParser
import ToftEngine
import ToftModel
import ToftStorage

struct Plan: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell what opening a file with other classes would change in it.",
        discussion: """
            All is done in a transaction that is rolled back: the file stays as it was, and what \
            would be refused is refused. Exit status 1 then.
            """)

    @OptionGroup var target: FileArgument

    @Option(
        name: .long, help: "The classes, as `toftdb schema --json` prints them.",
        completion: .file())
    var schema: String

    @Option(name: .long, help: "Their schema version; without it, that of the file.")
    var schemaVersion: UInt64?

    @Flag(
        name: .long,
        help: "As with a migration that copies nothing: properties of other types are new ones.")
    var migrating = false

    func validate() throws {
        if migrating, schemaVersion == nil {
            throw ValidationError("--migrating needs the --schema-version that it leads to.")
        }
    }

    func run() throws {
        try reportingErrors {
            var configuration = Configuration(
                location: .file(path: target.file), mode: .existing,
                schema: try SchemaFile(path: schema).schema(), schemaVersion: schemaVersion)
            configuration.usesMapping = !target.buffered
            configuration.encryptionKey = try target.key.key()
            if migrating { configuration.migration = { _ in } }
            let differences = try Migration.dryRun(configuration)
            if differences.isEmpty, !target.json { print("nothing would change") }
            for difference in differences {
                print(target.json ? json(difference) : "\(difference)")
            }
        }
    }

    private func json(_ difference: SchemaDifference) -> String {
        var members: [(String, JSONValue)] = [
            ("kind", .text("\(difference.kind)")), ("class", .text(difference.className)),
        ]
        if let property = difference.property { members.append(("property", .text(property))) }
        return "\(JSONValue.object(members + [("text", .text(difference.description))]))"
    }
}
