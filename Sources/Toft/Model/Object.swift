internal import ToftEngine
internal import ToftModel

/// The base class of an app's models: a subclass with `@Persisted` properties is a class of the
/// database.
///
/// ```swift
/// class Person: Object {
///     @Persisted(primaryKey: true) var id: Int
///     @Persisted var name: String
///     @Persisted var dogs: List<Dog>
/// }
/// ```
///
/// Created with `Person()` it is unmanaged, an ordinary object that any thread may use;
/// `realm.add(person)` makes it managed and live: it shows and changes what the database holds, and
/// belongs to its realm's thread. Differs from Realm: it is no `NSObject` (there is no key-value
/// observing on Linux), and only `@Persisted` properties are kept.
open class Object: ObjectBase, CustomStringConvertible {
    public required init() { super.init() }

    /// Makes an unmanaged object of a dictionary of values, an array with one for each property, or
    /// another object.
    public convenience init(value: Any) {
        self.init()
        Misuse.reporting { try UnmanagedBuilder().assign(value, to: self) }
    }

    // MARK: Customization

    /// The name of the primary key, for classes that don't say `@Persisted(primaryKey: true)`.
    open class func primaryKey() -> String? { nil }
    /// The names of indexed properties, for classes that don't say `@Persisted(indexed: true)`.
    open class func indexedProperties() -> [String] { [] }
    /// Kept for source compatibility: what is not `@Persisted` is ignored anyway.
    open class func ignoredProperties() -> [String] { [] }
    /// Names that properties have in the file where they differ from those in Swift.
    open class func propertiesMapping() -> [String: String] { [:] }
    /// Whether the class belongs to realms whose configuration names no classes.
    open class func shouldIncludeInDefaultSchema() -> Bool { true }
    /// The class's name in the database, where it is not its name in Swift.
    open class func _realmObjectName() -> String? { nil }

    /// The class's name in the database.
    public static func className() -> String { ModelClass.name(of: self) }

    // MARK: State

    /// The realm that manages the object; nil for an unmanaged one.
    public var realm: Realm? { row.map { Realm($0.session) } }

    /// The class and its persisted properties.
    public var objectSchema: ObjectSchema { ObjectSchema(ModelClass.of(type(of: self))) }

    /// Whether the object has been deleted or its realm invalidated; its properties can't be read
    /// then. Never for an unmanaged object. Safe on any thread and at any time.
    open var isInvalidated: Bool {
        guard let row else { return false }
        return !row.isValid
    }

    /// Every property with its value, linked objects down to a few levels.
    open var description: String { ObjectDescription.text(of: self) }

    // MARK: Identity

    /// Whether both stand for the same object of the same realm; for an unmanaged one, whether both
    /// are one instance.
    public func isSameObject(as object: Object?) -> Bool {
        guard let object else { return false }
        guard let row, let other = object.row else { return self === object }
        return row.isSame(as: other)
    }

    // MARK: Properties by name

    /// The value of the property with this name.
    open subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }
}
