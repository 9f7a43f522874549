import Foundation
import ToftEngine
import ToftModel
import ToftStorage

extension ObjectsFromJSON {
    /// Loads all lines that a file has left in one transaction.
    /// - Parameter owner: the class of all; nil: each line says it as `_class`.
    /// - Parameter counters: where auto-incremented keys go on, by the names of classes.
    mutating func load(
        _ lines: LineFile, of owner: ClassHandle?, in session: Session,
        counters: [String: Int64] = [:]
    ) throws {
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

/// JSON objects, one a line.
final class LineFile {
    private let path: String
    private let data: Data
    private var rest: Data.SubSequence
    private var number = 0
    private let decoder = JSONDecoder()

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
        rest = data[...]
    }

    /// The bytes of the next line that is not empty; nil at the end.
    private func nextLine() -> Data? {
        while let first = rest.first {
            number += 1
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            let line = rest[..<end]
            rest = end < rest.endIndex ? rest[rest.index(after: end)...] : rest[end...]
            if first != UInt8(ascii: "\n") { return line }
        }
        return nil
    }

    /// The next line as a value of a type; nil at the end.
    func next<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        guard let line = nextLine() else { return nil }
        do {
            return try decoder.decode(type, from: line)
        } catch let error as DecodingError {
            throw EngineError(
                .invalidArgument,
                "Line \(number) of '\(path)' is not a JSON object: \(error.reason).")
        }
    }

    /// Calls `body` with each line that is left, and its number. Shows the progress.
    func forEachLine(_ body: (Int, JSONValue) throws(EngineError) -> Void) throws {
        var progress = Progress(total: data.count)
        while let line = nextLine() {
            try naming(number) { () throws(EngineError) in
                try body(number, try Self.json(line))
            }
            progress.advance(to: rest.startIndex - data.startIndex)
        }
        progress.finish()
    }

    private static func json(_ line: Data) throws(EngineError) -> JSONValue {
        try line.withUnsafeBytes { bytes -> Result<JSONValue, EngineError> in
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
    private let isShown = isatty(FileHandle.standardError.fileDescriptor) == 1
    private var shown = -1

    init(total: Int) {
        self.total = max(1, total)
    }

    mutating func advance(to done: Int) {
        let percent = done * 100 / total
        guard isShown, percent != shown else { return }
        shown = percent
        let bar =
            String(repeating: "#", count: percent / 4)
            + String(repeating: ".", count: 25 - percent / 4)
        FileHandle.standardError.write(Data("\r[\(bar)] \(percent) %".utf8))
    }

    func finish() {
        if isShown { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
    }
}
