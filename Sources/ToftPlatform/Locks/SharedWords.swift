internal import CPlatform
internal import Glibc
package import Synchronization

/// Memory that processes share (a file of words), or zeroed memory of this process alone. The
/// latter replaces the former for unshared databases, and suits tables that are mostly unused, as
/// it takes no memory until it is touched.
///
/// The only stores to shared memory are atomic ones to words without users' data. A mapping of a
/// data file is never written.
///
/// `@unchecked Sendable`: its address and size never change, its words are atomic or their user's
/// to guard.
package final class SharedWords: @unchecked Sendable {
    /// The first word; the memory lives as long as this object.
    package let base: UnsafeMutableRawPointer
    package let byteCount: Int
    /// Whether other processes may have the words too.
    package let isMapped: Bool
    /// Whether the memory is of the heap.
    private let isAllocated: Bool

    /// Memory of this process alone, zeroed.
    package init(byteCount: Int) {
        self.byteCount = byteCount
        isMapped = false
        if let zeroed = platform_map_zeroed(byteCount) {
            (base, isAllocated) = (zeroed, false)
        } else {
            (base, isAllocated) = (.allocate(byteCount: byteCount, alignment: 64), true)
            base.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        }
    }

    /// Takes over a mapping.
    init(mapping base: UnsafeMutableRawPointer, byteCount: Int) {
        self.base = base
        self.byteCount = byteCount
        isMapped = true
        isAllocated = false
    }

    deinit {
        if isAllocated { base.deallocate() } else { _ = platform_unmap(base, byteCount) }
    }

    /// Makes every word zero. No other thread or process may use them.
    package func clear() {
        base.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    }
}

/// A 32-bit word that threads, of any process, can sleep on.
///
/// `@unchecked Sendable`: the word is atomic; its maker keeps it allocated.
package struct Futex: @unchecked Sendable {
    package let word: UnsafeMutablePointer<Atomic<UInt32>>
    /// Whether only threads of this process sleep on it.
    package let isPrivate: Bool

    package init(word: UnsafeMutablePointer<Atomic<UInt32>>, isPrivate: Bool) {
        self.word = word
        self.isPrivate = isPrivate
    }

    /// Sleeps while the word is `value`, at most so long (negative: without limit); may wake for no
    /// reason.
    package func wait(while value: UInt32, nanoseconds: Int64) {
        ThreadMark.parking {
            _ = platform_futex_wait(word, value, nanoseconds, isPrivate ? 1 : 0)
        }
    }

    /// `wait` for a caller that marks the thread as sleeping itself.
    func waitUnmarked(while value: UInt32) {
        _ = platform_futex_wait(word, value, -1, isPrivate ? 1 : 0)
    }

    /// A word that stays 0.
    private static let pause: Futex = {
        let word = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)
        word.initialize(to: Atomic(0))
        return Futex(word: word, isPrivate: true)
    }()

    /// Sleeps for a time: on a word that no thread wakes.
    package static func sleep(nanoseconds: Int64) { pause.wait(while: 0, nanoseconds: nanoseconds) }

    /// Wakes at most `count` sleepers.
    package func wake(_ count: Int32) {
        _ = platform_futex_wake(word, count, isPrivate ? 1 : 0)
    }
}
