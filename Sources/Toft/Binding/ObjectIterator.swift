internal import ToftEngine

/// Iterates over objects by their keys, as they were when the walk began, and returns an instance
/// for each: a live one, or an invalidated one of an object deleted since.
///
/// While the realm's version stays the same, the next object is usually in the next row of the last
/// window.
@usableFromInline struct ObjectIterator {
    private let home: ObjectContext
    private var walk: KeyIterator
    private var keys: [Int64] = []
    /// The position of the next key in `keys`.
    private var position = 0
    /// The location of the last object.
    private var view = RowCursor()
    private var spare: InstanceRecycler

    init(_ walk: KeyIterator, in home: ObjectContext) {
        self.home = home
        self.walk = walk
        // Frozen objects may be anywhere.
        spare = InstanceRecycler(isWanted: home.binding.model.isStateless && !home.isFrozen)
    }

    /// The next object; nil after the last, and after misuse.
    @usableFromInline mutating func next() -> ObjectBase? {
        guard position < keys.count, view.advance(to: keys[position]) else { return findNext() }
        let key = keys[position]
        position &+= 1
        return instance(key)
    }

    @inline(__always)
    private mutating func instance(_ key: Int64) -> ObjectBase {
        guard let object = spare.take() else { return newInstance(key) }
        object.move(to: key, view)
        return object
    }

    @inline(never)
    private mutating func newInstance(_ key: Int64) -> ObjectBase {
        let object = home.makeObject(key, view)
        spare.put(object)
        return object
    }

    /// Looks for the next object.
    @inline(never)
    private mutating func findNext() -> ObjectBase? {
        Misuse.reporting { () throws -> ObjectBase? in
            // An invalidated realm's collections are empty.
            guard home.isCurrent else { return nil }
            try home.verify()
            guard let key = try nextKey() else { return nil }
            guard let cache = home.binding.cache else {
                return try home.object(key) ?? home.makeObject(key, RowCursor())
            }
            if home.binding.engine.holdsBack(home.binding.classID) {
                guard try home.binding.engine.object(home.ref(key)) != nil else {
                    return home.makeObject(key, RowCursor())
                }
                view = RowCursor()
                return instance(key)
            }
            guard let found = try cache.view(of: key) else {
                return home.makeObject(key, RowCursor())
            }
            view = found
            return instance(key)
        } ?? nil
    }

    private mutating func nextKey() throws -> Int64? {
        if position == keys.count {
            guard let run = try walk.nextRun() else { return nil }
            keys = run
            position = 0
        }
        defer { position += 1 }
        return keys[position]
    }
}
