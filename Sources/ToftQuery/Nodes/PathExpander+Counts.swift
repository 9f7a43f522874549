internal import ToftModel

extension PathExpander {
    /// Objects that a path has reached: each once for each row of the start, with its number of
    /// paths.
    struct Reached {
        private(set) var keys: [Int64] = []
        private(set) var owners: [UInt8] = []
        /// No more than the greatest integer.
        private(set) var ways: [Int64] = []
        /// The positions of the last owner's objects.
        private var places: [Int64: Int] = [:]

        /// Number of objects from which it proceeds before more are added.
        private static let capacity = 16_384

        /// Whether all objects are those of other owners than this one, and many.
        func isFull(before owner: UInt8) -> Bool {
            keys.count >= Self.capacity && owners.last != owner
        }

        /// Adds `more` paths from `owner` to an object. Owners come in order.
        mutating func add(_ key: Int64, _ owner: UInt8, _ more: Int64) {
            if owners.last != owner { places.removeAll(keepingCapacity: true) }
            let place = places[key] ?? keys.count
            if place < keys.count {
                ways[place] = ways[place].addingClamped(more)
                return
            }
            places[key] = place
            keys.append(key)
            owners.append(owner)
            ways.append(more)
        }
    }

    /// Calls `body` with batches of the objects that the wanted rows of `start` lead to, each once
    /// for each row, and with the number of ways to each. Elements of lists of values do not count.
    ///
    /// Proceeds level by level, so that an object is followed once all paths to it are known: the
    /// time is that of the links between the objects on each level. If there are many objects,
    /// those of the first rows proceed alone.
    func forEachCounted(
        from start: RowBatch, base: RowBatch, wanted: Selection,
        _ body: (RowBatch, ArraySlice<Int64>) throws(ModelError) -> Void
    ) throws(ModelError) {
        guard let first = levels.first else { return }
        var reached = Reached()
        try follow(first, start, wanted) { row, key throws(ModelError) in
            let owner = UInt8(truncatingIfNeeded: row)
            if reached.isFull(before: owner) {
                try walkOn(from: reached, 1, base, body)
                reached = Reached()
            }
            reached.add(key, owner, 1)
        }
        try walkOn(from: reached, 1, base, body)
    }

    /// Continues from the objects that the first `depth` steps have reached.
    private func walkOn(
        from reached: Reached, _ depth: Int, _ base: RowBatch,
        _ body: (RowBatch, ArraySlice<Int64>) throws(ModelError) -> Void
    ) throws(ModelError) {
        var (reached, depth) = (reached, depth)
        while depth < levels.count {
            var next = Reached()
            try forEachBatch(of: reached, depth, base) { batch, ways throws(ModelError) in
                try follow(levels[depth], batch, batch.rows) { row, key throws(ModelError) in
                    let owner = batch.owners[row]
                    if next.isFull(before: owner) {
                        try walkOn(from: next, depth + 1, base, body)
                        next = Reached()
                    }
                    next.add(key, owner, ways[ways.startIndex + row])
                }
            }
            (reached, depth) = (next, depth + 1)
        }
        try forEachBatch(of: reached, depth, base, body)
    }

    /// The objects in batches of the level that has led to them.
    private func forEachBatch(
        of reached: Reached, _ depth: Int, _ base: RowBatch,
        _ body: (RowBatch, ArraySlice<Int64>) throws(ModelError) -> Void
    ) throws(ModelError) {
        let batch = levels[depth - 1].batch
        var start = 0
        while start < reached.keys.count {
            try checkInterruption()
            let end = min(start + Selection.capacity, reached.keys.count)
            batch.clear()
            batch.base = base
            for index in start..<end {
                batch.append(reached.keys[index], owner: Int(reached.owners[index]))
            }
            try body(batch, reached.ways[start..<end])
            start = end
        }
    }
}

extension Int64 {
    /// The sum of two non-negative numbers; the greatest integer if it is more.
    func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
