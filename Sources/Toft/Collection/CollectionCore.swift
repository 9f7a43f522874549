internal import ToftEngine
internal import ToftModel

/// What live collections stand on: the engine's results in a realm. Not for apps.
public final class _CollectionCore {
    let session: RealmSession
    let results: ToftEngine.Results
    /// The class of the elements, where they are objects.
    let binding: ClassBinding?

    init(_ session: RealmSession, _ results: ToftEngine.Results, _ binding: ClassBinding?) {
        self.session = session
        self.results = results
        self.binding = binding
    }

    /// Whether the realm has been invalidated since: the collection is empty then.
    var isStale: Bool { results.session !== session.engine }

    /// The same realm and class, other results.
    func with(_ results: ToftEngine.Results) -> _CollectionCore {
        _CollectionCore(session, results, binding)
    }

    func count() throws -> Int {
        if isStale { return 0 }
        try session.verify()
        return try results.count
    }

    func element<Element: RealmCollectionValue>(_ type: Element.Type, at index: Int) throws -> Element {
        try session.verify()
        guard binding != nil else { return Element._make(_EngineValue(try results.value(at: index), session)) }
        guard let object = try object(type, key: try results.key(at: index)) else {
            throw Realm.Error(.objectDeleted, "The object at index \(index) has been deleted.")
        }
        return object
    }

    /// Where an element is.
    func index<Element: RealmCollectionValue>(of element: Element) throws -> Int? {
        if isStale { return nil }
        try session.verify()
        if let object = element as? ObjectBase {
            guard let row = object.row else { return nil }
            guard row.isValid else { throw Realm.Error(.objectDeleted, "The object has been deleted or invalidated.") }
            return try results.index(of: .link(row.handle.ref))
        }
        return try results.index(of: element._give(to: _Destination(session: session, policy: .error)).value)
    }

    /// The property that an aggregate is asked of; nil stands for the values themselves ("self").
    func property(named name: String) throws -> PropertyID? {
        guard let binding else {
            guard name == "self" else { throw Realm.Error(.noSuchProperty, "Values have no property '\(name)': only 'self'.") }
            return nil
        }
        return try session.engine.classHandle(binding.classID).property(named: name).id
    }
}

typealias CollectionCore = _CollectionCore

extension _CollectionCore {
    /// What a loop goes through: the elements as they are when it begins, whatever happens meanwhile.
    enum Contents {
        case keys([Int64])
        case values([Value])
    }

    func contents() throws -> Contents {
        if isStale { return .values([]) }
        try session.verify()
        if binding != nil { return .keys(try results.keys()) }
        var values: [Value] = []
        let count = try results.count
        values.reserveCapacity(count)
        for index in 0..<count { values.append(try results.value(at: index)) }
        return .values(values)
    }

    /// The object with a key; nil when it has been deleted.
    func object<Element>(_ type: Element.Type, key: Int64) throws -> Element? {
        guard let binding, let object = try session.object(binding, key: key) else { return nil }
        // The instance is of the class that the binding was made for, which is the element's.
        return binding.model.type == type ? unsafeBitCast(object, to: type) : object as? Element
    }
}
