package import ToftModel
package import ToftStorage

/// A cluster as a session sees it now, for reading single properties of its objects fast: where the arrays of its columns lie is found out once.
///
/// 1. It holds for one `moment` of its session: whoever keeps one, or its `places`, compares before each read.
/// 2. Rows are those of its keys, properties those of the class.
/// 3. It is used on the session's thread alone.
package final class ClusterWindow {
    /// The moment for which it holds.
    package let moment: UInt64
    /// The keys of the rows, ascending.
    package let keys: UnsafePointer<Int64>
    /// How many rows there are.
    package let count: Int
    /// Where columns of fixed width lie, by property id; unknown ones are empty. As many as `placeCount`.
    package let places: UnsafeMutablePointer<ColumnPlace>
    package let placeCount: Int
    private let owner: ClassHandle
    private let cluster: ClusterView
    /// The columns of text and data that have been asked for, by property id.
    private let texts: UnsafeMutablePointer<TextColumn?>

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
        texts = .allocate(capacity: placeCount)
        texts.initialize(repeating: nil, count: placeCount)
    }

    deinit {
        places.deallocate()
        texts.deinitialize(count: placeCount)
        texts.deallocate()
    }

    /// The row of a key; nil where the cluster has none.
    package func row(of key: Int64) -> Int? { cluster.row(of: key) }
}

// MARK: Reading

extension ClusterWindow {
    /// Where a column lies, which has to be of the kind that is asked for. Remembers it.
    package func place(_ id: PropertyID, _ kind: ColumnPlace.Kind) throws(EngineError) -> ColumnPlace {
        let property = try value(id)
        guard property.type.placeKind == kind, Int(id) < placeCount else { throw wrongType(id) }
        let place = try storage { () throws(StorageError) in try cluster.place(property) }
        places[Int(id)] = place
        return place
    }

    /// The text or data of a row, borrowed until the session moves or writes; nil when null.
    package func bytes(_ row: Int, _ id: PropertyID) throws(EngineError) -> UnsafeRawBufferPointer? {
        if Int(id) >= placeCount || texts[Int(id)] == nil { try findText(id) }
        guard let text = texts[Int(id)] else { return nil }
        if let nulls = text.nulls, nulls[row >> 6] & (1 << UInt64(row & 63)) != 0 { return nil }
        return try storage { () throws(StorageError) in try text.values[row] }
    }

    private func findText(_ id: PropertyID) throws(EngineError) {
        let property = try value(id)
        guard property.type == .string || property.type == .data, Int(id) < placeCount else { throw wrongType(id) }
        texts[Int(id)] = try storage { () throws(StorageError) in TextColumn(values: try cluster.bytes(id), nulls: try cluster.nulls(id)) }
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

extension ClusterView {
    /// Where the column of a property of fixed width lies.
    fileprivate func place(_ property: PropertyHandle) throws(StorageError) -> ColumnPlace {
        let id = property.id
        let nulls = try nulls(id)
        switch property.type {
        case .int, .link: return ColumnPlace(try int64s(id), nulls)
        case .double: return ColumnPlace(try float64s(id), nulls)
        case .bool: return ColumnPlace(try bools(id), nulls)
        case .float: return ColumnPlace(try float32s(id), nulls)
        case .date:
            let times = try timestamps(id)
            return ColumnPlace(times.seconds, nulls, nanoseconds: times.nanoseconds)
        default: return ColumnPlace()
        }
    }
}

// MARK: Windows of a session

extension Session {
    /// A window on the cluster of an object; nil if the object does not exist.
    package func openWindow(on key: Int64, _ owner: ClassHandle) throws(EngineError) -> ClusterWindow? {
        try check()
        let owner = try model { () throws(ModelError) in try schema.classHandle(id: owner.id) }
        let cluster = try model { () throws(ModelError) in
            let table = try view.table(owner)
            return try stored { () throws(StorageError) in try table.cluster(containing: key) }
        }
        return cluster.map { ClusterWindow($0, of: owner, at: pulse.pointee.moment) }
    }
}
