extension Replica {
    /// Applies a batch as one commit; false for one that does not follow: a copy of an earlier one,
    /// or one is missing.
    ///
    /// No unique constraint and no delete rule holds here: two objects may show one value until the
    /// own change is answered.
    /// - Complexity: O(facts), and O(objects) for a complete batch.
    @_specialize(where Store == MemoryTables)
    @discardableResult
    package mutating func receive(_ batch: Batch) -> Bool {
        guard batch.epoch == epoch, batch.through >= cursor,
            batch.isComplete || batch.from == cursor && !needsAll
        else { return false }
        answer(batch)
        if let schema = batch.schema { extend(schema) }
        if batch.isComplete { removeObjects(without: batch.facts) }
        // First what there is, then what is in it: so links find their targets.
        var fresh: Set<ObjectID> = []
        for fact in batch.facts where fact.path.steps.isEmpty {
            let object = fact.path.object
            if owners.covers(fact.path) { continue }
            if fact.content == .absent {
                store.remove(object)
            } else if !store.contains(object) {
                store.make(object)
                fresh.insert(object)
            }
        }
        for fact in batch.facts where store.contains(fact.path.object) {
            let isFresh = fresh.contains(fact.path.object)
            if isFresh, fact.path.steps.isEmpty, let fields = fact.content.node?.fields {
                fill(fact.path, fields)
            } else {
                apply(fact.content, at: fact.path, isFresh: isFresh)
            }
        }
        cursor = batch.through
        needsAll = false
        return true
    }

    /// Adds the classes and properties that others have added.
    private mutating func extend(_ schema: Schema) {
        for type in schema.classes.values {
            guard let own = store.schema[type.number] else {
                store.add(type)
                continue
            }
            for property in type.properties where own[property.number] == nil {
                store.add(property, to: type.number)
            }
        }
    }

    /// Takes out the own changesets that a batch answers: nothing owns their paths any more.
    private mutating func answer(_ batch: Batch) {
        let count = pending.prefix { $0.number <= batch.answered }.count
        for changeset in pending[..<count] {
            owners.remove(changeset, store.schema)
            kept.append(Kept(entry: batch.through, changeset: changeset))
        }
        pending.removeFirst(count)
        kept.removeAll { $0.entry <= batch.safe }
        newestTime = max(newestTime, batch.time)
    }

    private mutating func removeObjects(without facts: [Fact]) {
        let there = Set(facts.map(\.path.object))
        var gone: [ObjectID] = []
        store.eachObject { object in
            if !there.contains(object), !owners.covers(Path(object)) { gone.append(object) }
        }
        for object in gone { store.remove(object) }
    }

    /// Gives an object that has just been made all that a fact has. A property that the server does
    /// not know yet stays as it is in a new object.
    private mutating func fill(_ path: Path, _ fields: Fields) {
        guard let type = store.schema[path.object.type] else { return }
        var all = type.blank
        for field in fields.all {
            var node = field.node
            if case .value(.int(let value)) = node, owners.hasAdds,
                type[field.property]?.type == .int
            {
                let number = path + .property(field.property)
                node = .value(.int(owners.shown(value, at: number)))
            }
            all[field.property] = node
        }
        store.put(.node(.fields(all)), at: path)
        var dead: [(Path, ObjectID)] = []
        store.schema.eachLink(in: all, at: path, type) { link, target, _ in
            if !store.contains(target) { dead.append((link, target)) }
        }
        for (link, target) in dead { store.unlink(link, from: target) }
    }

    /// - Parameter isFresh: The object has come with this batch, so it is filled whole.
    private mutating func apply(_ content: Content, at path: Path, isFresh: Bool) {
        guard let now = store.content(at: path), isFresh || !owners.covers(path) else { return }
        switch (now, content) {
        case (.node(.fields(let old)), .node(.fields(let new))):
            // A property that the server does not know yet stays as it is.
            for field in old.all where new[field.property] == nil && !path.steps.isEmpty {
                apply(.absent, at: path + .property(field.property), isFresh: isFresh)
            }
            for field in new.all {
                let inner = path + .property(field.property)
                apply(.node(field.node), at: inner, isFresh: isFresh)
            }
        case (.node(.list(let old)), .node(.list(let new))):
            for place in old.order where new[place.id] == nil {
                apply(.absent, at: path + .element(place.id), isFresh: isFresh)
            }
            for place in new.order {
                let element = Content.element(place.label, new.node(place))
                apply(element, at: path + .element(place.id), isFresh: isFresh)
            }
        case (.node(.set(let old)), .node(.set(let new))):
            for member in old where !new.contains(member) {
                apply(.absent, at: path + .member(member), isFresh: isFresh)
            }
            for member in new { apply(.member, at: path + .member(member), isFresh: isFresh) }
        case (.node(.dictionary(let old)), .node(.dictionary(let new))):
            for key in old.keys where new[key] == nil {
                apply(.absent, at: path + .key(key), isFresh: isFresh)
            }
            for (key, node) in new { apply(.node(node), at: path + .key(key), isFresh: isFresh) }
        case (.element, .element(let label, let node)):
            apply(.label(label), at: path + .label, isFresh: isFresh)
            apply(.node(node), at: path + .value, isFresh: isFresh)
        default: replace(content, at: path)
        }
    }

    /// Puts what a fact says, with the adds that it does not know of, and without links to what is
    /// not here: what was deleted and is unanswered.
    private mutating func replace(_ content: Content, at path: Path) {
        var content = content
        let property = store.schema.slot(path)?.property
        if case .node(.value(.int(let value))) = content, property?.type == .int {
            content = .value(.int(owners.shown(value, at: path)))
        }
        store.put(content, at: path)
        guard let property, property.canLink, content != .absent else { return }
        var dead: [(Path, ObjectID)] = []
        store.schema.eachLink(in: content, at: path, property) { link, target, _ in
            if !store.contains(target) { dead.append((link, target)) }
        }
        for (link, target) in dead { store.unlink(link, from: target) }
    }
}
