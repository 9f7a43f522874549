import ArgumentParser
import Foundation
import ToftEngine
import ToftStorage

/// Runs a command's work; an error becomes its message on standard error and exit status 1.
func reportingErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as EngineError {
        fail(error.message, error.detail)
    } catch let error as StorageError {
        let mapped = EngineError(error)
        fail(mapped.message, mapped.detail)
    }
    throw ExitCode(1)
}

private func fail(_ message: String, _ detail: String) {
    FileHandle.standardError.write(Data("toftdb: \(message)\n".utf8))
    if !detail.isEmpty { FileHandle.standardError.write(Data((detail + "\n").utf8)) }
}

/// Numbers of bytes for people.
enum ByteCount {
    static func text(_ bytes: UInt64) -> String {
        switch bytes {
        case 0..<10_000: "\(bytes) bytes"
        case 10_000..<10_000_000: "\(bytes / 1000) KB"
        default: "\(bytes / 1_000_000) MB"
        }
    }
}

/// A JSON value on one line, keys in the order given; integers keep all 64 bits.
indirect enum JSONLine: CustomStringConvertible {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(UInt64)
    case double(Double)
    case text(String)
    case list([JSONLine])
    case dictionary([(String, JSONLine)])

    static func object(_ members: [(String, JSONLine)]) -> JSONLine { .dictionary(members) }

    var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .number(let value): String(value)
        case .double(let value): value.isFinite ? "\(value)" : "\"\(value)\""
        case .text(let value): Self.quoted(value)
        case .list(let values): "[" + values.map(\.description).joined(separator: ",") + "]"
        case .dictionary(let members):
            "{" + members.map { Self.quoted($0.0) + ":" + $0.1.description }.joined(separator: ",")
                + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20:
                quoted +=
                    "\\u" + String(repeating: "0", count: scalar.value < 16 ? 3 : 2)
                    + String(scalar.value, radix: 16)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
