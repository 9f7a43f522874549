internal import ToftSync
internal import ToftTestKit

/// One thing that a user does in a transaction.
enum Action: CaseIterable, Sendable {
    case create, delete, put, add, inner, insert, element, move, remove, clear, member, entry
    case nested, link

    var weight: Int {
        switch self {
        case .create: 6
        case .delete: 2
        case .put: 8
        case .insert: 6
        case .clear: 1
        case .element, .remove: 2
        case .entry: 4
        default: 3
        }
    }
}

/// A user of one replica.
struct User {
    var replica: Replica<MemoryTables>
    var dice: Seed
    let profile: Profile
    let isPartial: Bool

    mutating func transaction() {
        let actions = Action.allCases.flatMap {
            Array(repeating: $0, count: profile.actions[$0] ?? $0.weight)
        }
        for _ in 0..<dice.one(of: [1, 1, 2, 3, 5]) { act(dice.one(of: actions)) }
        if let object = dice.pick(objects), dice.chance(profile.spoiled) {
            replica.perform(.put(Path(object, Classes.title), .value(.text("BAD"))))
        }
    }

    /// In an order of their own: that of a dictionary differs from run to run.
    private var objects: [ObjectID] {
        replica.store.objects.keys.sorted { $0.described < $1.described }
    }

    private mutating func number() -> SyncValue { .int(Int64(dice.below(1_000_000))) }

    private mutating func link() -> SyncValue { dice.pick(objects).map(SyncValue.link) ?? .null }

    private mutating func mixed(_ depth: Int = 0) -> SyncValue {
        if dice.chance(15) { return link() }
        if depth > 1 || dice.chance(40) { return number() }
        let id = CollectionID(dice.next())
        let values = (0..<dice.below(3)).map { _ in mixed(depth + 1) }
        if dice.chance(40) { return .list(id, values) }
        return .dictionary(
            id, values.enumerated().map { NestedEntry(Text("m\($0)"), $1) })
    }

    private mutating func part(_ depth: Int = 0) -> Node {
        var fields = Fields()
        fields[PropertyNumber(1)] = .value(number())
        fields[PropertyNumber(2)] = .value(dice.chance(30) ? link() : .null)
        if depth < 2, dice.chance(50) { fields[PropertyNumber(3)] = part(depth + 1) }
        return .fields(fields)
    }

    private mutating func node(_ property: PropertySchema) -> Node {
        switch property.type {
        case .embedded: property.collection == .single && dice.chance(20) ? .null : part()
        case .mixed: .value(mixed())
        case .link: .value(link())
        case .text: .value(.text(Text(dice.one(of: ["d", "x", "y"]))))
        default:
            .value(
                property.number == Classes.code && property.collection == .single
                    ? dice.one(of: [.null, .null, .int(1), .int(2)]) : number())
        }
    }

    private mutating func create() {
        let isKeyed = dice.chance(75)
        let object =
            isKeyed
            ? ObjectID(Classes.item, .int(Int64(dice.below(profile.keys))))
            : ObjectID(Classes.note, .made(replica.makeID()))
        guard !replica.store.contains(object), let type = replica.store.schema[object.type] else {
            return
        }
        var given: [Given] = []
        for property in type.properties {
            let isDefault = property.number == Classes.title && dice.chance(50)
            guard isDefault || dice.chance(20) else { continue }
            let count = dice.below(3)
            let node: Node
            switch property.collection {
            case .single: node = isDefault ? .value(.text("d")) : self.node(property)
            case .list:
                let nodes = (0..<count).map { _ in (replica.makeID(), self.node(property)) }
                node = .list(ElementList(nodes.filter { $0.1 != .null }))
            case .set:
                let members = (0..<count).compactMap { _ in self.node(property).value }
                node = .set(Set(members.filter { $0 != .null }))
            case .dictionary:
                node = .dictionary(
                    (0..<count).reduce(into: [:]) { $0[Text("e\($1)")] = self.node(property) })
            }
            given.append(Given(property.number, node, isExplicit: !isDefault))
        }
        replica.perform(.create(object, given))
    }

    /// The path of a property of one kind, in the object or in an embedded object within it.
    private mutating func path(
        _ object: ObjectID, _ isWanted: (PropertySchema) -> Bool
    ) -> (Path, PropertySchema)? {
        guard let type = replica.store.schema[object.type],
            let fields = replica.store.content(at: Path(object))?.node?.fields
        else { return nil }
        var found: [(Path, PropertySchema)] = []
        func walk(_ fields: Fields, _ path: Path, _ type: ClassSchema) {
            for property in type.properties {
                let inner = path + .property(property.number)
                if isWanted(property) { found.append((inner, property)) }
                guard property.type == .embedded, let node = fields[property.number],
                    let part = replica.store.schema[Classes.part]
                else { continue }
                switch node {
                case .fields(let fields): walk(fields, inner, part)
                case .list(let list):
                    for place in list.order {
                        guard let fields = list.node(place).fields else { continue }
                        walk(fields, inner + .element(place.id) + .value, part)
                    }
                case .dictionary(let entries):
                    for key in entries.keys.sorted() {
                        if let fields = entries[key]?.fields {
                            walk(fields, inner + .key(key), part)
                        }
                    }
                default: break
                }
            }
        }
        walk(fields, Path(object), type)
        return dice.pick(found)
    }

    private mutating func act(_ action: Action) {
        guard action != .create, let object = dice.pick(objects) else { return create() }
        switch action {
        case .create: return
        case .delete: replica.delete(object)
        case .put, .inner, .link:
            let wanted = path(object) { property in
                property.collection == .single && (action != .link || property.type == .link)
            }
            guard let (path, property) = wanted else { return }
            replica.perform(.put(path, .node(node(property))))
        case .add:
            guard let (path, _) = path(object, { $0.type == .int && $0.collection == .single })
            else { return }
            replica.perform(.add(path, Int64(dice.below(7)) - 3))
        case .insert, .element, .move, .remove: editList(action, object)
        case .clear: clear(object)
        case .member:
            guard let (path, property) = path(object, { $0.collection == .set }) else { return }
            let member =
                property.type == .link ? link() : SyncValue.int(Int64(dice.below(4)))
            if member == .null { return }
            replica.perform(.put(path + .member(member), dice.chance(60) ? .member : .absent))
        case .entry:
            guard let (path, property) = path(object, { $0.collection == .dictionary }) else {
                return
            }
            let key = Text("e\(dice.below(3))")
            replica.perform(
                .put(path + .key(key), dice.chance(30) ? .absent : .node(node(property))))
        case .nested: editNested(object)
        }
    }

    private mutating func editList(_ action: Action, _ object: ObjectID) {
        guard let (path, property) = path(object, { $0.collection == .list }),
            let list = replica.store.content(at: path)?.node?.list
        else { return }
        let element = dice.pick(list.order).map { path + .element($0.id) }
        switch (action, element) {
        case (.insert, _):
            let index = dice.one(of: [list.count, dice.below(list.count + 1)])
            let step = dice.below(2)
            for number in 0..<dice.one(of: [1, 1, 3]) {
                let node = node(property)
                if node != .null { replica.insert(node, in: path, at: index + number * step) }
            }
        case (.element, let element?):
            let node = node(property)
            if node != .null { replica.perform(.put(element + .value, .node(node))) }
        case (.move, let element?): replica.move(element, to: dice.below(list.count))
        case (.remove, let element?): replica.perform(.remove(element))
        default: return
        }
    }

    /// A replica of a part can't see all links, so it takes out what it sees, one by one.
    private mutating func clear(_ object: ObjectID) {
        guard let (path, property) = path(object, { $0.collection != .single }) else { return }
        guard isPartial, property.canLink else {
            replica.perform(.clear(path))
            return
        }
        switch replica.store.content(at: path)?.node {
        case .list(let list):
            for place in list.order { replica.perform(.remove(path + .element(place.id))) }
        case .set(let members):
            for member in members { replica.perform(.put(path + .member(member), .absent)) }
        case .dictionary(let entries):
            for key in entries.keys.sorted() { replica.perform(.put(path + .key(key), .absent)) }
        default: break
        }
    }

    private mutating func editNested(_ object: ObjectID) {
        guard let (path, _) = path(object, { $0.type == .mixed && $0.collection == .single }),
            let value = replica.store.content(at: path)?.node?.value
        else { return }
        var found: [SyncValue] = []
        var waiting = [value]
        while let next = waiting.popLast() {
            switch next {
            case .list(_, let elements):
                found.append(next)
                waiting += elements
            case .dictionary(_, let entries):
                found.append(next)
                waiting += entries.map(\.value)
            default: break
            }
        }
        switch dice.pick(found) {
        case .list(let id, var elements):
            elements.insert(mixed(1), at: dice.below(elements.count + 1))
            replica.perform(
                .nested(path, id, .elements(Array(elements.dropFirst(dice.below(2))))))
        case .dictionary(let id, _):
            let key = Text("m\(dice.below(3))")
            replica.perform(
                .nested(path, id, .entry(key, dice.chance(25) ? nil : mixed(1))))
        default: return
        }
    }
}
