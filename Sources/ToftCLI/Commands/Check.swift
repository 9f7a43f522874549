#if Terminal
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
            status 2 when something is wrong, also where the file is too damaged to be opened; \
            `toftdb salvage` reads what is left then. With --json one object is printed in any \
            case; what can't be known of a file that does not open is null.
            """)

    @OptionGroup var target: FileArgument

    func run() throws {
        let outcome = try reportingErrors { try checked() }
        let problems =
            switch outcome {
            case .success(let report): report.problems
            case .failure(let damage): [damage.text]
            }
        let report = try? outcome.get()
        if target.json {
            Output.print(Self.json(report, problems))
        } else {
            for problem in problems { Output.print("problem: \(problem)") }
            Output.print(report.map(Self.text) ?? "The file is too damaged to be opened.")
            if !problems.isEmpty {
                Output.print(
                    "`toftdb salvage \(target.file) NEW` saves the readable rest to a new file.")
            }
        }
        if !problems.isEmpty { throw ExitCode(2) }
    }

    /// The reason why a file can't be opened.
    private struct Damage: Error {
        var text: String
    }

    /// The report, or the damage that keeps the file from being opened.
    private func checked() throws -> Result<CheckReport, Damage> {
        do {
            let snapshot = try Store.open(try target.reading()).beginRead()
            defer { snapshot.release() }
            return .success(try ModelCheck.run(snapshot))
        } catch {
            switch EngineError(any: error)?.code {
            case .corrupt:
                return .failure(Damage(text: (error as? ModelError)?.message ?? "\(error)"))
            case .notADatabase where try isDatabaseInside():
                return .failure(Damage(text: "neither meta page is valid, but a root is behind"))
            default: throw error
            }
        }
    }

    /// Whether a file that does not begin as a database contains one further on.
    private func isDatabaseInside() throws -> Bool {
        try !FileDump.read(target.file, encryptionKey: target.key.key()).rootsFound.isEmpty
    }

    private static func json(_ report: CheckReport?, _ problems: [String]) -> JSONValue {
        func number(_ value: UInt64?) -> JSONValue { value.map { .number($0) } ?? .null }
        return .object([
            ("version", number(report?.version.rawValue)), ("pages", number(report?.pages)),
            ("usedPages", number(report?.usedPages)), ("freePages", number(report?.freePages)),
            ("waitingPages", number(report?.pinnedFreePages)),
            ("trees", number(report.map { UInt64($0.trees) })),
            ("problems", .list(problems.map { .text($0) })),
        ])
    }

    private static func text(_ report: CheckReport) -> String {
        let count = report.problems.count
        return "version \(report.version): \(report.trees) trees, \(report.usedPages) pages used, "
            + "\(report.freePages) free, \(report.pinnedFreePages) of earlier versions: "
            + (report.isSound ? "sound" : count == 1 ? "1 problem" : "\(count) problems")
    }
}
#endif
