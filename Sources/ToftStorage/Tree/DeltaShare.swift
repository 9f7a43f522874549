/// What the delta holds of one tree.
final class DeltaShare: @unchecked Sendable {
    private let delta: Delta
    let key: DeltaKey

    init(_ delta: Delta, tree id: UInt64) {
        self.delta = delta
        key = DeltaKey(tree: id)
    }

    private static var nothing: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// Entries in all levels. O(log entries of the delta).
    var count: Int {
        get throws(StorageError) {
            var sum = 0
            for index in delta.levels.indices { sum += try count(index) }
            return sum
        }
    }

    /// Entries in a level.
    func count(_ index: Int) throws(StorageError) -> Int {
        guard let level = delta.levels[index], level.ownCount > 0 else { return 0 }
        let first = try key.with(Self.nothing) { first throws(StorageError) in
            try level.rank(of: first)
        }
        return try key.withEnd { end throws(StorageError) in try level.rank(of: end) } - first
    }

    /// The levels that may hold any.
    var levels: [OrderedTree] {
        get throws(StorageError) { try levels(within: Self.nothing) }
    }

    /// The levels that may hold keys that begin with `prefix`.
    func levels(within prefix: UnsafeRawBufferPointer) throws(StorageError) -> [OrderedTree] {
        guard key.isFitting(prefix.count) else { return [] }
        return try key.with(prefix) { whole throws(StorageError) in try delta.levels(within: whole)
        }
    }

    // MARK: Entries, by the tree's own keys

    func value(forKey own: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
        guard key.isFitting(own.count) else { return nil }
        return try key.with(own) { whole throws(StorageError) in try delta.value(forKey: whole) }
    }

    /// How many keys in all levels are before `own`.
    func rank(of own: UnsafeRawBufferPointer) throws(StorageError) -> Int {
        var rank = 0
        for level in try levels {
            let first = try key.with(Self.nothing) { first throws(StorageError) in
                try level.rank(of: first)
            }
            rank +=
                try key.with(own) { whole throws(StorageError) in try level.rank(of: whole) }
                - first
        }
        return rank
    }

    /// The level for new entries of a batch of so many, where the tree itself has `treeCount`; nil
    /// where they are to go there.
    func entrance(batch: Int, treeCount: Int) -> Int? {
        guard treeCount >= delta.policy.smallestTree, batch < treeCount / delta.policy.sparseness
        else { return nil }
        return delta.policy.entrance(batch: batch)
    }

    /// Adds a new entry to a level; false where it must go to the tree.
    func insert(_ own: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, into level: Int)
        throws(StorageError) -> Bool
    {
        guard key.isFitting(own.count), value.count <= TreeLimits.inlineValue else { return false }
        try key.with(own) { whole throws(StorageError) in
            try delta.insert(whole, value, into: level)
        }
        return true
    }

    /// Removes an entry; false where no level has it.
    func delete(_ own: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        guard key.isFitting(own.count) else { return false }
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
