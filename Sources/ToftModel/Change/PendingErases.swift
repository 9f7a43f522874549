internal import ToftStorage

/// Objects that a transaction has erased and whose rows are still there.
///
/// An erased object takes its entries along, and links to it become null: pages in as many places
/// as it has links and indexes. They are gathered for many objects at once and then visited in
/// their order, see `ErasePass`.
///
/// 1. The view asks here whether an object is erased before it asks the rows, and a link to one
///    reads as null.
/// 2. An entry of an erased object may lead astray until it is brought: a primary key found is
///    asked for here, index and backlink trees are read after bringing, and so are lists of links.
/// 3. A link set meanwhile to something else stays as it is.
final class PendingErases {
    private let limit: Int
    private let schema: ModelSchema
    private let entries: PendingEntries
    weak var writing: WriteTransaction?
    /// The keys of erased objects, by the position of the class.
    @exclusivity(unchecked) private var keys: ContiguousArray<Set<Int64>>
    @exclusivity(unchecked) private var count = 0

    init(_ schema: ModelSchema, entries: PendingEntries, limit: Int) {
        self.limit = limit
        self.schema = schema
        self.entries = entries
        keys = ContiguousArray(repeating: [], count: schema.classes.count)
    }

    /// Whether no erased object waits.
    @inline(__always)
    var isEmpty: Bool { count == 0 }

    /// Whether an object is erased.
    @inline(__always)
    func hold(_ key: Int64, _ owner: ClassHandle) -> Bool {
        count > 0 && keys[owner.position].contains(key)
    }

    /// How many objects of a class are erased.
    @inline(__always)
    func count(_ owner: ClassHandle) -> Int { count > 0 ? keys[owner.position].count : 0 }

    /// Notes that an object that is there goes.
    func note(_ key: Int64, _ owner: ClassHandle) throws(ModelError) {
        keys[owner.position].insert(key)
        count += 1
        if count >= limit { try stored { () throws(StorageError) in try bring() } }
    }

    /// Erases the objects.
    func bring() throws(StorageError) {
        if count > 0 { try bringSome() }
    }

    private func bringSome() throws(StorageError) {
        guard let writing else { throw .closed }
        var pass = ErasePass(schema: schema, writing: writing, entries: entries, erased: keys)
        for position in keys.indices { keys[position] = [] }
        count = 0
        do throws(ModelError) {
            try pass.run()
        } catch {
            throw error.storageError
        }
    }
}

extension ModelError {
    /// The error as who calls from below understands it.
    fileprivate var storageError: StorageError {
        if case .storage(let error) = self { error } else { .corrupt(page: 0, reason: message) }
    }
}
