internal import ToftEngine
internal import ToftModel

/// Checks whether a part of a change of objects that are known by their classes' names would be
/// refused, before any of it is done.
final class DynamicCheck {
    private struct Key: Hashable {
        let classID: ClassID
        let value: Value
    }

    private let engine: Session
    /// The primary keys of objects that are to be made.
    private var keys: Set<Key> = []
    /// Numbers of embedded objects on the path to the checked one, itself included, and to those
    /// around it.
    private var levels: [Int] = []

    init(_ engine: Session) { self.engine = engine }

    /// Throws if an object would not be created.
    func create(
        _ owner: ClassHandle, _ values: [(property: PropertyID, value: Value)],
        _ policy: Realm.UpdatePolicy
    ) throws {
        if policy != .error, owner.primaryKey == nil {
            throw EngineError(ModelError.noPrimaryKey(className: owner.name))
        }
        guard !owner.isEmbedded else { throw EngineError(ModelError.embeddedClass(owner.name)) }
        try engine.check(owner.id, values)
        guard let key = owner.primaryKey else { return }
        guard let value = values.last(where: { $0.property == key.id })?.value else {
            guard key.isAutoIncremented else {
                throw EngineError(
                    ModelError.primaryKeyMissing(className: owner.name, property: key.name))
            }
            return
        }
        let isNew = keys.insert(Key(classID: owner.id, value: value)).inserted
        guard policy == .error else { return }
        guard isNew, try engine.find(value, in: owner.id) == nil else {
            throw EngineError(
                ModelError.duplicatePrimaryKey(className: owner.name, value: value))
        }
    }

    /// Throws if a property would not accept a value.
    /// - Parameter object: that has the property; nil for one that is to be made.
    func set(_ property: PropertyHandle, _ value: Value, of object: ObjectHandle?) throws {
        if let object { return try object.check(property.id, value) }
        try engine.check(property.classID, [(property.id, value)])
    }

    /// Looks at an embedded object that a property is to own.
    func enter(_ property: PropertyHandle, of object: ObjectHandle?) throws {
        let level = try levels.last ?? object?.embeddedDepth() ?? 0
        guard level < Limits.nestedEmbeddedObjects else {
            throw EngineError(
                ModelError.embeddedTooDeep(
                    className: property.className, property: property.name,
                    limit: Limits.nestedEmbeddedObjects))
        }
        levels.append(level + 1)
    }

    /// Checks an object that is not embedded.
    func enter() { levels.append(0) }

    func leave() { levels.removeLast() }
}
