import Foundation
import ToftEngine
import ToftModel
import ToftStorage

extension ObjectsFromJSON {
    /// Loads all lines that a file has left in one transaction.
    /// - Parameter owner: the class of all; nil: each line says it.
    /// - Parameter counters: where auto-incremented keys go on, by the names of classes.
    mutating func load(
        _ lines: LineFile, of owner: ClassHandle?, in session: Session,
        counters: [(className: String, counter: Int64)] = []
    ) throws {
        refusesRepeats = true
        try session.beginWrite()
        do {
            try lines.forEachLine { number, line throws(EngineError) in
                try add(line, of: owner, place: number)
            }
            try link { number, work throws(EngineError) in try lines.naming(number, work) }
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
}

/// JSON objects, one a line, or records of comma-separated values.
final class LineFile {
    private let path: String
    private let data: Data
    private var rest: Data.SubSequence
    private var number = 0
    /// Lines that the one that was read has behind its first one.
    private var further = 0
    private let decoder = JSONDecoder()
    private var columns: CSVColumns?

    /// - Parameter path: `-` for standard input.
    init(path: String) throws {
        self.path = path
        do {
            data =
                try path == "-"
                ? FileHandle.standardInput.readToEnd() ?? Data()
                : Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
        } catch {
            throw EngineError(.fileNotFound, "Can't read '\(path)'.", detail: "\(error)")
        }
        // What is read may begin with a byte order mark.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        rest = data.starts(with: mark) ? data.dropFirst(mark.count) : data[...]
    }

    /// Has the lines read as comma-separated values of objects of a class.
    func readCSV(of owner: ClassHandle, in session: Session) throws {
        var columns: CSVColumns?
        if let header = nextLine(isQuoting: true) {
            try naming(number) { () throws(EngineError) in
                columns = try CSVColumns(header, of: owner, in: session)
            }
        }
        guard let columns else {
            throw EngineError(.invalidArgument, "'\(path)' is empty: it names no properties.")
        }
        self.columns = columns
    }

    /// The index of the end of the line. Within quotes a line goes on.
    private func endOfLine(_ isQuoting: Bool) -> Data.Index {
        guard isQuoting else { return rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex }
        var isInside = false
        return rest.firstIndex {
            if $0 == UInt8(ascii: "\"") { isInside.toggle() }
            return $0 == UInt8(ascii: "\n") && !isInside
        } ?? rest.endIndex
    }

    /// The bytes of the next line that is not empty, or of any line of one column; nil at the end.
    private func nextLine(isQuoting: Bool = false) -> Data? {
        number += further
        further = 0
        while !rest.isEmpty {
            number += 1
            let end = endOfLine(isQuoting)
            var line = rest[..<end]
            if isQuoting { further = line.count(where: { $0 == UInt8(ascii: "\n") }) }
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            rest = end < rest.endIndex ? rest[rest.index(after: end)...] : rest[end...]
            if !line.isEmpty || columns?.isOne == true { return line }
        }
        return nil
    }

    /// The next line as a value of a type, and as it stands there; nil at the end.
    func next<Value: Decodable>(_ type: Value.Type) throws -> (value: Value, json: JSONValue)? {
        guard let line = nextLine() else { return nil }
        do {
            return (try decoder.decode(type, from: line), try json(line))
        } catch let error as DecodingError {
            throw EngineError(
                .invalidArgument,
                "Line \(number) of '\(path)' is not a JSON object: \(error.reason).")
        }
    }

    /// Calls `body` with each line that is left, and its number. Shows the progress.
    func forEachLine(_ body: (Int, JSONValue) throws(EngineError) -> Void) throws {
        var progress = Progress(total: data.count)
        defer { progress.finish() }
        while let line = nextLine(isQuoting: columns != nil) {
            try naming(number) { () throws(EngineError) in
                try body(number, try json(line))
            }
            progress.advance(to: rest.startIndex - data.startIndex)
        }
    }

    private func json(_ line: Data) throws(EngineError) -> JSONValue {
        if let columns { return try columns.json(line) }
        return try line.withUnsafeBytes { bytes -> Result<JSONValue, EngineError> in
            Result { () throws(EngineError) in try JSONParser.value(of: bytes) }
        }.get()
    }

    /// Runs work on a line; errors name it, and what leaves out what is wrong.
    func naming(_ line: Int, _ work: () throws(EngineError) -> Void) throws(EngineError) {
        do throws(EngineError) {
            try work()
        } catch {
            let hint =
                switch error.code {
                case .noSuchProperty: " --ignore-unknown leaves such members out."
                case .noSuchObject: " --ignore-missing leaves such links out."
                default: ""
                }
            throw EngineError(
                error.code, "Line \(line) of '\(path)': \(error.message)\(hint)",
                detail: error.detail, number: error.number)
        }
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
