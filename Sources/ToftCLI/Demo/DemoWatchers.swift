#if Terminal
import Foundation
import ToftEngine
import ToftModel

/// Two watchers, each a process of its own, that print their notifications while this process
/// commits.
struct DemoWatchers {
    private static let query = "section == 'demo' SORT(name ASC)"

    let session: Session
    let path: String
    let folder: URL

    func show() throws {
        Output.print(
            "Now three processes have the file open: this one writes, the others watch "
                + "`\(Self.query)`."
        )
        var watchers = [
            try start(
                "swift ",
                [CommandLine.arguments[0], "watch", path, "Package", Self.query, "--changes", "3"])
        ]
        // If one ends early, this program ends the other.
        defer { for watcher in watchers { watcher.stop() } }
        if let python = try pythonWatcher() { watchers.append(python) }
        for watcher in watchers { try watcher.waitForLines(1) }
        let package = try session.classHandle(named: "Package")
        let name = try package.property(named: "name").id
        let section = try package.property(named: "section").id
        try step(1, "adds three objects", watchers) {
            for letter in ["alpha", "gamma", "omega"] {
                try session.create(
                    package.id, [(name, .string(letter)), (section, .string("demo"))])
            }
        }
        try step(2, "adds one between them and deletes one", watchers) {
            try session.create(package.id, [(name, .string("beta")), (section, .string("demo"))])
            try session.find(Value.string("omega"), in: package.id)?.delete()
        }
        try step(3, "modifies one", watchers) {
            try session.find(Value.string("alpha"), in: package.id)?.set(
                section, Value.string("demo"))
        }
        for watcher in watchers { watcher.process.waitUntilExit() }
        for watcher in watchers { watcher.printRest() }
    }

    private func step(
        _ number: Int, _ what: String, _ watchers: [WatcherProcess], _ change: () throws -> Void
    ) throws {
        try session.beginWrite()
        do {
            try change()
        } catch {
            try session.cancel()
            throw error
        }
        Output.print("\nthis process \(what): version \(try session.commit())")
        for watcher in watchers { try watcher.waitForChange(number) }
    }

    private func start(_ name: String, _ command: [String]) throws -> WatcherProcess {
        do {
            return try WatcherProcess(name: name, command: command)
        } catch {
            throw EngineError(
                .fileNotFound, "Can't start the watcher '\(command[0])'.", detail: "\(error)")
        }
    }

    private func pythonWatcher() throws -> WatcherProcess? {
        let script = folder.appendingPathComponent("watch.py")
        try PythonWatcher.script.write(to: script, atomically: true, encoding: .utf8)
        let probe = Process()
        probe.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        probe.arguments = ["python3", "-c", "import toft"]
        probe.standardError = FileHandle.nullDevice
        try? probe.run()
        probe.waitUntilExit()
        guard probe.terminationStatus == 0 else {
            Output.print(
                "(python3 does not find the package `toft`: no Python watcher. See the README's "
                    + "first command.)"
            )
            return nil
        }
        return try start("python", ["python3", script.path, path, Self.query])
    }
}

/// A process whose lines are printed with its name before them.
final class WatcherProcess {
    let process = Process()
    private let name: String
    private let output = Pipe()
    private var buffer = Data()
    private var changes = 0
    private var lines = 0

    init(name: String, command: [String]) throws {
        self.name = name
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = output
        try process.run()
    }

    /// Ends it if it still runs.
    func stop() {
        if process.isRunning { process.terminate() }
    }

    /// Prints lines until `count` have arrived.
    func waitForLines(_ count: Int) throws {
        while lines < count { try readMore() }
    }

    /// Prints lines until the change of this number is complete: each change begins with a line
    /// that contains "version".
    func waitForChange(_ number: Int) throws {
        while changes < number + 1 { try readMore() }
    }

    func printRest() {
        buffer.append(output.fileHandleForReading.readDataToEndOfFile())
        printLines()
    }

    private func readMore() throws {
        let data = output.fileHandleForReading.availableData
        guard !data.isEmpty else {
            throw EngineError(.internalError, "The \(name) watcher ended early.")
        }
        buffer.append(data)
        printLines()
    }

    private func printLines() {
        while let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: buffer[..<end], as: UTF8.self)
            buffer = Data(buffer[buffer.index(after: end)...])
            lines += 1
            if line.contains("version ") { changes += 1 }
            Output.print("  \(name)| \(line)")
        }
    }
}

/// The watcher in Python.
enum PythonWatcher {
    static let script = """
        import sys

        import toft


        class Package(toft.Object):
            name: str = toft.field(primary_key=True)
            section: str = toft.field(indexed=True)


        seen = 0


        def show(changes):
            global seen
            seen += 1
            print(f"version {changes.version}: deletions {list(changes.deletions)}, insertions \
            {list(changes.insertions)}, "
                  f"modifications {list(changes.modifications)} -> {[package.name for package in \
                  results]}", flush=True)


        with toft.open(sys.argv[1], [Package]) as realm:
            results = realm.objects(Package).where(sys.argv[2])
            observation = results.observe(show)
            realm.dispatch()
            while seen < 4:
                realm.wait(10)

        """
}
#endif
