internal import ToftEngine
internal import ToftModel

/// The windows through which a session's objects of one class are read.
///
/// A key has one slot for its cluster; another cluster with the same slot replaces it. Objects keep
/// the address of a slot and the number of its content. For live sessions only, on their thread.
final class ClusterCache {
    private static let capacity = 32

    private let engine: Session
    private let owner: ClassHandle
    private let slots: UnsafeMutablePointer<ClusterCacheSlot>
    private var lastContentNumber: UInt64 = 0
    /// The slots in use, one bit each.
    private var inUse: UInt32 = 0
    /// The epoch that all windows here were opened for.
    private var epoch: UInt64 = 0

    /// - Parameter thread: the one that the session is confined to; 0 for a queue.
    /// - Parameter columnEnd: no column of the class has a number from there on.
    init(_ owner: ClassHandle, of engine: Session, thread: UInt, columnEnd: Int) {
        self.engine = engine
        self.owner = owner
        slots = .allocate(capacity: Self.capacity)
        for index in 0..<Self.capacity {
            (slots + index).initialize(
                to: ClusterCacheSlot(engine, thread: thread, columnEnd: columnEnd))
        }
    }

    deinit {
        for index in 0..<Self.capacity { slots[index].close() }
        slots.deallocate()
    }

    /// Looks for the row of an object in the present version; nil if it does not exist. The caller
    /// has verified that the session may be used here.
    func view(of key: Int64) throws(EngineError) -> RowCursor? {
        if epoch != engine.epoch.pointee.number { clear() }
        let slot = slots + Int(truncatingIfNeeded: (key >> 8) & Int64(Self.capacity - 1))
        if let row = slot.pointee.row(of: key) { return RowCursor(slot, row) }
        guard let window = try engine.openWindow(on: key, owner), let row = window.row(of: key)
        else { return nil }
        lastContentNumber += 1
        slot.pointee.show(window, contentNumber: lastContentNumber)
        inUse |= 1 << UInt32(slot - slots)
        return RowCursor(slot, row)
    }

    /// Releases all windows: their content is no longer valid.
    func clear() {
        while inUse != 0 {
            slots[inUse.trailingZeroBitCount].clear()
            inUse &= inUse - 1
        }
        epoch = engine.epoch.pointee.number
    }
}
