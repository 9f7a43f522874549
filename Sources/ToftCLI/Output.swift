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
