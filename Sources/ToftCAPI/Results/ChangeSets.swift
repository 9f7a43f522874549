internal import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftStorage

/// One call of an observer in C's form: this object owns everything that a `toft_changes` points to
/// until the callback returns.
final class ForeignChanges {
    private var changes = toft_changes()
    private let failure: EngineError?
    /// Memory that `changes` points to.
    private var buffers: [UnsafeMutableRawPointer] = []
    private var texts: [ForeignBytes] = []

    init(_ notification: ChangeNotification, _ options: ObserveOptions) {
        let kind: toft_change_kind
        (kind, failure) = Self.kind(of: notification)
        changes.size = MemoryLayout<toft_changes>.size
        changes.kind = kind
        changes.error = failure.map { toft_status($0.code) } ?? TOFT_OK
        changes.previous_version = notification.previousVersion.rawValue
        changes.version = notification.version.rawValue
        if options.wantsRanges {
            addRanges(notification.collection)
        } else {
            addIndices(notification.collection)
        }
        if !options.skipsMoves { addMoves(notification.collection) }
        if options.wantsKeys, let keys = notification.collection.keys { addKeys(keys) }
        addProperties(notification.object, oldValues: options.wantsOldValues)
    }

    deinit {
        for buffer in buffers { buffer.deallocate() }
    }

    /// Calls back with the changes, on the calling thread.
    func call(_ callback: toft_changes_callback, _ userData: UnsafeMutableRawPointer?) {
        if let failure { CallingThread.current.fail(failure) }
        callback(userData, &changes)
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

    private func addIndices(_ change: CollectionChange) {
        (changes.deletions, changes.deletion_count) = indices(change.deletions)
        (changes.insertions, changes.insertion_count) = indices(change.insertions)
        (changes.modifications, changes.modification_count) = indices(change.modifications)
        (changes.modifications_after, _) = indices(change.modificationsNew)
    }

    private func addRanges(_ change: CollectionChange) {
        (changes.deleted_ranges, changes.deleted_range_count) = ranges(change.deletions)
        (changes.inserted_ranges, changes.inserted_range_count) = ranges(change.insertions)
        (changes.modified_ranges, changes.modified_range_count) = ranges(change.modifications)
    }

    private func addKeys(_ keys: KeyChange) {
        (changes.deleted_keys, changes.deleted_key_count) = strings(keys.deletions)
        (changes.inserted_keys, changes.inserted_key_count) = strings(keys.insertions)
        (changes.modified_keys, changes.modified_key_count) = strings(keys.modifications)
    }

    private func strings(_ strings: [String]) -> (UnsafePointer<toft_string>?, Int) {
        copy(
            strings.map { string in
                let text = ForeignBytes(string.utf8)
                texts.append(text)
                return toft_string(text.bytes)
            })
    }

    private func addMoves(_ change: CollectionChange) {
        (changes.moves, changes.move_count) = copy(
            change.moves.map { toft_move(from: UInt64($0.from), to: UInt64($0.to)) })
    }

    private func addProperties(_ change: ObjectChange, oldValues: Bool) {
        (changes.properties, changes.property_count) = copy(change.properties)
        guard oldValues, !change.properties.isEmpty else { return }
        changes.old_values =
            copy(
                change.properties.map { property in
                    toft_value(change.oldValues[property] ?? .null, keeping: &texts)
                }
            ).0
    }

    private func indices(_ ranges: IndexRanges) -> (UnsafePointer<UInt64>?, Int) {
        var indices: [UInt64] = []
        indices.reserveCapacity(ranges.count)
        for range in ranges.runs { for index in range { indices.append(UInt64(index)) } }
        return copy(indices)
    }

    private func ranges(_ ranges: IndexRanges) -> (UnsafePointer<toft_range>?, Int) {
        copy(ranges.runs.map { toft_range(first: UInt64($0.lowerBound), count: UInt64($0.count)) })
    }

    /// Elements in memory that C can read as long as this object lives; NULL if there are no
    /// elements.
    private func copy<Element>(_ elements: [Element]) -> (
        UnsafePointer<Element>?, Int
    ) {
        guard !elements.isEmpty else { return (nil, 0) }
        let buffer = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
        _ = buffer.initialize(from: elements)
        if let base = buffer.baseAddress { buffers.append(UnsafeMutableRawPointer(base)) }
        return (UnsafePointer(buffer.baseAddress), elements.count)
    }
}
