#if Terminal
import ArgumentParser
import Foundation
import ToftEngine

struct Modernize: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Rewrite classes of a program for Realm that were written before @Persisted.",
        discussion: """
            Shows as a diff what would change, then the lines that it leaves for you to look at; \
            with --write it changes the files. In classes that derive from Object and \
            EmbeddedObject:

                @objc dynamic var x: T = v            @Persisted var x: T = v
                let age = RealmOptional<Int>()        @Persisted var age: Int?
                let dogs = List<Dog>()                @Persisted var dogs: List<Dog>
                let owners = LinkingObjects(          @Persisted(originProperty: "dogs")
                    fromType: P.self, property:       var owners: LinkingObjects<P>
                    "dogs")
                @objcMembers                          -
                @objc enum E: Int, RealmEnum          enum E: Int, PersistableEnum

            and outside of them dog.age.value of what was a box. It looks at the text alone: give \
            it all sources of the program, so that it knows which classes derive from which, and \
            look at the diff.
            """)

    @Argument(
        help: "Files of Swift, and folders, of which all such files are taken.",
        completion: .file(extensions: ["swift"]))
    var sources: [String]

    @Flag(name: .long, help: "Change the files.")
    var write = false

    @Flag(name: .long, help: "Print one JSON value a line: for programs.")
    var json = false

    func run() throws {
        let rewrite = SourceRewrite(try SourceFiles(sources).files())
        for file in rewrite.files {
            if json { printValues(of: file) } else { printDifference(of: file) }
        }
        let changed = rewrite.files.filter { !$0.edits.isEmpty }
        if write { for file in changed { try SourceFiles.write(file.rewritten, to: file.path) } }
        if !json { printEnd(rewrite, changed.count) }
    }

    private func printDifference(of file: SourceRewrite.File) {
        guard !file.edits.isEmpty else { return }
        Output.print("--- \(file.path)\n+++ \(file.path)")
        for hunk in LineHunk.hunks(of: file.lines) { Output.print(hunk) }
    }

    private func printEnd(_ rewrite: SourceRewrite, _ changed: Int) {
        let left = rewrite.files.flatMap { file in file.left.map { (file.path, $0) } }
        if !left.isEmpty {
            Output.print("\(changed > 0 ? "\n" : "")Left for you to look at:")
            for (path, place) in left { Output.print("\(path):\(place.line): \(place.reason)") }
        }
        let files = changed == 1 ? "1 file" : "\(changed) files"
        if changed == 0 {
            Output.print("nothing to rewrite")
        } else if write {
            Output.print("\(files) rewritten")
        } else {
            Output.print("\(files) to rewrite: do it with --write")
        }
    }

    private func printValues(of file: SourceRewrite.File) {
        for (index, line) in file.lines.enumerated() where line.old != line.new {
            printValue([
                ("file", .text(file.path)), ("line", .integer(Int64(index + 1))),
                ("old", .text(line.old)), ("new", line.new.map { .text($0) } ?? .null),
            ])
        }
        for place in file.left {
            printValue([
                ("file", .text(file.path)), ("line", .integer(Int64(place.line))),
                ("left", .text(place.reason)),
            ])
        }
    }

    private func printValue(_ members: [(String, JSONValue)]) {
        Output.print(JSONValue.object(members))
    }
}

/// The files that are named, and those in folders that are.
struct SourceFiles {
    private let names: [String]

    init(_ names: [String]) { self.names = names }

    /// In the order of their paths, each once; hidden ones and what is a link are left out of
    /// folders.
    func files() throws -> [SourceRewrite.File] {
        var paths: Set<String> = []
        for name in names { paths.formUnion(try Self.paths(at: name)) }
        return try paths.sorted().map { path in
            guard let data = FileManager.default.contents(atPath: path) else {
                throw ValidationError("Can't read '\(path)'.")
            }
            guard String(validating: data, as: UTF8.self) != nil else {
                throw ValidationError("'\(path)' is not UTF-8.")
            }
            return SourceRewrite.File(path: path, bytes: [UInt8](data))
        }
    }

    private static func paths(at name: String) throws -> [String] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: name, isDirectory: &isFolder) else {
            throw ValidationError("There is no '\(name)'.")
        }
        guard isFolder.boolValue else { return [name] }
        guard let walk = FileManager.default.enumerator(atPath: name) else { return [] }
        var found: [String] = []
        while let path = walk.nextObject() as? String {
            if path.split(separator: "/").last?.first == "." {
                walk.skipDescendants()
            } else if path.hasSuffix(".swift"),
                walk.fileAttributes?[.type] as? FileAttributeType == .typeRegular
            {
                found.append(name.hasSuffix("/") ? name + path : "\(name)/\(path)")
            }
        }
        return found
    }

    /// Puts other bytes in the place of a file's, all or none, with the rights that it had.
    static func write(_ bytes: [UInt8], to path: String) throws {
        let place = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let rights = try FileManager.default.attributesOfItem(atPath: place.path)[.posixPermissions]
        try Data(bytes).write(to: place, options: .atomic)
        if let rights {
            try FileManager.default.setAttributes(
                [.posixPermissions: rights], ofItemAtPath: place.path)
        }
    }
}

/// Lines of a unified diff that stand together.
struct LineHunk: CustomStringConvertible {
    /// Lines that are shown around those that change.
    private static let context = 3

    private var first: Int
    private var newFirst: Int
    private var lines: [(old: String, new: String?)]

    static func hunks(of lines: [(old: String, new: String?)]) -> [LineHunk] {
        let changed = lines.indices.filter { lines[$0].old != lines[$0].new }
        var hunks: [LineHunk] = [], end = 0, gone = 0
        var index = changed.startIndex
        while index < changed.endIndex {
            let start = max(end, changed[index] - context)
            var last = changed[index]
            while index < changed.endIndex, changed[index] <= last + 2 * context {
                last = changed[index]
                index += 1
            }
            gone = lines[..<start].count { $0.new == nil }
            end = min(lines.count, last + context + 1)
            hunks.append(
                LineHunk(first: start, newFirst: start - gone, lines: Array(lines[start..<end])))
        }
        return hunks
    }

    var description: String {
        let news = lines.compactMap(\.new).count
        var text = "@@ -\(first + 1),\(lines.count) +\(newFirst + 1),\(news) @@"
        var index = 0
        while index < lines.count {
            guard lines[index].old != lines[index].new else {
                text += "\n \(lines[index].old)"
                index += 1
                continue
            }
            let run = lines[index...].prefix { $0.old != $0.new }
            for line in run { text += "\n-\(line.old)" }
            for line in run.compactMap(\.new) { text += "\n+\(line)" }
            index += run.count
        }
        return text
    }
}
#endif
