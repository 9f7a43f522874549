/// Holds the levels of the delta against the trees that their entries belong to. Their own order
/// and counts are checked as those of other trees.
struct DeltaCheck {
    private let snapshot: Snapshot
    private var levels: [OrderedTree] = []

    /// Throws at the first entry that may not be where it is. O(entries of the delta * log
    /// entries).
    static func run(_ snapshot: Snapshot) throws(StorageError) {
        var check = DeltaCheck(snapshot: snapshot)
        for index in 0..<SystemTree.delta.count {
            guard let level = try snapshot.deltaLevel(index, making: false) else { continue }
            try check.run(level, index)
            check.levels.append(level)
        }
    }

    private init(snapshot: Snapshot) {
        self.snapshot = snapshot
    }

    private func run(_ level: OrderedTree, _ index: Int) throws(StorageError) {
        let cursor = try level.cursor()
        var isThere = try cursor.seekFirst()
        while isThere {
            let place = "level \(index) of the delta"
            guard let (id, key) = DeltaKey.split(cursor.key) else {
                throw .corrupt(
                    page: level.root.ref.page, reason: "\(place) has a key that names no tree")
            }
            guard let tree = try tree(id) else {
                throw .corrupt(
                    page: level.root.ref.page,
                    reason: "\(place) holds entries of tree \(id), which is not there")
            }
            guard try cursor.value.count <= TreeLimits.inlineValue else {
                throw .corrupt(page: level.root.ref.page, reason: "\(place) holds a long value")
            }
            guard try !isElsewhere(key, cursor.key, tree) else {
                throw .corrupt(
                    page: level.root.ref.page,
                    reason: "\(place) holds an entry of tree \(id) that lies elsewhere, too")
            }
            isThere = try cursor.next()
        }
    }

    /// Nil where there is no ordered tree with this id.
    private func tree(_ id: UInt64) throws(StorageError) -> OrderedTree? {
        do { return try snapshot.orderedTree(id) } catch {
            if case .noSuchTree = error { return nil }
            throw error
        }
    }

    private func isElsewhere(
        _ key: UnsafeRawBufferPointer, _ whole: UnsafeRawBufferPointer, _ tree: OrderedTree
    ) throws(StorageError) -> Bool {
        if try tree.isOwn(key) { return true }
        for level in levels where try level.contains(whole) { return true }
        return false
    }
}
