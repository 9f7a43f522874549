internal import ToftQuery

// What can be asked of the lists and dictionaries within a value.
extension Query where T == AnyRealmValue {
    /// What a dictionary has under a key; null where the value is none or has no such key.
    public subscript(key: String) -> Query<AnyRealmValue> { element(.key(key)) }

    /// What a list has at an index; null where the value is none or is shorter.
    public subscript(index: Int) -> Query<AnyRealmValue> { element(.position(index)) }

    private func element(_ index: PathIndex) -> Query<AnyRealmValue> {
        guard case .path(var path) = node else { return self }
        path.elements.append(.index(index))
        return Query(.path(path))
    }
}
