internal import ToftStorage

/// Classes that become embedded: each object must have one owner.
extension SchemaBuilder {
    /// Throws unless each object of these classes has exactly one owner and is within an object
    /// that is not embedded. Two links of one list are two owners; links of sets and of mixed
    /// values own nothing, and must not exist. O(objects).
    mutating func checkOwners(_ embedded: [ClassID]) throws(ModelError) {
        let view = ModelView(writing.view, schema: ModelSchema(schema))
        var problems: [SchemaProblem] = []
        for id in schema.embeddedClasses(in: embedded) {
            guard let owner = view.schema.anyClass(id: id) else { continue }
            let isNew = embedded.contains(id)
            // An embedded object within one that becomes embedded has its owner.
            guard isNew || view.schema.mayNestTooDeep[owner.position] else { continue }
            var found = OwnerProblems()
            let table = try view.table(owner)
            var rank = 0
            while rank < table.rowCount {
                try stored { () throws(StorageError) in try CurrentCall.checkInterruption() }
                let (cluster, first) = try stored { () throws(StorageError) in
                    try table.cluster(atRank: rank)
                }
                for row in first..<cluster.count {
                    try found.check(cluster.keys[row], owner, in: view)
                }
                rank += cluster.count - first
                if isNew { tell(cluster.count - first) }
            }
            if let text = found.text {
                problems.append(SchemaProblem(className: owner.name, text: text))
            }
        }
        if !problems.isEmpty { throw .schemaMismatch(problems) }
    }
}

/// The reasons why objects of a class can't be embedded: a count and one example of each kind.
private struct OwnerProblems {
    private var counts = [0, 0, 0, 0]
    private var examples = ["", "", "", ""]

    /// Checks one object. O(its links), and its depth if classes nest in a cycle.
    mutating func check(_ key: Int64, _ owner: ClassHandle, in view: ModelView)
        throws(ModelError)
    {
        var owners = 0, places: [String] = [], other: String?
        for property in owner.incoming {
            try view.forEachBacklink(to: key, of: owner.id, through: property) { source, links in
                let place = "'\(property.className).\(property.name)' of object \(source)"
                if property.ownsTargets, property.collection != .set {
                    owners += links
                    if places.count < 2 {
                        places += repeatElement(place, count: min(links, 2))
                    }
                } else if other == nil {
                    other = place
                }
                return true
            }
        }
        if let other { add(2, "object \(key) in \(other)") }
        if owners > 1 { return add(1, "object \(key) in \(places[0]) and \(places[1])") }
        if owners == 0 { return add(0, "object \(key)") }
        if try view.isNestedTooDeep(key, owner) { add(3, "object \(key)") }
    }

    private mutating func add(_ kind: Int, _ example: @autoclosure () -> String) {
        counts[kind] += 1
        if counts[kind] == 1 { examples[kind] = example() }
    }

    /// Nil without a problem.
    var text: String? {
        let kinds = [
            "without an owner", "with several owners", "linked to by mixed values or sets",
            "in a circle of them, or with \(Limits.nestedEmbeddedObjects) or more around it",
        ]
        let found = kinds.indices.filter { counts[$0] > 0 }
        guard !found.isEmpty else { return nil }
        let list = found.map { "\(counts[$0]) \(kinds[$0]) (\(examples[$0]))" }
        let help =
            found.contains { $0 > 1 } ? "" : ", or open the file with automatic backlink handling"
        return "has objects that can't be embedded: " + list.joined(separator: ", ")
            + ". Give each one owner in the migration\(help)"
    }
}

extension StoredSchema {
    /// Some embedded classes, and those whose objects are within theirs, at any depth.
    func embeddedClasses(in classes: [ClassID]) -> [ClassID] {
        var found = classes, next = 0
        while next < found.count {
            let owner = storedClass(id: found[next])
            next += 1
            for property in owner?.properties ?? [] where property.type == .link {
                guard let id = property.targetClassID, !found.contains(id),
                    storedClass(id: id)?.isEmbedded == true
                else { continue }
                found.append(id)
            }
        }
        return found
    }
}
