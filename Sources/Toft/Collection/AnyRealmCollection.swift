internal import ToftEngine

/// A collection whose kind is hidden: `List`, `Results`, `MutableSet` or `LinkingObjects` of the
/// same elements, behind one type.
///
/// ```swift
/// var dogs: AnyRealmCollection<Dog> = AnyRealmCollection(person.dogs)
/// dogs = AnyRealmCollection(realm.objects(Dog.self))
/// ```
///
/// It is as live as its collection, and has all operations that the kinds share.
public struct AnyRealmCollection<Element: RealmCollectionValue>: RealmCollection {
    private let box: CollectionBox<Element>

    /// Hides the kind of a collection.
    public init<Base: RealmCollection>(_ base: Base) where Base.Element == Element {
        box = (base as? AnyRealmCollection<Element>)?.box ?? TypedBox(base)
    }

    public func _core() throws -> _CollectionCore? { try box.core() }

    /// The realm; nil for an unmanaged list or set.
    public var realm: Realm? { box.realm }

    /// True if its object was deleted, or the realm invalidated.
    public var isInvalidated: Bool { box.isInvalidated }

    /// Number of elements.
    public var count: Int { box.count }

    /// True if it has no element.
    public var isEmpty: Bool { box.isEmpty }

    /// The element at an index; out of range is misuse, with code `.indexOutOfRange`.
    public subscript(position: Int) -> Element { box.element(at: position) }

    public func makeIterator() -> RLMIterator<Element> { box.makeIterator() }

    /// Whether both hide equal collections of one kind.
    public static func == (left: AnyRealmCollection, right: AnyRealmCollection) -> Bool {
        left.box.isEqual(right.box)
    }

    public func _carry() throws -> _Carrier { try box.carry() }
}

extension AnyRealmCollection: ObservedList {
    var observedHandle: CollectionHandle? { box.observedHandle }
}

extension AnyRealmCollection: ErasedCollection {
    var isOfAdoptable: Bool { box.isOfAdoptable }
}

/// Properties of the underlying collection, whose kind is hidden.
protocol ErasedCollection {
    /// Whether that is a list or a set, which may be unmanaged.
    var isOfAdoptable: Bool { get }
}

/// The collection behind an `AnyRealmCollection`.
private class CollectionBox<Element: RealmCollectionValue> {
    var realm: Realm? { nil }
    var isInvalidated: Bool { false }
    var count: Int { 0 }
    var isEmpty: Bool { true }
    var observedHandle: CollectionHandle? { nil }
    var isOfAdoptable: Bool { false }
    func core() throws -> _CollectionCore? { nil }
    func element(at position: Int) -> Element { Element._standIn() }
    func makeIterator() -> RLMIterator<Element> { RLMIterator([]) }
    func isEqual(_ other: CollectionBox) -> Bool { self === other }
    func carry() throws -> _Carrier { throw _Carrier.unmanaged("collection") }
}

private final class TypedBox<Base: RealmCollection>: CollectionBox<Base.Element> {
    let base: Base

    init(_ base: Base) { self.base = base }

    override var realm: Realm? { base.realm }
    override var isInvalidated: Bool { base.isInvalidated }
    override var count: Int { base.count }
    override var isEmpty: Bool { base.isEmpty }
    override var observedHandle: CollectionHandle? {
        (base as? any ObservedList)?.observedHandle
    }
    override var isOfAdoptable: Bool { base is any AdoptableCollection }
    override func core() throws -> _CollectionCore? { try base._core() }
    override func element(at position: Int) -> Base.Element { base[position] }
    override func makeIterator() -> RLMIterator<Base.Element> { base.makeIterator() }
    override func isEqual(_ other: CollectionBox<Base.Element>) -> Bool {
        (other as? TypedBox<Base>).map { $0.base == base } ?? false
    }
    override func carry() throws -> _Carrier {
        try base._carry().mapped { ($0 as? Base).map { AnyRealmCollection($0) } }
    }
}
