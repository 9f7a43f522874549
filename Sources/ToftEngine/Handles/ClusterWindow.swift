package import ToftModel
package import ToftStorage

/// A cluster as a session sees it now, for reading single properties of its objects fast: where the arrays of its columns lie is found out once.
///
/// 1. It holds for one `moment` of its session: whoever keeps one, or what it told, compares before each read.
/// 2. Rows are those of its keys, properties those of the class.
/// 3. It is used on the session's thread alone.
package final class ClusterWindow {
    /// The moment for which it holds.
    package let moment: UInt64
    /// The keys of the rows, ascending.
    package let keys: UnsafePointer<Int64>
    /// How many rows there are.
    package let count: Int
    private let owner: ClassHandle
    private let cluster: ClusterView
    /// The columns of text and data that have been asked for, by property id.
    private let texts: UnsafeMutablePointer<TextColumn?>
    private let columnEnd: Int

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
        columnEnd = Int(owner.properties.last?.id ?? 0) + 1
        texts = .allocate(capacity: columnEnd)
        texts.initialize(repeating: nil, count: columnEnd)
    }

    deinit {
        texts.deinitialize(count: columnEnd)
        texts.deallocate()
    }

    /// The row of a key; nil where the cluster has none.
    package func row(of key: Int64) -> Int? { cluster.row(of: key) }
}

// MARK: Reading

extension ClusterWindow {
    /// The column of a property, which has to be of the kind that is asked for.
    package func column(_ id: PropertyID, _ kind: FixedColumn.Kind) throws(EngineError) -> FixedColumn {
        let property = try value(id)
        guard property.type.columnKind == kind, let column = try storage({ () throws(StorageError) in try cluster.column(property) }) else {
            throw wrongType(id)
        }
        return column
    }

    /// The text or data of a row, borrowed until the session moves or writes; nil when null.
    package func bytes(_ row: Int, _ id: PropertyID) throws(EngineError) -> UnsafeRawBufferPointer? {
        if Int(id) >= columnEnd || texts[Int(id)] == nil { try findText(id) }
        guard let text = texts[Int(id)] else { return nil }
        if let nulls = text.nulls, nulls[row >> 6] & (1 << UInt64(row & 63)) != 0 { return nil }
        return try storage { () throws(StorageError) in try text.values[row] }
    }

    private func findText(_ id: PropertyID) throws(EngineError) {
        let property = try value(id)
        guard property.type == .string || property.type == .data, Int(id) < columnEnd else { throw wrongType(id) }
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
    /// The column of a property, where it is of fixed width.
    fileprivate func column(_ property: PropertyHandle) throws(StorageError) -> FixedColumn? {
        let id = property.id
        let nulls = try nulls(id)
        switch property.type {
        case .int, .link: return FixedColumn(try integers(id), nulls)
        case .double: return FixedColumn(try float64s(id), nulls)
        case .bool: return FixedColumn(try bools(id), nulls)
        case .float: return FixedColumn(try float32s(id), nulls)
        case .date:
            let times = try timestamps(id)
            return FixedColumn(times.seconds, nulls, nanoseconds: times.nanoseconds)
        case .string, .data, .linkingObjects: return nil
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
