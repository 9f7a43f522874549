internal import ToftModel
internal import ToftStorage

/// Sets and dictionaries: elements that are equal before and after have stayed, whatever the
/// records say.
extension ChangeCalculation {
    mutating func orderedChange(
        of ref: CollectionRef, _ property: PropertyHandle, watching paths: WatchedPaths?
    ) throws(EngineError) -> CollectionChange {
        let oldCount = try count(of: ref, in: old)
        guard try exists(ref.owner, in: new) else {
            var change = CollectionChange.rootDeleted(count: oldCount)
            if property.collection == .dictionary { change.keys = try keys(of: change, ref) }
            return change
        }
        let touched = try replay(of: ref, count: oldCount)?.change()
        var comparison = OrderedComparison(
            before: try view(of: ref, in: old), after: try view(of: ref, in: new),
            type: property.collection == .dictionary ? .string : property.type, touched: touched)
        if let target = property.type == .link ? property.targetClassID : nil {
            let test = try test(of: target, watching: paths, rowCount: comparison.after.count)
            try comparison.run { cell throws(EngineError) in
                guard !test.isEmpty, case .int64(let key) = cell else { return false }
                return try test.isModified(key)
            }
        } else if property.type == .mixed {
            let count = comparison.after.count
            try comparison.run { cell throws(EngineError) in
                try leadsToChange(cell, rowCount: count)
            }
        } else {
            try comparison.run { _ throws(EngineError) in false }
        }
        var change = comparison.change
        change.isCleared = touched?.isCleared ?? false
        if property.collection == .dictionary, !change.isEmpty {
            change.keys = try keys(of: change, ref)
        }
        return change
    }

    private func view(of ref: CollectionRef, in view: ModelView) throws(EngineError) -> OrderedView
    {
        try model { () throws(ModelError) in
            let property = try view.property(
                ref.propertyRef)
            let values = try view.list(ref.owner.key, property)
            return property.collection == .dictionary
                ? OrderedView(
                    names: try view.dictionaryKeys(ref.owner.key, property), values: values)
                : OrderedView(names: values, values: nil)
        }
    }

    /// The keys at the indices of a change.
    private func keys(of change: CollectionChange, _ ref: CollectionRef) throws(EngineError)
        -> KeyChange
    {
        KeyChange(
            deletions: try keys(at: change.deletions, ref, in: old),
            insertions: try keys(at: change.insertions, ref, in: new),
            modifications: try keys(at: change.modificationsNew, ref, in: new))
    }

    private func keys(at indices: IndexRanges, _ ref: CollectionRef, in view: ModelView)
        throws(EngineError) -> [String]
    {
        var keys: [String] = []
        for run in indices.runs {
            for index in run {
                keys.append(
                    try model { () throws(ModelError) in
                        try view.dictionaryKey(
                            ref.owner.key,
                            try view.property(
                                ref.propertyRef),
                            at: index)
                    })
            }
        }
        return keys
    }
}

/// The values or keys that identify the elements of a set or a dictionary, in ascending order.
private struct OrderedView {
    let names: ListView
    /// Of a dictionary.
    let values: ListView?

    var count: Int { names.count }

    func name(_ index: Int) throws(EngineError) -> Cell {
        try storage { () throws(StorageError) in try names.cell(at: index) }
    }

    /// The value of a dictionary, the element of a set.
    func value(_ index: Int) throws(EngineError) -> Cell {
        try storage { () throws(StorageError) in try (values ?? names).cell(at: index) }
    }
}

/// Walks two versions of a set or dictionary side by side.
private struct OrderedComparison {
    let before: OrderedView
    let after: OrderedView
    /// Of the elements of a set, of the keys of a dictionary.
    let type: PropertyType
    /// The changes in the records; nil without records.
    let touched: CollectionChange?
    var change = CollectionChange()

    init(
        before: OrderedView, after: OrderedView, type: PropertyType, touched: CollectionChange?
    ) {
        self.before = before
        self.after = after
        self.type = type
        self.touched = touched
    }

    /// `isModified` is called for the values that no record sets.
    mutating func run(_ isModified: (Cell) throws(EngineError) -> Bool) throws(EngineError) {
        var index = 0, next = 0
        while index < before.count || next < after.count {
            let old = index < before.count ? try before.name(index) : nil
            let new = next < after.count ? try after.name(next) : nil
            if let old, let new, !old.isBefore(new, of: type),
                !new.isBefore(old, of: type)
            {
                let value = try after.value(next)
                let isSet = try isSet(index, next, value)
                let isModified = isSet ? true : try isModified(value)
                if isModified {
                    change.modifications.append(index)
                    change.modificationsNew.append(next)
                }
                (index, next) = (index + 1, next + 1)
            } else if let old, new.map({ old.isBefore($0, of: type) }) ?? true {
                change.deletions.append(index)
                index += 1
            } else {
                change.insertions.append(next)
                next += 1
            }
        }
    }

    /// Whether the value of a key that stayed was set, to the same value too.
    private func isSet(_ index: Int, _ next: Int, _ value: Cell) throws(EngineError) -> Bool {
        guard before.values != nil else { return false }
        if let touched {
            return touched.insertions.contains(next) || touched.modificationsNew.contains(next)
        }
        return try !before.value(index).isEqual(to: value)
    }
}
