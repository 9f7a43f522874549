package import ToftModel
internal import ToftStorage

/// A cluster as a session sees it now, for reading single properties of its objects fast: where the
/// arrays of its columns lie is found out once.
///
/// 1. It holds for one `moment` of its session: whoever keeps one, or what it told, compares before
///    each read.
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
    /// The columns of text and data that have been asked for, at the places of their ids, and those
    /// ids.
    private let texts: UnsafeMutablePointer<TextColumn>
    private var textIDs: [PropertyID] = []

    init(_ cluster: ClusterView, of owner: ClassHandle, at moment: UInt64) {
        self.moment = moment
        self.owner = owner
        self.cluster = cluster
        keys = cluster.keys
        count = cluster.count
        texts = .allocate(capacity: Int(owner.properties.last?.id ?? 0) + 1)
    }

    deinit {
        for id in textIDs { (texts + Int(id)).deinitialize(count: 1) }
        texts.deallocate()
    }

    /// The row of a key; nil where the cluster has none.
    package func row(of key: Int64) -> Int? { cluster.row(of: key) }
}

// MARK: Reading

extension ClusterWindow {
    /// The column of a property, which has to be of the kind that is asked for.
    package func column(_ id: PropertyID, _ kind: ClusterColumn.Kind) throws(EngineError)
        -> ClusterColumn
    {
        let property = try value(id)
        guard property.type.columnKind == kind else { throw wrongType(id) }
        let column = try storage { () throws(StorageError) in
            try kind == .texts ? text(id) : cluster.column(property)
        }
        guard let column else { throw wrongType(id) }
        return column
    }

    private func text(_ id: PropertyID) throws(StorageError) -> ClusterColumn {
        if !textIDs.contains(id) {
            (texts + Int(id)).initialize(to: TextColumn(values: try cluster.bytes(id)))
            textIDs.append(id)
        }
        return ClusterColumn(texts + Int(id), try cluster.nulls(id))
    }

    /// A property that has one value.
    private func value(_ id: PropertyID) throws(EngineError) -> PropertyHandle {
        let property = try model { () throws(ModelError) in try owner.property(id: id) }
        guard property.collection == .none, property.isStored else { throw wrongType(id) }
        return property
    }

    private func wrongType(_ id: PropertyID) -> EngineError {
        EngineError(
            .typeMismatch,
            "Property \(id) of '\(owner.name)' holds something else than is asked for.")
    }
}

extension ClusterView {
    /// The column of a property, where it is of fixed width.
    fileprivate func column(_ property: PropertyHandle) throws(StorageError) -> ClusterColumn? {
        let column = try column(property.id)
        switch property.type {
        case .int, .link: return ClusterColumn(try column.integers(), column.nulls)
        case .double: return ClusterColumn(try column.float64s(), column.nulls)
        case .bool: return ClusterColumn(try column.bools(), column.nulls)
        case .float: return ClusterColumn(try column.float32s(), column.nulls)
        case .date:
            let times = try column.timestamps()
            return ClusterColumn(times.seconds, column.nulls, nanoseconds: times.nanoseconds)
        case .string, .data, .linkingObjects: return nil
        }
    }
}

// MARK: Windows of a session

extension Session {
    /// A window on the cluster of an object; nil if the object does not exist.
    package func openWindow(on key: Int64, _ owner: ClassHandle) throws(EngineError)
        -> ClusterWindow?
    {
        try check()
        let owner = try model { () throws(ModelError) in try schema.classHandle(id: owner.id) }
        let cluster = try model { () throws(ModelError) in
            let table = try view.table(owner)
            return try stored { () throws(StorageError) in try table.cluster(containing: key) }
        }
        return cluster.map { ClusterWindow($0, of: owner, at: pulse.pointee.moment) }
    }
}
