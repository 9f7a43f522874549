/// Which objects a replica of a part of the realm sees.
package struct View: Sendable {
    private let isSeen: @Sendable (ObjectID, Fields) -> Bool

    package init(_ isSeen: @escaping @Sendable (ObjectID, Fields) -> Bool) { self.isSeen = isSeen }

    package func sees(_ object: ObjectID, _ fields: Fields) -> Bool { isSeen(object, fields) }
}

/// Tables as a view shows them: the objects that it sees, without the links to others. Such a link
/// is null; an element or member goes, an entry keeps its key.
package struct ViewedTables<Base: ReadableTables>: ReadableTables {
    package let base: Base
    /// All objects are seen without it.
    package let view: View?

    package init(_ base: Base, _ view: View?) {
        self.base = base
        self.view = view
    }

    package var schema: Schema { base.schema }

    package func contains(_ object: ObjectID) -> Bool {
        guard let view else { return base.contains(object) }
        guard let fields = base.content(at: Path(object))?.node?.fields else { return false }
        return view.sees(object, fields)
    }

    package func content(at path: Path) -> Content? {
        guard view != nil else { return base.content(at: path) }
        guard contains(path.object) else { return path.steps.isEmpty ? .absent : nil }
        // A path through an element that is not seen leads nowhere.
        let element = path.steps.lastIndex {
            if case .element = $0 { true } else { false }
        }
        if let element, element + 1 < path.steps.count {
            let whole = Path(path.object, path.steps[...element])
            if content(at: whole) == .absent { return nil }
        }
        guard let content = base.content(at: path) else { return nil }
        return seen(content, at: path)
    }

    package func links(to object: ObjectID) -> [Path] {
        let links = base.links(to: object)
        return view == nil ? links : links.filter { contains($0.object) }
    }

    package func eachObject(_ body: (ObjectID) -> Void) {
        base.eachObject { if contains($0) { body($0) } }
    }

    private func seen(_ content: Content, at path: Path) -> Content {
        let property = schema.slot(path)?.property
        switch content {
        case .absent, .label: return content
        case .member:
            guard case .member(let member) = path.steps.last else { return content }
            return member.keepingLinks(contains) == member ? content : .absent
        case .element(let label, let node):
            let seen = seen(node, property)
            return property?.type == .link && seen != node ? .absent : .element(label, seen)
        case .node(.fields(let fields)) where path.steps.isEmpty:
            return .node(.fields(seen(fields, schema[path.object.type])))
        case .node(let node): return .node(seen(node, property))
        }
    }

    private func seen(_ fields: Fields, _ type: ClassSchema?) -> Fields {
        var seen = fields
        for field in fields.all {
            seen[field.property] = self.seen(field.node, type?[field.property])
        }
        return seen
    }

    private func seen(_ node: Node, _ property: PropertySchema?) -> Node {
        guard let property, property.canLink else { return node }
        switch node {
        case .value(let value): return .value(value.keepingLinks(contains))
        case .fields(let fields):
            return .fields(seen(fields, property.target.flatMap { schema[$0] }))
        case .list(var list):
            for place in list.order {
                let node = list.node(place)
                let seen = seen(node, property)
                let isGone = property.type == .link && seen != node
                list[place.id] = isGone ? nil : .init(label: place.label, node: seen)
            }
            return .list(list)
        case .set(let members): return .set(members.filter { $0.keepingLinks(contains) == $0 })
        case .dictionary(let entries): return .dictionary(entries.mapValues { seen($0, property) })
        }
    }
}
