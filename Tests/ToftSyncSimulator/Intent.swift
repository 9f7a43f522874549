internal import ToftSync

/// A change that was accepted is there, or gave way to what may take its place: computed
/// from what was sent and the states, without the rules. Objects that were never away are looked
/// at: for them every op of their authors counts.
struct Intent {
    let states: [MemoryTables]
    let history: [Changeset]
    let log: MemoryStore

    /// One write of a value, member or entry.
    private struct Write {
        let entry: UInt64
        let index: Int
        let changeset: Changeset
        let content: Content
        let isExplicit: Bool
    }

    private struct Insert {
        let entry: UInt64
        let changeset: Changeset
        let neighbours: Neighbours
    }

    private func accepted() -> [(entry: UInt64, changeset: Changeset)] {
        history.enumerated().compactMap { index, changeset in
            let entry = UInt64(index + 1)
            let isRefused = entry > log.logStart && log.entry(entry).refusal != nil
            return isRefused ? nil : (entry, changeset)
        }
    }

    func check() throws(Failure) {
        // The log alone knows which entries were refused.
        guard log.logStart == 0 else { return }
        let accepted = accepted()
        try checkLife(accepted)
        for (object, fields) in log.tables.objects {
            let born = states.firstIndex { $0.contains(object) } ?? 0
            guard states[born...].allSatisfy({ $0.contains(object) }),
                !accepted.contains(where: { $0.entry >= born && mayReplace(object, $0.changeset) })
            else { continue }
            try check(object, fields, accepted, born: UInt64(born))
        }
    }

    /// Whether a changeset may delete an object, itself or with another one, and make it again.
    private func mayReplace(_ object: ObjectID, _ changeset: Changeset) -> Bool {
        var deletes = false
        for op in changeset.ops {
            if case .delete = op { deletes = true }
            if case .create(object, _) = op, deletes { return true }
        }
        return false
    }

    /// Only a create brings an object back, and only a delete takes one.
    private func checkLife(_ accepted: [(entry: UInt64, changeset: Changeset)]) throws(Failure) {
        for (entry, changeset) in accepted {
            let (before, after) = (states[Int(entry) - 1], states[Int(entry)])
            var made: Set<ObjectID> = []
            var deletes = false
            for op in changeset.ops {
                if case .create(let object, _) = op { made.insert(object) }
                if case .delete = op { deletes = true }
            }
            for object in after.objects.keys where !before.contains(object) {
                if !made.contains(object) {
                    throw Failure("\(object.described) came back at \(entry) without a create")
                }
            }
            for object in before.objects.keys where !after.contains(object) && !deletes {
                throw Failure("\(object.described) went at \(entry) without a delete")
            }
        }
    }

    private func check(
        _ object: ObjectID, _ fields: Fields, _ accepted: [(entry: UInt64, changeset: Changeset)],
        born: UInt64
    ) throws(Failure) {
        var writes: [[Step]: [Write]] = [:]
        var sums: [[Step]: Int64] = [:]
        var inserts: [[Step]: Insert] = [:]
        // An op of somebody who did not know the object, as its create was refused, says nothing.
        var makers: Set<ReplicaNumber> = []
        var touched: Set<[Step]> = []  // removed, moved, or in a collection that was cleared
        for (entry, changeset) in accepted where entry >= born {
            for (index, op) in changeset.ops.enumerated() where op.path?.object == object {
                if case .create = op { makers.insert(changeset.replica) }
                guard changeset.base >= born || makers.contains(changeset.replica) else { continue }
                func note(_ steps: [Step], _ content: Content, _ isExplicit: Bool = true) {
                    writes[steps, default: []].append(
                        Write(
                            entry: entry, index: index, changeset: changeset, content: content,
                            isExplicit: isExplicit))
                }
                switch op {
                case .create(_, let given):
                    let isFirst = entry == born || changeset.base < born
                    for one in given where one.isExplicit || isFirst {
                        let steps = [Step.property(one.property)]
                        switch one.node {
                        case .value: note(steps, .node(one.node), one.isExplicit)
                        case .set(let members):
                            for member in members { note(steps + [.member(member)], .member) }
                        case .dictionary(let entries):
                            for (key, node) in entries { note(steps + [.key(key)], .node(node)) }
                        case .list, .fields: touched.insert(steps)
                        }
                    }
                case .put(let path, let content): note(path.steps, content)
                case .add(let path, let amount): sums[path.steps, default: 0] += amount
                case .insert(let path, let neighbours, _):
                    inserts[path.steps] = Insert(
                        entry: entry, changeset: changeset, neighbours: neighbours)
                case .move(let path, _), .remove(let path), .clear(let path),
                    .nested(let path, _, _):
                    touched.insert(path.steps)
                default: break
                }
            }
        }
        for (steps, all) in writes where steps.count <= 2 && !touched.contains([steps[0]]) {
            // Whatever is in an embedded object goes with it.
            if steps.count == 2, case .property = steps[1] { continue }
            try checkWrites(Path(object, steps), all, sums[steps])
        }
        for (steps, sum) in sums where steps.count == 1 && writes[steps] == nil {
            let now = log.content(at: Path(object, steps))
            // An int that was never put began as 0.
            if now == .value(.null) { continue }
            if now != .value(.int(sum)) {
                throw Failure("\(steps) of \(object.described) is not the sum of all adds, \(sum)")
            }
        }
        try checkLists(object, inserts, touched)
    }

    /// Whether the author of the second write knew the first.
    private func knew(_ first: Write, _ second: Write) -> Bool {
        (first.entry, first.index) < (second.entry, second.index)
            && (first.entry <= second.changeset.base
                || first.changeset.replica == second.changeset.replica)
    }

    private func checkWrites(_ path: Path, _ all: [Write], _ sum: Int64?) throws(Failure) {
        guard let slot = log.schema.slot(path), slot.property.type != .embedded,
            [.value, .member, .entry].contains(slot.kind)
        else { return }
        let explicit = all.filter(\.isExplicit)
        let writes = explicit.isEmpty ? all : explicit
        let best = writes.filter { one in !writes.contains { knew(one, $0) } }
        if sum != nil { return }
        var wanted = Set(best.map(\.content))
        if slot.property.canLink {
            // A link gives way to the delete of its target.
            if slot.property.type == .mixed { return }
            wanted.insert(slot.kind == .member ? .absent : .value(.null))
        }
        let now = log.content(at: path) ?? .absent
        if !wanted.contains(now) {
            throw Failure("\(path) is \(now), and should be one of \(wanted)")
        }
        // Of two that did not know each other, the later one stands where their times tell.
        guard best.count == 2, writes.count == 2, !slot.property.canLink else { return }
        let times = best.map { log.entry($0.entry).time }
        if abs(times[0] - times[1]) > 2000,
            now != best[times[0] > times[1] ? 0 : 1].content
        {
            throw Failure("\(path) is \(now), and the later write was another one")
        }
    }

    /// Every element is there that nobody took out, behind its left neighbour and before its right
    /// one, where its author knew them and nobody moved them.
    private func checkLists(
        _ object: ObjectID, _ inserts: [[Step]: Insert], _ touched: Set<[Step]>
    ) throws(Failure) {
        for (steps, insert) in inserts
        where steps.count == 2 && !touched.contains(steps) && !touched.contains([steps[0]]) {
            let path = Path(object, steps)
            guard let id = path.element, let slot = log.schema.slot(path),
                let list = log.content(at: path.parent)?.node?.list
            else { continue }
            guard let place = list.order.firstIndex(where: { $0.id == id }) else {
                if slot.property.type == .link { continue }
                throw Failure("\(path) was inserted, nobody took it out, and it is not there")
            }
            func known(_ neighbour: MadeID?) -> Int? {
                guard let neighbour, !touched.contains([steps[0], .element(neighbour)]),
                    let other = inserts[[steps[0], .element(neighbour)]],
                    other.entry <= insert.changeset.base
                else { return nil }
                return list.order.firstIndex { $0.id == neighbour }
            }
            let (left, right) = (
                known(insert.neighbours.left), known(insert.neighbours.right)
            )
            if let left, left > place { throw Failure("\(path) stands before its left neighbour") }
            if let right, right < place, insert.neighbours.left == nil || left != nil {
                throw Failure("\(path) stands behind its right neighbour")
            }
        }
    }
}
