#if Terminal
import ArgumentParser
import Foundation
import Synchronization
import ToftEngine
import ToftModel
import ToftShell
import ToftStorage

/// A command's output: buffered, except on a terminal. If it can't be written, the command ends
/// with status 1.
enum Output {
    private struct State {
        var waiting: [UInt8] = []
        /// The errno of the first write that failed; 0 if all have succeeded.
        var errno: Int32 = 0
    }

    /// Bytes that are gathered.
    private static let capacity = 65_536
    private static let isTerminal = isatty(STDOUT_FILENO) == 1
    private static let complainsToTerminal = isatty(STDERR_FILENO) == 1
    private static let state = Mutex(State())

    /// Prints a value, on a terminal without control sequences: see `TerminalText`.
    static func print(_ what: some CustomStringConvertible, terminator: String = "\n") {
        let text = isTerminal ? TerminalText.harmless(what.description) : what.description
        let isFull = state.withLock { state in
            guard state.errno == 0 else { return false }
            state.waiting += text.utf8
            state.waiting += terminator.utf8
            return state.waiting.count >= capacity
        }
        if isFull || isTerminal { flush() }
    }

    /// Prints many bytes as they are: rows that are fit for a terminal, if it is one.
    /// - Returns: false if the output can't be written any more.
    static func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let isFull = state.withLock { state in
            state.waiting.append(contentsOf: bytes)
            return state.waiting.count >= capacity
        }
        if isFull || isTerminal { flush() }
        return state.withLock { $0.errno == 0 }
    }

    /// Writes the buffered output.
    static func flush() {
        state.withLock { state in
            guard state.errno == 0 else { return }
            state.errno = write(state.waiting, to: STDOUT_FILENO)
            state.waiting.removeAll(keepingCapacity: true)
        }
    }

    /// Ends the command if the output can't be written any more.
    static func check() throws {
        if state.withLock({ $0.errno }) != 0 { throw ExitCode.failure }
    }

    /// Writes the rest, and returns a failure if some output was lost.
    /// - Returns: the status to end with.
    static func finish(_ status: ExitCode) -> ExitCode {
        flush()
        let errno = state.withLock { $0.errno }
        guard errno != 0 else { return status }
        // A program that closes the pipe has read enough.
        if errno != EPIPE {
            complain("toftdb: Can't write standard output: \(String(cString: strerror(errno))).\n")
        }
        return status == .success ? .failure : status
    }

    /// Writes to standard error, if that is possible; to a terminal, without control characters.
    static func complain(_ text: String) {
        draw(complainsToTerminal ? TerminalText.harmless(text) : text)
    }

    /// Writes the program's own control sequences to a terminal.
    static func draw(_ text: String) { _ = write(Array(text.utf8), to: STDERR_FILENO) }

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
    } catch {
        guard let known = EngineError(any: error) else { throw error }
        report(known)
        throw ExitCode.failure
    }
}

extension EngineError {
    /// An error of the database, whichever layer it comes from; nil for another.
    init?(any error: any Error) {
        switch error {
        case let error as EngineError: self = error
        case let error as StorageError: self.init(error)
        case let error as ModelError: self.init(error)
        default: return nil
        }
    }
}

/// Tells an error on standard error, with the place in a statement.
func report(_ error: EngineError) {
    // The message already contains a path, a reason or a failed call.
    let detail =
        error.code == .fileAccess || error.message.contains(error.detail) ? "" : error.detail
    Output.complain("toftdb: \(error.message)\n" + (detail.isEmpty ? "" : detail + "\n"))
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
#endif
