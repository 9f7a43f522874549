/// Estimated costs, roughly in nanoseconds for a row: of two conditions the cheaper one is tested
/// first.
extension BoundPredicate {
    /// The predicate with the parts of every AND and OR in the order of their costs. Parts of equal
    /// cost keep their order.
    var cheapestFirst: BoundPredicate {
        switch self {
        case .not(let inner): .not(inner.cheapestFirst)
        case .and(let parts): .and(parts.cheapestFirst)
        case .or(let parts): .or(parts.cheapestFirst)
        case .constant, .test, .wholeList, .wholeSet, .pair: self
        }
    }

    var cost: Double {
        switch self {
        case .constant: 0
        case .not(let inner): inner.cost
        case .and(let parts), .or(let parts): parts.reduce(0) { $0 + $1.cost }
        case .test(let value, _, _):
            value.multiplePath == nil ? value.cost + 1 : 100 + value.elementCost
        case .wholeList(let value, _): value.multiplePath == nil ? 0 : 150
        case .wholeSet(let value, let tests):
            value.multiplePath == nil ? 0 : 150 + 5 * Double(tests.count)
        case .pair(let left, _, _, let right, _, _):
            switch (left.multiplePath, right.multiplePath) {
            case (nil, nil): left.cost + right.cost + 5
            case (_?, nil), (nil, _?): 150
            case (_?, _?): 5_000
            }
        }
    }
}

extension [BoundPredicate] {
    /// The parts, each with its own parts in order, cheapest first.
    var cheapestFirst: [BoundPredicate] {
        let costs = map(\.cost)
        let order = indices.sorted { (costs[$0], $0) < (costs[$1], $1) }
        return order.map { self[$0].cheapestFirst }
    }
}

extension BoundExpression {
    /// Of one value for a row.
    var cost: Double {
        switch self {
        case .constant: 1
        case .arithmetic(let arithmetic): arithmetic.cost
        case .path(let path):
            if case .subquery = path.leaf {
                path.leaf.cost
            } else {
                path.leaf.cost + 30 * Double(path.steps.count) + (path.scope == 0 ? 0 : 20)
            }
        }
    }

    /// Of one value for each row that the collection of the expression leads to.
    fileprivate var elementCost: Double {
        switch self {
        case .path(let path) where path.isMultiple: path.leaf.cost
        case .arithmetic(let arithmetic) where arithmetic.multiplePath != nil:
            arithmetic.left.elementCost + arithmetic.right.elementCost + 3
        default: cost + 2
        }
    }
}

extension PathLeaf {
    fileprivate var cost: Double {
        switch self {
        case .property(_, let type):
            ValueLayout(type) == .mixed ? 12 : ValueLayout(type) == .text ? 5 : 1
        case .nested: 20
        case .typeName(let leaf), .mixedSize(let leaf): leaf.cost + 5
        case .object, .elements, .keys, .element: 1
        case .entry: 20
        case .lengths: 2
        case .size: 6
        case .count(let collection): collection.countCost
        case .aggregate(_, let collection, let property, _):
            property.flatMap { collection.step(to: $0.classID) } == nil && !collection.isList
                ? 1 : 100
        case .subquery(let subquery): 100 + subquery.predicate.cost
        }
    }
}

extension BoundCollection {
    fileprivate var countCost: Double {
        switch self {
        case .list: 10
        case .link: 1
        case .backlinks: 300
        case .allBacklinks(let origins): 300 * Double(origins.count)
        }
    }

    fileprivate var isList: Bool { if case .list = self { true } else { false } }
}
