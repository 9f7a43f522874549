internal import ToftModel
internal import ToftStorage

extension ChangeCalculation {
    /// The change of results. `next` gets the new results, if they had to be evaluated.
    mutating func change(
        of definition: ResultsDefinition, watching paths: WatchedPaths?, basis: ObservedVersion,
        next: inout ObservedVersion
    ) throws(EngineError) -> CollectionChange {
        let before = if let known = basis.order { known } else { try definition.order(in: old) }
        var after = before
        if canDiffer(definition) {
            if let followed = try follow(definition, before) {
                after = followed
            } else {
                after = try definition.order(in: new)
            }
        }
        next.order = after
        return try change(of: definition, watching: paths, from: before, to: after)
    }

    /// The new results, found by testing touched rows only; nil if everything must be evaluated
    /// again.
    private func follow(_ definition: ResultsDefinition, _ before: ResultRows) throws(EngineError)
        -> ResultRows?
    {
        guard !isCompared, let classID = definition.classID,
            let limit = definition.mostTouched(of: before)
        else { return nil }
        let rows = changes.rows[classID] ?? TransactionChanges.Rows()
        guard rows.inserted.count + rows.erased.count + rows.modified.count <= limit else {
            return nil
        }
        let touched = Array(rows.inserted) + Array(rows.erased) + Array(rows.modified)
        return try definition.rows(before, touching: touched.map { Int64($0) }.sorted(), in: new)
    }

    /// True if a dependency of the elements and their order was touched.
    private func canDiffer(_ definition: ResultsDefinition) -> Bool {
        if isCompared { return true }
        if let root = definition.root,
            changes.rows[root.classID]?.erased.contains(Int(root.key)) == true
        {
            return true
        }
        for id in definition.watched.classes {
            guard let rows = changes.rows[id] else { continue }
            if !rows.inserted.isEmpty || !rows.erased.isEmpty { return true }
        }
        return definition.watched.properties.contains {
            changes.rows[$0.classID]?.properties.contains($0.propertyID) == true
        }
    }

    private mutating func change(
        of definition: ResultsDefinition, watching paths: WatchedPaths?, from before: ResultRows,
        to after: ResultRows
    ) throws(EngineError) -> CollectionChange {
        switch (before, after) {
        case (.gone, _): return CollectionChange()
        case (let before, .gone): return .rootDeleted(count: try count(of: before, definition))
        case (.whole, .whole):
            return try changeOfWholeClass(definition.classID ?? 0, watching: paths)
        case (.list, .list):
            guard case .collection(let ref) = definition.base else { return CollectionChange() }
            return try change(of: ref, watching: paths).withoutMoves
        case (.keys(let before, let isAscending), .keys(let after, _)):
            // An object may link here twice.
            let isStrict = if case .all = definition.base { isAscending } else { false }
            return try change(
                of: definition.classID ?? 0, watching: paths, from: before, to: after,
                isAscending: isStrict)
        case (.positions(let before), .positions(let after)):
            return try change(of: definition, from: before, to: after)
        case (.values(let before), .values(let after)):
            guard case .collection(let ref) = definition.base else { return CollectionChange() }
            if definition.isPlain { return try change(of: ref, watching: nil) }
            return try difference(from: before, to: after)
        default: return CollectionChange()
        }
    }

    private func count(of order: ResultRows, _ definition: ResultsDefinition) throws(EngineError)
        -> Int
    {
        switch order {
        case .keys(let keys, _): return keys.count
        case .positions(let positions): return positions.count
        case .values(let values): return values.count
        case .list:
            guard case .collection(let ref) = definition.base else { return 0 }
            return try model { () throws(ModelError) in try old.list(ref).count }
        case .whole, .gone: return 0
        }
    }

    private mutating func change(
        of classID: ClassID, watching paths: WatchedPaths?, from before: [Int64], to after: [Int64],
        isAscending: Bool
    ) throws(EngineError) -> CollectionChange {
        let test = try test(of: classID, watching: paths, rowCount: after.count)
        if test.isEmpty {
            return before.isSame(as: after)
                ? CollectionChange() : try SequenceDifference.between(before, after) { _ in false }
        }
        if isAscending, let rows = test.rows, rows.count < after.count / 16 {
            return try SequenceDifference.betweenAscending(before, after, modified: rows.sorted())
        }
        return try SequenceDifference.between(before, after) { key throws(EngineError) in
            try test.isModified(key)
        }
    }

    // MARK: Whole classes

    /// By rank: insertions and deletions are looked up in the trees, nothing else is read.
    private mutating func changeOfWholeClass(_ classID: ClassID, watching paths: WatchedPaths?)
        throws(EngineError) -> CollectionChange
    {
        let tables = try model { () throws(ModelError) in
            (
                old: try old.table(old.schema.classHandle(id: classID)),
                new: try new.table(new.schema.classHandle(id: classID))
            )
        }
        let rows = changes.rows[classID] ?? TransactionChanges.Rows()
        var change = CollectionChange()
        change.deletions = try ranks(of: rows.erased, in: tables.old)
        change.insertions = try ranks(of: rows.inserted, in: tables.new)
        let test = try test(of: classID, watching: paths, rowCount: tables.new.rowCount)
        let modified = test.isEmpty ? IndexRanges() : try modified(of: classID, by: test)
        let stayed = modified.subtracting(rows.inserted).subtracting(rows.erased)
        change.modifications = try ranks(of: stayed, in: tables.old)
        change.modificationsNew = try ranks(of: stayed, in: tables.new)
        return change
    }

    private func modified(of classID: ClassID, by test: any RowChangeFilter) throws(EngineError)
        -> IndexRanges
    {
        if let rows = test.rows { return IndexRanges(rows.lazy.map { Int($0) }) }
        let keys = try model { () throws(ModelError) in
            try new.allKeys(of: new.schema.classHandle(id: classID))
        }
        var modified = IndexRanges()
        for key in keys where try test.isModified(key) { modified.append(Int(key)) }
        return modified
    }

    /// The ranks of rows that the table has. Consecutive keys are consecutive rows.
    private func ranks(of keys: IndexRanges, in table: TableReader) throws(EngineError)
        -> IndexRanges
    {
        var ranks = IndexRanges()
        for run in keys.runs {
            let rank = try storage { () throws(StorageError) in
                try table.rank(of: Int64(run.lowerBound))
            }
            ranks.append(rank..<rank + run.count)
        }
        return ranks
    }

    // MARK: Lists of values

    /// Sorted or cut lists of values: each element is followed by the list's edits from its old to
    /// its new index.
    private mutating func change(
        of definition: ResultsDefinition, from before: [Int], to after: [Int]
    )
        throws(EngineError) -> CollectionChange
    {
        guard case .collection(let ref) = definition.base else { return CollectionChange() }
        var list = try change(of: ref, watching: nil)
        let lists = try model { () throws(ModelError) in
            (old: try old.list(ref), new: try new.list(ref))
        }
        // An element that was set and moved is another element here, as the value decides the
        // place.
        try storage { () throws(StorageError) in
            var moves: [CollectionChange.Move] = []
            for move in list.moves
            where try lists.old.cell(at: move.from).isEqual(to: lists.new.cell(at: move.to)) {
                moves.append(move)
            }
            list.moves = moves
        }
        let names = ElementNames(list, oldCount: lists.old.count, newCount: lists.new.count)
        let modified = Set(list.modificationsNew.lazy.map { names.name(new: $0) })
        return try SequenceDifference.between(
            before.map { Int64($0) }, after.map { names.name(new: $0) }
        ) { modified.contains($0) }
    }
}

extension CollectionChange {
    /// As results report it: a move is a deletion and an insertion.
    fileprivate var withoutMoves: CollectionChange {
        var change = self
        change.moves = []
        return change
    }
}

/// Names the elements of a list over a change: one that stayed by its old index, a new one by a
/// number of its own.
private struct ElementNames {
    private var old: [Int: Int64] = [:]
    private let firstNew: Int64

    init(_ change: CollectionChange, oldCount: Int, newCount: Int) {
        firstNew = Int64(oldCount)
        let kept = (0..<oldCount).lazy.filter { !change.deletions.contains($0) }
        let properties = (0..<newCount).lazy.filter { !change.insertions.contains($0) }
        for (old, new) in zip(kept, properties) { self.old[new] = Int64(old) }
        for move in change.moves { old[move.to] = Int64(move.from) }
    }

    func name(new index: Int) -> Int64 {
        old[index] ?? firstNew + Int64(index)
    }
}
