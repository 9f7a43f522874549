internal import Foundation
internal import ToftEngine
internal import ToftModel

/// An object of a class that is known by its name only: its properties are read and set by theirs.
///
/// ```swift
/// let configuration = Realm.Configuration(fileURL: url, objectTypes: [])  // what the file has
/// for dog in try Realm(configuration: configuration).dynamicObjects("Dog") {
///     print(dog.name as Any, dog["age"] as Any)
/// }
/// ```
///
/// Integers come as `Int`, links as `DynamicObject`, collections as `List`, `MutableSet` and `Map`
/// of such values. Setting accepts values that can be converted: numbers of any type, sequences and
/// dictionaries for collections, dictionaries for linked objects.
@dynamicMemberLookup
public final class DynamicObject: Object {
    public override class func shouldIncludeInDefaultSchema() -> Bool { false }

    /// The value of the property with this name; an unknown name is misuse, with code
    /// `.noSuchProperty`. Setting it needs a write transaction.
    public subscript(dynamicMember member: String) -> Any? {
        get { value(forKey: member) }
        set { setValue(newValue, forKey: member) }
    }

    static func noProperty(_ name: String, of className: String) -> Realm.Error {
        Realm.Error(.noSuchProperty, "'\(className)' has no property '\(name)'.")
    }
}

extension ObjectBase {
    /// A list of links, with its objects known by the names of their properties; of anything else,
    /// and of an unmanaged object, it is misuse, with code `.typeMismatch`.
    public final func dynamicList(_ propertyName: String) -> List<DynamicObject> {
        dynamicCollection(propertyName, "list of objects") ?? List()
    }

    /// A set of links, with its objects known by the names of their properties.
    public final func dynamicMutableSet(_ propertyName: String) -> MutableSet<DynamicObject> {
        dynamicCollection(propertyName, "set of objects") ?? MutableSet()
    }

    /// A map of links, with its objects known by the names of their properties.
    public final func dynamicMap(_ propertyName: String) -> Map<String, DynamicObject?> {
        dynamicCollection(propertyName, "map of objects") ?? Map()
    }

    private final func dynamicCollection<Found>(_ name: String, _ kind: String) -> Found? {
        Misuse.reporting { () -> Found? in
            guard let row else {
                throw Realm.Error(
                    .invalidArgument,
                    "'\(name)' can be had by its name of a managed object only: add it to a realm.")
            }
            guard let found = try row.dynamicValue(of: name) as? Found else {
                throw Realm.Error(
                    .typeMismatch, "'\(row.home.binding.owner.name).\(name)' is no \(kind).")
            }
            return found
        } ?? nil
    }
}

extension AnyRealmValue {
    /// The object, known by the names of its properties; nil for anything else, and for an
    /// unmanaged object.
    public var dynamicObject: DynamicObject? {
        guard case .object(let object) = self else { return nil }
        if let object = object as? DynamicObject { return object }
        guard let row = object.row else { return nil }
        return Misuse.reporting { try row.session.dynamicObject(row.handle.ref) } ?? nil
    }
}

// MARK: Finding and creating

extension Realm {
    /// All objects of the class with this name, of the realm's classes: live, and evaluated only
    /// when used. A realm whose configuration has `objectTypes: []` has all classes of the file.
    public func dynamicObjects(_ typeName: String) -> Results<DynamicObject> {
        Misuse.reporting {
            let home = try session.dynamicHome(named: typeName)
            return Results(
                CollectionCore(session, try session.engine.results(of: home.binding.classID), home))
        } ?? Results(nil)
    }

    /// The object of the class with this name that has this primary key; nil if it does not exist.
    public func dynamicObject(ofType typeName: String, forPrimaryKey key: Any) -> DynamicObject? {
        Misuse.reporting { () -> DynamicObject? in
            let home = try session.dynamicHome(named: typeName)
            guard let property = home.binding.owner.primaryKey else {
                throw Realm.Error(.missingPrimaryKey, "'\(typeName)' has no primary key.")
            }
            let value = try session.dynamicValue(key, for: property)
            return try session.engine.find(value, in: home.binding.classID).flatMap {
                try home.object($0.ref.key) as? DynamicObject
            }
        } ?? nil
    }

    /// Creates an object of the class with this name: of a dictionary of values, of an array with
    /// one for each property in their order, or as a copy of the values of another object. Nested
    /// dictionaries and arrays become linked objects. With `update`, values that are not given stay
    /// as they are. Needs a write transaction.
    @discardableResult
    public func dynamicCreate(
        _ typeName: String, value: Any = [String: Any](), update: UpdatePolicy = .error
    ) -> DynamicObject {
        Misuse.reporting {
            let home = try session.dynamicHome(named: typeName)
            let handle = try session.dynamicCreate(value, in: home.binding.owner, update)
            return try home.object(handle.ref.key) as? DynamicObject
        }.flatMap { $0 } ?? DynamicObject()
    }
}

extension RealmSession {
    /// The context of a class's objects that are known by its name.
    func dynamicHome(named name: String) throws -> ObjectContext {
        try verify()
        return try dynamicHome(of: engine.classHandle(named: name))
    }

    /// The context of a class by its number.
    func dynamicHome(id: ClassID) throws -> ObjectContext {
        try dynamicHome(of: engine.classHandle(id))
    }

    private func dynamicHome(of owner: ClassHandle) throws -> ObjectContext {
        ObjectContext(self, try dynamicBinding(of: owner))
    }

    func dynamicObject(_ ref: ObjectRef) throws -> DynamicObject? {
        try dynamicHome(id: ref.classID).object(ref.key) as? DynamicObject
    }

    // MARK: Values

    /// The stored form of a value that an app gives to a property, or as one of its elements.
    func dynamicValue(_ any: Any?, for property: PropertyHandle) throws -> Value {
        guard let any = any.flattened else { return .null }
        if property.type == .link { return try dynamicTarget(any, of: property) }
        let value =
            property.type == .mixed
            ? try mixedValue(any, property) : property.type.scalar?.stored(any)
        guard let value else { throw property.mismatch(any) }
        return value
    }

    /// The stored form of a mixed property's value; nil for unsupported ones.
    private func mixedValue(_ any: Any, _ property: PropertyHandle) throws -> Value? {
        if let object = ObjectBase.found(in: any) {
            return try dynamicTarget(object, of: property)
        }
        switch any {
        case let value as AnyRealmValue:
            return try value.value(in: self) { try dynamicTarget($0, of: property) }
        case let scalar as any _Scalar: return scalar._engineValue.value
        case let entries as [String: Any?]:
            return .dictionary(
                try entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map {
                    ValueEntry(key: $0.key, value: try dynamicValue($0.value, for: property))
                })
        case let elements as [Any?]:
            return .list(try elements.map { try dynamicValue($0, for: property) })
        default: return nil
        }
    }

    /// The link to an object: a managed one, or one that is made of values, which is null while
    /// these are only checked.
    private func dynamicTarget(_ any: Any, of property: PropertyHandle) throws -> Value {
        if let object = ObjectBase.found(in: any), let row = object.row {
            guard row.session === self else {
                throw Realm.Error(.wrongRealm, "The object is one of another realm.")
            }
            return .link(row.handle.ref)
        }
        guard let id = property.targetClassID else { throw property.mismatch(any) }
        let target = try engine.classHandle(id)
        let policy: Realm.UpdatePolicy = target.primaryKey == nil ? .error : .modified
        return try nested {
            try dynamicMake(any, in: target, policy).map { .link($0.ref) } ?? .null
        }
    }

    func dynamicCreate(_ any: Any, in owner: ClassHandle, _ policy: Realm.UpdatePolicy) throws
        -> ObjectHandle
    {
        try verify()
        // A single row is created as a whole, or not at all.
        if !isOneRow(any, of: owner) {
            try checking { _ = try dynamicMake(any, in: owner, policy) }
        }
        guard let made = try dynamicMake(any, in: owner, policy) else {
            throw Realm.Error(.internalError, "An object was checked and not made.")
        }
        return made
    }

    /// Sets a property of any kind, with the objects that are made for it: all or nothing.
    func dynamicAssign(_ any: Any?, _ property: PropertyHandle, of object: ObjectHandle) throws {
        try requireWriting()
        if property.type == .link || property.collection != .none {
            try checking { try dynamicSet(any, property, of: object) }
        }
        try dynamicSet(any, property, of: object)
    }

    /// True if the values of an object contain no object and no collection.
    private func isOneRow(_ any: Any, of owner: ClassHandle) -> Bool {
        guard let given = try? owner.values(of: any) else { return false }
        return given.allSatisfy { name, value in
            guard let property = try? owner.property(dynamicName: name) else { return false }
            let isValue = property.type != .link || ObjectBase.found(in: value as Any) != nil
            return property.collection == .none && !property.ownsTargets && isValue
        }
    }

    /// Runs a change that only looks whether something of it would be refused.
    private func checking(_ change: () throws -> Void) throws {
        dynamicCheck = DynamicCheck(engine)
        defer { dynamicCheck = nil }
        try change()
    }

    /// Makes an object of values; nil if these are only checked.
    private func dynamicMake(_ any: Any, in owner: ClassHandle, _ policy: Realm.UpdatePolicy) throws
        -> ObjectHandle?
    {
        let given = try owner.values(of: any)
        var (values, later): ([(property: PropertyID, value: Value)], [PropertyHandle]) = ([], [])
        for (name, value) in given {
            let property = try owner.property(dynamicName: name)
            if property.collection == .none, !property.ownsTargets,
                property.type != .linkingObjects
            {
                values.append((property.id, try dynamicValue(value, for: property)))
            } else {
                later.append(property)
            }
        }
        if let defaults, try policy == .error || !exists(values, owner) {
            values += try defaults.values(of: owner, besides: Set(values.map(\.property)))
        }
        let made: ObjectHandle?
        if let dynamicCheck {
            try dynamicCheck.create(owner, values, policy)
            dynamicCheck.enter()
            made = nil
        } else {
            made = try engine.create(owner.id, values, policy: policy.engine)
        }
        for property in later { try dynamicSet(given[property.name] ?? nil, property, of: made) }
        dynamicCheck?.leave()
        return made
    }

    /// Whether there is an object with the primary key among some values.
    private func exists(_ values: [(property: PropertyID, value: Value)], _ owner: ClassHandle)
        throws -> Bool
    {
        guard let key = owner.primaryKey else { return false }
        let value = values.first { $0.property == key.id }?.value ?? .null
        return try engine.find(value, in: owner.id) != nil
    }

    /// Runs a block that makes an object of values in another one's. Throws beyond the greatest
    /// depth.
    private func nested<Result>(_ body: () throws -> Result) throws -> Result {
        try NestedValues.check(dynamicDepth)
        dynamicDepth += 1
        defer { dynamicDepth -= 1 }
        return try body()
    }

    /// Sets a property of any kind, or only checks its new value.
    /// - Parameter object: nil for one that is only checked.
    private func dynamicSet(_ any: Any?, _ property: PropertyHandle, of object: ObjectHandle?)
        throws
    {
        if property.type == .linkingObjects {
            throw Realm.Error(
                .readOnlyProperty,
                "'\(property.className).\(property.name)' can't be set: it shows what other "
                    + "objects link.")
        }
        if property.collection == .none {
            guard property.ownsTargets, let any = any.flattened else {
                let value = try dynamicValue(any, for: property)
                guard let object, dynamicCheck == nil else {
                    try dynamicCheck?.set(property, value, of: object)
                    return
                }
                return try object.set(property.id, value)
            }
            return try fill(any, of: property, in: object) { try $0.setEmbedded(property.id, []) }
        }
        let elements = try property.elements(of: any)
        guard let object, dynamicCheck == nil else {
            return try dynamicCheckElements(elements, of: property, in: object)
        }
        let collection = try object.collection(property.id, property.collection)
        if try collection.count > 0 { try collection.clear() }
        for (key, element) in elements {
            if property.ownsTargets, let element = element.flattened {
                try fill(element, of: property, in: object) { _ in
                    property.collection == .list
                        ? try collection.insertEmbedded([], at: collection.count)
                        : try collection.setEmbedded([], forKey: key)
                }
                continue
            }
            let value = try dynamicValue(element, for: property)
            switch property.collection {
            case .set: _ = try collection.setInsert(value)
            case .dictionary: _ = try collection.dictionarySet(key, value)
            case .list, .none: try collection.append(value)
            }
        }
    }

    /// Checks the new elements of a collection.
    private func dynamicCheckElements(
        _ elements: [(key: String, value: Any?)], of property: PropertyHandle,
        in object: ObjectHandle?
    ) throws {
        var entries: [ValueEntry] = []
        for (key, element) in elements {
            var value = Value.null
            if property.ownsTargets, let element = element.flattened {
                try fill(element, of: property, in: object) { $0 }
            } else {
                value = try dynamicValue(element, for: property)
            }
            // Lists and sets of links do not accept the null of a future object.
            if property.type == .link, property.collection != .dictionary, value == .null {
                continue
            }
            entries.append(ValueEntry(key: key, value: value))
        }
        try dynamicCheck?.set(
            property,
            property.collection == .dictionary
                ? .dictionary(entries) : .list(entries.map(\.value)), of: object)
    }

    /// Makes an embedded object of a dictionary of values, or only checks these.
    private func fill(
        _ any: Any, of property: PropertyHandle, in object: ObjectHandle?,
        _ make: (ObjectHandle) throws -> ObjectHandle
    ) throws {
        let owner = try engine.classHandle(property.targetClassID ?? 0)
        let given = try owner.values(of: any)
        let properties = try given.keys.map { try owner.property(dynamicName: $0) }
        var made: ObjectHandle?
        if dynamicCheck == nil, let object {
            let new = try make(object)
            let defaults = try defaults?.values(of: owner, besides: Set(properties.map(\.id)))
            for (id, value) in defaults ?? [] { try new.set(id, value) }
            made = new
        }
        try dynamicCheck?.enter(property, of: object)
        try nested {
            for property in properties {
                try dynamicSet(given[property.name] ?? nil, property, of: made)
            }
        }
        dynamicCheck?.leave()
    }
}

// MARK: Properties by name

extension ManagedRow {
    /// The value of a property of an object that is known by its class's name.
    func dynamicValue(of name: String) throws -> Any? {
        try home.verify()
        return try dynamicValue(of: home.binding.owner.property(dynamicName: name))
    }

    func dynamicValue(of property: PropertyHandle) throws -> Any? {
        session.reads?.note(handle.ref, Int(property.id))
        if property.type == .linkingObjects {
            let results = try handle.linkingObjects(property.id)
            return LinkingObjects<DynamicObject>(
                _CollectionCore(
                    session, results, try session.dynamicHome(id: property.targetClassID ?? 0)))
        }
        guard property.collection != .none else {
            return try session.dynamicAny(try handle.value(property.id), property.type)
        }
        let backing = CollectionBacking(
            session: session, handle: try handle.collection(property.id, property.collection),
            home: try property.targetClassID.map { try session.dynamicHome(id: $0) })
        if property.type == .mixed {
            return switch property.collection {
            case .set: MutableSet<AnyRealmValue>(backing)
            case .dictionary: Map<String, AnyRealmValue>(backing)
            case .list, .none: List<AnyRealmValue>(backing)
            }
        }
        guard let scalar = property.type.scalar else {
            return switch property.collection {
            case .set: MutableSet<DynamicObject>(backing)
            case .dictionary: Map<String, DynamicObject?>(backing)
            case .list, .none: List<DynamicObject>(backing)
            }
        }
        return property.isOptional
            ? scalar.optionalCollection(backing, property.collection)
            : scalar.collection(backing, property.collection)
    }

    /// Sets a property of an object that is known by its class's name.
    func dynamicSet(_ any: Any?, of name: String) throws {
        try home.verify()
        let property = try home.binding.owner.property(dynamicName: name)
        try session.dynamicAssign(any, property, of: handle)
    }
}

extension RealmSession {
    /// The Swift form of a stored value.
    func dynamicAny(_ value: Value, _ type: ToftModel.PropertyType) throws -> Any? {
        switch value {
        case .null: return nil
        case .link(let ref): return try dynamicObject(ref)
        default: break
        }
        if type == .mixed { return try mixed(.value(value)) }
        return type.scalar?._scalar(from: _EngineValue(value, self))
    }

}

extension ClassHandle {
    /// The property with a name that an app gives.
    func property(dynamicName name: String) throws -> PropertyHandle {
        guard let found = try? property(named: name) else {
            throw DynamicObject.noProperty(name, of: self.name)
        }
        return found
    }
}

extension ClassHandle {
    /// The values by name that an app gives for an object.
    fileprivate func values(of any: Any) throws -> [String: Any?] {
        let stored = visibleProperties.filter { $0.type != .linkingObjects }.map(\.name)
        if let object = ObjectBase.found(in: any) {
            try object.row?.requireValid()
            let names = object.objectSchema.properties.map(\.name).filter(stored.contains)
            return Dictionary(uniqueKeysWithValues: names.map { ($0, object.value(forKey: $0)) })
        }
        switch any {
        case let values as [String: Any?]: return values
        case let values as [Any?]:
            guard values.count <= stored.count else {
                throw Realm.Error(
                    .invalidArgument,
                    "An array for '\(name)' has at most \(stored.count) values, one for each "
                        + "property; \(values.count) were given.")
            }
            return Dictionary(uniqueKeysWithValues: zip(stored, values))
        default:
            throw Realm.Error(
                .typeMismatch,
                "'\(name)' can be made of a dictionary, an array or an object, not of "
                    + "\(Swift.type(of: any)).")
        }
    }
}

extension PropertyHandle {
    fileprivate func mismatch(_ any: Any) -> Realm.Error {
        Realm.Error(
            .typeMismatch,
            "'\(className).\(name)' can't take '\(shown(any))', which is \(Swift.type(of: any)).")
    }

    /// The elements of a collection that an app gives, with their keys for a dictionary.
    fileprivate func elements(of any: Any?) throws -> [(key: String, value: Any?)] {
        guard let any = any.flattened else { return [] }
        if collection == .dictionary {
            guard let entries = any as? [String: Any?] else { throw mismatch(any) }
            return entries.map { ($0.key, $0.value) }
        }
        guard let sequence = any as? any Sequence, !(any is any AnyDictionary), !(any is String)
        else { throw mismatch(any) }
        return Self.elements(sequence)
    }

    private static func elements(_ sequence: some Sequence) -> [(key: String, value: Any?)] {
        sequence.map { ("", $0) }
    }
}

extension ToftModel.PropertyType {
    /// The Swift type of a scalar; nil for links and mixed values.
    var scalar: (any DynamicScalar.Type)? {
        switch self {
        case .bool: Bool.self
        case .int: Int.self
        case .float: Float.self
        case .double: Double.self
        case .string: String.self
        case .data: Data.self
        case .date: Date.self
        case .uuid: UUID.self
        case .objectId: ObjectId.self
        case .decimal128: Decimal128.self
        case .link, .linkingObjects, .mixed: nil
        }
    }
}

extension ManagedRow {
    /// The engine's changes of an object that is known by its class's name.
    func dynamicChanges(_ change: ToftEngine.ObjectChange) -> [PropertyChange] {
        home.binding.owner.visibleProperties.compactMap { property in
            guard change.properties.contains(property.id) else { return nil }
            let old = change.oldValues[property.id].flatMap {
                try? session.dynamicAny($0, property.type)
            }
            let new =
                property.collection == .none && property.type != .linkingObjects
                ? try? dynamicValue(of: property) : nil
            return PropertyChange(name: property.name, oldValue: old, newValue: new)
        }
    }
}

/// A scalar and the collections of such.
protocol DynamicScalar: _Scalar {}

extension DynamicScalar {
    /// The stored form of a value; nil if it can't be converted.
    fileprivate static func stored(_ any: Any) -> Value? {
        ((any as? Self) ?? _scalar(converting: any))?._engineValue.value
    }

    fileprivate static func collection(_ backing: CollectionBacking, _ kind: CollectionKind) -> Any
    {
        switch kind {
        case .set: MutableSet<Self>(backing)
        case .dictionary: Map<String, Self>(backing)
        case .list, .none: List<Self>(backing)
        }
    }

    fileprivate static func optionalCollection(
        _ backing: CollectionBacking, _ kind: CollectionKind
    ) -> Any {
        switch kind {
        case .set: MutableSet<Self?>(backing)
        case .dictionary: Map<String, Self?>(backing)
        case .list, .none: List<Self?>(backing)
        }
    }
}

extension Bool: DynamicScalar {}
extension Int: DynamicScalar {}
extension Float: DynamicScalar {}
extension Double: DynamicScalar {}
extension String: DynamicScalar {}
extension Data: DynamicScalar {}
extension Date: DynamicScalar {}
extension UUID: DynamicScalar {}
extension ObjectId: DynamicScalar {}
extension Decimal128: DynamicScalar {}
