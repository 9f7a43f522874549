internal import Synchronization
internal import ToftStorage

/// The trees that a view has opened, one slot for each, so that finding one again is one load. Any
/// thread. Uncounted references are valid as long as the view.
///
/// `@unchecked Sendable`: each slot is an atomic word, written once.
final class TreeSlots: @unchecked Sendable {
    private let tables: Slots<TableReader>
    private let trees: Slots<TreeReader>

    init(tableCount: Int, treeCount: Int) {
        tables = Slots(count: tableCount)
        trees = Slots(count: treeCount)
    }

    deinit {
        tables.free()
        trees.free()
    }

    @inline(__always)
    func table(_ slot: Int, id: TreeID, in snapshot: Snapshot) throws(StorageError) -> TableReader {
        if let table = tables[slot] { return table.takeUnretainedValue() }
        return tables.keep(try snapshot.table(id), at: slot)
    }

    @inline(__always)
    func tree(_ slot: Int, id: TreeID, in snapshot: Snapshot) throws(StorageError)
        -> Unmanaged<TreeReader>
    {
        if let tree = trees[slot] { return tree }
        return .passUnretained(trees.keep(try snapshot.orderedTree(id), at: slot))
    }
}

/// References that are set once, by whichever thread comes first, and kept until the end. (The
/// standard library's `AtomicLazyReference` does the same, but reads its own type's metadata at
/// each load.)
private struct Slots<Object: AnyObject> {
    private let words: UnsafeMutableBufferPointer<Atomic<UInt>>

    init(count: Int) {
        words = .allocate(capacity: count)
        for index in words.indices { words.initializeElement(at: index, to: Atomic(0)) }
    }

    @inline(__always)
    subscript(slot: Int) -> Unmanaged<Object>? {
        let word = words[slot].load(ordering: .acquiring)
        return UnsafeRawPointer(bitPattern: word).map { Unmanaged<Object>.fromOpaque($0) }
    }

    /// Stores an object in a slot and returns it; if another thread was first, returns the object
    /// of that thread.
    func keep(_ object: Object, at slot: Int) -> Object {
        let word = UInt(bitPattern: Unmanaged.passRetained(object).toOpaque())
        if words[slot].compareExchange(expected: 0, desired: word, ordering: .acquiringAndReleasing)
            .exchanged
        {
            return object
        }
        Unmanaged.passUnretained(object).release()
        return self[slot]?.takeUnretainedValue() ?? object
    }

    func free() {
        for index in words.indices {
            let word = words[index].load(ordering: .acquiring)
            if let object = UnsafeRawPointer(bitPattern: word) {
                Unmanaged<Object>.fromOpaque(object).release()
            }
        }
        words.deinitialize()
        words.deallocate()
    }
}
