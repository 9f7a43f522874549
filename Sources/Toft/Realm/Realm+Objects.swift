internal import ToftEngine
internal import ToftModel

extension Realm {
    /// The behaviour of adding or creating an object whose primary key exists.
    public enum UpdatePolicy: Int, Sendable {
        /// It is misuse, with code `.duplicatePrimaryKey`.
        case error = 1
        /// Sets the properties whose values differ.
        case modified = 3
        /// Sets all given properties; observers see each as modified.
        case all = 2

        var engine: ToftModel.UpdatePolicy {
            switch self {
            case .error: .error
            case .modified: .modified
            case .all: .all
            }
        }
    }

    // MARK: Adding

    /// Makes an unmanaged object, and those that it links to, managed ones of this realm. The
    /// instance itself becomes live; one that is already of this realm is left as it is. Needs a
    /// write transaction.
    public func add(_ object: Object, update: UpdatePolicy = .error) {
        Misuse.reporting {
            try session.verify()
            if update != .error, ModelClass.of(type(of: object)).primaryKey == nil {
                throw Self.noPrimaryKey(of: type(of: object))
            }
            try session.add(object, update)
        }
    }

    /// Adds several objects.
    public func add<Objects: Sequence>(_ objects: Objects, update: UpdatePolicy = .error)
    where Objects.Element: Object {
        for object in objects { add(object, update: update) }
    }

    /// Creates a managed object of a dictionary of values, of an array with one for each property,
    /// or as a copy of an object. Nested dictionaries and arrays become linked objects; nested
    /// objects of this realm are linked to, those that are unmanaged or of another realm are
    /// copied, and so are their targets. With `update`, values that are not given stay as they are.
    /// Needs a write transaction.
    @discardableResult
    public func create<Model: Object>(
        _ type: Model.Type, value: Any = [String: Any](), update: UpdatePolicy = .error
    ) -> Model {
        Misuse.reporting { () -> Model in
            try session.verify()
            if update != .error, ModelClass.of(type).primaryKey == nil {
                throw Self.noPrimaryKey(of: type)
            }
            return try ManagedBuilder(session: session, policy: update, copies: ObjectCopies())
                .create(type, of: value)
        } ?? type._standIn()
    }

    static func noPrimaryKey(
        of type: ObjectBase.Type, _ consequence: String = "an object of it can't be updated"
    ) -> Realm.Error {
        noPrimaryKey(className: ModelClass.name(of: type), consequence)
    }

    static func noPrimaryKey(
        className: String, _ consequence: String = "an object of it can't be updated"
    ) -> Realm.Error {
        Realm.Error(
            .missingPrimaryKey, "'\(className)' has no primary key, so \(consequence).")
    }

    // MARK: Finding

    /// All objects of a class: live, and evaluated only when used.
    public func objects<Element: Object>(_ type: Element.Type) -> Results<Element> {
        Misuse.reporting {
            try session.verify()
            let home = try session.home(of: type)
            return Results(
                CollectionCore(session, try session.engine.results(of: home.binding.classID), home))
        } ?? Results(nil)
    }

    /// Projections of all objects of a class.
    public func objects<Element: ProjectionObservable>(_ type: Element.Type) -> Results<Element>
    where Element.Root: Object {
        Element.tellOfVariables()
        return Results(
            objects(Element.Root.self)._core().map { _CollectionCore(session, $0.results, nil) })
    }

    /// All of a type that is one of these, for generic code.
    @_disfavoredOverload
    public func objects<Element: RealmFetchable>(_ type: Element.Type) -> Results<Element> {
        Results(
            objects(Element._fetched)._core().map {
                _CollectionCore(session, $0.results, Element._isObject ? $0.home : nil)
            })
    }

    /// The object with this primary key; nil if it does not exist.
    public func object<Element: Object, KeyType>(
        ofType type: Element.Type, forPrimaryKey key: KeyType
    ) -> Element? {
        Misuse.reporting { () -> Element? in
            try session.verify()
            let home = try session.home(of: type)
            guard let property = home.binding.model.primaryKey else {
                throw Self.noPrimaryKey(of: type, "no object of it can be found by one")
            }
            let value = try Self.integer(key) ?? QueryValue.value(of: key, for: property.name)
            return try session.engine.find(value, in: home.binding.classID).flatMap {
                try home.object($0.ref.key)?.asElement(type)
            }
        } ?? nil
    }

    /// The value of a key that is an `Int`, as most are, without the casts for other types.
    private static func integer<KeyType>(_ key: KeyType) -> Value? {
        guard KeyType.self == Int.self else { return nil }
        return .int(Int64(unsafeBitCast(key, to: Int.self)))
    }

    // MARK: Queries

    /// Gives a key path a name in the queries, sorts and aggregates on a class in this realm, or in
    /// realms frozen from it later: after `try realm.setAlias("chief", of: Person.self, to:
    /// "boss.name")`, `people.filter("chief == 'Ann'")` is possible. Nothing is stored; nil takes
    /// the alias away. A property of the same name comes first, a path may contain up to 50 other
    /// aliases, and it is resolved when it is used. Realm has this in C alone.
    ///
    /// Throws `.invalidArgument` for an empty name or path, `.noSuchClass` for a class that is not
    /// in the realm, `.readOnly` for a frozen realm.
    public func setAlias(_ name: String, of type: ObjectBase.Type, to keyPath: String?) throws {
        do {
            try session.verify()
            guard keyPath?.isEmpty != true else {
                throw EngineError(.invalidArgument, "An alias needs a path; nil removes it.")
            }
            let owner = try session.home(of: type).binding.classID
            try session.engine.setAlias(name, of: owner, to: keyPath)
        } catch {
            throw Realm.Error(wrapping: error)
        }
    }

    // MARK: Deleting

    /// Deletes an object: links to it become nil, lists lose it, and its targets stay, except
    /// embedded objects, which it owns, and the targets of a property with the rule `.cascade`. Its
    /// instances become invalid. Needs a write transaction.
    public func delete(_ object: ObjectBase) {
        Misuse.reporting {
            try session.verify()
            guard let row = object.row else {
                guard !object.standsIn else { throw Realm.Error.standsIn }
                throw Realm.Error(
                    .invalidArgument,
                    "Only an object of this realm can be deleted, not an unmanaged one.")
            }
            guard row.session === session else {
                throw Realm.Error(.wrongRealm, "Only an object of this realm can be deleted.")
            }
            try row.handle.delete()
        }
    }

    /// Deletes several objects.
    public func delete<Objects: Sequence>(_ objects: Objects) where Objects.Element: ObjectBase {
        for object in Array(objects) { delete(object) }
    }

    /// Deletes the objects of a list; the list is empty then.
    public func delete<Element: ObjectBase>(_ objects: List<Element>) {
        deleteElements(of: objects)
    }

    /// Deletes the objects of a set; the set is empty then.
    public func delete<Element: Object>(_ objects: MutableSet<Element>) {
        deleteElements(of: objects)
    }

    /// Deletes the objects of a map; its keys stay, with nil.
    public func delete<Key, Element: ObjectBase>(_ map: Map<Key, Element?>) {
        deleteElements { try map._core() }
    }

    /// Deletes the objects of results.
    public func delete<Element: ObjectBase>(_ objects: Results<Element>) {
        deleteElements(of: objects)
    }

    private func deleteElements<Objects: RealmCollection>(of objects: Objects) {
        deleteElements { try objects._core() }
    }

    private func deleteElements(_ core: () throws -> _CollectionCore?) {
        Misuse.reporting {
            try session.verify()
            guard let core = try core() else { return }
            guard core.session === session else {
                throw Realm.Error(.wrongRealm, "Only objects of this realm can be deleted.")
            }
            try core.results.deleteAll()
        }
    }

    /// Deletes all objects of the realm's classes; other classes in the file stay. Needs a write
    /// transaction.
    public func deleteAll() {
        Misuse.reporting {
            try session.verify()
            let classes =
                session.configuration.takesFile
                ? session.engine.schema.visibleClasses.map(\.id)
                : try session.models().map(\.classID)
            try session.engine.deleteAll(classes)
        }
    }
}

/// Makes managed objects of an app's values.
struct ManagedBuilder: ObjectBuilder {
    let session: RealmSession
    let policy: Realm.UpdatePolicy
    /// The copies that were made of objects; nil if unmanaged ones become managed themselves.
    var copies: ObjectCopies?
    var depth = 0

    func object<Model: ObjectBase>(_ type: Model.Type, from any: Any, at path: String) throws
        -> Model
    {
        if let object = Model.found(in: any), keeps(object) { return object }
        if copies != nil, let source = ObjectBase.found(in: any) { return try copy(source, type) }
        if Model._isEmbedded {
            let object = type.init()
            (object as? EmbeddedObject)?.given = try within().assign(any, to: object)
            return object
        }
        // It is added with the object around it, all or nothing.
        let object = type.init()
        let given = try within().assign(any, to: object)
        if policy != .error { session.givenNames[ObjectIdentifier(object)] = given }
        return object
    }

    /// True if an object itself is used, not a copy.
    private func keeps(_ object: ObjectBase) -> Bool {
        guard let row = object.row else { return copies == nil }
        return row.session === session && !type(of: object)._isEmbedded
    }

    /// Creates or updates an object with the given values. A managed object of the same realm is a
    /// template, too.
    func create<Model: ObjectBase>(_ type: Model.Type, of any: Any) throws -> Model {
        defer { session.givenNames = [:] }
        let object = type.init()
        var given: Set<String> = []
        if let copies, let source = ObjectBase.found(in: any) {
            copies.begin(source, object, isKept: true)
            given = try assign(source, to: object)
        } else {
            given = try assign(any, to: object)
        }
        try fillCopies()
        try session.add(object, policy, given: given)
        return object
    }

    /// An unmanaged copy, which becomes managed with the object that links to it. Its values wait
    /// for `fillCopies`.
    private func copy<Model: ObjectBase>(_ source: ObjectBase, _ type: Model.Type) throws -> Model {
        guard let copies else { return type.init() }
        if let begun = copies.made[ObjectCopies.Key(source)] as? Model { return begun }
        let object = type.init()
        copies.wait(source, object)
        return object
    }

    /// Gives copies their values, each before those that follow it in its owner, to any depth: a
    /// long chain of objects takes no stack.
    private func fillCopies() throws {
        guard let copies else { return }
        while let (source, object) = copies.next() {
            let given = try assign(source, to: object)
            (object as? EmbeddedObject)?.given = given
        }
    }
}

/// The copies that one `create` makes: those of unfinished objects, so that cycles close, and all
/// of objects with a primary key, which must be unique.
final class ObjectCopies {
    private enum Step {
        case fill(ObjectBase, ObjectBase)
        case end(Key)
    }

    private(set) var made: [Key: ObjectBase] = [:]
    /// The remaining steps, the last first.
    private var steps: [Step] = []
    /// The steps for the targets of the copy being filled, in order.
    private var found: [Step] = []

    /// Has a copy filled after those that wait for the same owner.
    func wait(_ source: ObjectBase, _ copy: ObjectBase) {
        if ModelClass.of(type(of: copy)).primaryKey != nil { made[Key(source)] = copy }
        found.append(.fill(source, copy))
    }

    /// Notes that a copy is being filled.
    /// - Parameter isKept: whether it is the one of its object to the end.
    func begin(_ source: ObjectBase, _ copy: ObjectBase, isKept: Bool) {
        let key = Key(source)
        made[key] = copy
        if !isKept { steps.append(.end(key)) }
    }

    /// The next copy to fill, which has begun; nil when all have ended.
    func next() -> (source: ObjectBase, copy: ObjectBase)? {
        steps += found.reversed()
        found = []
        while let step = steps.popLast() {
            switch step {
            case .end(let key): made[key] = nil
            case .fill(let source, let copy):
                let hasKey = ModelClass.of(type(of: copy)).primaryKey != nil
                begin(source, copy, isKept: hasKey)
                return (source, copy)
            }
        }
        return nil
    }

    /// Identifies objects, even if a realm gives several instances of one.
    struct Key: Hashable {
        private let realm: ObjectIdentifier?
        private let object: UniqueKey

        init(_ object: ObjectBase) {
            realm = object.row.map { ObjectIdentifier($0.session) }
            self.object = UniqueKey(object, in: object.row?.session)
        }
    }
}
