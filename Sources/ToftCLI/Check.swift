import ArgumentParser
import Foundation
import ToftEngine
import ToftModel
import ToftStorage

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read everything in a file and verify it.",
        discussion: """
            Verifies every checksum, order, count and bound, that each page is used exactly once, \
            and that indexes, primary keys and links agree with the objects. Changes nothing. Exit \
            status 2 when something is wrong.
            """)

    @OptionGroup var target: FileArgument

    func run() throws {
        let report = try reportingErrors { () throws -> CheckReport in
            let snapshot = try Store.open(try target.reading()).beginRead()
            defer { snapshot.release() }
            return try ModelCheck.run(snapshot)
        }
        if target.json {
            Output.print(
                JSONValue.object([
                    ("version", .number(report.version.rawValue)), ("pages", .number(report.pages)),
                    ("usedPages", .number(report.usedPages)),
                    ("freePages", .number(report.freePages)),
                    ("waitingPages", .number(report.pinnedFreePages)),
                    ("trees", .number(UInt64(report.trees))),
                    ("problems", .list(report.problems.map { .text($0) })),
                ]))
        } else {
            for problem in report.problems { Output.print("problem: \(problem)") }
            Output.print(
                "version \(report.version): \(report.trees) trees, \(report.usedPages) pages "
                    + "used, \(report.freePages) free, "
                    + "\(report.pinnedFreePages) waiting for readers: "
                    + "\(report.isSound ? "sound" : "\(report.problems.count) problems")"
            )
        }
        if !report.isSound { throw ExitCode(2) }
    }
}
