internal import Dispatch
internal import Synchronization
internal import ToftModel
internal import ToftPlatform

/// Some properties of an object, under names of their own: a view of it for one screen.
///
/// ```swift
/// class PersonProjection: Projection<Person> {
///     @Projected(\Person.firstName) var name
///     @Projected(\Person.lastName.localizedUppercase) var lastNameCaps
///     @Projected(\Person.address?.city) var city
///     @Projected(\Person.friends.projectTo.firstName) var friends: ProjectedCollection<String>
/// }
///
/// let people = realm.objects(PersonProjection.self)
/// let one = PersonProjection(projecting: person)
/// ```
///
/// As live as the object. A property whose key path can be written is set through it, in a write
/// transaction. Observers are notified of projected properties alone. Spelled as in Realm.
open class Projection<Root: ObjectBase>: ProjectionObservable {
    public typealias PersistedType = Root

    /// The object.
    public let rootObject: Root

    /// A projection of an object, managed or not.
    public required init(projecting object: Root) { rootObject = object }

    /// The realm that manages the object; nil for an unmanaged one.
    public var realm: Realm? { rootObject.realm }
    /// Whether the object has been deleted or its realm invalidated.
    public var isInvalidated: Bool { rootObject.isInvalidated }

    public func _carry() throws -> _Carrier {
        let make = { @Sendable (root: Root) in Self(projecting: root) }
        return try rootObject._carry().mapped { ($0 as? Root).map(make) }
    }

    /// Each projected property with its value.
    public var description: String { ObjectDescription.text(of: self) }

    /// Whether both are projections of one class and of equal objects.
    public static func == (left: Projection, right: Projection) -> Bool {
        type(of: left) == type(of: right) && left.rootObject == right.rootObject
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(rootObject) }
}

extension Projection: RealmFetchable where Root: Object {
    public static var _fetched: Object.Type { Root.self }
}

/// Every class of projections.
public protocol ProjectionObservable: AnyObject, ThreadConfined, RealmCollectionValue,
    CustomStringConvertible, KeypathSortable
{
    /// The class of the objects.
    associatedtype Root: ObjectBase
    /// The object.
    var rootObject: Root { get }
    /// A projection of an object, managed or not.
    init(projecting object: Root)
}

extension ProjectionObservable {
    public static var _shape: _PropertyShape { _PropertyShape(.link) }

    public static func _make(_ value: _EngineValue) -> Self {
        Self(projecting: Root._make(value))
    }

    public func _give(to destination: _Destination) throws -> _EngineValue {
        try rootObject._give(to: destination)
    }

    public static func _standIn() -> Self { Self(projecting: Root()) }

    public static func _convertedElement(from any: Any?, _ conversion: _ValueConversion) throws
        -> Self
    {
        Self(projecting: try Root._convertedElement(from: any, conversion))
    }

    var erasedRoot: ObjectBase { rootObject }
}

/// Marks a property of a `Projection` with the key path from the object to its value.
@propertyWrapper
public struct Projected<Root: ObjectBase, Value>: AnyProjected {
    private let keyPath: KeyPath<Root, Value>

    /// The value at a key path. It can be set if the key path is writable: not so beyond `?`, and
    /// for computed values, as `\Person.name.count`.
    public init(_ projectedKeyPath: KeyPath<Root, Value>) { keyPath = projectedKeyPath }

    /// Only for the compiler: the value of a property is reached through its projection.
    @available(
        *, unavailable, message: "@Projected can only be used for properties of Projection"
    )
    public var wrappedValue: Value {
        get { Root()[keyPath: keyPath] }
        set {}
    }

    /// The value of the property of `projection`.
    public static subscript<Owner: Projection<Root>>(
        _enclosingInstance projection: Owner,
        wrapped wrappedKeyPath: ReferenceWritableKeyPath<Owner, Value>,
        storage storageKeyPath: ReferenceWritableKeyPath<Owner, Self>
    ) -> Value {
        get { projection.rootObject[keyPath: projection[keyPath: storageKeyPath].keyPath] }
        set {
            let path = projection[keyPath: storageKeyPath].keyPath
            if let path = path as? ReferenceWritableKeyPath<Root, Value> {
                return projection.rootObject[keyPath: path] = newValue
            }
            Misuse.report(
                Realm.Error(
                    .invalidArgument,
                    "\(path) can't be set through a projection. Set the property of its object."))
        }
    }

    var isLive: Bool { isLink || Value.self is any ThreadConfined.Type }
    var isLink: Bool {
        let shape = (Value.self as? any _Persistable.Type)?._shape
        return shape?.type == .link && shape?.collection == CollectionKind.none
    }
    func name() -> String { KeyPathNames.name(of: keyPath) }
    func value(of root: ObjectBase) -> Any? { (root as? Root).map { $0[keyPath: keyPath] } }
}

/// The parts of any `Projected` that reflection needs.
private protocol AnyProjected {
    /// Whether the value is an object or a collection, which continues to change.
    var isLive: Bool { get }
    /// Whether the value is an object.
    var isLink: Bool { get }
    /// The key path's name in the class of the object.
    func name() -> String
    func value(of root: ObjectBase) -> Any?
}

/// A projected property. `@unchecked Sendable`: key paths are immutable.
struct ProjectedPath: @unchecked Sendable {
    /// The name in the projection.
    let label: String
    /// Its name in the object: "address.city".
    let name: String
    private let projected: any AnyProjected

    /// The property of the object at which the path begins.
    var property: Substring { name.prefix { $0 != "." } }
    /// Whether only that property can change the value.
    var isDirect: Bool { property.count == name.count }
    /// Whether the value is an object or a collection, which continues to change.
    var isLive: Bool { projected.isLive }
    /// Whether the value is the object that a link of the object leads to.
    var isLink: Bool { isDirect && projected.isLink }
    func value(of root: ObjectBase) -> Any? { projected.value(of: root) }

    private static let known = Mutex<[ObjectIdentifier: [ProjectedPath]]>([:])
    private static let told = ProcessWide<Set<ObjectIdentifier>> { [] }

    /// The properties of a class of projections, in the order of their declaration.
    fileprivate static func all<Found: ProjectionObservable>(of type: Found.Type)
        -> [ProjectedPath]
    {
        if let found = known.withLock({ $0[ObjectIdentifier(type)] }) { return found }
        var paths: [ProjectedPath] = []
        var mirror: Mirror? = Mirror(reflecting: type.init(projecting: Found.Root()))
        while let current = mirror {
            let own = current.children.compactMap { child -> ProjectedPath? in
                guard let label = child.label, let projected = child.value as? any AnyProjected
                else { return nil }
                return ProjectedPath(
                    label: String(label.dropFirst()), name: projected.name(), projected: projected)
            }
            paths = own + paths
            mirror = current.superclassMirror
        }
        known.withLock { [paths] in $0[ObjectIdentifier(type)] = paths }
        return paths
    }
}

extension ProjectedPath {
    /// Tells the log, once, of the variables of a class of projections that projects nothing.
    fileprivate static func tellOfVariables<Found: ProjectionObservable>(of type: Found.Type) {
        guard Diagnostics.isTold(.warn), all(of: type).isEmpty,
            told.withLock({ $0.insert(ObjectIdentifier(type)).inserted })
        else { return }
        let made = Found(projecting: Found.Root())
        let names = Mirror(reflecting: made).children.compactMap(\.label)
        guard !names.isEmpty else { return }
        Diagnostics.tell(
            .warn,
            "The projection '\(type)' projects nothing, its variables are its own: "
                + "\(names.joined(separator: ", ")). Mark what it is to show with @Projected.")
    }
}

extension ProjectionObservable {
    static func tellOfVariables() { ProjectedPath.tellOfVariables(of: self) }

    /// The projected properties, those of base classes first.
    static var paths: [ProjectedPath] { ProjectedPath.all(of: self) }

    /// The paths with some names; nil: all.
    static func paths(_ labels: [String]?) throws -> [ProjectedPath] {
        guard let labels else { return paths }
        return try labels.map { label in
            guard let path = paths.first(where: { $0.label == label }) else {
                throw Realm.Error(
                    .noSuchProperty, "The projection '\(self)' has no property '\(label)'.")
            }
            return path
        }
    }

    /// The names of projected properties in the object.
    static func names(_ labels: [String]?) throws -> [String] { try paths(labels).map(\.name) }
}
