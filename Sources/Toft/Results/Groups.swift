internal import ToftEngine

/// An aggregate of the objects of a group: of a property, or of a key path over links to one
/// object. Nil and NaN do not count.
public enum GroupValue: Hashable, Sendable {
    /// The least value.
    case min(String)
    /// The greatest value.
    case max(String)
    /// The sum; 0 when there is no value.
    case sum(String)
    /// The mean.
    case average(String)
}

/// Objects with equal values at key paths, and their aggregates. Toft has it beyond Realm.
public struct ResultGroup {
    /// The value at each of the key paths that were given.
    public let keys: [AnyRealmValue]
    /// Number of objects.
    public let count: Int
    /// The requested values, in that order; `.none` for a missing one.
    public let values: [AnyRealmValue]
}

extension GroupValue {
    /// The aggregate in the engine's form.
    var engine: (aggregate: Aggregate, path: String) {
        switch self {
        case .min(let path): (.minimum, path)
        case .max(let path): (.maximum, path)
        case .sum(let path): (.sum, path)
        case .average(let path): (.average, path)
        }
    }
}
