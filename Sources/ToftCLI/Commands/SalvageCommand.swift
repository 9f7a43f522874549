#if Terminal
import ArgumentParser
import Foundation
import ToftEngine
import ToftModel
import ToftStorage

struct SalvageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Save the readable content of a damaged file to a new one.",
        discussion: """
            Changes nothing in the damaged file. Content that the newest version has lost is \
            taken from older versions, and from parts of the file that nothing leads to. The new \
            file must not exist before; it has been read back and checked, and is durable, when \
            the command ends. It has the key of the damaged one, unless another is given, and can \
            be read by its owner alone. Exit status 2 when something is missing or was found \
            damaged.
            """)

    @OptionGroup var source: FileArgument

    @Argument(help: "The new file.", completion: .file())
    var new: String

    @Option(help: "A file with the 64 bytes of the new file's key.", completion: .file())
    var newKeyFile: String?

    func run() throws {
        let report = try reportingErrors {
            let key = try source.key.key()
            return try Database.salvage(
                source.file, to: new, encryptionKey: key,
                newKey: try newKeyFile.map { try KeyArgument.key(in: $0) } ?? key,
                usesMapping: !source.buffered)
        }
        if source.json {
            Output.print(Self.json(report))
        } else {
            for problem in report.problems { Output.print("problem: \(problem)") }
            if report.isSchemaUnverified {
                Output.print("the schema was found by looking at every page: nothing led to it")
            }
            for found in report.classes {
                Output.print("\(found.name): \(found.objects) objects\(Self.text(found))")
            }
            Output.print(
                "\(new): version \(report.version), "
                    + (report.isComplete ? "complete" : "not complete"))
        }
        if !report.isComplete { throw ExitCode(2) }
    }

    /// Remarks on a class besides its objects.
    private static func text(_ found: SalvageReport.Class) -> String {
        let counts = [
            (found.older, "of an older version"), (found.unverified, "unverified"),
            (found.missing ?? 0, "missing"), (found.dropped, "dropped"),
            (found.cutLinks, "links cut"),
        ]
        var parts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        if found.missing == nil { parts.append("nothing says how many there were") }
        for property in found.properties {
            parts.append("\(property.lost) lost '\(property.name)'")
        }
        return parts.map { ", \($0)" }.joined()
    }

    private static func json(_ report: SalvageReport) -> JSONValue {
        .object([
            ("version", .number(report.version.rawValue)), ("complete", .bool(report.isComplete)),
            ("schemaUnverified", .bool(report.isSchemaUnverified)),
            (
                "classes",
                .list(
                    report.classes.map { found in
                        .object([
                            ("name", .text(found.name)),
                            ("objects", .integer(Int64(found.objects))),
                            ("missing", found.missing.map { .integer(Int64($0)) } ?? .null),
                            ("older", .integer(Int64(found.older))),
                            ("unverified", .integer(Int64(found.unverified))),
                            ("dropped", .integer(Int64(found.dropped))),
                            ("cutLinks", .integer(Int64(found.cutLinks))),
                            (
                                "lost",
                                .object(
                                    found.properties.map { ($0.name, .integer(Int64($0.lost))) })
                            ),
                        ])
                    })
            ),
            ("problems", .list(report.problems.map { .text($0) })),
        ])
    }
}
#endif
