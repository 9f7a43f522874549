internal import ToftModel

/// The evaluation of a query over one base: made for each run, and run by `Execution`. `explain`
/// prints that of a run whose order matters.
struct QueryPlan {
    /// The access to the first objects.
    enum Access {
        /// They are given.
        case given
        /// All objects of the class, cluster by cluster.
        case scan
        /// An index gives every object that can pass the first filter; a scan if that takes less
        /// time.
        case index(IndexPlan)
    }

    /// The kind of a run's answer.
    enum Answer {
        /// The results in their order.
        case results
        /// The results in any order.
        case unordered
        /// Only their number.
        case count
    }

    /// A filter and the operations on the objects that pass.
    struct Step {
        /// All must hold. In the order in which they are tested, the cheapest first.
        var filter: [BoundPredicate] = []
        var ordering: BoundOrdering?
    }

    let classID: ClassID
    let access: Access
    /// Whether every object that the index gives passes the first filter.
    let isDecidedByIndex: Bool
    /// The tests by which a scan skips clusters.
    let zones: [ZoneMapFilter]
    /// At least one.
    let steps: [Step]

    /// Sorts that the answer does not depend on are left out.
    init(_ query: BoundQuery, over base: QueryBase, in schema: ModelSchema, for answer: Answer) {
        classID = query.classID
        steps = Self.steps(query.stages, for: answer)
        let filter = steps[0].filter
        if case .keys = base {
            access = .given
            isDecidedByIndex = false
            zones = []
        } else {
            let index = IndexPlan.best(for: filter) { schema.property($0) }
            access = index.map(Access.index) ?? .scan
            isDecidedByIndex = filter.count == 1 && filter[0].isTest && index?.isExact == true
            zones = ZoneMapFilter.conjuncts(of: filter)
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
    private static func steps(_ stages: [BoundQuery.Stage], for answer: Answer) -> [Step] {
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
        for index in steps.indices where steps[index].filter.count > 1 {
            steps[index].filter = Binder.conjuncts(of: steps[index].filter)
        }
        for index in steps.indices { steps[index].filter = steps[index].filter.cheapestFirst }
        return steps
    }

    /// The last sort matters to the order alone, unless a limit or offset follows; which objects
    /// that leaves does not matter to their number. A filter or DISTINCT that follows may
    /// distinguish objects.
    private static func removeSorts(from steps: inout [Step], for answer: Answer) {
        guard answer != .results else { return }
        for index in steps.indices.dropLast().reversed() {
            switch steps[index].ordering {
            case .sort:
                steps[index].ordering = nil
                let next = steps.remove(at: index + 1)
                steps[index].filter += next.filter
                steps[index].ordering = next.ordering
            case .limit, .offset:
                guard answer == .count && steps[index + 1].filter.isEmpty else { return }
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

extension ModelSchema {
    /// The property, hidden or not; nil if it does not exist.
    func property(_ reference: PropertyRef) -> PropertyHandle? {
        anyClass(id: reference.classID)?.anyProperty(id: reference.propertyID)
    }
}
