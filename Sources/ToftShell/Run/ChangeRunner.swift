internal import ToftEngine
internal import ToftModel
internal import ToftQuery

/// Makes the changes that statements ask for, in the session's write transaction, and keeps what
/// is needed to take the last ones back.
struct ChangeRunner {
    private let session: Session
    private let questions: QuestionRunner
    /// The changes of the transaction, in order.
    private(set) var made = UndoRecord()

    init(_ session: Session, arguments: [QueryArgument]) {
        self.session = session
        questions = QuestionRunner(session, arguments: arguments)
    }

    mutating func takeMade() -> UndoRecord {
        defer { made = UndoRecord() }
        return made
    }

    // MARK: Objects

    /// The objects that a statement changes, as they are now.
    func objects(_ selection: Selection) throws(EngineError) -> [ObjectHandle] {
        let owner = try questions.owner(selection.owner)
        switch selection.objects {
        case .key(let name, let value):
            return [try object(owner, name, value)]
        case .query(let query):
            let results = try questions.results(of: selection.owner, query)
            var objects: [ObjectHandle] = []
            for key in try results.keys() { objects.append(session.handle(key, owner)) }
            return objects
        }
    }

    private func object(
        _ owner: ClassHandle, _ name: NamedPlace, _ written: StatementReader.Written
    ) throws(EngineError) -> ObjectHandle {
        guard let key = owner.primaryKey, key.name.isSameName(as: name.name) else {
            let advice =
                owner.primaryKey.map { "Its primary key is '\($0.name)'. " }
                ?? "It has no primary key. "
            throw EngineError(
                name.place.failure(
                    "'\(name.name)' is no primary key of '\(owner.name)'.",
                    hint: advice + "Other objects are chosen with where.", kind: .invalidQuery))
        }
        let json = try JSONValue(written, at: name.place)
        let value = try name.place.naming { () throws(EngineError) in try Value(json, for: key) }
        guard let object = try session.find(value, in: owner.id) else {
            throw EngineError(
                .noSuchObject,
                "There is no object of '\(owner.name)' whose \(key.name) is \(json.shown).",
                detail: name.place.excerpt)
        }
        return object
    }

    // MARK: Changes

    /// Creates an object.
    mutating func create(_ creation: Creation) throws(EngineError) {
        let owner = try questions.owner(creation.owner)
        let json = try JSONValue(creation.json, at: creation.place)
        let created = try creation.place.naming { () throws(EngineError) in
            var objects = ObjectsFromJSON(session, policy: .error)
            let created = try objects.add(json, of: owner)
            try objects.link { _, work throws(EngineError) in try work() }
            return created.object
        }
        made.add(.created(created.ref))
    }

    /// Sets properties of some objects.
    mutating func set(_ change: Change, of objects: [ObjectHandle]) throws(EngineError) {
        let owner = try questions.owner(change.selection.owner)
        var members: [(key: String, value: JSONValue)] = []
        var properties: [PropertyHandle] = []
        for assigned in change.assignments {
            let property = try assigned.property.place.naming { () throws(EngineError) in
                try owner.settable(assigned.property.name)
            }
            properties.append(property)
            members.append(
                (property.persistedName, try JSONValue(assigned.value, at: assigned.valuePlace)))
        }
        let places = change.assignments.map(\.valuePlace)
        for object in objects {
            for (index, property) in properties.enumerated() {
                let before = made.isKeeping ? try object.kept(property) : nil
                try places[index].naming { () throws(EngineError) in
                    var writer = ObjectsFromJSON(session, policy: .modified)
                    try writer.set(.dictionary([members[index]]), in: object)
                    try writer.link { _, work throws(EngineError) in try work() }
                }
                guard made.isKeeping else { continue }
                guard let before, let after = try object.kept(property) else {
                    made.add(nil)
                    continue
                }
                made.add(.set(object.ref, property.id, before: before, after: after))
            }
        }
    }

    /// Deletes objects.
    mutating func delete(_ objects: [ObjectHandle]) throws(EngineError) {
        for object in objects {
            // A delete rule may have deleted it with another.
            guard try object.isValid else { continue }
            if made.isKeeping { made.add(try deletion(of: object)) }
            try object.delete()
        }
    }

    /// All that is needed to make an object again; nil if that is not possible.
    private func deletion(of object: ObjectHandle) throws(EngineError) -> UndoRecord.Change? {
        let owner = try session.classHandle(object.ref.classID)
        guard !owner.isEmbedded,
            owner.properties.allSatisfy({ !$0.isHidden && !$0.ownsTargets })
        else { return nil }
        var values: [(property: PropertyID, value: Value)] = []
        for property in owner.visibleProperties where property.isStored {
            guard property.deleteRule != .cascade, let value = try object.kept(property) else {
                return nil
            }
            values.append((property.id, value))
        }
        var links: [UndoRecord.Link] = []
        for property in owner.incoming {
            guard property.type == .link, !property.isHidden else { return nil }
            var last: ObjectRef?
            let sources = try object.linkingObjects(through: property)
            for index in 0..<(try sources.count) {
                let source = try sources.object(at: index)
                if source.ref == last { continue }
                last = source.ref
                guard let value = try source.kept(property) else { return nil }
                links.append(
                    UndoRecord.Link(object: source.ref, property: property.id, value: value))
            }
        }
        return .deleted(object.ref, values, links)
    }

    // MARK: Undo

    /// Takes changes back, the last first.
    func undo(_ record: UndoRecord) throws(EngineError) {
        var renamed: [ObjectRef: ObjectRef] = [:]
        for change in record.changes.reversed() {
            switch change {
            case .created(let ref):
                try existing(ref, renamed).delete()
            case .set(let ref, let property, let before, let after):
                let object = try existing(ref, renamed)
                try object.put(before.renamed(renamed), in: property, over: after.renamed(renamed))
            case .deleted(let ref, let values, let links):
                let created = try session.create(
                    ref.classID, values.map { ($0.property, $0.value.renamed(renamed)) })
                renamed[ref] = created.ref
                for link in links where link.object != ref {
                    let source = try existing(link.object, renamed)
                    let value = link.value.renamed(renamed)
                    try source.put(value, in: link.property, over: value.without(created.ref))
                }
            }
        }
    }

    private func existing(_ ref: ObjectRef, _ renamed: [ObjectRef: ObjectRef]) throws(EngineError)
        -> ObjectHandle
    {
        guard let object = try session.object(renamed[ref] ?? ref) else {
            throw EngineError(
                .objectDeleted,
                "The last change can't be taken back: an object of it has been deleted since.")
        }
        return object
    }
}

/// Changes that were made, with what they have replaced.
struct UndoRecord {
    enum Change {
        case created(ObjectRef)
        case set(ObjectRef, PropertyID, before: Value, after: Value)
        case deleted(ObjectRef, [(property: PropertyID, value: Value)], [Link])
    }

    /// A property that linked to a deleted object, as it was.
    struct Link {
        var object: ObjectRef
        var property: PropertyID
        var value: Value
    }

    /// Changes that are kept at most.
    static let limit = 100_000

    private(set) var changes: [Change] = []
    /// Whether all changes so far can be taken back.
    private(set) var isKeeping = true

    var isEmpty: Bool { changes.isEmpty && isKeeping }

    /// Adds a change; nil: one that can't be taken back.
    mutating func add(_ change: Change?) {
        guard isKeeping else { return }
        if let change, changes.count < Self.limit {
            changes.append(change)
        } else {
            isKeeping = false
            changes = []
        }
    }
}

extension ObjectHandle {
    /// The value of a property, or all its elements; nil for those that `set` does not take.
    fileprivate func kept(_ property: PropertyHandle) throws(EngineError) -> Value? {
        if property.ownsTargets { return nil }
        guard property.isCollection else { return try value(property.id) }
        let collection = try collection(property.id, property.collection)
        let values = try collection.values()
        guard property.collection == .dictionary else { return .list(values) }
        return .dictionary(
            zip(try collection.entryKeys(), values).map { ValueEntry(key: $0, value: $1) })
    }
}

extension ObjectHandle {
    /// Sets a property to an earlier value, if it still has the one that took its place.
    fileprivate func put(_ value: Value, in id: PropertyID, over expected: Value)
        throws(EngineError)
    {
        let property = try property(id)
        guard try kept(property) == expected else {
            throw EngineError(
                .invalidArgument,
                "The last change can't be taken back: '\(property.className).\(property.name)' "
                    + "has been changed since.")
        }
        try set(id, value)
    }
}

extension Value {
    /// The value after the deletion of an object.
    fileprivate func without(_ ref: ObjectRef) -> Value {
        switch self {
        case .link(ref): .null
        case .list(let values): .list(values.filter { $0 != .link(ref) })
        case .dictionary(let entries):
            .dictionary(
                entries.map { ValueEntry(key: $0.key, value: $0.value.without(ref)) })
        default: self
        }
    }

    /// The value with links to objects that have been made again.
    fileprivate func renamed(_ names: [ObjectRef: ObjectRef]) -> Value {
        if names.isEmpty { return self }
        return switch self {
        case .link(let ref): .link(names[ref] ?? ref)
        case .list(let values): .list(values.map { $0.renamed(names) })
        case .dictionary(let entries):
            .dictionary(
                entries.map { ValueEntry(key: $0.key, value: $0.value.renamed(names)) })
        default: self
        }
    }
}

extension ClassHandle {
    /// A property that a statement may set.
    fileprivate func settable(_ name: String) throws(EngineError) -> PropertyHandle {
        let property = try model { () throws(ModelError) in try self.property(named: name) }
        guard property.isStored else {
            throw EngineError(
                .readOnlyProperty,
                "'\(self.name).\(name)' follows from other objects and can't be set.")
        }
        return property
    }
}

extension JSONValue {
    /// A value of a statement as JSON.
    fileprivate init(_ written: StatementReader.Written, at place: StatementPlace)
        throws(EngineError)
    {
        switch written {
        case .text(let text): self = .text(text)
        case .json(let bytes): self = try JSONValue(bytes, at: place)
        }
    }
}
