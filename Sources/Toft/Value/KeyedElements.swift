internal import ToftEngine
internal import ToftModel

/// The identity of a set's element or a map's key: a value as the database compares it, or the
/// instance for an object outside of the realm.
enum UniqueKey: Hashable {
    case value(Value)
    case instance(ObjectIdentifier)
}

extension UniqueKey {
    /// The key of an element in memory or, with a session, in that realm.
    init<Element: RealmCollectionValue>(_ element: Element, in session: RealmSession? = nil) {
        switch element {
        case let object as ObjectBase:
            if let session, let row = object.row, row.session === session {
                self = .value(.link(row.handle.ref))
            } else {
                self = .instance(ObjectIdentifier(object))
            }
        case let scalar as any _Scalar: self = .value(scalar._engineValue.value)
        case let custom as any _CustomPersistable:
            self = UniqueKey(custom.persistableValue, in: session)
        case let mixed as AnyRealmValue: self = mixed.uniqueKey(in: session)
        default: self = .value(.null)
        }
    }

    /// The value in the realm; nil for an object that is not there.
    var value: Value? { if case .value(let value) = self { value } else { nil } }
}

/// Elements in memory, each under a key of its own, for an unmanaged set or map. They stay in the
/// order of insertion until one is removed; the last one then takes its index.
struct KeyedElements<Element> {
    private(set) var elements: [Element] = []
    private var keys: [UniqueKey] = []
    private var positions: [UniqueKey: Int] = [:]

    /// The index of a key; nil if it is missing.
    func index(of key: UniqueKey) -> Int? { positions[key] }

    /// Inserts an element unless its key exists.
    mutating func insert(_ element: Element, _ key: UniqueKey) {
        if positions[key] == nil { set(element, key) }
    }

    /// Sets the element of a key.
    mutating func set(_ element: Element, _ key: UniqueKey) {
        if let index = positions[key] { return elements[index] = element }
        positions[key] = elements.count
        keys.append(key)
        elements.append(element)
    }

    mutating func remove(_ key: UniqueKey) {
        guard let index = positions.removeValue(forKey: key), let lastKey = keys.popLast(),
            let last = elements.popLast()
        else { return }
        guard index < elements.count else { return }
        keys[index] = lastKey
        elements[index] = last
        positions[lastKey] = index
    }

    mutating func removeAll() { self = KeyedElements() }

    /// Whether both have the same keys.
    func hasSameKeys(as other: KeyedElements) -> Bool {
        keys.count == other.keys.count && keys.allSatisfy { other.positions[$0] != nil }
    }
}
