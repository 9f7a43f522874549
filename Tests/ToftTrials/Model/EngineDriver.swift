internal import ToftEngine
internal import ToftModel
internal import ToftQuery
internal import ToftStorage

/// The engine's own interface, as the Swift API calls it.
final class EngineDriver: ModelDriver {
    func open(_ location: ModelLocation, _ shape: Shape) throws -> any ModelSession {
        let stored: StoreConfiguration.Location =
            switch location {
            case .memory(let name): .memory(name: name)
            case .file(let path, _): .file(path: path)
            }
        var configuration = Configuration(location: stored, schema: shape.schema)
        if case .file(_, let key?) = location {
            configuration.encryptionKey = try EncryptionKey(key)
        }
        let session = try Session.open(configuration)
        return try EngineSession(session, shape)
    }
}

/// A class as a session sees it.
private struct EngineClass {
    let handle: ClassHandle
    let properties: [PropertyID]
    let inverses: [PropertyID]
    let types: [ShapeProperty]
    /// The indexes of the properties with one value, and of the others.
    let scalars: [Int]
    let scalarIDs: [PropertyID]
    let collections: [Int]
    let targets: [ClassID]
}

final class EngineSession: ModelSession {
    private let session: Session
    private let shape: Shape
    private let classes: [EngineClass]
    private let loan = Loan()

    init(_ session: Session, _ shape: Shape) throws {
        self.session = session
        self.shape = shape
        classes = try shape.classes.map { declared in
            let handle = try session.classHandle(named: declared.name)
            let ids = try declared.properties.map { try handle.property(named: $0.name).id }
            let scalars = declared.properties.indices.filter {
                !declared.properties[$0].isCollection
            }
            return EngineClass(
                handle: handle, properties: ids,
                inverses: try declared.inverses.map { try handle.property(named: $0.name).id },
                types: declared.properties, scalars: scalars, scalarIDs: scalars.map { ids[$0] },
                collections: declared.collections,
                targets: try declared.properties.map {
                    $0.type == .link
                        ? try session.classHandle(named: shape.classes[$0.target].name).id : 0
                })
        }
    }

    func version() throws -> UInt64 { try session.version.rawValue }
    func begin() throws { try session.beginWrite() }
    func cancel() throws { try session.cancel() }
    func flush() throws { try session.flush() }
    func compactStep() throws -> Bool { try session.compactStep(movingAtMost: 1 << 18).hasMore }
    func refresh() throws { try session.refresh() }
    func dispatch() throws { try session.dispatch() }
    func close() throws { try session.close() }

    func commit(_ durability: Int) throws -> UInt64 {
        try session.commit(
            durability == 0 ? .immediate : durability == 1 ? .group : .deferred
        ).rawValue
    }

    func frozen() throws -> (any ModelSession)? { try EngineSession(session.frozen(), shape) }
    func check() throws -> [String] { try session.checkEverything().problems }

    // MARK: Objects

    private func object(_ owner: Int, _ key: Int64) -> ObjectHandle {
        session.handle(key, classes[owner].handle)
    }

    /// The value for a property: no entries at all are a dictionary too.
    private func borrowed(_ value: Datum, _ owner: Int, _ property: Int) -> BorrowedValue {
        if classes[owner].types[property].collection == .dictionary, value.elements.isEmpty {
            return .dictionary(UnsafeBufferPointer(start: nil, count: 0))
        }
        return borrowed(value, target: classes[owner].targets[property])
    }

    private func borrowed(_ value: Datum, target: ClassID) -> BorrowedValue {
        switch value {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .int(let value): return .int(value)
        case .float(let value): return .float(value)
        case .double(let value): return .double(value)
        case .text(let bytes): return .string(loan.bytes(bytes))
        case .data(let bytes): return .data(loan.bytes(bytes))
        case .date(let seconds, let rest):
            return .date(Timestamp(seconds: seconds, nanoseconds: rest))
        case .uuid(let bytes): return .uuid(FixedBytes(bytes: bytes))
        case .objectId(let bytes): return .objectId(FixedBytes(bytes: bytes))
        case .decimal(let low, let high): return .decimal(Decimal128(low: low, high: high))
        case .link(let key):
            return .link(ObjectRef(classID: target, key: key))
        case .object(let owner, let key):
            return .link(ObjectRef(classID: classes[owner].handle.id, key: key))
        case .list(let elements):
            guard case .entry? = elements.first else { return .list(list(elements, target)) }
            return .dictionary(entries(elements, target))
        case .map(let elements): return .dictionary(entries(elements, target))
        case .entry(_, let value): return borrowed(value, target: target)
        }
    }

    private func entries(_ elements: [Datum], _ target: ClassID)
        -> UnsafeBufferPointer<BorrowedEntry>
    {
        let entries = loan.array(elements.count, of: BorrowedEntry.self)
        for (index, element) in elements.enumerated() {
            entries.initializeElement(
                at: index,
                to: BorrowedEntry(
                    key: loan.bytes(element.key), value: borrowed(element, target: target)))
        }
        return UnsafeBufferPointer(entries)
    }

    private func collection(_ owner: Int, _ key: Int64, _ property: Int) throws -> CollectionHandle
    {
        try object(owner, key).collection(
            classes[owner].properties[property], classes[owner].types[property].collection)
    }

    private func list(_ elements: [Datum], _ target: ClassID)
        -> UnsafeBufferPointer<BorrowedValue>
    {
        let values = loan.array(elements.count, of: BorrowedValue.self)
        for (index, element) in elements.enumerated() {
            values.initializeElement(at: index, to: borrowed(element, target: target))
        }
        return UnsafeBufferPointer(values)
    }

    private func assignments(_ owner: Int, _ values: [(property: Int, value: Datum)])
        -> UnsafeBufferPointer<Assignment>
    {
        let assignments = loan.array(values.count, of: Assignment.self)
        for (index, item) in values.enumerated() {
            assignments.initializeElement(
                at: index,
                to: Assignment(
                    classes[owner].properties[item.property],
                    borrowed(item.value, owner, item.property)))
        }
        return UnsafeBufferPointer(assignments)
    }

    func create(_ owner: Int, _ values: [(property: Int, value: Datum)], policy: Int) throws
        -> (key: Int64, isNew: Bool)
    {
        defer { loan.reset() }
        let made = try session.create(
            classes[owner].handle.id, assignments(owner, values),
            policy: policy == 0 ? .error : policy == 1 ? .all : .modified)
        return (made.object.ref.key, made.isNew)
    }

    func set(_ owner: Int, _ key: Int64, _ property: Int, _ value: Datum) throws {
        defer { loan.reset() }
        try object(owner, key).set(
            classes[owner].properties[property], borrowed(value, owner, property))
    }

    func set(_ owner: Int, _ key: Int64, _ values: [(property: Int, value: Datum)]) throws {
        defer { loan.reset() }
        try object(owner, key).set(assignments(owner, values))
    }

    func add(_ owner: Int, _ key: Int64, _ property: Int, _ amount: Int64) throws {
        try object(owner, key).add(amount, to: classes[owner].properties[property])
    }

    func embed(_ owner: Int, _ key: Int64, _ property: Int, _ place: ModelEmbedding) throws -> Int64
    {
        defer { loan.reset() }
        let nothing = UnsafeBufferPointer<Assignment>(start: nil, count: 0)
        let id = classes[owner].properties[property]
        let made =
            switch place {
            case .one: try object(owner, key).setEmbedded(id, nothing)
            case .insert(let index):
                try collection(owner, key, property).insertEmbedded(nothing, at: index)
            case .replace(let index):
                try collection(owner, key, property).setEmbedded(nothing, at: index)
            case .entry(let name):
                try collection(owner, key, property).setEmbedded(
                    nothing, forKey: loan.bytes(name))
            }
        return made.ref.key
    }

    func erase(_ owner: Int, _ key: Int64) throws { try object(owner, key).delete() }
    func eraseAll(_ owner: Int) throws { try session.deleteAll([classes[owner].handle.id]) }

    /// A collection within a mixed value.
    private func collection(_ owner: Int, _ key: Int64, _ property: Int, _ steps: [ModelStep])
        throws -> CollectionHandle
    {
        func kind(_ step: ModelStep) -> CollectionKind { step.isMap ? .dictionary : .list }
        var steps = steps[...], handle: CollectionHandle
        if classes[owner].types[property].isCollection {
            handle = try collection(owner, key, property)
        } else {
            guard let first = steps.popFirst() else { throw ModelMisuse() }
            handle = try object(owner, key).collection(
                classes[owner].properties[property], kind(first))
        }
        for step in steps {
            let next =
                handle.kind == .dictionary && step.index & 1 == 0
                ? try handle.nested(forKey: loan.bytes(step.key), kind(step))
                : try handle.nested(at: step.index, kind(step))
            guard let next else { throw ModelViolation("there is no value of a key \(step)") }
            handle = next
        }
        return handle
    }

    func edit(
        _ owner: Int, _ key: Int64, _ property: Int, _ steps: [ModelStep], _ edit: ModelListEdit
    ) throws {
        defer { loan.reset() }
        if case .assign(let elements) = edit {
            return try object(owner, key).set(
                assignments(owner, [(property, .list(elements))]))
        }
        let list = try collection(owner, key, property, steps),
            target = classes[owner].targets[property]
        switch edit {
        case .put(let elements):
            for element in elements {
                let value = borrowed(element, target: target)
                if case .entry(let key, _) = element {
                    try list.dictionarySet(loan.bytes(key), value)
                } else {
                    try list.setInsert(value)
                }
            }
        case .take(let elements):
            for element in elements {
                let isErased: Bool
                if case .entry(let key, _) = element {
                    isErased = try list.dictionaryErase(loan.bytes(key))
                } else {
                    isErased = try list.setErase(
                        owned(element, target: target))
                }
                if !isErased { throw ModelViolation("\(element) was not there to be erased") }
            }
        case .insert(let index, let elements):
            try list.insert(self.list(elements, target), at: index)
        case .append(let elements): try list.append(self.list(elements, target))
        case .set(let index, let value): try list.set(borrowed(value, target: target), at: index)
        case .remove(let range): try list.erase(range)
        case .move(let from, let to): try list.move(from: from, to: to)
        case .swap(let one, let other): try list.swap(one, other)
        case .clear: try list.clear()
        case .assign: break
        }
    }

    // MARK: Reading

    func keys(_ owner: Int) throws -> [Int64] {
        try Self.keys(of: try session.results(of: classes[owner].handle.id))
    }

    static func keys(of results: Results) throws -> [Int64] {
        let count = try results.count
        var keys: [Int64] = []
        keys.reserveCapacity(count)
        for index in 0..<count { keys.append(try results.key(at: index)) }
        return keys
    }

    func difference(_ owner: Int, _ key: Int64, _ row: [Datum]) throws -> String? {
        let known = classes[owner]
        let object = object(owner, key)
        var found: String?
        var next = 0
        try known.scalarIDs.withUnsafeBufferPointer { ids in
            try object.forEachCell(ids) { _, _, cell in
                let place = known.scalars[next]
                next += 1
                guard found == nil else { return }
                if let (wrong, right) = difference(cell, row[place], known.types[place]) {
                    found = "'\(known.types[place].name)' is \(wrong), not \(right)"
                }
            }
        }
        guard found == nil, next == known.scalars.count else { return found ?? "lacks properties" }
        for place in known.collections {
            let collection = try object.collection(
                known.properties[place], known.types[place].collection)
            if let found = difference(
                try collection.cells(from: 0, limit: .max), row[place].values, known.types[place])
            {
                return "'\(known.types[place].name)' \(found)"
            }
            guard known.types[place].collection == .dictionary else { continue }
            let names = row[place].elements.map(\.name)
            let text = ShapeProperty(name: "key", type: .text)
            if let found = difference(try collection.keyCells(from: 0, limit: .max), names, text) {
                return "among the keys of '\(known.types[place].name)': \(found)"
            }
        }
        return nil
    }

    /// The present and the expected value of a cell; nil if these are equal.
    private func difference(_ cell: Cell, _ value: Datum, _ type: ShapeProperty) -> (
        String, String
    )? {
        guard type.type == .mixed else {
            return Self.isSame(cell, value) ? nil : (Self.shown(cell), "\(value)")
        }
        do {
            let found = datum(try MixedValue(cell).owned())
            return Datum.isSame(found, value) ? nil : ("\(found)", "\(value)")
        } catch {
            return ("damaged: \(error)", "\(value)")
        }
    }

    /// A mixed value.
    private func datum(_ value: Value) -> Datum {
        switch value {
        case .link(let ref):
            .object(classes.firstIndex { $0.handle.id == ref.classID } ?? -1, ref.key)
        case .list(let values): .list(values.map(datum))
        case .dictionary(let entries):
            .map(entries.map { .entry(Array($0.key.utf8), datum($0.value)) })
        default: EngineResults.datum(value)
        }
    }

    private func difference(_ list: [Cell], _ elements: [Datum], _ type: ShapeProperty) -> String? {
        guard list.count == elements.count else {
            return "has \(list.count) elements, not \(elements.count)"
        }
        for (index, (cell, element)) in zip(list, elements).enumerated() {
            if let (wrong, right) = difference(cell, element, type) {
                return "has \(wrong) at \(index), not \(right)"
            }
        }
        return nil
    }

    private static func isSame(_ cell: Cell, _ value: Datum) -> Bool {
        switch (cell, value) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.int64(let left), .int(let right)), (.int64(let left), .link(let right)):
            left == right
        case (.float32(let left), .float(let right)):
            left.bitPattern == right.bitPattern || left.isNaN && right.isNaN
        case (.float64(let left), .double(let right)):
            left.bitPattern == right.bitPattern || left.isNaN && right.isNaN
        case (.timestamp(let left), .date(let seconds, let rest)):
            left.seconds == seconds && left.nanoseconds == rest
        case (.fixed(let left), .uuid(let right)), (.fixed(let left), .objectId(let right)):
            left == FixedBytes(bytes: right)
        case (.fixed(let left), .decimal(let low, let high)):
            left == Decimal128(low: low, high: high).stored
        case (.bytes(let left), .text(let right)), (.bytes(let left), .data(let right)):
            right.isSame(as: left)
        default: false
        }
    }

    private static func shown(_ cell: Cell) -> String {
        switch cell {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int64(let value): "\(value)"
        case .float32(let value): "\(value)"
        case .float64(let value): "\(value)"
        case .timestamp(let value): "T\(value.seconds):\(value.nanoseconds)"
        case .fixed(let value): "uuid(\(value.uuidText))"
        case .bytes(let bytes): "\(Datum.text(Array(bytes)))"
        }
    }

    private func owned(_ value: Datum, target: ClassID) -> Value {
        switch value {
        case .null, .entry: .null
        case .list(let elements): .list(elements.map { owned($0, target: target) })
        case .map(let elements):
            .dictionary(
                elements.map {
                    ValueEntry(
                        key: String(decoding: $0.key, as: UTF8.self),
                        value: owned($0.value, target: target))
                })
        case .object(let owner, let key):
            .link(ObjectRef(classID: classes[owner].handle.id, key: key))
        case .bool(let value): .bool(value)
        case .int(let value): .int(value)
        case .float(let value): .float(value)
        case .double(let value): .double(value)
        case .text(let bytes): .string(String(decoding: bytes, as: UTF8.self))
        case .data(let bytes): .data(bytes)
        case .date(let seconds, let rest):
            .date(Timestamp(seconds: seconds, nanoseconds: rest))
        case .link(let key): .link(ObjectRef(classID: target, key: key))
        case .uuid(let bytes): .uuid(FixedBytes(bytes: bytes))
        case .objectId(let bytes): .objectId(FixedBytes(bytes: bytes))
        case .decimal(let low, let high): .decimal(Decimal128(low: low, high: high))
        }
    }

    func find(_ owner: Int, _ value: Datum) throws -> Int64? {
        try session.find(owned(value, target: 0), in: classes[owner].handle.id)?.ref.key
    }

    func listIndex(_ owner: Int, _ key: Int64, _ property: Int, of value: Datum) throws -> Int? {
        try collection(owner, key, property).firstIndex(
            of: owned(value, target: classes[owner].targets[property]))
    }

    func results(_ base: ModelBase, _ query: ModelQuery?) throws -> any ModelResults {
        let results: Results
        let owner: Int
        switch base {
        case .all(let index):
            owner = index
            results = try session.results(of: classes[index].handle.id)
        case .list(let index, let key, let property):
            owner = classes[index].types[property].target
            results = try collection(index, key, property).results()
        case .inverse(let index, let key, let inverse):
            owner = shape.classes[index].inverses[inverse].origin
            results = try object(index, key).linkingObjects(classes[index].inverses[inverse])
        }
        guard let query else { return EngineResults(results, classes[owner].properties) }
        return EngineResults(
            try results.filter(query.text, arguments: arguments(of: query)),
            classes[owner].properties)
    }

    func firstTwice(_ owner: Int, _ query: ModelQuery) throws -> [Int64?] {
        let prepared = try PreparedQuery(query.text), arguments = arguments(of: query)
        return try (0..<2).map { _ in
            try session.first(in: classes[owner].handle.id, prepared, arguments: arguments)
        }
    }

    private func arguments(of query: ModelQuery) -> [QueryArgument] {
        query.arguments.map { argument in
            let target = classes[argument.target].handle.id
            if case .list(let elements) = argument.value {
                return .list(elements.map { owned($0, target: target) })
            }
            return .value(owned(argument.value, target: target))
        }
    }

    // MARK: Observing

    func observe(_ subject: ModelSubject, _ call: @escaping (ModelChange) -> Void) throws
        -> AnyObject
    {
        switch subject {
        case .database: return try session.observe { call(ModelChange($0, [])) }
        case .object(let owner, let key):
            let ids = classes[owner].properties
            return try object(owner, key).observe { call(ModelChange($0, ids)) }
        case .list(let owner, let key, let property):
            return try collection(owner, key, property).observe {
                call(ModelChange($0, []))
            }
        case .results(let results):
            guard let results = results as? EngineResults else { throw ModelMisuse() }
            return try results.results.observe { call(ModelChange($0, [])) }
        }
    }
}

/// The harness was used in a way that it is not made for.
struct ModelMisuse: Error {}

final class EngineResults: ModelResults {
    let results: Results
    private let properties: [PropertyID]

    init(_ results: Results, _ properties: [PropertyID]) {
        self.results = results
        self.properties = properties
    }

    func count() throws -> Int { try results.count }
    func keys() throws -> [Int64] { try EngineSession.keys(of: results) }
    func deleteAll() throws { try results.deleteAll() }

    func aggregate(_ aggregate: ModelAggregate, of path: String) throws -> Datum {
        Self.datum(try results.aggregate(Self.operation(aggregate), of: path))
    }

    func text() throws -> String { try results.query() }

    func groups(by key: String, _ aggregate: ModelAggregate, of property: String) throws
        -> [ModelGroup]
    {
        try results.groups(by: [key], values: [(Self.operation(aggregate), property)]).map {
            ModelGroup(
                key: Self.datum($0.keys[0]), count: $0.count, value: Self.datum($0.values[0]))
        }
    }

    private static func operation(_ aggregate: ModelAggregate) -> Aggregate {
        switch aggregate {
        case .minimum: .minimum
        case .maximum: .maximum
        case .sum: .sum
        case .average: .average
        }
    }

    private static func bytes(_ value: FixedBytes, _ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { value.write(to: $0) }
        return bytes
    }

    fileprivate static func datum(_ value: Value) -> Datum {
        switch value {
        case .bool(let value): .bool(value)
        case .int(let value): .int(value)
        case .float(let value): .float(value)
        case .double(let value): .double(value)
        case .string(let value): .text(Array(value.utf8))
        case .data(let value): .data(value)
        case .date(let value): .date(value.seconds, value.nanoseconds)
        case .decimal(let value): .decimal(value.low, value.high)
        case .uuid(let value): .uuid(bytes(value, 16))
        case .objectId(let value): .objectId(bytes(value, 12))
        default: .null
        }
    }
}

extension ModelChange {
    /// `ids`: of the properties of the class that is observed.
    fileprivate init(_ notification: ChangeNotification, _ ids: [PropertyID]) {
        let kind: Kind =
            switch notification.kind {
            case .initial: .initial
            case .update: .update
            case .deleted: .deleted
            case .failure: .failure
            }
        self.init(kind: kind, version: notification.version.rawValue)
        let change = notification.collection
        deletions = change.deletions.runs.flatMap(Array.init)
        insertions = change.insertions.runs.flatMap(Array.init)
        modifications = change.modifications.runs.flatMap(Array.init)
        modificationsNew = change.modificationsNew.runs.flatMap(Array.init)
        properties = notification.object.properties.compactMap { ids.firstIndex(of: $0) }
    }
}
