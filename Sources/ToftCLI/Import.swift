import ArgumentParser
import Foundation
import ToftEngine
import ToftModel
import ToftStorage

struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Load objects from JSON lines.",
        discussion: """
            toftdb import app.toft people.jsonl --class Person --schema schema.json

            Each line is an object whose members are properties; members that the class does not \
            have are ignored and counted. A link is the primary key of
            its target, which may stand in a later line; one that stands nowhere is left out and \
            counted. All lines are one transaction. A schema:

            {"classes": [{"name": "Person", "properties": [
                {"name": "id", "type": "int", "primaryKey": true}, {"name": "name", "type": \
                "string", "indexed": true},
                {"name": "boss", "type": "link", "target": "Person"}, {"name": "tags", "type": \
                "string", "list": true}]}]}
            """)

    enum Update: String, ExpressibleByArgument, CaseIterable {
        case error, all, modified

        var policy: UpdatePolicy {
            switch self {
            case .error: .error
            case .all: .all
            case .modified: .modified
            }
        }
    }

    @Argument(help: "The database file; made when it is missing.", completion: .file())
    var file: String

    @Argument(help: "The JSON lines; - reads standard input.", completion: .file())
    var lines: String

    @Option(
        name: .customLong("class"), help: "The class; not needed where the schema has only one.")
    var className: String?

    @Option(help: "The schema as JSON; not needed where the file has it.", completion: .file())
    var schema: String?

    @Option(
        help:
            ArgumentHelp(
                "What to do with an object whose primary key exists: error, all (set what the "
                    + "line has), modified (set what differs).")
    )
    var update = Update.error

    @Flag(help: "Print the outcome as JSON.")
    var json = false

    func run() throws {
        try reportingErrors {
            let schema = try schema.map { try SchemaFile(path: $0).schema() }
            let session = try Session.open(
                Configuration(location: .file(path: file), schema: schema))
            let owner = try session.classHandle(named: try chosenClass(session))
            var loader = LineLoader(session: session, owner: owner, policy: update.policy)
            let start = Date()
            try session.beginWrite()
            do {
                try loader.load(lines)
                try session.commit()
            } catch {
                if session.isWriting { try session.cancel() }
                throw error
            }
            report(loader, seconds: Date().timeIntervalSince(start))
        }
    }

    private func chosenClass(_ session: Session) throws -> String {
        if let className { return className }
        let names = session.schema.visibleClasses.map(\.name)
        guard names.count == 1, let only = names.first else {
            throw EngineError(
                .invalidArgument, "Say which class with --class: \(names.joined(separator: ", ")).")
        }
        return only
    }

    private func report(_ loader: LineLoader, seconds: Double) {
        if json {
            print(
                JSONLine.object([
                    ("created", .integer(Int64(loader.created))),
                    ("updated", .integer(Int64(loader.updated))),
                    ("links", .integer(Int64(loader.links))),
                    ("missingTargets", .integer(Int64(loader.missingTargets))),
                    ("ignoredMembers", .list(loader.ignored.sorted().map { .text($0) })),
                    ("seconds", .double(seconds)),
                ]))
        } else {
            let rate = Int(Double(loader.created + loader.updated) / max(seconds, 1e-6))
            print(
                "\(loader.created) created, \(loader.updated) updated, \(loader.links) links, in "
                    + "\(String(format: "%.2f", seconds)) s (\(rate) objects a second)"
            )
            if loader.missingTargets > 0 {
                print("\(loader.missingTargets) links left out: no object has their primary key")
            }
            if !loader.ignored.isEmpty {
                print(
                    "members that are no properties: "
                        + "\(loader.ignored.sorted().joined(separator: ", "))"
                )
            }
        }
    }
}

/// Makes objects of lines: values at once, links when all objects are there.
struct LineLoader {
    private struct Pending {
        var object: ObjectHandle
        var property: PropertyHandle
        var targets: [JSONValue]
    }

    let session: Session
    let owner: ClassHandle
    let policy: UpdatePolicy
    private(set) var created = 0
    private(set) var updated = 0
    private(set) var links = 0
    private(set) var missingTargets = 0
    private(set) var ignored: Set<String> = []
    private var pending: [Pending] = []
    private let decoder = JSONDecoder()

    init(session: Session, owner: ClassHandle, policy: UpdatePolicy) {
        self.session = session
        self.owner = owner
        self.policy = policy
    }

    mutating func load(_ path: String) throws {
        let data: Data
        do {
            data =
                try path == "-"
                ? FileHandle.standardInput.readToEnd() ?? Data()
                : Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
        } catch {
            throw EngineError(.fileNotFound, "Can't read '\(path)'.", detail: "\(error)")
        }
        var progress = Progress(total: data.count)
        var number = 0
        for line in data.split(separator: UInt8(ascii: "\n")) {
            number += 1
            do {
                try add(line)
            } catch let error as DecodingError {
                throw EngineError(
                    .invalidArgument,
                    "Line \(number) of '\(path)' is no JSON object: \(error.reason)")
            } catch let error as EngineError {
                throw EngineError(
                    error.code, "Line \(number) of '\(path)': \(error.message)",
                    detail: error.detail, number: error.number)
            }
            progress.advance(to: line.endIndex - data.startIndex)
        }
        progress.finish()
        try link()
    }

    private mutating func add(_ line: Data) throws {
        let members = try decoder.decode([String: JSONValue].self, from: line)
        var values: [(property: PropertyID, value: Value)] = []
        var later: [(PropertyHandle, [JSONValue])] = []
        for (name, json) in members {
            guard
                let property = owner.visibleProperties.first(where: {
                    $0.name == name && $0.isStored
                })
            else {
                if name != "_key" { ignored.insert(name) }
                continue
            }
            if property.isList || property.type == .link {
                later.append((property, try elements(json, property)))
            } else {
                values.append((property.id, try ValueText.value(json, for: property)))
            }
        }
        let before = try session.count(of: owner.id)
        let object = try session.create(owner.id, values, policy: policy)
        if try session.count(of: owner.id) > before { created += 1 } else { updated += 1 }
        for (property, targets) in later {
            if property.type == .link {
                pending.append(Pending(object: object, property: property, targets: targets))
            } else {
                try fill(
                    object.list(property.id), targets.map { try ValueText.value($0, for: property) }
                )
            }
        }
    }

    private func elements(_ json: JSONValue, _ property: PropertyHandle) throws -> [JSONValue] {
        if case .list(let elements) = json, property.isList { return elements }
        if case .null = json { return [] }
        if !property.isList { return [json] }
        throw EngineError(
            .typeMismatch,
            "'\(property.className).\(property.name)' is \(property.typeName) and cannot be "
                + "\(json.kind)."
        )
    }

    private func fill(_ list: ListHandle, _ values: [Value]) throws {
        if try list.count > 0 { try list.clear() }
        for value in values { try list.append(value) }
    }

    private mutating func link() throws {
        for item in pending {
            guard let targetClass = item.property.targetClassID else { continue }
            let target = try session.classHandle(targetClass)
            var found: [Value] = []
            for json in item.targets {
                guard let key = target.primaryKey else {
                    throw EngineError(
                        .missingPrimaryKey,
                        "Links to '\(target.name)' can't be imported: the class has no primary "
                            + "key to name them by."
                    )
                }
                if let object = try session.find(ValueText.value(json, for: key), in: targetClass) {
                    found.append(.link(object.ref))
                } else {
                    missingTargets += 1
                }
            }
            links += found.count
            if item.property.isList {
                try fill(item.object.list(item.property.id), found)
            } else {
                try item.object.set(item.property.id, found.first ?? .null)
            }
        }
        pending = []
    }
}

/// A bar on standard error, where that is a terminal.
struct Progress {
    private let total: Int
    private let isShown = isatty(FileHandle.standardError.fileDescriptor) == 1
    private var shown = -1

    init(total: Int) {
        self.total = max(1, total)
    }

    mutating func advance(to done: Int) {
        let percent = done * 100 / total
        guard isShown, percent != shown else { return }
        shown = percent
        let bar =
            String(repeating: "#", count: percent / 4)
            + String(repeating: ".", count: 25 - percent / 4)
        FileHandle.standardError.write(Data("\r[\(bar)] \(percent) %".utf8))
    }

    func finish() {
        if isShown { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
    }
}
