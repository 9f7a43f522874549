internal import Glibc

/// Another process, whose output is read line by line.
package final class ChildProcess {
    package let pid: Int32
    private let output: Int32
    private var unread: [UInt8] = []
    private var status: Int32?

    /// Starts a program. Its input is empty; its errors go where ours go.
    package init(_ executable: String, _ arguments: [String]) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failure("pipe: errno \(errno)") }
        // Other children must not keep this one's output open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The thread that runs a test may have signals blocked, and a child would inherit that.
        var attributes = posix_spawnattr_t()
        var none = sigset_t()
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        defer { posix_spawnattr_destroy(&attributes) }
        var words: [UnsafeMutablePointer<CChar>?] =
            ([executable] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var started: pid_t = 0
        let result = posix_spawnp(&started, executable, &actions, &attributes, &words, environ)
        close(ends[1])
        output = ends[0]
        pid = started
        guard result == 0 else { throw Failure("\(executable): errno \(result)") }
    }

    deinit {
        if status == nil {
            kill(SIGKILL)
            _ = wait()
        }
        close(output)
    }

    /// The next line that it prints; nil at the end of its output, or when nothing comes in time.
    package func line(timeoutMilliseconds: Int32 = 60_000) -> String? {
        while true {
            if let end = unread.firstIndex(of: 10) {
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread.removeSubrange(...end)
                return line
            }
            var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, timeoutMilliseconds) > 0 else { return nil }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else { return nil }
            unread += buffer.prefix(count)
        }
    }

    /// Every line until its output ends.
    package func lines() -> [String] {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        return lines
    }

    package func kill(_ signal: Int32) {
        if status == nil { Glibc.kill(pid, signal) }
    }

    /// Waits until it has ended, and leaves it as a zombie: its number is not free yet.
    package func awaitEnd() {
        guard status == nil else { return }
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    }

    /// Waits for its end; the exit code, or minus the signal that ended it.
    package func wait() -> Int32 {
        if let status { return status }
        var raw: Int32 = 0
        while waitpid(pid, &raw, 0) < 0, errno == EINTR {}
        let result = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : -(raw & 0x7F)
        status = result
        return result
    }
}
