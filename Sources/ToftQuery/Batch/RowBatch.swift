internal import ToftModel
internal import ToftStorage

/// A batch of objects of one class, or of elements of lists: the rows that predicates and
/// expressions are computed for.
///
/// Its rows may belong to the rows of another batch, the base: several to one after a collection
/// was followed.
final class RowBatch {
    /// Reads the properties of the objects; nil for a batch of elements.
    let reader: ClassReader?
    private(set) var count = 0
    /// The keys of the objects.
    private(set) var keys: RowKeys
    /// Rows that have no object: behind a null link, or deleted meanwhile.
    private(set) var absent = Selection.empty
    /// The cluster whose rows the rows of the batch are, all of them and in its order.
    ///
    /// Good until the next filling. A pointer, since copying a view for each predicate costs as
    /// much as finding a column in it.
    private(set) var cluster: UnsafePointer<ClusterView>?
    private let ownCluster: UnsafeMutablePointer<ClusterView>
    /// The values, in a batch of elements.
    var elements: Vector?

    /// The batch whose rows own the rows of this one.
    var base: RowBatch?
    /// For each row its row in `base`.
    let owners: UnsafeMutablePointer<UInt8>
    /// Grows with every filling, so that results computed for the rows can be kept until then.
    private(set) var generation = 0

    private let ownKeys: UnsafeMutablePointer<Int64>
    private var locations: RowLocations?

    init(_ reader: ClassReader?) {
        self.reader = reader
        ownCluster = .allocate(capacity: 1)
        ownKeys = .allocate(capacity: Selection.capacity)
        ownKeys.initialize(repeating: 0, count: Selection.capacity)
        owners = .allocate(capacity: Selection.capacity)
        owners.initialize(repeating: 0, count: Selection.capacity)
        keys = RowKeys(ownKeys)
    }

    deinit {
        ownCluster.deallocate()
        ownKeys.deallocate()
        owners.deallocate()
    }

    /// All rows.
    var rows: Selection {
        if allRows.count != count { allRows = (count, .first(count)) }
        return allRows.rows
    }
    /// The rows that have an object.
    var presentRows: Selection { rows.subtracting(absent) }
    /// The rows of the last batch: most have as many.
    private var allRows: (count: Int, rows: Selection) = (0, .empty)

    // MARK: Filling

    /// Makes the rows those of a cluster.
    func fill(_ cluster: ClusterView) {
        ownCluster.initialize(to: cluster)
        self.cluster = UnsafePointer(ownCluster)
        count = cluster.count
        keys = cluster.keys
        absent = .empty
        generation &+= 1
    }

    /// Empties the batch, to append to it.
    func clear() {
        cluster = nil
        count = 0
        keys = RowKeys(ownKeys)
        absent = .empty
        locations?.isValid = false
        generation &+= 1
    }

    var isFull: Bool { count == Selection.capacity }

    /// Adds an object that belongs to a row of the base.
    @inline(__always)
    func append(_ key: Int64, owner: Int) {
        ownKeys[count] = key
        owners[count] = UInt8(truncatingIfNeeded: owner)
        count &+= 1
    }

    /// Adds a row without an object.
    @inline(__always)
    func appendAbsent(owner: Int) {
        absent.insert(count)
        append(0, owner: owner)
    }

    /// Adds `count` elements whose owners are set already.
    func setElementCount(_ count: Int) {
        self.count = count
        generation &+= 1
    }

    /// Makes the rows the objects that `links`, read from the rows of `other`, lead to: one for
    /// each.
    func fill(links: Vector, of other: RowBatch, wanted: Selection) {
        clear()
        let present = wanted.subtracting(links.nulls)
        count = other.count
        for row in 0..<count { ownKeys[row] = links.ints[row] }
        absent = other.rows.subtracting(present)
    }

    /// Makes the rows the objects of the rows of `outer` that `owner` names for each of `count`
    /// rows.
    func fill(_ outer: RowBatch, count: Int, owner: (Int) -> Int) {
        clear()
        for row in 0..<count {
            let source = owner(row)
            if outer.absent[source] {
                appendAbsent(owner: row)
            } else {
                append(outer.keys[source], owner: row)
            }
        }
    }

    /// Notes that a row's object is not there.
    func markAbsent(_ row: Int) {
        absent.insert(row)
    }

    // MARK: Locations

    /// The locations of the objects. Finds them at the first call after a filling; deleted objects
    /// become absent.
    func located() throws(ModelError) -> RowLocations {
        let locations = self.locations ?? RowLocations()
        self.locations = locations
        if !locations.isValid, let reader { try locations.find(self, in: reader.table) }
        return locations
    }
}

/// The clusters of a batch's objects, and each row's place in them.
final class RowLocations {
    var isValid = false
    /// Each cluster once, in the order of keys.
    private(set) var clusters: [ClusterView] = []
    /// `order[ends[i - 1]..<ends[i]]` are the rows in cluster `i`.
    private(set) var ends: [Int] = []
    /// Rows of the batch in the order of their keys, absent ones left out.
    let order: UnsafeMutablePointer<UInt8>
    /// For each row of the batch its row in its cluster.
    let rows: UnsafeMutablePointer<UInt16>

    init() {
        order = .allocate(capacity: Selection.capacity)
        order.initialize(repeating: 0, count: Selection.capacity)
        rows = .allocate(capacity: Selection.capacity)
        rows.initialize(repeating: 0, count: Selection.capacity)
    }

    deinit {
        order.deallocate()
        rows.deallocate()
    }

    /// Finds all objects of `batch`, in the order of their keys, so that each cluster is searched
    /// once.
    func find(_ batch: RowBatch, in table: TableReader) throws(ModelError) {
        let count = sortRows(of: batch)
        // The last batch's last cluster is often this one's first.
        let hint = clusters.last
        clusters.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        var found = 0
        var current: ClusterSearch?
        for index in 0..<count {
            let row = Int(order[index])
            let key = batch.keys[row]
            if current?.mayHold(key) != true {
                if found > (ends.last ?? 0) { ends.append(found) }
                if clusters.count > ends.count { clusters.removeLast() }
                guard
                    let cluster = try cluster(
                        holding: key, hint: clusters.isEmpty && ends.isEmpty ? hint : nil, in: table
                    )
                else {
                    current = nil
                    batch.markAbsent(row)
                    continue
                }
                current = ClusterSearch(cluster)
                clusters.append(cluster)
            }
            guard let foundRow = current?.row(of: key) else {
                batch.markAbsent(row)
                continue
            }
            rows[row] = UInt16(truncatingIfNeeded: foundRow)
            order[found] = UInt8(truncatingIfNeeded: row)
            found += 1
        }
        if found > (ends.last ?? 0) { ends.append(found) }
        if clusters.count > ends.count { clusters.removeLast() }
        isValid = true
    }

    private func cluster(holding key: Int64, hint: ClusterView?, in table: TableReader)
        throws(ModelError)
        -> ClusterView?
    {
        if let hint, ClusterSearch(hint).mayHold(key) { return hint }
        do { return try table.cluster(containing: key) } catch { throw .storage(error) }
    }

    /// Fills `order` with the rows that have an object, by key; returns their number.
    private func sortRows(of batch: RowBatch) -> Int {
        var count = 0
        var isSorted = true
        var rows = batch.rows.subtracting(batch.absent).rows
        while let row = rows.next() {
            if count > 0, batch.keys[Int(order[count - 1])] > batch.keys[row] { isSorted = false }
            order[count] = UInt8(truncatingIfNeeded: row)
            count += 1
        }
        if !isSorted {
            let keys = batch.keys
            var sorted = UnsafeMutableBufferPointer(start: order, count: count)
            sorted.sort { keys[Int($0)] < keys[Int($1)] }
        }
        return count
    }
}

/// Looks for keys, in ascending order, in one cluster.
struct ClusterSearch {
    private let keys: RowKeys
    private let count: Int
    private let first: Int64
    private let last: Int64
    private var start = 0

    init(_ cluster: ClusterView) {
        keys = cluster.keys
        count = cluster.count
        first = count > 0 ? keys[0] : 0
        last = count > 0 ? keys[count - 1] : -1
    }

    /// True if the key is between the first and the last of the cluster.
    func mayHold(_ key: Int64) -> Bool { key >= first && key <= last }

    /// The row of a key not less than the previous one.
    mutating func row(of key: Int64) -> Int? {
        // If no key is missing, the row is known.
        let guess = key &- first
        if guess >= 0, guess < count, keys[Int(guess)] == key { return Int(guess) }
        var low = start
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        start = low
        return low < count && keys[low] == key ? low : nil
    }
}
