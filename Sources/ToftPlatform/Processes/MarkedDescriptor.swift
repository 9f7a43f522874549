internal import CPlatform
internal import Glibc
internal import Synchronization

/// A descriptor of a file, and a mark by which it is known again.
///
/// A program may close descriptors that it did not open, as daemons do, and the system reuses their
/// numbers for the next files. So each open file description of ours is marked by its position,
/// which is never used for reading or writing: a number between 1 and 2 GiB, another for each. A
/// number with another position belongs to somebody else, even if it is our file opened once more,
/// without our locks.
struct MarkedDescriptor: Equatable, Sendable {
    let number: Int32
    private let mark: Int32

    /// No descriptor.
    static let none = MarkedDescriptor(word: 0)

    /// Marks a descriptor of a regular file, which nobody has marked.
    init(_ number: Int32, path: String) throws(SystemError) {
        let mark = Self.nextMark()
        try checked("lseek", path, platform_set_position(number, Int64(mark)))
        self.number = number
        self.mark = mark
    }

    /// Both numbers in one word; 0 if there is no descriptor.
    var word: UInt64 { UInt64(UInt32(bitPattern: number &+ 1)) | UInt64(mark) << 32 }

    init(word: UInt64) {
        number = Int32(truncatingIfNeeded: word) &- 1
        mark = Int32(truncatingIfNeeded: word >> 32)
    }

    /// Whether the number still belongs to the marked description. May be called by the handler of
    /// a fork.
    var isIntact: Bool { number >= 0 && platform_position(number) == Int64(mark) }

    /// - Throws: `closed` without a descriptor; `descriptorLost`.
    @inline(__always)
    func check(_ path: String) throws(SystemError) -> Int32 {
        if isIntact { return number }
        if number < 0 { throw .closed }
        throw .descriptorLost(path: path)
    }

    /// Closes it, unless the number is somebody else's by now.
    func close() -> Int32 { isIntact ? platform_close(number) : 0 }

    private static let marks: UInt32 = 1 << 30
    private static let lastMark = Atomic<UInt32>(
        UInt32(truncatingIfNeeded: (try? RandomBytes.uint64()) ?? 0))

    private static func nextMark() -> Int32 {
        let count = lastMark.add(1, ordering: .relaxed).newValue
        return Int32(marks + count % marks)
    }
}
