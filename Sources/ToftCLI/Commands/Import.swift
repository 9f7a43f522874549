#if Terminal
import ArgumentParser
import Foundation
import ToftEngine
import ToftExchange
import ToftModel
import ToftShell
import ToftStorage

struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Load objects from JSON lines or CSV, or all of a Realm or SQLite file.",
        discussion: """
            toftdb import app.toft people.jsonl --class Person --schema schema.json

            Each line is an object whose members are properties. A link is the primary key of its \
            target, which may be in a later line. All lines are one transaction; a member that is \
            no property and a link to an object that is not there are errors, unless you ask for \
            them to be left out; after an error nothing of them is there, and a new file has no \
            classes yet. To move a whole database, also one whose classes link to each \
            other, use `toftdb dump` and `toftdb load`. A schema:

            {"classes": [{"name": "Person", "properties": [
                {"name": "id", "type": "int", "primaryKey": true}, {"name": "name", "type": \
                "string", "indexed": true},
                {"name": "boss", "type": "link", "target": "Person"}, {"name": "tags", "type": \
                "string", "list": true}]}]}

            All members of a schema: "classes". Of a class: "name", "properties", "embedded" (true \
            or false), "unique" (arrays of names of properties). Of a property: "name", "type" \
            (bool, int, float, double, string, data, date, decimal128, objectId, uuid, mixed, \
            link, linkingObjects), "optional", "list", "set", "dictionary", "primaryKey", \
            "autoIncrement", "indexed" (each true or false), "deleteRule" (nullify, cascade, \
            deny), "target" (the class that a link leads to), "origin" (the property of that \
            class whose links are followed back). Any other member is an error. A set is an array \
            in the lines, a dictionary an object whose members are the keys.

            A number must be exactly an int of 64 bits in an int, and fit into at most 34 digits \
            in a decimal, which may be a text, too; nothing is rounded but to the nearest double. \
            Dates are ISO 8601 with a time zone: 2026-11-22T08:30:00Z. No object may have two \
            members of one name. Lines of blanks are left out.

            In a property of the type "mixed", what JSON has no type for is an object that says \
            it: {"$date": "2026-11-22T08:30:00Z"}, {"$data": "AP8="}, {"$decimal": "1.50"}, \
            {"$uuid": "..."}, {"$objectId": "..."}, {"$float": 1.5}, {"$double": 2.0} (without a \
            fraction 2 is an int, and beyond 64 bits a decimal), {"$class": "Person", "$link": 7}. \
            Arrays and other objects are lists and dictionaries.

            CSV, with --csv or a file named .csv, has the names of properties in its first line; \
            nothing between two commas is null, or an empty text if null is not allowed; lists, \
            sets, dictionaries, embedded objects and mixed values are JSON. On a terminal a bar \
            shows how far it is; Control-C ends it, and nothing has been loaded.

            toftdb import new.toft people.csv --infer --primary-key id

            guesses the class from the whole file and prints its schema: each property gets the \
            narrowest type that holds all of its values exactly, of bool, int, double, decimal128, \
            date, uuid and string. 007 is a text; a property is optional if a value is missing. \
            The class has the name of the file, or of --class. --delimiter ';' reads files whose \
            fields a semicolon separates.

            toftdb import new.toft old.realm
            toftdb import new.toft app.sqlite

            makes a new file of a whole Realm or SQLite file, which is not written to. Of SQLite, \
            tables become classes, foreign keys links, and tables that do nothing but join others \
            lists. What a plan has to change, such as names, types, and links that SQLite does not \
            declare, is changed in a file:

            toftdb import new.toft app.sqlite --plan
            toftdb import new.toft app.sqlite --plan --json > plan.json
            toftdb import new.toft app.sqlite --schema plan.json

            In it a class has "table" besides, and a property "column", or "columns" of a key, or \
            "join" ({"table": ..., "from": ..., "to": ...}), and "dates" (iso, seconds, \
            milliseconds, microseconds, nanoseconds, julian, apple, webkit). A link without a \
            foreign key leads to the primary key of its target. Tables and columns that it does \
            not have are left out.
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

    @Argument(help: "The database file; made if it is missing.", completion: .file())
    var file: String

    @Argument(
        help: "The JSON lines, CSV, Realm or SQLite file; - reads standard input.",
        completion: .file())
    var lines: String

    @Option(
        name: .customLong("class"), help: "The class; not needed if the schema has only one.")
    var className: String?

    @Option(
        help: "The schema as JSON, or a changed plan; not needed if the file has it.",
        completion: .file())
    var schema: String?

    @Option(
        help:
            ArgumentHelp(
                "How to treat an object whose primary key exists: error, all (set what the "
                    + "line has), modified (set what differs).")
    )
    var update = Update.error

    @Flag(help: "Leave out members that are not properties, and count them.")
    var ignoreUnknown = false

    @Flag(help: "Leave out links to objects that are not there, and count them.")
    var ignoreMissing = false

    @Flag(help: "Read comma-separated values, the names of properties first.")
    var csv = false

    @Option(help: "What stands between the fields of comma-separated values: one character.")
    var delimiter: String?

    @Flag(help: "Guess the class from the whole file, and print its schema.")
    var infer = false

    @Option(help: "With --infer: the property that is the primary key.")
    var primaryKey: String?

    @Flag(help: "Print the outcome as JSON.")
    var json = false

    @Flag(help: "Print what an import of an SQLite file would make, and make nothing.")
    var plan = false

    @Option(
        help: "A file with the 64 bytes of the key of an encrypted Realm file.",
        completion: .file())
    var sourceKeyFile: String?

    @OptionGroup var key: KeyArgument

    @OptionGroup var access: SharingArgument

    func run() throws {
        try reportingErrors {
            if isRealmFile { return try importRealm() }
            if isSQLiteFile { return try importSQLite() }
            guard infer || primaryKey == nil else {
                throw EngineError(
                    .invalidArgument,
                    "--primary-key goes with --infer; in a schema it is \"primaryKey\": true.")
            }
            guard !plan else {
                throw EngineError(
                    .invalidArgument,
                    "--plan is for SQLite files: '\(lines)' is none, and --schema says what its "
                        + "objects are.")
            }
            var given = try LineFile(path: lines)
            let schema = try infer ? guess(given) : schema.map { try SchemaFile(path: $0).schema() }
            var configuration = Configuration(location: .file(path: file), schema: schema)
            configuration.encryptionKey = try key.key()
            configuration.sharing = access.sharing
            let start = Date()
            let (objects, guessed) = try Session.openAndFill(configuration) { session in
                let guessed = infer ? try SchemaCommand.json(of: session) : nil
                if let guessed, !json { Output.print(guessed) }
                return (try add(&given, in: session), guessed)
            }
            report(objects, guessed, seconds: Date().timeIntervalSince(start))
        }
    }

    private func add(_ given: inout LineFile, in session: Session) throws -> ObjectsFromJSON {
        let owner = try session.givenClass(try chosenClass(session))
        var objects = ObjectsFromJSON(session, policy: update.policy)
        objects.ignoresUnknown = ignoreUnknown
        objects.ignoresMissing = ignoreMissing
        if let delimiter = try csvDelimiter() {
            try given.lines.readCSV(
                of: owner, in: session, ignoresUnknown: ignoreUnknown, delimiter: delimiter)
        }
        try given.load(into: &objects, of: owner)
        return objects
    }

    /// The byte between fields; nil if the lines are JSON.
    private func csvDelimiter() throws(EngineError) -> UInt8? {
        let isNamedCSV = lines.lowercased().utf8.suffix(4).elementsEqual(".csv".utf8)
        guard csv || isNamedCSV || delimiter != nil else { return nil }
        let bytes = delimiter == "\\t" ? [0x09] : Array((delimiter ?? ",").utf8)
        guard bytes.count == 1, ![0x0A, 0x0D, 0x22].contains(bytes[0]), bytes[0] < 0x80 else {
            throw EngineError(
                .invalidArgument,
                "--delimiter is one ASCII character, and neither a quote nor the end of a line: "
                    + "';' or '\\t' for instance.")
        }
        return bytes[0]
    }

    /// The schema that the objects of the file have.
    private func guess(_ given: LineFile) throws -> Schema {
        guard schema == nil else {
            throw EngineError(
                .invalidArgument, "--infer guesses the schema, and --schema gives it: say one.")
        }
        var given = given
        let guess = try SchemaGuess(&given.lines, csvDelimiter: try csvDelimiter())
        let name = try className ?? nameOfClass()
        return Schema([try guess.classSchema(named: name, primaryKey: primaryKey)])
    }

    /// The name of the file as that of a class.
    private func nameOfClass() throws(EngineError) -> String {
        let file = lines.split(separator: "/").last.map(String.init) ?? ""
        let stem = file.split(separator: ".", omittingEmptySubsequences: false)[0]
        let words = stem.split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
        let name = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        guard let first = name.first, first.isLetter else {
            throw EngineError(
                .invalidArgument, "'\(lines)' gives no name for a class: say one with --class.")
        }
        return name
    }

    private func chosenClass(_ session: Session) throws(EngineError) -> String {
        if let className { return className }
        let names = session.schema.visibleClasses.filter { !$0.isEmbedded }.map(\.name)
        if names.isEmpty {
            throw EngineError(
                .noSuchClass, "'\(file)' has no classes. Say with --schema which it is to have.")
        }
        guard names.count == 1, let only = names.first else {
            throw EngineError(
                .invalidArgument, "Say which class with --class: \(names.joined(separator: ", ")).")
        }
        return only
    }

    private func report(_ objects: ObjectsFromJSON, _ schema: JSONValue?, seconds: Double) {
        if json {
            let first = schema.map { [("schema", $0)] } ?? []
            Output.print(
                JSONValue.object(
                    first + [
                        ("created", .integer(Int64(objects.created))),
                        ("updated", .integer(Int64(objects.updated))),
                        ("links", .integer(Int64(objects.links))),
                        ("missingTargets", .integer(Int64(objects.missingTargets))),
                        ("ignoredMembers", .list(objects.ignored.sorted().map { .text($0) })),
                        ("seconds", .double(seconds)),
                    ]))
        } else {
            let rate = Int(Double(objects.created + objects.updated) / max(seconds, 1e-6))
            Output.print(
                "\(objects.created) created, \(objects.updated) updated, \(objects.links) links, "
                    + "in \(String(format: "%.2f", seconds)) s (\(rate) objects a second)"
            )
            if objects.missingTargets > 0 {
                Output.print(
                    "\(objects.missingTargets) links left out: their targets are not there")
            }
            if !objects.ignored.isEmpty {
                Output.print(
                    "members left out, which are not properties: "
                        + objects.ignored.sorted().joined(separator: ", ")
                )
            }
        }
    }
}
#endif
