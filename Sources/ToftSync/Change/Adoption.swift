extension Changeset {
    /// The changeset with the number that the server has given its replica in the place of 0, by
    /// which a replica names itself.
    package func adopted(by replica: ReplicaNumber) -> Changeset {
        let adoption = Adoption(replica: replica)
        return Changeset(replica, number, base: base, time: time, ops.map(adoption.op))
    }
}

/// Puts a replica's number in the place of 0.
private struct Adoption {
    let replica: ReplicaNumber

    func made(_ id: MadeID) -> MadeID {
        id.replica == .own ? MadeID(replica, id.counter) : id
    }

    func object(_ object: ObjectID) -> ObjectID {
        if case .made(let id) = object.key {
            ObjectID(object.type, .made(made(id)))
        } else {
            object
        }
    }

    func value(_ value: SyncValue) -> SyncValue {
        switch value {
        case .link(let target): .link(object(target))
        case .list(let id, let elements): .list(id, elements.map(self.value))
        case .dictionary(let id, let entries):
            .dictionary(id, entries.map { NestedEntry($0.key, self.value($0.value)) })
        default: value
        }
    }

    func node(_ node: Node) -> Node {
        switch node {
        case .value(let value): .value(self.value(value))
        case .fields(let fields):
            .fields(Fields(ascending: fields.all.map { .init($0.property, self.node($0.node)) }))
        case .list(let list):
            .list(ElementList(list.order.map { (made($0.id), self.node(list.node($0))) }))
        case .set(let members): .set(Set(members.map(value)))
        case .dictionary(let entries): .dictionary(entries.mapValues(self.node))
        }
    }

    func path(_ path: Path) -> Path {
        let steps = path.steps.map { step in
            switch step {
            case .element(let id): Step.element(made(id))
            case .member(let member): Step.member(value(member))
            case .property, .key, .value, .label, .nested: step
            }
        }
        return Path(object(path.object), steps)
    }

    func neighbours(_ neighbours: Neighbours) -> Neighbours {
        Neighbours(neighbours.left.map(made), neighbours.right.map(made))
    }

    func op(_ op: Op) -> Op {
        switch op {
        case .create(let object, let given):
            .create(
                self.object(object),
                given.map { Given($0.property, node($0.node), isExplicit: $0.isExplicit) })
        case .delete(let object, let along):
            .delete(self.object(object), along: along.map(self.object))
        case .put(let path, .node(let node)): .put(self.path(path), .node(self.node(node)))
        case .put(let path, let content): .put(self.path(path), content)
        case .add(let path, let amount): .add(self.path(path), amount)
        case .insert(let path, let neighbours, let node):
            .insert(self.path(path), self.neighbours(neighbours), self.node(node))
        case .move(let path, let neighbours): .move(self.path(path), self.neighbours(neighbours))
        case .remove(let path): .remove(self.path(path))
        case .clear(let path): .clear(self.path(path))
        case .nested(let path, let id, .entry(let key, let value)):
            .nested(self.path(path), id, .entry(key, value.map(self.value)))
        case .nested(let path, let id, .elements(let values)):
            .nested(self.path(path), id, .elements(values.map(value)))
        case .addClass, .addProperty: op
        }
    }
}
