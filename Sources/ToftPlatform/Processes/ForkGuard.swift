internal import CPlatform
internal import Glibc
internal import Synchronization

/// Tells whether this process is still the one that made a thing, at the price of one load.
///
/// A page with MADV_WIPEONFORK is zero in a forked child. Each process that finds it zero takes the
/// next generation number; anything opened under another generation belongs to a parent. A child
/// may therefore open files of its own, and its own children are distinguished again.
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

    /// The word that holds the generation, 0 in a child that has not asked for its own yet: for
    /// comparisons that cannot afford a call.
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
    /// Database files that a process has open at most.
    package static let fileLimit = 2_048
    /// Three for each: to read and write, to map, and for the locks.
    private static let descriptorLimit = 3 * fileLimit

    /// A forked child will close this descriptor.
    ///
    /// - Throws: `tooManyFiles` when as many are registered as there may be: a child would keep the
    ///   locks of a descriptor that it does not know.
    static func register(_ descriptor: MarkedDescriptor, path: String) throws(SystemError) {
        _ = generation
        guard descriptors.add(descriptor.word) else { throw .tooManyFiles(path: path) }
    }

    /// To be called before the descriptor is closed.
    static func unregister(_ descriptor: MarkedDescriptor) { descriptors.remove(descriptor.word) }

    private static func enterChild() {
        page.pointee.store(0, ordering: .relaxed)
        descriptors.takeAll { _ = MarkedDescriptor(word: $0).close() }
        ForkGate.open(inChild: true)
    }
}

/// Descriptors, in a table of fixed size that lives as long as the process: the handler of a fork
/// may only do what a signal handler may.
struct DescriptorTable {
    /// Words of descriptors, or 0.
    private let entries: UnsafeMutablePointer<Atomic<UInt64>>
    private let limit: Int

    /// For `limit` descriptors.
    init(limit: Int) {
        self.limit = limit
        let table = UnsafeMutableRawPointer.allocate(byteCount: max(1, limit) * 8, alignment: 8)
        table.initializeMemory(as: UInt64.self, repeating: 0, count: limit)
        entries = table.assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    /// Adds the word of a descriptor, which is not 0. False when the table is full. O(limit).
    package func add(_ word: UInt64) -> Bool { replace(0, by: word) }

    /// Removes a word if the table has it. O(limit).
    package func remove(_ word: UInt64) { _ = replace(word, by: 0) }

    /// Empties the table, and passes each word to `body`.
    package func takeAll(_ body: (UInt64) -> Void) {
        for index in 0..<limit {
            let word = entries[index].exchange(0, ordering: .relaxed)
            if word != 0 { body(word) }
        }
    }

    private func replace(_ old: UInt64, by new: UInt64) -> Bool {
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
