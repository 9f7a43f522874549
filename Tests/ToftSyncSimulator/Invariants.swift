internal import ToftSync

extension World {
    /// At rest a replica equals the server, or its view of it, and no index says something else.
    func checkRest() throws(Failure) {
        for client in clients {
            let name = "replica \(client.replica.number.rawValue)"
            guard client.replica.pending.isEmpty, client.replica.cursor == server.store.head else {
                throw Failure("\(name) did not come to rest")
            }
            let seen = ViewedTables(server.store.tables, Self.view(client.wanted))
            var objects: [ObjectID: Fields] = [:]
            seen.eachObject { objects[$0] = seen.content(at: Path($0))?.node?.fields }
            if client.replica.store.schema != server.store.schema {
                throw Failure("\(name) has other classes than the server at rest")
            }
            if objects != client.replica.store.objects {
                throw Failure("\(name) differs from the server at rest")
            }
            for problem in client.replica.store.check() { throw Failure("\(name): \(problem)") }
        }
        for problem in server.store.tables.check() { throw Failure("the server: \(problem)") }
        for object in server.store.tables.objects.keys where server.store.breaksUnique(object) {
            throw Failure("two objects have the unique values of \(object.described)")
        }
        if !wasRestored, !clients.contains(where: \.isAway) {
            try Intent(states: states, history: history, log: server.store).check()
        }
    }

    /// Outside of what its unanswered changes own, a replica shows the state after its cursor.
    /// Links to what it has deleted, or made outside of its view, are open until that is answered.
    func checkReplica(_ index: Int) throws(Failure) {
        let client = clients[index]
        let replica = client.replica
        var open: Set<ObjectID> = []
        for changeset in replica.pending {
            for op in changeset.ops {
                switch op {
                case .delete(let object, let along): open.formUnion([object] + along)
                case .create(let object, _) where client.isPartial: open.insert(object)
                default: break
                }
            }
        }
        let seen = ViewedTables(states[Int(replica.cursor)], Self.view(client.shown))
        var objects = Set(replica.store.objects.keys)
        seen.eachObject { objects.insert($0) }
        let comparison = Comparison(replica: replica, open: open)
        for object in objects {
            let path = Path(object)
            try comparison.compare(
                path, replica.store.content(at: path) ?? .absent, seen.content(at: path) ?? .absent)
        }
    }
}

private struct Comparison {
    let replica: Replica<MemoryTables>
    let open: Set<ObjectID>

    func compare(_ path: Path, _ shown: Content, _ wanted: Content) throws(Failure) {
        if shown == wanted || replica.owners.covers(path) || hasOpenLink(path, shown, wanted) {
            return
        }
        switch (shown, wanted) {
        case (.node(.fields(let shown)), .node(.fields(let wanted))):
            for property in Set((shown.all + wanted.all).map(\.property)) {
                // A property that only one of them knows yet says nothing.
                guard let shown = shown[property], let wanted = wanted[property] else { continue }
                try compare(path + .property(property), .node(shown), .node(wanted))
            }
        case (.node(.list(let shown)), .node(.list(let wanted))):
            for id in Set((shown.order + wanted.order).map(\.id)) {
                try compare(path + .element(id), content(shown[id]), content(wanted[id]))
            }
        case (.node(.set(let shown)), .node(.set(let wanted))):
            for member in shown.union(wanted) {
                try compare(
                    path + .member(member), shown.contains(member) ? .member : .absent,
                    wanted.contains(member) ? .member : .absent)
            }
        case (.node(.dictionary(let shown)), .node(.dictionary(let wanted))):
            for key in Set(shown.keys).union(wanted.keys) {
                try compare(
                    path + .key(key), shown[key].map(Content.node) ?? .absent,
                    wanted[key].map(Content.node) ?? .absent)
            }
        case (.element(let shownLabel, let shown), .element(let wantedLabel, let wanted)):
            try compare(path + .label, .label(shownLabel), .label(wantedLabel))
            try compare(path + .value, .node(shown), .node(wanted))
        case (.node(.value(.int(let shown))), .node(.value(.int(let wanted))))
        where shown == replica.owners.shown(wanted, at: path): return
        default:
            throw Failure(
                "replica \(replica.number.rawValue) at \(replica.cursor) shows \(shown) at "
                    + "\(path), and should show \(wanted)")
        }
    }

    private func content(_ held: ElementList.Held?) -> Content {
        held.map { .element($0.label, $0.node) } ?? .absent
    }

    private func hasOpenLink(_ path: Path, _ contents: Content...) -> Bool {
        guard let slot = replica.store.schema.slot(path), slot.property.canLink,
            slot.kind != .collection
        else { return false }
        var isOpen = false
        for content in contents {
            if case .node(.fields) = content { continue }
            if case .element(_, .fields) = content { continue }
            let content = content == .absent && slot.kind == .member ? .member : content
            replica.store.schema.eachLink(in: content, at: path, slot.property) { _, target, _ in
                if open.contains(target) || !replica.store.contains(target) { isOpen = true }
            }
        }
        return isOpen
    }
}
