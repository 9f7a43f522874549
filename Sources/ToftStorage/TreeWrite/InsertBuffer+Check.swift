/// Holds the levels of the insert buffer against the trees that their entries belong to. Their own
/// order and counts are checked as those of other trees.
struct InsertBufferCheck {
    private let catalog: Catalog
    private var levels: [TreeReader] = []

    /// Throws at the first misplaced entry. O(entries of the insert buffer * log entries).
    static func run(_ catalog: Catalog) throws(StorageError) {
        var check = InsertBufferCheck(catalog: catalog)
        for (index, id) in SystemTree.insertBuffer.enumerated() {
            guard let level = try InsertBufferReader.level(id, in: catalog) else { continue }
            try check.run(level, index)
            check.levels.append(level)
        }
    }

    private init(catalog: Catalog) {
        self.catalog = catalog
    }

    private func run(_ level: TreeReader, _ index: Int) throws(StorageError) {
        let cursor = try level.cursor()
        var isThere = try cursor.seekFirst()
        while isThere {
            let name = "level \(index) of the insert buffer"
            guard let (id, key) = BufferKey.split(cursor.key) else {
                throw .corrupt(
                    page: level.root.ref.page, reason: "\(name) has a key that names no tree")
            }
            guard let tree = try tree(id) else {
                throw .corrupt(
                    page: level.root.ref.page,
                    reason: "\(name) holds entries of tree \(id), which is not there")
            }
            guard try cursor.value.count <= TreeLimits.inlineValue else {
                throw .corrupt(page: level.root.ref.page, reason: "\(name) holds a long value")
            }
            guard try !isInAnother(key, cursor.key, tree) else {
                throw .corrupt(
                    page: level.root.ref.page,
                    reason: "\(name) holds an entry of tree \(id) that lies elsewhere, too")
            }
            isThere = try cursor.next()
        }
    }

    /// Nil if there is no ordered tree with this id.
    private func tree(_ id: TreeID) throws(StorageError) -> TreeReader? {
        do { return try catalog.orderedTree(id) } catch {
            if case .noSuchTree = error { return nil }
            throw error
        }
    }

    private func isInAnother(
        _ key: UnsafeRawBufferPointer, _ whole: UnsafeRawBufferPointer, _ tree: TreeReader
    ) throws(StorageError) -> Bool {
        if try tree.isOwn(key) { return true }
        for level in levels where try level.contains(whole) { return true }
        return false
    }
}
