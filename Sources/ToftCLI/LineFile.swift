import Foundation
import ToftEngine
import ToftExchange
import ToftModel

/// JSON objects, one a line, or records of comma-separated values.
struct LineFile {
    var lines: ObjectLines
    private let path: String
    private let size: Int
    private let decoder = JSONDecoder()

    /// - Parameter path: `-` for standard input.
    init(path: String) throws {
        let data: Data
        do {
            data =
                try path == "-"
                ? FileHandle.standardInput.readToEnd() ?? Data()
                : Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
        } catch {
            throw EngineError(.fileNotFound, "Can't read '\(path)'.", detail: "\(error)")
        }
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
                default: ""
                }
            })
    }

    private static let pieceSize = 1 << 20

    /// The next line as a value of a type, and as it stands there; nil at the end.
    mutating func next<Value: Decodable>(_ type: Value.Type) throws
        -> (value: Value, json: JSONValue)?
    {
        var ahead = lines
        guard let line = try ahead.nextLine() else { return nil }
        do {
            let value = try decoder.decode(type, from: Data(line))
            return try lines.next().map { (value, $0) }
        } catch let error as DecodingError {
            throw EngineError(
                .invalidArgument,
                "Line \(ahead.number) of '\(path)' is not a JSON object: \(error.reason).")
        }
    }

    /// Loads all lines that are left in one transaction. Shows the progress.
    /// - Parameter owner: the class of all; nil: each line says it.
    /// - Parameter counters: where auto-incremented keys go on, by the names of classes.
    mutating func load(
        into objects: inout ObjectsFromJSON, of owner: ClassHandle?, in session: Session,
        counters: [(className: String, counter: Int64)] = []
    ) throws {
        try session.beginWrite()
        do {
            try add(to: &objects, of: owner)
            for (name, counter) in counters {
                try session.moveKeyCounter(
                    of: try session.classHandle(named: name).id, to: counter)
            }
            try session.commit()
        } catch {
            if session.isWriting { try session.cancel() }
            throw error
        }
    }

    private mutating func add(to objects: inout ObjectsFromJSON, of owner: ClassHandle?) throws {
        var progress = Progress(total: size)
        defer { progress.finish() }
        try objects.add(&lines, of: owner) { _, lines in progress.advance(to: lines.position) }
    }
}

/// A bar on standard error, where that is a terminal.
struct Progress {
    private let total: Int
    private let isShown: Bool
    private var shown = -1

    /// - Parameter isPrinting: nothing is shown where what is printed goes to a terminal, too.
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
        Output.complain("\r[\(bar)] \(percent) %")
    }

    func finish() {
        if isShown { Output.complain("\r\u{1B}[K") }
    }
}
