internal import ToftModel
internal import ToftStorage

/// Whether a path over several collections leads from each row to a value that passes a test, which
/// does not depend on the row.
///
/// An object is followed once for each step, whichever rows lead to it, and the result is kept for
/// the next batches: the time is that of the links, not that of the paths. The results are two bits
/// for each step and object.
final class FarTestNode: PredicateNode {
    private let start: OuterRows
    private let expander: PathExpander
    private let predicate: PredicateNode
    private let quantifier: Quantifier
    /// By step: the objects that were led to, and those of them from which the rest of the path
    /// leads to one that fulfils the predicate.
    private var known: [KeySet]
    private var leading: [KeySet]

    /// - Parameters:
    ///   - expander: with more than one step, to objects.
    ///   - predicate: whether the objects at its end have a value that passes or, for ALL, one that
    ///     fails.
    init(
        _ start: OuterRows, _ expander: PathExpander, _ predicate: PredicateNode,
        _ quantifier: Quantifier
    ) {
        self.start = start
        self.expander = expander
        self.predicate = predicate
        self.quantifier = quantifier
        known = [KeySet](repeating: KeySet(), count: expander.levels.count)
        leading = known
    }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Selection {
        let rows = start.batch(for: batch)
        try learn(from: rows, wanted)
        var found = Selection.empty
        try expander.follow(expander.levels[0], rows, wanted) { row, key throws(ModelError) in
            if leading[0].contains(key) { found.insert(row) }
        }
        return quantifier == .any ? found : ~found
    }

    /// Finds out about the objects that the rows are the first to lead to.
    private func learn(from rows: RowBatch, _ wanted: Selection) throws(ModelError) {
        let levels = expander.levels, last = levels.count - 1
        var fresh = [[Int64]](repeating: [], count: levels.count)
        try expander.follow(levels[0], rows, wanted) { _, key throws(ModelError) in
            if known[0].insert(key) { fresh[0].append(key) }
        }
        for depth in 0..<last {
            try forEachBatch(of: fresh[depth], depth) { batch throws(ModelError) in
                try expander.follow(levels[depth + 1], batch, batch.rows) {
                    _, key throws(ModelError) in
                    if known[depth + 1].insert(key) { fresh[depth + 1].append(key) }
                }
            }
        }
        try forEachBatch(of: fresh[last], last) { batch throws(ModelError) in
            var rows = (try predicate.evaluate(batch, wanted: batch.rows) & batch.rows).rows
            while let row = rows.next() { _ = leading[last].insert(batch.keys[row]) }
        }
        for depth in (0..<last).reversed() where !leading[depth + 1].isEmpty {
            try forEachBatch(of: fresh[depth], depth) { batch throws(ModelError) in
                try expander.follow(levels[depth + 1], batch, batch.rows) {
                    row, key throws(ModelError) in
                    if leading[depth + 1].contains(key) {
                        _ = leading[depth].insert(batch.keys[row])
                    }
                }
            }
        }
    }

    /// Calls `body` with objects of a step, batch by batch.
    private func forEachBatch(
        of keys: [Int64], _ depth: Int, _ body: (RowBatch) throws(ModelError) -> Void
    ) throws(ModelError) {
        let batch = expander.levels[depth].batch
        var start = 0
        while start < keys.count {
            try expander.checkInterruption()
            batch.clear()
            let end = min(start + Selection.capacity, keys.count)
            for index in start..<end { batch.append(keys[index], owner: index - start) }
            try body(batch)
            start = end
        }
    }
}
