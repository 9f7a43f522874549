internal import ToftEngine
internal import ToftModel

/// Where the elements of a managed collection go: the realm that unmanaged objects are added to,
/// and how. Not for apps.
public struct _Destination {
    let session: RealmSession
    let policy: Realm.UpdatePolicy
}

/// The way of one unmanaged object into a realm: its scalars are gathered and written with its row,
/// links and lists afterwards, when the object is managed itself, so that circles close. Not for
/// apps.
public final class _Promotion {
    let destination: _Destination
    private(set) var values: [(property: PropertyID, value: Value)] = []
    private var later: [(ObjectHandle) throws -> Void] = []
    /// The auto-incremented primary key, which the database gives where it is 0; -1: none is.
    private let countedColumn: Int

    init(_ destination: _Destination, counting countedColumn: Int = -1) {
        self.destination = destination
        self.countedColumn = countedColumn
    }

    func set(_ value: Value, of object: ObjectBase, _ column: Int) throws {
        if column == countedColumn, value == .int(0) { return }
        values.append((PropertyID(truncatingIfNeeded: column), value))
    }

    /// Has something written once the row is there.
    func afterwards(_ body: @escaping (ObjectHandle) throws -> Void) {
        later.append(body)
    }

    func finish(_ handle: ObjectHandle) throws {
        for body in later { try body(handle) }
    }
}

extension RealmSession {
    /// Makes an unmanaged object, and those that it links to, a managed one.
    /// - Parameter given: the properties to write if the object exists already; nil for all.
    func add(_ object: ObjectBase, _ policy: Realm.UpdatePolicy, given: Set<String>? = nil) throws {
        try engine.check()
        if let row = object.row { return try requireManagedHere(row) }
        let binding = try binding(of: type(of: object))
        guard !binding.model.type._isEmbedded else {
            throw Realm.Error(
                .embeddedObject,
                "Embedded objects can't be added by themselves: assign one to a property of class "
                    + "'\(binding.model.name)' of its owner.")
        }
        if !isFinishing { try checkAddition(of: object, policy) }
        let given = given ?? givenNames[ObjectIdentifier(object)]
        // What is linked to may have a primary key where this has none.
        let destination = _Destination(session: self, policy: policy)
        let policy = binding.model.primaryKey == nil ? .error : policy
        let promotion = _Promotion(destination, counting: binding.countedColumn)
        let isUpdate = try given != nil && policy != .error && exists(object, binding)
        try promote(object, binding, isUpdate ? given : nil, promotion)
        let handle = try engine.create(binding.classID, promotion.values, policy: policy.engine)
        ObjectContext(self, binding).adopt(object, key: handle.ref.key)
        try finish { try promotion.finish(handle) }
    }

    /// Throws where adding an object would, before anything is made.
    private func checkAddition(of object: ObjectBase, _ policy: Realm.UpdatePolicy) throws {
        var check = AdditionCheck(self, policy)
        try check.check(object)
    }

    /// Writes what waited for a row. Rows that come with it wait for their turn, so that a long
    /// chain of objects takes no stack.
    private func finish(_ work: @escaping () throws -> Void) throws {
        guard !isFinishing else { return unfinished.append(work) }
        isFinishing = true
        defer {
            isFinishing = false
            unfinished = []
        }
        try work()
        var next = 0
        while next < unfinished.count {
            let waiting = unfinished[next]
            next += 1
            try waiting()
        }
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

    /// Whether the realm has an object with the primary key of an unmanaged one.
    private func exists(_ object: ObjectBase, _ binding: ClassBinding) throws -> Bool {
        guard let key = binding.model.primaryKey else { return false }
        let promotion = _Promotion(
            _Destination(session: self, policy: .error), counting: key.isAutoIncremented ? 0 : -1)
        try key.withAddress(in: object) {
            try key.wrapper.promote(at: $0, of: object, 0, promotion)
        }
        guard let value = promotion.values.first?.value else { return false }
        return try engine.find(value, in: binding.classID) != nil
    }
}
