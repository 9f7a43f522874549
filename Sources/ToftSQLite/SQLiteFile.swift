internal import ToftEngine
internal import ToftPlatform
internal import ToftStorage

/// An SQLite database that is read, at one version from its opening on, which others may write
/// meanwhile. One thread.
final class SQLiteFile {
    static let magic = Array("SQLite format 3\0".utf8)

    let path: String
    private let library: LibSQLite
    private let connection: OpaquePointer

    private enum Flag {
        static let readOnly: Int32 = 0x1
        static let isURI: Int32 = 0x40
        static let withoutMutex: Int32 = 0x8000
    }

    /// How long it waits for a program that is about to commit, in milliseconds.
    private static let timeout: Int32 = 5_000
    private static let headerSize = 100

    /// Opens a file and checks the whole of it. O(file).
    ///
    /// - Throws: `notADatabase`, also of an encrypted one; `corrupt`; `fileNotFound`...
    init(_ path: String) throws(EngineError) {
        self.path = path
        library = try LibSQLite.load()
        let whole: String, isAlone: Bool
        do throws(SystemError) {
            whole = try FilePath.resolved(path)
            isAlone = try Self.isAlone(whole)
        } catch {
            throw EngineError(StorageError(error))
        }
        var opened: OpaquePointer?
        let result = library.open(
            Self.location(of: whole, isAlone: isAlone), &opened,
            Flag.readOnly | Flag.isURI | Flag.withoutMutex, nil)
        guard let opened else { throw EngineError(.fileAccess, "Can't open '\(path)'.") }
        connection = opened
        guard result == 0 else { throw failure(result) }
        _ = library.setResultCodes(connection, 1)
        _ = library.setTimeout(connection, Self.timeout)
        for statement in [
            "PRAGMA trusted_schema = OFF", "PRAGMA query_only = ON", "PRAGMA cell_size_check = ON",
            "PRAGMA ignore_check_constraints = ON", "BEGIN",
        ] {
            try rows(statement) { _ in }
        }
        try rows("SELECT count(*) FROM sqlite_schema") { _ in }
        try check()
    }

    deinit { _ = library.close(connection) }

    /// Whether a file begins as one of SQLite does. An encrypted one does not.
    static func isOne(_ path: String) -> Bool {
        (try? header(of: path))?.starts(with: magic) ?? false
    }

    private static func header(of path: String) throws(SystemError) -> [UInt8] {
        let file = try PosixFile.open(path, forWriting: false, onAnyFileSystem: true)
        defer { try? file.close() }
        var header = [UInt8](
            repeating: 0, count: Int(min(try file.size(), UInt64(headerSize))))
        let result = header.withUnsafeMutableBytes { bytes in
            Result { () throws(SystemError) in try file.read(into: bytes, at: 0) }
        }
        try result.get()
        return header
    }

    /// Whether nobody has the file open, and all is in it: it has a write-ahead log, and the log is
    /// gone. SQLite would make one, and leave it there.
    private static func isAlone(_ path: String) throws(SystemError) -> Bool {
        let header = try header(of: path)
        guard header.count == headerSize, header[18] == 2 else { return false }
        return try FileIdentity.ofFile(at: path + "-wal") == nil
    }

    private static func location(of path: String, isAlone: Bool) -> String {
        var location = "file:"
        for byte in path.utf8 {
            switch Unicode.Scalar(byte) {
            case "a"..."z", "A"..."Z", "0"..."9", "/", "-", "_", ".", "~":
                location.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                location += "%" + (digits.utf8.count < 2 ? "0" : "") + digits
            }
        }
        return location + (isAlone ? "?mode=ro&immutable=1" : "?mode=ro")
    }

    /// Looks for damage. A null that may not be there is none: it is found where it is read.
    private func check() throws(EngineError) {
        var found: String?
        try rows("PRAGMA quick_check(100)") { row in
            guard found == nil, case .text(let text) = row[0], text != "ok",
                !text.hasPrefix("NULL value in"), !text.hasPrefix("non-")
            else { return }
            found = text
        }
        if let found {
            throw EngineError(
                .corrupt, "'\(path)' can't be imported: it is damaged: \(found).", detail: path)
        }
    }

    // MARK: Statements

    /// Calls `body` with each row of a query.
    func rows(
        _ statement: String, _ body: (SQLiteRow) throws(EngineError) -> Void
    ) throws(EngineError) {
        var prepared: OpaquePointer?
        let result = library.prepare(connection, statement, -1, &prepared, nil)
        guard result == 0, let prepared else { throw failure(result) }
        defer { _ = library.finalize(prepared) }
        let row = SQLiteRow(library: library, statement: prepared)
        while true {
            let result = library.step(prepared)
            guard result == ResultCode.row else {
                guard result == ResultCode.done else { throw failure(result) }
                return
            }
            try body(row)
        }
    }

    private enum ResultCode {
        static let permission: Int32 = 3, busy: Int32 = 5, locked: Int32 = 6, memory: Int32 = 7
        static let readOnly: Int32 = 8, corrupt: Int32 = 11, cantOpen: Int32 = 14
        static let notADatabase: Int32 = 26, row: Int32 = 100, done: Int32 = 101
    }

    private func failure(_ result: Int32) -> EngineError {
        let text = library.errorText(connection).map { String(cString: $0) } ?? ""
        let start = "'\(path)' can't be imported: "
        switch result & 0xFF {
        case ResultCode.notADatabase:
            return EngineError(
                .notADatabase, start + "it is no SQLite database, or an encrypted one.",
                detail: path)
        case ResultCode.corrupt:
            return EngineError(.corrupt, start + "it is damaged: \(text).", detail: path)
        case ResultCode.busy, ResultCode.locked:
            return EngineError(
                .lockTimeout, start + "another program is writing it. Try again.", detail: path)
        case ResultCode.permission:
            return EngineError(.permissionDenied, start + "\(text).", detail: path)
        case ResultCode.readOnly, ResultCode.cantOpen:
            return EngineError(
                .fileAccess,
                start
                    + "\(text). A program that ended has left it with a journal, or it lies where "
                    + "SQLite can't write beside it: copy it, and the files beside it, to a "
                    + "folder of yours.",
                detail: path)
        default: return EngineError(.fileAccess, start + "\(text).", detail: path)
        }
    }
}

/// A row of a query, until the next one.
struct SQLiteRow {
    fileprivate let library: LibSQLite
    fileprivate let statement: OpaquePointer

    subscript(_ index: Int) -> SQLiteValue {
        let column = Int32(index)
        switch library.columnType(statement, column) {
        case 1: return .int(library.columnInt(statement, column))
        case 2: return .real(library.columnReal(statement, column))
        case 3:
            let start = library.columnText(statement, column)
            let bytes = UnsafeRawBufferPointer(
                start: start,
                count: start == nil ? 0 : Int(library.columnSize(statement, column)))
            guard let text = String(validating: bytes, as: UTF8.self) else {
                return .notUTF8([UInt8](bytes))
            }
            return .text(text)
        case 4:
            let start = library.columnBlob(statement, column)
            return .blob(
                [UInt8](
                    UnsafeRawBufferPointer(
                        start: start,
                        count: start == nil ? 0 : Int(library.columnSize(statement, column)))))
        default: return .null
        }
    }
}

/// A value of an SQLite file.
enum SQLiteValue: Hashable {
    case null
    case int(Int64)
    case real(Double)
    case text(String)
    /// A text that is no UTF-8.
    case notUTF8([UInt8])
    case blob([UInt8])

    /// The value itself, for messages.
    var shown: String {
        switch self {
        case .null: "null"
        case .int(let value): "\(value)"
        case .real(let value): "\(value)"
        case .text(let value): "'\(String(value.unicodeScalars.prefix(80)))'"
        case .notUTF8: "a text that is no UTF-8"
        case .blob(let value): "a blob of \(value.count) bytes"
        }
    }

    var text: String? { if case .text(let text) = self { text } else { nil } }
    var int: Int64? { if case .int(let number) = self { number } else { nil } }
}

extension String {
    /// A name as a statement has it.
    var quoted: String {
        var quoted = "\""
        for scalar in unicodeScalars {
            if scalar == "\"" { quoted += "\"" }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }

    /// Whether both are one name to SQLite, which knows no case of the letters A to Z.
    func isSameIdentifier(as other: String) -> Bool { identifier == other.identifier }

    var identifier: String {
        String(
            decoding: utf8.map { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 32 : byte
            }, as: UTF8.self)
    }
}
