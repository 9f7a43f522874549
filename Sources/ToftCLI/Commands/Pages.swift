#if Terminal
import ArgumentParser
import ToftEngine
import ToftStorage

struct Pages: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the content of a file's pages, even if the file does not open.",
        discussion: """
            Shows both meta pages, the root that the newer one names, the commits that the log \
            holds behind it, the trees that the catalog lists, and how many extents of each type \
            are in the file (those freed and not used again count too). Takes no lock and \
            changes nothing. Damage is reported, and the rest is shown. Exit status 2 when \
            something is damaged.
            """)

    @Argument(help: "The database file.", completion: .file())
    var file: String

    @Flag(name: .long, help: "Print JSON, one value a line.")
    var json = false

    @OptionGroup var key: KeyArgument

    func run() throws {
        let dump = try reportingErrors { try FileDump.read(file, encryptionKey: key.key()) }
        if json { Output.print(Self.line(dump)) } else { Self.show(dump) }
        let isDamaged =
            !dump.problems.isEmpty || dump.trees.contains { $0.problem != nil }
        if isDamaged { throw ExitCode(2) }
    }

    private static func show(_ dump: FileDump) {
        Output.print(
            "\(dump.path): \(dump.byteCount / 4096) pages, \(ByteCount.text(dump.byteCount))")
        for meta in dump.metas { Output.print("meta \(meta.slot): \(text(meta))") }
        if let root = dump.root {
            Output.print(
                "root at page \(root.page): version \(root.version) after "
                    + "\(root.previousVersion), \(root.pageCount) pages")
        }
        if !dump.loggedVersions.isEmpty {
            Output.print(
                "log: \(dump.loggedVersions.count) commits behind the meta, up to version "
                    + "\(dump.loggedVersions.last ?? 0)")
        }
        for tree in dump.trees { Output.print("tree \(tree.id): \(text(tree))") }
        for use in dump.use {
            Output.print("\(use.type): \(use.extents) extents, \(use.pages) pages")
        }
        Output.print("empty: \(dump.emptyPages) pages; not recognised: \(dump.otherPages) pages")
        if dump.root == nil {
            for root in dump.rootsFound {
                Output.print("a root is at page \(root.page): version \(root.version)")
            }
        }
        for problem in dump.problems { Output.print("problem: \(problem)") }
    }

    private static func text(_ meta: FileDump.MetaPageFacts) -> String {
        guard let version = meta.version else { return meta.problem ?? "not valid" }
        let segments = meta.logSegments.map { "\($0.lowerBound)-\($0.upperBound.rawValue - 1)" }
        return "version \(version), root at page \(meta.rootPage), \(meta.pageCount) pages, "
            + (meta.isClosedCleanly ? "closed cleanly" : "not closed cleanly")
            + (segments.isEmpty ? "" : ", log in pages " + segments.joined(separator: ", "))
    }

    private static func text(_ tree: FileDump.TreeFacts) -> String {
        if let problem = tree.problem { return "problem: \(problem)" }
        let kind = tree.kind.map { "\($0)" } ?? "unknown"
        return "\(kind), \(tree.count) entries, \(tree.height) levels above the leaves, "
            + "root at page \(tree.page)"
    }

    private static func line(_ dump: FileDump) -> JSONValue {
        let metas: [JSONValue] = dump.metas.map { line($0) }
        let trees: [JSONValue] = dump.trees.map { line($0) }
        let use: [JSONValue] = dump.use.map { line($0) }
        let roots: [JSONValue] = dump.rootsFound.map { root in
            .object([
                ("page", .number(root.page.rawValue)), ("version", .number(root.version.rawValue)),
            ])
        }
        let logged: [JSONValue] = dump.loggedVersions.map { .number($0.rawValue) }
        let problems: [JSONValue] = dump.problems.map { .text($0) }
        return .object([
            ("bytes", .number(dump.byteCount)),
            ("metas", .list(metas)),
            ("root", dump.root.map { line($0) } ?? .null),
            ("loggedVersions", .list(logged)),
            ("trees", .list(trees)),
            ("use", .list(use)),
            ("emptyPages", .number(dump.emptyPages)),
            ("otherPages", .number(dump.otherPages)),
            ("rootsFound", .list(roots)),
            ("problems", .list(problems)),
        ])
    }

    private static func line(_ root: FileDump.RootFacts) -> JSONValue {
        .object([
            ("page", .number(root.page.rawValue)), ("version", .number(root.version.rawValue)),
            ("previousVersion", .number(root.previousVersion.rawValue)),
            ("pages", .number(root.pageCount)),
        ])
    }

    private static func line(_ use: FileDump.Use) -> JSONValue {
        .object([
            ("type", .text(use.type)), ("extents", .number(use.extents)),
            ("pages", .number(use.pages)),
        ])
    }

    private static func line(_ meta: FileDump.MetaPageFacts) -> JSONValue {
        let slot = JSONValue.integer(Int64(meta.slot))
        guard let version = meta.version else {
            return .object([("slot", slot), ("problem", .text(meta.problem ?? ""))])
        }
        let segments: [JSONValue] = meta.logSegments.map { pages in
            .list([.number(pages.lowerBound.rawValue), .number(pages.upperBound.rawValue - 1)])
        }
        return .object([
            ("slot", slot), ("version", .number(version.rawValue)),
            ("rootPage", .number(meta.rootPage.rawValue)), ("pages", .number(meta.pageCount)),
            ("closedCleanly", .bool(meta.isClosedCleanly)),
            ("logPosition", .number(meta.logPosition.rawValue)), ("logPages", .list(segments)),
        ])
    }

    private static func line(_ tree: FileDump.TreeFacts) -> JSONValue {
        let kind: JSONValue = tree.kind.map { .text("\($0)") } ?? .null
        let problem: JSONValue = tree.problem.map { .text($0) } ?? .null
        return .object([
            ("id", .number(tree.id.rawValue)), ("kind", kind), ("count", .number(tree.count)),
            ("height", .integer(Int64(tree.height))), ("page", .number(tree.page.rawValue)),
            ("problem", problem),
        ])
    }
}
#endif
