package import ToftModel
package import ToftStorage

/// A cluster as a session sees it now, for reading single properties of its objects fast: the
/// positions of its columns are computed once.
///
/// 1. It holds for one `epoch` of its session: a holder of a window, or of its pointers,
///    compares before each read.
/// 2. Rows are those of its keys, properties those of the class.
/// 3. It is used on the session's thread alone.
package final class ClusterWindow {
    /// The epoch for which it holds.
    package let epoch: UInt64
    /// The keys of the rows, ascending: row n has the key in word `n & keyWordBits` and, added to
    /// it, the other bits of n.
    package let keyWords: UnsafePointer<Int64>
    package let keyWordBits: Int
    /// Number of rows.
    package let count: Int
    private let owner: ClassHandle
    private let cluster: ClusterView
    /// Kept for the cluster.
    private let table: TableReader
    /// The columns of text and data that have been read, at the places of their ids, and those ids.
    private let texts: UnsafeMutablePointer<BytesColumn>
    private var textIDs: [PropertyID] = []

    init(
        _ cluster: ClusterView, _ table: TableReader, of owner: ClassHandle, at epoch: UInt64
    ) {
        self.epoch = epoch
        self.table = table
        self.owner = owner
        self.cluster = cluster
        (keyWords, keyWordBits) = (cluster.keys.words, cluster.keys.wordBits)
        count = cluster.count
        texts = .allocate(capacity: Int(owner.properties.last?.id ?? 0) + 1)
    }

    deinit {
        for id in textIDs { (texts + Int(id)).deinitialize(count: 1) }
        texts.deallocate()
    }

    /// The row of a key; nil if the cluster does not have it.
    package func row(of key: Int64) -> Int? { cluster.row(of: key) }
}

// MARK: Reading

extension ClusterWindow {
    /// The column of a property that holds one value of fixed width.
    package func column(_ id: PropertyID) throws(EngineError) -> ColumnView {
        let property = try value(id)
        return try storage { () throws(StorageError) in try cluster.column(property.column) }
    }

    /// The texts or data of a property, and a bitmap of the rows that are null; nil if no row is.
    /// Valid as long as the window.
    package func texts(_ id: PropertyID) throws(EngineError) -> (
        values: UnsafePointer<BytesColumn>, nulls: UnsafePointer<UInt64>?
    ) {
        let property = try value(id)
        guard property.type == .string || property.type == .data else { throw wrongType(id) }
        return try storage { () throws(StorageError) in
            if !textIDs.contains(id) {
                (texts + Int(id)).initialize(to: try cluster.bytes(id))
                textIDs.append(id)
            }
            return (UnsafePointer(texts + Int(id)), try cluster.nulls(id))
        }
    }

    /// A property that has one value.
    private func value(_ id: PropertyID) throws(EngineError) -> PropertyHandle {
        let property = try model { () throws(ModelError) in try owner.property(id: id) }
        guard property.collection == .none, property.isStored else { throw wrongType(id) }
        return property
    }

    /// The error for a property of another type than requested.
    package func wrongType(_ id: PropertyID) -> EngineError {
        EngineError(
            .typeMismatch,
            "Property \(id) of '\(owner.name)' has a value of another type than expected.")
    }
}
