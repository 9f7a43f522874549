/// The insert buffer of one version, for reading: see `InsertBuffer`.
final class InsertBufferReader: Sendable {
    /// Nil if a level has no entries, in a committed version.
    let levels: [TreeReader?]
    /// Whether no level holds an entry, in a committed version.
    let isEmpty: Bool

    /// The levels that `catalog` names; `hasAllLevels`: the others too, as empty trees.
    init(in catalog: Catalog, hasAllLevels: Bool) throws(StorageError) {
        var levels: [TreeReader?] = []
        for id in SystemTree.insertBuffer {
            var level = try InsertBufferReader.level(id, in: catalog)
            if hasAllLevels {
                level = level ?? TreeReader(pages: catalog.pages, head: TreeHead(kind: .ordered))
            } else if level?.ownCount == 0 {
                level = nil
            }
            levels.append(level)
        }
        self.levels = levels
        isEmpty = levels.allSatisfy { $0 == nil }
    }

    /// A level; nil if the catalog does not have it.
    static func level(_ id: TreeID, in catalog: Catalog) throws(StorageError) -> TreeReader? {
        do {
            return TreeReader(pages: catalog.pages, head: try catalog.head(id, .ordered))
        } catch .noSuchTree {
            return nil
        }
    }

    /// The value of an entry; nil if no level has it. The last level holds the most.
    func value(forKey key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
        for case let level? in levels.reversed() where level.ownCount > 0 {
            if let value = try level.value(forKey: key) { return value }
        }
        return nil
    }

    /// The trees that have entries here. O(trees * log entries).
    func trees() throws(StorageError) -> Set<TreeID> {
        var ids: Set<TreeID> = []
        for case let level? in levels where level.ownCount > 0 {
            let cursor = try level.cursor()
            var isThere = try cursor.seekFirst()
            while isThere, let (id, _) = BufferKey.split(cursor.key) {
                ids.insert(id)
                isThere = try BufferKey(tree: id).withEnd { end throws(StorageError) in
                    try cursor.seek(end)
                }
            }
        }
        return ids
    }

    /// The levels that may hold keys that begin with `prefix`.
    func levels(within prefix: UnsafeRawBufferPointer) throws(StorageError) -> [TreeReader] {
        var found: [TreeReader] = []
        for case let level? in levels {
            if try level.mayHold(prefix: prefix) { found.append(level) }
        }
        return found
    }
}

/// The entries of one tree in the insert buffer, by the tree's own keys.
struct BufferedEntries: Sendable {
    private let buffer: InsertBufferReader
    /// The prefix of the tree's own keys there.
    let prefix: BufferKey

    init(_ buffer: InsertBufferReader, tree id: TreeID) {
        self.buffer = buffer
        prefix = BufferKey(tree: id)
    }

    static var noKey: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// Entries in all levels. O(log entries of the buffer).
    var count: Int {
        get throws(StorageError) {
            var sum = 0
            for index in buffer.levels.indices { sum += try count(index) }
            return sum
        }
    }

    /// Entries in a level.
    func count(_ index: Int) throws(StorageError) -> Int {
        guard let level = buffer.levels[index], level.ownCount > 0 else { return 0 }
        let first = try prefix.with(Self.noKey) { first throws(StorageError) in
            try level.rank(of: first)
        }
        return try prefix.withEnd { end throws(StorageError) in try level.rank(of: end) } - first
    }

    /// The levels that may hold any.
    var levels: [TreeReader] {
        get throws(StorageError) { try levels(within: Self.noKey) }
    }

    /// The levels that may hold keys that begin with `own`.
    func levels(within own: UnsafeRawBufferPointer) throws(StorageError) -> [TreeReader] {
        guard !buffer.isEmpty, prefix.isFitting(own.count) else { return [] }
        return try prefix.with(own) { key throws(StorageError) in try buffer.levels(within: key) }
    }

    func value(forKey own: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
        guard prefix.isFitting(own.count) else { return nil }
        return try prefix.with(own) { key throws(StorageError) in try buffer.value(forKey: key) }
    }

    /// Number of keys in all levels before `own`.
    func rank(of own: UnsafeRawBufferPointer) throws(StorageError) -> Int {
        var rank = 0
        for level in try levels {
            let first = try prefix.with(Self.noKey) { first throws(StorageError) in
                try level.rank(of: first)
            }
            rank +=
                try prefix.with(own) { key throws(StorageError) in try level.rank(of: key) } - first
        }
        return rank
    }
}
