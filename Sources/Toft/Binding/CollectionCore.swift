internal import ToftEngine
internal import ToftModel

/// The core of live collections: the engine's results in a realm. Not for apps.
public final class _CollectionCore {
    let session: RealmSession
    let results: ToftEngine.Results
    /// The context of the elements, if they are objects.
    let home: ObjectContext?
    /// For all objects of a class: the element that was read last, and its index. Used with every
    /// element.
    @exclusivity(unchecked) private var last: (view: RowCursor, index: Int)?

    init(_ session: RealmSession, _ results: ToftEngine.Results, _ home: ObjectContext?) {
        self.session = session
        self.results = results
        self.home = home
    }

    /// Whether the source of the collection exists. Any thread may ask.
    var isValid: Bool {
        guard session.isHere else { return results.isValidElsewhere }
        return !isStale && ((try? results.isValid) ?? false)
    }

    /// Whether the realm has been invalidated since: the collection is empty then.
    var isStale: Bool { results.session !== session.engine }

    /// A core with the same realm and class, and other results.
    func with(_ results: ToftEngine.Results) -> _CollectionCore {
        _CollectionCore(session, results, home)
    }

    /// Throws unless the elements may be read here and now.
    func verifyReading() throws {
        try session.verify()
        session.reads?.note(results)
    }

    func count() throws -> Int {
        if isStale { return 0 }
        try verifyReading()
        return try results.count
    }

    func isEmpty() throws -> Bool {
        if isStale { return true }
        try verifyReading()
        return try results.isEmpty
    }

    func element<Element: RealmCollectionValue>(_ type: Element.Type, at index: Int) throws
        -> Element
    {
        try verifyReading()
        guard let home else {
            return Element._make(_EngineValue(try results.value(at: index), session))
        }
        let key = try results.key(at: index)
        guard let object = try home.object(key) else {
            throw Realm.Error(.objectDeleted, "The object at index \(index) has been deleted.")
        }
        if results.isWhole, !session.isFrozen { last = (object.view, index) }
        return object.asElement(type)
    }

    func last<Element: RealmCollectionValue>(_ type: Element.Type) throws -> Element? {
        if isStale { return nil }
        try verifyReading()
        if let home, let key = try results.partialLastKey() {
            return try home.object(key)?.asElement(type)
        }
        let count = try results.count
        return count == 0 ? nil : try element(type, at: count - 1)
    }

    /// The object at an index, if that is known without asking the results: all objects of a class
    /// follow each other in its clusters.
    @usableFromInline func object(at index: Int) -> ObjectBase? {
        guard let last, let home, let (key, view) = last.view.row(index &- last.index) else {
            return nil
        }
        return home.makeObject(key, view)
    }

    /// The index of an element.
    func index<Element: RealmCollectionValue>(of element: Element) throws -> Int? {
        if isStale { return nil }
        try verifyReading()
        let root = (element as? any ProjectionObservable)?.erasedRoot
        if let object = root ?? element as? ObjectBase {
            guard let row = object.row else { return nil }
            guard try row.isValid else {
                throw Realm.Error(.objectDeleted, "The object has been deleted or invalidated.")
            }
            return try results.index(of: .link(row.handle.ref))
        }
        if let mixed = element as? AnyRealmValue {
            return try mixed.known.flatMap { try results.index(of: $0) }
        }
        // A value that is kept as an object equals one that is made of it.
        if Element._isEmbedded {
            return try values().firstIndex { Element._make(_EngineValue($0, session)) == element }
        }
        // Of objects that are optional, nil.
        if home != nil { return nil }
        return try results.index(
            of: element._give(to: _Destination(session: session, policy: .error)).value)
    }
}

typealias CollectionCore = _CollectionCore

extension _CollectionCore {
    /// The values of a loop: those at its beginning, whatever happens meanwhile.
    func values() throws -> [Value] {
        if isStale { return [] }
        try verifyReading()
        if let classID = results.classID {
            return try results.keys().map { .link(ObjectRef(classID: classID, key: $0)) }
        }
        return try results.values()
    }

    /// A walk through the objects; nil for an empty or invalid collection, and for values.
    func walk() throws -> ObjectIterator? {
        guard let home, !isStale else { return nil }
        try verifyReading()
        return ObjectIterator(try results.walk(), in: home)
    }
}

extension ObjectBase {
    /// The object as an element of the collection that it came from: contexts are made for the
    /// class of the elements.
    @inline(__always)
    final func asElement<Element>(_ type: Element.Type) -> Element { unsafeBitCast(self, to: type) }
}
