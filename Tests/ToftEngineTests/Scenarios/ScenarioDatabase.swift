import ToftModel
import ToftStorage
import ToftTestKit
@testable import ToftEngine

/// The database of the scenarios: its schema and data, and the operations of their transactions.
struct ScenarioDatabase {
    let name: String
    let writer: Session

    static let schema = Schema(
        (Scenario.file["schema"].array ?? []).map { described in
            ClassSchema(
                described["name"].string ?? "", isEmbedded: described["embedded"].bool == true,
                (described["properties"].array ?? []).compactMap(property))
        })

    private static func property(_ described: JSON) -> PropertySchema? {
        let name = described["name"].string ?? ""
        let collection: CollectionKind =
            switch described["collection"].string {
            case "list": .list
            case "set": .set
            case "dictionary": .dictionary
            default: .none
            }
        switch described["type"].string {
        case "int":
            return PropertySchema(
                name, .int, collection: collection,
                isPrimaryKey: described["primary"].bool == true)
        case "string":
            return PropertySchema(
                name, .string, collection: collection,
                isOptional: described["optional"].bool == true)
        case "object":
            return PropertySchema(
                name, .link, collection: collection,
                isOptional: collection == .none || collection == .dictionary,
                target: described["target"].string)
        case "mixed": return PropertySchema(name, .mixed, collection: collection)
        case "linkingObjects":
            return .linkingObjects(
                name, from: described["target"].string ?? "", described["origin"].string ?? "")
        default: return nil
        }
    }

    static func open(_ name: String) throws(EngineError) -> Session {
        try Session.open(Configuration(location: .memory(name: name), schema: schema))
    }

    init(_ name: String) throws(EngineError) {
        self.name = name
        writer = try Self.open(name)
        try writer.beginWrite()
        let classes = ["Item", "Leaf", "Owner"]
        for name in classes {
            for object in Scenario.file["data"][name].array ?? [] {
                try writer.create(
                    try id(of: name), [(try propertyID("id", name), .int(object["id"].int ?? 0))])
            }
        }
        for name in classes {
            for object in Scenario.file["data"][name].array ?? [] {
                try set(object, in: try find(object["id"], name))
            }
        }
        try writer.commit()
    }

    // MARK: Names

    func id(of className: String) throws(EngineError) -> ClassID {
        try writer.classHandle(named: className).id
    }

    func propertyID(_ property: String, _ className: String) throws(EngineError) -> PropertyID {
        let owner = try writer.classHandle(named: className)
        return try model { () throws(ModelError) in try owner.property(named: property).id }
    }

    func find(_ primaryKey: JSON, _ className: String) throws(EngineError) -> ObjectHandle {
        guard
            let object = try writer.find(Value.int(primaryKey.int ?? 0), in: try id(of: className))
        else {
            throw EngineError(
                .noSuchObject,
                "The scenario speaks of \(className) \(primaryKey), which is not there.")
        }
        return object
    }

    // MARK: Operations

    /// One transaction. It is cancelled if an operation says so.
    func commit(_ operations: [JSON]) throws(EngineError) {
        try writer.beginWrite()
        for operation in operations {
            if operation["op"].string == "rollback" { return try writer.cancel() }
            try run(operation)
        }
        try writer.commit()
    }

    private func run(_ operation: JSON) throws(EngineError) {
        let className = operation["class"].string ?? ""
        switch operation["op"].string ?? "" {
        case "create":
            let object = try writer.create(
                try id(of: className),
                [(try propertyID("id", className), .int(operation["pk"].int ?? 0))])
            try set(operation["values"], in: object)
        case "set":
            let object = try find(operation["pk"], className)
            try set(operation["values"], in: try walk(operation["path"], from: object))
        case "delete": try find(operation["pk"], className).delete()
        case let edit:
            let object = try find(operation["pk"], className)
            let property = try object.property(
                propertyID(operation["property"].string ?? "", className))
            try run(
                edit, operation, try object.collection(property.id, property.collection))
        }
    }

    private func run(_ edit: String, _ operation: JSON, _ list: CollectionHandle)
        throws(EngineError)
    {
        func index(_ name: String) -> Int { Int(operation[name].int ?? 0) }
        switch edit {
        case "list.insert":
            try list.insert(try value(operation["value"], list.property), at: index("index"))
        case "list.append": try list.append(try value(operation["value"], list.property))
        case "list.set":
            try list.set(try value(operation["value"], list.property), at: index("index"))
        case "list.remove": try list.erase(index("index")..<index("index") + 1)
        case "list.move": try list.move(from: index("from"), to: index("to"))
        case "list.swap": try list.swap(index("a"), index("b"))
        case "list.clear", "set.clear", "dict.clear": try list.clear()
        case "set.insert": try list.setInsert(try value(operation["value"], list.property))
        case "set.remove": _ = try list.setErase(try value(operation["value"], list.property))
        case "dict.set":
            try list.dictionarySet(
                operation["key"].string ?? "", try value(operation["value"], list.property))
        case "dict.remove": try list.dictionaryErase(operation["key"].string ?? "")
        default: throw EngineError(.unsupported, "The scenario asks for \(edit).")
        }
    }

    /// The object that a path of names and indexes leads to.
    private func walk(_ path: JSON, from object: ObjectHandle) throws(EngineError) -> ObjectHandle {
        var reached = object
        var list: CollectionHandle?
        for step in path.array ?? [] {
            let target: Value
            if let known = list {
                target = try known.value(at: Int(step.int ?? 0))
                list = nil
            } else {
                let id = try propertyID(step.string ?? "", reached.owner.name)
                guard try !reached.property(id).isCollection else {
                    list = try reached.list(id)
                    continue
                }
                target = try reached.value(id)
            }
            guard case .link(let ref) = target, let next = try writer.object(ref) else {
                throw EngineError(.noSuchObject, "The path of the scenario leads nowhere.")
            }
            reached = next
        }
        return reached
    }

    /// Makes embedded objects of the values that are objects; true if the property is of such.
    private func embed(_ json: JSON, in object: ObjectHandle, _ property: PropertyHandle)
        throws(EngineError) -> Bool
    {
        guard property.targetName == "Part" else { return false }
        let nothing: [(property: PropertyID, value: Value)] = []
        if property.isCollection {
            let list = try object.list(property.id)
            try list.clear()
            for element in json.array ?? [] {
                try set(element, in: try list.insertEmbedded(nothing, at: list.count))
            }
        } else if json == .null {
            try object.set(property.id, Value.null)
        } else {
            try set(json, in: try object.setEmbedded(property.id, nothing))
        }
        return true
    }

    /// Sets the properties that the schema has.
    private func set(_ values: JSON, in object: ObjectHandle) throws(EngineError) {
        let owner = try writer.classHandle(object.ref.classID)
        for (name, json) in (values.object ?? [:]).sorted(by: { $0.key < $1.key })
        where name != "id" {
            guard let property = owner.visibleProperties.first(where: { $0.name == name }),
                property.isStored
            else { continue }
            if try embed(json, in: object, property) { continue }
            guard property.isCollection else {
                try object.set(property.id, try value(json, property))
                continue
            }
            let collection = try object.collection(property.id, property.collection)
            try collection.clear()
            for element in json.array ?? [] {
                if property.collection == .set {
                    try collection.setInsert(try value(element, property))
                } else {
                    try collection.append(try value(element, property))
                }
            }
            for (key, element) in json.object ?? [:] {
                try collection.dictionarySet(key, try value(element, property))
            }
        }
    }

    func value(_ json: JSON, _ property: PropertyHandle) throws(EngineError) -> Value {
        if property.type == .mixed, json["t"].string == "link" {
            return .link(try find(json["v"], json["c"].string ?? "").ref)
        }
        switch (json, property.type) {
        case (.null, _): return .null
        case (.int, .link): return .link(try find(json, property.targetName ?? "").ref)
        case (.int(let value), _): return .int(value)
        case (.string(let value), _): return .string(value)
        default:
            throw EngineError(
                .unsupported, "The scenario holds a value of a type that is not there yet: \(json)."
            )
        }
    }
}
