#if Terminal
import ArgumentParser
import Foundation
import Synchronization
import ToftEngine
import ToftStudio

struct StudioCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "studio",
        abstract: "Show and edit databases in the browser.",
        discussion: """
            toftdb studio app.toft

            Serves one page on this machine alone (127.0.0.1), and opens the browser with it. The \
            page shows objects as tables, follows what other processes commit, answers queries, \
            edits, draws the classes, and shows the file. Its address works once, for the browser \
            that opens it first. Ends with Ctrl-C.

            The page writes and reads other files (copies, exports, imports) only in the folder \
            of the database, or in that of --root.
            """)

    @Argument(help: "The database files.", completion: .file())
    var files: [String]

    @Flag(help: "Open the files for reading only.")
    var readOnly = false

    @Flag(inversion: .prefixedNo, help: "Open the browser; otherwise the address is printed alone.")
    var browser = true

    @Option(help: "The port to listen on; 0 for any that is free.")
    var port: UInt16 = 0

    @Option(help: "The folder for copies, exports and imports.", completion: .directory)
    var root: String?

    @OptionGroup var key: KeyArgument

    func validate() throws {
        if files.isEmpty { throw ValidationError("Name the files to open.") }
    }

    func run() throws {
        try reportingErrors {
            let key = try key.key()
            let files = try files.map { path in
                try StudioFile(path: path, root: root, encryptionKey: key, isReadOnly: readOnly)
            }
            for file in files { try file.requireFile() }
            let server = try StudioServer(files, port: port)
            let opener = BrowserOpener(opensBrowser: browser)
            defer { opener.removeFile() }
            try Self.wait(for: server, opener)
        }
    }

    /// Serves until it fails or a signal ends it.
    private static func wait(for server: StudioServer, _ opener: BrowserOpener) throws {
        // A page that is closed while it is written to is no reason to end.
        for number in [SIGPIPE, SIGINT, SIGTERM] { signal(number, SIG_IGN) }
        let ended = DispatchSemaphore(value: 0)
        let failure = Mutex<String?>(nil)
        let signals = [SIGINT, SIGTERM].map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { ended.signal() }
            source.resume()
            return source
        }
        let serving = Task {
            do {
                try await server.run { opener.open($0) }
            } catch {
                failure.withLock { $0 = "\(error)" }
            }
            ended.signal()
        }
        ended.wait()
        withExtendedLifetime(signals) {}
        let reason = failure.withLock { $0 }
        serving.cancel()
        server.close()
        if let reason {
            throw EngineError(
                .fileAccess, "Studio can't listen on this port of 127.0.0.1: \(reason).")
        }
    }
}

/// Opens the browser. The address has the key to Studio, and other users of the machine see the
/// arguments of its programs, so the browser is given a file that leads there.
private final class BrowserOpener: Sendable {
    private let opensBrowser: Bool
    private let file = Mutex<String?>(nil)

    init(opensBrowser: Bool) { self.opensBrowser = opensBrowser }

    func open(_ address: String) {
        Output.print("Studio: \(address)")
        Output.print("The address works once. End Studio with Ctrl-C.")
        Output.flush()
        guard opensBrowser, let path = Self.redirection(to: address) else { return }
        file.withLock { $0 = path }
        let opener = Process()
        opener.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        opener.arguments = ["xdg-open", path]
        opener.standardInput = FileHandle.nullDevice
        opener.standardOutput = FileHandle.nullDevice
        opener.standardError = FileHandle.nullDevice
        opener.terminationHandler = { process in
            guard process.terminationStatus != 0 else { return }
            Output.complain("No browser could be opened: open the address in one.\n")
        }
        try? opener.run()
    }

    func removeFile() {
        file.withLock { path in
            if let path { unlink(path) }
            path = nil
        }
    }

    /// A file that only this user may read.
    private static func redirection(to address: String) -> String? {
        let folder =
            ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"]
            ?? FileManager.default.temporaryDirectory.path
        let path = "\(folder)/toft-studio-\(UUID().uuidString).html"
        let page =
            "<!doctype html><meta charset=utf-8><title>Studio</title>"
            + "<meta http-equiv=refresh content=\"0; url=\(address)\">"
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard (try? handle.write(contentsOf: Data(page.utf8))) != nil else { return nil }
        return path
    }
}
#endif
