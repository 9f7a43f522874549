internal import ToftModel
internal import ToftStorage

/// How a query answers one question over one base. All decisions about a run are made here and in
/// `IndexPlan`; `Execution` carries them out, and `explain` prints the plan of its run.
struct QueryPlan {
    /// How the first objects are found.
    enum Access {
        /// They are given.
        case given
        /// All objects of the class, cluster by cluster.
        case scan
        /// An index gives every object that can pass the first filter; a scan if that takes less
        /// time. `decides`: all that it gives do pass, so none of them is read for the filter.
        case index(IndexPlan, decides: Bool)
    }

    /// A filter and the operations on the objects that pass.
    struct Step {
        /// All must hold. In the order in which they are tested, the cheapest first.
        var filter: [BoundPredicate] = []
        var ordering: BoundOrdering?
    }

    let classID: ClassID
    let answer: QueryAnswer
    let access: Access
    /// At least one.
    let steps: [Step]

    /// Sorts that the answer does not depend on are left out. The first results of a query that
    /// ends in a SORT are those of a LIMIT behind it.
    init(_ query: BoundQuery, over base: QueryBase, in schema: ModelSchema, for answer: QueryAnswer)
    {
        classID = query.classID
        self.answer = answer
        guard case .all = base else {
            access = .given
            steps = Self.steps(query.stages, for: answer)
            return
        }
        // One comparison that an index decides is the most frequent query of programs.
        if query.stages.count == 1, case .filter(let predicate) = query.stages[0],
            let index = IndexPlan.deciding(predicate, in: schema)
        {
            access = .index(index, decides: true)
            steps = [Step(filter: [predicate])]
            return
        }
        steps = Self.steps(query.stages, for: answer)
        let filter = steps[0].filter
        if let index = IndexPlan.best(for: filter, handle: { schema.property($0) }) {
            let decides = filter.count == 1 && filter[0].isTest && index.isExact
            access = .index(index, decides: decides)
        } else {
            access = .scan
        }
    }

    /// The tests by which a scan skips clusters.
    var zones: [ZoneMapFilter] { ZoneMapFilter.conjuncts(of: steps[0].filter) }

    /// True if the first results of a query are found in one pass that sorts few: a SORT ends it,
    /// whose first key is a property of the objects themselves, and no costly test precedes it.
    /// Otherwise all are found about as fast.
    static func findsFirstOfSorted(_ query: BoundQuery) -> Bool {
        guard case .ordering(.sort(let keys))? = query.stages.last,
            keys.first?.steps.isEmpty == true
        else { return false }
        return query.stages.allSatisfy {
            if case .filter(let predicate) = $0 { predicate.cost <= 10 } else { true }
        }
    }

    /// True if objects that an index or a list gives are read although no filter is left: to sort
    /// them or to make them distinct.
    var readsKeys: Bool {
        steps.contains {
            switch $0.ordering {
            case .sort, .distinct: true
            case .limit, .offset, nil: false
            }
        }
    }

    /// Number of objects that the steps from `index` on read, by the LIMIT and OFFSET at their
    /// beginning; nil if they may read all.
    func needed(from index: Int) -> Int? {
        var needed = 0
        for step in steps.dropFirst(index) where needed >= 0 {
            guard step.filter.isEmpty else { return nil }
            switch step.ordering {
            case .offset(let count)?: needed &+= count
            case .limit(let count)?:
                needed &+= count
                return needed < 0 ? nil : needed
            default: return nil
            }
        }
        return nil
    }

    /// Filters move before sorts, which they do not disturb.
    private static func steps(_ stages: [BoundQuery.Stage], for answer: QueryAnswer) -> [Step] {
        var steps = [Step()]
        for stage in stages {
            switch stage {
            case .filter(let predicate): add(predicate, to: &steps)
            case .ordering(let ordering):
                steps[steps.count - 1].ordering = ordering
                steps.append(Step())
            }
        }
        removeSorts(from: &steps, for: answer)
        if case .firstKeys(let count) = answer, steps.count > 1,
            case .sort? = steps[steps.count - 2].ordering
        {
            steps[steps.count - 1].ordering = .limit(count)
            steps.append(Step())
        }
        for index in steps.indices where steps[index].filter.count > 1 {
            steps[index].filter = Binder.conjuncts(of: steps[index].filter)
        }
        for index in steps.indices { steps[index].filter = steps[index].filter.cheapestFirst }
        return steps
    }

    /// The last sort matters to the order alone, unless a limit or offset follows; which objects
    /// that leaves does not matter to their number. A filter or DISTINCT that follows may
    /// distinguish objects.
    private static func removeSorts(from steps: inout [Step], for answer: QueryAnswer) {
        let isNumber = answer == .count || answer == .exists
        guard isNumber || answer == .unordered else { return }
        for index in steps.indices.dropLast().reversed() {
            switch steps[index].ordering {
            case .sort:
                steps[index].ordering = nil
                let next = steps.remove(at: index + 1)
                steps[index].filter += next.filter
                steps[index].ordering = next.ordering
            case .limit, .offset:
                guard isNumber && steps[index + 1].filter.isEmpty else { return }
            case .distinct, nil: return
            }
        }
    }

    private static func add(_ predicate: BoundPredicate, to steps: inout [Step]) {
        if case .constant(true) = predicate { return }
        var index = steps.count - 1
        while index > 0, case .sort? = steps[index - 1].ordering { index -= 1 }
        steps[index].filter.append(predicate)
    }
}

/// The beginning of a run: the objects that the first step gets, and the steps that are left.
struct RunBeginning {
    let plan: QueryPlan
    let rows: QueryBase
    let steps: [QueryPlan.Step]
    /// Whether an index gave the objects.
    let isIndexed: Bool

    /// The results, if the index has decided and nothing is left to be done.
    var results: [Int64]? {
        guard isIndexed, steps.count == 1, steps[0].filter.isEmpty, case .keys(let keys) = rows
        else { return nil }
        return keys
    }
}

extension QueryPlan {
    /// Asks the index, if the plan has one, for the objects that the first step gets: all of the
    /// base if it would give so many that a scan takes less time.
    func begin(over base: QueryBase, in view: ModelView) throws(ModelError) -> RunBeginning {
        guard case .index(let index, let decides) = access,
            let owner = view.schema.anyClass(id: classID),
            let found = try index.candidates(in: view, of: try view.table(owner).rowCount)
        else { return RunBeginning(plan: self, rows: base, steps: steps, isIndexed: false) }
        var steps = steps
        if decides { steps[0].filter = [] }
        return RunBeginning(plan: self, rows: .keys(found), steps: steps, isIndexed: true)
    }
}

extension ModelSchema {
    /// The property, hidden or not; nil if it does not exist.
    func property(_ reference: PropertyRef) -> PropertyHandle? {
        anyClass(id: reference.classID)?.anyProperty(id: reference.propertyID)
    }
}
