public import Synchronization

/// A lock of this process and what it guards. Not recursive.
///
/// It does what `Synchronization.Mutex` does, and works in a forked child too: that one knows its
/// owner by the number which the thread had when it first locked one, which in a child is a number
/// of the parent's, and a contended one then stops the process.
///
/// Public because only what is public is inlined in other modules. `@unchecked Sendable`: the value
/// is looked at under the lock alone.
public struct FutexMutex<Value>: ~Copyable, @unchecked Sendable {
    @usableFromInline
    struct Guarded: ~Copyable {
        /// 0: free. 1: held. 2: held, and a thread may sleep.
        @usableFromInline let word = Atomic<UInt32>(0)
        @usableFromInline var value: Value

        @usableFromInline
        init(_ value: Value) { self.value = value }
    }

    @usableFromInline let guarded: UnsafeMutablePointer<Guarded>

    public init(_ value: sending Value) {
        guarded = .allocate(capacity: 1)
        guarded.initialize(to: Guarded(value))
    }

    deinit {
        guarded.deinitialize(count: 1)
        guarded.deallocate()
    }

    /// Runs the body while no other thread runs one. Any thread; waits as long as it takes.
    @inlinable
    public borrowing func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        FutexLock.lock(guarded)
        defer { FutexLock.unlock(guarded) }
        return try body(&guarded.pointee.value)
    }
}

/// The lock at the beginning of memory, without what it guards.
@usableFromInline
enum FutexLock {
    @usableFromInline typealias Word = UnsafeMutablePointer<Atomic<UInt32>>

    /// Turns of a loop before a thread sleeps: some 100 ns.
    private static let spins = 40

    @inlinable @inline(__always)
    static func lock(_ memory: UnsafeMutableRawPointer) {
        let word = memory.assumingMemoryBound(to: Atomic<UInt32>.self)
        if word.pointee.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged {
            return
        }
        wait(word)
    }

    @inlinable @inline(__always)
    static func unlock(_ memory: UnsafeMutableRawPointer) {
        let word = memory.assumingMemoryBound(to: Atomic<UInt32>.self)
        if word.pointee.exchange(0, ordering: .releasing) == 2 { wake(word) }
    }

    @usableFromInline @inline(never)
    static func wait(_ word: Word) {
        for _ in 0..<spins where word.pointee.load(ordering: .relaxed) == 0 {
            if word.pointee.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged
            {
                return
            }
        }
        while word.pointee.exchange(2, ordering: .acquiring) != 0 {
            Futex(word: word, isPrivate: true).wait(while: 2, nanoseconds: -1)
        }
    }

    @usableFromInline @inline(never)
    static func wake(_ word: Word) { Futex(word: word, isPrivate: true).wake(1) }
}

/// A value that is one for the process, under a lock: a forked child starts with a new one.
///
/// What the parent had stays in the child's memory and is never looked at: another thread may have
/// held its lock, or been in the middle of a change, at the moment of the fork.
package final class ProcessWide<Value>: Sendable {
    private final class Box: Sendable {
        let generation: UInt64
        let value: FutexMutex<Value>

        init(generation: UInt64, _ value: sending Value) {
            self.generation = generation
            self.value = FutexMutex(value)
        }
    }

    private let make: @Sendable () -> Value
    /// The address of a `Box` that lives for ever, or 0.
    private let current = Atomic<UInt>(0)

    /// - Parameter make: what a process starts with; called once in each, or twice where two
    ///   threads ask at once.
    package init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    private var box: Box {
        let generation = ForkGuard.generation
        while true {
            let bits = current.load(ordering: .acquiring)
            if let pointer = UnsafeRawPointer(bitPattern: bits) {
                let box = Unmanaged<Box>.fromOpaque(pointer).takeUnretainedValue()
                if box.generation == generation { return box }
            }
            let made = Unmanaged.passRetained(Box(generation: generation, make()))
            let desired = UInt(bitPattern: made.toOpaque())
            if current.compareExchange(
                expected: bits, desired: desired, ordering: .acquiringAndReleasing
            ).exchanged {
                return made.takeUnretainedValue()
            }
            made.release()
        }
    }

    /// Runs the body while no other thread runs one.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try box.value.withLock(body)
    }
}
