extension Resolver {
    /// Puts a value, member, entry or embedded object.
    mutating func put(_ path: Path, _ content: Content, isExplicit: Bool = true) -> Refusal? {
        guard let slot = store.schema.slot(path), store.content(at: path) != nil,
            knowsWay(to: path), let alive = keepingAlive(content, at: path, slot),
            wins(at: path, isExplicit: isExplicit)
        else { return tell(store.schema.told(path)) }
        if let message = validator?(path, content) { return Refusal(.validator, message) }
        store.put(store.schema.completed(alive, slot.property), at: path)
        touchUnique(path)
        if slot.property.type == .embedded, content != .absent {
            bear(path)
            store.forgetWrites(below: path)
            climbs.forget()
        }
        stamp(path, isExplicit: isExplicit)
        show(slot.isLinkInList ? path.parent : path)
        return nil
    }

    /// The content with null for links whose target is not there or not the one that the author
    /// knew; nil where the element or member of such a link can't be.
    private func keepingAlive(_ content: Content, at path: Path, _ slot: Slot) -> Content? {
        switch content {
        case .member:
            guard case .member(let member) = path.steps.last else { return nil }
            return member.keepingLinks(knows) == member ? content : nil
        case .node(.value(let value)) where slot.property.type == .link:
            if case .link(let target) = value, knows(target) { return content }
            // Null is no element of a list of links; elsewhere it is what a dead link becomes.
            return value == .null || slot.kind != .elementValue ? .value(.null) : nil
        case .node(let node): return .node(keepingAlive(node))
        default: return content
        }
    }

    /// A value or embedded object with null for links whose target is not alive.
    func keepingAlive(_ node: Node) -> Node {
        switch node {
        case .value(let value): return .value(value.keepingLinks(knows))
        case .fields(var fields):
            for field in fields.all { fields[field.property] = keepingAlive(field.node) }
            return .fields(fields)
        default: return node
        }
    }

    /// Adds to a number. Adds are not stamped, so none replaces another.
    mutating func add(_ path: Path, _ amount: Int64) -> Refusal? {
        guard knowsWay(to: path),
            case .node(.value(.int(let value))) = store.content(at: path)
        else { return tell(path) }
        let (sum, overflow) = value.addingReportingOverflow(amount)
        guard !overflow, sum != .min else { return tell(path) }
        store.put(.value(.int(sum)), at: path)
        touchUnique(path)
        show(path)
        return nil
    }

    /// Edits a collection within a mixed value, which is told from others by its number and not by
    /// where it stands: in a value that has replaced it, nothing is edited.
    mutating func nested(_ path: Path, _ id: CollectionID, _ edit: NestedEdit) -> Refusal? {
        guard knowsWay(to: path), let value = store.content(at: path)?.node?.value,
            let collection = value.collection(id)
        else { return tell(path) }
        let note: Path
        switch (collection, edit) {
        case (.dictionary, .entry(let key, _)): note = path + .nested(id, key)
        case (.list, .elements): note = path + .nested(id, nil)
        default: return tell(path)
        }
        guard wins(at: note) else { return tell(path) }
        let edited = value.edited(id, edit.keepingLinks(knows))
        if edited.depth > Schema.nesting {
            return Refusal(
                .badChangeset, "more than \(Schema.nesting) collections around a mixed value")
        }
        store.put(.value(edited), at: path)
        stamp(note)
        show(path)
        return nil
    }

    /// Notes that an object may have a value now that another one has.
    mutating func touchUnique(_ path: Path) {
        guard let type = store.schema[path.object.type], !type.uniques.isEmpty else { return }
        switch path.steps.first {
        case .property(let property) where path.steps.count > 1 || !type.isUnique(property): return
        default: uniquesTouched.insert(path.object)
        }
    }
}
