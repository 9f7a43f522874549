public import Foundation
internal import ToftEngine

/// A window on a cluster, in a place where its objects find it again without counting references to
/// it.
///
/// The parts that a read needs are adjacent here, and are read by inlined code of the app.
@usableFromInline struct ClusterCacheSlot {
    /// The number of the slot's content, never used twice in a cache; 0 for an empty slot.
    @usableFromInline private(set) var contentNumber: UInt64 = 0
    /// The session's epoch, and its value when the window was opened.
    @usableFromInline let now: UnsafePointer<UInt64>
    @usableFromInline private(set) var epoch: UInt64 = 0
    /// A word that holds this number in the session's process alone, not in a child that was
    /// forked.
    @usableFromInline let process: UnsafePointer<UInt64>
    @usableFromInline let generation: UInt64
    /// The session's thread; 0 if it is confined to a queue, which takes longer to check.
    @usableFromInline let thread: UInt
    /// The positions of columns, by their numbers.
    @usableFromInline let pointers: UnsafeMutablePointer<ColumnPointer>
    /// No column of the class has a number from here on.
    private let columnEnd: Int
    /// The keys of the window.
    private var keyWords: UnsafePointer<Int64>?
    private var keyWordBits = 0
    private var count = 0
    /// An unmanaged reference, so that reading the slot counts nothing.
    private var window: Unmanaged<ClusterWindow>?

    init(_ engine: Session, thread: UInt, columnEnd: Int) {
        now = UnsafeRawPointer(engine.epoch).assumingMemoryBound(to: UInt64.self)
        process = engine.epoch.pointee.word
        generation = engine.epoch.pointee.generation
        self.thread = thread
        self.columnEnd = columnEnd
        pointers = .allocate(capacity: columnEnd)
        pointers.initialize(repeating: ColumnPointer(), count: columnEnd)
    }

    /// To be called once, at the end.
    mutating func close() {
        clear()
        pointers.deallocate()
    }

    mutating func show(_ window: ClusterWindow, contentNumber: UInt64) {
        clear()
        self.contentNumber = contentNumber
        self.window = .passRetained(window)
        epoch = window.epoch
        (keyWords, keyWordBits) = (window.keyWords, window.keyWordBits)
        count = window.count
    }

    mutating func clear() {
        guard let window else { return }
        contentNumber = 0
        window.release()
        self.window = nil
        pointers.update(repeating: ColumnPointer(), count: columnEnd)
    }

    /// The window, while the slot shows one.
    var shown: ClusterWindow? { window?.takeUnretainedValue() }

    /// Whether the window shows the present state.
    @inlinable @inline(__always)
    var isCurrent: Bool { now.pointee == epoch && process.pointee == generation }

    /// Whether this is the session's thread.
    @inlinable @inline(__always)
    var isOnThread: Bool { thread == UInt(pthread_self()) }

    /// The key of a row; nil if there is no such row. The slot must not be empty.
    @inline(__always)
    func key(in row: Int) -> Int64? {
        row >= 0 && row < count ? keyOfPresent(row) : nil
    }

    /// Whether row `row` exists and has this key. The slot must not be empty.
    @inline(__always)
    func has(_ key: Int64, in row: Int) -> Bool {
        row < count && keyOfPresent(row) == key
    }

    @inline(__always)
    private func keyOfPresent(_ row: Int) -> Int64 {
        keyWords.unsafelyUnwrapped[row & keyWordBits]
            &+ Int64(truncatingIfNeeded: row & ~keyWordBits)
    }

    /// The row of a key; nil if the cluster does not have it.
    func row(of key: Int64) -> Int? {
        guard keyWords != nil, contentNumber != 0 else { return nil }
        let guess = Int(truncatingIfNeeded: key &- keyOfPresent(0))
        return guess >= 0 && has(key, in: guess) ? guess : shown?.row(of: key)
    }
}
