public import CPlatform
internal import Synchronization

/// A memory fence between a thread that often stores one word and then loads another, and one that
/// seldom does the reverse: the frequent side pays nothing, since the kernel makes it pass a
/// barrier on the seldom side's request (`membarrier`).
public enum AsymmetricFence {
    /// Whether the kernel can. If not, the frequent side needs a full fence.
    static let isAvailable = platform_can_fence_all_threads() != 0

    /// The cheap side of the fence if the kernel has a heavy one: it only keeps the compiler from
    /// reordering. It is public because only public functions are inlined in other modules.
    @inlinable @inline(__always)
    public static func light() { platform_compiler_fence() }

    /// The seldom side's fence: every other thread has passed a full barrier when it returns. False
    /// if the kernel refuses. Costs microseconds, the first time in a process milliseconds.
    static func heavy() -> Bool {
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        return !isAvailable || platform_fence_all_threads() == 0
    }
}
