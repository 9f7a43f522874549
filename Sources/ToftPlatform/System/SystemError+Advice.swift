internal import Glibc

/// The meaning of an errno, and the remedy.
extension SystemError {
    /// The errno of a descriptor that is not open.
    package static var badDescriptor: Int32 { EBADF }
    /// The errno of a process that has too many files open.
    package static var tooManyOpenFiles: Int32 { EMFILE }

    /// An errno in the system's words: "Device or resource busy".
    package static func meaning(of code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let base = buffer.baseAddress else { return "error \(code)" }
            base.initialize(repeating: 0, count: buffer.count)
            return strerror_r(code, base, buffer.count) == 0
                ? String(cString: base) : "error \(code)"
        }
    }

    /// The remedy for a system call that failed with an errno: a sentence.
    package static func remedy(for code: Int32, of operation: String) -> String {
        switch code {
        case EMFILE:
            "The process has as many files open as it may: close some, or raise its limit "
                + "('ulimit -n'). An open database takes three descriptors."
        case ENFILE:
            "The system has as many files open as it may: end programs, or raise 'fs.file-max'."
        case EAGAIN where operation == "pthread_create":
            "No further thread may be started: end some, or raise the limit of threads and "
                + "processes ('ulimit -u', or that of the container)."
        case ENOMEM:
            "There is too little memory: end programs, or raise the limit of the process or of "
                + "the container."
        case EBUSY where operation == "rename":
            "Something is mounted at this name, such as a file that was given to a container: "
                + "mount its directory instead, or use another name."
        case EBUSY: "Something else uses it: try again when that has ended."
        case EXDEV: "The file would move to another file system: use another directory."
        case EIO:
            "The disk, or its connection, reported an error: look into the system's log, "
                + "and have a backup at hand."
        case ELOOP: "Its path leads through too many symbolic links: give the path of the file."
        case ENOLCK: "The system has no locks left: end programs that hold some."
        case ESTALE, ENOTCONN, EHOSTDOWN, ETIMEDOUT:
            "The file system is not reachable any more: mount it again, and open the file again."
        case ENODEV, ENOSYS, EOPNOTSUPP:
            "The system, or this file system, does not have this call: use another file system."
        default: "Check the path and the disk."
        }
    }
}
