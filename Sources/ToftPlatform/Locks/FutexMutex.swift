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
        @usableFromInline let word = Atomic<UInt32>(0)
        @usableFromInline var value: Value

        @usableFromInline
        init(_ value: Value) { self.value = value }
    }

    @usableFromInline let guarded: UnsafeMutablePointer<Guarded>

    /// The lock: the first stored property of what it guards.
    @inlinable var word: FutexLock.Word {
        UnsafeMutableRawPointer(guarded).assumingMemoryBound(to: Atomic<UInt32>.self)
    }

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
        FutexLock.lock(word)
        defer { FutexLock.unlock(word) }
        return try body(&guarded.pointee.value)
    }
}
