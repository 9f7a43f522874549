public import Synchronization

/// A lock of this process and the value that it guards. Not recursive.
///
/// It corresponds to `Synchronization.Mutex`, and works in a forked child too: that one identifies
/// its owner by the thread's number at its first lock, which in a child is a number of the
/// parent's, and a contended one then stops the process.
///
/// It is public because only public code is inlined in other modules. `@unchecked Sendable`: the
/// value is accessed under the lock alone.
public struct FutexMutex<Value>: ~Copyable, @unchecked Sendable {
    @usableFromInline
    struct Guarded: ~Copyable {
        @usableFromInline let word = Atomic<UInt32>(0)
        @usableFromInline var value: Value

        @usableFromInline
        init(_ value: Value) { self.value = value }
    }

    @usableFromInline let guarded: UnsafeMutablePointer<Guarded>

    /// The lock: the first stored property of the guarded value.
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
