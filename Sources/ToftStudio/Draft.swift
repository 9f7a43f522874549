internal import ToftEngine
internal import ToftModel
internal import ToftStorage

/// The changes that the page has gathered, committed as one transaction.
///
/// A change says what it found (`was`). If another program has changed that since, nothing is
/// written, and the page gets the present values: a person decides.
struct Draft {
    /// A change whose place holds something else than the page showed.
    private struct Conflict {
        let change: Int
        /// The present cell; nil if the object, or the element, is gone.
        let now: JSONValue?
    }

    private let session: Session
    private let changes: [JSONValue]
    private var reader: CellReader
    private var conflicts: [Conflict] = []
    /// The change that is under way.
    private(set) var position = 0

    init(_ changes: [JSONValue], in session: Session) {
        self.changes = changes
        self.session = session
        reader = CellReader(session: session)
    }

    /// Commits all changes or none.
    /// - Returns: the version and the keys of new objects, or the conflicts.
    mutating func commit() throws(EngineError) -> JSONValue {
        try session.beginWrite()
        do throws(EngineError) {
            for (index, change) in changes.enumerated() {
                position = index
                try apply(change)
            }
            guard conflicts.isEmpty else {
                try session.cancel()
                return .object([("conflicts", .list(conflicts.map(Self.json)))])
            }
            position = changes.count
            let version = try session.commit()
            let keys = reader.created.sorted { $0.key < $1.key }.map { name, ref in
                (name, JSONValue.integer(ref.key))
            }
            return .object([("version", .number(version.rawValue)), ("keys", .object(keys))])
        } catch {
            if session.isWriting { try session.cancel() }
            throw error
        }
    }

    private static func json(_ conflict: Conflict) -> JSONValue {
        .object([
            ("change", .count(conflict.change)), ("isGone", .bool(conflict.now == nil)),
            ("now", conflict.now ?? .null),
        ])
    }

    private mutating func apply(_ change: JSONValue) throws(EngineError) {
        let owner = try session.classHandle(named: try change.text("class"))
        switch try change.text("op") {
        case "create": try create(change, owner)
        case "copy": try copy(change, owner)
        case "delete":
            guard let object = try object(change, owner) else { return }
            try object.delete()
        case "set": try set(change, owner)
        case "element": try edit(change, owner)
        case let other:
            throw EngineError(.invalidArgument, "There is no change '\(other)'.")
        }
    }

    /// The object of a change; nil, with a conflict, if it is gone.
    private mutating func object(_ change: JSONValue, _ owner: ClassHandle) throws(EngineError)
        -> ObjectHandle?
    {
        let ref = try reader.ref(change.member("key"), owner.id)
        if let object = try session.object(ref) { return object }
        conflicts.append(Conflict(change: position, now: nil))
        return nil
    }

    /// The property of a change.
    private func property(_ change: JSONValue, _ owner: ClassHandle) throws(EngineError)
        -> PropertyHandle
    {
        try owner.shown(try change.text("property"))
    }

    // MARK: Objects

    private mutating func create(_ change: JSONValue, _ owner: ClassHandle) throws(EngineError) {
        guard !owner.isEmbedded else {
            throw EngineError(
                .embeddedObject,
                "An object of '\(owner.name)' lives in another one: create it there.")
        }
        var values: [(property: PropertyID, value: Value)] = []
        if case .dictionary(let members)? = change.member("values") {
            for (name, json) in members {
                let property = try owner.shown(name)
                values.append((property.id, try reader.whole(json, for: property)))
            }
        }
        try note(try session.create(owner.id, values), change)
    }

    private mutating func note(_ object: ObjectHandle, _ change: JSONValue) throws(EngineError) {
        if change.present("name") != nil {
            reader.created[try change.text("name")] = object.ref
        }
    }

    /// Creates an object with the values of another one, but for those that the change has.
    private mutating func copy(_ change: JSONValue, _ owner: ClassHandle) throws(EngineError) {
        guard let object = try object(change, owner) else { return }
        var values: [(property: PropertyID, value: Value)] = []
        var given: Set<PropertyID> = []
        if case .dictionary(let members)? = change.member("values") {
            for (name, json) in members {
                let property = try owner.shown(name)
                given.insert(property.id)
                values.append((property.id, try reader.whole(json, for: property)))
            }
        }
        for property in owner.visibleProperties
        where property.isStored && !property.ownsTargets && !given.contains(property.id) {
            if property.isAutoIncremented { continue }
            values.append((property.id, try object.all(property)))
        }
        let made = try session.create(owner.id, values)
        for property in owner.visibleProperties where property.ownsTargets {
            try copyEmbedded(property, from: object, to: made)
        }
        try note(made, change)
    }

    private func copyEmbedded(
        _ property: PropertyHandle, from object: ObjectHandle, to made: ObjectHandle
    ) throws(EngineError) {
        guard property.isCollection else {
            guard case .link(let ref) = try object.value(property.id) else { return }
            try copyContent(of: ref, to: try made.setEmbedded(property.id, []))
            return
        }
        let source = try object.collection(property.id, property.collection)
        let target = try made.collection(property.id, property.collection)
        for (index, value) in try source.values().enumerated() {
            guard case .link(let ref) = value else { continue }
            let inner =
                property.collection == .dictionary
                ? try target.setEmbedded([], forKey: try source.entryKey(at: index))
                : try target.insertEmbedded([], at: try target.count)
            try copyContent(of: ref, to: inner)
        }
    }

    private func copyContent(of ref: ObjectRef, to made: ObjectHandle) throws(EngineError) {
        let owner = try session.classHandle(ref.classID)
        let object = session.handle(ref.key, owner)
        for property in owner.visibleProperties where property.isStored {
            if property.ownsTargets {
                try copyEmbedded(property, from: object, to: made)
            } else {
                try made.set(property.id, try object.all(property))
            }
        }
    }

    // MARK: Values

    private mutating func set(_ change: JSONValue, _ owner: ClassHandle) throws(EngineError) {
        guard let object = try object(change, owner) else { return }
        let property = try property(change, owner)
        let value = change.member("value") ?? .null
        if let was = change.member("was") {
            let isFound = try isUnchanged(was) { writer throws(EngineError) in
                try writer.cell(of: property, in: object)
            }
            guard isFound else { return }
        }
        guard property.ownsTargets else {
            return try object.set(property.id, try reader.whole(value, for: property))
        }
        guard !property.isCollection else {
            throw EngineError(
                .embeddedObject,
                "'\(owner.name).\(property.name)' holds embedded objects: change them one by one.")
        }
        if case .null = value { return try object.set(property.id, Value.null) }
        _ = try object.setEmbedded(property.id, [])
    }

    /// Whether a place still has what the page showed, in its table or in its details; otherwise it
    /// is a conflict.
    private mutating func isUnchanged(
        _ was: JSONValue, _ cell: (CellWriter) throws(EngineError) -> JSONValue
    ) throws(EngineError) -> Bool {
        let now = try cell(CellWriter(session: session, limits: .detail))
        if was.isSame(as: now) { return true }
        if was.isSame(as: try cell(CellWriter(session: session, limits: .table))) { return true }
        conflicts.append(Conflict(change: position, now: now))
        return false
    }

    /// Inserts, sets, erases or moves one element of a collection.
    private mutating func edit(_ change: JSONValue, _ owner: ClassHandle) throws(EngineError) {
        guard let object = try object(change, owner) else { return }
        let property = try property(change, owner)
        let collection = try object.collection(property.id, property.collection)
        let verb = try change.text("edit")
        let value = change.member("value") ?? .null
        if property.collection == .dictionary {
            return try edit(try change.text("entry"), of: collection, verb, value, change)
        }
        guard property.collection != .set else {
            return try edit(setOf: collection, verb, value, change)
        }
        let index = try change.count("at")
        if verb == "insert" {
            // Others may have removed elements.
            let place = min(index, try collection.count)
            guard property.ownsTargets else {
                return try collection.insert(try reader.value(value, for: property), at: place)
            }
            _ = try collection.insertEmbedded([], at: place)
            return
        }
        guard try hasStill(change, at: index, of: collection) else { return }
        switch verb {
        case "set" where property.collection == .list && !property.ownsTargets:
            try collection.set(try reader.value(value, for: property), at: index)
        case "erase": try collection.erase(index..<index + 1)
        case "move" where property.collection == .list:
            try collection.move(
                from: index, to: min(try change.count("to"), try collection.count - 1))
        default: throw noEdit(verb, property)
        }
    }

    /// Inserts an element of a set, or erases the one that the page showed: it has no place of its
    /// own.
    private mutating func edit(
        setOf collection: CollectionHandle, _ verb: String, _ value: JSONValue, _ change: JSONValue
    ) throws(EngineError) {
        let property = collection.property
        switch verb {
        case "insert": _ = try collection.setInsert(try reader.value(value, for: property))
        case "erase":
            let writer = CellWriter(session: session, limits: .detail)
            let was = change.member("was") ?? .null
            for index in 0..<(try collection.count)
            where was.isSame(as: try writer.cell(at: index, of: collection)) {
                _ = try collection.setErase(try collection.value(at: index))
                return
            }
            conflicts.append(Conflict(change: position, now: nil))
        default: throw noEdit(verb, property)
        }
    }

    private mutating func edit(
        _ entry: String, of collection: CollectionHandle, _ verb: String, _ value: JSONValue,
        _ change: JSONValue
    ) throws(EngineError) {
        let property = collection.property
        let index = try collection.entryKeys().firstIndex { $0.isSameName(as: entry) }
        if let index {
            guard try hasStill(change, at: index, of: collection) else { return }
        } else if verb == "erase" {
            conflicts.append(Conflict(change: position, now: nil))
            return
        }
        switch verb {
        case "erase": _ = try collection.dictionaryErase(entry)
        case "set" where !property.ownsTargets:
            try collection.dictionarySet(entry, try reader.value(value, for: property))
        case "set": _ = try collection.setEmbedded([], forKey: entry)
        default: throw noEdit(verb, property)
        }
    }

    /// Whether an element is the one that the page showed.
    private mutating func hasStill(
        _ change: JSONValue, at index: Int, of collection: CollectionHandle
    ) throws(EngineError) -> Bool {
        guard index < (try collection.count) else {
            conflicts.append(Conflict(change: position, now: nil))
            return false
        }
        guard let was = change.member("was") else { return true }
        return try isUnchanged(was) { writer throws(EngineError) in
            try writer.cell(at: index, of: collection)
        }
    }

    private func noEdit(_ verb: String, _ property: PropertyHandle) -> EngineError {
        EngineError(
            .invalidArgument,
            "'\(property.className).\(property.name)' is \(property.typeName), which has no edit "
                + "'\(verb)'.")
    }
}

extension ObjectHandle {
    /// The value of a property with all its elements, none of them embedded.
    fileprivate func all(_ property: PropertyHandle) throws(EngineError) -> Value {
        guard property.isCollection else { return try value(property.id) }
        let collection = try collection(property.id, property.collection)
        let values = try collection.values()
        guard property.collection == .dictionary else { return .list(values) }
        return .dictionary(
            zip(try collection.entryKeys(), values).map { ValueEntry(key: $0, value: $1) })
    }
}

extension ClassHandle {
    /// The visible property of a name.
    /// - Throws: `noSuchProperty`.
    func shown(_ name: String) throws(EngineError) -> PropertyHandle {
        do throws(ModelError) {
            return try property(named: name)
        } catch {
            throw EngineError(error)
        }
    }
}

extension JSONValue {
    /// Whether both mean the same to JavaScript, which knows one type of numbers.
    fileprivate func isSame(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.list(let left), .list(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        case (.dictionary(let left), .dictionary(let right)):
            left.count == right.count
                && left.allSatisfy { other.member($0.key)?.isSame(as: $0.value) == true }
        default: number.map { $0 == other.number } ?? (description == other.description)
        }
    }

    private var number: Double? {
        switch self {
        case .integer, .number, .double, .numeral: Double(description)
        default: nil
        }
    }
}
