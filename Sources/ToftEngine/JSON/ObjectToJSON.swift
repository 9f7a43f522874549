package import ToftModel
internal import ToftStorage

/// The form of a link in JSON.
package enum LinkNames {
    /// The primary key of its target; if its class has no primary key, the `_key` of its target. If
    /// the primary key is null, which alone would mean no link, an object as in a mixed value:
    /// `{"$class": "Person", "$link": null}`.
    case primaryKeys
    /// The object key of its target, which each object has as `_key`: see `keyMember`.
    case objectKeys
}

/// Makes JSON of objects. Dates are ISO 8601 in UTC, data is base64, lists and sets are arrays,
/// dictionaries are objects. A uuid is its 36 characters, an object id its 24 hexadecimal digits, a
/// decimal its digits: "1.50". NaN and infinities are texts. Mixed values: see `mixed`. Links
/// within them to objects of hidden classes are null, and left out in sets.
package struct ObjectToJSON {
    private let session: Session
    private let names: LinkNames
    /// Number of links that it follows: their targets are written in place of their names.
    private let depth: Int
    /// Each object is written once: further links to it have its name.
    private var written: Set<ObjectRef> = []
    /// Number of objects around the one that is written.
    private var level = 0
    /// The member with an object's class.
    private let classMember: String

    package init(_ session: Session, links names: LinkNames = .primaryKeys, depth: Int = 0) {
        self.session = session
        self.names = names
        self.depth = depth
        classMember = names == .objectKeys ? session.schema.classMember : ""
    }

    /// Checks the number of links that a caller wants to follow.
    /// - Throws: `invalidArgument` for fewer than 0 and more than 100.
    package static func checked(depth: Int) throws(EngineError) -> Int {
        guard 0...Limits.nestedCollections ~= depth else {
            throw EngineError(
                .invalidArgument,
                "'depth' is \(depth). Give a number from 0 to \(Limits.nestedCollections).")
        }
        return depth
    }

    /// An object: every property but the inverse ones, by their names in the file.
    package mutating func object(_ object: ObjectHandle, of owner: ClassHandle)
        throws(EngineError) -> JSONValue
    {
        written = depth > 0 ? [object.ref] : []
        return .dictionary(try members(of: object, owner, depth))
    }

    private mutating func members(of object: ObjectHandle, _ owner: ClassHandle, _ depth: Int)
        throws(EngineError) -> [(key: String, value: JSONValue)]
    {
        guard level <= Limits.nestedEmbeddedObjects else {
            throw EngineError(
                .valueTooLong,
                "More than \(Limits.nestedEmbeddedObjects + 1) objects of '\(owner.name)' and "
                    + "others are in one another.")
        }
        try model { () throws(ModelError) in try ModelError.requireStack() }
        level += 1
        defer { level -= 1 }
        var members: [(key: String, value: JSONValue)] = []
        if names == .objectKeys, !owner.isEmbedded {
            members.append((classMember, .text(owner.name)))
        }
        if !owner.isEmbedded, owner.primaryKey == nil || names == .objectKeys {
            members.append((owner.keyMember, .integer(object.ref.key)))
        }
        for property in owner.visibleProperties where property.isStored {
            members.append((property.persistedName, try values(of: object, property, depth)))
        }
        return members
    }

    /// The value of a property, or its elements; links are names.
    package mutating func value(of property: PropertyHandle, in object: ObjectHandle)
        throws(EngineError) -> JSONValue
    {
        try values(of: object, property, 0)
    }

    private mutating func values(
        of object: ObjectHandle, _ property: PropertyHandle, _ depth: Int
    ) throws(EngineError) -> JSONValue {
        guard property.isCollection else {
            return try value(try object.value(property.id), property, depth)
        }
        let collection = try object.collection(property.id, property.collection)
        var elements: [JSONValue] = []
        for element in try collection.values() {
            if property.collection == .set, isHidden(element) { continue }
            elements.append(try value(element, property, depth))
        }
        guard property.collection == .dictionary else { return .list(elements) }
        return .dictionary(
            zip(try collection.entryKeys(), elements).map { (key: $0, value: $1) })
    }

    /// The value of a property, or one of many; an embedded object as its values.
    private mutating func value(_ value: Value, _ property: PropertyHandle, _ depth: Int)
        throws(EngineError) -> JSONValue
    {
        if property.type == .mixed { return try mixed(value) }
        guard case .link(let ref) = value, property.ownsTargets || depth > 0,
            let target = try session.object(ref)
        else { return try link(value, property) }
        let isInside = property.ownsTargets || written.insert(ref).inserted
        guard isInside else { return try link(value, property) }
        return .dictionary(
            try members(of: target, target.owner, property.ownsTargets ? depth : depth - 1))
    }

    /// The value of a property that is not mixed.
    private func link(_ value: Value, _ property: PropertyHandle) throws(EngineError) -> JSONValue {
        let name = try self.value(value)
        guard case .link(let ref) = value, case .null = name else { return name }
        let owner = try session.classHandle(ref.classID)
        // Otherwise it would be read as an object in place of the link.
        guard !owner.canHaveLinkMembers else {
            throw EngineError(
                .missingPrimaryKey,
                "'\(property.className).\(property.name)' links to an object of '\(owner.name)' "
                    + "whose primary key is null, by which it can't be named: use `toftdb dump`.")
        }
        return .link(to: owner.name, name)
    }

    /// Whether a value leads to an object that nothing shows.
    private func isHidden(_ value: Value) -> Bool {
        guard case .link(let ref) = value else { return false }
        return session.schema.anyClass(id: ref.classID)?.isHidden ?? true
    }

    /// A value whose type is known from its property.
    package func value(_ value: Value) throws(EngineError) -> JSONValue {
        switch value {
        case .null: .null
        case .bool(let value): .bool(value)
        case .int(let value): .integer(value)
        case .float(let value): .double(Double(value))
        case .double(let value): .double(value)
        case .string(let value): .text(value)
        case .data(let value): .text(Base64.text(value))
        case .date(let value): .text(value.text)
        case .uuid(let bytes): .text(bytes.uuidText)
        case .objectId(let bytes): .text(bytes.objectIdText)
        case .decimal(let value): .text(value.description)
        case .link(let ref): try name(of: ref)
        case .list, .dictionary: try mixed(value)
        }
    }

    /// The value of a mixed property. A type that JSON lacks is an object whose one member is named
    /// after it, `{"$date": "2026-11-22T08:30:00Z"}`: no key of a dictionary begins with `$`.
    private func mixed(_ value: Value) throws(EngineError) -> JSONValue {
        switch value {
        case .null, .bool, .int, .string: return try self.value(value)
        // A number without a fraction would be read as an integer.
        case .double(let number) where number.isFinite && number != number.rounded():
            return .double(number)
        case .link where isHidden(value): return .null
        case .link(let ref):
            return .link(to: try session.classHandle(ref.classID).name, try name(of: ref))
        case .list(let values):
            try model { () throws(ModelError) in try ModelError.requireStack() }
            var elements: [JSONValue] = []
            for value in values { elements.append(try mixed(value)) }
            return .list(elements)
        case .dictionary(let entries):
            try model { () throws(ModelError) in try ModelError.requireStack() }
            var members: [(key: String, value: JSONValue)] = []
            for entry in entries { members.append((entry.key, try mixed(entry.value))) }
            return .dictionary(members)
        case .double: return .object([("$double", try self.value(value))])
        case .float: return .object([("$float", try self.value(value))])
        case .data: return .object([("$data", try self.value(value))])
        case .date: return .object([("$date", try self.value(value))])
        case .uuid: return .object([("$uuid", try self.value(value))])
        case .objectId: return .object([("$objectId", try self.value(value))])
        case .decimal: return .object([("$decimal", try self.value(value))])
        }
    }

    /// The name of a link.
    package func name(of ref: ObjectRef) throws(EngineError) -> JSONValue {
        guard names == .primaryKeys,
            let key = try session.classHandle(ref.classID).primaryKey,
            let object = try session.object(ref)
        else { return .integer(ref.key) }
        return try value(try object.value(key.id))
    }
}

extension JSONValue {
    /// A link that says the class of its target.
    fileprivate static func link(to className: String, _ name: JSONValue) -> JSONValue {
        .object([("$class", .text(className)), ("$link", name)])
    }
}

extension ClassHandle {
    /// Whether an object of it could be mistaken for a link that says the class of its target.
    var canHaveLinkMembers: Bool {
        hasStoredProperty(named: "$class") || hasStoredProperty(named: "$link")
    }
}

extension ObjectHandle {
    /// The object as JSON: see `ObjectToJSON`.
    /// - Parameter depth: number of links that are followed.
    package func json(depth: Int) throws(EngineError) -> JSONValue {
        try requireExistence()
        var writer = ObjectToJSON(session, depth: depth)
        return try writer.object(self, of: try session.classHandle(ref.classID))
    }
}
