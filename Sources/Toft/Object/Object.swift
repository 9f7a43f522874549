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
/// `realm.add(person)` makes it managed and live: it shows and changes its values in the database,
/// and belongs to its realm's thread. Differs from Realm: it is not an `NSObject` (there is no
/// key-value observing on Linux), and only `@Persisted` properties are stored.
open class Object: ObjectBase, RealmFetchable {
    public required init() { super.init() }

    public static var _fetched: Object.Type { self }

    /// The name of the primary key, for classes that don't say `@Persisted(primaryKey: true)`.
    open class func primaryKey() -> String? { nil }
}

/// The types for `Realm.objects`: the classes of objects, and the projections of such.
public protocol RealmFetchable: RealmCollectionValue {
    /// The class of the results. Not for apps.
    static var _fetched: Object.Type { get }
}

/// `Object`, for code that has another type of this name.
public typealias RealmSwiftObject = Object
/// `EmbeddedObject`, for code that has another type of this name.
public typealias RealmSwiftEmbeddedObject = EmbeddedObject
