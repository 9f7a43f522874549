extension Replica {
    /// Notes what has been done since the last commit as a changeset; nil for nothing.
    ///
    /// - Parameter now: The replica's clock. A time is later than all that the replica has seen.
    @discardableResult
    package mutating func commit(at now: Int64) -> Changeset? {
        if transaction.isEmpty { return nil }
        lastNumber += 1
        newestTime = max(now, newestTime == .max ? .max : newestTime + 1)
        let changeset = Changeset(
            number, lastNumber, base: cursor, time: newestTime, transaction)
        transaction = []
        pending.append(changeset)
        owners.insert(changeset, store.schema)
        return changeset
    }

    /// Deletes an object with all that goes along; false, and nothing is done, where a link denies
    /// it.
    @discardableResult
    package mutating func delete(_ object: ObjectID) -> Bool {
        let (going, denying) = store.cascade(object)
        return denying == nil && perform(.delete(object, along: Array(going.dropFirst())))
    }

    /// Inserts an element where it then stands at an index.
    @discardableResult
    package mutating func insert(_ node: Node, in list: Path, at index: Int) -> MadeID? {
        guard let elements = store.content(at: list)?.node?.list else { return nil }
        let id = makeID()
        let neighbours = Self.neighbours(elements.order, at: index)
        return perform(.insert(list + .element(id), neighbours, node)) ? id : nil
    }

    /// Moves an element to where it then stands at an index.
    @discardableResult
    package mutating func move(_ path: Path, to index: Int) -> Bool {
        guard let elements = store.content(at: path.parent)?.node?.list else { return false }
        let others = elements.order.filter { $0.id != path.element }
        return perform(.move(path, Self.neighbours(others, at: index)))
    }

    private static func neighbours(_ places: [ElementPlace], at index: Int) -> Neighbours {
        let index = min(max(index, 0), places.count)
        return Neighbours(
            index > 0 ? places[index - 1].id : nil, index < places.count ? places[index].id : nil)
    }

    /// Does an op at once, and notes it; false, and nothing is done, where it has no place.
    @discardableResult
    package mutating func perform(_ op: Op) -> Bool {
        let isDone = apply(op)
        if isDone { transaction.append(op) }
        return isDone
    }

    private mutating func apply(_ op: Op) -> Bool {
        switch op {
        case .create(let object, let given):
            guard let type = store.schema[object.type], type.kind != .embedded else { return false }
            var fields = type.blank
            for one in given {
                guard let property = type[one.property] else { return false }
                fields[one.property] = store.schema.completed(one.node, property)
            }
            return store.put(.node(.fields(fields)), at: Path(object)) != nil
        case .delete(let object, let along):
            for gone in [object] + along { store.remove(gone) }
            return true
        case .put(let path, let content):
            guard let property = store.schema.slot(path)?.property else { return false }
            return store.put(store.schema.completed(content, property), at: path) != nil
        case .add(let path, let amount):
            guard case .node(.value(.int(let value))) = store.content(at: path) else {
                return false
            }
            let (sum, overflow) = value.addingReportingOverflow(amount)
            return !overflow && store.put(.value(.int(sum)), at: path) != nil
        case .insert(let path, let neighbours, let node):
            guard let property = store.schema.slot(path)?.property else { return false }
            let label = label(neighbours, in: path.parent)
            let element = Content.element(label, store.schema.completed(node, property))
            return store.put(element, at: path) != nil
        case .move(let path, let neighbours):
            let label = label(neighbours, in: path.parent)
            return store.put(.label(label), at: path + .label) != nil
        case .remove(let path):
            return store.put(.absent, at: path) != nil
        case .clear(let path):
            guard let slot = store.schema.slot(path), slot.kind == .collection else { return false }
            return store.put(.node(slot.property.blank), at: path) != nil
        case .nested(let path, let id, let edit):
            guard let value = store.content(at: path)?.node?.value else { return false }
            return store.put(.value(value.edited(id, edit)), at: path) != nil
        case .addClass(let type): store.add(type)
        case .addProperty(let type, let property): store.add(property, to: type)
        }
        return true
    }

    /// A label for the time until the server gives one.
    private func label(_ neighbours: Neighbours, in list: Path) -> Label {
        let elements = store.content(at: list)?.node?.list
        let left = neighbours.left.flatMap { elements?[$0]?.label }
        let right = neighbours.right.flatMap { elements?[$0]?.label }
        return switch (left, right) {
        case (nil, nil): Label(0)
        case (nil, let right?): right.moved(by: -1)
        case (let left?, nil): left.moved(by: 1)
        case (let left?, let right?): Label.middle(left, right)
        }
    }
}
