internal import Foundation
internal import ToftEngine
internal import ToftModel

/// A window on a cluster, at a place where the objects whose rows it shows find it again without counting references to it.
struct WindowSlot {
    /// What the slot shows has this number, never used twice in a shelf; 0 while it shows nothing.
    fileprivate(set) var stamp: UInt64 = 0
    private var moment: UInt64 = 0
    private let pulse: UnsafePointer<SessionPulse>
    private var keys: UnsafePointer<Int64>?
    private var count = 0
    private var places: UnsafePointer<ColumnPlace>?
    private var placeCount = 0
    /// Kept by hand, so that a look at the slot counts nothing.
    private var window: Unmanaged<ClusterWindow>?

    fileprivate init(_ pulse: UnsafePointer<SessionPulse>) {
        self.pulse = pulse
    }

    fileprivate mutating func show(_ window: ClusterWindow, stamp: UInt64) {
        clear()
        self.stamp = stamp
        self.window = .passRetained(window)
        moment = window.moment
        keys = window.keys
        count = window.count
        places = UnsafePointer(window.places)
        placeCount = window.placeCount
    }

    fileprivate mutating func clear() {
        stamp = 0
        window?.release()
        window = nil
    }

    /// The window, while the slot shows one.
    var shown: ClusterWindow? { window?.takeUnretainedValue() }

    /// Whether the window shows what is there now.
    @inline(__always)
    var isCurrent: Bool { pulse.pointee.moment == moment && pulse.pointee.word.pointee == pulse.pointee.generation }

    /// Whether this is the session's thread. Never so on queues, which are told apart in a longer way.
    @inline(__always)
    var isOnThread: Bool { pulse.pointee.thread == UInt(pthread_self()) }

    /// Where a column lies, if that is known.
    @inline(__always)
    func place(_ column: Int) -> ColumnPlace? {
        guard column < placeCount, let places, places[column].values != nil else { return nil }
        return places[column]
    }

    /// Whether a row is there and has this key.
    @inline(__always)
    func has(_ key: Int64, in row: Int) -> Bool {
        guard row >= 0, row < count, let keys else { return false }
        return keys[row] == key
    }

    /// The row of a key; nil where the cluster has none.
    fileprivate func row(of key: Int64) -> Int? {
        guard let keys, let shown else { return nil }
        let guess = Int(truncatingIfNeeded: key &- keys[0])
        return has(key, in: guess) ? guess : shown.row(of: key)
    }
}

/// The windows through which a session's objects of one class are read.
///
/// A key has one slot that its cluster may be shown in; another cluster with the same slot takes the place of the last. Objects keep the address of
/// a slot and the number of what it showed. Of live sessions only, and used on their thread.
final class WindowShelf {
    private static let capacity = 32

    private let engine: Session
    private let owner: ClassHandle
    private let slots: UnsafeMutablePointer<WindowSlot>
    private var lastStamp: UInt64 = 0
    /// The moment that all windows here were opened for.
    private var moment: UInt64 = 0

    init(_ owner: ClassHandle, of engine: Session) {
        self.engine = engine
        self.owner = owner
        slots = .allocate(capacity: Self.capacity)
        slots.initialize(repeating: WindowSlot(engine.pulse), count: Self.capacity)
    }

    deinit {
        clear()
        slots.deallocate()
    }

    /// Looks for the row of an object in what there is now; nil if it does not exist. Whoever asks has verified that the session may be used here.
    func view(of key: Int64) throws(EngineError) -> RowView? {
        if moment != engine.pulse.pointee.moment { clear() }
        let slot = slots + Int(truncatingIfNeeded: (key >> 8) & Int64(Self.capacity - 1))
        if let row = slot.pointee.row(of: key) { return RowView(slot, row) }
        guard let window = try engine.openWindow(on: key, owner), let row = window.row(of: key) else { return nil }
        lastStamp += 1
        slot.pointee.show(window, stamp: lastStamp)
        return RowView(slot, row)
    }

    /// Lets go of all windows: what they show is no longer there.
    func clear() {
        for index in 0..<Self.capacity where slots[index].stamp != 0 { slots[index].clear() }
        moment = engine.pulse.pointee.moment
    }
}
