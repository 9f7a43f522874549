internal import ToftStorage

/// How a file that can't be written is seen with a declared schema: what it lacks is there without
/// objects and values, and nothing of that is in the file.
///
/// 1. A class that the file lacks has no objects; a property that it lacks has the value in each
///    object that it would have without a default: 0, empty, or null. An index is done without.
/// 2. Its ids lie apart, so that no file has them. Where somebody who may write adds to the file
///    what was missing, the session stays where it is: see `requireStillThere`.
/// 3. Its trees lie apart, too. Each snapshot is told of them: see `Snapshot.show`.
enum UnwrittenSchema {
    /// The first id of a class or a property that the file lacks.
    static let firstID: UInt32 = 1 << 30
    /// The first id of a tree.
    static let firstTree = TreeID(1 << 60)
}

extension StoredSchema {
    /// The schema as it is seen with a declared one. The file's version stays.
    ///
    /// - Throws: `schemaMismatch` where something is otherwise in the file than declared.
    func unwritten(for declared: Schema, version: UInt64) throws(ModelError) -> StoredSchema {
        var apart = self
        apart.nextClassID = UnwrittenSchema.firstID
        for index in apart.classes.indices {
            apart.classes[index].nextPropertyID = UnwrittenSchema.firstID
        }
        let plan = try apart.plan(for: declared, version: version)
        if plan.isEmpty { return self }
        try plan.requireNoConversion()
        var seen = plan.target
        seen.version = self.version
        seen.giveTrees(plan)
        return seen
    }

    /// Whether it has what the file lacks.
    var isUnwritten: Bool {
        classes.contains {
            $0.id >= UnwrittenSchema.firstID
                || ($0.properties.last?.id ?? 0) >= UnwrittenSchema.firstID
        }
    }

    private mutating func giveTrees(_ plan: SchemaPlan) {
        var next = UnwrittenSchema.firstTree
        func tree() -> TreeID {
            defer { next = TreeID(next.rawValue + 1) }
            return next
        }
        for index in classes.indices {
            classes[index].uniques.removeAll { $0.tree == 0 }
            guard classes[index].table == 0 else { continue }
            classes[index].table = tree()
            if classes[index].primaryKeyID != nil { classes[index].primaryKeyTree = tree() }
        }
        for case .createBacklinks(let id, let property) in plan.changes {
            guard let index = classIndex(id: id),
                let position = classes[index].propertyIndex(id: property)
            else { continue }
            classes[index].properties[position].backlinkTree = tree()
        }
    }

    /// What a snapshot of the file is to be told of.
    var unwrittenTrees: UnwrittenTrees {
        var trees = UnwrittenTrees()
        guard isUnwritten else { return trees }
        for owner in classes {
            let isMissing = owner.id >= UnwrittenSchema.firstID
            let missing = owner.properties.filter {
                isMissing || $0.id >= UnwrittenSchema.firstID
            }
            let columns = missing.flatMap(\.columns)
            if isMissing || !columns.isEmpty { trees.columns.append((owner.table, columns)) }
            if isMissing, let tree = owner.primaryKeyTree { trees.ordered.append(tree) }
            trees.ordered += missing.compactMap(\.backlinkTree)
        }
        return trees
    }
}

extension SchemaPlan {
    /// Throws where something in the file would have to become otherwise.
    fileprivate func requireNoConversion() throws(ModelError) {
        var problems: [SchemaProblem] = []
        for change in changes {
            switch change {
            case .makeOptional(let id, let property):
                let owner = target.storedClass(id: id)
                problems.append(
                    SchemaProblem(
                        className: owner?.name ?? "#\(id)",
                        property: owner?.property(id: property)?.name ?? "#\(property)",
                        text: "is not optional in the file, which is read-only. Open the file once "
                            + "for writing with this schema, or declare the property as required"))
            case .makeEmbedded(let id), .makeTopLevel(let id):
                let owner = target.storedClass(id: id)
                problems.append(
                    SchemaProblem(
                        className: owner?.name ?? "#\(id)",
                        text: "is \(owner?.isEmbedded == true ? "not " : "")embedded in the file, "
                            + "which is read-only. Open the file once for writing with this schema"
                    ))
            default: break
            }
        }
        if !problems.isEmpty { throw .schemaMismatch(problems) }
    }
}
