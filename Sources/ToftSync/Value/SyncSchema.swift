/// The type of a property's values. Raw values are those of the wire.
package enum ValueType: UInt8, Hashable, Sendable {
    /// Any value, lists and dictionaries of values included.
    case mixed = 0
    case bool = 1
    case int = 2
    case float = 3
    case double = 4
    case text = 5
    case data = 6
    case date = 7
    case link = 8
    case decimal = 10
    case objectID = 11
    case uuid = 12
    case embedded = 16
}

/// How many values a property has. Raw values are those of the wire.
package enum CollectionType: UInt8, Hashable, Sendable {
    case single = 0
    case list = 1
    case set = 2
    case dictionary = 3
}

/// The fate of a link and its owner when the object that it leads to is deleted. Raw values are
/// those of the wire.
package enum DeleteRule: UInt8, Hashable, Sendable {
    /// The link becomes null, or its element goes.
    case nullify = 0
    /// An object goes with the one whose property leads to it.
    case cascade = 1
    /// An object can't be deleted while the property leads to it.
    case deny = 2
}

package struct PropertySchema: Hashable, Sendable {
    package var name: Text
    package var number: PropertyNumber
    package var type: ValueType
    package var collection: CollectionType
    /// Whether values may be null; of a collection, its elements.
    package var isOptional: Bool
    /// The class of embedded objects; that of links, or nothing for any class.
    package var target: ClassNumber?
    package var deleteRule: DeleteRule
    /// The value of a new object.
    package var initial: SyncValue

    package init(
        _ name: Text, _ number: PropertyNumber, _ type: ValueType,
        in collection: CollectionType = .single, isOptional: Bool = true,
        target: ClassNumber? = nil, deleteRule: DeleteRule = .nullify, initial: SyncValue = .null
    ) {
        self.name = name
        self.number = number
        self.type = type
        self.collection = collection
        self.isOptional = isOptional
        self.target = target
        self.deleteRule = deleteRule
        self.initial = initial
    }

    /// The property's content in a new object.
    package var blank: Node {
        switch collection {
        case .single: .value(initial)
        case .list: .list(ElementList())
        case .set: .set([])
        case .dictionary: .dictionary([:])
        }
    }

    /// Whether a value of the property may lead to objects.
    package var canLink: Bool { type == .link || type == .mixed || type == .embedded }

    /// Whether two descriptions can be those of one property; a name may be all that differs.
    func fits(_ other: PropertySchema) -> Bool {
        (type, collection, isOptional, target) == (
            other.type, other.collection, other.isOptional, other.target
        )
    }
}

package struct ClassSchema: Hashable, Sendable {
    package enum Kind: UInt8, Hashable, Sendable {
        /// Objects are told by a primary key, which is not among the properties here.
        case keyed = 0
        case embedded = 1
        /// Objects are told by who made them.
        case unkeyed = 2
    }

    package var name: Text
    package var number: ClassNumber
    package var kind: Kind
    /// In the order of their numbers.
    package private(set) var properties: [PropertySchema] = []
    /// Sets of properties of which no two objects may have the same values; null is no value.
    package var uniques: [[PropertyNumber]]
    /// The value of a new object.
    package private(set) var blank = Fields()
    /// The empty collections of an embedded object that is sent with values alone.
    package private(set) var collections = Fields()

    package init(
        _ name: Text, _ number: ClassNumber, _ kind: Kind, _ properties: [PropertySchema] = [],
        uniques: [[PropertyNumber]] = []
    ) {
        self.name = name
        self.number = number
        self.kind = kind
        self.uniques = uniques
        for property in properties { add(property) }
    }

    package mutating func add(_ property: PropertySchema) {
        let place = properties.firstIndex { property.number < $0.number } ?? properties.count
        properties.insert(property, at: place)
        blank[property.number] = property.blank
        if property.collection != .single { collections[property.number] = property.blank }
    }

    /// Whether a unique constraint has the property.
    func isUnique(_ property: PropertyNumber) -> Bool {
        uniques.contains { $0.contains(property) }
    }

    package subscript(number: PropertyNumber) -> PropertySchema? {
        var (low, high) = (0, properties.count)
        while low < high {
            let middle = (low + high) / 2
            if properties[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < properties.count && properties[low].number == number ? properties[low] : nil
    }
}

/// The classes of a realm.
package struct Schema: Hashable, Sendable {
    package private(set) var classes: [ClassNumber: ClassSchema] = [:]

    package init(_ classes: [ClassSchema] = []) {
        for type in classes { self.classes[type.number] = type }
    }

    package subscript(number: ClassNumber) -> ClassSchema? { classes[number] }

    package mutating func add(_ type: ClassSchema) { classes[type.number] = type }

    package mutating func add(_ property: PropertySchema, to type: ClassNumber) {
        classes[type]?.add(property)
    }
}

/// The target of a path by the schema.
package struct Slot: Sendable {
    package enum Kind: Hashable, Sendable {
        /// A property with one value.
        case value
        /// A list, set or dictionary as a whole.
        case collection
        case element
        case label
        /// The value of an element.
        case elementValue
        case member
        case entry
    }

    package let property: PropertySchema
    package let kind: Kind

    /// Whether a link goes with what holds it when its target goes: a list keeps no place for
    /// nothing.
    package var isLinkInList: Bool { kind == .elementValue && property.type == .link }
}

extension Schema {
    /// Embedded objects around one another, and collections around a value within a mixed one.
    package static let nesting = 100

    /// The target of a path; nil if the classes have no such path.
    package func slot(_ path: Path) -> Slot? {
        guard var type = classes[path.object.type] else { return nil }
        var (index, depth) = (0, 0)
        let steps = path.steps
        while index < steps.count {
            guard case .property(let number) = steps[index], let property = type[number],
                depth <= Self.nesting
            else { return nil }
            index += 1
            depth += 1
            let kind: Slot.Kind
            switch property.collection {
            case .single: kind = .value
            case _ where index == steps.count: return Slot(property: property, kind: .collection)
            case .list:
                guard case .element = steps[index] else { return nil }
                index += 1
                if index == steps.count { return Slot(property: property, kind: .element) }
                if steps[index] == .label {
                    return index + 1 == steps.count ? Slot(property: property, kind: .label) : nil
                }
                guard steps[index] == .value else { return nil }
                index += 1
                kind = .elementValue
            case .set:
                guard case .member = steps[index], index + 1 == steps.count else { return nil }
                return Slot(property: property, kind: .member)
            case .dictionary:
                guard case .key = steps[index] else { return nil }
                index += 1
                kind = .entry
            }
            if index == steps.count { return Slot(property: property, kind: kind) }
            guard property.type == .embedded, let target = property.target,
                let embedded = classes[target]
            else { return nil }
            type = embedded
        }
        return nil
    }

    /// The content with an empty collection for each that an embedded object is sent without.
    func completed(_ content: Content, _ property: PropertySchema) -> Content {
        switch content {
        case .node(let node): .node(completed(node, property))
        case .element(let label, let node): .element(label, completed(node, property))
        case .absent, .label, .member: content
        }
    }

    func completed(_ node: Node, _ property: PropertySchema) -> Node {
        guard case .fields(var fields) = node,
            let type = property.target.flatMap({ classes[$0] })
        else { return node }
        for inner in type.properties {
            if let own = fields[inner.number] {
                if inner.type == .embedded { fields[inner.number] = completed(own, inner) }
            } else if let empty = type.collections[inner.number] {
                fields[inner.number] = empty
            }
        }
        return .fields(fields)
    }

    /// Calls `body` for each link in what a path has, with the path that goes when its target goes.
    package func eachLink(
        in content: Content, at path: Path, _ property: PropertySchema,
        _ body: (Path, ObjectID, PropertySchema) -> Void
    ) {
        switch content {
        case .absent, .label: return
        case .member:
            guard case .member(let value) = path.steps.last else { return }
            value.eachLink { body(path, $0, property) }
        case .element(_, let node): eachLink(in: node, at: path + .value, property, body)
        case .node(let node): eachLink(in: node, at: path, property, body)
        }
    }

    private func eachLink(
        in node: Node, at path: Path, _ property: PropertySchema,
        _ body: (Path, ObjectID, PropertySchema) -> Void
    ) {
        switch node {
        case .value(let value):
            if property.type == .link, case .value = path.steps.last {
                value.eachLink { body(path.parent, $0, property) }
            } else {
                value.eachLink { body(path, $0, property) }
            }
        case .fields(let fields):
            if let type = property.target.flatMap({ classes[$0] }) {
                eachLink(in: fields, at: path, type, body)
            }
        case .list(let list):
            for place in list.order {
                let element = path + .element(place.id) + .value
                eachLink(in: list.node(place), at: element, property, body)
            }
        case .set(let members):
            for member in members {
                member.eachLink { body(path + .member(member), $0, property) }
            }
        case .dictionary(let entries):
            for (key, node) in entries { eachLink(in: node, at: path + .key(key), property, body) }
        }
    }

    /// Calls `body` for each link of an object or embedded object.
    package func eachLink(
        in fields: Fields, at path: Path, _ type: ClassSchema,
        _ body: (Path, ObjectID, PropertySchema) -> Void
    ) {
        for property in type.properties where property.canLink {
            if let node = fields[property.number], node.mayLink {
                eachLink(in: node, at: path + .property(property.number), property, body)
            }
        }
    }
}
