/// The server's side of one realm: puts changesets into one order, resolves each by fixed rules,
/// and notes in its log which paths have changed.
///
/// One thread at a time may use it. The files of this folder:
///
/// - here: a changeset as a whole;
/// - `Resolver+Authority`: what an author knew, and which of two writes wins;
/// - `Resolver+Objects`, `+Values`, `+Lists`, `+Schema`: the rules, one function for each op;
/// - `Resolver+Batches`: what a replica is told.
package struct Resolver<Store: ServerStore> {
    package struct Settings: Sendable {
        /// The distance of labels at the ends of a list and after renumbering.
        package var labelGap: Int64 = 1 << 20
        /// Milliseconds that a replica's clock may be ahead of the server's.
        package var clockDrift: Int64 = 1000
        /// Whether a list without room is renumbered as a whole, not only where it is crowded.
        package var renumbersWholeLists = false

        package init() {}
    }

    package enum Outcome: Hashable, Sendable {
        case accepted
        case refused(Refusal)
        /// It was resolved before.
        case copy
        /// One before it is missing.
        case gap
    }

    package var store: Store
    package let settings: Settings
    /// The program's check of each put that would take effect: a message refuses the changeset.
    package var validator: (@Sendable (Path, Content) -> String?)?
    package var epoch: UInt32 = 0
    /// The entry up to which a copy of the realm has been made: the server can't lose it.
    package var safe: UInt64 = 0

    var climbs = Climbs()

    // Of the changeset that is being resolved.
    var author = ReplicaNumber.own
    var base: UInt64 = 0
    var time: Int64 = 0
    var sequence: UInt64 = 0
    var shown = OrderedPaths()
    var told = OrderedPaths()
    var changesSchema = false
    /// Objects of which a property with a unique constraint has been written.
    var uniquesTouched: Set<ObjectID> = []

    package init(_ store: Store, _ settings: Settings = Settings()) {
        self.store = store
        self.settings = settings
    }

    /// Resolves a changeset: all of it takes effect as the rules say, or nothing does.
    ///
    /// - Parameters:
    ///   - changeset: In the author's name: `changeset.replica` is the number that the session has,
    ///     and own ids have it, too (`Changeset.adopted(by:)`).
    ///   - now: The server's clock.
    /// - Complexity: O(ops), O(links) for a delete, O(log n) for an edit of a list.
    // Callers are in other modules: without this each access of the store is a call by a table.
    @_specialize(where Store == MemoryStore)
    @discardableResult
    package mutating func push(_ changeset: Changeset, now: Int64) -> Outcome {
        let last = store.lastNumber(of: changeset.replica)
        if changeset.number <= last { return .copy }
        if changeset.number != last + 1 { return .gap }
        author = changeset.replica
        base = changeset.base
        time = min(changeset.time, limit(now))
        sequence = store.head + 1
        shown.removeAll()
        told.removeAll()
        uniquesTouched.removeAll(keepingCapacity: true)
        changesSchema = false

        store.begin()
        let refusal = resolve(changeset)
        if refusal == nil {
            store.keep()
        } else {
            store.undo()
            climbs.forget()
            changesSchema = false
            shown.removeAll()
            told.removeAll()
            for op in changeset.ops { tellRefused(op) }
        }
        store.append(
            LogEntry(
                sequence: sequence, replica: author, number: changeset.number, base: base,
                time: time, shown: shown.all, told: told.all,
                changesSchema: changesSchema, refusal: refusal))
        return refusal.map(Outcome.refused) ?? .accepted
    }

    private func limit(_ now: Int64) -> Int64 {
        let (limit, overflow) = now.addingReportingOverflow(settings.clockDrift)
        return overflow ? .max : limit
    }

    private mutating func resolve(_ changeset: Changeset) -> Refusal? {
        if changeset.base > store.head {
            return Refusal(
                .badChangeset, "it is based on entry \(base), and the log ends at \(store.head)")
        }
        for op in changeset.ops {
            // The schema may change within the changeset, so each op is checked at its turn.
            if let problem = store.schema.problem(with: op, of: author) {
                return Refusal(.badChangeset, problem)
            }
            if let refusal = resolve(op) { return refusal }
        }
        for object in uniquesTouched where store.breaksUnique(object) {
            return Refusal(.unique, "another object has the values of \(object.described)")
        }
        return nil
    }

    private mutating func resolve(_ op: Op) -> Refusal? {
        switch op {
        case .create(let object, let given): create(object, given)
        case .delete(let object, let along): delete(object, along)
        case .put(let path, let content): put(path, content)
        case .add(let path, let amount): add(path, amount)
        case .insert(let path, let neighbours, let node): insert(path, neighbours, node)
        case .move(let path, let neighbours): move(path, neighbours)
        case .remove(let path): remove(path)
        case .clear(let path): clear(path)
        case .nested(let path, let id, let edit): nested(path, id, edit)
        case .addClass(let type): add(type)
        case .addProperty(let type, let property): add(property, to: type)
        }
    }

    // MARK: Facts

    /// A fact for everyone.
    mutating func show(_ path: Path) { shown.insert(path) }

    /// A fact for the author alone: what it owns did not come out as it was sent.
    mutating func tell(_ path: Path) -> Refusal? {
        told.insert(path)
        return nil
    }

    /// An object that the author has removed, and the links to it, which went with it there.
    mutating func tellWhole(_ object: ObjectID) {
        told.insert(Path(object))
        for link in store.links(to: object) { told.insert(link) }
    }

    /// Tells the author of what a refused op owned: it gets the old state.
    private mutating func tellRefused(_ op: Op) {
        switch op {
        case .delete(let object, let along):
            tellWhole(object)
            for other in along { tellWhole(other) }
        case .add(let path, _): told.insert(path)
        default: op.eachOwned(store.schema) { told.insert($0) }
        }
    }
}

extension Resolver: Sendable where Store: Sendable {}

/// Paths in the order in which they came, each once.
package struct OrderedPaths: Sendable {
    package private(set) var all: [Path] = []
    private var known: Set<Path> = []

    /// Below this number a search of the array is as quick as one of the set.
    private static let few = 4

    package mutating func insert(_ path: Path) {
        if all.count < Self.few {
            if !all.contains(path) { all.append(path) }
        } else {
            if all.count == Self.few { known = Set(all) }
            if known.insert(path).inserted { all.append(path) }
        }
    }

    package mutating func removeAll() {
        all = []
        if !known.isEmpty { known.removeAll(keepingCapacity: true) }
    }
}

extension ObjectID {
    /// For messages.
    package var described: String {
        let key =
            switch key {
            case .null: "null"
            case .int(let value): "\(value)"
            case .text(let text): "\"\(text.string)\""
            case .objectID(let bytes): "an object id \(bytes.high), \(bytes.low)"
            case .uuid(let bytes): "a UUID \(bytes.high), \(bytes.low)"
            case .made(let id): "\(id.replica.rawValue):\(id.counter)"
            }
        return "the object \(key) of class \(type.rawValue)"
    }
}
