public import Foundation
public import Toft

// Names of RealmSwift that Toft does not have: the compiler says what to write instead.

/// A converter between the APIs of Swift and Objective-C.
@available(*, unavailable, message: "Objective-C is not on Linux: use the Swift types")
public enum ObjectiveCSupport {}

/// The form in which Objective-C sees a value.
@available(*, unavailable, message: "Objective-C is not on Linux: conform to CustomPersistable")
public protocol CustomObjectiveCBridgeable {}

extension RealmCollection {
    /// As programs of the first versions sort.
    @available(*, unavailable, renamed: "sorted(byKeyPath:ascending:)")
    public func sorted(_ property: String, ascending: Bool = true) -> Results<Element> {
        sorted(byKeyPath: property, ascending: ascending)
    }

    /// As programs of the first versions sort.
    @available(*, unavailable, renamed: "sorted(byKeyPath:ascending:)")
    public func sorted(byProperty property: String, ascending: Bool = true) -> Results<Element> {
        sorted(byKeyPath: property, ascending: ascending)
    }

    /// As programs of the first versions observe.
    @available(*, unavailable, renamed: "observe(_:)")
    public func addNotificationBlock(_ block: @escaping (RealmCollectionChange<Self>) -> Void)
        -> NotificationToken
    { observe(block) }

    /// As programs of the first versions find the least value.
    @available(*, unavailable, renamed: "min(ofProperty:)")
    public func min<U>(_ property: String) -> U? { nil }

    /// As programs of the first versions find the greatest value.
    @available(*, unavailable, renamed: "max(ofProperty:)")
    public func max<U>(_ property: String) -> U? { nil }

    /// As programs of the first versions add up.
    @available(*, unavailable, renamed: "sum(ofProperty:)")
    public func sum<U>(_ property: String) -> U? { nil }

    /// As programs of the first versions find the mean.
    @available(*, unavailable, renamed: "average(ofProperty:)")
    public func average<U>(_ property: String) -> U? { nil }
}

extension Map {
    /// There are no predicates in text on Linux.
    @available(
        *, unavailable,
        message:
            "Give the text to the query: filter(\"age > %@\", 3); or write where { $0.age > 3 }"
    )
    public func filter(_ predicate: NSPredicate) -> Results<Value> { filter("TRUEPREDICATE") }
}

extension ProjectedCollection {
    /// There are no predicates in text on Linux.
    @available(
        *, unavailable, message: "Give the text to the call: index(matching: \"age > %@\", 3)"
    )
    public func index(matching predicate: NSPredicate) -> Int? { nil }
}

extension List {
    /// As programs of the first versions take elements out.
    @available(*, unavailable, renamed: "remove(at:)")
    public func removeAtIndex(_ index: Int) {}

    /// As programs of the first versions exchange elements.
    @available(*, unavailable, renamed: "swapAt(_:_:)")
    public func swap(index1: Int, _ index2: Int) {}

    /// As programs of the first versions append.
    @available(*, unavailable, renamed: "append(objectsIn:)")
    public func appendContentsOf<S: Sequence>(_ objects: S) where S.Element == Element {}
}

extension Realm {
    /// As programs of the first versions add.
    @available(*, unavailable, message: "Write add(object, update: .modified)")
    public func add(_ object: Object, update: Bool) {}

    /// As programs of the first versions create.
    @available(*, unavailable, message: "Write create(type, value: value, update: .modified)")
    public func create<T: Object>(_ type: T.Type, value: Any, update: Bool) -> T { T() }

    /// As programs of the first versions find an object.
    @available(*, unavailable, renamed: "object(ofType:forPrimaryKey:)")
    public func objectForPrimaryKey<T: Object>(_ type: T.Type, key: Any) -> T? { nil }

    /// As programs of the first versions observe.
    @available(*, unavailable, renamed: "observe(_:)")
    public func addNotificationBlock(_ block: @escaping NotificationBlock) -> NotificationToken {
        observe(block)
    }

    /// As programs of the first versions compact.
    @available(*, unavailable, renamed: "writeCopy(toFile:encryptionKey:)")
    public func writeCopy(toFileURL: URL, encryptionKey: Data? = nil) {}
}

extension NotificationToken {
    /// As programs of the first versions end an observation.
    @available(*, unavailable, renamed: "invalidate()")
    public func stop() {}
}
