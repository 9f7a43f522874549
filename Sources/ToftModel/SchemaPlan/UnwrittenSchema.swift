internal import ToftStorage

/// The view of a file that can't be written with a declared schema: parts that the file lacks are
/// visible without objects and values, and not added to the file.
///
/// 1. A class that the file lacks has no objects; a property that it lacks has the value in each
///    object that it would have without a default: 0, empty, or null. An index is done without.
/// 2. The ids are those that would come next in the file. If a writer adds the same to the file,
///    the session uses that from then on; if the ids become those of something else, the session
///    keeps its version: see `requireStillThere`.
/// 3. The trees have numbers that no file reaches. Each snapshot gets them.
struct UnwrittenSchema {
    /// The schema as it is seen.
    let stored: StoredSchema
    /// The additions for a snapshot of the file: see `Snapshot.show`.
    let trees: UnwrittenTrees
    /// Whether nothing is missing.
    let isComplete: Bool

    private static let firstTree: UInt64 = 1 << 60

    /// Compares a file's schema with a declared one. The file's version stays.
    ///
    /// - Throws: `schemaMismatch` if the file differs from the declaration.
    init(_ found: StoredSchema, for declared: Schema, version: UInt64) throws(ModelError) {
        let plan = try found.plan(for: declared, version: version)
        try plan.requireNoConversion()
        var seen = plan.target, trees = UnwrittenTrees()
        func tree() -> TreeID {
            TreeID(Self.firstTree + UInt64(trees.columns.count + trees.ordered.count))
        }
        for index in seen.classes.indices {
            seen.classes[index].uniques.removeAll { $0.tree == 0 }
        }
        for change in plan.changes {
            switch change {
            case .createTable(let id):
                guard let index = seen.classIndex(id: id) else { continue }
                let columns = seen.classes[index].properties.flatMap(\.columns)
                seen.classes[index].table = tree()
                trees.columns.append((seen.classes[index].table, columns))
                guard seen.classes[index].primaryKeyID != nil else { continue }
                let keys = tree()
                seen.classes[index].primaryKeyTree = keys
                trees.ordered.append(keys)
            case .addColumn(let id, let property):
                guard let owner = seen.storedClass(id: id) else { continue }
                trees.columns.append((owner.table, owner.property(id: property)?.columns ?? []))
            case .createBacklinks(let id, let property):
                guard let index = seen.classIndex(id: id),
                    let position = seen.classes[index].propertyIndex(id: property)
                else { continue }
                let backlinks = tree()
                seen.classes[index].properties[position].backlinkTree = backlinks
                trees.ordered.append(backlinks)
            default: break
            }
        }
        seen.version = found.version
        stored = seen
        self.trees = trees
        isComplete = plan.isEmpty
    }
}

extension SchemaPlan {
    /// Throws if something in the file would have to change.
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
