#if Terminal
import Foundation
import ToftEngine
import ToftModel
import ToftShell
import ToftStorage

/// The terminal, or the pipes, that a shell talks to.
final class ShellTerminal: ShellConsole, ShellOutput {
    let isTerminal = isatty(STDOUT_FILENO) == 1
    /// Whether a person answers questions.
    let isInteractive: Bool
    var usesPager: Bool
    private var pager: Pager?
    /// The beginning of an answer, until it fills the screen.
    private var waiting: [UInt8] = []
    private var waitingLines = 0
    private var isWaiting = false

    /// - Parameter isInteractive: whether lines come from a terminal.
    init(isInteractive: Bool) {
        self.isInteractive = isInteractive
        usesPager = isInteractive && isatty(STDOUT_FILENO) == 1
    }

    var output: any ShellOutput { self }

    var width: Int? { isTerminal ? Self.size.columns : nil }

    private static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), max(2, Int(size.ws_row)))
    }

    // MARK: Output

    func write(_ bytes: UnsafeRawBufferPointer) throws(EngineError) {
        if Interrupts.hasCome {
            throw EngineError(.interrupted, "Control-C has ended the statement.")
        }
        if let pager {
            try pager.write(bytes)
        } else if isWaiting {
            waiting.append(contentsOf: bytes)
            waitingLines += bytes.count { $0 == UInt8(ascii: "\n") }
            if waitingLines >= Self.size.rows { try startPager() }
        } else {
            try writeThrough(bytes)
        }
    }

    func tell(_ text: String) throws(EngineError) {
        if isTerminal { try print(text) } else { Output.complain(text + "\n") }
    }

    private func writeThrough(_ bytes: UnsafeRawBufferPointer) throws(EngineError) {
        guard Output.write(bytes) else {
            throw EngineError(.fileAccess, "Standard output can't be written any more.")
        }
    }

    func beginRows() { isWaiting = usesPager }

    func endRows() throws(EngineError) {
        isWaiting = false
        if let pager {
            self.pager = nil
            pager.finish()
        } else {
            let bytes = waiting
            waiting = []
            try bytes.withUnsafeBytes { bytes in
                Result { () throws(EngineError) in try writeThrough(bytes) }
            }.get()
        }
        waitingLines = 0
        if isTerminal { Output.flush() }
    }

    private func startPager() throws(EngineError) {
        let bytes = waiting
        waiting = []
        isWaiting = false
        Output.flush()
        pager = Pager()
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(EngineError) in
                if let pager { try pager.write(bytes) } else { try writeThrough(bytes) }
            }
        }.get()
    }

    // MARK: Input

    func confirms(_ question: String) -> Bool? {
        guard isInteractive else { return nil }
        Output.print("\(question) [y/N] ", terminator: "")
        Output.flush()
        guard let answer = readLine(strippingNewline: true) else { return false }
        return ["y", "yes"].contains(answer.trimmingBlanks.lowercased())
    }

    func waits(for descriptor: Int32) -> Bool {
        Output.flush()
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // A signal may come between the look at it and the wait.
        while !Interrupts.hasCome {
            if poll(&poller, 1, 200) > 0 { return true }
        }
        _ = Interrupts.take()
        return false
    }

    func key(in file: String) throws(EngineError) -> EncryptionKey {
        do {
            return try KeyArgument.key(in: file)
        } catch {
            throw EngineError(any: error)
                ?? EngineError(.fileAccess, "Can't read '\(file)': \(error).")
        }
    }
}

/// The program that shows long answers, a screen at a time: PAGER, or less.
private final class Pager {
    private let process: pid_t
    private let descriptor: Int32
    private var isOpen = true

    /// Nil if it can't be started.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        var environment = ProcessInfo.processInfo.environment
        // Colours are shown, and one screen is not kept.
        if environment["LESS"] == nil { environment["LESS"] = "FRX" }
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for variable in variables { free(variable) } }
        let command = environment["PAGER"] ?? "less"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        defer { posix_spawn_file_actions_destroy(&actions) }
        var arguments: [UnsafeMutablePointer<CChar>?] = [
            strdup("sh"), strdup("-c"), strdup(command), nil,
        ]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let status = posix_spawn(&process, "/bin/sh", &actions, nil, &arguments, &variables)
        Glibc.close(ends[0])
        guard status == 0 else {
            Glibc.close(ends[1])
            return nil
        }
        self.process = process
        descriptor = ends[1]
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(EngineError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno != EINTR || Interrupts.hasCome {
                // The person has seen enough.
                throw EngineError(.interrupted, "")
            }
        }
    }

    /// Waits until the person has left it.
    func finish() {
        Glibc.close(descriptor)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }
}
#endif
