#if Terminal
import ArgumentParser
import Foundation
import ToftEngine
import ToftModel
import ToftStorage

struct Plan: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what opening a file with other classes would change in it.",
        discussion: """
            All is done in a transaction that is rolled back: the file stays as it was, and what \
            would be refused is refused. Exit status 1 then. If the file can't be written, it \
            is done in a copy, in the folder for temporary files.
            """)

    @OptionGroup var target: FileArgument

    @OptionGroup var access: SharingArgument

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

    @Flag(
        name: .long,
        help: """
            As with an opening that handles backlinks: objects of a class that becomes embedded \
            are deleted without an owner, and copied for each further one.
            """)
    var automaticBacklinkHandling = false

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
            configuration.sharing = access.sharing
            configuration.encryptionKey = try target.key.key()
            if migrating { configuration.migration = { _ in } }
            configuration.handlesBacklinksInMigrations = automaticBacklinkHandling
            let differences = try differences(configuration)
            if differences.isEmpty, !target.json { Output.print("nothing would change") }
            for difference in differences {
                Output.print(target.json ? json(difference) : "\(difference)")
            }
        }
    }

    private func differences(_ configuration: Configuration) throws -> [SchemaDifference] {
        do throws(EngineError) {
            return try Migration.dryRun(configuration)
        } catch {
            guard error.code == .permissionDenied || error.code == .readOnly else { throw error }
            return try differencesOfCopy(configuration)
        }
    }

    private func differencesOfCopy(_ configuration: Configuration) throws -> [SchemaDifference] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "toft-plan-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = folder.appendingPathComponent("copy.toft").path
        let snapshot = try Store.open(try target.reading()).beginRead()
        defer { snapshot.release() }
        try snapshot.writeCopy(to: copy, encryptionKey: configuration.encryptionKey)
        var configuration = configuration
        configuration.location = .file(path: copy)
        return try Migration.dryRun(configuration)
    }

    private func json(_ difference: SchemaDifference) -> String {
        var members: [(String, JSONValue)] = [
            ("kind", .text("\(difference.kind)")), ("class", .text(difference.className)),
        ]
        if let property = difference.property { members.append(("property", .text(property))) }
        return "\(JSONValue.object(members + [("text", .text(difference.description))]))"
    }
}
#endif
