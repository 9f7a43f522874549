internal import Glibc
internal import ToftTestKit

/// Files of the model's databases.
enum ModelFiles {
    static let own = getpid()

    static func makeDirectory(_ path: String) { mkdir(path, 0o700) }

    static func size(of path: String) -> Int {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        return max(0, lseek(descriptor, 0, SEEK_END))
    }

    static func removeDatabase(_ path: String) {
        unlink(path)
        unlink(path + ".lock")
    }

    /// Copies a file byte for byte.
    static func copy(_ source: String, to target: String) throws {
        let from = Glibc.open(source, O_RDONLY | O_CLOEXEC)
        guard from >= 0 else { throw Failure("open \(source): errno \(errno)") }
        defer { close(from) }
        let to = Glibc.open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard to >= 0 else { throw Failure("open \(target): errno \(errno)") }
        defer { close(to) }
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
        defer { buffer.deallocate() }
        while true {
            let count = read(from, buffer, 1 << 20)
            guard count >= 0 else { throw Failure("read \(source): errno \(errno)") }
            if count == 0 { return }
            guard write(to, buffer, count) == count else {
                throw Failure("write \(target): errno \(errno)")
            }
        }
    }
}
