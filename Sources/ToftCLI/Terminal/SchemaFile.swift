#if Terminal
import Foundation
import ToftEngine
import ToftModel

/// A schema as JSON, as `toftdb schema --json` prints it and `toftdb import --schema` reads it.
struct SchemaFile {
    struct Class {
        /// Of a plan: the table that it comes from.
        var table: String?
        var name: String
        var isEmbedded: Bool
        var unique: [[String]]
        var properties: [Property]
    }

    struct Property {
        /// Of a plan: the columns that it comes from.
        var columns: [String]
        /// Of a plan: how the column stores dates.
        var dates: String?
        /// Of a plan: the table that joins the rows of a list of links.
        var join: Join?
        var name: String
        var type: String
        var isOptional: Bool?
        var collections: [CollectionKind]
        var isPrimaryKey: Bool
        var isAutoIncremented: Bool
        var isIndexed: Bool
        var deleteRule: String?
        var target: String?
        var origin: String?
    }

    /// A table whose rows are links.
    struct Join {
        var table: String
        var from: String
        var to: String
    }

    var classes: [Class]

    /// - Parameter isPlan: it says which tables and columns of another database are imported.
    init(path: String, isPlan: Bool = false) throws {
        let json = try Input.bytes(of: path, isPlan ? "the plan" : "the schema")
        do throws(EngineError) {
            self = try SchemaFile(json: json, besides: isPlan ? ["notes"] : [], isPlan: isPlan)
        } catch {
            throw EngineError(
                error.code,
                "'\(path)' is no schema: \(error.message) `toftdb help import` shows one.")
        }
    }

    /// - Parameter others: members that it may have besides its classes.
    init(json: Data, besides others: [String], isPlan: Bool = false) throws(EngineError) {
        let json = try json.withUnsafeBytes { bytes in
            Result { () throws(EngineError) in try JSONParser.value(of: bytes) }
        }.get()
        if case .dictionary = json, json.member("classes") == nil {
            throw EngineError(.invalidSchema, "it has no 'classes'.")
        }
        let file = try KnownMembers(json, at: "", ["classes", "toft"] + others)
        guard file.isFormat(1) else {
            throw EngineError(
                .invalidSchema, "'toft' is not 1: a later version of toftdb has written it.")
        }
        classes = try file.each("classes") { json, place throws(EngineError) in
            try Class(json, at: place, isPlan: isPlan)
        }
    }

    func schema() throws(EngineError) -> Schema {
        var schema = Schema()
        for item in classes {
            schema.classes.append(try item.schema())
        }
        return schema
    }
}

extension SchemaFile.Class {
    func schema() throws(EngineError) -> ClassSchema {
        var properties: [PropertySchema] = []
        for property in self.properties { properties.append(try property.schema(in: name)) }
        return ClassSchema(name, isEmbedded: isEmbedded, properties, uniques: unique)
    }

    fileprivate init(_ json: JSONValue, at place: String, isPlan: Bool) throws(EngineError) {
        let members = try KnownMembers(
            json, at: place,
            (isPlan ? ["table"] : []) + ["name", "embedded", "unique", "properties"])
        table = try members.text("table")
        name = try members.required("name")
        isEmbedded = try members.isTrue("embedded") ?? false
        unique = try members.each("unique", orNone: true) { json, place throws(EngineError) in
            try KnownMembers.list(json, at: place) { json, place throws(EngineError) in
                try KnownMembers.text(json, at: place)
            }
        }
        properties = try members.each("properties") { json, place throws(EngineError) in
            try SchemaFile.Property(json, at: place, isPlan: isPlan)
        }
    }
}

extension SchemaFile.Property {
    private static let members = [
        "name", "type", "optional", "list", "set", "dictionary", "primaryKey", "autoIncrement",
        "indexed", "deleteRule", "target", "origin",
    ]

    private static let planMembers = ["column", "columns", "dates", "join"]

    fileprivate init(_ json: JSONValue, at place: String, isPlan: Bool) throws(EngineError) {
        let members = try KnownMembers(
            json, at: place, (isPlan ? Self.planMembers : []) + Self.members)
        columns = try members.each("columns", orNone: true) { json, place throws(EngineError) in
            try KnownMembers.text(json, at: place)
        }
        if let column = try members.text("column") { columns.insert(column, at: 0) }
        dates = try members.text("dates")
        join = try members.value("join").map { json throws(EngineError) in
            let members = try KnownMembers(json, at: "\(place).join", ["table", "from", "to"])
            return SchemaFile.Join(
                table: try members.required("table"), from: try members.required("from"),
                to: try members.required("to"))
        }
        name = try members.required("name")
        type = try members.required("type")
        isOptional = try members.isTrue("optional")
        collections = []
        for kind in [CollectionKind.list, .set, .dictionary]
        where try members.isTrue(kind.name) == true { collections.append(kind) }
        isPrimaryKey = try members.isTrue("primaryKey") ?? false
        isAutoIncremented = try members.isTrue("autoIncrement") ?? false
        isIndexed = try members.isTrue("indexed") ?? false
        deleteRule = try members.text("deleteRule")
        target = try members.text("target")
        origin = try members.text("origin")
    }

    func schema(in owner: String) throws(EngineError) -> PropertySchema {
        guard let kind = PropertyType.allCases.first(where: { type == $0.name || type == "\($0)" })
        else {
            let known = PropertyType.allCases.map(\.name)
            let hint = NearestName.hint(for: type, among: known).map { " \($0)" } ?? ""
            throw EngineError(
                .invalidSchema,
                "Property '\(owner).\(name)' has the unknown type '\(type)'.\(hint) The types are: "
                    + "\(known.joined(separator: ", ")).")
        }
        guard collections.count <= 1 else {
            throw EngineError(
                .invalidSchema,
                "Property '\(owner).\(name)' can be only one of a list, a set and a dictionary.")
        }
        let collection = collections.first ?? .none
        let isLinkOrNull = kind == .link && (collection == .none || collection == .dictionary)
        return PropertySchema(
            name, kind, collection: collection, isOptional: isOptional ?? isLinkOrNull,
            isPrimaryKey: isPrimaryKey, isAutoIncremented: isAutoIncremented,
            isIndexed: isIndexed, deleteRule: try rule(in: owner), target: target,
            origin: origin)
    }

    private func rule(in owner: String) throws(EngineError) -> DeleteRule {
        guard let deleteRule else { return .nullify }
        guard let rule = DeleteRule.allCases.first(where: { "\($0)" == deleteRule }) else {
            throw EngineError(
                .invalidSchema,
                "Property '\(owner).\(name)' has the unknown delete rule '\(deleteRule)'. The "
                    + "rules are nullify, cascade and deny.")
        }
        return rule
    }
}

extension PropertySchema {
    /// The property as the members that a schema file has of it.
    var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [("name", .text(name)), ("type", .text(type.name))]
        if collection != .none { members.append((collection.name, .bool(true))) }
        if isOptional && type != .link && type != .mixed {
            members.append(("optional", .bool(true)))
        }
        if isPrimaryKey { members.append(("primaryKey", .bool(true))) }
        if isAutoIncremented { members.append(("autoIncrement", .bool(true))) }
        if isIndexed && !isPrimaryKey { members.append(("indexed", .bool(true))) }
        if deleteRule != .nullify { members.append(("deleteRule", .text("\(deleteRule)"))) }
        if let target { members.append(("target", .text(target))) }
        if let origin { members.append(("origin", .text(origin))) }
        return members
    }
}

extension PropertyHandle {
    /// The property as a member of a schema file.
    func json(origin: PropertyHandle?) -> JSONValue {
        let declared = PropertySchema(
            name, type, collection: collection, isOptional: isOptional, isPrimaryKey: isPrimaryKey,
            isAutoIncremented: isAutoIncremented, isIndexed: isIndexed, deleteRule: deleteRule,
            target: targetName, origin: origin?.name)
        return .object(declared.members)
    }
}

/// The members of an object in a file that people write: unknown members are errors. Errors name
/// their place: `classes[0].properties[1]`.
private struct KnownMembers {
    private let json: JSONValue
    private let place: String

    /// Names that other databases use for these members.
    private static let otherNames = [
        "nullable": "optional", "null": "optional", "index": "indexed", "key": "primaryKey",
        "pk": "primaryKey", "many": "list", "array": "list", "map": "dictionary",
        "objectType": "target", "class": "target", "fields": "properties",
    ]

    init(_ json: JSONValue, at place: String, _ known: [String]) throws(EngineError) {
        guard case .dictionary(let members) = json else {
            throw Self.mismatch(place, "an object")
        }
        for (name, _) in members where !known.contains(where: { $0.isSameName(as: name) }) {
            let other = Self.otherNames[name].flatMap { known.contains($0) ? $0 : nil }
            let hint =
                other.map { "Did you mean '\($0)'?" } ?? NearestName.hint(for: name, among: known)
            throw EngineError(
                .invalidSchema,
                "\(Self.shown(place)) has a member '\(name)', which is unknown. "
                    + "\(hint.map { "\($0) " } ?? "")The members are: "
                    + "\(known.joined(separator: ", ")).")
        }
        self.json = json
        self.place = place
    }

    /// Whether it says no format, or this one.
    func isFormat(_ number: Int64) -> Bool {
        switch json.member("toft") {
        case nil: true
        case .integer(number)?: true
        default: false
        }
    }

    func required(_ name: String) throws(EngineError) -> String {
        guard let text = try text(name) else { throw missing(name) }
        return text
    }

    func value(_ name: String) -> JSONValue? { present(name) }

    func text(_ name: String) throws(EngineError) -> String? {
        guard let value = present(name) else { return nil }
        return try Self.text(value, at: inside(name))
    }

    func isTrue(_ name: String) throws(EngineError) -> Bool? {
        guard let value = present(name) else { return nil }
        guard case .bool(let isTrue) = value else {
            throw Self.mismatch(inside(name), "true or false")
        }
        return isTrue
    }

    /// Reads the elements of an array.
    func each<Element>(
        _ name: String, orNone: Bool = false,
        _ read: (JSONValue, _ place: String) throws(EngineError) -> Element
    ) throws(EngineError) -> [Element] {
        guard let value = present(name) else {
            guard orNone else { throw missing(name) }
            return []
        }
        return try Self.list(value, at: inside(name), read)
    }

    static func text(_ json: JSONValue, at place: String) throws(EngineError) -> String {
        guard case .text(let text) = json else { throw mismatch(place, "a text") }
        return text
    }

    static func list<Element>(
        _ json: JSONValue, at place: String,
        _ read: (JSONValue, _ place: String) throws(EngineError) -> Element
    ) throws(EngineError) -> [Element] {
        guard case .list(let values) = json else { throw mismatch(place, "an array") }
        var elements: [Element] = []
        for (index, value) in values.enumerated() {
            elements.append(try read(value, "\(place)[\(index)]"))
        }
        return elements
    }

    /// The value of a member that exists and is not null.
    private func present(_ name: String) -> JSONValue? {
        switch json.member(name) {
        case nil, .null?: nil
        case let value?: value
        }
    }

    private func inside(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

    private func missing(_ name: String) -> EngineError {
        EngineError(.invalidSchema, "\(Self.shown(place)) has no '\(name)'.")
    }

    private static func mismatch(_ place: String, _ what: String) -> EngineError {
        EngineError(.invalidSchema, "\(shown(place)) is not \(what).")
    }

    private static func shown(_ place: String) -> String { place.isEmpty ? "it" : "'\(place)'" }
}
#endif
