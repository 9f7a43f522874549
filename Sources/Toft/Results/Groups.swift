internal import ToftEngine

/// What the objects of a group are asked for: of a property, or of a key path over links to one
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

/// Objects that have the same values at key paths, and what was asked of them. Toft has it beyond
/// Realm.
public struct ResultGroup {
    /// The value at each of the key paths that were given.
    public let keys: [AnyRealmValue]
    /// How many objects there are.
    public let count: Int
    /// What was asked, in that order; `.none` where there is no value.
    public let values: [AnyRealmValue]
}

extension GroupValue {
    /// As the engine has it.
    var engine: (aggregate: Aggregate, path: String) {
        switch self {
        case .min(let path): (.minimum, path)
        case .max(let path): (.maximum, path)
        case .sum(let path): (.sum, path)
        case .average(let path): (.average, path)
        }
    }
}
