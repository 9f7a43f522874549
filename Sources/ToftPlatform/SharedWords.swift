internal import CPlatform
internal import Glibc
internal import Synchronization

/// Memory that processes share (a lock file), or that stands in for it within one process.
///
/// The only stores are atomic ones to words that nobody takes for data. A mapping of the data file
/// is never written.
final class SharedWords: @unchecked Sendable {
    private let base: UnsafeMutableRawPointer
    private let isMapped: Bool

    /// Memory of this process alone, zeroed.
    init() {
        base = .allocate(byteCount: LockFileLayout.size, alignment: 64)
        base.initializeMemory(as: UInt8.self, repeating: 0, count: LockFileLayout.size)
        isMapped = false
    }

    /// Maps a lock file that is large enough; the descriptor may be closed afterwards.
    init(mapping descriptor: Int32, path: String) throws(StorageError) {
        var error: Int32 = 0
        guard let base = platform_map_shared(descriptor, LockFileLayout.size, &error) else {
            if error == ENOMEM { throw .addressSpaceExhausted }
            throw .failed("mmap", path: path, errno: error)
        }
        self.base = base
        isMapped = true
    }

    /// Maps a lock file of others, for looking only.
    init(readingFrom descriptor: Int32, path: String) throws(StorageError) {
        guard let base = platform_reserve(LockFileLayout.size) else { throw .addressSpaceExhausted }
        self.base = base
        isMapped = true
        try checked("mmap", path, platform_map_reading(descriptor, base, LockFileLayout.size, 0))
    }

    deinit {
        if isMapped { _ = platform_unmap(base, LockFileLayout.size) } else { base.deallocate() }
    }

    /// The word at an offset of `LockFileLayout`.
    @inline(__always)
    func word(_ offset: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        (base + offset).assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    /// A half word, for those that the kernel knows.
    @inline(__always)
    func futex(_ offset: Int) -> Futex {
        Futex(
            word: (base + offset).assumingMemoryBound(to: Atomic<UInt32>.self), isPrivate: !isMapped
        )
    }

    func process(_ index: Int, _ field: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        word(LockFileLayout.processes + index * LockFileLayout.processSize + field)
    }

    @inline(__always)
    func pin(_ index: Int, _ field: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        word(LockFileLayout.pins + index * LockFileLayout.pinSize + field)
    }

    /// Makes every word zero. Needs that nobody else uses them.
    func clear() {
        base.initializeMemory(as: UInt8.self, repeating: 0, count: LockFileLayout.size)
    }
}

/// A 32-bit word that threads, of any process, can sleep on.
struct Futex: @unchecked Sendable {
    let word: UnsafeMutablePointer<Atomic<UInt32>>
    let isPrivate: Bool

    /// Sleeps while the word is `value`, at most so long; may wake for no reason.
    func wait(while value: UInt32, nanoseconds: Int64) {
        _ = platform_futex_wait(word, value, nanoseconds, isPrivate ? 1 : 0)
    }

    func wake(_ count: Int32) {
        _ = platform_futex_wake(word, count, isPrivate ? 1 : 0)
    }
}
