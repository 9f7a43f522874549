package import ToftModel
package import ToftStorage

/// A cluster as a session sees it now, for reading single properties of its objects fast: where the arrays of its columns lie is found out once.
///
/// 1. It holds for one `moment` of its session: whoever keeps one, or its `places`, compares before each read.
/// 2. Rows come from the session that opened it, properties are those of the class.
/// 3. It is used on the session's thread alone.
package final class ClusterWindow {
    /// The moment for which it holds.
    package let moment: UInt64
    /// Where columns of numbers and links lie, by property id; unknown ones are empty. As many as `placeCount`.
    package let places: UnsafeMutablePointer<ColumnPlace>
    package let placeCount: Int
    let owner: ClassHandle
    private let cluster: ClusterView
    private let keys: UnsafePointer<Int64>
    private let count: Int
    /// The columns of text and data that have been asked for, by property id.
    private var texts: [TextColumn?]

    /// A column of text or data.
    private struct TextColumn {
        let values: BytesColumn
        let nulls: UnsafePointer<UInt64>?
    }

    init(_ cluster: ClusterView, of owner: ClassHandle, at moment: UInt64) {
        self.moment = moment
        self.owner = owner
        self.cluster = cluster
        keys = cluster.keys
        count = cluster.count
        placeCount = Int(owner.properties.last?.id ?? 0) + 1
        places = .allocate(capacity: placeCount)
        places.initialize(repeating: ColumnPlace(), count: placeCount)
        texts = Array(repeating: nil, count: placeCount)
    }

    deinit { places.deallocate() }

    /// The row of a key; nil where the cluster has none.
    @inline(__always)
    func row(of key: Int64) -> Int? {
        let guess = Int(truncatingIfNeeded: key &- keys[0])
        if guess >= 0, guess < count, keys[guess] == key { return guess }
        return cluster.row(of: key)
    }
}

/// Where a column of eight-byte values lies in a cluster.
package struct ColumnPlace {
    /// Nil while it is not known.
    package var values: UnsafePointer<Int64>?
    /// A bitmap of the rows that are null; nil where none is.
    package var nulls: UnsafePointer<UInt64>?

    /// The word of a row; nil when null. The place is known.
    @inline(__always)
    package func word(_ row: Int, in values: UnsafePointer<Int64>) -> Int64? {
        if let nulls, nulls[row >> 6] & (1 << UInt64(row & 63)) != 0 { return nil }
        return values[row]
    }
}

// MARK: Reading

extension ClusterWindow {
    /// The integer of a row, the key that a link holds, or the bits of a double; nil when null. Remembers where the column lies.
    package func word(_ row: Int, _ id: PropertyID) throws(EngineError) -> Int64? {
        let property = try value(id)
        let place = try storage { () throws(StorageError) in
            switch property.type {
            case .int, .link: ColumnPlace(values: try cluster.int64s(id), nulls: try cluster.nulls(id))
            case .double: ColumnPlace(values: UnsafeRawPointer(try cluster.float64s(id)).assumingMemoryBound(to: Int64.self), nulls: try cluster.nulls(id))
            default: ColumnPlace()
            }
        }
        guard let values = place.values, Int(id) < placeCount else { throw wrongType(id) }
        places[Int(id)] = place
        return place.word(row, in: values)
    }

    /// The text or data of a row, borrowed until the session moves or writes; nil when null.
    package func bytes(_ row: Int, _ id: PropertyID) throws(EngineError) -> UnsafeRawBufferPointer? {
        if Int(id) < placeCount, let column = texts[Int(id)] { return try bytes(row, column) }
        let property = try value(id)
        guard property.type == .string || property.type == .data else { throw wrongType(id) }
        let column = try storage { () throws(StorageError) in TextColumn(values: try cluster.bytes(id), nulls: try cluster.nulls(id)) }
        texts[Int(id)] = column
        return try bytes(row, column)
    }

    private func bytes(_ row: Int, _ column: TextColumn) throws(EngineError) -> UnsafeRawBufferPointer? {
        if let nulls = column.nulls, nulls[row >> 6] & (1 << UInt64(row & 63)) != 0 { return nil }
        return try storage { () throws(StorageError) in try column.values[row] }
    }

    /// The cell of a row, whatever its type; not for lists.
    package func cell(_ row: Int, _ id: PropertyID) throws(EngineError) -> Cell {
        _ = try value(id)
        return try storage { () throws(StorageError) in try cluster.cell(row, id) }
    }

    /// A property that has one value.
    private func value(_ id: PropertyID) throws(EngineError) -> PropertyHandle {
        let property = try model { () throws(ModelError) in try owner.property(id: id) }
        guard property.collection == .none, property.isStored else { throw wrongType(id) }
        return property
    }

    private func wrongType(_ id: PropertyID) -> EngineError {
        EngineError(.typeMismatch, "Property \(id) of '\(owner.name)' holds something else than is asked for.")
    }
}

// MARK: Windows of a session

/// An object as it is seen through a window.
package struct SeenObject {
    package let handle: ObjectHandle
    package let window: ClusterWindow
    package let row: Int
}

extension Session {
    /// The window on an object's cluster, and its row there. The last one is used again as long as the session stands still.
    package func window(on object: ObjectHandle) throws(EngineError) -> (window: ClusterWindow, row: Int) {
        try check()
        guard let place = try place(of: object.ref.key, object.owner) else { throw object.deleted }
        return place
    }

    /// An object by its name, with the window on it; nil if it does not exist.
    package func seen(_ key: Int64, _ owner: ClassHandle) throws(EngineError) -> SeenObject? {
        try check()
        guard let (window, row) = try place(of: key, owner) else { return nil }
        return SeenObject(handle: handle(key, window.owner), window: window, row: row)
    }

    private func place(of key: Int64, _ owner: ClassHandle) throws(EngineError) -> (window: ClusterWindow, row: Int)? {
        let position = owner.position
        if position < windows.count, let window = windows[position], window.moment == pulse.pointee.moment, let row = window.row(of: key) {
            return (window, row)
        }
        return try openWindow(key, owner)
    }

    private func openWindow(_ key: Int64, _ owner: ClassHandle) throws(EngineError) -> (window: ClusterWindow, row: Int)? {
        let owner = try model { () throws(ModelError) in try schema.classHandle(id: owner.id) }
        let cluster = try model { () throws(ModelError) in
            let table = try view.table(owner)
            return try stored { () throws(StorageError) in try table.cluster(containing: key) }
        }
        guard let cluster, let row = cluster.row(of: key) else { return nil }
        let window = ClusterWindow(cluster, of: owner, at: pulse.pointee.moment)
        if isFrozen { return (window, row) }
        if owner.position >= windows.count { windows += Array(repeating: nil, count: owner.position + 1 - windows.count) }
        windows[owner.position] = window
        return (window, row)
    }
}
