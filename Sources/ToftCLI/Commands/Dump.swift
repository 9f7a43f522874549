#if Terminal
import ArgumentParser
import ToftEngine
import ToftModel
import ToftStorage

struct Dump: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a whole database as JSON lines, for `toftdb load`.",
        discussion: """
            toftdb dump app.toft > app.jsonl

            The first line is the schema, with the counters of auto-incremented keys. Each \
            further line is an object, with its class as `_class` and its key as `_key`; links \
            are keys of their targets. If a property has such a name, the class or the key has \
            one `_` more. All is of one version, also while others write. Classes and properties \
            that the file keeps and no program declares any more are there, too.
            """)

    @Argument(help: "The database file.", completion: .file())
    var file: String

    @OptionGroup var key: KeyArgument

    func run() throws {
        try reportingErrors {
            let session = try FileArgument.open(file, showsHidden: true, key)
            let classes = session.schema.visibleClasses
            var counters: [(String, JSONValue)] = []
            for owner in classes {
                guard let counter = try session.keyCounter(of: owner.id) else { continue }
                counters.append((owner.name, .integer(counter)))
            }
            let members: [(String, JSONValue)] = [("toft", .integer(1))]
            Output.print(
                try SchemaCommand.json(
                    of: session,
                    members + (counters.isEmpty ? [] : [("counters", .object(counters))])))
            var json = ObjectToJSON(session, links: .objectKeys)
            // Embedded objects are written inside their owners.
            let written = classes.filter { !$0.isEmbedded }
            var progress = Progress(
                total: try written.reduce(0) { $0 + (try session.count(of: $1.id)) },
                isPrinting: true)
            defer { progress.finish() }
            var done = 0
            for owner in written {
                let objects = try session.results(of: owner.id)
                for index in 0..<(try objects.count) {
                    try session.giveBackMemory()
                    Output.print(try json.object(objects.object(at: index), of: owner))
                    try Output.check()
                    done += 1
                    progress.advance(to: done)
                }
            }
        }
    }
}

struct Load: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a database of the output of `toftdb dump`.",
        discussion: """
            toftdb load copy.toft app.jsonl

            Brings every object and every link back, also circles and objects without a primary \
            key; keys of objects may become others. The classes must have no objects before. All \
            is one transaction. A new file can be read by its owner alone.
            """)

    @Argument(help: "The database file; made if it is missing.", completion: .file())
    var file: String

    @Argument(help: "The dump; - reads standard input.", completion: .file())
    var dump: String

    @Flag(help: "Print the outcome as JSON.")
    var json = false

    @OptionGroup var key: KeyArgument

    @OptionGroup var access: SharingArgument

    func run() throws {
        try reportingErrors {
            var lines = try LineFile(path: dump)
            guard let first = try lines.nextSchema() else {
                throw EngineError(
                    .invalidArgument, "'\(dump)' is empty: it is not the output of `toftdb dump`.")
            }
            var configuration = Configuration(
                location: .file(path: file), schema: try first.schema.schema())
            configuration.encryptionKey = try key.key()
            configuration.sharing = access.sharing
            let counters = try Self.counters(first.json)
            let objects = try Session.openAndFill(configuration) { session in
                try add(&lines, counters, in: session)
            }
            if json {
                Output.print(
                    JSONValue.object([
                        ("objects", .integer(Int64(objects.created))),
                        ("links", .integer(Int64(objects.links))),
                    ]))
            } else {
                Output.print("\(objects.created) objects, \(objects.links) links")
            }
        }
    }

    private func add(
        _ lines: inout LineFile, _ counters: [(className: String, counter: Int64)],
        in session: Session
    ) throws -> ObjectsFromJSON {
        for owner in session.schema.visibleClasses where try session.count(of: owner.id) > 0 {
            throw EngineError(
                .invalidArgument,
                "'\(file)' has objects of '\(owner.name)' already. Load into a new file.")
        }
        var objects = ObjectsFromJSON(session, links: .objectKeys, policy: .error)
        try lines.load(into: &objects, of: nil)
        for (name, counter) in counters {
            try session.moveKeyCounter(of: try session.classHandle(named: name).id, to: counter)
        }
        return objects
    }

    /// The next auto-incremented keys by class name, from the first line.
    private static func counters(_ line: JSONValue) throws -> [(className: String, counter: Int64)]
    {
        switch line.member("counters") {
        case nil, .null: return []
        case .dictionary(let members)?:
            return try members.map { name, value in
                guard case .integer(let counter) = value else {
                    throw EngineError(
                        .typeMismatch,
                        "The counter of '\(name)' is an int and cannot be \(value.kind).")
                }
                return (name, counter)
            }
        case let other?:
            throw EngineError(
                .typeMismatch, "'counters' is a JSON object and cannot be \(other.kind).")
        }
    }
}
#endif
