internal import ToftModel
internal import ToftStorage

/// Gathers the keys of the objects of one class that effects touch.
struct TouchedKeys {
    private let owner: ClassHandle
    private let watched: Dependencies
    private let limit: Int
    private var keys: [Int64] = []
    private var isTooMany = false

    init(_ owner: ClassHandle, reading watched: Dependencies, limit: Int) {
        self.owner = owner
        self.watched = watched
        self.limit = limit
    }

    mutating func add(_ effect: Effect) {
        guard effect.tree == owner.table, !isTooMany else { return }
        switch RowChange(effect) {
        case .inserted, .erased: add(effect.key, count: effect.count)
        case .set, .touched, .edited:
            if watched.properties.contains(PropertyRef(effect, of: owner)) {
                add(effect.key, count: 1)
            }
        case nil: break
        }
    }

    private mutating func add(_ key: Int64, count: Int) {
        if keys.last == key, count == 1 { return }
        isTooMany = count > limit - keys.count
        guard !isTooMany else { return }
        for offset in 0..<Int64(count) { keys.append(key &+ offset) }
    }

    /// Nil if there are too many.
    var sorted: [Int64]? {
        if isTooMany { return nil }
        var sorted: [Int64] = []
        sorted.reserveCapacity(keys.count)
        for key in keys.sorted() where key != sorted.last { sorted.append(key) }
        return sorted
    }
}
