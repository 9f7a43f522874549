internal import ToftStorage

/// Lists. Every edit is recorded with its index; an edit of links changes the backlinks, too.
extension ModelTransaction {
    /// Inserts values before `index`, or at the end: all or nothing.
    package func listInsert(
        _ key: Int64, _ property: PropertyHandle, at index: Int,
        _ values: UnsafeBufferPointer<BorrowedValue>
    ) throws(ModelError) {
        try checkInsertion(of: values.count, at: index, key, property)
        arena.reset()
        prepared.pointee.begin(view.schema.classes[property.classPosition])
        for value in values { prepared.pointee.addListCell(try prepareElement(value, property)) }
        if property.ownsTargets, !values.isEmpty { throw property.alreadyOwned }
        try append(0..<values.count, to: key, property, from: index)
    }

    /// Adds values at the end: all or nothing.
    func listAppend(
        _ key: Int64, _ property: PropertyHandle, _ values: UnsafeBufferPointer<BorrowedValue>
    ) throws(ModelError) {
        try listInsert(key, property, at: try listCount(key, property), values)
    }

    /// Replaces an element, also by an equal one: that is a change too.
    package func listSet(
        _ key: Int64, _ property: PropertyHandle, at index: Int, _ value: BorrowedValue
    ) throws(ModelError) {
        try checkIndex(index, key, property)
        arena.reset()
        let cell = try prepareElement(value, property)
        if property.ownsTargets { try checkOwned(cell, at: index, of: key, property) }
        try replace(index, of: key, property, by: cell)
    }

    /// Removes elements; objects linked stay, unless they are embedded.
    package func listErase(_ key: Int64, _ property: PropertyHandle, _ range: Range<Int>)
        throws(ModelError)
    {
        try checkErasing(range, of: key, property)
        var dropped: [Int64] = []
        for index in range.reversed() {
            let target = try detach(index, of: key, property)
            if property.ownsTargets, let target { dropped.append(target) }
        }
        for target in dropped.reversed() { try dropTarget(target, property) }
    }

    /// Throws if a list has no such range of elements.
    func checkErasing(_ range: Range<Int>, of key: Int64, _ property: PropertyHandle)
        throws(ModelError)
    {
        let count = try count(of: .list, key, property)
        guard range.lowerBound >= 0, range.upperBound <= count else {
            throw .indexOutOfRange(
                index: range.lowerBound < 0 || range.isEmpty
                    ? range.lowerBound : range.upperBound - 1, count: count)
        }
    }

    /// Removes one element.
    package func listErase(_ key: Int64, _ property: PropertyHandle, at index: Int)
        throws(ModelError)
    {
        try checkIndex(index, key, property)
        try remove(index, of: key, property)
    }

    /// Moves an element, whose index is `destination` afterwards.
    package func listMove(
        _ key: Int64, _ property: PropertyHandle, from index: Int, to destination: Int
    ) throws(ModelError) {
        try checkIndex(index, key, property)
        try checkIndex(destination, key, property)
        try change(.listMove, of: key, property, at: index, .int64(Int64(destination)))
    }

    /// Exchanges two elements.
    package func listSwap(_ key: Int64, _ property: PropertyHandle, _ first: Int, _ second: Int)
        throws(ModelError)
    {
        try checkIndex(first, key, property)
        try checkIndex(second, key, property)
        try change(.listSwap, of: key, property, at: first, .int64(Int64(second)))
    }

    /// Replaces a whole collection, all or nothing: with `.all` it is emptied and filled again,
    /// with `.modified` only differences are changed.
    func assign(
        _ value: BorrowedValue, to key: Int64, _ property: PropertyHandle,
        policy: UpdatePolicy = .all
    ) throws(ModelError) {
        let assignment = Assignment(property.id, value)
        let result: Result<Void, ModelError> = withUnsafePointer(to: assignment) { pointer in
            do throws(ModelError) {
                let owner = view.schema.classes[property.classPosition]
                return .success(
                    try set(
                        key, owner, UnsafeBufferPointer(start: pointer, count: 1), policy: policy))
            } catch { return .failure(error) }
        }
        try result.get()
    }

    // MARK: Steps

    /// Replaces the content of a list by the prepared cells of `range`.
    func assignList(
        _ range: Range<Int>, to key: Int64, _ property: PropertyHandle, policy: UpdatePolicy
    ) throws(ModelError) {
        // Owned elements can only be assigned to their list unchanged: `checkOwned` has made sure
        // of that.
        if property.ownsTargets, !range.isEmpty { return }
        guard policy == .modified else {
            try clear(key, property)
            return try append(range, to: key, property, from: 0)
        }
        let count = try listCount(key, property)
        for (index, cellIndex) in range.enumerated().prefix(count) {
            let cell = prepared.pointee.listCells[cellIndex]
            if try !view.listCell(key, property, at: index).isIdentical(
                to: cell, of: property.type)
            {
                try replace(index, of: key, property, by: cell)
            }
        }
        for index in stride(from: count - 1, through: range.count, by: -1) {
            try remove(index, of: key, property)
        }
        if range.count > count {
            try append(range.dropFirst(count), to: key, property, from: count)
        }
    }

    /// Inserts the prepared cells of `range` from `index` on.
    func append(_ range: Range<Int>, to key: Int64, _ property: PropertyHandle, from index: Int)
        throws(ModelError)
    {
        for (offset, cellIndex) in range.enumerated() {
            try insert(prepared.pointee.listCells[cellIndex], at: index + offset, of: key, property)
        }
    }

    /// Inserts one element and, for a link, one backlink.
    func insert(_ cell: Cell, at index: Int, of key: Int64, _ property: PropertyHandle)
        throws(ModelError)
    {
        try change(.listInsert, of: key, property, at: index, cell)
        if property.type == .link, case .int64(let target) = cell {
            try addBacklink(property, target: target, source: key)
        } else if property.type == .mixed {
            try replaceMixedLinks(property, of: key, [], by: cell)
        }
    }

    /// Replaces one element, the value of a dictionary's key too.
    func replace(_ index: Int, of key: Int64, _ property: PropertyHandle, by cell: Cell)
        throws(ModelError)
    {
        let links = try mixedLinks(at: index, of: key, property)
        let was = property.type == .link ? try view.listCell(key, property, at: index) : .null
        try change(.listSet, of: key, property, at: index, cell)
        if property.type == .mixed {
            try replaceMixedLinks(property, of: key, links, by: cell)
        }
        guard property.type == .link, !was.isEqual(to: cell) else { return }
        if case .int64(let old) = was { try removeBacklink(property, target: old, source: key) }
        if case .int64(let new) = cell { try addBacklink(property, target: new, source: key) }
        if case .int64(let old) = was { try dropTarget(old, property) }
    }

    /// Removes one element, also of a set or a dictionary's values, and the object that it owns.
    func remove(_ index: Int, of key: Int64, _ property: PropertyHandle) throws(ModelError) {
        if let target = try detach(index, of: key, property) { try dropTarget(target, property) }
    }

    /// The links in an element of a mixed property.
    @inline(never)
    private func mixedLinks(at index: Int, of key: Int64, _ property: PropertyHandle)
        throws(ModelError) -> [ObjectRef]
    {
        guard property.type == .mixed else { return [] }
        return try MixedValue.links(in: try view.listCell(key, property, at: index))
    }

    /// Removes one element and the backlinks of its links. Returns the target of a link.
    private func detach(_ index: Int, of key: Int64, _ property: PropertyHandle)
        throws(ModelError) -> Int64?
    {
        let links = try mixedLinks(at: index, of: key, property)
        let was = property.type == .link ? try view.listCell(key, property, at: index) : .null
        try change(.listErase, of: key, property, at: index)
        try replaceMixedLinks(property, of: key, links, by: .null)
        guard case .int64(let target) = was else { return nil }
        try removeBacklink(property, target: target, source: key)
        return target
    }

    /// Empties a list, a set or a dictionary; objects linked stay, unless they are embedded.
    package func clear(_ key: Int64, _ property: PropertyHandle) throws(ModelError) {
        let targets = property.type == .link ? try view.list(key, property).linkTargets() : []
        let mixed = property.type == .mixed ? try view.list(key, property).mixedTargets() : []
        _ = try listCount(key, property)
        try change(.listClear, of: key, property)
        if property.collection == .dictionary {
            try change(.listClear, of: key, property, in: property.keysColumn)
        }
        for target in targets {
            try buffer.removeAllBacklinks(property, target: target, source: key)
            try buffer.flushExcessEntries()
        }
        for target in mixed {
            try buffer.removeAllBacklinks(
                property, target: target.key, of: target.classID, source: key)
            try buffer.flushExcessEntries()
        }
        for target in targets { try dropTarget(target, property) }
    }

    func listCount(_ key: Int64, _ property: PropertyHandle) throws(ModelError) -> Int {
        try view.listCount(key, property)
    }

    /// Throws if a list can't take `added` elements at `index`.
    func checkInsertion(of added: Int, at index: Int, _ key: Int64, _ property: PropertyHandle)
        throws(ModelError)
    {
        let count = try count(of: .list, key, property)
        guard index >= 0, index <= count else {
            throw .indexOutOfRange(index: index, count: count + 1)
        }
        try checkRoom(for: added, beside: count, property)
    }

    /// The number of elements of a property that must be a collection of this kind.
    func count(of kind: CollectionKind, _ key: Int64, _ property: PropertyHandle)
        throws(ModelError) -> Int
    {
        guard property.collection == kind else {
            throw .notACollection(
                className: property.className, property: property.name, kind: kind)
        }
        return try listCount(key, property)
    }

    /// Throws if a collection of this many elements can't take `count` more.
    func checkRoom(for count: Int, beside existing: Int, _ property: PropertyHandle)
        throws(ModelError)
    {
        guard existing + count <= Limits.collectionElements else {
            throw .collectionTooLong(
                className: property.className, property: property.name,
                limit: Limits.collectionElements)
        }
    }

    func checkIndex(_ index: Int, _ key: Int64, _ property: PropertyHandle)
        throws(ModelError)
    {
        let count = try count(of: .list, key, property)
        guard index >= 0, index < count else { throw .indexOutOfRange(index: index, count: count) }
    }

    /// Changes a collection, or with `column` the keys of a dictionary. Of a move or a swap `cell`
    /// is the other index.
    func change(
        _ kind: RowChange.Kind, of key: Int64, _ property: PropertyHandle, at index: Int = 0,
        _ cell: Cell = .null, in column: UInt32? = nil
    ) throws(ModelError) {
        let owner = view.schema.classes[property.classPosition]
        let column = column ?? property.column
        try view.requireObject(key, owner)
        try buffer.add(kind, of: column, at: index, cell, to: key, property)
        try stored { () throws(StorageError) in try writing.spillKept() }
    }
}

extension Value {
    /// Lends the value as a list of one.
    package func withList<Result>(
        _ body: (UnsafeBufferPointer<BorrowedValue>) throws(ModelError) -> Result
    )
        throws(ModelError) -> Result
    {
        try withBorrowed { value throws(ModelError) in
            let result: Swift.Result<Result, ModelError> = withUnsafePointer(to: value) { pointer in
                do throws(ModelError) {
                    return .success(try body(UnsafeBufferPointer(start: pointer, count: 1)))
                } catch { return .failure(error) }
            }
            return try result.get()
        }
    }
}
