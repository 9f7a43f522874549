internal import ToftEngine

/// The location of a live object's row: found once, valid as long as the realm does not change and
/// the window is not needed for another cluster.
///
/// The slot is the cache's, which the object keeps alive. Before each use the slot's number is
/// compared, to see that its content is unchanged. No step counts references, which would be most
/// of the cost of a read.
@usableFromInline struct RowCursor {
    @usableFromInline private(set) var slot: UnsafePointer<ClusterCacheSlot>?
    @usableFromInline private(set) var contentNumber: UInt64 = 0
    @usableFromInline private(set) var narrowRow: Int32 = 0
    /// The row in the cluster.
    @inlinable var row: Int { Int(narrowRow) }

    /// For an object that has not been looked up.
    init() {}

    init(_ slot: UnsafeMutablePointer<ClusterCacheSlot>, _ row: Int) {
        self.slot = UnsafePointer(slot)
        narrowRow = Int32(truncatingIfNeeded: row)
        contentNumber = slot.pointee.contentNumber
    }

    /// The window that shows the row, if it shows the present state. It does not check the thread.
    var window: ClusterWindow? {
        guard let slot, slot.pointee.contentNumber == contentNumber, slot.pointee.isCurrent else {
            return nil
        }
        return slot.pointee.shown
    }

    /// Whether the cached location is valid, on this thread.
    @inlinable @inline(__always)
    var holds: Bool {
        guard let slot else { return false }
        return slot.pointee.contentNumber == contentNumber && slot.pointee.isCurrent
            && slot.pointee.isOnThread
    }

    /// The position of a column of the class, if everything for it is known.
    @inlinable @inline(__always)
    func pointer(_ column: Int) -> ColumnPointer? {
        guard holds, let slot, slot.pointee.pointers[column].values != nil else { return nil }
        return slot.pointee.pointers[column]
    }

    /// Remembers the position of a column in the window, if that is in a slot.
    func remember(_ pointer: ColumnPointer, _ column: Int) {
        if window != nil, let slot { slot.pointee.pointers[column] = pointer }
    }

    /// Another row of the same cluster and its key, if that is known.
    @inline(__always)
    func row(_ distance: Int) -> (key: Int64, view: RowCursor)? {
        guard holds, let slot, let key = slot.pointee.key(in: row &+ distance) else { return nil }
        var view = self
        view.narrowRow &+= Int32(truncatingIfNeeded: distance)
        return (key, view)
    }

    /// Goes on to the next row, if that is known to have this key.
    @inline(__always)
    mutating func advance(to key: Int64) -> Bool {
        guard holds, let slot, slot.pointee.has(key, in: row &+ 1) else { return false }
        narrowRow &+= 1
        return true
    }
}
