internal import CPlatform
internal import Synchronization

/// Tells whether this process is still the one that made a thing, at the price of one load.
///
/// A page with MADV_WIPEONFORK is zero in a forked child. Each process that finds it zero gives
/// itself the next generation number; what was opened under another generation belongs to a parent.
/// So a child may open files of its own, and its children are told apart again.
///
/// In a forked child, a handler closes the descriptors that were registered here: a lock of an open
/// file description lives as long as any descriptor of it, and a child that merely lives on must
/// not keep the locks of a dead parent.
package enum ForkGuard {
    /// Changes with every fork; remember it when something is opened, compare it before each use.
    package static var generation: UInt64 {
        let generation = page.pointee.load(ordering: .relaxed)
        return generation != 0 ? generation : startGeneration()
    }

    /// The word that holds the generation, 0 in a child that has not asked for its own yet: to be
    /// compared where even a call costs too much.
    package static var word: UnsafePointer<UInt64> {
        UnsafeRawPointer(page).assumingMemoryBound(to: UInt64.self)
    }

    private typealias Word = UnsafeMutablePointer<Atomic<UInt64>>

    nonisolated(unsafe) private static let page: Word = {
        let size = platform_memory_page_size()
        // Without the kernel's help (before Linux 4.14) the handler below zeroes the page.
        let base =
            platform_map_wiped_on_fork(size)
            ?? UnsafeMutableRawPointer.allocate(byteCount: size, alignment: size)
        base.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        _ = descriptors
        _ = platform_at_fork_in_child { ForkGuard.enterChild() }
        return base.assumingMemoryBound(to: Atomic<UInt64>.self)
    }()

    private static let lastGeneration = Atomic<UInt64>(0)

    private static func startGeneration() -> UInt64 {
        let next = lastGeneration.add(1, ordering: .relaxed).newValue
        let (won, current) = page.pointee.compareExchange(
            expected: 0, desired: next, ordering: .relaxed)
        return won ? next : current
    }

    // The handler may only do what a signal handler may, so the descriptors lie in a plain table:
    // descriptor + 1, or 0.

    private typealias Slot = UnsafeMutablePointer<Atomic<Int32>>
    private static let descriptorLimit = 4096

    nonisolated(unsafe) private static let descriptors: Slot = {
        let table = UnsafeMutableRawPointer.allocate(byteCount: descriptorLimit * 4, alignment: 4)
        table.initializeMemory(as: Int32.self, repeating: 0, count: descriptorLimit)
        return table.assumingMemoryBound(to: Atomic<Int32>.self)
    }()

    /// A forked child will close this descriptor.
    static func register(descriptor: Int32) {
        _ = generation
        for index in 0..<descriptorLimit {
            let slot = descriptors + index
            if slot.pointee.load(ordering: .relaxed) != 0 { continue }
            if slot.pointee.compareExchange(
                expected: 0, desired: descriptor + 1, ordering: .relaxed
            ).exchanged {
                return
            }
        }
    }

    /// To be called before the descriptor is closed.
    static func unregister(descriptor: Int32) {
        for index in 0..<descriptorLimit {
            let slot = descriptors + index
            if slot.pointee.compareExchange(
                expected: descriptor + 1, desired: 0, ordering: .relaxed
            ).exchanged {
                return
            }
        }
    }

    private static func enterChild() {
        page.pointee.store(0, ordering: .relaxed)
        for index in 0..<descriptorLimit {
            let descriptor = descriptors[index].exchange(0, ordering: .relaxed) - 1
            if descriptor >= 0 { _ = platform_close(descriptor) }
        }
    }
}
