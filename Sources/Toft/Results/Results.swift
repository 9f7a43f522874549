internal import ToftEngine

/// Live results of a class or a query: always the realm's present state, evaluated only when used,
/// never copied.
///
/// Inside a write transaction they show its changes at once; a `for` loop yields the elements as
/// they were when it began. Spelled as in Realm.
public struct Results<Element: RealmCollectionValue>: RealmCollection {
    @usableFromInline let core: _CollectionCore?

    init(_ core: _CollectionCore?) {
        self.core = core
    }

    public func _core() -> _CollectionCore? { core }

    /// The realm; nil only after misuse.
    public var realm: Realm? { core.map { Realm($0.session) } }

    /// Whether the source of the results is invalid: the list's object deleted, or the realm
    /// invalidated.
    public var isInvalidated: Bool {
        core.map { !$0.isValid } ?? true
    }

    /// Number of elements.
    public var count: Int { core.flatMap { core in Misuse.reporting { try core.count() } } ?? 0 }

    /// True if there is no element. An unevaluated query searches for the first result alone.
    public var isEmpty: Bool {
        core.flatMap { core in Misuse.reporting { try core.isEmpty() } } ?? true
    }

    /// The last element; nil if the collection is empty. An unevaluated filter is searched from its
    /// end.
    public var last: Element? {
        core.flatMap { core in Misuse.reporting { try core.last(Element.self) } ?? nil }
    }

    /// The element at an index; out of range is misuse, with code `.indexOutOfRange`.
    @inlinable public subscript(position: Int) -> Element {
        if let object = core?.object(at: position) {
            return unsafeBitCast(object, to: Element.self)
        }
        return element(at: position)
    }

    @usableFromInline func element(at position: Int) -> Element {
        core.flatMap { core in Misuse.reporting { try core.element(Element.self, at: position) } }
            ?? Element._standIn()
    }

    public func makeIterator() -> RLMIterator<Element> { RLMIterator(core) }

    /// The conditions and orderings of the objects, as the text of one query with the values of its
    /// arguments: `people.filter("age > %@", 30).query` is "age > 30". `filter` with it finds the
    /// same results again. It is empty for results of values.
    public var query: String {
        guard let core else { return "" }
        return (try? core.results.query()) ?? ""
    }

    /// The plan for evaluating the results, a line for each step: "look up index..." if an index
    /// applies, "scan..." if all objects are read. For people: the words may change.
    public func explain() -> String {
        core.flatMap { core in
            Misuse.reporting {
                try core.session.verify()
                return try core.results.explain()
            }
        } ?? ""
    }

    /// Whether both are the same results: made by one call, or copies.
    public static func == (left: Results, right: Results) -> Bool { left.core === right.core }
}
