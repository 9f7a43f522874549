extension Resolver {
    mutating func insert(_ path: Path, _ neighbours: Neighbours, _ node: Node) -> Refusal? {
        guard let slot = store.schema.slot(path), knowsWay(to: path),
            store.content(at: path) == .absent, store.tombstone(at: path) == nil,
            slot.property.type != .link || isAlive(node)
        else { return tell(path) }
        let (label, place) = place(neighbours, in: path.parent)
        let alive = store.schema.completed(keepingAlive(node), slot.property)
        store.put(.element(Label(label), alive), at: path)
        stamp(path, place: place)
        if case .fields = node { bear(Path(path.object, path.steps + [.value])) }
        show(path)
        return nil
    }

    private func isAlive(_ node: Node) -> Bool {
        if case .value(.link(let target)) = node { knows(target) } else { false }
    }

    /// Moves an element. Of two moves the later counts, and the element stays one.
    mutating func move(_ path: Path, _ neighbours: Neighbours) -> Refusal? {
        guard knowsWay(to: path), case .element(_, let node) = store.content(at: path),
            wins(at: path + .label)
        else { return tell(path + .label) }
        // While a place is looked for, the element stands nowhere.
        store.put(.absent, at: path)
        let (label, place) = place(neighbours, in: path.parent)
        store.put(.element(Label(label), node), at: path)
        stamp(path + .label, place: place)
        climbs.forget()
        show(path + .label)
        return nil
    }

    /// Removes an element. A tombstone keeps its place, for those who have it as a neighbour.
    mutating func remove(_ path: Path) -> Refusal? {
        guard knowsWay(to: path), case .element(let label, _) = store.content(at: path) else {
            return tell(path)
        }
        store.put(.absent, at: path)
        store.setTombstone(Tombstone(label: label.whole, entry: sequence), at: path)
        show(path)
        return nil
    }

    /// Takes out what the author knew; what has come meanwhile stays.
    mutating func clear(_ path: Path) -> Refusal? {
        if knowsWay(to: path), let node = store.content(at: path)?.node {
            for (step, isElement) in node.children
            where store.write(at: path + step).map(knew) ?? true {
                let refusal = isElement ? remove(path + step) : put(path + step, .absent)
                if let refusal { return refusal }
            }
        }
        return tell(path)
    }
}

extension Node {
    /// The steps to what is in a collection.
    fileprivate var children: [(step: Step, isElement: Bool)] {
        switch self {
        case .list(let list): list.order.map { (.element($0.id), true) }
        case .set(let members): members.map { (.member($0), false) }
        case .dictionary(let entries): entries.keys.map { (.key($0), false) }
        case .value, .fields: []
        }
    }
}
