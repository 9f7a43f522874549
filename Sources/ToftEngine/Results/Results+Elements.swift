internal import ToftPlatform
package import ToftModel
package import ToftStorage

extension Results {
    static let invalidated = EngineError(
        .collectionInvalidated,
        "The results are invalid: the object that they were made from has been deleted.")

    /// Number of elements. A query that has not been evaluated is only counted: no list is made.
    package var count: Int {
        get throws(EngineError) {
            if let counted = try partialCount() { return counted }
            return switch try current() {
            case .whole: try session.count(of: definition.classID ?? 0)
            case .list: try list().count
            case .keys(let keys, _): keys.count
            case .positions(let positions): positions.count
            case .values(let values): values.count
            case .gone: throw Self.invalidated
            }
        }
    }

    /// Whether there is no element. A query that has not been evaluated searches for the first
    /// result alone.
    package var isEmpty: Bool {
        get throws(EngineError) {
            if !isCounted, try partialKeys(first: 1) != nil { return false }
            return try count == 0
        }
    }

    /// Whether the source of the results still exists. O(log objects).
    package var isValid: Bool {
        get throws(EngineError) {
            try session.check()
            return try model { () throws(ModelError) in
                try !definition.isGone(in: session.view)
            }
        }
    }

    /// Whether the source of the results still exists, for any thread.
    package var isValidElsewhere: Bool {
        session.identity.shared.withLock { shared in
            guard let view = shared.view else { return false }
            return shared.isWriting || (try? definition.isGone(in: view)) == false
        }
    }

    /// The key of an object. In a snapshot it may have been deleted.
    package func key(at index: Int) throws(EngineError) -> Int64 {
        if index >= 0, index < .max,
            let key = try partialKeys(of: index..<index + 1)?.first
        {
            return key
        }
        switch try current() {
        case .whole: return try wholeKey(at: index)
        case .keys(let keys, _):
            guard index >= 0, index < keys.count else {
                throw EngineError(outOfRange: index, count: keys.count)
            }
            return keys[index]
        case .list:
            guard case .int64(let key) = try cell(at: index) else { throw try wrongKind() }
            return key
        case .positions, .values: throw try wrongKind()
        case .gone: throw Self.invalidated
        }
    }

    /// Looks in the cluster of the last key first: a loop over a class then searches once for each
    /// cluster.
    private func wholeKey(at index: Int) throws(EngineError) -> Int64 {
        if let key = window?.key(at: index, session.epoch.pointee.number) { return key }
        let count = try count
        guard index >= 0, index < count else { throw EngineError(outOfRange: index, count: count) }
        let (cluster, row) = try storing { table throws(StorageError) in
            try table.cluster(atRank: index)
        }
        if session.isFrozen { return cluster.keys[row] }
        window = RankWindow(
            first: index - row, keys: cluster.keys, count: cluster.count,
            epoch: session.epoch.pointee.number)
        return cluster.keys[row]
    }

    /// Calls `body` with each of some properties of an object, as `ObjectHandle.forEachCell` does.
    package func forEachCell(
        at index: Int, _ ids: UnsafeBufferPointer<PropertyID>, _ body: CellReceiver
    ) throws(EngineError) {
        try session.check()
        let key =
            if let key = window?.key(at: index, session.epoch.pointee.number) { key } else {
                try key(at: index)
            }
        do throws(ModelError) {
            try session.forEachCell(key, classID ?? 0, ids, body)
        } catch { throw EngineError(error) }
    }

    private func wrongKind() throws(EngineError) -> EngineError {
        _ = try objectClass()
        return EngineError(.internalError, "A list of links holds something else.")
    }

    /// An element to keep: a link for objects (null for a deleted one of a snapshot), otherwise the
    /// value.
    package func value(at index: Int) throws(EngineError) -> Value {
        guard let id = definition.classID else { return try valueElement(at: index) }
        let ref = ObjectRef(classID: id, key: try key(at: index))
        guard case .objects = definition.base,
            try !model({ () throws(ModelError) in try session.view.exists(ref) })
        else { return .link(ref) }
        return .null
    }

    /// All values of a list or of results made of it, to keep.
    package func values() throws(EngineError) -> [Value] {
        let positions: [Int]?
        switch try current() {
        case .values(let values): return values
        case .positions(let found): positions = found
        default: positions = nil
        }
        let (list, property) = (try list(), try listProperty())
        var values: [Value] = []
        values.reserveCapacity(positions?.count ?? list.reservedCount)
        for index in 0..<(positions?.count ?? list.count) {
            let cell = try storage { () throws(StorageError) in
                try list.cell(at: positions?[index] ?? index)
            }
            values.append(try model { () throws(ModelError) in try property.value(of: cell) })
        }
        return values
    }

    private func valueElement(at index: Int) throws(EngineError) -> Value {
        if case .values(let values) = try current() {
            guard index >= 0, index < values.count else {
                throw EngineError(outOfRange: index, count: values.count)
            }
            return values[index]
        }
        let property = try listProperty()
        let cell = try cell(at: index)
        return try model { () throws(ModelError) in try property.value(of: cell) }
    }

    /// An element of a list, or of a sorted or otherwise changed one, borrowed until the session
    /// moves or writes.
    package func cell(at index: Int) throws(EngineError) -> Cell {
        let list = try list()
        switch try current() {
        case .list:
            guard index >= 0, index < list.count else {
                throw EngineError(outOfRange: index, count: list.count)
            }
            return try storage { () throws(StorageError) in try list.cell(at: index) }
        case .positions(let positions):
            guard index >= 0, index < positions.count else {
                throw EngineError(outOfRange: index, count: positions.count)
            }
            return try storage { () throws(StorageError) in try list.cell(at: positions[index]) }
        case .gone: throw Self.invalidated
        case .whole, .keys, .values:
            throw EngineError(.typeMismatch, "These are not the elements of a list.")
        }
    }

    /// The keys of all objects, in order.
    package func keys() throws(EngineError) -> [Int64] {
        _ = try objectClass()
        switch try current() {
        case .whole: return try wholeKeys()
        case .keys(let keys, _): return keys
        case .list:
            guard case .collection(let ref) = definition.base else { return [] }
            return try model { () throws(ModelError) in try session.view.linkedKeys(ref) }
        case .positions, .values: return []
        case .gone: throw Self.invalidated
        }
    }

    private func wholeKeys() throws(EngineError) -> [Int64] {
        let owner = try objectClass()
        return try model { () throws(ModelError) in try session.view.allKeys(of: owner) }
    }

    /// The index of an element: an object is found by its link, a value by equality. Nil if the
    /// results do not have it.
    package func index(of value: Value) throws(EngineError) -> Int? {
        guard let id = definition.classID else { return try valueIndex(of: value) }
        guard case .link(let ref) = value, ref.classID == id else {
            throw EngineError(
                .typeMismatch, "Only an object of the results' own class can be found in them.")
        }
        switch try current() {
        case .whole:
            guard try model({ () throws(ModelError) in try session.view.exists(ref) }) else {
                return nil
            }
            return try storing { table throws(StorageError) in try table.rank(of: ref.key) }
        case .keys(let keys, let isAscending):
            return isAscending ? keys.binarySearch(ref.key) : keys.firstIndex(of: ref.key)
        default: return try keys().firstIndex(of: ref.key)
        }
    }

    private func valueIndex(of value: Value) throws(EngineError) -> Int? {
        let isMixed = try listProperty().type == .mixed
        for index in 0..<(try count) {
            let element = try valueElement(at: index)
            if isMixed ? element.mixedOrder(value) == 0 : element == value { return index }
        }
        return nil
    }

    // MARK: Underneath

    /// Looks at the keys of the class.
    private func storing<Result>(_ body: (TableReader) throws(StorageError) -> Result)
        throws(EngineError)
        -> Result
    {
        let owner = try objectClass()
        let table = try model { () throws(ModelError) in try session.view.keyTable(owner) }
        return try storage { () throws(StorageError) in try body(table) }
    }

    private func list() throws(EngineError) -> ListView {
        guard case .collection(let ref) = definition.base else {
            throw EngineError(.typeMismatch, "These are not the elements of a list.")
        }
        if case .gone = try current() { throw Self.invalidated }
        return try model { () throws(ModelError) in try session.view.list(ref) }
    }

    /// The property of the list that values come from.
    func listProperty() throws(EngineError) -> PropertyHandle {
        guard let ref = definition.collectionRef else {
            throw EngineError(.typeMismatch, "These are not the elements of a list.")
        }
        return try model { () throws(ModelError) in
            try session.view.property(
                ref.propertyRef)
        }
    }
}
