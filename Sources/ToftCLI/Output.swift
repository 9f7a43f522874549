import ArgumentParser
import Foundation
import Synchronization
import ToftEngine
import ToftStorage

/// What a command prints: gathered, and on a terminal written at once. Where it can't be written
/// the command ends with status 1.
enum Output {
    private struct State {
        var waiting: [UInt8] = []
        /// That of the first write that failed; 0: none has. Nothing is written after it.
        var errno: Int32 = 0
    }

    /// Bytes that are gathered.
    private static let capacity = 65_536
    private static let isTerminal = isatty(STDOUT_FILENO) == 1
    private static let state = Mutex(State())

    static func print(_ what: some CustomStringConvertible, terminator: String = "\n") {
        let isFull = state.withLock { state in
            guard state.errno == 0 else { return false }
            state.waiting += what.description.utf8
            state.waiting += terminator.utf8
            return state.waiting.count >= capacity
        }
        if isFull || isTerminal { flush() }
    }

    /// Writes what was gathered.
    static func flush() {
        state.withLock { state in
            guard state.errno == 0 else { return }
            state.errno = write(state.waiting, to: STDOUT_FILENO)
            state.waiting.removeAll(keepingCapacity: true)
        }
    }

    /// Ends the command where nothing more can be written.
    static func check() throws {
        if state.withLock({ $0.errno }) != 0 { throw ExitCode.failure }
    }

    /// Writes the rest, and tells if something was not written.
    /// - Returns: the status to end with.
    static func finish(_ status: ExitCode) -> ExitCode {
        flush()
        let errno = state.withLock { $0.errno }
        guard errno != 0 else { return status }
        // Who reads a pipe no longer has seen enough.
        if errno != EPIPE {
            complain("toftdb: Can't write standard output: \(String(cString: strerror(errno))).\n")
        }
        return status == .success ? .failure : status
    }

    /// Writes to standard error, where that can be done.
    static func complain(_ text: String) { _ = write(Array(text.utf8), to: STDERR_FILENO) }

    /// - Returns: 0, or the number of an error.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno == EAGAIN {
                // Somebody has made it not wait.
                var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&poller, 1, -1)
            } else if count == 0 || errno != EINTR {
                return count == 0 ? EIO : errno
            }
        }
        return 0
    }

    /// Occupies those of the descriptors 0 to 2 that the program was started without, so that no
    /// other file gets them: with one that can't be read from, or written to.
    static func occupyDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}

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
    throw ExitCode.failure
}

private func fail(_ message: String, _ detail: String) {
    Output.complain("toftdb: \(message)\n" + (detail.isEmpty ? "" : detail + "\n"))
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
