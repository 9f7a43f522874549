/// The delta: new entries of large ordered trees that have not reached them yet.
///
/// Primary keys, e-mail addresses and targets of links come in no order: a thousand new entries of a tree with a million would rewrite a thousand of
/// its leaves. They gather here instead, in trees keyed (tree, key), until many of them go to the same leaf.
///
/// 1. An entry lies in its tree or in one level of the delta, never in two places. So nothing hides anything, a removed entry needs no mark,
///    counts add up, and any entry may move on at any time.
/// 2. A look-up asks the tree first and the levels when it finds nothing there; a cursor walks through all of them side by side.
/// 3. Only entries that their writer knows to be new enter the first level, and only where they would lie thin in their tree: large batches
///    and those of small trees go straight there.
/// 4. A level above its limit hands whole leaves, in key order from where it left off, to the next level, each some times larger, or to the trees:
///    the last level all, the others what lies dense enough for its tree already.
/// 5. Which entry lies where is no part of what is stored: the commit record knows trees, keys and values, not moves.
///
/// Several levels, because one would be rewritten by each transaction nearly as widely as the trees themselves: with 3,000 entries a transaction and
/// 25,000 leaves one level costs about 1,300 pages a transaction at best, three about 400. Buffers in the inner nodes of each tree cost more than
/// that, as a thousand entries reach every node above the leaves.
///
/// Those of a committed snapshot may be used by any thread; a transaction's belong to its thread.
final class Delta: @unchecked Sendable {
    let policy: DeltaPolicy
    /// Nil from the first that no entry has reached yet.
    private(set) var levels: [OrderedTree?]
    /// Changes whenever an entry comes or goes.
    @exclusivity(unchecked) private(set) var stamp = 0
    weak var owner: (any DeltaOwner)?

    /// The delta as `owner` sees it; `isWritable`: it may have to make levels and move entries.
    init(_ owner: any DeltaOwner, policy: DeltaPolicy, isWritable: Bool) throws(StorageError) {
        if isWritable { self.owner = owner }
        self.policy = policy
        levels = Array(repeating: nil, count: policy.limits.count)
        for level in levels.indices {
            guard let tree = try owner.deltaLevel(level, making: false) else { return }
            levels[level] = tree
        }
    }

    /// The level, made where it is missing.
    private func made(_ level: Int) throws(StorageError) -> OrderedTree {
        if let tree = levels[level] { return tree }
        guard let made = try owner?.deltaLevel(level, making: true) else { throw .closed }
        levels[level] = made
        return made
    }

    /// Adds a new entry to a level.
    func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, into level: Int) throws(StorageError) {
        stamp &+= 1
        _ = try made(level).put(key, value)
    }

    /// Removes an entry; false where it is in no level.
    func delete(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        for case let level? in levels where try level.delete(key) {
            stamp &+= 1
            return true
        }
        return false
    }

    // MARK: Moving on

    /// Hands on what lies above the limits, before a commit. `positions` says where each level left off.
    func moveOn(from positions: inout [[UInt8]], spilling limit: Int) throws(StorageError) {
        guard stamp > 0, let owner else { return }
        for level in levels.indices {
            guard let tree = levels[level], tree.ownCount > policy.limits[level] else { continue }
            let move = DeltaMove(delta: self, level: level, owner: owner)
            while tree.ownCount > policy.limits[level] {
                stamp &+= 1
                positions[level] = try tree.takeLeaf(at: positions[level]) { (entry) throws(StorageError) in try move.add(entry) }
                stamp &+= 1
                try tree.space.spill(limit: limit)
            }
        }
    }

    /// The level below, made where it is missing.
    func next(_ level: Int) throws(StorageError) -> OrderedTree { try made(level + 1) }
}

/// Who keeps the trees: a snapshot, or a transaction's view.
protocol DeltaOwner: AnyObject {
    /// The tree of a level; nil where there is none and none is to be made.
    func deltaLevel(_ level: Int, making: Bool) throws(StorageError) -> OrderedTree?
    func orderedTree(_ id: UInt64) throws(StorageError) -> OrderedTree
}

/// When entries enter the delta and when they move on.
package struct DeltaPolicy: Equatable, Sendable {
    /// Entries that each level may hold.
    package var limits = [8 << 10, 64 << 10, 512 << 10]
    /// Entries of a tree below which it takes all entries itself.
    package var smallestTree = 16 << 10
    /// A batch goes straight to a tree that has fewer than so many entries for each of the batch.
    package var sparseness = 64
    /// A share moves from any level to its tree when the tree has fewer than so many entries for each of the share.
    package var density = 8

    package static let usual = DeltaPolicy()

    package init() {}
}

/// What a store remembers of the delta.
package struct DeltaState: Sendable {
    package var policy = DeltaPolicy.usual
    /// Where each level left off handing leaves on. Forgotten with the store: it matters for evenness only.
    var positions = [[UInt8]](repeating: [], count: DeltaPolicy.usual.limits.count)
}

/// Hands entries of one level on, in key order.
private final class DeltaMove {
    private let delta: Delta
    private let level: Int
    private let owner: any DeltaOwner
    private var destinations: [UInt64: OrderedTree?] = [:]
    private var tree: UInt64 = 0
    private var destination: OrderedTree?

    init(delta: Delta, level: Int, owner: any DeltaOwner) {
        self.delta = delta
        self.level = level
        self.owner = owner
    }

    func add(_ entry: OrderedEntry) throws(StorageError) {
        guard let (id, key) = DeltaKey.split(entry.key), !entry.isBlob else { throw .corrupt(page: 0, reason: "an entry of the delta is no such entry") }
        if id != tree { try turn(to: id) }
        let isNew = if let destination { try destination.putOwn(key, entry.stored) } else { try delta.next(level).putOwn(entry.key, entry.stored) }
        if !isNew { throw .corrupt(page: 0, reason: "an entry of tree \(id) lies in two places") }
    }

    private func turn(to id: UInt64) throws(StorageError) {
        if destinations[id] == nil { destinations[id] = .some(try destination(of: id)) }
        tree = id
        destination = destinations[id] ?? nil
    }

    /// The tree itself, or nil for the next level.
    private func destination(of id: UInt64) throws(StorageError) -> OrderedTree? {
        guard let tree = try? owner.orderedTree(id) else { throw .corrupt(page: 0, reason: "the delta holds entries of tree \(id), which is not there") }
        if level + 1 == delta.levels.count { return tree }
        return try (tree.share?.count(level) ?? 0) * delta.policy.density >= tree.ownCount ? tree : nil
    }
}
