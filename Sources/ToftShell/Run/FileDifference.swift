package import ToftEngine
internal import ToftModel

/// Compares two files: their classes, and the objects of classes in both by primary key. Objects
/// without one are compared by their values, in any order.
package struct FileDifference {
    private let left: Session
    private let right: Session
    /// Takes each difference.
    private let tell: (JSONValue) throws(EngineError) -> Void
    private var count = 0

    /// - Parameters:
    ///   - tell: called with each difference: a JSON object whose `kind` is `class`, `schema`,
    ///     `created`, `deleted` or `changed`, as the first file becomes the second.
    package init(
        _ left: Session, _ right: Session, tell: @escaping (JSONValue) throws(EngineError) -> Void
    ) {
        self.left = left
        self.right = right
        self.tell = tell
    }

    /// Finds all differences.
    /// - Returns: their number.
    package mutating func find() throws(EngineError) -> Int {
        let before = left.schema.visibleClasses, after = right.schema.visibleClasses
        for owner in before {
            guard let other = after.first(where: { $0.name.isSameName(as: owner.name) }) else {
                try add("class", owner.name, [("difference", .text("only in the first file"))])
                continue
            }
            try compare(owner, other)
        }
        for owner in after where !before.contains(where: { $0.name.isSameName(as: owner.name) }) {
            try add("class", owner.name, [("difference", .text("only in the second file"))])
        }
        return count
    }

    private mutating func add(
        _ kind: String, _ className: String, _ members: [(String, JSONValue)]
    ) throws(EngineError) {
        count += 1
        try tell(.object([("kind", .text(kind)), ("class", .text(className))] + members))
    }

    // MARK: Classes

    private mutating func compare(_ owner: ClassHandle, _ other: ClassHandle) throws(EngineError) {
        if owner.isEmbedded != other.isEmbedded {
            try add(
                "schema", owner.name,
                [
                    ("before", .bool(owner.isEmbedded)), ("after", .bool(other.isEmbedded)),
                    ("difference", .text("embedded")),
                ])
        }
        let before = Dictionary(
            uniqueKeysWithValues: owner.visibleProperties.map { ($0.persistedName, $0.description) }
        )
        let after = Dictionary(
            uniqueKeysWithValues: other.visibleProperties.map { ($0.persistedName, $0.description) }
        )
        for name in Set(before.keys).union(after.keys).sorted() where before[name] != after[name] {
            try add(
                "schema", owner.name,
                [
                    ("property", .text(name)), ("before", before[name].map { .text($0) } ?? .null),
                    ("after", after[name].map { .text($0) } ?? .null),
                ])
        }
        // Embedded objects are compared within their owners.
        if owner.isEmbedded || other.isEmbedded { return }
        if let key = owner.primaryKey, let otherKey = other.primaryKey,
            key.name.isSameName(as: otherKey.name), key.type == otherKey.type
        {
            try compareByKey(owner, key, other, otherKey)
        } else {
            try compareByValues(owner, other)
        }
    }

    // MARK: Objects

    private mutating func compareByKey(
        _ owner: ClassHandle, _ key: PropertyHandle, _ other: ClassHandle,
        _ otherKey: PropertyHandle
    ) throws(EngineError) {
        var before = ObjectToJSON(left), after = ObjectToJSON(right)
        var walk = try left.results(of: owner.id).walk()
        while let keys = try walk.nextRun() {
            for objectKey in keys {
                let object = left.handle(objectKey, owner)
                let value = try object.value(key.id)
                let name = ("key", try before.value(of: key, in: object))
                guard let twin = try right.find(value, in: other.id) else {
                    try add(
                        "deleted", owner.name,
                        [name, ("object", try before.object(object, of: owner))])
                    continue
                }
                let changes = try changes(object, owner, &before, twin, other, &after)
                if !changes.isEmpty {
                    try add("changed", owner.name, [name, ("properties", .object(changes))])
                }
            }
        }
        var other = try right.results(of: other.id).walk()
        while let keys = try other.nextRun() {
            for objectKey in keys {
                let object = right.handle(objectKey, try right.classHandle(otherKey.classID))
                let value = try object.value(otherKey.id)
                if try left.find(value, in: owner.id) != nil { continue }
                try add(
                    "created", owner.name,
                    [
                        ("key", try after.value(of: otherKey, in: object)),
                        ("object", try object.json(depth: 0)),
                    ])
            }
        }
    }

    /// The properties whose values differ, with both values.
    private func changes(
        _ object: ObjectHandle, _ owner: ClassHandle, _ before: inout ObjectToJSON,
        _ twin: ObjectHandle, _ other: ClassHandle, _ after: inout ObjectToJSON
    ) throws(EngineError) -> [(String, JSONValue)] {
        var changes: [(String, JSONValue)] = []
        for property in owner.visibleProperties where property.isStored {
            guard
                let otherProperty = other.visibleProperties.first(where: {
                    $0.isStored && $0.persistedName.isSameName(as: property.persistedName)
                })
            else { continue }
            let old = try before.value(of: property, in: object)
            let new = try after.value(of: otherProperty, in: twin)
            if old.compared(property) != new.compared(otherProperty) {
                changes.append(
                    (property.persistedName, .object([("before", old), ("after", new)])))
            }
        }
        return changes
    }

    /// Each object of one file takes one with equal values from the other.
    private mutating func compareByValues(_ owner: ClassHandle, _ other: ClassHandle)
        throws(EngineError)
    {
        var counts: [String: Int] = [:]
        try Self.forEach(of: owner, in: left) { text, _ in counts[text, default: 0] += 1 }
        var created: [JSONValue] = []
        try Self.forEach(of: other, in: right) { text, json in
            if let count = counts[text], count > 0 {
                counts[text] = count - 1
            } else {
                created.append(json)
            }
        }
        var deleted: [JSONValue] = []
        try Self.forEach(of: owner, in: left) { text, json in
            guard let count = counts[text], count > 0 else { return }
            counts[text] = count - 1
            deleted.append(json)
        }
        for object in deleted { try add("deleted", owner.name, [("object", object)]) }
        for object in created { try add("created", owner.name, [("object", object)]) }
    }

    /// Calls `body` with the values of each object, as text and as JSON, without the object's key.
    private static func forEach(
        of owner: ClassHandle, in session: Session,
        _ body: (_ text: String, _ json: JSONValue) -> Void
    ) throws(EngineError) {
        var writer = ObjectToJSON(session)
        var walk = try session.results(of: owner.id).walk()
        while let keys = try walk.nextRun() {
            for key in keys {
                var members: [(String, JSONValue)] = []
                var text = ""
                let object = session.handle(key, owner)
                for property in owner.visibleProperties where property.isStored {
                    let value = try writer.value(of: property, in: object)
                    members.append((property.persistedName, value))
                    text += "\(property.persistedName)=\(value.compared(property));"
                }
                body(text, .object(members))
            }
        }
    }
}

extension PropertyHandle {
    /// All that a schema says of it.
    fileprivate var description: String {
        typeName + (isPrimaryKey ? ", primary key" : "")
            + (isAutoIncremented ? ", auto-increment" : "")
            + (isIndexed && !isPrimaryKey ? ", indexed" : "")
            + (deleteRule == .nullify ? "" : ", \(deleteRule)")
    }
}

extension JSONValue {
    /// The value as text, for comparison: a set has no order.
    fileprivate func compared(_ property: PropertyHandle) -> String {
        guard property.collection == .set, case .list(let values) = self else {
            return description
        }
        return values.map(\.description).sorted().joined(separator: ",")
    }
}
