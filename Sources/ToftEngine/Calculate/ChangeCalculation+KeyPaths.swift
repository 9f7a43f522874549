internal import ToftModel

extension ChangeCalculation {
    /// For each node of an observer's key paths, the objects in which something changed that is
    /// watched there.
    func changed(_ paths: WatchedPaths) throws(EngineError) -> [IndexRanges] {
        var changed: [IndexRanges] = []
        for node in paths.nodes {
            var found =
                try isCompared
                ? [differing(in: node)]
                : node.properties.map {
                    changes.rows(of: PropertyRef(classID: node.classID, propertyID: $0))
                }
            for link in node.inverses.values { found.append(try newlyOrNoLongerLinked(by: link)) }
            changed.append(found.count == 1 ? found[0] : IndexRanges(found.joined()))
        }
        return changed
    }

    /// Without records: the rows with another value of a watched property.
    private func differing(in node: WatchedPaths.Node) throws(EngineError) -> IndexRanges {
        var rows = IndexRanges()
        for key in changes.rows[node.classID]?.modified ?? [] {
            let differences = try differences(of: ObjectRef(classID: node.classID, key: Int64(key)))
            if !node.properties.isDisjoint(with: differences) { rows.append(key) }
        }
        return rows
    }

    /// The existing objects that are linked to now and were not, or were and are not.
    func newlyOrNoLongerLinked(by link: Link) throws(EngineError) -> IndexRanges {
        let rows = changes.rows[link.source] ?? TransactionChanges.Rows()
        let edited = isCompared ? rows.modified : changes.rows(of: link.ref)
        var changed: Set<Int64> = []
        for key in edited {
            changed.formUnion(
                try targets(of: Int64(key), link, in: old).symmetricDifference(
                    try targets(of: Int64(key), link, in: new)))
        }
        for key in rows.erased { changed.formUnion(try targets(of: Int64(key), link, in: old)) }
        for key in rows.inserted { changed.formUnion(try targets(of: Int64(key), link, in: new)) }
        let gone = changes.rows[link.target]?.erased ?? IndexRanges()
        return IndexRanges(changed.lazy.map { Int($0) }).subtracting(gone)
    }

    private func targets(of key: Int64, _ link: Link, in view: ModelView) throws(EngineError)
        -> Set<Int64>
    {
        var targets: Set<Int64> = []
        try VersionLinks(view: view).forEachTarget(of: key, through: link) { target in
            targets.insert(target)
            return true
        }
        return targets
    }

    /// The properties of an object from which the key paths to a change begin.
    mutating func properties(
        of object: ObjectRef, set: some Collection<PropertyID>, on paths: WatchedPaths
    ) throws(EngineError) -> [PropertyID] {
        let test = try pathTest(paths, rowCount: 1)
        var found: Set<PropertyID> = []
        for root in paths.roots {
            let node = paths.nodes[root]
            found.formUnion(node.properties.intersection(set))
            for (property, link) in node.inverses
            where try newlyOrNoLongerLinked(by: link).contains(Int(object.key)) {
                found.insert(property)
            }
            for step in node.steps where !found.contains(step.property) {
                if try test.leads(step, from: object.key) { found.insert(step.property) }
            }
        }
        return found.sorted()
    }
}
