/// Writes down the calls that a sequence makes, in the spelling of its interface: the report of a
/// shrunk sequence. Reading calls are left out.
final class TracingDriver: ModelDriver {
    private let driver: any ModelDriver
    private let isC: Bool
    private(set) var lines: [String] = []

    init(_ driver: any ModelDriver, isC: Bool) {
        self.driver = driver
        self.isC = isC
    }

    func open(_ location: ModelLocation, _ shape: Shape) throws -> any ModelSession {
        note("toft_realm_open(...)", "Session.open(...)")
        return TracingSession(try driver.open(location, shape), shape, self)
    }

    func note(_ c: @autoclosure () -> String, _ engine: @autoclosure () -> String) {
        lines.append(isC ? c() : engine())
    }
}

/// A session whose changes are written down.
final class TracingSession: ModelSession {
    private let session: any ModelSession
    private let shape: Shape
    private let trace: TracingDriver

    init(_ session: any ModelSession, _ shape: Shape, _ trace: TracingDriver) {
        self.session = session
        self.shape = shape
        self.trace = trace
    }

    private func object(_ owner: Int, _ key: Int64) -> String {
        "\(shape.classes[owner].name) \(key)"
    }

    private func name(_ owner: Int, _ property: Int) -> String {
        shape.classes[owner].properties[property].name
    }

    private func shown(_ owner: Int, _ values: [(property: Int, value: Datum)]) -> String {
        values.map { "\(name(owner, $0.property)): \($0.value)" }.joined(separator: ", ")
    }

    // MARK: Transactions

    func begin() throws {
        trace.note("toft_realm_begin_write(realm, NULL)", "session.beginWrite()")
        try session.begin()
    }

    func commit(_ durability: Int) throws -> UInt64 {
        let name = ["IMMEDIATE", "GROUP", "DEFERRED"][min(2, max(0, durability))]
        trace.note(
            durability == 0
                ? "toft_realm_commit(realm, NULL, NULL)"
                : "toft_realm_commit(realm, {TOFT_DURABILITY_\(name)}, NULL)",
            "session.commit(.\(name.lowercased()))")
        return try session.commit(durability)
    }

    func cancel() throws {
        trace.note("toft_realm_cancel(realm)", "session.cancel()")
        try session.cancel()
    }

    func flush() throws {
        trace.note("toft_realm_flush(realm)", "session.flush()")
        try session.flush()
    }

    func compactStep() throws -> Bool {
        trace.note(
            "toft_realm_compact_step(realm, 262144, &step)",
            "session.compactStep(movingAtMost: 262144)")
        return try session.compactStep()
    }

    func refresh() throws {
        trace.note("toft_realm_refresh(realm, NULL)", "session.refresh()")
        try session.refresh()
    }

    func dispatch() throws {
        trace.note("toft_realm_dispatch(realm, NULL)", "session.dispatch()")
        try session.dispatch()
    }

    func close() throws {
        trace.note("toft_realm_close(realm)", "session.close()")
        try session.close()
    }

    // MARK: Changes

    func create(_ owner: Int, _ values: [(property: Int, value: Datum)], policy: Int) throws
        -> (key: Int64, isNew: Bool)
    {
        let (given, name) = (shown(owner, values), shape.classes[owner].name)
        let policies = ["ERROR", "ALL", "MODIFIED"]
        trace.note(
            "toft_realm_create_object(realm, \(name), TOFT_UPDATE_\(policies[policy]), {\(given)})",
            "session.create(\(name), [\(given)], policy: .\(policies[policy].lowercased()))")
        return try session.create(owner, values, policy: policy)
    }

    func set(_ owner: Int, _ key: Int64, _ property: Int, _ value: Datum) throws {
        let (object, name) = (object(owner, key), name(owner, property))
        trace.note(
            "toft_object_set(\(object), \(name), \(value))", "\(object).set(\(name), \(value))")
        try session.set(owner, key, property, value)
    }

    func set(_ owner: Int, _ key: Int64, _ values: [(property: Int, value: Datum)]) throws {
        let (object, given) = (object(owner, key), shown(owner, values))
        trace.note(
            "toft_object_set_values(\(object), {\(given)})", "\(object).set([\(given)])")
        try session.set(owner, key, values)
    }

    func add(_ owner: Int, _ key: Int64, _ property: Int, _ amount: Int64) throws {
        let (object, name) = (object(owner, key), name(owner, property))
        trace.note(
            "toft_object_add(\(object), \(name), \(amount))",
            "\(object).add(\(amount), to: \(name))")
        try session.add(owner, key, property, amount)
    }

    func embed(_ owner: Int, _ key: Int64, _ property: Int, _ place: ModelEmbedding) throws -> Int64
    {
        let (object, name) = (object(owner, key), name(owner, property))
        trace.note(
            "toft_..._embedded(\(object), \(name), \(place))", "\(object).embed(\(name), \(place))")
        return try session.embed(owner, key, property, place)
    }

    func erase(_ owner: Int, _ key: Int64) throws {
        let object = object(owner, key)
        trace.note("toft_object_delete(\(object))", "\(object).delete()")
        try session.erase(owner, key)
    }

    func eraseAll(_ owner: Int) throws {
        let name = shape.classes[owner].name
        trace.note("toft_realm_delete_all(realm, \(name))", "session.deleteAll(\(name))")
        try session.eraseAll(owner)
    }

    func edit(
        _ owner: Int, _ key: Int64, _ property: Int, _ steps: [ModelStep], _ edit: ModelListEdit
    ) throws {
        let list =
            "\(object(owner, key)).\(name(owner, property))"
            + steps.map { "[\($0.index)]" }.joined()
        let (verb, arguments) = edit.call
        trace.note("toft_list_\(verb)(\(list), \(arguments))", "\(list).\(verb)(\(arguments))")
        try session.edit(owner, key, property, steps, edit)
    }

    // MARK: Reading

    func version() throws -> UInt64 { try session.version() }
    func frozen() throws -> (any ModelSession)? { try session.frozen() }
    func check() throws -> [String] { try session.check() }
    func keys(_ owner: Int) throws -> [Int64] { try session.keys(owner) }

    func difference(_ owner: Int, _ key: Int64, _ row: [Datum]) throws -> String? {
        try session.difference(owner, key, row)
    }

    func find(_ owner: Int, _ value: Datum) throws -> Int64? { try session.find(owner, value) }

    func listIndex(_ owner: Int, _ key: Int64, _ property: Int, of value: Datum) throws -> Int? {
        try session.listIndex(owner, key, property, of: value)
    }

    func results(_ base: ModelBase, _ query: ModelQuery?) throws -> any ModelResults {
        try session.results(base, query)
    }

    func firstTwice(_ owner: Int, _ query: ModelQuery) throws -> [Int64?] {
        try session.firstTwice(owner, query)
    }

    func observe(_ subject: ModelSubject, _ call: @escaping (ModelChange) -> Void) throws
        -> AnyObject
    {
        trace.note("toft_..._observe(\(subject))", "observe(\(subject))")
        return try session.observe(subject, call)
    }
}

extension ModelListEdit {
    /// The name of the call and its arguments.
    fileprivate var call: (String, String) {
        switch self {
        case .insert(let index, let elements):
            ("insert", "\(index), \(Datum.list(elements))")
        case .append(let elements): ("append", "\(Datum.list(elements))")
        case .set(let index, let value): ("set", "\(index), \(value)")
        case .remove(let range): ("erase", "\(range.lowerBound), \(range.count)")
        case .move(let from, let to): ("move", "\(from), \(to)")
        case .swap(let one, let other): ("swap", "\(one), \(other)")
        case .clear: ("clear", "")
        case .assign(let elements): ("assign", "\(Datum.list(elements))")
        case .put(let elements): ("insert each", "\(Datum.list(elements))")
        case .take(let elements): ("erase each", "\(Datum.list(elements))")
        }
    }
}
