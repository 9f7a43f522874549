// The packages of a distribution as objects: load them, ask five questions, update, delete, and
// observe what another process commits.
//
//   PackagesSwift PACKAGES.tsv DATABASE
//
// bindings/c/examples/packages/packages.c and bindings/python/examples/packages.py are the same
// program, part by part, and print the same. The times are printed to standard error.
import Foundation
import RealmSwift

// MARK: The class. The first properties are the columns of the TSV, in its order; lists have commas
// between their elements.

final class Package: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var version: String
    @Persisted(indexed: true) var section: String
    @Persisted var priority: String
    @Persisted var maintainer: String
    @Persisted var size: Int
    @Persisted var installedSize: Int
    @Persisted var essential: Bool
    @Persisted var summary: String
    @Persisted var homepage: String?
    @Persisted var tags: List<String>
    @Persisted var depends: List<Package>
    @Persisted var recommends: List<Package>
    @Persisted(originProperty: "depends") var dependents: LinkingObjects<Package>

    // Every object already has a `description`.
    override class func propertiesMapping() -> [String: String] { ["summary": "description"] }
}

func open(_ path: String) throws -> Realm {
    try Realm(
        configuration: Realm.Configuration(
            fileURL: URL(fileURLWithPath: path), objectTypes: [Package.self]))
}

// MARK: Loading

func fail(_ message: String, status: Int32 = 1) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(status)
}

func readTable(_ path: String) throws -> [[String]] {
    let lines = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        .split(separator: "\n")
    return lines.enumerated().map { line, text in
        let row = text.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
        if row.count != 13 { fail("\(path):\(line + 1): there are not 13 columns") }
        if UInt(row[5]) == nil || UInt(row[6]) == nil {
            fail("\(path):\(line + 1): a size is no number")
        }
        return row
    }
}

func elements(_ names: String) -> [String] {
    names.split(separator: ",").map { String($0) }
}

func create(_ realm: Realm, _ row: [String]) -> Package {
    let package = Package()
    package.name = row[0]
    package.version = row[1]
    package.section = row[2]
    package.priority = row[3]
    package.maintainer = row[4]
    package.size = Int(row[5]) ?? 0
    package.installedSize = Int(row[6]) ?? 0
    package.essential = row[7] == "true"
    package.summary = row[8]
    package.homepage = row[9].isEmpty ? nil : row[9]
    package.tags.append(objectsIn: elements(row[10]))
    realm.add(package)
    return package
}

/// First every package, then, when all can be found, the links between them. One transaction.
func load(_ realm: Realm, _ path: String) throws {
    let table = try readTable(path)
    var (linked, missing) = ([0, 0], [0, 0])
    try realm.write {
        realm.deleteAll()
        var packages: [String: Package] = [:]
        for row in table { packages[row[0]] = create(realm, row) }
        for row in table {
            guard let package = packages[row[0]] else { continue }
            for (column, list) in [package.depends, package.recommends].enumerated() {
                let names = elements(row[11 + column])
                let links = names.compactMap { packages[$0] }
                list.append(objectsIn: links)
                linked[column] += links.count
                missing[column] += names.count - links.count
            }
        }
    }
    print(
        "\(table.count) packages are loaded, with \(linked[0]) dependencies and \(linked[1]) "
            + "recommendations; "
            + "\(missing[0]) and \(missing[1]) more name no package.")
}

// MARK: Five questions

func answer(_ realm: Realm) {
    let packages = realm.objects(Package.self)

    // Aggregates of a property of all.
    let total = packages.sum(of: \.installedSize)
    if let mean = packages.average(of: \.installedSize),
        let largest = packages.max(of: \.installedSize)
    {
        let average = String(format: "%.1f", mean)
        print(
            "1. Installed, all of it takes \(total) KiB, on average \(average) KiB; the largest "
                + "package takes \(largest) KiB."
        )
    }

    // An indexed property, a sort, a limit.
    let libraries = packages.where { $0.section == "libs" }.sorted(
        by: \.installedSize, ascending: false
    ).prefix(5)
    print(
        "2. The largest libraries: "
            + "\(libraries.map { "\($0.name) (\($0.installedSize) KiB)" }.joined(separator: ", "))."
    )

    // Links, backwards; and two links forwards.
    let direct = realm.object(ofType: Package.self, forPrimaryKey: "libc6")?.dependents.count ?? 0
    let second = packages.filter("ANY depends.depends.name == 'libc6'").count
    print("3. libc6 is needed by \(direct) packages directly, and by \(second) at second hand.")

    // Links and their number in a query.
    let programs = packages.where {
        $0.section != "python" && $0.depends.name.starts(with: "python3")
    }.count
    let independent = packages.where { $0.depends.count == 0 && $0.recommends.count == 0 }.count
    print(
        "4. \(programs) packages outside section python depend on a package of Python 3; "
            + "\(independent) depend on nothing and recommend nothing.")

    // Lists of values.
    let languages = ["c", "c++", "python", "perl"].map {
        "\($0): \(packages.filter("ANY tags == %@", "implemented-in::\($0)").count)"
    }
    let many = packages.where { $0.tags.count > 3 }.count
    print(
        "5. Their tags say that they are implemented in \(languages.joined(separator: ", ")); "
            + "\(many) have more than three tags."
    )
}

// MARK: Updating and deleting

func update(_ realm: Realm) throws {
    let games = realm.objects(Package.self).where { $0.section == "games" }
    try realm.write {
        for game in games { game.priority = "extra" }
    }
    let extra = realm.objects(Package.self).where { $0.priority == "extra" }
    print("Updated: \(games.count) games are extra; so are \(extra.count) packages in all.")
}

func deleteDocuments(_ realm: Realm) throws {
    let packages = realm.objects(Package.self)
    let (documents, independent) = (
        packages.where { $0.section == "doc" }, packages.where { $0.depends.count == 0 }
    )
    let (count, before) = (documents.count, independent.count)
    try realm.write { realm.delete(documents) }
    print(
        "Deleted: \(count) documents, \(packages.count) packages are left; \(before) depended on "
            + "nothing, now \(independent.count) do."
    )
}

// MARK: Observing another process

let commits = 3

func put(_ realm: Realm, _ name: String, _ version: String) {
    realm.create(
        Package.self, value: ["name": name, "version": version, "section": "example"],
        update: .modified)
}

func makeCommit(_ realm: Realm, _ number: Int) throws {
    try realm.write {
        if number == 1 {
            put(realm, "example-apple", "1.0")
            put(realm, "example-banana", "1.0")
            put(realm, "example-date", "1.0")
        } else if number == 2 {
            put(realm, "example-cherry", "1.0")
            put(realm, "example-banana", "1.1")
        } else {
            realm.delete(realm.objects(Package.self).where { $0.name == "example-apple" })
            put(realm, "example-date", "2.0")
        }
    }
}

/// The other process: a commit for each byte on its standard input.
func writeOnOrder(_ path: String) throws {
    let realm = try open(path)
    var number = 1
    while try FileHandle.standardInput.read(upToCount: 1)?.count == 1 {
        try makeCommit(realm, number)
        number += 1
    }
}

/// This program again, to write; the pipe is its standard input.
func startWriter(_ path: String) throws -> (process: Process, orders: FileHandle) {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--write", path]
    process.standardInput = pipe
    try process.run()
    return (process, pipe.fileHandleForWriting)
}

func observe(_ realm: Realm, _ path: String) throws -> Bool {
    let results = realm.objects(Package.self).where { $0.section == "example" }.sorted(by: \.name)
    var copy: [String] = []  // changed by what the callbacks say and never read again as a whole
    var calls = 0
    let token = results.observe { change in
        calls += 1
        guard case .update(let packages, let deletions, let insertions, let modifications) = change
        else { return }
        for index in deletions.reversed() { copy.remove(at: index) }
        for index in insertions { copy.insert(packages[index].name, at: index) }
        let kinds = [("deleted", deletions), ("inserted", insertions), ("modified", modifications)]
            .filter { !$1.isEmpty }
        let told = kinds.map { "; \($0) \($1.map { String($0) }.joined(separator: ", "))" }.joined()
        print("   version \(realm.version)\(told) -> now \(copy.joined(separator: " "))")
    }
    func waitForCalls(_ count: Int) -> Bool {
        let end = Date(timeIntervalSinceNow: 30)
        while calls < count, Date() < end { _ = RunLoop.main.run(mode: .default, before: end) }
        return calls >= count
    }
    print("Section 'example' is observed while another process writes:")
    let (process, orders) = try startWriter(path)
    var ok = waitForCalls(1)  // the initial call
    for number in 1...commits where ok {
        try orders.write(contentsOf: Data("n".utf8))
        ok = waitForCalls(1 + number)
    }
    try orders.close()
    process.waitUntilExit()
    token.invalidate()
    ok = process.terminationStatus == 0 && ok && copy == results.map { $0.name }
    print(
        ok
            ? "   The copy that followed the indices equals the results."
            : "   Something went wrong.")
    return ok
}

// MARK: The program

func timed(_ what: String, _ work: () throws -> Void) rethrows {
    let start = Date()
    try work()
    FileHandle.standardError.write(
        Data("\(what): \(String(format: "%.3f", -start.timeIntervalSinceNow)) s\n".utf8))
}

func run(_ source: String, _ database: String) throws -> Bool {
    let realm = try open(database)
    try timed("loading") { try load(realm, source) }
    timed("answers") { answer(realm) }
    try timed("changes") {
        try update(realm)
        try deleteDocuments(realm)
    }
    let ok = try observe(realm, database)
    return try realm.check().isEmpty && ok
}

let arguments = CommandLine.arguments
if arguments.count != 3 { fail("usage: \(arguments[0]) PACKAGES.tsv DATABASE", status: 2) }
if arguments[1] == "--write" {
    try writeOnOrder(arguments[2])
    exit(0)
}
exit(try run(arguments[1], arguments[2]) ? 0 : 1)
