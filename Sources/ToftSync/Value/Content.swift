/// The properties of an object or embedded object, in the order of their numbers.
package struct Fields: Hashable, Sendable {
    package struct Field: Hashable, Sendable {
        package let property: PropertyNumber
        package var node: Node

        package init(_ property: PropertyNumber, _ node: Node) {
            self.property = property
            self.node = node
        }
    }

    package private(set) var all: [Field]

    /// Fields whose properties ascend.
    package init(ascending all: [Field] = []) { self.all = all }

    package subscript(property: PropertyNumber) -> Node? {
        get {
            let index = index(of: property)
            return index < all.count && all[index].property == property ? all[index].node : nil
        }
        set {
            let index = index(of: property)
            if index < all.count, all[index].property == property {
                if let newValue { all[index].node = newValue } else { all.remove(at: index) }
            } else if let newValue {
                all.insert(Field(property, newValue), at: index)
            }
        }
    }

    /// Edits what a property has, if it has something.
    mutating func edit<Result>(
        _ property: PropertyNumber, _ body: (inout Node) -> Result
    ) -> Result? {
        let index = index(of: property)
        guard index < all.count, all[index].property == property else { return nil }
        return body(&all[index].node)
    }

    /// The index of a property, or of the first with a greater number.
    private func index(of property: PropertyNumber) -> Int {
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if all[middle].property < property { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The content of a path below an object: a value, an embedded object, or a collection.
package enum Node: Hashable, Sendable {
    case value(SyncValue)
    /// An embedded object; an object, where a path has no steps.
    case fields(Fields)
    case list(ElementList)
    case set(Set<SyncValue>)
    case dictionary([Text: Node])

    package static let null = Node.value(.null)

    package var value: SyncValue? { if case .value(let value) = self { value } else { nil } }
    package var fields: Fields? { if case .fields(let fields) = self { fields } else { nil } }
    package var list: ElementList? { if case .list(let list) = self { list } else { nil } }

    /// False where there is no link for sure.
    var mayLink: Bool {
        switch self {
        case .value(.link), .value(.list), .value(.dictionary), .fields: true
        case .value: false
        case .list(let list): !list.isEmpty
        case .set(let members): !members.isEmpty
        case .dictionary(let entries): !entries.isEmpty
        }
    }
}

/// The content of any path, as it is or is said to be.
package enum Content: Hashable, Sendable {
    case absent
    case node(Node)
    case element(Label, Node)
    case label(Label)
    /// Of a member: it is there.
    case member

    package static func value(_ value: SyncValue) -> Content { .node(.value(value)) }

    package var node: Node? { if case .node(let node) = self { node } else { nil } }

    fileprivate var isNodeOrAbsent: Bool {
        switch self {
        case .absent, .node: true
        case .element, .label, .member: false
        }
    }
}

extension Fields {
    /// The content of a path in these fields; nil if nothing can be there, as a step before the
    /// last is not there.
    package func content(_ steps: ArraySlice<Step>) -> Content? {
        guard case .property(let property) = steps.first else { return nil }
        let rest = steps.dropFirst()
        guard let node = self[property] else { return rest.isEmpty ? .absent : nil }
        return rest.isEmpty ? .node(node) : node.content(rest)
    }

    /// Exchanges what is at a path in these fields for `content`; false where nothing can be.
    mutating func exchange(_ content: inout Content, _ steps: ArraySlice<Step>) -> Bool {
        guard case .property(let property) = steps.first else { return false }
        let rest = steps.dropFirst()
        if !rest.isEmpty { return edit(property) { $0.exchange(&content, rest) } ?? false }
        guard content.isNodeOrAbsent else { return false }
        let old = self[property]
        self[property] = content.node
        content = old.map(Content.node) ?? .absent
        return true
    }
}

extension Node {
    fileprivate func content(_ steps: ArraySlice<Step>) -> Content? {
        let rest = steps.dropFirst()
        switch (self, steps.first) {
        case (.fields(let fields), _): return fields.content(steps)
        case (.list(let list), .element(let id)):
            guard let held = list[id] else { return rest.isEmpty ? .absent : nil }
            switch rest.first {
            case nil: return .element(held.label, held.node)
            case .label: return rest.count == 1 ? .label(held.label) : nil
            case .value:
                let inner = rest.dropFirst()
                return inner.isEmpty ? .node(held.node) : held.node.content(inner)
            default: return nil
            }
        case (.set(let members), .member(let member)):
            return !rest.isEmpty ? nil : members.contains(member) ? .member : .absent
        case (.dictionary(let entries), .key(let key)):
            guard let node = entries[key] else { return rest.isEmpty ? .absent : nil }
            return rest.isEmpty ? .node(node) : node.content(rest)
        default: return nil
        }
    }

    fileprivate mutating func exchange(_ content: inout Content, _ steps: ArraySlice<Step>) -> Bool
    {
        // The node lets go of its payload while that is edited, so that nothing is copied.
        switch self {
        case .value: return false
        case .fields(var fields):
            self = .null
            defer { self = .fields(fields) }
            return fields.exchange(&content, steps)
        case .list(var list):
            self = .null
            defer { self = .list(list) }
            return list.exchange(&content, steps)
        case .set(var members):
            guard case .member(let member) = steps.first, steps.count == 1,
                content == .member || content == .absent
            else { return false }
            self = .null
            defer { self = .set(members) }
            let isNew = content != .absent
            let old = isNew ? !members.insert(member).inserted : members.remove(member) != nil
            content = old ? .member : .absent
            return true
        case .dictionary(var entries):
            guard case .key(let key) = steps.first else { return false }
            self = .null
            defer { self = .dictionary(entries) }
            let rest = steps.dropFirst()
            if rest.isEmpty {
                guard content.isNodeOrAbsent else { return false }
                let old = entries.removeValue(forKey: key)
                if let node = content.node { entries[key] = node }
                content = old.map(Content.node) ?? .absent
                return true
            }
            guard let index = entries.index(forKey: key) else { return false }
            return entries.values[index].exchange(&content, rest)
        }
    }
}

extension ElementList {
    fileprivate mutating func exchange(_ content: inout Content, _ steps: ArraySlice<Step>) -> Bool
    {
        guard case .element(let id) = steps.first else { return false }
        let rest = steps.dropFirst()
        let old = self[id]
        switch (rest.first, content) {
        case (nil, .element(let label, let node)): self[id] = Held(label: label, node: node)
        case (nil, .absent): self[id] = nil
        case (.label, .label(let label)) where rest.count == 1:
            guard let old else { return false }
            self[id] = Held(label: label, node: old.node)
            content = .label(old.label)
            return true
        case (.value, .node(let node)) where rest.count == 1:
            guard let old else { return false }
            self[id] = Held(label: old.label, node: node)
            content = .node(old.node)
            return true
        case (.value, _) where rest.count > 1:
            return edit(id) { $0.exchange(&content, rest.dropFirst()) } ?? false
        default: return false
        }
        content = old.map { .element($0.label, $0.node) } ?? .absent
        return true
    }
}
