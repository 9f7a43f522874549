#if Terminal
import ArgumentParser
import Foundation
import ToftEngine
import ToftModel
import ToftShell

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Show the classes of a file and how many objects they have.",
        discussion: "With --json it prints a schema that `toftdb import --schema` takes.")

    @OptionGroup var target: FileArgument

    func run() throws {
        try reportingErrors {
            let session = try target.open()
            let classes = session.schema.visibleClasses
            if target.json {
                Output.print(try Self.json(of: session))
            } else {
                for owner in classes {
                    for line in try SchemaText.lines(of: owner, in: session) {
                        Output.print(line)
                    }
                }
            }
        }
    }

    /// The schema of a session in the form of a schema file, behind other members.
    static func json(of session: Session, _ members: [(String, JSONValue)] = []) throws -> JSONValue
    {
        let classes = try session.schema.visibleClasses.map { try json($0, session) }
        return .object(members + [("classes", .list(classes))])
    }

    private static func json(_ owner: ClassHandle, _ session: Session) throws -> JSONValue {
        var members: [(String, JSONValue)] = [("name", .text(owner.name))]
        if owner.isEmbedded { members.append(("embedded", .bool(true))) }
        if !owner.uniques.isEmpty {
            let uniques = owner.uniques.map { unique in
                JSONValue.list(unique.properties.map { .text($0.name) })
            }
            members.append(("unique", .list(uniques)))
        }
        let properties = try owner.visibleProperties.map {
            $0.json(origin: $0.type == .linkingObjects ? try session.schema.origin(of: $0) : nil)
        }
        return .object(members + [("properties", .list(properties))])
    }
}
#endif
