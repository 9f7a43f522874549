/// The delta: new entries of large ordered trees that have not reached them yet.
///
/// Primary keys, e-mail addresses and targets of links come in no order: a thousand new entries of
/// a tree with a million would rewrite a thousand of its leaves. They gather here instead, in trees
/// keyed (tree, key), until many of them go to the same leaf.
///
/// 1. An entry lies in its tree or in one level of the delta, never in two places. So nothing hides
///    anything, a removed entry needs no mark, counts add up, and any entry may move on at any
///    time.
/// 2. A look-up asks the tree first and the levels when it finds nothing there; a cursor walks
///    through all of them side by side.
/// 3. Only entries that their writer knows to be new enter a level, and only where they would lie
///    thin in their tree: large batches and those of small trees go straight there. The larger the
///    batch, the later the level that it enters.
/// 4. A level above its limit hands entries, in key order from where it left off, to the next
///    level, each some times larger, or to the trees: the last level all, the others what lies
///    dense enough for its tree already.
/// 5. One commit hands on few entries, of one level: the levels take turns. Only what lies far
///    above a limit goes at once, by whole leaves.
/// 6. Which entry lies where is no part of what is stored: the commit record knows trees, keys and
///    values, not moves.
///
/// The first level is one leaf: all that one new object adds to its indexes is one changed page.
/// Each level after it is several times larger, because one alone would be rewritten by each
/// transaction nearly as widely as the trees themselves: with 3,000 entries a transaction and
/// 25,000 leaves one level costs about 1,300 pages a transaction at best, three about 400. Buffers
/// in the inner nodes of each tree cost more than that, as a thousand entries reach every node
/// above the leaves.
///
/// Those of a committed snapshot may be used by any thread; a transaction's belong to its thread.
final class Delta: @unchecked Sendable {
    let policy: DeltaPolicy
    /// Nil where no entry has reached the level yet, and in snapshots where it is empty.
    @exclusivity(unchecked) private(set) var levels: [OrderedTree?]
    @exclusivity(unchecked) private var isChanged = false
    weak var owner: (any DeltaOwner)?

    /// The delta as `owner` sees it; `isWritable`: it may have to make levels and move entries.
    init(_ owner: any DeltaOwner, policy: DeltaPolicy, isWritable: Bool) throws(StorageError) {
        if isWritable { self.owner = owner }
        self.policy = policy
        levels = Array(repeating: nil, count: SystemTree.delta.count)
        for level in levels.indices {
            if let tree = try owner.deltaLevel(level, making: false),
                isWritable || tree.ownCount > 0
            {
                levels[level] = tree
            }
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
    func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, into level: Int)
        throws(StorageError)
    {
        isChanged = true
        _ = try made(min(level, levels.count - 1)).put(key, value)
    }

    /// The value of an entry; nil where it is in no level. The last level holds the most.
    func value(forKey key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
        for case let level? in levels.reversed() where level.ownCount > 0 {
            if let value = try level.value(forKey: key) { return value }
        }
        return nil
    }

    /// Removes an entry; false where it is in no level.
    func delete(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        for case let level? in levels where level.ownCount > 0 {
            if try level.delete(key) { return true }
        }
        return false
    }

    /// The levels that may hold keys that begin with `prefix`.
    func levels(within prefix: UnsafeRawBufferPointer) throws(StorageError) -> [OrderedTree] {
        var found: [OrderedTree] = []
        for case let level? in levels {
            if try level.mayHold(prefix: prefix) { found.append(level) }
        }
        return found
    }

    // MARK: Moving on

    /// Hands on what lies above the limits, before a commit. `positions` says where each level left
    /// off.
    func moveOn(from positions: inout [[UInt8]], spilling limit: Int) throws(StorageError) {
        guard isChanged, let owner else { return }
        isChanged = false
        for level in levels.indices {
            while entries(level) > policy.most(level) {
                try handOn(level, atMost: .max, owner, &positions[level], spilling: limit)
            }
        }
        if let level = levels.indices.first(where: { entries($0) > policy.limits[$0] }) {
            try handOn(level, atMost: policy.portion, owner, &positions[level], spilling: limit)
        }
    }

    private func entries(_ level: Int) -> Int { levels[level]?.ownCount ?? 0 }

    private func handOn(
        _ level: Int, atMost count: Int, _ owner: any DeltaOwner, _ position: inout [UInt8],
        spilling limit: Int
    ) throws(StorageError) {
        let tree = try made(level)
        let move = DeltaMove(delta: self, level: level, owner: owner)
        position = try tree.takeEntries(atMost: count, from: position) {
            (entry) throws(StorageError) in try move.add(entry)
        }
        try tree.space.spill(limit: limit)
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
    /// Entries that each level may hold as a rule. The first are so many as fit into one leaf, with
    /// what is on top of that until they move on.
    package var limits = [80, 1 << 10, 8 << 10, 64 << 10, 512 << 10]
    /// Entries that a level hands on with one commit, as a rule.
    package var portion = 32
    /// Entries of the smallest level that a batch enters, for each of the batch.
    package var roominess = 8
    /// Entries of a tree below which it takes all entries itself.
    package var smallestTree = 16 << 10
    /// A batch goes straight to a tree that has fewer than so many entries for each of the batch.
    package var sparseness = 64
    /// A share moves from any level to its tree when the tree has fewer than so many entries for
    /// each of the share.
    package var density = 8

    package static let usual = DeltaPolicy()

    package init() {}

    /// Entries of a level beyond which it hands on at once.
    func most(_ level: Int) -> Int { limits[level] + limits[level] / 8 + portion }

    /// The level that new entries of a batch enter.
    func entrance(batch: Int) -> Int {
        limits.firstIndex { batch * roominess <= $0 } ?? limits.count - 1
    }
}

/// What a store remembers of the delta.
package struct DeltaState: Sendable {
    package var policy = DeltaPolicy.usual
    /// Where each level left off handing leaves on. Forgotten with the store: it matters for
    /// evenness only.
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
        guard let (id, key) = DeltaKey.split(entry.key), !entry.isBlob else {
            throw .corrupt(page: 0, reason: "an entry of the delta is no such entry")
        }
        if id != tree { try turn(to: id) }
        let isNew =
            if let destination { try destination.putOwn(key, entry.stored) } else {
                try delta.next(level).putOwn(entry.key, entry.stored)
            }
        if !isNew { throw .corrupt(page: 0, reason: "an entry of tree \(id) lies in two places") }
    }

    private func turn(to id: UInt64) throws(StorageError) {
        if destinations[id] == nil { destinations[id] = .some(try destination(of: id)) }
        tree = id
        destination = destinations[id] ?? nil
    }

    /// The tree itself, or nil for the next level.
    private func destination(of id: UInt64) throws(StorageError) -> OrderedTree? {
        guard let tree = try? owner.orderedTree(id) else {
            throw .corrupt(
                page: 0, reason: "the delta holds entries of tree \(id), which is not there")
        }
        if level + 1 == delta.levels.count { return tree }
        return try (tree.share?.count(level) ?? 0) * delta.policy.density >= tree.ownCount
            ? tree : nil
    }
}
