import Foundation
import RealmSwift

// The main job in Swift: loads packages, links them, asks five questions, then observes what another process commits.
//
//   PackagesSwift [--database FILE] [SOURCE]
//
// SOURCE is a dpkg status file or a file of JSON lines; without it /var/lib/dpkg/status is read. The database is made in a temporary directory and
// removed at the end, unless a file is named. It prints what the program of the same name in C prints.

func configuration(_ database: String) -> Realm.Configuration {
    Realm.Configuration(fileURL: URL(fileURLWithPath: database), objectTypes: [Package.self])
}

func printLoad(_ report: LoadReport, _ source: String, _ seconds: Double, _ database: String) {
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    let size = (try? FileManager.default.attributesOfItem(atPath: database)[.size] as? Int) ?? 0
    let repeated = report.repeated > 0 ? " (\(grouped(report.repeated)) more were there already)" : ""
    print("Loaded \(grouped(report.packages)) packages from \(source)\(repeated).")
    print("Linked \(grouped(report.depends)) dependencies and \(grouped(report.recommends)) recommendations; "
        + "\(grouped(report.missingDepends)) and \(grouped(report.missingRecommends)) name no package of these.")
    print("It took \(String(format: "%.2f", seconds)) s and \(grouped(usage.ru_maxrss)) KiB of memory at most; "
        + "the file has \(grouped(size / 1024)) KiB.\n")
}

func run(_ database: String, _ source: String) throws -> Bool {
    let (process, orders) = try startWriter(database)
    var start = Date()
    let realm = try Realm(configuration: configuration(database))
    let report = try load(try packages(of: source), into: realm)
    printLoad(report, source, -start.timeIntervalSinceNow, database)
    start = Date()
    answer(realm)
    print("   The answers took \(Int(-start.timeIntervalSinceNow * 1000)) ms.\n")
    let isRight = try observe(realm, process, orders)
    let problems = try realm.check()
    for problem in problems { FileHandle.standardError.write(Data("\(problem)\n".utf8)) }
    return isRight && problems.isEmpty
}

var arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "--write", arguments.count == 2 {
    try write(arguments[1])
    exit(0)
}
var database: String?
if arguments.first == "--database", arguments.count >= 2 {
    database = arguments[1]
    arguments.removeFirst(2)
}
guard arguments.count <= 1, arguments.first?.hasPrefix("-") != true else {
    FileHandle.standardError.write(Data("usage: PackagesSwift [--database FILE] [SOURCE]\n".utf8))
    exit(2)
}
let source = arguments.first ?? "/var/lib/dpkg/status"
if let database { exit(try run(database, source) ? 0 : 1) }
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("packages-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
let isRight = try run(folder.appendingPathComponent("packages.toft").path, source)
try FileManager.default.removeItem(at: folder)
exit(isRight ? 0 : 1)
