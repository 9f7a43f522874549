internal import ToftEngine
internal import ToftModel

/// The objects that one call adds to a realm: unmanaged ones, and all that they lead to.
///
/// First everything is looked through, and checked by the code of the engine that would refuse it;
/// then rows are made, and links and lists written, which nothing refuses any more. So a call that
/// is refused leaves the file and the objects as they were. However long a chain of objects is, it
/// takes no stack.
final class Addition {
    /// One object on its way into the realm.
    final class Row {
        let object: ObjectBase
        let binding: ClassBinding
        /// The properties to write if it changes an existing object; nil for all.
        fileprivate let given: Set<String>?
        /// The object that it changes, if that is known before anything is made.
        fileprivate(set) var existing: ObjectHandle?
        fileprivate(set) var promotion: _Promotion
        fileprivate var handle: ObjectHandle?

        fileprivate init(
            _ object: ObjectBase, _ binding: ClassBinding, given: Set<String>?,
            existing: ObjectHandle?, _ promotion: _Promotion
        ) {
            (self.object, self.binding, self.given) = (object, binding, given)
            (self.existing, self.promotion) = (existing, promotion)
        }

        fileprivate var isEmbedded: Bool { binding.model.isEmbedded }
    }

    private struct Key: Hashable {
        let classID: ClassID
        let value: Value
    }

    private let session: RealmSession
    private let policy: Realm.UpdatePolicy
    /// Whether all objects that were met are in the realm.
    private(set) var isApplied = false
    /// In the order in which they are made; embedded ones are made with their owners.
    private var rows: [Row] = []
    private var places: [ObjectIdentifier: Int] = [:]
    /// Number of rows whose values have been collected.
    private var gathered = 0
    /// Number of encounters of objects outside of the realm.
    private(set) var meetings = 0
    /// The primary keys of the rows.
    private var keys: Set<Key> = []
    /// The last key of each class whose keys are counted.
    private var lastKeys: [ClassID: Int64] = [:]

    init(_ session: RealmSession, _ policy: Realm.UpdatePolicy) {
        self.session = session
        self.policy = policy
    }

    var destination: _Destination {
        _Destination(session: session, policy: policy, addition: self)
    }

    /// The row of an object that was met.
    func row(of object: ObjectBase) -> Row? { places[ObjectIdentifier(object)].map { rows[$0] } }

    /// Releases the objects: pending writes refer back to this.
    func end() {
        rows = []
        places = [:]
    }

    // MARK: Looking through

    /// Takes an unmanaged object in.
    /// - Parameters:
    ///   - expected: the class that it has to have; nil: any.
    ///   - given: the properties to write if the object exists already; nil: all.
    func meet(_ object: ObjectBase, _ expected: ObjectBase.Type?, given: Set<String>? = nil) throws
    {
        meetings += 1
        guard row(of: object) == nil else { return }
        try Self.require(object, expected)
        let binding = try session.binding(of: type(of: object))
        guard !binding.model.isEmbedded else {
            throw Realm.Error(
                .embeddedObject,
                "Embedded objects can't be added by themselves: assign one to a property of class "
                    + "'\(binding.model.name)' of its owner.")
        }
        add(
            Row(
                object, binding, given: given ?? session.givenNames[ObjectIdentifier(object)],
                existing: nil, _Promotion(destination, binding)))
    }

    /// Takes an embedded object in that a property is to own.
    /// - Parameters:
    ///   - level: number of embedded objects on the path to it, itself included.
    ///   - existing: the object that is changed instead.
    func own(
        _ object: ObjectBase, _ expected: ObjectBase.Type?, level: Int, existing: ObjectHandle?,
        in property: PropertyHandle
    ) throws {
        meetings += 1
        guard object.row == nil, row(of: object) == nil else {
            return try RealmSession.requireUnowned([object, object])
        }
        try Self.require(object, expected)
        guard level <= Limits.nestedEmbeddedObjects else {
            throw EngineError(
                ModelError.embeddedTooDeep(
                    className: property.className, property: property.name,
                    limit: Limits.nestedEmbeddedObjects))
        }
        let binding = try session.binding(of: type(of: object))
        add(
            Row(
                object, binding,
                given: existing.flatMap { _ in (object as? EmbeddedObject)?.given },
                existing: existing,
                _Promotion(destination, binding, existing: existing, level: level)))
    }

    private func add(_ row: Row) {
        places[ObjectIdentifier(row.object)] = rows.count
        rows.append(row)
    }

    private static func require(_ object: ObjectBase, _ expected: ObjectBase.Type?) throws {
        guard let expected, type(of: object) != expected, expected != DynamicObject.self else {
            return
        }
        throw Realm.Error(
            .typeMismatch,
            "An object of class '\(ModelClass.name(of: expected))' is due, and this one is of "
                + "'\(ModelClass.name(of: type(of: object)))': a link leads to objects of its own "
                + "class, not of those derived from it.")
    }

    /// Collects the values of all rows, and throws if one of them would be refused.
    func prepare() throws {
        while gathered < rows.count {
            gathered += 1
            try gather(rows[gathered - 1])
        }
        // A row alone is made as a whole, or not at all.
        if rows.count == 1, rows[0].promotion.known.isEmpty { return }
        for row in rows {
            if policy == .error, !row.isEmbedded { try requireNew(row) }
            try session.engine.check(
                row.binding.classID, row.promotion.values + row.promotion.known)
        }
    }

    private func gather(_ row: Row) throws {
        var isThere = row.existing != nil
        if !row.isEmbedded, policy != .error, let value = row.binding.key(of: row.object) {
            row.existing = try session.engine.find(value, in: row.binding.classID)
            let isRepeated = !keys.insert(Key(classID: row.binding.classID, value: value)).inserted
            isThere = isRepeated || row.existing != nil
            row.promotion = _Promotion(destination, row.binding, existing: row.existing)
        }
        try session.promote(row.object, row.binding, isThere ? row.given : nil, row.promotion)
    }

    private func requireNew(_ row: Row) throws {
        guard let property = row.binding.model.primaryKey else { return }
        let owner = row.binding.classID
        let value = try row.binding.key(of: row.object) ?? .int(nextKey(of: row, property))
        if property.isAutoIncremented, case .int(let number) = value {
            lastKeys[owner] = max(try lastKey(of: owner), number)
        }
        guard keys.insert(Key(classID: owner, value: value)).inserted,
            try session.engine.find(value, in: owner) == nil
        else {
            throw row.binding.duplicate(row.object)
        }
    }

    /// The key that the engine will give.
    private func nextKey(of row: Row, _ property: ModelProperty) throws -> Int64 {
        let (next, overflows) = try lastKey(of: row.binding.classID).addingReportingOverflow(1)
        guard !overflows else {
            throw EngineError(
                ModelError.primaryKeysExhausted(
                    className: row.binding.model.name, property: property.name))
        }
        return next
    }

    private func lastKey(of id: ClassID) throws -> Int64 {
        if let known = lastKeys[id] { return known }
        return try session.engine.lastKey(of: id)
    }

    // MARK: Making

    /// Makes everything that was looked through. Only the machine can fail here.
    func apply() throws {
        isApplied = true
        for row in rows where !row.isEmbedded {
            // A linked object may have a primary key even if the others have not.
            let policy = row.binding.model.primaryKey == nil ? .error : policy
            row.handle = try session.make(row.object, row.binding, row.promotion, policy)
        }
        for row in rows {
            if let handle = row.handle { try row.promotion.finish(handle) }
        }
    }
}

extension ClassBinding {
    /// An unmanaged object's primary key; nil without one, and if the database counts it.
    fileprivate func key(of object: ObjectBase) -> Value? {
        guard let property = model.primaryKey else { return nil }
        let value = property.storedValue(in: object) ?? .null
        return property.isAutoIncremented && value == .int(0) ? nil : value
    }
}

extension ClassBinding {
    /// The error for an unmanaged object whose primary key another object has.
    fileprivate func duplicate(_ object: ObjectBase) -> Realm.Error {
        let value = model.primaryKey.map { shown($0.value(in: object)) } ?? ""
        return Realm.Error(
            .duplicatePrimaryKey,
            "Attempting to create an object of type '\(model.name)' with an existing primary key "
                + "value '\(value)'. Change that object, or add this one with update: .modified.")
    }
}

extension RealmSession {
    /// Makes the row of an unmanaged object, which becomes managed.
    fileprivate func make(
        _ object: ObjectBase, _ binding: ClassBinding, _ promotion: _Promotion,
        _ policy: Realm.UpdatePolicy
    ) throws -> ObjectHandle {
        let handle: ObjectHandle
        do throws(EngineError) {
            handle = try engine.create(
                binding.classID, promotion.values, policy: policy.engine)
        } catch {
            guard error.code == .duplicatePrimaryKey else { throw error }
            throw binding.duplicate(object)
        }
        ObjectContext(self, binding).adopt(object, key: handle.ref.key)
        return handle
    }

    /// Makes an unmanaged object, and those that it links to, managed ones.
    /// - Parameter given: the properties to write if the object exists already; nil for all.
    func add(_ object: ObjectBase, _ policy: Realm.UpdatePolicy, given: Set<String>? = nil) throws {
        try engine.check()
        if let row = object.row { return try requireManagedHere(row) }
        let binding = try binding(of: type(of: object))
        if !binding.model.leadsOn, !binding.model.isEmbedded {
            return try addAlone(object, binding, policy, given: given)
        }
        let addition = Addition(self, policy)
        defer { addition.end() }
        try addition.meet(object, nil, given: given)
        try addition.prepare()
        try addition.apply()
    }

    /// Makes an object managed that leads to no others: a row, which is made as a whole or not at
    /// all.
    private func addAlone(
        _ object: ObjectBase, _ binding: ClassBinding, _ policy: Realm.UpdatePolicy,
        given: Set<String>?
    ) throws {
        let policy = binding.model.primaryKey == nil ? .error : policy
        let promotion = _Promotion(_Destination(session: self, policy: policy), binding)
        var isThere = false
        if given != nil, policy != .error, let key = binding.key(of: object) {
            isThere = try engine.find(key, in: binding.classID) != nil
        }
        try promote(object, binding, isThere ? given : nil, promotion)
        try promotion.finish(make(object, binding, promotion, policy))
    }

    /// Runs a change that gives values to a managed object or collection. Unmanaged objects among
    /// them are added before it, once neither they nor the change can be refused.
    /// - Parameters:
    ///   - shape: the values' shape.
    ///   - give: hands the values over; of objects that are not in the realm yet null.
    ///   - check: throws if the change would.
    ///   - change: is all or nothing.
    func giving<Given>(
        _ shape: _PropertyShape, _ give: (_Destination) throws -> Given,
        check: (Given) throws -> Void, change: (Given) throws -> Void
    ) throws {
        try requireWriting()
        guard shape.type == .link || shape.type == .mixed else {
            return try change(try give(_Destination(session: self, policy: .error)))
        }
        let addition = Addition(self, .error)
        defer { addition.end() }
        var destination = addition.destination
        destination.expected = shape.target
        let given = try give(destination)
        guard addition.meetings > 0 else { return try change(given) }
        try addition.prepare()
        try check(given)
        try addition.apply()
        try change(try give(destination))
    }

    /// Runs a change that makes embedded objects in a property of an object, once neither they nor
    /// the change can be refused.
    func embedding(
        _ objects: [ObjectBase], _ shape: _PropertyShape, in owner: ObjectHandle,
        _ property: PropertyHandle, check: () throws -> Void,
        change: (_Destination) throws -> Void
    ) throws {
        try requireWriting()
        let addition = Addition(self, .error)
        defer { addition.end() }
        let level = try owner.embeddedDepth() + 1
        for object in objects {
            try addition.own(object, shape.target, level: level, existing: nil, in: property)
        }
        try check()
        try addition.prepare()
        try addition.apply()
        try change(addition.destination)
    }

    /// Hands over the values of an unmanaged object.
    /// - Parameter given: the properties to write besides the primary key; nil for all.
    func promote(
        _ object: ObjectBase, _ binding: ClassBinding, _ given: Set<String>?,
        _ promotion: _Promotion
    ) throws {
        for (property, id) in zip(binding.model.properties, binding.propertyIDs) {
            if let given, !given.contains(property.name), !property.isPrimaryKey { continue }
            try property.withAddress(in: object) {
                try property.wrapper.promote(at: $0, of: object, Int(id), promotion)
            }
        }
    }

    func requireManagedHere(_ row: ManagedRow) throws {
        guard row.session === self else {
            throw Realm.Error(
                .wrongRealm,
                "The object belongs to another realm. Use create to copy it into this one.")
        }
        guard try row.handle.isValid else {
            throw Realm.Error(
                .objectDeleted, "Can't add an object that has been deleted or invalidated.")
        }
    }
}
