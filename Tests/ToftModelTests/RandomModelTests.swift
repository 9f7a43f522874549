// Tests: Assignment.swift, BorrowedValue.swift, ClassHandle.swift, CollectionEdit.swift,
// MixedValue.swift, ModelTransaction+Create.swift, ModelTransaction+Unique.swift, ModelView.swift,
// ModelView+Keys.swift, PrimaryKeyEntry.swift, NearestName.swift, ModelView+Mixed.swift,
// CollectionRef.swift, ModelView+Rows.swift, PreparedAssignments.swift, PropertyHandle.swift,
// PropertyType.swift, TreeSlots.swift, UnflushedChanges.swift, Value.swift
import Testing
@testable import ToftModel
import ToftStorage
import ToftTestKit

/// Random commands, run on a database and on a reference model; both must hold the same after each
/// transaction.
@Suite struct RandomModelTests {
    static let scalars: [PropertyType] = [
        .bool, .int, .float, .double, .string, .data, .date, .uuid, .objectId, .decimal128,
        .mixed,
    ]
    static let person = ClassSchema(
        "Person",
        [
            PropertySchema("id", .int, isPrimaryKey: true, isAutoIncremented: true),
            PropertySchema("nick", .string, isOptional: true, isIndexed: true),
            .link("boss", to: "Person"),
            PropertySchema(
                "heir", .link, isOptional: true, deleteRule: .cascade, target: "Person"),
        ]
            + [
                .links("friends", to: "Person"), .links("dogs", to: "Dog"),
                .linkingObjects("reports", from: "Person", "boss"),
            ]
            + scalars.map { PropertySchema("\($0)", $0, isIndexed: $0.canBeIndexed) })
    static let dog = ClassSchema(
        "Dog",
        [
            PropertySchema("name", .string, isOptional: true, isPrimaryKey: true),
            PropertySchema(
                "owner", .link, isOptional: true, deleteRule: .deny, target: "Person"),
            .link("rival", to: "Dog"),
        ]
            + scalars.map { PropertySchema("list_\($0)", $0, collection: .list, isOptional: true) })
    static let bag = ClassSchema(
        "Bag",
        [
            PropertySchema("peers", .link, collection: .set, target: "Bag"),
            PropertySchema(
                "dogs", .link, collection: .set, deleteRule: .cascade, target: "Dog"),
            PropertySchema(
                "named", .link, collection: .dictionary, isOptional: true, target: "Bag"),
        ]
            + scalars.map { PropertySchema("set_\($0)", $0, collection: .set, isOptional: true) }
            + scalars.map {
                PropertySchema("map_\($0)", $0, collection: .dictionary, isOptional: true)
            })
    static let plain = ClassSchema(
        "Plain",
        scalars.map { PropertySchema("\($0)", $0, isOptional: true, isIndexed: $0.canBeIndexed) }
            + [
                .links("plains", to: "Plain"), .link("leaf", to: "Leaf"),
                .links("leaves", to: "Leaf"),
            ], uniques: [["int", "date"]])
    static let leaf = ClassSchema(
        "Leaf", isEmbedded: true,
        [
            PropertySchema("text", .string, isOptional: true, isIndexed: true),
            .link("friend", to: "Person"), .link("next", to: "Leaf"), .links("leaves", to: "Leaf"),
        ])

    @Test(arguments: [false, true])
    func `Random commands survive closing and opening the file`(isEncrypted: Bool) throws {
        var run = RandomRun(seed: Seed.random())
        let key = isEncrypted ? try EncryptionKey((0..<64).map { $0 }) : nil
        try withTemporaryDirectory { directory in
            for _ in 0..<6 {
                let file = StoreConfiguration.Location.file(path: directory + "/random.toft")
                let database = try ModelDatabase(
                    Self.person, Self.dog, Self.bag, Self.plain, Self.leaf, location: file,
                    isTight: run.seed.chance(50), dirtyLimit: run.seed.chance(50) ? 20_000 : nil,
                    encryptionKey: key)
                #expect(
                    try database.read { try ReferenceModel(reading: $0) } == run.model,
                    "\(run.seed)")
                try run.write(200, to: database)
                try database.check()
            }
        }
    }

    @Test(arguments: [1, 0, 0], [false, true])
    func `Random commands leave what a plain model holds`(given: UInt64, isTight: Bool) throws {
        let seed = given == 0 ? Seed.random() : Seed(given)
        let database = try ModelDatabase(
            Self.person, Self.dog, Self.bag, Self.plain, Self.leaf, isTight: isTight,
            dirtyLimit: isTight ? nil : 20_000)
        var run = RandomRun(seed: seed)
        for _ in 0..<12 {
            let before = run.model
            let isCommitted = run.seed.chance(80)
            if isCommitted {
                try run.write(150, to: database)
            } else {
                try database.rolledBack { transaction throws in try run.steps(150, transaction) }
                run.model = before
            }
            if run.seed.chance(30) {
                while try database.store.compactStep(movingAtMost: 1 << 18).hasMore {}
            }
            try database.read { view throws in
                let found = try ReferenceModel(reading: view)
                #expect(found == run.model, "\(seed)")
                try run.compareInverses(view)
            }
            if run.seed.chance(30) {
                try database.reopen(Self.person, Self.dog, Self.bag, Self.plain, Self.leaf)
            }
        }
        try database.check()
    }
}

extension ModelTransaction {
    /// Assigns a whole set.
    func assignSet(
        _ values: [Value], to key: Int64, _ property: PropertyHandle, _ policy: UpdatePolicy
    ) throws {
        try withAssignments(values.map { (property, $0) }) { lent throws(ModelError) in
            let values = lent.map(\.value)
            let result: Result<Void, ModelError> = values.withUnsafeBufferPointer { buffer in
                Result { () throws(ModelError) in
                    try assign(.list(buffer), to: key, property, policy: policy)
                }
            }
            try result.get()
        }
    }

    /// Assigns a whole dictionary.
    func assignDictionary(
        _ entries: [(String, Value)], to key: Int64, _ property: PropertyHandle,
        _ policy: UpdatePolicy
    ) throws {
        let both = entries.flatMap { [Value.string($0.0), $0.1] }
        try withAssignments(both.map { (property, $0) }) { lent throws(ModelError) in
            var pairs: [BorrowedEntry] = []
            for index in stride(from: 0, to: lent.count, by: 2) {
                guard case .string(let name) = lent[index].value else { continue }
                pairs.append(BorrowedEntry(key: name, value: lent[index + 1].value))
            }
            let result: Result<Void, ModelError> = pairs.withUnsafeBufferPointer { buffer in
                Result { () throws(ModelError) in
                    try assign(.dictionary(buffer), to: key, property, policy: policy)
                }
            }
            try result.get()
        }
    }
}

/// One random sequence and the model beside it.
private struct RandomRun {
    var seed: Seed
    var model = ReferenceModel()
    var classIDs: [String: ClassID] = [:]

    init(seed: Seed) {
        self.seed = seed
        for name in ["Person", "Dog", "Bag", "Plain", "Leaf"] { model.classes[name] = [:] }
    }

    /// Runs a transaction, which does not commit if two objects have the same unique values.
    mutating func write(_ count: Int, to database: ModelDatabase) throws {
        let before = model
        do {
            try database.write { transaction throws in try steps(count, transaction) }
            #expect(!model.hasDuplicates("Plain", ["int", "date"]), "\(seed)")
        } catch ModelError.duplicateValues {
            #expect(model.hasDuplicates("Plain", ["int", "date"]), "\(seed)")
            model = before
        }
    }

    mutating func steps(_ count: Int, _ transaction: ModelTransaction) throws {
        for owner in transaction.view.schema.classes {
            classIDs[owner.name] = owner.id
            model.names[owner.id] = owner.name
            if owner.isEmbedded { model.embedded[owner.id] = owner.name }
            for property in owner.links {
                model.rules[owner.name, default: [:]][property.name] = property.deleteRule
            }
        }
        for _ in 0..<count { try step(transaction) }
    }

    mutating func step(_ transaction: ModelTransaction) throws {
        guard let owner = seed.pick(transaction.view.schema.visibleClasses) else { return }
        switch seed.below(103) {
        case 0..<25: try create(owner, transaction)
        case 25..<55: try set(owner, transaction)
        case 55..<78: try editCollection(owner, transaction)
        case 78..<85: try editNested(owner, transaction)
        case 85..<93: try erase(owner, transaction)
        case 93..<96: try look(owner, transaction)
        case 96: try countUp(transaction)
        case 97: try find(owner, transaction)
        case 98: if seed.chance(10) { try eraseAll(owner, transaction) }
        case 99: try fail(owner, transaction)
        default: try attempt(transaction)
        }
        if seed.chance(20), let key = key(owner) { try readBack(key, owner, transaction.view) }
    }

    /// Raises numbers and appends to lists of objects in random order, as programs count: each is
    /// read before it is changed, and some are at once read back.
    mutating func countUp(_ transaction: ModelTransaction) throws {
        let people = try transaction.view.schema.classHandle(named: "Person")
        let dogs = try transaction.view.schema.classHandle(named: "Dog")
        let number = try people.property(named: "int"), text = try people.property(named: "string")
        let numbers = try dogs.property(named: "list_int")
        for _ in 0..<seed.below(60) {
            if let key = key(people), seed.chance(70) {
                if case .int(let old) = try transaction.view.value(key, number), old < 1_000 {
                    try transaction.set(key, number, Value.int(old + 1))
                    model.classes["Person"]?[key]?.values["int"] = Value.int(old + 1)
                }
                if case .string(let old) = try transaction.view.value(key, text) {
                    let longer = Value.string(String(old.suffix(9)) + "+")
                    try transaction.set(key, text, longer)
                    model.classes["Person"]?[key]?.values["string"] = longer
                }
                if seed.chance(30) { try readBack(key, people, transaction.view) }
            } else if let key = key(dogs) {
                let end = try transaction.view.listCount(key, numbers), value = value(numbers)
                try transaction.listInsert(key, numbers, at: end, value)
                model.classes["Dog"]?[key]?.lists["list_int"]?.append(value)
                if seed.chance(30) { try readBack(key, dogs, transaction.view) }
            }
        }
    }

    /// Reads all that an object has.
    func readBack(_ key: Int64, _ owner: ClassHandle, _ view: ModelView) throws {
        let object = try #require(model.classes[owner.name]?[key], "\(seed)")
        let stored = owner.visibleProperties.filter(\.isStored)
        let single = stored.filter { !$0.isCollection }
        var found: [Value] = []
        try single.map(\.id).withUnsafeBufferPointer { ids in
            try view.forEachCell(key, owner, ids) { _, _, cell in
                let property = single[found.count]
                found.append((try? property.value(of: cell)) ?? .string("unreadable"))
            }
        }
        #expect(found == single.map { object.values[$0.name] }, "\(seed)")
        for property in single {
            #expect(try view.value(key, property) == object.values[property.name], "\(seed)")
        }
        for property in stored where property.isCollection {
            let count =
                object.lists[property.name]?.count ?? object.sets[property.name]?.count
                ?? object.dictionaries[property.name]?.count
            #expect(try view.listCount(key, property) == count, "\(seed)")
            guard property.collection == .list else { continue }
            #expect(
                try view.listValues(key, property) == object.lists[property.name], "\(seed)")
        }
    }

    /// Does some commands after a savepoint, and often takes them back.
    mutating func attempt(_ transaction: ModelTransaction) throws {
        let before = model
        try transaction.beginSavepoint()
        for _ in 0..<seed.below(20) { try step(transaction) }
        let isKept = seed.chance(35)
        #expect(try transaction.endSavepoint(keeping: isKept), "\(seed)")
        if !isKept { model = before }
    }

    // MARK: Values

    mutating func value(_ property: PropertyHandle) -> Value {
        if property.isOptional, seed.chance(15) { return .null }
        switch property.type {
        case .bool: return .bool(seed.chance(50))
        case .int:
            return .int(seed.chance(70) ? Int64(seed.below(20)) : Int64(bitPattern: seed.next()))
        case .float: return .float(seed.chance(10) ? .nan : Float(seed.below(100)) / 8)
        case .double: return .double(seed.chance(10) ? .infinity : Double(seed.below(100)) / 8)
        case .string: return .string(text())
        case .data:
            return .data(
                (0..<seed.below(seed.chance(5) ? 3_000 : 30)).map { _ in
                    UInt8(truncatingIfNeeded: seed.next())
                })
        case .date:
            return .date(
                Timestamp(
                    seconds: Int64(seed.below(50)),
                    // Most clusters have no nanoseconds, until one comes.
                    nanoseconds: seed.chance(5) ? Int32(seed.below(5)) : 0))
        case .uuid:
            return .uuid(FixedBytes(high: UInt64(seed.below(8)), low: UInt64(seed.below(8))))
        case .decimal128:
            let texts = ["0", "-0", "1", "1.0", "1.00", "-1E+3", "0.1", "NaN", "-Infinity"]
            return .decimal(Decimal128(seed.pick(texts) ?? "7") ?? .nan)
        case .objectId:
            return .objectId(
                FixedBytes(high: UInt64(seed.below(8)), low: UInt64(seed.below(8)) << 32))
        case .link, .linkingObjects: return link(property)
        case .mixed: return mixed(depth: property.collection == .set ? 4 : 0)
        }
    }

    /// A value of any type. Numbers of two types are never equal here: a set keeps one of them, and
    /// the model does not say which.
    mutating func mixed(depth: Int) -> Value {
        let number = seed.below(30)
        switch seed.below(depth < 4 ? 16 : 11) {
        case 0: return .null
        case 1: return .bool(number > 15)
        case 2: return .int(Int64(number))
        case 3: return .double(Double(number) + 0.5)
        case 4: return .float(Float(number) + 0.25)
        case 5: return .string(text())
        case 6: return .data([UInt8](repeating: 7, count: number))
        case 7: return .date(Timestamp(seconds: Int64(number), nanoseconds: 1))
        case 8: return .decimal(Decimal128("\(number).1") ?? .nan)
        case 9:
            return number > 15
                ? .uuid(FixedBytes(high: UInt64(number), low: 1))
                : .objectId(FixedBytes(high: UInt64(number), low: 1 << 32))
        case 10:
            let name = ["Person", "Dog", "Bag", "Plain"][seed.below(4)]
            guard let id = classIDs[name], let key = seed.pick(keys(name)) else { return .null }
            return .link(ObjectRef(classID: id, key: key))
        case 11, 12: return .list((0..<seed.below(5)).map { _ in mixed(depth: depth + 1) })
        default:
            let entries = (0..<seed.below(5)).map { _ in (entryKey(), mixed(depth: depth + 1)) }
            return .dictionary(Dictionary(entries) { $1 }.entries)
        }
    }

    mutating func text() -> String {
        let length =
            seed.chance(5)
            ? 190 + seed.below(30) : seed.chance(2) ? seed.below(5_000) : seed.below(12)
        let letters = ["a", "b", "\u{0}", "é", "😀"]
        return String(repeating: "t", count: max(length - 2, 0)) + (letters[seed.below(5)])
            + letters[seed.below(5)]
    }

    mutating func link(_ property: PropertyHandle) -> Value {
        guard let name = property.targetName, let key = seed.pick(keys(name)) else { return .null }
        return .link(ObjectRef(classID: property.targetClassID ?? 0, key: key))
    }

    func keys(_ name: String) -> [Int64] { (model.classes[name] ?? [:]).keys.sorted() }

    mutating func key(_ owner: ClassHandle) -> Int64? { seed.pick(keys(owner.name)) }

    mutating func property(_ owner: ClassHandle, _ isWanted: (PropertyHandle) -> Bool)
        -> PropertyHandle?
    {
        seed.pick(owner.visibleProperties.filter { $0.isStored && isWanted($0) })
    }

    // MARK: Commands

    mutating func create(_ owner: ClassHandle, _ transaction: ModelTransaction) throws {
        let values = self.values(owner)
        if owner.isEmbedded {
            #expect(throws: ModelError.embeddedClass(owner.name), "\(seed)") {
                try transaction.create(owner, values)
            }
            return
        }
        let primaryKey = values.first { $0.property.isPrimaryKey }
        if let counted = owner.primaryKey, counted.isAutoIncremented, primaryKey == nil {
            return try createNext(owner, counted, values, transaction)
        }
        let existing = primaryKey.flatMap { given in
            model.classes[owner.name]?.first {
                $0.value.values[given.property.name] == given.value
            }?.key
        }
        let policy: UpdatePolicy =
            primaryKey == nil ? .error : [.error, .all, .modified][seed.below(3)]
        if existing != nil, policy == .error {
            #expect(throws: ModelError.self, "\(seed)") { try transaction.create(owner, values) }
            return
        }
        let (key, isNew) = try transaction.create(owner, values, policy: policy)
        #expect(isNew == (existing == nil) && key == existing ?? key, "\(seed)")
        if isNew { model.classes[owner.name, default: [:]][key] = blank(owner) }
        for (property, value) in values {
            model.classes[owner.name]?[key]?.values[property.name] = value
        }
        if owner.primaryKey?.isAutoIncremented == true, case .int(let id)? = primaryKey?.value {
            model.counters[owner.name] = max(model.counters[owner.name] ?? 0, id)
        }
    }

    /// Creates an object whose primary key the transaction counts.
    mutating func createNext(
        _ owner: ClassHandle, _ counted: PropertyHandle,
        _ values: [(property: PropertyHandle, value: Value)], _ transaction: ModelTransaction
    ) throws {
        let last = model.counters[owner.name] ?? 0
        guard last < .max else {
            #expect(throws: ModelError.self, "\(seed)") { try transaction.create(owner, values) }
            return
        }
        let (key, isNew) = try transaction.create(owner, values)
        #expect(isNew, "\(seed)")
        var object = blank(owner)
        for (property, value) in values { object.values[property.name] = value }
        object.values[counted.name] = .int(last + 1)
        model.classes[owner.name, default: [:]][key] = object
        model.counters[owner.name] = last + 1
    }

    /// Values for some properties of a new object.
    mutating func values(_ owner: ClassHandle) -> [(property: PropertyHandle, value: Value)] {
        var values: [(property: PropertyHandle, value: Value)] = []
        for property in owner.visibleProperties
        where property.isStored && !property.isCollection
            && (property.isPrimaryKey && !property.isAutoIncremented || seed.chance(50))
        {
            values.append((property, property.ownsTargets ? .null : value(property)))
        }
        return values
    }

    /// Has the transaction create an embedded object.
    mutating func embed(
        _ property: PropertyHandle, _ transaction: ModelTransaction,
        _ body: (UnsafeBufferPointer<Assignment>) throws(ModelError) -> Int64
    ) throws -> Value {
        let id = property.targetClassID ?? 0
        let target = try transaction.view.schema.classHandle(id: id), values = values(target)
        let key = try transaction.withAssignments(values, body)
        var object = blank(target)
        for (property, value) in values { object.values[property.name] = value }
        model.classes[target.name]?[key] = object
        return .link(ObjectRef(classID: id, key: key))
    }

    func blank(_ owner: ClassHandle) -> ReferenceModel.Object {
        var object = ReferenceModel.Object()
        for property in owner.visibleProperties where property.isStored {
            switch property.collection {
            case .none:
                object.values[property.name] = (try? property.value(of: property.defaultCell))
            case .list: object.lists[property.name] = []
            case .set: object.sets[property.name] = []
            case .dictionary: object.dictionaries[property.name] = [:]
            }
        }
        return object
    }

    mutating func set(_ owner: ClassHandle, _ transaction: ModelTransaction) throws {
        guard let key = key(owner),
            let property = property(owner, { !$0.isCollection && !$0.isPrimaryKey })
        else { return }
        if property.type == .int, seed.chance(50) { return try add(key, property, transaction) }
        let value = value(property)
        let old = model.classes[owner.name]?[key]?.values[property.name]
        if property.ownsTargets, value != .null {
            if old != value {
                #expect(throws: property.alreadyOwned, "\(seed)") {
                    try transaction.set(key, property, value)
                }
            }
            let new = try embed(property, transaction) { values throws(ModelError) in
                try transaction.setEmbedded(key, property, values)
            }
            model.classes[owner.name]?[key]?.values[property.name] = new
            return model.drop(old)
        }
        try transaction.set(key, property, value)
        model.classes[owner.name]?[key]?.values[property.name] = value
        model.drop(old)
    }

    mutating func add(
        _ key: Int64, _ property: PropertyHandle, _ transaction: ModelTransaction
    ) throws {
        let amount: Int64 = seed.pick([1, -3, .max, .min]) ?? 1
        let old = model.classes[property.className]?[key]?.values[property.name] ?? .null
        guard case .int(let value) = old, case let sum = value.addingReportingOverflow(amount),
            !sum.overflow
        else {
            #expect(throws: ModelError.self, "\(seed)") {
                try transaction.add(amount, to: key, property)
            }
            return
        }
        try transaction.add(amount, to: key, property)
        model.classes[property.className]?[key]?.values[property.name] = .int(sum.partialValue)
    }

    mutating func editCollection(_ owner: ClassHandle, _ transaction: ModelTransaction) throws {
        guard let key = key(owner), let property = property(owner, { $0.isCollection }) else {
            return
        }
        switch property.collection {
        case .none: break
        case .list: try editList(key, property, transaction)
        case .set: try editSet(key, property, transaction)
        case .dictionary: try editDictionary(key, property, transaction)
        }
    }

    /// Changes a list or a dictionary somewhere within a mixed value.
    mutating func editNested(_ owner: ClassHandle, _ transaction: ModelTransaction) throws {
        guard let key = key(owner),
            let property = property(owner, { $0.type == .mixed && $0.collection != .set }),
            let object = model.classes[owner.name]?[key]
        else { return }
        let names = (object.dictionaries[property.name] ?? [:]).keys.sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
        var elements =
            object.lists[property.name]
            ?? names.map { object.dictionaries[property.name]?[$0] ?? .null }
        if !property.isCollection { elements = [object.values[property.name] ?? .null] }
        let collections = elements.indices.filter { elements[$0].isCollection }
        guard let index = seed.pick(collections) else { return }
        let kind: CollectionKind =
            if case .list = elements[index] { .list } else { .dictionary }
        var ref = try transaction.view.nested(
            key, property, at: property.isCollection ? index : nil, kind)
        // The element's old index; it is found wherever it is.
        if seed.chance(30) { ref.index = seed.below(5) }
        elements[index] = try edit(elements[index], key, property, ref, transaction)
        switch property.collection {
        case .list: model.classes[owner.name]?[key]?.lists[property.name] = elements
        case .dictionary:
            model.classes[owner.name]?[key]?.dictionaries[property.name] = Dictionary(
                uniqueKeysWithValues: zip(names, elements))
        default: model.classes[owner.name]?[key]?.values[property.name] = elements[index]
        }
    }

    /// Edits the collection `ref`, whose content `value` is, or one within it.
    mutating func edit(
        _ value: Value, _ key: Int64, _ property: PropertyHandle, _ ref: NestedRef,
        _ transaction: ModelTransaction
    ) throws -> Value {
        var elements = value.elements
        let inner = elements.indices.filter { elements[$0].isCollection }
        if let index = seed.pick(inner), seed.chance(60) {
            var iterator = try transaction.view.nested(key, property, ref).elements
            var next: NestedRef?
            for position in 0...index {
                guard let element = try iterator.next(), position == index,
                    case .collection(let collection) = try element.value()
                else { continue }
                next = NestedRef(id: collection.id, index: ref.index)
            }
            let child = try #require(next, "\(seed)")
            elements[index] = try edit(elements[index], key, property, child, transaction)
            return value.with(elements)
        }
        let new = mixed(depth: 3), lender = ValueLender(), lent = lender.lend(new)
        defer { withExtendedLifetime(lender) {} }
        func apply(_ edit: CollectionEdit) throws -> Bool {
            try transaction.edit(key, property, ref, edit).isFound
        }
        guard case .list = value else {
            var map = Dictionary(
                uniqueKeysWithValues: value.entries.map { ($0.key, $0.value) })
            let name = seed.chance(50) ? map.keys.sorted().first ?? "x" : entryKey()
            let bytes = Array(name.utf8)
            if seed.chance(60) {
                try bytes.withUnsafeBytes { _ = try apply(.setEntry($0, lent)) }
                map[name] = new
            } else {
                let isThere = try bytes.withUnsafeBytes { try apply(.eraseEntry($0)) }
                #expect(isThere == (map.removeValue(forKey: name) != nil), "\(seed)")
            }
            return .dictionary(map.entries)
        }
        let index = seed.below(elements.count), other = seed.below(elements.count)
        switch seed.below(elements.isEmpty ? 3 : 9) {
        case 0, 1:
            let place = seed.below(elements.count + 1)
            _ = try withUnsafePointer(to: lent) {
                try apply(.insert(UnsafeBufferPointer(start: $0, count: 1), at: place))
            }
            elements.insert(new, at: place)
        case 2:
            _ = try apply(.assign(.null))
            elements = []
        case 3, 4:
            _ = try apply(.set(lent, at: index))
            elements[index] = new
        case 5:
            let range = min(index, other)..<max(index, other) + 1
            _ = try apply(.erase(range))
            elements.removeSubrange(range)
        case 6:
            _ = try apply(.move(from: index, to: other))
            elements.insert(elements.remove(at: index), at: other)
        case 7:
            _ = try apply(.swap(index, other))
            elements.swapAt(index, other)
        default:
            #expect(throws: ModelError.self, "\(seed)") {
                _ = try apply(.set(lent, at: elements.count))
            }
        }
        return .list(elements)
    }

    mutating func editSet(
        _ key: Int64, _ property: PropertyHandle, _ transaction: ModelTransaction
    ) throws {
        var set = model.classes[property.className]?[key]?.sets[property.name] ?? []
        switch seed.below(20) {
        case 0..<10:
            let value = value(property)
            if property.type == .link, value == .null { return }
            #expect(
                try transaction.setInsert(key, property, value).isNew == set.insert(value).inserted,
                "\(seed)")
        case 10..<16:
            let there = seed.pick(try transaction.view.listValues(key, property))
            guard let value = seed.chance(70) ? there : value(property),
                property.type != .link || value != .null
            else { return }
            #expect(
                try transaction.setErase(key, property, value) == (set.remove(value) != nil),
                "\(seed)")
        case 16: (set, _) = ([], try transaction.clear(key, property))
        default:
            let values = (0..<seed.below(12)).map { _ in value(property) }.filter {
                property.type != .link || $0 != .null
            }
            set = Set(values)
            try transaction.assignSet(values, to: key, property, seed.chance(50) ? .all : .modified)
        }
        model.classes[property.className]?[key]?.sets[property.name] = set
    }

    mutating func editDictionary(
        _ key: Int64, _ property: PropertyHandle, _ transaction: ModelTransaction
    ) throws {
        var map = model.classes[property.className]?[key]?.dictionaries[property.name] ?? [:]
        switch seed.below(20) {
        case 0..<10:
            let (name, value) = (entryKey(), value(property))
            #expect(
                try transaction.dictionarySet(key, property, name, value).isNew
                    == (map.updateValue(value, forKey: name) == nil), "\(seed)")
        case 10..<16:
            let name = entryKey()
            #expect(
                try transaction.dictionaryErase(key, property, name)
                    == (map.removeValue(forKey: name) != nil), "\(seed)")
        case 16: (map, _) = ([:], try transaction.clear(key, property))
        default:
            map = [:]
            let entries = (0..<seed.below(8)).map { _ in (entryKey(), value(property)) }
            for (name, value) in entries { map[name] = value }
            try transaction.assignDictionary(
                entries, to: key, property, seed.chance(50) ? .all : .modified)
        }
        model.classes[property.className]?[key]?.dictionaries[property.name] = map
    }

    mutating func entryKey() -> String {
        seed.chance(90) ? String(seed.below(30), radix: 3) : text()
    }

    mutating func editList(
        _ key: Int64, _ property: PropertyHandle, _ transaction: ModelTransaction
    ) throws {
        var list = model.classes[property.className]?[key]?.lists[property.name] ?? []
        let index = seed.below(list.count), other = seed.below(list.count), before = list
        var value = value(property)
        if property.type == .link, value == .null, !property.ownsTargets { return }
        switch seed.below(list.isEmpty ? 4 : 10) {
        case 0..<4:
            let place = seed.below(list.count + 1)
            if property.ownsTargets {
                value = try embed(property, transaction) { values throws(ModelError) in
                    try transaction.listInsertEmbedded(key, property, at: place, values)
                }
            } else {
                try transaction.listInsert(key, property, at: place, value)
            }
            list.insert(value, at: place)
        case 4, 5:
            if property.ownsTargets {
                value = try embed(property, transaction) { values throws(ModelError) in
                    try transaction.listSetEmbedded(key, property, at: index, values)
                }
            } else {
                try transaction.listSet(key, property, at: index, value)
            }
            list[index] = value
        case 6:
            let range = min(index, other)..<max(index, other) + 1
            try transaction.listErase(key, property, range)
            list.removeSubrange(range)
        case 7:
            try transaction.listMove(key, property, from: index, to: other)
            list.insert(list.remove(at: index), at: other)
        case 8:
            try transaction.listSwap(key, property, index, other)
            list.swapAt(index, other)
        default:
            try transaction.clear(key, property)
            list = []
        }
        model.classes[property.className]?[key]?.lists[property.name] = list
        if property.ownsTargets {
            for value in before where !list.contains(value) { model.drop(value) }
        }
    }

    mutating func erase(_ owner: ClassHandle, _ transaction: ModelTransaction) throws {
        guard let key = key(owner) else { return }
        if model.isDenied([.link(ObjectRef(classID: owner.id, key: key))]) {
            #expect(throws: ModelError.self, "\(seed)") { try transaction.erase(key, owner) }
            return
        }
        try transaction.erase(key, owner)
        model.erase(owner.name, key, id: owner.id)
    }

    mutating func eraseAll(_ owner: ClassHandle, _ transaction: ModelTransaction) throws {
        let all = keys(owner.name).map { Value.link(ObjectRef(classID: owner.id, key: $0)) }
        if model.isDenied(all) {
            #expect(throws: ModelError.self, "\(seed)") { try transaction.eraseAll([owner]) }
            return
        }
        try transaction.eraseAll([owner])
        for key in keys(owner.name) { model.erase(owner.name, key, id: owner.id) }
    }

    mutating func find(_ owner: ClassHandle, _ transaction: ModelTransaction) throws {
        guard let primaryKey = owner.primaryKey else { return }
        let wanted = value(primaryKey)
        let expected = model.classes[owner.name]?.first {
            $0.value.values[primaryKey.name] == wanted
        }?.key
        #expect(try transaction.view.find(wanted, owner) == expected, "\(seed)")
    }

    /// Reads one object and the known facts about its class.
    mutating func look(_ owner: ClassHandle, _ transaction: ModelTransaction) throws {
        let view = transaction.view
        #expect(try view.count(owner) == model.classes[owner.name]?.count ?? 0, "\(seed)")
        guard let key = key(owner), let property = property(owner, { _ in true }) else { return }
        if property.collection == .list {
            #expect(
                try view.listValues(key, property)
                    == model.classes[owner.name]?[key]?.lists[property.name], "\(seed)")
        } else if property.isCollection {
            let object = model.classes[owner.name]?[key]
            #expect(
                try view.listCount(key, property) == object?.sets[property.name]?.count
                    ?? object?.dictionaries[property.name]?.count, "\(seed)")
        } else {
            #expect(
                try view.value(key, property)
                    == model.classes[owner.name]?[key]?.values[property.name], "\(seed)")
        }
        let other = Int64(seed.below(60))
        #expect(
            try view.exists(other, owner) == (model.classes[owner.name]?[other] != nil), "\(seed)")
    }

    /// Commands that must fail and leave everything as it is.
    mutating func fail(_ owner: ClassHandle, _ transaction: ModelTransaction) throws {
        guard let property = property(owner, { !$0.isPrimaryKey }) else { return }
        let before = try ReferenceModel(reading: transaction.view)
        #expect(before == model, "\(seed)")
        #expect(throws: ModelError.self) { try transaction.set(.max, property, Value.null) }
        #expect(throws: ModelError.self) { try transaction.erase(.max, owner) }
        guard let key = key(owner) else { return }
        #expect(throws: ModelError.self) {
            try transaction.set(key, owner, [(property, .link(ObjectRef(classID: 99, key: 0)))])
        }
        #expect(try ReferenceModel(reading: transaction.view) == before, "\(seed)")
    }

    func compareInverses(_ view: ModelView) throws {
        for owner in view.schema.visibleClasses {
            for property in owner.incoming {
                for key in keys(owner.name) {
                    let expected = model.sources(
                        of: .link(ObjectRef(classID: owner.id, key: key)), property.className,
                        property.name)
                    #expect(
                        try view.backlinks(to: key, of: owner.id, through: property) == expected,
                        "\(seed)")
                }
            }
        }
    }
}
