package import ToftStorage

extension ModelView {
    /// The elements of a list or set, or the values of a dictionary, for reading without copying:
    /// good as long as a `Cell` would be.
    package func list(_ key: Int64, _ property: PropertyHandle) throws(ModelError) -> ListView {
        guard property.isCollection else {
            throw .notACollection(
                className: property.className, property: property.name, kind: .list)
        }
        let table = try table(of: property, property.column, with: key)
        do { return try table.list(key, property.column) } catch {
            throw property.modelError(error, key: key)
        }
    }

    /// The number of elements.
    package func listCount(_ key: Int64, _ property: PropertyHandle) throws(ModelError) -> Int {
        guard property.isCollection, let unflushed else { return try list(key, property).count }
        let table = try rows(schema.classes[property.classPosition], with: key)
        if property.type.canLink { try unflushed.flushDeletesForReader() }
        do throws(StorageError) {
            switch unflushed.size(key, property.column, property.classPosition) {
            case .unchanged: return try table.listCount(key, property.column)
            case .difference(let more): return try table.listCount(key, property.column) + more
            case .whole(let count): return count
            }
        } catch { throw property.modelError(error, key: key) }
    }

    /// One element, without copying.
    package func listCell(_ key: Int64, _ property: PropertyHandle, at index: Int)
        throws(ModelError) -> Cell
    {
        let list = try list(key, property)
        guard index >= 0, index < list.count else {
            throw .indexOutOfRange(index: index, count: list.count)
        }
        do { return try list.cell(at: index) } catch { throw .storage(error) }
    }

    /// One element, owned by the caller.
    package func listValue(_ key: Int64, _ property: PropertyHandle, at index: Int)
        throws(ModelError) -> Value
    {
        try property.value(of: listCell(key, property, at: index))
    }

    /// All elements, owned by the caller.
    package func listValues(_ key: Int64, _ property: PropertyHandle) throws(ModelError) -> [Value]
    {
        let list = try list(key, property)
        var values: [Value] = []
        values.reserveCapacity(list.reservedCount)
        for index in 0..<list.count {
            let cell = try stored { () throws(StorageError) in try list.cell(at: index) }
            values.append(try property.value(of: cell))
        }
        return values
    }

    /// The index of the first element that equals a value; nil if no element does.
    /// - Parameter indices: the elements to compare; nil: all.
    package func listIndex(
        _ key: Int64, _ property: PropertyHandle, of value: Value, in indices: Range<Int>? = nil
    ) throws(ModelError) -> Int? {
        let list = try list(key, property)
        return try value.withBorrowed { value throws(ModelError) in
            try property.withSoughtCell(value, in: schema) { wanted throws(ModelError) in
                for index in indices ?? 0..<list.count {
                    let cell = try stored { () throws(StorageError) in try list.cell(at: index) }
                    if cell.isEqual(to: wanted, of: property.type) { return index }
                }
                return nil
            }
        }
    }
}

extension ModelView {
    /// The objects that a mixed property, or a collection of mixed values, links to, each once.
    package func mixedTargets(of key: Int64, _ property: PropertyHandle) throws(ModelError)
        -> Set<ObjectRef>
    {
        property.isCollection
            ? try list(key, property).mixedTargets()
            : Set(try MixedValue.links(in: try cell(key, property)))
    }

    /// Number of links in a mixed property, or a collection of mixed values.
    func mixedLinks(of key: Int64, _ property: PropertyHandle) throws(ModelError) -> Int {
        guard property.isCollection else {
            return try MixedValue.links(in: try cell(key, property)).count
        }
        let list = try list(key, property)
        var links = 0
        for index in 0..<list.count {
            let cell = try stored { () throws(StorageError) in try list.cell(at: index) }
            links += try MixedValue.links(in: cell).count
        }
        return links
    }
}

extension ListView {
    /// The objects that mixed values link to, each once.
    func mixedTargets() throws(ModelError) -> Set<ObjectRef> {
        var targets: Set<ObjectRef> = []
        for index in 0..<count {
            let cell = try stored { () throws(StorageError) in try self.cell(at: index) }
            targets.formUnion(try MixedValue.links(in: cell))
        }
        return targets
    }

    /// The keys that a list of links holds, each once, in ascending order.
    func linkTargets() throws(ModelError) -> [Int64] {
        var targets: [Int64] = []
        targets.reserveCapacity(reservedCount)
        for index in 0..<count {
            let cell = try stored { () throws(StorageError) in try self.cell(at: index) }
            if case .int64(let target) = cell { targets.append(target) }
        }
        targets.sort()
        var last: Int64?
        targets.removeAll { target in
            defer { last = target }
            return target == last
        }
        return targets
    }
}
