/// The server's check of ops: their author may be faulty, or no replica at all.
extension Schema {
    /// The problem of an op: a path that the classes don't have, a value of another type, an id in
    /// another replica's name; nil for nothing.
    package func problem(with op: Op, of author: ReplicaNumber) -> String? {
        switch op {
        case .create(let object, let given):
            return problem(withNew: object, given, of: author)
        case .delete(let object, _):
            return self[object.type] == nil ? "there is no class \(object.type.rawValue)" : nil
        case .put(let path, let content):
            guard let slot = slot(path) else { return unknown(path) }
            switch (slot.kind, content) {
            case (.value, .node(let node)), (.elementValue, .node(let node)),
                (.entry, .node(let node)):
                return problem(with: node, slot.property)
            case (.member, .member), (.member, .absent), (.entry, .absent):
                guard case .member(let member) = path.steps.last else { return nil }
                return problem(with: .value(member), slot.property)
            default: return "a put of what can't be at its path"
            }
        case .add(let path, _):
            guard let slot = slot(path) else { return unknown(path) }
            let isNumber = slot.property.type == .int || slot.property.type == .mixed
            return slot.kind == .value && isNumber ? nil : "an add to what is no number"
        case .insert(let path, _, let node):
            guard let slot = slot(path), slot.kind == .element else { return unknown(path) }
            guard path.element?.replica == author else { return "an element in another's name" }
            return problem(with: node, slot.property)
        case .move(let path, _), .remove(let path):
            return slot(path)?.kind == .element ? nil : unknown(path)
        case .clear(let path): return slot(path)?.kind == .collection ? nil : unknown(path)
        case .nested(let path, _, let edit):
            guard let slot = slot(path), [.value, .elementValue, .entry].contains(slot.kind),
                slot.property.type == .mixed
            else { return unknown(path) }
            let values: [SyncValue] =
                switch edit {
                case .entry(_, let value): value.map { [$0] } ?? []
                case .elements(let values): values
                }
            return values.contains { $0.depth >= Self.nesting } ? "nested too deep" : nil
        case .addClass(let type):
            return type.properties.lazy.compactMap(problem(withNew:)).first
        case .addProperty(let type, let property):
            return self[type] == nil
                ? "there is no class \(type.rawValue)" : problem(withNew: property)
        }
    }

    private func unknown(_ path: Path) -> String {
        "a path that class \(path.object.type.rawValue) does not have"
    }

    private func problem(withNew property: PropertySchema) -> String? {
        if property.type == .embedded, property.target == nil {
            return "property \(property.name.string) has no class of embedded objects"
        }
        if property.type == .embedded, property.collection == .set {
            return "property \(property.name.string) is a set of embedded objects"
        }
        return nil
    }

    private func problem(
        withNew object: ObjectID, _ given: [Given], of author: ReplicaNumber
    ) -> String? {
        guard let type = self[object.type] else {
            return "there is no class \(object.type.rawValue)"
        }
        switch (type.kind, object.key) {
        case (.embedded, _): return "an embedded object is not created but put"
        case (.keyed, .made): return "an object without the primary key of its class"
        case (.keyed, _): break
        case (.unkeyed, .made(let id)):
            if id.replica != author { return "an object in another's name" }
        case (.unkeyed, _): return "an object with a primary key, which its class does not have"
        }
        for one in given {
            guard let property = type[one.property] else {
                return "class \(type.name.string) has no property \(one.property.rawValue)"
            }
            switch (property.collection, one.node) {
            case (.single, let node):
                if let problem = problem(with: node, property) { return problem }
            case (.list, .list(let list)):
                for place in list.order {
                    if place.id.replica != author { return "an element in another's name" }
                    if let problem = problem(with: list.node(place), property) { return problem }
                }
            case (.set, .set(let members)):
                for member in members {
                    if let problem = problem(with: .value(member), property) { return problem }
                }
            case (.dictionary, .dictionary(let entries)):
                for node in entries.values {
                    if let problem = problem(with: node, property) { return problem }
                }
            default: return "property \(property.name.string) is another kind of collection"
            }
        }
        return nil
    }

    /// The problem of one value of a property; nil for nothing.
    private func problem(with node: Node, _ property: PropertySchema, depth: Int = 0) -> String? {
        if depth > Self.nesting { return "more than \(Self.nesting) embedded objects in one" }
        switch node {
        case .value(let value):
            return value.fits(property)
                ? nil : "a value of property \(property.name.string) is of another type"
        case .fields(let fields):
            guard property.type == .embedded, let type = property.target.flatMap({ self[$0] })
            else { return "property \(property.name.string) has no embedded object" }
            for field in fields.all {
                guard let inner = type[field.property] else {
                    return "class \(type.name.string) has no property \(field.property.rawValue)"
                }
                // Elements have ids of their own, so they come by ops of their own.
                if inner.collection != .single {
                    if field.node != inner.blank { return "an embedded object with elements" }
                } else if let problem = problem(with: field.node, inner, depth: depth + 1) {
                    return problem
                }
            }
            return nil
        case .list, .set, .dictionary: return "a collection as one value"
        }
    }
}

extension SyncValue {
    /// How many lists and dictionaries are around the innermost value.
    package var depth: Int {
        switch self {
        case .list(_, let elements): 1 + (elements.lazy.map(\.depth).max() ?? 0)
        case .dictionary(_, let entries): 1 + (entries.lazy.map(\.value.depth).max() ?? 0)
        default: 0
        }
    }

    fileprivate func fits(_ property: PropertySchema) -> Bool {
        switch self {
        case .null: property.isOptional || property.type == .mixed || property.type == .link
        case .bool: property.type == .bool || property.type == .mixed
        case .int: property.type == .int || property.type == .mixed
        case .floatBits: property.type == .float || property.type == .mixed
        case .doubleBits: property.type == .double || property.type == .mixed
        case .text: property.type == .text || property.type == .mixed
        case .data: property.type == .data || property.type == .mixed
        case .date: property.type == .date || property.type == .mixed
        case .decimal: property.type == .decimal || property.type == .mixed
        case .objectID: property.type == .objectID || property.type == .mixed
        case .uuid: property.type == .uuid || property.type == .mixed
        case .link(let target):
            property.type == .mixed
                || property.type == .link
                    && (property.target == nil || property.target == target.type)
        case .list, .dictionary: property.type == .mixed && depth <= Schema.nesting
        }
    }
}
