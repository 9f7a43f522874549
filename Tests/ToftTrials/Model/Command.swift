/// One step of a sequence. Numbers that name something count modulo the number of things, so that a
/// sequence stays meaningful when commands before are removed.
enum Command: Equatable {
    // Transactions. A change outside of one begins one in the session that wrote last.
    case begin(session: Int)
    /// 0: immediate, 1: in a group, 2: deferred.
    case commit(durability: Int)
    case rollback
    case flush
    case checkpoint
    /// Steps of a compaction while all sessions stay open.
    case compactStep(session: Int)

    // Objects. A nil gives no value for that property.
    case create(class: Int, count: Int, values: [Draw?])
    case upsert(class: Int, count: Int, policy: Int, values: [Draw?])
    /// Objects in transactions of their own.
    case createEach(class: Int, count: Int, durability: Int, values: [Draw?])
    case set(class: Int, object: Int, property: Int, Draw)
    /// Sets a property of a run of objects.
    case setRun(class: Int, object: Int, count: Int, property: Int, Draw)
    case setSame(class: Int, object: Int, property: Int)
    /// Adds to an integer property.
    case add(class: Int, object: Int, property: Int, amount: Int64)
    /// Adds to an integer and puts an element into a collection of objects all over the class, and
    /// reads some of them at once.
    case countUp(class: Int, object: Int, count: Int, property: Int, list: Int, Draw)
    case setMany(class: Int, object: Int, values: [Draw?])
    case erase(class: Int, object: Int, count: Int)
    case eraseAll(class: Int)
    case eraseFound(class: Int, query: UInt64)

    /// Makes, replaces, moves or drops an embedded object; the property counts among those that own
    /// some.
    case own(class: Int, object: Int, property: Int, at: Int, action: Int)

    // Lists: the property counts among the lists of the class.
    case insert(class: Int, object: Int, list: Int, at: Int, count: Int, Draw)
    case replace(class: Int, object: Int, list: Int, at: Int, Draw)
    case remove(class: Int, object: Int, list: Int, at: Int, count: Int)
    case move(class: Int, object: Int, list: Int, from: Int, to: Int)
    case swap(class: Int, object: Int, list: Int, Int, Int)
    case clear(class: Int, object: Int, list: Int)
    case assign(class: Int, object: Int, list: Int, count: Int, Draw)
    /// Edits a list or a dictionary within a mixed value, which `path` chooses.
    case nest(class: Int, object: Int, property: Int, path: Int, at: Int, action: Int, Draw)

    // Sessions and the file.
    case open
    case close(session: Int)
    case freeze(session: Int)
    case look(session: Int)
    case refresh(session: Int)
    case dispatch(session: Int)
    case reopen
    /// The process dies: only the content of the file is left.
    case kill
    /// Goes on with a compacted copy of the file.
    case copy
    /// Compacts the file, which is not open then.
    case compact
    /// Gives the closed file another key; 0: no key.
    case changeKey(Int)
    case addClass(bits: UInt64)
    case addProperty(class: Int, bits: UInt64)
    /// Makes or drops an index; of a primary key, begins to count it or no longer does; of a link,
    /// takes the next delete rule.
    case toggleIndex(class: Int, property: Int)
    /// A required property becomes optional; with `keeping` the open sessions stay as they are.
    case makeOptional(class: Int, property: Int, keeping: Bool)
    /// A migration to the next schema version: renames, changes types, removes, embeds, adds with
    /// a default.
    case migrate(class: Int, property: Int, bits: UInt64)

    // Questions.
    case query(session: Int, class: Int, query: UInt64)
    case find(session: Int, class: Int, Draw)
    case observe(session: Int, class: Int, object: Int, bits: UInt64)
    case stop(session: Int, observer: Int)

    /// The name of the case.
    var kind: String {
        let text = "\(self)"
        return String(text.prefix { $0 != "(" })
    }

    var isChange: Bool {
        switch self {
        case .create, .upsert, .set, .setRun, .setSame, .add, .countUp, .setMany, .erase, .eraseAll,
            .eraseFound, .own, .insert, .replace, .remove, .move, .swap, .clear, .assign, .nest:
            true
        default: false
        }
    }
}

extension Draw? {
    var isGiven: Bool { self != nil }
}
