internal import CToft
internal import ToftEngine

/// One call of an observer as C sees it: what a `toft_changes` points to lives in here, until the
/// callback returns.
struct ForeignChanges {
    private let kind: toft_change_kind
    private let failure: EngineError?
    private let previousVersion: UInt64
    private let version: UInt64
    private let deletions: [UInt64]
    private let insertions: [UInt64]
    private let modifications: [UInt64]
    private let modificationsAfter: [UInt64]
    private let moves: [toft_move]
    private let properties: [toft_property_key]

    init(_ notification: ChangeNotification) {
        (kind, failure) = Self.kind(of: notification)
        previousVersion = notification.previousVersion
        version = notification.version
        let change = notification.collection
        deletions = Self.indices(change.deletions)
        insertions = Self.indices(change.insertions)
        modifications = Self.indices(change.modifications)
        modificationsAfter = Self.indices(change.modificationsNew)
        moves = change.moves.map { toft_move(from: UInt64($0.from), to: UInt64($0.to)) }
        properties = notification.object.properties
    }

    private static func kind(of notification: ChangeNotification) -> (
        toft_change_kind, EngineError?
    ) {
        switch notification.kind {
        case .initial: (TOFT_CHANGE_INITIAL, nil)
        case .update: (TOFT_CHANGE_UPDATE, nil)
        case .deleted: (TOFT_CHANGE_DELETED, nil)
        case .failure(let error): (TOFT_CHANGE_ERROR, error)
        }
    }

    private static func indices(_ runs: IndexRanges) -> [UInt64] {
        var indices: [UInt64] = []
        indices.reserveCapacity(runs.count)
        for run in runs.runs { for index in run { indices.append(UInt64(index)) } }
        return indices
    }

    /// Calls back with the changes, on the calling thread.
    func call(_ callback: toft_changes_callback, _ userData: UnsafeMutableRawPointer?) {
        if let failure { CallingThread.current.fail(failure) }
        deletions.withUnsafeBufferPointer { deletions in
            insertions.withUnsafeBufferPointer { insertions in
                modifications.withUnsafeBufferPointer { modifications in
                    modificationsAfter.withUnsafeBufferPointer { modificationsAfter in
                        moves.withUnsafeBufferPointer { moves in
                            properties.withUnsafeBufferPointer { properties in
                                var changes = toft_changes(
                                    size: MemoryLayout<toft_changes>.size, kind: kind,
                                    error: failure.map { toft_status($0.code) } ?? TOFT_OK,
                                    previous_version: previousVersion, version: version,
                                    deletions: deletions.baseAddress,
                                    deletion_count: deletions.count,
                                    insertions: insertions.baseAddress,
                                    insertion_count: insertions.count,
                                    modifications: modifications.baseAddress,
                                    modification_count: modifications.count,
                                    modifications_after: modificationsAfter.baseAddress,
                                    moves: moves.baseAddress, move_count: moves.count,
                                    properties: properties.baseAddress,
                                    property_count: properties.count)
                                callback(userData, &changes)
                            }
                        }
                    }
                }
            }
        }
    }
}
