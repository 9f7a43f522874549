internal import ToftModel
internal import ToftStorage

extension ChangeCalculation {
    /// The change of a list.
    mutating func change(of ref: CollectionRef, watching paths: WatchedPaths?) throws(EngineError)
        -> CollectionChange
    {
        if ref.nested != nil { return try nestedChange(of: ref) }
        let property = try model { () throws(ModelError) in
            try old.property(ref.propertyRef)
        }
        guard property.collection == .list else {
            return try orderedChange(of: ref, property, watching: paths)
        }
        let oldCount = try count(of: ref, in: old)
        guard try exists(ref.owner, in: new) else { return .rootDeleted(count: oldCount) }
        guard let replay = try replay(of: ref, count: oldCount) else {
            return try comparison(of: ref, watching: paths)
        }
        if property.type == .mixed {
            let list = try model { () throws(ModelError) in try new.list(ref) }
            return try replay.change { index throws(EngineError) in
                guard index < list.count else { return false }
                let cell = try storage { () throws(StorageError) in try list.cell(at: index) }
                return try leadsToChange(cell, rowCount: list.count)
            }
        }
        guard let target = try target(of: ref) else { return replay.change() }
        let test = try test(of: target, watching: paths, rowCount: replay.count)
        if test.isEmpty { return replay.change() }
        let keys = try model { () throws(ModelError) in try new.linkedKeys(ref) }
        return try replay.change { index throws(EngineError) in
            guard index < keys.count else { return false }
            return try test.isModified(keys[index])
        }
    }

    /// The list's edits, replayed on `count` elements; nil if they are not known, or do not result
    /// in the present list.
    func replay(of ref: CollectionRef, count: Int) throws(EngineError) -> ListReplay? {
        guard !isCompared, !changes.opaqueLists.contains(ref) else { return nil }
        var replay = ListReplay(count: count)
        for edit in changes.listEdits[ref] ?? [] {
            guard replay.apply(edit) else { return nil }
        }
        return replay.count == (try self.count(of: ref, in: new)) ? replay : nil
    }

    func count(of ref: CollectionRef, in view: ModelView) throws(EngineError) -> Int {
        try model { () throws(ModelError) in try view.list(ref).count }
    }

    /// The class that the list's elements link to; nil for values.
    private func target(of ref: CollectionRef) throws(EngineError) -> ClassID? {
        let property = try model { () throws(ModelError) in
            try new.property(ref.propertyRef)
        }
        return property.type == .link ? property.targetClassID : nil
    }

    /// The difference of the list's contents.
    private mutating func comparison(of ref: CollectionRef, watching paths: WatchedPaths?)
        throws(EngineError) -> CollectionChange
    {
        guard let target = try target(of: ref) else {
            return try difference(
                from: try values(of: ref, in: old), to: try values(of: ref, in: new))
        }
        let before = try model { () throws(ModelError) in try old.linkedKeys(ref) }
        let after = try model { () throws(ModelError) in try new.linkedKeys(ref) }
        let test = try test(of: target, watching: paths, rowCount: after.count)
        return try SequenceDifference.between(before, after) { key throws(EngineError) in
            try test.isModified(key)
        }
    }

    /// The difference of sequences of values; one that leads to an object that changed is modified.
    mutating func difference(from before: [Value], to after: [Value]) throws(EngineError)
        -> CollectionChange
    {
        var names = ValueNames()
        let old = names.names(of: before), new = names.names(of: after)
        let links = Dictionary(zip(new, after.map { $0.links })) { first, _ in first }
            .filter { !$0.value.isEmpty }
        return try SequenceDifference.between(old, new) { name throws(EngineError) in
            try isAnyModified(links[name] ?? [], rowCount: after.count)
        }
    }

    /// Whether a mixed value links to an object that changed, or reaches one that did.
    mutating func leadsToChange(_ cell: Cell, rowCount: Int) throws(EngineError) -> Bool {
        guard !changes.modified.isEmpty else { return false }
        let links = try model { () throws(ModelError) in try MixedValue.links(in: cell) }
        return try isAnyModified(links, rowCount: rowCount)
    }

    /// Whether any of the objects changed, or reaches one that did. `rowCount`: estimated number of
    /// objects to test.
    mutating func isAnyModified(_ objects: [ObjectRef], rowCount: Int) throws(EngineError) -> Bool {
        for object in objects {
            let test = try test(of: object.classID, watching: nil, rowCount: rowCount)
            if test.isEmpty { continue }
            if try test.isModified(object.key) { return true }
        }
        return false
    }

    private func values(of ref: CollectionRef, in view: ModelView) throws(EngineError) -> [Value] {
        try model { () throws(ModelError) in
            try view.listValues(
                ref.owner.key,
                try view.property(
                    ref.propertyRef))
        }
    }
}

extension CollectionChange {
    /// The collection went with the object that it belonged to.
    static func rootDeleted(count: Int) -> CollectionChange {
        var change = CollectionChange()
        change.deletions = IndexRanges(0..<count)
        change.isRootDeleted = true
        return change
    }
}

extension Value {
    /// The objects that a mixed value links to, itself and within its collections.
    fileprivate var links: [ObjectRef] {
        switch self {
        case .link(let object): [object]
        case .list(let values): values.flatMap(\.links)
        case .dictionary(let entries): entries.flatMap(\.value.links)
        default: []
        }
    }
}

/// Gives equal values equal numbers, so that lists of values are compared like lists of keys.
struct ValueNames {
    private var numbers: [Value: Int64] = [:]

    mutating func names(of values: [Value]) -> [Int64] {
        values.map { value in
            if let number = numbers[value] { return number }
            let number = Int64(numbers.count)
            numbers[value] = number
            return number
        }
    }
}
