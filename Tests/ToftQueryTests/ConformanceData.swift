import Foundation
import Testing
import ToftEngine
import ToftTestKit
@testable import ToftModel
import ToftStorage

@testable import ToftQuery

/// The data set in a database in memory. Embedded objects are ordinary ones here.
final class ConformanceData {
    private static let json: JSON = {
        let data =
            (try? Data(contentsOf: Fixtures.dataset)) ?? Data()
        return JSON(data)
    }()

    private static var schemaJSON: [JSON] { json["schema"].array ?? [] }

    let session: Session
    /// Object keys by class and primary key, as the answers spell it.
    private var keys: [String: [JSON: Int64]] = [:]
    private var names: [String: [Int64: JSON]] = [:]

    init(indexed: Bool) throws {
        let schema = Schema(
            Self.schemaJSON.compactMap { item -> ClassSchema? in
                guard let name = item["name"].string else { return nil }
                return ClassSchema(
                    name,
                    (item["properties"].array ?? []).compactMap { json in
                        var property = PropertySchema(json)
                        if indexed, let found = property, found.type.canBeIndexed,
                            found.collection == .none
                        {
                            property?.isIndexed = true
                        }
                        return property
                    })
            })
        let name = "conformance \(indexed) \(UInt64.random(in: 0...UInt64.max))"
        session = try Session.open(Configuration(location: .memory(name: name), schema: schema))
        try session.beginWrite()
        for item in Self.schemaJSON where item["embedded"].bool != true { try create(item) }
        for item in Self.schemaJSON where item["embedded"].bool != true { try fill(item) }
        try session.commit()
    }

    // MARK: Loading

    private func primaryKey(_ item: JSON) -> JSON? {
        (item["properties"].array ?? []).first { $0["primary"].bool == true }
    }

    private func create(_ item: JSON) throws {
        guard let name = item["name"].string, let primary = primaryKey(item),
            let primaryName = primary["name"].string
        else { return }
        let owner = try session.classHandle(named: name)
        let property = try owner.property(named: primaryName)
        for object in Self.json["objects"][name].array ?? [] {
            let spelled = object[primaryName]
            let handle = try session.create(owner.id, [(property.id, try value(spelled, property))])
            keys[name, default: [:]][spelled] = handle.ref.key
            names[name, default: [:]][handle.ref.key] = spelled
        }
    }

    private func fill(_ item: JSON) throws {
        guard let name = item["name"].string,
            let primary = primaryKey(item)?["name"].string
        else { return }
        for object in Self.json["objects"][name].array ?? [] {
            guard let key = keys[name]?[object[primary]],
                let handle = try session.object(
                    ObjectRef(classID: try session.classHandle(named: name).id, key: key))
            else { continue }
            try set(object, of: handle, className: name, except: primary)
        }
    }

    private func set(
        _ object: JSON, of handle: ObjectHandle, className: String, except primary: String?
    ) throws {
        let owner = try session.classHandle(named: className)
        for property in owner.visibleProperties where property.isStored && property.name != primary
        {
            guard let json = object.object?[property.name] else { continue }
            switch property.collection {
            case .none: try handle.set(property.id, try value(json, property))
            case .list:
                let list = try handle.list(property.id)
                for element in json.array ?? [] { try list.append(try value(element, property)) }
            case .set:
                let set = try handle.collection(property.id, .set)
                for element in json.array ?? [] { try set.setInsert(try value(element, property)) }
            case .dictionary:
                let dictionary = try handle.collection(property.id, .dictionary)
                for (key, element) in json.object ?? [:] {
                    try dictionary.dictionarySet(key, try value(element, property))
                }
            }
        }
    }

    private func value(_ json: JSON, _ property: PropertyHandle) throws -> Value {
        if property.type == .link, let target = property.targetName {
            if case .null = json { return .null }
            let owner = try session.classHandle(named: target)
            if owner.primaryKey == nil {
                let made = try session.create(owner.id)
                try set(json, of: made, className: target, except: nil)
                return .link(made.ref)
            }
            return keys[target]?[json].map { .link(ObjectRef(classID: owner.id, key: $0)) } ?? .null
        }
        if property.type == .mixed { return try mixed(json) }
        return Value(json, property.type) ?? .null
    }

    /// A mixed value, with those that are in it.
    private func mixed(_ json: JSON) throws -> Value {
        switch json["t"].string {
        case "list": .list(try (json["v"].array ?? []).map(mixed))
        case "dictionary":
            .dictionary(
                try (json["v"].object ?? [:]).map {
                    ValueEntry(key: $0.key, value: try mixed($0.value))
                })
        default: try scalar(json)
        }
    }

    // MARK: Asking

    func results(_ row: Fixtures.Row) throws -> Results {
        try session.results(of: try session.classHandle(named: row.className).id).filter(
            row.query, arguments: try row.arguments.map(argument))
    }

    /// The primary keys of the results, as the answers spell them.
    func answer(_ row: Fixtures.Row) throws -> [JSON] {
        try results(row).keys().map { names[row.className]?[$0] ?? .null }
    }

    private func argument(_ json: JSON) throws -> QueryArgument {
        if ["list", "set"].contains(json["t"].string) {
            return .list(try (json["v"].array ?? []).map { try scalar($0) })
        }
        return .value(try scalar(json))
    }

    private func scalar(_ json: JSON) throws -> Value {
        guard let type = json["t"].string else { return .null }
        if type == "link", let name = json["c"].string {
            return .link(
                ObjectRef(
                    classID: try session.classHandle(named: name).id,
                    key: keys[name]?[json["v"]] ?? -1))
        }
        guard let kind = PropertyType(named: type) else { throw Unsupported() }
        return Value(json["v"], kind) ?? .null
    }

    struct Unsupported: Error {}
}

extension PropertyType {
    init?(named name: String) {
        switch name {
        case "int": self = .int
        case "bool": self = .bool
        case "string": self = .string
        case "data": self = .data
        case "date": self = .date
        case "float": self = .float
        case "double": self = .double
        case "object": self = .link
        case "linkingObjects": self = .linkingObjects
        case "uuid": self = .uuid
        case "decimal128": self = .decimal128
        case "objectId": self = .objectId
        case "mixed": self = .mixed
        default: return nil
        }
    }
}

extension PropertySchema {
    /// Nil for a property of no type that is known.
    init?(_ json: JSON) {
        guard let name = json["name"].string, let typeName = json["type"].string else { return nil }
        let isPrimary = json["primary"].bool == true
        guard let type = PropertyType(named: typeName) ?? (isPrimary ? .string : nil) else {
            return nil
        }
        let collection: CollectionKind =
            switch json["collection"].string {
            case "list": .list
            case "set": .set
            case "dictionary": .dictionary
            default: .none
            }
        self.init(
            name, type, collection: collection,
            isOptional: json["optional"].bool == true
                || (type == .link && collection == .none), isPrimaryKey: isPrimary,
            target: json["target"].string, origin: json["origin"].string)
    }
}

extension Value {
    /// A value as the data set spells it.
    init?(_ json: JSON, _ type: PropertyType) {
        switch (type, json) {
        case (_, .null): self = .null
        case (.int, .int(let value)): self = .int(value)
        case (.bool, .bool(let value)): self = .bool(value)
        case (.string, .string(let value)): self = .string(value)
        case (.double, .string(let text)): self = .double(Double(text) ?? .nan)
        case (.double, .double(let value)): self = .double(value)
        case (.double, .int(let value)): self = .double(Double(value))
        case (.float, .string(let text)): self = .float(Float(text) ?? .nan)
        case (.float, .double(let value)): self = .float(Float(value))
        case (.float, .int(let value)): self = .float(Float(value))
        case (.uuid, .string(let text)):
            guard let bytes = FixedBytes(uuidText: text) else { return nil }
            self = .uuid(bytes)
        case (.decimal128, .string(let text)):
            guard let number = Decimal128(text) else { return nil }
            self = .decimal(number)
        case (.objectId, .string(let text)):
            guard let bytes = FixedBytes(objectIdText: text) else { return nil }
            self = .objectId(bytes)
        case (.data, .string(let text)): self = .data([UInt8](Data(base64Encoded: text) ?? Data()))
        case (.date, .string(let text)):
            let parts = text.dropFirst().split(separator: ":").map(String.init)
            guard parts.count == 2, let seconds = Int64(parts[0]), let nanoseconds = Int32(parts[1])
            else { return nil }
            self = .date(Timestamp(seconds: seconds, nanoseconds: nanoseconds))
        default: return nil
        }
    }
}
