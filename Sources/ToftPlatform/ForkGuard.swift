internal import CPlatform
internal import Glibc
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
        _ = platform_at_fork(
            { ForkGate.close() }, { ForkGate.open(inChild: false) }, { ForkGuard.enterChild() })
        return base.assumingMemoryBound(to: Atomic<UInt64>.self)
    }()

    private static let lastGeneration = Atomic<UInt64>(0)

    private static func startGeneration() -> UInt64 {
        let next = lastGeneration.add(1, ordering: .relaxed).newValue
        let (won, current) = page.pointee.compareExchange(
            expected: 0, desired: next, ordering: .relaxed)
        return won ? next : current
    }

    /// Created with the page, before the first fork that matters.
    nonisolated(unsafe) private static let descriptors = DescriptorTable(limit: descriptorLimit)
    /// Two for each database file that the process has open.
    private static let descriptorLimit = 4096

    /// A forked child will close this descriptor.
    ///
    /// - Throws: `io` with EMFILE when 4,096 descriptors are registered: a child would keep the
    ///   locks of a descriptor that it does not know.
    static func register(descriptor: Int32, path: String) throws(SystemError) {
        _ = generation
        guard descriptors.add(descriptor) else {
            throw .io(operation: "open", path: path, errno: EMFILE)
        }
    }

    /// To be called before the descriptor is closed.
    static func unregister(descriptor: Int32) { descriptors.remove(descriptor) }

    private static func enterChild() {
        page.pointee.store(0, ordering: .relaxed)
        descriptors.takeAll { _ = platform_close($0) }
        ForkGate.open(inChild: true)
    }
}

/// Descriptors, in a table of fixed size that lives as long as the process: the handler of a fork
/// may only do what a handler of a signal may.
package struct DescriptorTable {
    /// Descriptor + 1, or 0.
    private let entries: UnsafeMutablePointer<Atomic<Int32>>
    private let limit: Int

    /// For `limit` descriptors.
    package init(limit: Int) {
        self.limit = limit
        let table = UnsafeMutableRawPointer.allocate(byteCount: max(1, limit) * 4, alignment: 4)
        table.initializeMemory(as: Int32.self, repeating: 0, count: limit)
        entries = table.assumingMemoryBound(to: Atomic<Int32>.self)
    }

    /// Adds a descriptor, 0 or above. False when the table is full. O(limit).
    package func add(_ descriptor: Int32) -> Bool { replace(0, by: descriptor + 1) }

    /// Removes a descriptor that is there; else does nothing. O(limit).
    package func remove(_ descriptor: Int32) { _ = replace(descriptor + 1, by: 0) }

    /// Empties the table, and hands each descriptor that was there to `body`.
    package func takeAll(_ body: (Int32) -> Void) {
        for index in 0..<limit {
            let descriptor = entries[index].exchange(0, ordering: .relaxed) - 1
            if descriptor >= 0 { body(descriptor) }
        }
    }

    private func replace(_ old: Int32, by new: Int32) -> Bool {
        for index in 0..<limit where entries[index].load(ordering: .relaxed) == old {
            if entries[index].compareExchange(expected: old, desired: new, ordering: .relaxed)
                .exchanged
            {
                return true
            }
        }
        return false
    }
}
