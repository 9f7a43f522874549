internal import ToftModel
internal import ToftStorage

/// Reads the objects of a batch from one version.
struct ArrowReading {
    let view: ModelView
    /// Shows the same version.
    let session: Session
    let budget: ArrowBudget
}

/// The objects of a class that the columns of a batch come from: those of the results, the targets
/// of a link, or the elements of collections.
final class ArrowNode {
    /// The key of no object: the link before is null.
    static let noKey = Int64.min

    /// A link that further columns follow.
    struct Link {
        let property: PropertyHandle
        let target: ArrowNode
    }

    let owner: ClassHandle
    /// The columns that are read from clusters.
    var columns: [ArrowColumn] = []
    /// The columns that are read object by object.
    var wholes: [any ArrowWholeColumn] = []
    /// The columns of embedded objects that are this node's objects.
    var structs: [ArrowStructColumn] = []
    var links: [Link] = []

    init(_ owner: ClassHandle) { self.owner = owner }

    /// The targets of a link.
    func target(of property: PropertyHandle, _ target: ClassHandle) -> ArrowNode {
        if let known = links.first(where: { $0.property.id == property.id }) { return known.target }
        let node = ArrowNode(target)
        links.append(Link(property: property, target: node))
        return node
    }

    /// Reads the columns for some objects, in their order; `noKey` and the keys of deleted objects
    /// give null.
    func read(_ keys: UnsafeMutableBufferPointer<Int64>, _ reading: ArrowReading)
        throws(EngineError)
    {
        for column in columns { column.begin(keys.count) }
        for column in structs { column.begin(keys.count) }
        for whole in wholes { whole.begin(keys.count) }
        let targets = links.map { _ in
            UnsafeMutableBufferPointer<Int64>.allocate(capacity: keys.count)
        }
        for keys in targets { keys.initialize(repeating: Self.noKey) }
        defer { for keys in targets { keys.deallocate() } }
        if !columns.isEmpty || !structs.isEmpty || !links.isEmpty {
            try readClusters(keys, targets, reading)
        }
        for whole in wholes where !reading.budget.isExceeded {
            try whole.read(keys, owner, reading)
        }
        for (link, keys) in zip(links, targets) where !reading.budget.isExceeded {
            try link.target.read(keys, reading)
        }
    }

    /// Reads cluster after cluster, each once.
    private func readClusters(
        _ keys: UnsafeMutableBufferPointer<Int64>,
        _ targets: [UnsafeMutableBufferPointer<Int64>], _ reading: ArrowReading
    ) throws(EngineError) {
        let table = try model { () throws(ModelError) in try reading.view.table(owner) }
        let sorted = SortedKeys(keys)
        let rows = UnsafeMutablePointer<Int32>.allocate(capacity: max(sorted.count, 1))
        defer { rows.deallocate() }
        var next = 0
        while next < sorted.count, !reading.budget.isExceeded {
            let cluster = try storage { () throws(StorageError) in
                try table.cluster(containing: sorted.keys[next])
            }
            guard let cluster else {
                next += 1
                continue
            }
            let first = next
            while next < sorted.count, let row = cluster.row(of: sorted.keys[next]) {
                rows[next - first] = Int32(truncatingIfNeeded: row)
                next += 1
            }
            let places = ArrowPlaces(
                rows: rows, positions: sorted.positions + first, count: next - first)
            try take(cluster, places, targets, reading.budget)
        }
    }

    private func take(
        _ cluster: ClusterView, _ places: ArrowPlaces,
        _ targets: [UnsafeMutableBufferPointer<Int64>], _ budget: ArrowBudget
    ) throws(EngineError) {
        for column in columns { try column.take(cluster, places, budget) }
        for column in structs {
            for index in 0..<places.count { column.mark(Int(places.positions[index])) }
        }
        for (link, keys) in zip(links, targets) {
            let id = link.property.column
            let view = try storage { () throws(StorageError) in try cluster.column(id) }
            let integers = try storage { () throws(StorageError) in try view.integers() }
            let nulls = view.nulls
            for index in 0..<places.count {
                let row = Int(places.rows[index])
                if nulls.isNull(row) { continue }
                keys[Int(places.positions[index])] = integers[row]
            }
        }
    }
}

/// The keys of objects in ascending order, and the place of each in the order before.
private struct SortedKeys: ~Copyable {
    let keys: UnsafeMutablePointer<Int64>
    let positions: UnsafeMutablePointer<Int32>
    let count: Int

    init(_ given: UnsafeMutableBufferPointer<Int64>) {
        keys = .allocate(capacity: max(given.count, 1))
        positions = .allocate(capacity: max(given.count, 1))
        var count = 0
        var isAscending = true
        var last = Int64.min
        for (position, key) in given.enumerated() where key != ArrowNode.noKey {
            keys[count] = key
            positions[count] = Int32(truncatingIfNeeded: position)
            count &+= 1
            isAscending = isAscending && last <= key
            last = key
        }
        self.count = count
        guard !isAscending else { return }
        var sorting = RadixSort(count: count) { [keys] index in
            RadixSort.Item(head: RadixSort.head(keys[index]), index: UInt32(index))
        }
        sorting.sort()
        let places = UnsafeMutablePointer<Int32>.allocate(capacity: max(count, 1))
        for (index, item) in sorting.items.enumerated() {
            keys[index] = Int64(bitPattern: item.head ^ (1 << 63))
            places[index] = positions[Int(item.index)]
        }
        positions.update(from: places, count: count)
        places.deallocate()
    }

    deinit {
        keys.deallocate()
        positions.deallocate()
    }
}

// MARK: Columns that are read object by object

/// A column that is read object by object: of collections, and of values as JSON.
protocol ArrowWholeColumn: AnyObject {
    func begin(_ count: Int)
    func read(
        _ keys: UnsafeMutableBufferPointer<Int64>, _ owner: ClassHandle, _ reading: ArrowReading
    ) throws(EngineError)
}

/// A property as JSON: a mixed one, or embedded objects within objects of their own class.
final class ArrowJSONPropertyColumn: ArrowColumn, ArrowWholeColumn {
    private let property: PropertyHandle
    private let texts: ArrowJSONColumn

    init(_ field: ArrowField, _ property: PropertyHandle) {
        self.property = property
        texts = ArrowJSONColumn(field)
        super.init(field)
    }

    override func begin(_ count: Int) { texts.begin(count) }
    override func finish() -> ArrowData { texts.finish() }

    func read(
        _ keys: UnsafeMutableBufferPointer<Int64>, _ owner: ClassHandle, _ reading: ArrowReading
    ) throws(EngineError) {
        var writer = ObjectToJSON(reading.session)
        for (position, key) in keys.enumerated() where key != ArrowNode.noKey {
            let ref = ObjectRef(classID: owner.id, key: key)
            guard let object = try reading.session.object(ref) else { continue }
            texts.put(try writer.value(of: property, in: object), at: position, reading.budget)
            if reading.budget.isExceeded, keys.count > 1 { return }
        }
    }
}

/// Lists, sets and dictionaries.
final class ArrowCollectionColumn: ArrowColumn, ArrowWholeColumn {
    enum Elements {
        case values(ArrowColumn)
        /// Links, and embedded objects: the column is one of the node's.
        case objects(ArrowNode, ArrowColumn)
        case json(ArrowJSONColumn)

        var column: ArrowColumn {
            switch self {
            case .values(let column): column
            case .objects(_, let column): column
            case .json(let column): column
            }
        }
    }

    private let property: PropertyHandle
    private let elements: Elements
    /// The keys of a dictionary.
    private let names: ArrowBytesColumn?
    private var offsets: [Int64] = []

    init(_ field: ArrowField, _ property: PropertyHandle, _ elements: Elements) {
        self.property = property
        self.elements = elements
        names =
            property.collection == .dictionary
            ? ArrowBytesColumn(ArrowField("key", "U", isNullable: false), nil) : nil
        super.init(field)
    }

    override func begin(_ count: Int) {
        super.begin(count)
        offsets = []
        offsets.reserveCapacity(count + 1)
        offsets.append(0)
        names?.begin(0)
        switch elements {
        case .values(let column): column.begin(0)
        case .objects(_, let column): column.begin(0)
        case .json(let column): column.begin(0)
        }
    }

    override func finish() throws(EngineError) -> ArrowData {
        defer { offsets = [] }
        let isMap = names != nil
        let memory = ArrowMemory(byteCount: (count + 1) * (isMap ? 4 : 8))
        for (index, offset) in offsets.enumerated() {
            if !isMap {
                memory.base.storeBytes(of: offset, toByteOffset: index * 8, as: Int64.self)
                continue
            }
            guard let short = Int32(exactly: offset) else {
                throw EngineError(
                    .overflow,
                    "'\(property.className).\(property.name)' has more than \(Int32.max) entries "
                        + "in one object, and Arrow's maps can't: leave the property out.")
            }
            memory.base.storeBytes(of: short, toByteOffset: index * 4, as: Int32.self)
        }
        var child = try elements.column.finish()
        if let names {
            let keys = names.finish()
            child = ArrowData(length: keys.length, buffers: [nil], children: [keys, child])
        }
        return ArrowData(
            length: count, nullCount: validity.nullCount, buffers: [validity.buffer, memory],
            children: [child])
    }

    func read(
        _ keys: UnsafeMutableBufferPointer<Int64>, _ owner: ClassHandle, _ reading: ArrowReading
    ) throws(EngineError) {
        if case .json(let column) = elements { return try read(keys, owner, reading, column) }
        let lists = try find(property.column, keys, owner, reading)
        let total = Int(offsets[offsets.count - 1])
        if reading.budget.isExceeded, keys.count > 1 { return }
        if let names {
            names.begin(total)
            let found = try find(property.keysColumn, keys, owner, reading)
            try copy(found, to: names, total, reading.budget)
        }
        switch elements {
        case .values(let column):
            column.begin(total)
            try copy(lists, to: column, total, reading.budget)
        case .objects(let node, _):
            let targets = UnsafeMutableBufferPointer<Int64>.allocate(capacity: total)
            targets.initialize(repeating: ArrowNode.noKey)
            defer { targets.deallocate() }
            try forEachCell(of: lists, total) { cell, position in
                if case .int64(let key) = cell { targets[position] = key }
            }
            try node.read(targets, reading)
        case .json: break
        }
    }

    /// The lists of a column. Notes where each begins if these are the values.
    private func find(
        _ column: UInt32, _ keys: UnsafeMutableBufferPointer<Int64>, _ owner: ClassHandle,
        _ reading: ArrowReading
    ) throws(EngineError) -> [ListView] {
        let isValues = column == property.column
        let table = try model { () throws(ModelError) in try reading.view.table(owner) }
        var lists: [ListView] = []
        var cluster: ClusterView?
        var total = 0
        for (position, key) in keys.enumerated() {
            if key != ArrowNode.noKey {
                try storage { () throws(StorageError) in
                    if cluster?.row(of: key) == nil { cluster = try table.cluster(containing: key) }
                    if let cluster, let row = cluster.row(of: key) {
                        let list = try cluster.list(column, row)
                        lists.append(list)
                        total += list.count
                        if isValues { validity.mark(position) }
                    }
                }
            }
            if isValues { offsets.append(Int64(total)) }
        }
        if isValues { reading.budget.add(total, of: 16) }
        return lists
    }

    private func copy(
        _ lists: [ListView], to column: ArrowColumn, _ total: Int, _ budget: ArrowBudget
    ) throws(EngineError) {
        try forEachCell(of: lists, total) { cell, position throws(EngineError) in
            try column.put(cell, at: position, budget)
        }
    }

    /// Calls `body` with each of `total` elements.
    private func forEachCell(
        of lists: [ListView], _ total: Int,
        _ body: (Cell, _ position: Int) throws(EngineError) -> Void
    ) throws(EngineError) {
        var position = 0
        for list in lists {
            for index in 0..<list.count {
                // A damaged file may have another number of keys than of values.
                guard position < total else { return }
                let cell = try storage { () throws(StorageError) in try list.cell(at: index) }
                try body(cell, position)
                position += 1
            }
        }
    }

    /// Reads elements that are written as JSON.
    private func read(
        _ keys: UnsafeMutableBufferPointer<Int64>, _ owner: ClassHandle, _ reading: ArrowReading,
        _ column: ArrowJSONColumn
    ) throws(EngineError) {
        var writer = ObjectToJSON(reading.session)
        var found: [JSONValue] = []
        var keysFound: [String] = []
        for (position, key) in keys.enumerated() {
            let ref = ObjectRef(classID: owner.id, key: key)
            if key != ArrowNode.noKey, let object = try reading.session.object(ref) {
                switch try writer.value(of: property, in: object) {
                case .list(let elements): found += elements
                case .dictionary(let members):
                    keysFound += members.map(\.key)
                    found += members.map(\.value)
                default: break
                }
                validity.mark(position)
            }
            offsets.append(Int64(found.count))
            reading.budget.add(found.count - Int(offsets[offsets.count - 2]), of: 16)
            if reading.budget.isExceeded, keys.count > 1 { return }
        }
        column.begin(found.count)
        for (position, json) in found.enumerated() {
            column.put(json, at: position, reading.budget)
        }
        guard let names else { return }
        names.begin(keysFound.count)
        let lender = ValueLender()
        kept = lender
        for (position, key) in keysFound.enumerated() {
            if case .string(let bytes) = lender.lend(.string(key)) {
                names.put(.bytes(bytes), at: position, reading.budget)
            }
        }
    }

    /// Has the keys of dictionaries whose values are JSON, until they are copied.
    private var kept: ValueLender?
}
