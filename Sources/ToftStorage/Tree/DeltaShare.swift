/// What the delta holds of one tree.
final class DeltaShare: @unchecked Sendable {
    private let delta: Delta
    let key: DeltaKey
    @exclusivity(unchecked) private var counts: [Int] = []
    @exclusivity(unchecked) private var total = 0
    /// Of the delta when it was counted; changes in write transactions only.
    @exclusivity(unchecked) private var stamp: Int

    init(_ delta: Delta, tree id: UInt64) throws(StorageError) {
        self.delta = delta
        key = DeltaKey(tree: id)
        stamp = delta.stamp
        try recount()
    }

    private func recount() throws(StorageError) {
        stamp = delta.stamp
        total = 0
        counts = []
        for level in delta.levels {
            counts.append(try level.map { level throws(StorageError) in try count(in: level) } ?? 0)
            total += counts[counts.count - 1]
        }
    }

    private func count(in level: OrderedTree) throws(StorageError) -> Int {
        guard level.ownCount > 0 else { return 0 }
        let first = try key.with(Self.nothing) { first throws(StorageError) in try level.rank(of: first) }
        return try key.withEnd { end throws(StorageError) in try level.rank(of: end) } - first
    }

    private static var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    /// Entries in all levels.
    var count: Int {
        @inline(__always)
        get throws(StorageError) {
            if stamp != delta.stamp { try recount() }
            return total
        }
    }

    /// Entries in a level.
    func count(_ level: Int) throws(StorageError) -> Int { try count > 0 ? counts[level] : 0 }

    /// The levels that hold any.
    var levels: [OrderedTree] {
        get throws(StorageError) {
            guard try count > 0 else { return [] }
            var levels: [OrderedTree] = []
            for (index, level) in delta.levels.enumerated() where counts[index] > 0 {
                if let level { levels.append(level) }
            }
            return levels
        }
    }

    /// The levels that may hold keys that begin with `prefix`.
    func levels(within prefix: UnsafeRawBufferPointer) throws(StorageError) -> [OrderedTree] {
        guard try count > 0, key.isFitting(prefix.count) else { return [] }
        return try key.with(prefix) { whole throws(StorageError) in
            var levels: [OrderedTree] = []
            for (index, level) in delta.levels.enumerated() where counts[index] > 0 {
                if let level, try level.mayHold(prefix: whole) { levels.append(level) }
            }
            return levels
        }
    }

    // MARK: Entries, by the tree's own keys

    func value(forKey own: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
        guard try count > 0, key.isFitting(own.count) else { return nil }
        return try key.with(own) { whole throws(StorageError) in
            for (index, level) in delta.levels.enumerated() where counts[index] > 0 {
                if let value = try level?.value(forKey: whole) { return value }
            }
            return nil
        }
    }

    /// How many keys in all levels are before `own`.
    func rank(of own: UnsafeRawBufferPointer) throws(StorageError) -> Int {
        var rank = 0
        for level in try levels {
            let first = try key.with(Self.nothing) { first throws(StorageError) in try level.rank(of: first) }
            rank += try key.with(own) { whole throws(StorageError) in try level.rank(of: whole) } - first
        }
        return rank
    }

    /// Whether new entries of a batch of so many are to come here, where the tree itself has `treeCount`.
    func isWanted(batch: Int, treeCount: Int) -> Bool {
        treeCount >= delta.policy.smallestTree && batch < treeCount / delta.policy.sparseness
    }

    /// Adds a new entry to the first level; false where it must go to the tree.
    func insert(_ own: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        guard key.isFitting(own.count), value.count <= TreeLimits.inlineValue else { return false }
        try key.with(own) { whole throws(StorageError) in try delta.insert(whole, value, into: 0) }
        return true
    }

    /// Removes an entry; false where no level has it.
    func delete(_ own: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        guard try count > 0, key.isFitting(own.count) else { return false }
        return try key.with(own) { whole throws(StorageError) in try delta.delete(whole) }
    }

    /// Removes all entries of the tree. O(n log n).
    func deleteAll() throws(StorageError) {
        for level in try levels {
            while let last = try last(in: level) {
                _ = try last.withBytes { bytes throws(StorageError) in try delta.delete(bytes) }
            }
        }
    }

    private func last(in level: OrderedTree) throws(StorageError) -> [UInt8]? {
        let cursor = try level.cursor()
        let isThere = try key.withEnd { end throws(StorageError) in try cursor.seek(before: end) }
        return isThere && key.rest(of: cursor.key) != nil ? Array(cursor.key) : nil
    }
}
