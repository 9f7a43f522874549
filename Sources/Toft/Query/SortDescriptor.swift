/// One criterion of a sort: a key path and a direction.
public struct SortDescriptor: Hashable, Sendable {
    /// A property's name, or a path over to-one links ("owner.name").
    public let keyPath: String
    public let ascending: Bool

    public init(keyPath: String, ascending: Bool = true) {
        self.keyPath = keyPath
        self.ascending = ascending
    }

    /// A criterion whose key path the compiler checks: `SortDescriptor(keyPath: \Dog.age)`.
    public init<Model: ObjectBase>(keyPath: PartialKeyPath<Model>, ascending: Bool = true) {
        self.init(keyPath: KeyPathNames.name(of: keyPath), ascending: ascending)
    }

    /// The descriptor for the other direction.
    public func reversed() -> SortDescriptor {
        SortDescriptor(keyPath: keyPath, ascending: !ascending)
    }
}

extension SortDescriptor: CustomStringConvertible {
    public var description: String {
        "SortDescriptor(keyPath: \(keyPath), direction: \(ascending ? "ascending" : "descending"))"
    }
}

extension SortDescriptor: ExpressibleByStringLiteral {
    /// Ascending by a key path.
    public init(stringLiteral value: String) {
        self.init(keyPath: value)
    }
}
