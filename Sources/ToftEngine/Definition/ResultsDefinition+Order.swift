internal import ToftModel
internal import ToftQuery
internal import ToftStorage

extension ResultsDefinition {
    /// Works the results out in one version. On any thread.
    func order(in view: ModelView) throws(EngineError) -> ResultRows {
        try model { () throws(ModelError) in
            if try isGone(in: view) { return .gone }
            if let query { return try order(of: query, in: view) }
            guard isPlain else { return try valueOrder(in: view) }
            switch base {
            case .all: return .whole
            case .collection(let ref): return try collectionRows(ref, in: view)
            case .backlinks(let target, let link):
                return .keys(try view.sources(of: target, through: link), isAscending: true)
            case .objects(let keys): return .keys(keys, isAscending: false)
            case .values(let values, _): return .values(values)
            }
        }
    }

    /// A dictionary of links shows the objects, without the keys of null links.
    private func collectionRows(_ ref: CollectionRef, in view: ModelView) throws(ModelError)
        -> ResultRows
    {
        if ref.nested != nil { return try valueOrder(in: view) }
        let property = try view.property(
            ref.propertyRef)
        guard property.collection == .dictionary, property.type == .link else { return .list }
        return .keys(try view.linkedKeys(ref), isAscending: false)
    }

    private func order(of query: BoundQuery, in view: ModelView) throws(ModelError) -> ResultRows {
        .keys(try query.keys(in: view, of: try queryBase(in: view)), isAscending: isAscending)
    }

    /// Whether the objects that a query gives come in the order of their keys.
    var isAscending: Bool { query?.hasOrderings != true && base.isAscending }

    /// Whether the results are found by a filter alone, so that some of them can be found without
    /// those that follow.
    var isFiltered: Bool { query?.hasOrderings == false }

    /// The next results of a filter, in a pass over `base` that continues behind `found`: `count`
    /// in all or more, unless these are the last. Each call searches for many more than before, and
    /// for all if that is nearly all of the class: so there are few passes, whatever is read.
    func findMore(
        _ found: inout [Int64], upTo count: Int, from position: inout ScanPosition,
        in view: ModelView, of base: QueryBase
    ) throws(EngineError) {
        guard let query else { return }
        found += try model { () throws(ModelError) in
            let wanted = try wanted(count, after: found.count, of: base, in: view)
            return try query.keys(
                next: wanted == .max ? .max : wanted - found.count, from: &position, in: view,
                of: base)
        }
    }

    /// Number of results of a filter to search for, if `known` are known and `count` are needed.
    func wanted(_ count: Int, after known: Int, of base: QueryBase, in view: ModelView)
        throws(ModelError) -> Int
    {
        let wanted = known == 0 ? count : max(count, 128, 16 * known)
        let size =
            switch base {
            case .all: try view.count(try view.schema.classHandle(id: classID ?? 0))
            case .keys(let keys): keys.count
            }
        return size / 32 < wanted ? .max : wanted
    }

    /// The last result of a filter, found without the others.
    func lastKey(in view: ModelView, of base: QueryBase) throws(EngineError) -> Int64? {
        guard let query else { return nil }
        return try model { () throws(ModelError) in try query.lastKey(in: view, of: base) }
    }

    /// The first objects of a class that a sorted query gives, `count` or more unless these are
    /// all, if they are found much faster than all; otherwise nil.
    func firstKeys(_ count: Int, in view: ModelView) throws(EngineError) -> [Int64]? {
        guard case .all = base, let query else { return nil }
        return try model { () throws(ModelError) in try query.keys(first: count, in: view) }
    }

    /// Number of objects that link to one, without a list of them; nil for other results, and if it
    /// is deleted.
    func backlinkCount(in view: ModelView) throws(EngineError) -> Int? {
        guard case .backlinks(let target, let link) = base, isPlain else { return nil }
        return try model { () throws(ModelError) -> Int? in
            guard try view.exists(target) else { return nil }
            return try view.backlinkCount(to: target.key, through: try view.property(link))
        }
    }

    /// Number of results of a query, without a list of them; nil if there is no query, or its base
    /// is deleted.
    func count(in view: ModelView) throws(EngineError) -> Int? {
        guard let query else { return nil }
        return try model { () throws(ModelError) -> Int? in
            if let root, try !view.exists(root) { return nil }
            return try query.count(in: view, of: try queryBase(in: view))
        }
    }

    /// The objects that a query selects from.
    func queryBase(in view: ModelView) throws(ModelError) -> QueryBase {
        switch base {
        case .all: .all
        case .collection(let ref): .keys(try view.linkedKeys(ref))
        case .backlinks(let target, let link): .keys(try view.sources(of: target, through: link))
        case .objects(let keys): .keys(try view.existing(keys, of: classID ?? 0))
        case .values: .keys([])
        }
    }
}

extension ResultsDefinition.Base {
    /// Whether the objects come in the order of their keys.
    var isAscending: Bool {
        switch self {
        case .all, .backlinks: true
        case .collection, .objects, .values: false
        }
    }
}
