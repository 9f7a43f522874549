extension Resolver {
    /// A question of a replica: the facts since an entry.
    package struct Request: Sendable {
        package var replica: ReplicaNumber
        /// The entry that the replica is at; nil for one that needs all there is.
        package var from: UInt64?
        package var view: View?
        /// Whether a fact may stand for those below it: one for each property.
        package var isCoarse = false

        package init(_ replica: ReplicaNumber, from: UInt64?, view: View? = nil) {
            self.replica = replica
            self.from = from
            self.view = view
        }
    }

    /// The facts of the entries behind `request.from`, as they are in `now`.
    ///
    /// - Parameters:
    ///   - now: The tables after entry `through`.
    ///   - before: The tables after entry `request.from`, where they are at hand: then objects that
    ///     have been in the view and still are don't come whole.
    /// - Complexity: O(paths of the entries), and O(objects) for a complete batch.
    package func batch<Now: ReadableTables>(
        _ request: Request, through: UInt64, now: Now, before: Now? = nil
    ) -> Batch {
        let now = ViewedTables(now, request.view)
        var batch = Batch(
            epoch: epoch, from: request.from ?? 0, through: through,
            answered: store.lastNumber(of: request.replica, through: through), facts: [],
            isComplete: false, safe: safe, time: store.newestTime(through: through))
        guard let from = request.from, from >= store.logStart else {
            batch.isComplete = true
            batch.schema = store.schema
            now.eachObject { object in
                guard let content = now.content(at: Path(object)) else { return }
                batch.facts.append(Fact(Path(object), content))
            }
            return batch
        }
        var paths = OrderedPaths()
        for sequence in from..<max(through, from) {
            let entry = store.entry(sequence + 1)
            if entry.changesSchema { batch.schema = store.schema }
            for path in entry.shown { paths.insert(path) }
            if entry.replica == request.replica { for path in entry.told { paths.insert(path) } }
        }
        if request.view != nil {
            let before = request.isCoarse ? nil : before.map { ViewedTables($0, request.view) }
            for object in Set(paths.all.map(\.object)) {
                if !now.contains(object) {
                    paths.insert(Path(object))
                } else if before?.contains(object) != true {
                    // It has come into view, with the links that lead to it.
                    paths.insert(Path(object))
                    for link in now.links(to: object) { paths.insert(link) }
                }
            }
        }
        batch.facts = facts(paths.all, isCoarse: request.isCoarse, now)
        return batch
    }

    private func facts(_ paths: [Path], isCoarse: Bool, _ now: some ReadableTables) -> [Fact] {
        let paths = isCoarse ? paths.map { Path($0.object, $0.steps.prefix(1)) } : paths
        // Object -> the paths in it: a fact says all of what is below.
        var told: [ObjectID: Set<[Step]>] = [:]
        var isNew: [Bool] = []
        isNew.reserveCapacity(paths.count)
        for path in paths {
            isNew.append(told[path.object, default: []].insert(path.steps).inserted)
        }
        var facts: [Fact] = []
        for (path, isNew) in zip(paths, isNew) where isNew {
            guard let others = told[path.object] else { continue }
            let isWithin =
                others.count > 1
                && path.steps.indices.contains { others.contains(Array(path.steps[..<$0])) }
            if !isWithin, let content = now.content(at: path) { facts.append(Fact(path, content)) }
        }
        return facts
    }
}
