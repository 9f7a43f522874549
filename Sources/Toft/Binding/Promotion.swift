internal import ToftEngine
internal import ToftModel

/// The destination of a managed collection's elements: the realm that unmanaged objects are added
/// to, and the policy. Not for apps.
public struct _Destination {
    let session: RealmSession
    let policy: Realm.UpdatePolicy
    /// Adds unmanaged objects; nil if the values have no such objects.
    var addition: Addition?
    /// The class that unmanaged objects have to be of; nil: any.
    var expected: ObjectBase.Type?
}

/// The addition of one unmanaged object to a realm: values that the realm can take at once are
/// collected and written with its row; links to objects that are being added too, and embedded
/// objects, wait until the rows exist, so that cycles close. Not for apps.
public final class _Promotion {
    let destination: _Destination
    let binding: ClassBinding
    /// The object that is changed; nil if one is created.
    let existing: ObjectHandle?
    /// Number of embedded objects on the path to this one, itself included.
    private let level: Int
    /// The values to write with the row.
    private(set) var values: [(property: PropertyID, value: Value)] = []
    /// The values to check among those that wait for the row: with null for objects that do not
    /// exist yet.
    private(set) var known: [(property: PropertyID, value: Value)] = []
    private var later: [(ObjectHandle) throws -> Void] = []

    init(
        _ destination: _Destination, _ binding: ClassBinding, existing: ObjectHandle? = nil,
        level: Int = 0
    ) {
        self.destination = destination
        self.binding = binding
        self.existing = existing
        self.level = level
    }

    func set(_ value: Value, _ column: Int) {
        // The database replaces 0 by the next auto-incremented primary key.
        if column == binding.countedColumn, value == .int(0) { return }
        values.append((PropertyID(truncatingIfNeeded: column), value))
    }

    /// Sets a value that may lead to objects.
    /// - Parameters:
    ///   - shape: the value's shape.
    ///   - give: hands the value over; of objects that are not in the realm yet null.
    ///   - change: writes it once these objects exist.
    func set(
        _ column: Int, _ shape: _PropertyShape, _ give: @escaping (_Destination) throws -> Value,
        later change: @escaping (ObjectHandle, Value) throws -> Void
    ) throws {
        var destination = destination
        destination.expected = shape.target
        let before = destination.addition?.meetings
        let value = try give(destination)
        guard destination.addition?.meetings != before else { return set(value, column) }
        known.append((PropertyID(truncatingIfNeeded: column), value.known(in: shape)))
        later.append { try change($0, give(destination)) }
    }

    /// Takes embedded objects in that the property is to own, each with the one that it changes.
    func own(
        _ objects: [(object: ObjectBase, existing: ObjectHandle?)], _ shape: _PropertyShape,
        _ column: Int
    ) throws {
        let property = try binding.owner.property(id: PropertyID(truncatingIfNeeded: column))
        for (object, existing) in objects {
            try destination.addition?.own(
                object, shape.target, level: level + 1, existing: existing, in: property)
        }
    }

    /// Has the keys of a dictionary of embedded objects checked.
    func check(keys: [String], _ column: Int) {
        guard !keys.isEmpty else { return }
        let entries = keys.map { ValueEntry(key: $0, value: .null) }
        known.append((PropertyID(truncatingIfNeeded: column), .dictionary(entries)))
    }

    /// Defers a write until the row exists.
    func afterwards(_ body: @escaping (ObjectHandle) throws -> Void) {
        later.append(body)
    }

    func finish(_ handle: ObjectHandle) throws {
        for body in later { try body(handle) }
    }
}

extension Value {
    /// The part of a value that can be checked if null means a future object: lists and sets of
    /// links do not accept null.
    func known(in shape: _PropertyShape) -> Value {
        guard shape.type == .link, case .list(let values) = self else { return self }
        return .list(values.filter { $0 != .null })
    }
}
