internal import ToftQuery

// Queries on the lists and dictionaries within a value.
extension Query where T == AnyRealmValue {
    /// The value under a dictionary's key; null if the value is not a dictionary or lacks the key.
    public subscript(key: String) -> Query<AnyRealmValue> { element(.key(key)) }

    /// The value at a list's index; null if the value is not a list or is shorter.
    public subscript(index: Int) -> Query<AnyRealmValue> { element(.position(index)) }

    /// Any element of a list, or any value of a dictionary: `$0.value[.any] == 5`.
    public subscript(every: AnyRealmValueSubscript) -> Query<AnyRealmValue> { element(.every) }

    private func element(_ index: PathIndex) -> Query<AnyRealmValue> {
        guard case .path(var path) = node else { return self }
        path.elements.append(.index(index))
        return Query(.path(path))
    }
}

/// The subscript of every element of a list, and every value of a dictionary, in queries of values
/// of any type.
public enum AnyRealmValueSubscript: Sendable {
    /// Whether one of them satisfies the condition.
    case any
}
