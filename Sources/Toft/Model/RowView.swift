internal import Foundation
internal import ToftEngine

/// Where the row of a live object lies: found once, good as long as the realm stands still.
///
/// The pointers are those of the window and of its session, both of which the object keeps alive; before each use the session's pulse is
/// asked whether they still hold. Nothing on the way counts references, which is most of what a read would cost.
struct RowView {
    private(set) var window: ClusterWindow?
    private(set) var row = 0
    private var moment: UInt64 = 0
    private var pulse: UnsafePointer<SessionPulse>?
    private var places: UnsafePointer<ColumnPlace>?
    private var placeCount = 0

    mutating func open(_ window: ClusterWindow, _ row: Int, _ session: Session) {
        self.window = window
        self.row = row
        moment = window.moment
        pulse = UnsafePointer(session.pulse)
        places = UnsafePointer(window.places)
        placeCount = window.placeCount
    }

    mutating func close() {
        window = nil
        pulse = nil
    }

    /// Whether the window shows what is there now, and this is the session's thread. Never so on queues, which are told apart in a longer way.
    @inline(__always)
    var holds: Bool {
        guard let pulse else { return false }
        return pulse.pointee.isAt(moment) && pulse.pointee.thread == UInt(pthread_self())
    }

    /// A value of the row.
    struct Place {
        let word: Int64?
    }

    /// The word of a column, where all that it takes is known.
    @inline(__always)
    func place(_ column: Int) -> Place? {
        guard holds, column < placeCount, let places, let values = places[column].values else { return nil }
        return Place(word: places[column].word(row, in: values))
    }
}
