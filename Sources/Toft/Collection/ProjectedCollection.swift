public import Dispatch

/// One property of each object of a collection, as live as that: the result of `projectTo`.
///
/// ```swift
/// class ListProjection: Projection<PersistedList> {
///     @Projected(\PersistedList.people.projectTo.firstName)
///     var names: ProjectedCollection<String>
/// }
/// ```
public struct ProjectedCollection<Element: RealmCollectionValue>: RandomAccessCollection,
    CustomStringConvertible, ThreadConfined
{
    public typealias Index = Int

    private let box: ProjectedBox<Element>

    fileprivate init(_ box: ProjectedBox<Element>) { self.box = box }

    public var startIndex: Int { 0 }
    public var endIndex: Int { box.count }
    public var count: Int { box.count }

    /// The value of the object at an index; out of range is misuse, with code `.indexOutOfRange`.
    public subscript(position: Int) -> Element { box.element(at: position) }

    public func makeIterator() -> AnyIterator<Element> { box.makeIterator() }

    /// The index of the first object that has a value.
    public func index(of value: Element) -> Int? { firstIndex(of: value) }

    /// The index of the first object that matches a query in text.
    public func index(matching predicateFormat: String, _ arguments: Any...) -> Int? {
        box.index(matching: predicateFormat, arguments)
    }

    /// The realm; nil for an unmanaged collection.
    public var realm: Realm? { box.realm }
    /// Whether the collection of objects is invalid.
    public var isInvalidated: Bool { box.isInvalidated }

    /// A line for each of the first values.
    public var description: String { ObjectDescription.text(of: self) }

    /// Calls the block with the collection as it first is, then after every commit of any process
    /// that changed which objects it has, or the projected property of one: as
    /// `RealmCollection.observe`.
    /// - Parameters:
    ///   - keyPaths: of the objects, if others than the projected property count.
    ///   - queue: a serial queue; nil: this thread's run loop.
    ///   - block: called with the collection and what changed.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<ProjectedCollection>) -> Void
    ) -> NotificationToken {
        box.observe(keyPaths, on: queue, block)
    }

    public func _carry() throws -> _Carrier { try box.carry() }
}

/// A collection of values whose text is that of a list.
protocol DescribedValues: Collection {
    /// Its identity in a log.
    var described: AnyObject { get }
}

extension ProjectedCollection: DescribedValues {
    var described: AnyObject { box }
}

/// The result of `projectTo`: a property of the collection's objects has to follow.
@dynamicMemberLookup
public struct CollectionElementMapper<Object: ObjectBase> {
    fileprivate let collection: AnyRealmCollection<Object>

    /// The property of each object.
    public subscript<Value: RealmCollectionValue>(dynamicMember keyPath: KeyPath<Object, Value>)
        -> ProjectedCollection<Value>
    {
        // This is also read while key paths are being determined.
        if collection.realm == nil, let object = collection.first, object.recorder != nil {
            _ = object[keyPath: keyPath]
        }
        return ProjectedCollection(TypedProjectedBox(collection, keyPath))
    }
}

extension RealmCollection where Element: ObjectBase {
    /// One property of each object, for a key path of `@Projected`:
    /// `\Person.friends.projectTo.firstName`.
    public var projectTo: CollectionElementMapper<Element> {
        CollectionElementMapper(collection: AnyRealmCollection(self))
    }
}

/// The collection of objects behind a `ProjectedCollection`.
private class ProjectedBox<Element: RealmCollectionValue> {
    var realm: Realm? { nil }
    var isInvalidated: Bool { false }
    var count: Int { 0 }
    func element(at position: Int) -> Element { Element._standIn() }
    func makeIterator() -> AnyIterator<Element> { AnyIterator { nil } }
    func index(matching predicateFormat: String, _ arguments: [Any]) -> Int? { nil }
    func carry() throws -> _Carrier { throw _Carrier.unmanaged("collection") }
    func observe(
        _ keyPaths: [String]?, on queue: DispatchQueue?,
        _ block: @escaping (RealmCollectionChange<ProjectedCollection<Element>>) -> Void
    ) -> NotificationToken { NotificationToken() }
}

private final class TypedProjectedBox<Object: ObjectBase, Element: RealmCollectionValue>:
    ProjectedBox<Element>
{
    let objects: AnyRealmCollection<Object>
    let keyPath: KeyPath<Object, Element>

    init(_ objects: AnyRealmCollection<Object>, _ keyPath: KeyPath<Object, Element>) {
        self.objects = objects
        self.keyPath = keyPath
    }

    override var realm: Realm? { objects.realm }
    override var isInvalidated: Bool { objects.isInvalidated }
    override var count: Int { objects.count }
    override func element(at position: Int) -> Element { objects[position][keyPath: keyPath] }

    override func makeIterator() -> AnyIterator<Element> {
        var iterator = objects.makeIterator()
        let keyPath = keyPath
        // An object that was deleted meanwhile has no value to project.
        return AnyIterator {
            while let object = iterator.next() {
                if !object.isInvalidated { return object[keyPath: keyPath] }
            }
            return nil
        }
    }

    override func index(matching predicateFormat: String, _ arguments: [Any]) -> Int? {
        objects.index(matching: predicateFormat, all: arguments)
    }

    override func carry() throws -> _Carrier {
        let path = SharedPath(keyPath: keyPath)
        return try objects._carry().mapped { found in
            (found as? AnyRealmCollection<Object>).map {
                ProjectedCollection(TypedProjectedBox($0, path.keyPath))
            }
        }
    }

    override func observe(
        _ keyPaths: [String]?, on queue: DispatchQueue?,
        _ block: @escaping (RealmCollectionChange<ProjectedCollection<Element>>) -> Void
    ) -> NotificationToken {
        let keyPath = keyPath
        let names = keyPaths ?? [KeyPathNames.name(of: keyPath)]
        return objects.observe(keyPaths: names, on: queue) { change in
            func projected(_ objects: AnyRealmCollection<Object>) -> ProjectedCollection<Element> {
                ProjectedCollection(TypedProjectedBox(objects, keyPath))
            }
            switch change {
            case .initial(let objects): block(.initial(projected(objects)))
            case .update(let objects, let deletions, let insertions, let modifications):
                block(
                    .update(
                        projected(objects), deletions: deletions, insertions: insertions,
                        modifications: modifications))
            case .error(let error): block(.error(error))
            }
        }
    }

    /// `@unchecked Sendable`: key paths are immutable.
    private struct SharedPath: @unchecked Sendable {
        let keyPath: KeyPath<Object, Element>
    }
}
