internal import Synchronization
internal import ToftPlatform

extension SharedWords {
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
}
