package import ToftModel
internal import ToftStorage

/// Makes objects of JSON, with the links whose targets exist; other links wait, so that objects may
/// lead to each other in any order. It reads the output of `ObjectToJSON`.
package struct ObjectsFromJSON {
    private struct Pending {
        let place: Int
        let object: ObjectHandle
        let property: PropertyHandle
        let targets: [Element]
        let isNew: Bool
    }

    /// One of the values that a member has.
    private struct Element {
        /// The key of a dictionary; otherwise empty.
        var key = ""
        var json: JSONValue
        /// The object that was made of it.
        var made: ObjectRef?
        /// Whether it leads to the object whose primary key is null.
        var isNullKey = false

        /// True for a link that is null.
        var isNull: Bool { json.isNull && !isNullKey }
    }

    private let session: Session
    private let names: LinkNames
    private let policy: UpdatePolicy
    package var ignoresUnknown = false
    package var ignoresMissing = false
    /// Values of properties of a new object that were not given, as the program declares them.
    package var defaults: DefaultsOfClass?
    package private(set) var created = 0
    package private(set) var updated = 0
    package private(set) var links = 0
    package private(set) var missingTargets = 0
    package private(set) var ignored: Set<String> = []
    /// Objects by their class and the `_key` that they have in the text.
    private var loaded: [ObjectRef: ObjectRef] = [:]
    /// The members with objects' keys, class by class.
    private var keyMembers: [ClassID: String] = [:]
    private let classMember: String
    private var pending: [Pending] = []
    /// Number of waiting links from which those are filled in whose targets exist by now.
    private var retryCount = firstRetryCount
    /// Whether a link may still get its target.
    private var awaitsTargets = false
    /// Whether the links that are being filled in lack a target that may still come.
    private var lacksTarget = false
    /// The created objects, if they are to be deleted when reading fails.
    private var made: ObjectRuns?

    private static let firstRetryCount = 4096

    /// The defaults of a class besides those of properties that are given.
    package typealias DefaultsOfClass = (
        _ owner: ClassHandle, _ given: Set<PropertyID>
    ) throws(EngineError) -> [(property: PropertyID, value: Value)]

    package init(
        _ session: Session, links names: LinkNames = .primaryKeys, policy: UpdatePolicy,
        takesBack: Bool = false
    ) {
        self.session = session
        self.names = names
        self.policy = policy
        classMember = names == .objectKeys ? session.schema.classMember : ""
        if takesBack { made = ObjectRuns() }
    }

    // MARK: Objects

    /// Adds an object; links to missing objects wait for `link`.
    /// - Parameter owner: its class; nil: the object says it, see `classMember`.
    /// - Parameter place: returned to the caller of `link`.
    @discardableResult
    package mutating func add(_ json: JSONValue, of owner: ClassHandle?, place: Int = 0)
        throws(EngineError) -> (object: ObjectHandle, isNew: Bool)
    {
        guard case .dictionary(let members) = json else {
            throw EngineError(
                .typeMismatch, "\(Self.article(owner)) is a JSON object and cannot be \(json.kind)."
            )
        }
        guard let owner else {
            return try add(members, try self.owner(of: members), policy, place, sayingClass: true)
        }
        return try add(members, owner, policy, place)
    }

    /// Sets the properties of an object that the members of a JSON object name; links to missing
    /// objects wait for `link`.
    /// - Parameter isNew: whether the object is new, so that its values are not compared.
    package mutating func set(
        _ json: JSONValue, in object: ObjectHandle, place: Int = 0, isNew: Bool = false
    ) throws(EngineError) {
        guard case .dictionary(let members) = json else {
            throw EngineError(
                .typeMismatch,
                "The values of an object are a JSON object and cannot be \(json.kind).")
        }
        let (values, later) = try parts(of: members, object.owner)
        for (property, value) in values { try object.set(property, value) }
        try fill(object, later, place, isNew)
        if !isNew { updated += 1 }
    }

    private static func article(_ owner: ClassHandle?) -> String {
        owner.map { "An object of '\($0.name)'" } ?? "An object"
    }

    private mutating func add(
        _ members: [(key: String, value: JSONValue)], _ owner: ClassHandle, _ policy: UpdatePolicy,
        _ place: Int, sayingClass: Bool = false
    ) throws(EngineError) -> (object: ObjectHandle, isNew: Bool) {
        try requireStack()
        var (values, later) = try parts(of: members, owner, sayingClass: sayingClass)
        if let defaults, try !updates(values, owner) {
            values += try defaults(owner, Self.given(values, later))
        }
        let name = keyMember(of: owner)
        let key = Self.member(name, of: members)
        let before = try session.count(of: owner.id)
        let object = try session.create(owner.id, values, policy: policy)
        let isNew = try session.count(of: owner.id) > before
        if isNew { created += 1 } else { updated += 1 }
        if isNew { made?.append(object.ref) }
        if names == .objectKeys || owner.primaryKey == nil, case .integer(let key)? = key {
            let known = loaded.updateValue(
                object.ref, forKey: ObjectRef(classID: owner.id, key: key))
            guard known == nil else {
                throw EngineError(
                    .invalidArgument,
                    "Two objects of '\(owner.name)' have \(key) as '\(name)', by which links find "
                        + "them.")
            }
        }
        try fill(object, later, place, isNew)
        return (object, isNew)
    }

    /// Whether there is an object with the primary key among some values, which they change.
    private func updates(_ values: [(property: PropertyID, value: Value)], _ owner: ClassHandle)
        throws(EngineError) -> Bool
    {
        guard policy != .error, let key = owner.primaryKey else { return false }
        let given = values.first { $0.property == key.id }?.value
        guard let value = given ?? (key.isOptional ? .null : nil) else { return false }
        return try session.find(value, in: owner.id) != nil
    }

    private static func given(
        _ values: [(property: PropertyID, value: Value)], _ later: [(PropertyHandle, [Element])]
    ) -> Set<PropertyID> {
        Set(values.map(\.property) + later.map(\.0.id))
    }

    private func owner(of members: [(key: String, value: JSONValue)]) throws(EngineError)
        -> ClassHandle
    {
        guard case .text(let name)? = Self.member(classMember, of: members) else {
            throw EngineError(
                .invalidArgument, "The line does not name its class as '\(classMember)'.")
        }
        return try session.classHandle(named: name)
    }

    /// The member of a name that the format gives a meaning; nil if there is no such member.
    private static func member(_ name: String, of members: [(key: String, value: JSONValue)])
        -> JSONValue?
    {
        JSONValue.dictionary(members).member(name)
    }

    private mutating func keyMember(of owner: ClassHandle) -> String {
        if let known = keyMembers[owner.id] { return known }
        let name = owner.keyMember
        keyMembers[owner.id] = name
        return name
    }

    /// The values of an object, and its members that lead to others.
    private mutating func parts(
        of members: [(key: String, value: JSONValue)], _ owner: ClassHandle,
        sayingClass: Bool = false
    ) throws(EngineError) -> (
        values: [(property: PropertyID, value: Value)], later: [(PropertyHandle, [Element])]
    ) {
        var values: [(property: PropertyID, value: Value)] = []
        var later: [(PropertyHandle, [Element])] = []
        var seen: Set<PropertyID> = []
        for (name, json) in members {
            guard let property = try property(name, of: owner, sayingClass) else { continue }
            // By its name, and by the one that it has in the file.
            guard seen.insert(property.id).inserted else {
                throw EngineError(
                    .invalidArgument, "The object has '\(owner.name).\(name)' twice.")
            }
            let elements = try elements(json, property)
            if property.type == .link || property.type == .mixed && json.hasLink {
                later.append((property, elements))
                continue
            }
            var entries: [ValueEntry] = []
            for element in elements {
                let value =
                    property.type == .mixed
                    ? try mixed(element.json, property) : try Value(element.json, for: property)
                entries.append(ValueEntry(key: element.key, value: value))
            }
            values.append((property.id, Self.value(entries, property)))
        }
        return (values, later)
    }

    /// The value of a property, made of its elements.
    private static func value(_ entries: [ValueEntry], _ property: PropertyHandle) -> Value {
        switch property.collection {
        case .none: entries.first?.value ?? .null
        case .list, .set: .list(entries.map(\.value))
        case .dictionary: .dictionary(entries)
        }
    }

    /// Nil for a member that is left out.
    private mutating func property(_ name: String, of owner: ClassHandle, _ sayingClass: Bool)
        throws(EngineError) -> PropertyHandle?
    {
        if let found = owner.storedProperty(named: name) { return found }
        if name.isSameName(as: keyMember(of: owner)) { return nil }
        if sayingClass, name.isSameName(as: classMember) { return nil }
        guard ignoresUnknown else {
            throw EngineError(
                .noSuchProperty, "'\(owner.name)' has no stored property '\(name)'.")
        }
        ignored.insert(name)
        return nil
    }

    private func elements(_ json: JSONValue, _ property: PropertyHandle) throws(EngineError)
        -> [Element]
    {
        switch (property.collection, json) {
        case (.none, _): return [Element(json: json)]
        case (_, .null): return []
        case (.list, .list(let elements)), (.set, .list(let elements)):
            return elements.map { Element(json: $0) }
        case (.dictionary, .dictionary(let members)):
            return members.map { Element(key: $0.key, json: $0.value) }
        default:
            throw EngineError(
                .typeMismatch,
                "'\(property.className).\(property.name)' is \(property.typeName) and cannot be "
                    + "\(json.kind).")
        }
    }

    /// Makes the objects within an object, and its links; those to missing objects wait.
    private mutating func fill(
        _ object: ObjectHandle, _ later: [(PropertyHandle, [Element])], _ place: Int, _ isNew: Bool
    ) throws(EngineError) {
        for (property, elements) in later {
            if property.ownsTargets {
                try embed(elements, in: object, property, place)
                continue
            }
            var targets = elements
            if property.type == .link {
                for index in targets.indices {
                    guard case .dictionary(let members) = targets[index].json else { continue }
                    let target = try session.classHandle(property.targetClassID ?? 0)
                    if Self.isNullKey(members, target) {
                        targets[index].json = .null
                        targets[index].isNullKey = true
                        continue
                    }
                    let inner = try add(
                        members, target, target.primaryKey == nil ? .error : policy, place)
                    targets[index].made = inner.object.ref
                }
            }
            let item = Pending(
                place: place, object: object, property: property, targets: targets, isNew: isNew)
            if try !link(item, isLast: false) { pending.append(item) }
        }
    }

    /// Whether this is a link to the object whose primary key is null: see `LinkNames`.
    private static func isNullKey(
        _ members: [(key: String, value: JSONValue)], _ target: ClassHandle
    ) -> Bool {
        guard members.count == 2, !target.canHaveLinkMembers else { return false }
        let link = JSONValue.dictionary(members)
        guard case .text(let name)? = link.member("$class"), case .null? = link.member("$link")
        else { return false }
        return name.isSameName(as: target.name)
    }

    private func requireStack() throws(EngineError) {
        try model { () throws(ModelError) in try ModelError.requireStack() }
    }

    // MARK: Mixed values

    /// A mixed value: see `ObjectToJSON`.
    private mutating func mixed(_ json: JSONValue, _ property: PropertyHandle)
        throws(EngineError) -> Value
    {
        switch json {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .integer(let value): return .int(value)
        case .number(let value): return .double(Double(value))
        case .double(let value): return .double(value)
        case .numeral(let number):
            if let value = number.mixed { return value }
            let advice =
                number.isWhole
                ? "Whole numbers have at most 34 digits: write it as a text."
                : "It is beyond the range of a double: write it as {\"$decimal\": \"...\"}."
            throw EngineError(
                .typeMismatch,
                "'\(property.className).\(property.name)' can't be \(json.shown). \(advice)")
        case .text(let value): return .string(value)
        case .list(let elements):
            try requireStack()
            var values: [Value] = []
            for element in elements { values.append(try mixed(element, property)) }
            return .list(values)
        case .dictionary(let members):
            try requireStack()
            if let link = json.member("$link"), case .text(let name)? = json.member("$class") {
                let target = try session.classHandle(named: name)
                return try linked(Element(json: link), target, property).map { .link($0) } ?? .null
            }
            if let (tag, json) = members.first, members.count == 1,
                let type = Value.type(ofTag: tag)
            {
                if let value = Value(json, of: type) { return value }
                throw EngineError(
                    .typeMismatch,
                    "'\(property.className).\(property.name)': \(json.shown) is no '\(tag)'. "
                        + Value.form(of: type, json))
            }
            var entries: [ValueEntry] = []
            for (key, element) in members {
                entries.append(ValueEntry(key: key, value: try mixed(element, property)))
            }
            return .dictionary(entries)
        }
    }

    // MARK: Embedded objects

    /// Creates the embedded objects that a property of an object has.
    private mutating func embed(
        _ elements: [Element], in object: ObjectHandle, _ property: PropertyHandle, _ place: Int
    ) throws(EngineError) {
        guard property.isCollection else {
            guard let element = elements.first, !element.json.isNull else {
                return try object.set(property.id, Value.null)
            }
            return try embed(element, property, place) { values throws(EngineError) in
                try object.setEmbedded(property.id, values)
            }
        }
        let collection = try object.collection(property.id, property.collection)
        if try collection.count > 0 { try collection.clear() }
        for element in elements {
            if property.collection == .list {
                let end = try collection.count
                try embed(element, property, place) { values throws(EngineError) in
                    try collection.insertEmbedded(values, at: end)
                }
            } else if element.json.isNull {
                try collection.dictionarySet(element.key, Value.null)
            } else {
                try embed(element, property, place) { values throws(EngineError) in
                    try collection.setEmbedded(values, forKey: element.key)
                }
            }
        }
    }

    private mutating func embed(
        _ element: Element, _ property: PropertyHandle, _ place: Int,
        _ create: ([(property: PropertyID, value: Value)]) throws(EngineError) -> ObjectHandle
    ) throws(EngineError) {
        guard case .dictionary(let members) = element.json else {
            throw EngineError(
                .typeMismatch,
                "'\(property.className).\(property.name)' holds embedded objects and cannot be "
                    + "\(element.json.kind).")
        }
        try requireStack()
        let target = try session.classHandle(property.targetClassID ?? 0)
        var (values, later) = try parts(of: members, target)
        if let defaults { values += try defaults(target, Self.given(values, later)) }
        let inner = try create(values)
        made?.append(inner.ref)
        try fill(inner, later, place, true)
    }

    // MARK: Links

    /// Runs work on the object of a place; may rephrase its errors.
    package typealias Naming = (
        _ place: Int, _ work: () throws(EngineError) -> Void
    ) throws(EngineError) -> Void

    /// Fills in the links that wait.
    package mutating func link(_ naming: Naming) throws(EngineError) {
        try link(isLast: true, naming)
    }

    /// If many links wait, fills in those whose targets exist by now.
    package mutating func linkWhereMany(_ naming: Naming) throws(EngineError) {
        guard pending.count >= retryCount else { return }
        try link(isLast: false, naming)
        retryCount = max(Self.firstRetryCount, 2 * pending.count)
    }

    private mutating func link(isLast: Bool, _ naming: Naming) throws(EngineError) {
        let items = pending
        pending = []
        for item in items {
            try naming(item.place) { () throws(EngineError) in
                // It may have been deleted with an owner that was changed after it.
                guard try session.object(item.object.ref) != nil else { return }
                if try !link(item, isLast: isLast) { pending.append(item) }
            }
        }
    }

    /// Fills in the links of a property, all or nothing.
    /// - Returns: false if one lacks a target that may still come.
    private mutating func link(_ item: Pending, isLast: Bool) throws(EngineError) -> Bool {
        let property = item.property, counted = links
        (awaitsTargets, lacksTarget) = (!isLast, false)
        defer { awaitsTargets = false }
        var found: [ValueEntry] = []
        if property.type == .mixed {
            for element in item.targets {
                found.append(
                    ValueEntry(key: element.key, value: try mixed(element.json, property)))
            }
        } else {
            let target = try session.classHandle(property.targetClassID ?? 0)
            for element in item.targets {
                let ref = element.isNull ? nil : try linked(element, target, property)
                // A missing target is null if that is allowed.
                if ref == nil, !element.isNull, [.list, .set].contains(property.collection) {
                    continue
                }
                found.append(ValueEntry(key: element.key, value: ref.map { .link($0) } ?? .null))
            }
        }
        guard !lacksTarget else {
            links = counted
            return false
        }
        let value = Self.value(found, property)
        if !item.isNew, policy == .modified, try item.object.has(value, property) { return true }
        try item.object.set(property.id, value)
        return true
    }

    /// The object that a link leads to, counted; nil for one that is left out.
    private mutating func linked(
        _ element: Element, _ target: ClassHandle, _ property: PropertyHandle
    ) throws(EngineError) -> ObjectRef? {
        var ref = element.made
        if ref == nil { ref = try object(element.json, of: target, for: property) }
        if let ref {
            links += 1
            return ref
        }
        guard !awaitsTargets else {
            lacksTarget = true
            return nil
        }
        guard ignoresMissing else {
            let key = names == .primaryKeys && target.primaryKey != nil ? "primary key" : "key"
            throw EngineError(
                .noSuchObject,
                "'\(property.className).\(property.name)' links to \(element.json.shown), which no "
                    + "object of '\(target.name)' has as its \(key).")
        }
        missingTargets += 1
        return nil
    }

    private func object(
        _ json: JSONValue, of target: ClassHandle, for property: PropertyHandle
    ) throws(EngineError) -> ObjectRef? {
        guard names == .primaryKeys, let key = target.primaryKey else {
            if case .integer(let key) = json,
                let ref = loaded[ObjectRef(classID: target.id, key: key)]
            {
                return ref
            }
            if names == .objectKeys || awaitsTargets { return nil }
            throw EngineError(
                .missingPrimaryKey,
                "'\(property.className).\(property.name)' links to \(json.shown), and "
                    + "'\(target.name)' has no primary key to find it by: the same JSON must have "
                    + "an object with that '\(target.keyMember)', or have it in the place of the "
                    + "link.")
        }
        let value: Value
        do throws(EngineError) {
            value = try Value(json, for: key)
        } catch {
            let link = "'\(property.className).\(property.name)'"
            throw EngineError(
                error.code, "\(link) links by primary key: \(error.message)",
                detail: error.detail, number: error.number)
        }
        return try session.find(value, in: target.id)?.ref
    }

    // MARK: Failures

    /// Deletes the created objects, if they are to be.
    package func takeBack() {
        guard let made, let transaction = try? session.writing() else { return }
        for run in made.runs.reversed() {
            // The failure that led here is the one to report.
            guard let owner = try? session.classHandle(run.classID) else { continue }
            for key in run.keys.reversed() { try? transaction.takeBack(key, owner) }
        }
        session.noteUnread()
    }
}

/// Objects, in memory that does not grow with them if their keys are consecutive.
private struct ObjectRuns {
    private(set) var runs: [(classID: ClassID, keys: ClosedRange<Int64>)] = []
    /// The index of each class's last one.
    private var last: [ClassID: Int] = [:]

    mutating func append(_ ref: ObjectRef) {
        if let index = last[ref.classID], runs[index].keys.upperBound &+ 1 == ref.key,
            runs[index].keys.lowerBound < ref.key
        {
            runs[index].keys = runs[index].keys.lowerBound...ref.key
        } else {
            last[ref.classID] = runs.count
            runs.append((ref.classID, ref.key...ref.key))
        }
    }
}

extension JSONValue {
    fileprivate var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension ObjectHandle {
    /// Whether a property has a value already.
    fileprivate func has(_ value: Value, _ property: PropertyHandle) throws(EngineError) -> Bool {
        guard property.isCollection else { return try self.value(property.id) == value }
        let collection = try collection(property.id, property.collection)
        switch value {
        case .list(let values): return try collection.values() == values
        case .dictionary(let entries):
            guard try collection.values() == entries.map(\.value) else { return false }
            return try collection.entryKeys() == entries.map(\.key)
        default: return false
        }
    }
}

extension ObjectsFromJSON {
    /// Creates an object of JSON, or updates the one that has the primary key, with the objects
    /// inside of it, in a session's write transaction. All or nothing.
    /// - Parameter ignoresUnknown: whether members that are not properties are left out; otherwise
    ///   they are errors.
    package static func create(
        _ id: ClassID, json: UnsafeRawBufferPointer, policy: UpdatePolicy, ignoresUnknown: Bool,
        in session: Session
    ) throws(EngineError) -> (object: ObjectHandle, isNew: Bool) {
        let owner = try session.classHandle(id)
        _ = try session.writing()
        let value = try JSONParser.value(of: json)
        return try session.allOrNothing { () throws(EngineError) in
            var reader = ObjectsFromJSON(session, policy: policy)
            reader.ignoresUnknown = ignoresUnknown
            let made = try reader.add(value, of: owner)
            try reader.link { _, work throws(EngineError) in try work() }
            return made
        }
    }
}
