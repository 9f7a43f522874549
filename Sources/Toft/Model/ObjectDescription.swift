internal import ToftModel
/// Objects and collections as text: every property, linked objects within, to a depth and a length
/// that keep it readable.
struct ObjectDescription {
    private static let depth = 5
    private static let elements = 100

    private var text = ""

    static func text(of object: ObjectBase) -> String {
        var description = ObjectDescription()
        description.add(object, indentation: 0, depth: depth)
        return description.text
    }

    static func text(of map: some DescribedMap) -> String {
        var description = ObjectDescription()
        description.add(map, indentation: 0, depth: depth)
        return description.text
    }

    static func text(of collection: some RealmCollection) -> String {
        var description = ObjectDescription()
        description.add(collection, indentation: 0, depth: depth)
        return description.text
    }

    private mutating func add(_ object: ObjectBase, indentation: Int, depth: Int) {
        let model = object.objectSchema.model
        if object.isInvalidated {
            text += "\(model.name) (invalid)"
            return
        }
        guard depth > 0 else {
            text += "\(model.name) {...}"
            return
        }
        let margin = String(repeating: " ", count: indentation + 4)
        text += "\(model.name) {\n"
        for property in model.properties where property.shape.type != .linkingObjects {
            text += "\(margin)\(property.name) = "
            let value: Any? =
                object is DynamicObject
                ? object.value(forKey: property.name) : property.value(in: object)
            add(any: value, indentation: indentation + 4, depth: depth - 1)
            text += ";\n"
        }
        text += String(repeating: " ", count: indentation) + "}"
    }

    private mutating func add(_ collection: some RealmCollection, indentation: Int, depth: Int) {
        let margin = String(repeating: " ", count: indentation + 4)
        text += "\(Swift.type(of: collection)) (\n"
        for (index, element) in collection.prefix(Self.elements).enumerated() {
            text += "\(margin)[\(index)] "
            add(any: element, indentation: indentation + 4, depth: depth)
            text += "\n"
        }
        let rest = collection.count - Self.elements
        if rest > 0 { text += "\(margin)... \(rest) more\n" }
        text += String(repeating: " ", count: indentation) + ")"
    }

    private mutating func add(_ map: some DescribedMap, indentation: Int, depth: Int) {
        let margin = String(repeating: " ", count: indentation + 4)
        let entries = map.anyEntries
        text += "\(Swift.type(of: map)) {\n"
        for (key, value) in entries.prefix(Self.elements) {
            text += "\(margin)[\(key)] "
            add(any: value, indentation: indentation + 4, depth: depth)
            text += "\n"
        }
        let rest = entries.count - Self.elements
        if rest > 0 { text += "\(margin)... \(rest) more\n" }
        text += String(repeating: " ", count: indentation) + "}"
    }

    private mutating func add(any: Any?, indentation: Int, depth: Int) {
        switch any.flattened {
        case nil: text += "nil"
        case let object as ObjectBase: add(object, indentation: indentation, depth: depth)
        case let collection as any RealmCollection:
            add(collection, indentation: indentation, depth: depth)
        case let map as any DescribedMap: add(map, indentation: indentation, depth: depth)
        case let mixed as AnyRealmValue:
            guard depth > 0 else { return text += "..." }
            add(any: mixed.content, indentation: indentation, depth: depth - 1)
        case let value?: text += "\(value)"
        }
    }
}
