public import Toft

// Names of RealmSwift that Toft does not have: the compiler says what to write instead.

/// An object that a view follows.
@available(
    *, unavailable,
    message: "SwiftUI is not on Linux: observe what the view shows, and give it values"
)
@propertyWrapper
public struct ObservedRealmObject<ObjectType> {
    /// Not there.
    public init(wrappedValue: ObjectType) { self.wrappedValue = wrappedValue }
    /// Not there.
    public var wrappedValue: ObjectType
}

/// An object that a view has.
@available(
    *, unavailable,
    message: "SwiftUI is not on Linux: observe what the view shows, and give it values"
)
@propertyWrapper
public struct StateRealmObject<ObjectType> {
    /// Not there.
    public init(wrappedValue: ObjectType) { self.wrappedValue = wrappedValue }
    /// Not there.
    public var wrappedValue: ObjectType
}

/// Results that a view follows.
@available(
    *, unavailable,
    message: "SwiftUI is not on Linux: observe what the view shows, and give it values"
)
@propertyWrapper
public struct ObservedResults<ResultType> {
    /// Not there.
    public init(wrappedValue: ResultType) { self.wrappedValue = wrappedValue }
    /// Not there.
    public var wrappedValue: ResultType
}

/// Sections that a view follows.
@available(
    *, unavailable,
    message: "SwiftUI is not on Linux: observe what the view shows, and give it values"
)
@propertyWrapper
public struct ObservedSectionedResults<ResultType> {
    /// Not there.
    public init(wrappedValue: ResultType) { self.wrappedValue = wrappedValue }
    /// Not there.
    public var wrappedValue: ResultType
}

/// The opening of a synchronised realm in a view.
@available(
    *, unavailable,
    message: "SwiftUI is not on Linux: observe what the view shows, and give it values"
)
@propertyWrapper
public struct AsyncOpen<State> {
    /// Not there.
    public init(wrappedValue: State) { self.wrappedValue = wrappedValue }
    /// Not there.
    public var wrappedValue: State
}

/// The opening of a synchronised realm in a view.
@available(
    *, unavailable,
    message: "SwiftUI is not on Linux: observe what the view shows, and give it values"
)
@propertyWrapper
public struct AutoOpen<State> {
    /// Not there.
    public init(wrappedValue: State) { self.wrappedValue = wrappedValue }
    /// Not there.
    public var wrappedValue: State
}

/// The state of an opening in a view.
@available(
    *, unavailable,
    message: "SwiftUI is not on Linux: observe what the view shows, and give it values"
)
public enum AsyncOpenState {}

/// The collections that views bind to.
@available(
    *, unavailable,
    message: "SwiftUI is not on Linux: observe what the view shows, and give it values"
)
public protocol BoundCollection {}

/// The maps that views bind to.
@available(
    *, unavailable,
    message: "SwiftUI is not on Linux: observe what the view shows, and give it values"
)
public protocol BoundMap {}

/// An object that a publisher of Combine follows.
@available(
    *, unavailable,
    message: "Combine is not on Linux: observe, or go through the values of changes with for await"
)
public protocol RealmSubscribable {}

/// The publishers of Combine.
@available(
    *, unavailable,
    message: "Combine is not on Linux: observe, or go through the values of changes with for await"
)
public enum RealmPublishers {}

extension RealmCollection {
    /// A publisher of Combine.
    @available(
        *, unavailable,
        message:
            "Combine is not on Linux: observe, or go through the values of changes with for await"
    )
    public var collectionPublisher: Any? { nil }

    /// A publisher of Combine.
    @available(
        *, unavailable,
        message:
            "Combine is not on Linux: observe, or go through the values of changes with for await"
    )
    public var changesetPublisher: Any? { nil }

    /// A publisher of Combine.
    @available(
        *, unavailable,
        message:
            "Combine is not on Linux: observe, or go through the values of changes with for await"
    )
    public func collectionPublisher(keyPaths: [String]?) -> Any? { nil }

    /// A publisher of Combine.
    @available(
        *, unavailable,
        message:
            "Combine is not on Linux: observe, or go through the values of changes with for await"
    )
    public func changesetPublisher(keyPaths: [String]?) -> Any? { nil }

    /// A publisher of Combine.
    @available(
        *, unavailable,
        message:
            "Combine is not on Linux: observe, or go through the values of changes with for await"
    )
    public var objectWillChange: Any? { nil }
}

extension Map {
    /// A publisher of Combine.
    @available(
        *, unavailable,
        message:
            "Combine is not on Linux: observe, or go through the values of changes with for await"
    )
    public var collectionPublisher: Any? { nil }

    /// A publisher of Combine.
    @available(
        *, unavailable,
        message:
            "Combine is not on Linux: observe, or go through the values of changes with for await"
    )
    public var changesetPublisher: Any? { nil }

    /// A publisher of Combine.
    @available(
        *, unavailable,
        message:
            "Combine is not on Linux: observe, or go through the values of changes with for await"
    )
    public var objectWillChange: Any? { nil }
}

extension ObjectBase {
    /// A publisher of Combine.
    @available(
        *, unavailable,
        message:
            "Combine is not on Linux: observe, or go through the values of changes with for await"
    )
    public var objectWillChange: Any? { nil }
}

extension Realm {
    /// A publisher of Combine.
    @available(
        *, unavailable,
        message:
            "Combine is not on Linux: observe, or go through the values of changes with for await"
    )
    public var objectWillChange: Any? { nil }
}

/// A publisher of Combine for the values of an object.
@available(
    *, unavailable,
    message: "Combine is not on Linux: observe, or go through the values of changes with for await"
)
public func valuePublisher<T>(_ object: T, keyPaths: [String]? = nil) -> Any? { nil }

/// A publisher of Combine for the changes of an object.
@available(
    *, unavailable,
    message: "Combine is not on Linux: observe, or go through the values of changes with for await"
)
public func changePublisher<T>(_ object: T, keyPaths: [String]? = nil) -> Any? { nil }
