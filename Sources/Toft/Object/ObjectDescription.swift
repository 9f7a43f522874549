internal import Foundation
internal import ToftEngine
internal import ToftModel

/// Objects and collections as text, as Realm writes them: every property, linked objects within, to
/// a depth and a length that keep it readable.
enum ObjectDescription {
    private static let depth = 5
    private static let elements = 100
    private static let tooDeep = "<Maximum depth exceeded>"

    static func text(of object: ObjectBase) -> String { text(of: object, depth) }

    static func text(of map: some DescribedMap) -> String { text(of: map, depth) }

    static func text(of collection: some RealmCollection) -> String { text(of: collection, depth) }

    static func text(of collection: some DescribedValues) -> String { text(of: collection, depth) }

    static func text<Described: ProjectionObservable>(of projection: Described) -> String {
        text(of: projection, depth)
    }

    private static func text(of object: ObjectBase, _ depth: Int) -> String {
        guard depth > 0 else { return tooDeep }
        if object.row?.session.isHere == false {
            return "[object of another thread, queue or actor]"
        }
        guard (try? object.row?.isValid) ?? true else { return "[invalid object]" }
        let model = object.objectSchema.model
        let lines = model.properties.filter { $0.shape.type != .linkingObjects }.map { property in
            let value: Any? =
                object is DynamicObject
                ? object.value(forKey: property.name) : property.value(in: object)
            return "\(property.name) = \(text(of: value, depth - 1) ?? "(null)");"
        }
        return "\(model.name) {\n" + lines.map { "\t\(indented($0))\n" }.joined() + "}"
    }

    private static func text(of collection: some RealmCollection, _ depth: Int) -> String {
        guard depth > 0 else { return tooDeep }
        return text(
            named: "\(name(of: collection)) <\(address(of: collection))>", collection, depth)
    }

    private static func text(of collection: some DescribedValues, _ depth: Int) -> String {
        guard depth > 0 else { return tooDeep }
        return text(
            named: "\(name(of: collection)) <\(address(of: collection.described))>", collection,
            depth)
    }

    private static func text(named name: String, _ values: some Collection, _ depth: Int) -> String
    {
        let lines = values.prefix(elements).enumerated().map {
            "[\($0)] \(text(of: $1, depth - 1) ?? "<null>")"
        }
        return text(named: name, lines, skipped: values.count - elements)
    }

    private static func text<Described: ProjectionObservable>(
        of projection: Described, _ depth: Int
    ) -> String {
        guard depth > 0 else { return tooDeep }
        let lines = type(of: projection).paths.map { path in
            let value = text(of: path.value(of: projection.rootObject), depth - 1)
            return "\t\(path.label) = \(indented(value ?? "nil"));\n"
        }
        return "\(type(of: projection)) <\(address(of: projection))> {\n\(lines.joined())}"
    }

    private static func text(of map: some DescribedMap, _ depth: Int) -> String {
        guard depth > 0 else { return tooDeep }
        let entries = map.anyEntries
        let lines = entries.prefix(elements).map {
            "[\($0)]: \(text(of: $1, depth - 1) ?? "<null>")"
        }
        let name = "\(name(of: map)) <\(address(of: map))>"
        return text(named: name, lines, skipped: entries.count - elements)
    }

    private static func text(named name: String, _ lines: [String], skipped: Int) -> String {
        let rest = skipped > 0 ? "\n\t... \(skipped) objects skipped." : ""
        return "\(name) (\n" + lines.map { "\t\(indented($0))" }.joined(separator: ",\n") + rest
            + "\n)"
    }

    /// Nil for nil.
    private static func text(of any: Any?, _ depth: Int) -> String? {
        switch any.flattened {
        case nil: nil
        case let object as ObjectBase: text(of: object, depth)
        case let collection as any RealmCollection: text(of: collection, depth)
        case let map as any DescribedMap: text(of: map, depth)
        case let values as any DescribedValues: text(of: values, depth)
        case let projection as any ProjectionObservable: text(of: projection, depth)
        case let mixed as AnyRealmValue: text(of: mixed.content, depth)
        case let value?: shown(value)
        }
    }

    private static func indented(_ text: String) -> String {
        text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0) }.joined(separator: "\n\t")
    }

    /// The kind of a collection and what its elements are, in Realm's words: `List<int>`,
    /// `Results<Dog>`.
    private static func name<Found: Collection>(of collection: Found) -> String {
        let element = Found.Element.self as? any RealmCollectionValue.Type
        return "\(kind(of: Found.self))<\(element.map(word(for:)) ?? "\(Found.Element.self)")>"
    }

    /// The kind of a map and of its values: `Map<string, int>`.
    private static func name<Found: DescribedMap>(of map: Found) -> String {
        "\(kind(of: Found.self))<string, \(word(for: Found.valueType))>"
    }

    private static func kind(of type: Any.Type) -> Substring {
        "\(type)".prefix { $0 != "<" }
    }

    /// The word for what is in a collection: the name of a class, or the type of values.
    private static func word(for type: any RealmCollectionValue.Type) -> String {
        let shape = type._shape
        guard shape.type == .link else { return PropertyType(shape.type).text }
        return shape.target.map { ModelClass.name(of: $0) } ?? "\(type)"
    }

    /// The identity of collections in a log: the address of a list, or of the core of results.
    private static func address(of collection: Any) -> String {
        let object = type(of: collection) is AnyClass ? collection as AnyObject : nil
        let core = try? (collection as? any RealmCollection)?._core()
        guard let found = object ?? core else { return "0x0" }
        return "0x" + String(UInt(bitPattern: ObjectIdentifier(found)), radix: 16)
    }
}

/// A value for a message or a description: as Swift prints it, except a `Date` that is not a valid
/// time, on which Foundation stops the process, even within an array or a dictionary.
func shown(_ any: Any, depth: Int = 3) -> String {
    switch any {
    case let date as Date:
        let seconds = date.timeIntervalSinceReferenceDate
        // More than 30,000 years to either side of 2001.
        return abs(seconds) < 1e12 ? "\(date)" : "\(seconds) seconds from 2001"
    case let values as [Any]:
        guard depth > 0 else { return "[…]" }
        return "[" + values.map { shown($0, depth: depth - 1) }.joined(separator: ", ") + "]"
    case let entries as [String: Any]:
        guard depth > 0 else { return "[…]" }
        let texts = entries.map { "\"\($0)\": \(shown($1, depth: depth - 1))" }
        return "[" + texts.joined(separator: ", ") + "]"
    default: return "\(any)"
    }
}
