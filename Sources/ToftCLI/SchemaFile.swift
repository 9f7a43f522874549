import Foundation
import ToftEngine
import ToftModel

/// A schema as JSON, as `toftdb schema --json` prints it and `toftdb import --schema` reads it.
struct SchemaFile: Decodable {
    struct Class: Decodable {
        var name: String
        var embedded: Bool?
        var unique: [[String]]?
        var properties: [Property]
    }

    struct Property: Decodable {
        var name: String
        var type: String
        var optional: Bool?
        var list: Bool?
        var set: Bool?
        var dictionary: Bool?
        var primaryKey: Bool?
        var autoIncrement: Bool?
        var indexed: Bool?
        var deleteRule: String?
        var target: String?
        var origin: String?
    }

    var classes: [Class]
    init(path: String) throws {
        let json = try Input.bytes(of: path, "the schema")
        do throws(EngineError) {
            self = try SchemaFile(json: json)
        } catch {
            throw EngineError(
                error.code,
                "'\(path)' is no schema: \(error.message) `toftdb help import` shows one.")
        }
    }

    init(json: Data) throws(EngineError) {
        // Says where a text is no JSON.
        _ = try json.withUnsafeBytes { bytes in
            Result { () throws(EngineError) in try JSONParser.value(of: bytes) }
        }.get()
        do {
            self = try JSONDecoder().decode(SchemaFile.self, from: json)
        } catch {
            let reason = (error as? DecodingError)?.reason ?? "it can't be decoded"
            throw EngineError(.invalidSchema, "\(reason).")
        }
    }

    func schema() throws -> Schema {
        Schema(
            try classes.map { item in
                ClassSchema(
                    item.name, isEmbedded: item.embedded ?? false,
                    try item.properties.map { try $0.schema(in: item.name) },
                    uniques: item.unique ?? [])
            })
    }
}

extension SchemaFile.Property {
    func schema(in owner: String) throws -> PropertySchema {
        guard let kind = PropertyType.allCases.first(where: { $0.name == type }) else {
            let known = PropertyType.allCases.map(\.name).joined(separator: ", ")
            throw EngineError(
                .invalidSchema,
                "Property '\(owner).\(name)' has the unknown type '\(type)'. The types are: "
                    + "\(known)."
            )
        }
        let collection = try collection(in: owner)
        let isLinkOrNull = kind == .link && (collection == .none || collection == .dictionary)
        return PropertySchema(
            name, kind, collection: collection, isOptional: optional ?? isLinkOrNull,
            isPrimaryKey: primaryKey ?? false, isAutoIncremented: autoIncrement ?? false,
            isIndexed: indexed ?? false, deleteRule: try rule(in: owner), target: target,
            origin: origin)
    }

    private func rule(in owner: String) throws -> DeleteRule {
        guard let deleteRule else { return .nullify }
        guard let rule = DeleteRule.allCases.first(where: { "\($0)" == deleteRule }) else {
            throw EngineError(
                .invalidSchema,
                "Property '\(owner).\(name)' has the unknown delete rule '\(deleteRule)'. The "
                    + "rules are nullify, cascade and deny.")
        }
        return rule
    }

    private func collection(in owner: String) throws -> CollectionKind {
        let kinds: [(isSaid: Bool?, kind: CollectionKind)] = [
            (list, .list), (set, .set), (dictionary, .dictionary),
        ]
        let said = kinds.filter { $0.isSaid == true }
        guard said.count <= 1 else {
            throw EngineError(
                .invalidSchema,
                "Property '\(owner).\(name)' can be only one of a list, a set and a dictionary.")
        }
        return said.first?.kind ?? .none
    }
}

extension PropertyHandle {
    /// The property as a member of a schema file.
    func json(origin: PropertyHandle?) -> JSONValue {
        var members: [(String, JSONValue)] = [("name", .text(name)), ("type", .text(type.name))]
        if isCollection { members.append((collection.name, .bool(true))) }
        if isOptional && type != .link && type != .mixed {
            members.append(("optional", .bool(true)))
        }
        if isPrimaryKey { members.append(("primaryKey", .bool(true))) }
        if isAutoIncremented { members.append(("autoIncrement", .bool(true))) }
        if isIndexed && !isPrimaryKey { members.append(("indexed", .bool(true))) }
        if deleteRule != .nullify { members.append(("deleteRule", .text("\(deleteRule)"))) }
        if let targetName { members.append(("target", .text(targetName))) }
        if let origin { members.append(("origin", .text(origin.name))) }
        return .object(members)
    }
}

extension DecodingError {
    /// What is wrong, and where: `classes[0].properties[1]` and the like.
    var reason: String {
        switch self {
        case .keyNotFound(let key, let context):
            "\(Self.place(context)) has no '\(key.stringValue)'"
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            "\(Self.place(context)) is not \(Self.name(type))"
        case .dataCorrupted(let context): "\(Self.place(context)) can't be decoded"
        @unknown default: "it can't be decoded"
        }
    }

    private static func place(_ context: Context) -> String {
        let path = context.codingPath.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += (path.isEmpty ? "" : ".") + key.stringValue
            }
        }
        return path.isEmpty ? "it" : "'\(path)'"
    }

    private static func name(_ type: any Any.Type) -> String {
        switch type {
        case is Bool.Type: "true or false"
        case is String.Type: "a text"
        case is any RangeReplaceableCollection.Type: "an array"
        default: "an object"
        }
    }
}
