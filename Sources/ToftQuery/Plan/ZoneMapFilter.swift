internal import ToftModel
internal import ToftStorage

/// A range that a column of the queried objects must be in, compared with the least and the
/// greatest value that a cluster has of it.
enum ZoneMapFilter {
    case integers(column: UInt32, Int64, Int64)
    case numbers(column: UInt32, Double, Double)

    /// The tests that follow from a conjunction of predicates.
    static func conjuncts(of filter: [BoundPredicate]) -> [ZoneMapFilter] {
        filter.flatMap { predicate -> [ZoneMapFilter] in
            switch predicate {
            case .and(let parts): conjuncts(of: parts)
            case .test(.path(let path), let test, let quantifier) where quantifier != .none:
                path.directProperty.map { Self.tests($0, test) } ?? []
            default: []
            }
        }
    }

    private static func tests(_ property: PropertyRef, _ test: ColumnPredicate) -> [ZoneMapFilter] {
        switch test {
        case .int(let low, let high, isInverted: false):
            [.integers(column: property.propertyID, low, high)]
        case .members(.integers(let values)):
            if let low = values.first, let high = values.last {
                [.integers(column: property.propertyID, low, high)]
            } else {
                []
            }
        case .double(let low, let high, isInverted: false, passesNaN: false):
            [.numbers(column: property.propertyID, low, high)]
        case .date(let low, let high, isInverted: false):
            [.integers(column: property.propertyID, low.seconds, high.seconds)]
        case .all(let parts): parts.flatMap { tests(property, $0) }
        default: []
        }
    }

    /// Whether no row of a cluster can pass.
    func excludes(_ cluster: ClusterView) -> Bool {
        switch self {
        case .integers(let column, let low, let high): cluster.excludes(column, low, high)
        case .numbers(let column, let low, let high): cluster.excludes(column, low, high)
        }
    }
}
