#if Terminal
import ArgumentParser
import Foundation
import ToftEngine
import ToftModel
import ToftStorage

struct Demo: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Load this machine's packages, ask five questions, and let three programs watch each "
            + "other.",
        discussion: """
            Makes a database of the packages that are installed here (or of a file of JSON \
            lines), links their dependencies, answers five questions over
            values, links and lists, then starts a watcher in Swift and one in Python on the same \
            file and shows what they are told while this program
            commits. The Python watcher needs the package `toft`; where python3 does not find it, \
            the demo says so and goes on without.
            """)

    @Argument(help: "Packages as JSON lines, or a status file of dpkg.", completion: .file())
    var source = "/var/lib/dpkg/status"

    @Option(help: "Keep the database here.", completion: .file())
    var database: String?

    func run() throws {
        try reportingErrors {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                "toft-demo-\(ProcessInfo.processInfo.processIdentifier)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let path = database ?? folder.appendingPathComponent("packages.toft").path
            let session = try Session.open(
                Configuration(location: .file(path: path), schema: PackageCatalog.schema))
            var catalog = try PackageCatalog(session: session)
            try catalog.load(PackageSource.read(source), from: source)
            try catalog.answer()
            try DemoWatchers(session: session, path: path, folder: folder).show()
            let report = try Store.open(StoreConfiguration(location: .file(path: path))).check()
            Output.print(
                "\nThe file was checked: version \(report.version), "
                    + "\(report.isSound ? "sound" : report.problems.joined(separator: "; "))."
            )
            if database != nil { Output.print("It is \(path). Look at it: toftdb schema \(path)") }
        }
    }
}
#endif
