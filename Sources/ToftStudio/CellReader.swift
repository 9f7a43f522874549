internal import ToftEngine
internal import ToftModel
internal import ToftStorage

/// Makes values of what the page has for them: the cells of `CellWriter`, with data in base64 and
/// collections as arrays and objects. A link's key is a number, or the name of an object that the
/// same draft creates.
struct CellReader {
    let session: Session
    /// The objects that the draft has created so far, by their names there.
    var created: [String: ObjectRef] = [:]

    /// The value of a property, or of an element of it.
    func value(_ json: JSONValue, for property: PropertyHandle) throws(EngineError) -> Value {
        if case .null = json { return .null }
        switch property.type {
        case .link: return .link(try link(json, to: property.targetClassID))
        case .mixed: return try mixed(json, property)
        default: return try Value(Self.number(json, property.type), for: property)
        }
    }

    /// The value of a property with all its elements.
    func whole(_ json: JSONValue, for property: PropertyHandle) throws(EngineError) -> Value {
        switch (property.collection, json) {
        case (.none, _): return try value(json, for: property)
        case (.list, .list(let elements)), (.set, .list(let elements)):
            var values: [Value] = []
            for element in elements { values.append(try value(element, for: property)) }
            return .list(values)
        case (.dictionary, .dictionary(let members)):
            var entries: [ValueEntry] = []
            for (key, element) in members {
                entries.append(ValueEntry(key: key, value: try value(element, for: property)))
            }
            return .dictionary(entries)
        default: throw mismatch(property, json)
        }
    }

    /// The object that a key or a name in the draft means.
    func ref(_ json: JSONValue?, _ classID: ClassID) throws(EngineError) -> ObjectRef {
        switch json {
        case .integer(let key)?: return ObjectRef(classID: classID, key: key)
        case .text(let name)?:
            if let ref = created[name] { return ref }
            throw EngineError(.noSuchObject, "The draft creates no object '\(name)' before this.")
        default:
            throw EngineError(.invalidArgument, "An object is named by its key, a number.")
        }
    }

    private func link(_ json: JSONValue, to target: ClassID?) throws(EngineError) -> ObjectRef {
        let ref = try ref(json.member("k"), target ?? 0)
        guard ref.classID == target, try session.object(ref) != nil else {
            throw EngineError(
                .noSuchObject, "There is no object \(ref.key) to link to any more.",
                number: ref.key)
        }
        return ref
    }

    private func mixed(_ json: JSONValue, _ property: PropertyHandle) throws(EngineError) -> Value {
        let name = try json.text("t")
        guard let content = json.present("v") else { return .null }
        switch (name, content) {
        case (CollectionKind.list.name, .list(let elements)):
            var values: [Value] = []
            for element in elements { values.append(try mixedElement(element, property)) }
            return .list(values)
        case (CollectionKind.dictionary.name, .dictionary(let members)):
            var entries: [ValueEntry] = []
            for (key, element) in members {
                entries.append(ValueEntry(key: key, value: try mixedElement(element, property)))
            }
            return .dictionary(entries)
        case (PropertyType.link.name, _):
            let target = try session.classHandle(named: try content.text("c"))
            return .link(try link(content, to: target.id))
        default: break
        }
        guard let type = PropertyType.allCases.first(where: { $0.name == name }),
            let value = Value(Self.number(content, type), of: type)
        else { throw mismatch(property, content) }
        return value
    }

    private func mixedElement(_ json: JSONValue, _ property: PropertyHandle) throws(EngineError)
        -> Value
    {
        if case .null = json { return .null }
        return try mixed(json, property)
    }

    /// An int beyond 2^53 is a text in JavaScript.
    private static func number(_ json: JSONValue, _ type: PropertyType) -> JSONValue {
        guard type == .int, case .text(let text) = json, let value = Int64(text) else {
            return json
        }
        return .integer(value)
    }

    private func mismatch(_ property: PropertyHandle, _ json: JSONValue) -> EngineError {
        EngineError(
            .typeMismatch,
            "'\(property.className).\(property.name)' is \(property.typeName) and cannot be "
                + "\(json.kind).")
    }
}
