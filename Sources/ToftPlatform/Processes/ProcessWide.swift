internal import Synchronization

/// A value that is one for the process, under a lock: a forked child starts with a new one.
///
/// The parent's value stays in the child's memory and is never used: at the moment of the fork
/// another thread may have held its lock or been in the middle of a change.
///
/// It is public because only public code is inlined in other modules.
public final class ProcessWide<Value>: Sendable {
    @usableFromInline
    final class Box: Sendable {
        let generation: UInt64
        @usableFromInline let value: FutexMutex<Value>

        init(generation: UInt64, _ value: sending Value) {
            self.generation = generation
            self.value = FutexMutex(value)
        }
    }

    private let make: @Sendable () -> Value
    /// The address of a `Box` that is never released, or 0.
    private let current = Atomic<UInt>(0)

    /// - Parameter make: makes the value that a process starts with; called once in each process,
    ///   or twice if two threads need it at once.
    public init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    /// The box, which is never released.
    @usableFromInline var box: Unmanaged<Box> {
        let generation = ForkGuard.generation
        while true {
            let bits = current.load(ordering: .acquiring)
            if let pointer = UnsafeRawPointer(bitPattern: bits) {
                let box = Unmanaged<Box>.fromOpaque(pointer)
                if box.borrow({ $0.generation }) == generation { return box }
            }
            let made = Unmanaged.passRetained(Box(generation: generation, make()))
            let desired = UInt(bitPattern: made.toOpaque())
            if current.compareExchange(
                expected: bits, desired: desired, ordering: .acquiringAndReleasing
            ).exchanged {
                return made
            }
            made.release()
        }
    }

    /// Runs the body while no other thread runs one.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try box.borrow { box throws(Failure) in try box.value.withLock(body) }
    }
}
