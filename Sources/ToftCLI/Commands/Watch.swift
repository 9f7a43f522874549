#if Terminal
import ArgumentParser
import Foundation
import ToftEngine
import ToftModel
import ToftShell
import ToftStorage

struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print changes as any process commits them.",
        discussion: """
            toftdb watch app.toft Person "age > 30"

            Prints the objects at first, then a block for each change: - what left, + what \
            came, * what was modified, with indices. Ends with Ctrl-C, or
            after --changes many.
            """)

    @OptionGroup var target: FileArgument

    @Argument(help: "The class.")
    var className: String

    @Argument(help: "The query; all objects if it is left out.")
    var query: String?

    @Option(parsing: .unconditional, help: "The number of changes to end after.")
    var changes: Int?

    func validate() throws {
        if let changes, changes < 0 {
            throw ValidationError("--changes is \(changes). It is 0 or more.")
        }
    }

    func run() throws {
        try reportingErrors {
            let session = try target.open(.existing)
            let owner = try session.givenClass(className)
            var results = try session.results(of: owner.id)
            if let query { results = try results.filter(given: query) }
            let watcher = Watcher(
                results: results,
                printer: ObjectPrinter(session: session, owner: owner, asJSON: target.json))
            let token = try results.observe { watcher.show($0) }
            defer { token.stop() }
            try watcher.follow(session, changes: changes ?? .max)
        }
    }
}

/// Prints an observer's notifications. Keeps the lines that it has printed, to report deleted ones.
private final class Watcher {
    private let results: Results
    private let printer: ObjectPrinter
    private var lines: [String] = []
    private var seen = 0
    private var failure: (any Error)?

    init(results: Results, printer: ObjectPrinter) {
        self.results = results
        self.printer = printer
    }

    func follow(_ session: Session, changes: Int) throws {
        let descriptor = try session.eventDescriptor()
        while seen <= changes {
            _ = try session.dispatch()
            if let failure { throw failure }
            try Output.check()
            if seen > changes { break }
            var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&poller, 1, -1)
        }
    }

    func show(_ notification: ChangeNotification) {
        seen += 1
        do {
            try print(notification)
        } catch {
            failure = error
        }
        Output.flush()
    }

    private func print(_ notification: ChangeNotification) throws {
        if case .failure(let error) = notification.kind { throw error }
        let change = notification.collection
        let old = lines
        lines = try current()
        if printer.asJSON {
            Output.print(
                JSONValue.object([
                    ("version", .number(notification.version.rawValue)),
                    ("count", .integer(Int64(lines.count))),
                    ("deletions", list(change.deletions)), ("insertions", list(change.insertions)),
                    ("modifications", list(change.modificationsNew)),
                ]))
            return
        }
        guard case .update = notification.kind else {
            Output.print("version \(notification.version): \(lines.count) objects")
            return
        }
        Output.print(
            "version \(notification.version): \(change.deletions.count) left, "
                + "\(change.insertions.count) came, \(change.modificationsNew.count) modified"
        )
        for index in change.deletions {
            Output.print("  - [\(index)] \(old.indices.contains(index) ? old[index] : "")")
        }
        for index in change.insertions { Output.print("  + [\(index)] \(lines[index])") }
        for index in change.modificationsNew { Output.print("  * [\(index)] \(lines[index])") }
    }

    private func current() throws -> [String] {
        var json = ObjectToJSON(printer.session)
        return try (0..<(try results.count)).map {
            printer.line(try json.object(results.object(at: $0), of: printer.owner))
        }
    }

    private func list(_ runs: IndexRanges) -> JSONValue { .list(runs.map { .integer(Int64($0)) }) }
}
#endif
