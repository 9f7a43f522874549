internal import ToftEngine
internal import ToftModel

/// The objects that link to an object through a property of theirs: live, read-only, computed.
///
/// ```swift
/// @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
/// ```
///
/// An object whose list links several times is in it several times. Empty for an unmanaged object.
public struct LinkingObjects<Element: ObjectBase>: RealmCollection, LinkingObjectsProtocol {
    private let given: _CollectionCore?
    private let originProperty: String?
    /// Those of a class without `@Persisted`.
    private(set) var declared: DeclaredLinks?
    /// Stands for all elements while a key path is found out.
    private var recorded: [Element] = []

    private init(_ core: _CollectionCore?, _ originProperty: String?) {
        given = core
        self.originProperty = originProperty
    }

    init(_ core: _CollectionCore) {
        self.init(core, nil)
    }

    /// The objects of a class that link here, in a class without `@Persisted`:
    /// `let owners = LinkingObjects(fromType: Person.self, property: "dogs")`.
    /// - Parameters:
    ///   - type: the class of the objects.
    ///   - propertyName: the name of their property that links here.
    public init(fromType type: Element.Type, property propertyName: String) {
        self.init(nil, propertyName)
        declared = DeclaredLinks(propertyName)
    }

    private var core: _CollectionCore? {
        guard let declared else { return given }
        return Misuse.reporting { try declared.core(of: Element.self) } ?? nil
    }

    public func _core() -> _CollectionCore? { core }

    /// The realm; nil for an unmanaged object's.
    public var realm: Realm? { core.map { Realm($0.session) } }

    /// Whether the object linked to is deleted.
    public var isInvalidated: Bool {
        core.map { !$0.isValid } ?? false
    }

    /// Number of links.
    public var count: Int {
        core.flatMap { core in Misuse.reporting { try core.count() } } ?? recorded.count
    }

    /// The object at an index; out of range is misuse, with code `.indexOutOfRange`.
    public subscript(position: Int) -> Element {
        core.flatMap { core in Misuse.reporting { try core.element(Element.self, at: position) } }
            ?? declared?.recording?.element(Element.self) ?? recorded.first ?? Element._standIn()
    }

    public func makeIterator() -> RLMIterator<Element> { RLMIterator(core) }

    /// Whether both are the same property of the same object.
    public static func == (left: LinkingObjects, right: LinkingObjects) -> Bool {
        guard let own = left.core, let other = right.core else {
            return left.given === right.given && left.declared === right.declared
                && left.originProperty == right.originProperty
        }
        return own.session === other.session && own.results.showSameLinks(as: other.results)
    }
}

/// `LinkingObjects` of any class, for generic code.
public protocol LinkingObjectsProtocol {
    /// The class of the objects.
    associatedtype Element
    /// The objects that link here through a property of theirs.
    init(fromType type: Element.Type, property propertyName: String)
}

/// `LinkingObjects` of any class. Not for apps.
public protocol _LinkingObjects: _Persistable {
    static func _unmanaged(originProperty: String) -> Self
    var _originProperty: String? { get }
}

extension LinkingObjects: _LinkingObjects {
    public static func _unmanaged(originProperty: String) -> LinkingObjects {
        LinkingObjects(nil, originProperty)
    }
    public var _originProperty: String? { originProperty }

    public static var _shape: _PropertyShape {
        _PropertyShape(.linkingObjects, target: Element.self)
    }
    @inlinable public static var _isKeptWhenManaged: Bool { true }
    public static func _initial() -> LinkingObjects { LinkingObjects(nil, nil) }

    public static func _get(_ object: ObjectBase, _ column: Int) -> LinkingObjects {
        if let recorder = object.recorder {
            var recording = _initial()
            recording.recorded = recorder.follow(object, column, toElements: Element.self)
            return recording
        }
        guard let row = object.row else { return _initial() }
        return Misuse.reporting {
            try row.session.verify()
            let results = try row.handle.linkingObjects(PropertyID(truncatingIfNeeded: column))
            return LinkingObjects(
                _CollectionCore(row.session, results, try row.session.home(of: Element.self)), nil)
        } ?? _initial()
    }

    public static func _set(_ value: LinkingObjects, _ object: ObjectBase, _ column: Int) {
        Misuse.report(
            Realm.Error(
                .readOnlyProperty,
                "Linking objects can't be set: they show what other objects link."))
    }

    public static func _converted(from any: Any?, _ conversion: _ValueConversion) throws
        -> LinkingObjects
    {
        throw Realm.Error(
            .readOnlyProperty,
            "'\(conversion.path)' can't be set: it shows what other objects link.")
    }

    public static func _promote(
        _ value: LinkingObjects, _ object: ObjectBase, _ column: Int, _ promotion: _Promotion
    ) {}
}
