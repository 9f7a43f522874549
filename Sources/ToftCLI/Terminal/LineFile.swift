#if Terminal
import Foundation
import ToftEngine
import ToftExchange
import ToftModel

/// JSON objects, one a line, or records of comma-separated values.
struct LineFile {
    var lines: ObjectLines
    private let path: String
    private let size: Int

    /// - Parameter path: `-` for standard input.
    init(path: String) throws {
        let data = try Input.bytes(of: path)
        self.path = path
        size = data.count
        lines = ObjectLines(
            path: path,
            pieces: { offset throws(EngineError) in
                Array(data.dropFirst(offset).prefix(Self.pieceSize))
            },
            hint: { code in
                switch code {
                case .noSuchProperty: " --ignore-unknown leaves such members out."
                case .noSuchObject: " --ignore-missing leaves such links out."
                case .duplicatePrimaryKey:
                    " --update all, or modified, changes the object that has it."
                default: ""
                }
            })
    }

    private static let pieceSize = 1 << 20

    /// The next line, as a schema and as JSON; nil at the end.
    mutating func nextSchema() throws(EngineError) -> (schema: SchemaFile, json: JSONValue)? {
        var ahead = lines
        guard let line = try ahead.nextLine() else { return nil }
        let schema = try lines.naming(ahead.number) { () throws(EngineError) in
            do throws(EngineError) {
                return try SchemaFile(json: Data(line), besides: ["counters"])
            } catch {
                throw EngineError(
                    error.code,
                    "\(error.message) The first line of a dump is its schema; `toftdb import` "
                        + "reads lines of objects alone.", number: error.number)
            }
        }
        return try lines.next().map { (schema, $0) }
    }

    /// Adds all lines that are left. Shows the progress.
    /// - Parameter owner: the class of all; nil: each line says it.
    mutating func load(into objects: inout ObjectsFromJSON, of owner: ClassHandle?) throws {
        var progress = Progress(total: size)
        defer { progress.finish() }
        try objects.add(&lines, of: owner) { _, lines in progress.advance(to: lines.position) }
    }
}

extension Session {
    /// Opens a database and fills it in one transaction. A new database gets its classes in that
    /// transaction too, so that an error of `fill` leaves it without them.
    static func openAndFill<Result>(
        _ configuration: Configuration, _ fill: @escaping (Session) throws -> Result
    ) throws -> Result {
        // Called on this thread, before `open` returns.
        nonisolated(unsafe) let fill = fill
        nonisolated(unsafe) var outcome: Swift.Result<Result, any Error>?
        var configuration = configuration
        if configuration.schema != nil {
            configuration.initialize = { session throws(EngineError) in
                outcome = .init { try fill(session) }
                if case .failure = outcome {
                    throw EngineError(.interrupted, "The new database stays without content.")
                }
            }
        }
        let session: Session
        do {
            session = try open(configuration)
        } catch {
            _ = try outcome?.get()
            throw error
        }
        if let outcome { return try outcome.get() }
        try session.beginWrite()
        do {
            let result = try fill(session)
            try session.commit()
            return result
        } catch {
            if session.isWriting { try session.cancel() }
            throw error
        }
    }
}

/// A progress bar on standard error, if that is a terminal.
struct Progress {
    private let total: Int
    private let isShown: Bool
    private var shown = -1

    /// - Parameter isPrinting: no bar is shown if the command also prints to a terminal.
    init(total: Int, isPrinting: Bool = false) {
        self.total = max(1, total)
        isShown =
            isatty(STDERR_FILENO) == 1 && !(isPrinting && isatty(STDOUT_FILENO) == 1)
    }

    mutating func advance(to done: Int) {
        let percent = done * 100 / total
        guard isShown, percent != shown else { return }
        shown = percent
        let bar =
            String(repeating: "#", count: percent / 4)
            + String(repeating: ".", count: 25 - percent / 4)
        Output.draw("\r[\(bar)] \(percent) %")
    }

    func finish() {
        if isShown { Output.draw("\r\u{1B}[K") }
    }
}
#endif
