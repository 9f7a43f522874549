internal import ToftEngine
internal import ToftModel

/// The types of keys of `Map`: text.
public protocol _MapKey: Hashable, Sendable {
    init(_text: String)
    var _text: String { get }
}

extension String: _MapKey {
    public init(_text: String) { self = _text }
    public var _text: String { self }
}

/// The operations of maps, for generic code: values under keys, live, and to be filtered, sorted,
/// summed and observed.
public protocol RealmKeyedCollection: Sequence, ThreadConfined, CustomStringConvertible, Equatable
where Element == (key: Key, value: Value) {
    associatedtype Key: _MapKey
    associatedtype Value: RealmCollectionValue
    /// Number of entries.
    var count: Int { get }
    /// All keys, as they are now.
    var keys: [Key] { get }
    /// All values, as they are now, in the order of `keys`.
    var values: [Value] { get }
    /// The value of a key; nil if it is missing.
    subscript(key: Key) -> Value? { get }
    /// The core of a managed map; nil for an unmanaged one. Not for apps.
    func _core() throws -> _CollectionCore?
}

/// A to-many property whose values have keys: links to objects, or values.
///
/// ```swift
/// @Persisted var scores: Map<String, Int>
/// @Persisted var dogs: Map<String, Dog?>
/// ```
///
/// A reference type, as in Realm. Unmanaged it lives in memory; managed it is live, and changing it
/// needs a write transaction. A key is text without "." that does not begin with "$"; another one
/// is misuse. Objects are optional: when one is deleted, its keys stay, with nil. Embedded ones are
/// in it once, and deleted when the map loses them. Differs from Realm: keys are compared by their
/// bytes, and those of a managed map ascend by them.
public final class Map<Key: _MapKey, Value: RealmCollectionValue>: RealmKeyedCollection {
    public typealias Element = (key: Key, value: Value)

    /// The entries of an unmanaged map.
    private var unmanaged = KeyedElements<Element>()
    /// The property of a managed object.
    private(set) var backing: CollectionBacking?
    /// The values as results, once they are needed.
    private var cachedCore: _CollectionCore?
    /// The substitute for all values while a key path is recorded.
    private var recorded: Value?
    /// Told of reads while a key path is found out.
    private var recording: LegacyRecording?

    /// An unmanaged, empty map.
    public init() {}

    init(_ backing: CollectionBacking) {
        self.backing = backing
    }

    /// A map whose values all are one.
    init(recording value: Value?) {
        recorded = value
    }

    /// Becomes the map of an object that has become managed.
    func adopt(_ backing: CollectionBacking) {
        unmanaged.removeAll()
        self.backing = backing
    }

    func record(_ recording: LegacyRecording) { self.recording = recording }

    public func _core() throws -> _CollectionCore? {
        guard let backing else { return nil }
        if let cachedCore { return cachedCore }
        let core = try backing.core()
        if !backing.session.isFrozen { cachedCore = core }
        return core
    }

    // MARK: State

    /// The realm; nil for an unmanaged map.
    public var realm: Realm? { backing.map { Realm($0.session) } }

    /// Whether the object that has the map was deleted, or its realm invalidated. Never for an
    /// unmanaged map.
    public var isInvalidated: Bool { backing.map { !$0.isValid } ?? false }

    /// Number of entries.
    public var count: Int {
        guard let backing else { return unmanaged.elements.count }
        return Misuse.reporting { try backing.count } ?? 0
    }

    /// Whether the map has no entry.
    public var isEmpty: Bool { count == 0 }

    /// A line for each of the first entries.
    public var description: String { ObjectDescription.text(of: self) }

    /// Whether both are the same property of the same object or, unmanaged, have equal entries.
    public static func == (left: Map, right: Map) -> Bool {
        switch (left.backing, right.backing) {
        case (let left?, let right?): left.isSame(as: right)
        case (nil, nil): left === right || left.hasSameEntries(as: right)
        default: false
        }
    }

    private func hasSameEntries(as other: Map) -> Bool {
        unmanaged.elements.count == other.unmanaged.elements.count
            && unmanaged.elements.allSatisfy { entry in
                other.unmanaged.index(of: Self.uniqueKey(entry.key)).map {
                    other.unmanaged.elements[$0].value == entry.value
                } ?? false
            }
    }

    private static func uniqueKey(_ key: Key) -> UniqueKey { .value(.string(key._text)) }

    // MARK: Entries

    /// All keys, as they are now. O(entries).
    public var keys: [Key] {
        guard let backing else { return unmanaged.elements.map(\.key) }
        return Misuse.reporting {
            try backing.verifyReading()
            return try backing.handle.entryKeys().map { Key(_text: $0) }
        } ?? []
    }

    /// All values, as they are now, in the order of `keys`. O(entries).
    public var values: [Value] { map(\.value) }

    /// The value of a key; nil if it is missing. Setting it needs a write transaction, adds an
    /// unmanaged object to the map's realm, and removes the key for nil; for an optional value that
    /// is nil see `updateValue`. O(log entries).
    public subscript(key: Key) -> Value? {
        get {
            recorded ?? recording?.element(Value.self)
                ?? Misuse.reporting { try value(of: key) } ?? nil
        }
        set {
            if let newValue { updateValue(newValue, forKey: key) } else { removeObject(for: key) }
        }
    }

    private func value(of key: Key) throws -> Value? {
        guard let backing else {
            return unmanaged.index(of: Self.uniqueKey(key)).map { unmanaged.elements[$0].value }
        }
        try backing.verifyReading()
        if Value.self == AnyRealmValue.self {
            return try backing.handle.index(ofKey: key._text).flatMap {
                try backing.mixed(Value.self, at: $0)
            }
        }
        return try backing.handle.value(ofKey: key._text).map {
            Value._make(_EngineValue($0, backing.session))
        }
    }

    /// Goes through the entries as they were when the loop began: `for (key, value) in map`.
    public func makeIterator() -> RLMKeyValueIterator<Key, Value> {
        guard let backing else { return RLMKeyValueIterator(unmanaged.elements) }
        return Misuse.reporting {
            try backing.verifyReading()
            if Value.self == AnyRealmValue.self {
                return RLMKeyValueIterator(
                    Array(
                        zip(
                            try backing.handle.entryKeys().lazy.map { Key(_text: $0) },
                            try backing.allMixed(Value.self))
                    ).map { (key: $0, value: $1) })
            }
            return RLMKeyValueIterator(
                try backing.handle.entryKeys(), try backing.handle.values(), backing.session)
        } ?? RLMKeyValueIterator([])
    }

    /// The entries as pairs, which the map itself is.
    public typealias KeyValueSequence = Map

    /// The entries as pairs: the map itself, which Realm has been only since its version 20.
    public func asKeyValueSequence() -> KeyValueSequence { self }

    /// Whether any entry satisfies a condition.
    public func contains(where predicate: (_ key: Key, _ value: Value) throws -> Bool) rethrows
        -> Bool
    {
        for (key, value) in self where try predicate(key, value) { return true }
        return false
    }

    // MARK: Places

    /// The place of the first entry.
    public var startIndex: MapIndex { MapIndex(offset: 0) }
    /// The place behind the last entry.
    public var endIndex: MapIndex { MapIndex(offset: count) }
    /// The place behind another.
    public func index(after index: MapIndex) -> MapIndex { MapIndex(offset: index.offset + 1) }

    /// The entry at a place; out of range is misuse, with code `.indexOutOfRange`. O(entries).
    public subscript(position: MapIndex) -> SingleMapEntry<Key, Value> {
        let entries = Array(self)
        guard entries.indices.contains(position.offset) else {
            Misuse.report(
                Realm.Error(EngineError(outOfRange: position.offset, count: entries.count)))
            return SingleMapEntry(key: Key(_text: ""), value: Value._standIn())
        }
        let (key, value) = entries[position.offset]
        return SingleMapEntry(key: key, value: value)
    }

    // MARK: Changing

    /// Sets the value of a key. Needs a write transaction.
    public func updateValue(_ value: Value, forKey key: Key) {
        Misuse.reporting { try set(value, key) }
    }

    func set(_ value: Value, _ key: Key) throws {
        guard let backing else {
            try Self.check(key)
            return unmanaged.set((key, value), Self.uniqueKey(key))
        }
        try backing.session.requireWriting()
        try backing.set(value, forKey: key._text)
    }

    /// Refuses keys that the engine would refuse when the map's object is added.
    private static func check(_ key: Key) throws {
        guard
            key._text.utf8.first == UInt8(ascii: "$") || key._text.utf8.contains(UInt8(ascii: "."))
        else { return }
        throw Realm.Error(
            .invalidArgument,
            "The key '\(key)' contains a '.' or begins with '$', which no key of a map may.")
    }

    /// Removes a key and its value, if the map has it; an object is not deleted by it, unless it is
    /// embedded. Needs a write transaction.
    public func removeObject(for key: Key) {
        Misuse.reporting {
            guard let backing else { return unmanaged.remove(Self.uniqueKey(key)) }
            try backing.session.requireWriting()
            try backing.handle.dictionaryErase(key._text)
        }
    }

    /// Removes all entries; objects are not deleted by it, except embedded ones. Needs a write
    /// transaction.
    public func removeAll() {
        Misuse.reporting {
            guard let backing else { return unmanaged.removeAll() }
            try backing.session.requireWriting()
            try backing.handle.clear()
        }
    }

    /// Sets the values of other entries; if a key exists already, `combine` makes one value of the
    /// present one and the new one. Needs a write transaction.
    public func merge<Entries: Sequence>(
        _ keysAndValues: Entries, uniquingKeysWith combine: (Value, Value) throws -> Value
    ) rethrows where Entries.Element == (key: Key, value: Value) {
        for (key, value) in keysAndValues {
            updateValue(try self[key].map { try combine($0, value) } ?? value, forKey: key)
        }
    }

    // MARK: By name

    /// The value of a key; nil where it is not there.
    public func object(forKey key: Key) -> Value? { self[key] }

    /// The values that a path leads to from each value, `[Any?]`; or one value of all, "@count",
    /// "@min.age" and its kin, as `RealmCollection.value(forKeyPath:)`. A path without "." and "@"
    /// is a key.
    public func value(forKeyPath keyPath: String) -> Any? {
        let isKey =
            !keyPath.utf8.contains(UInt8(ascii: ".")) && keyPath.utf8.first != UInt8(ascii: "@")
        if isKey { return value(forKey: keyPath) }
        let all = Misuse.reporting { () -> Any? in
            guard let core = try _core() else { return List(values).value(forKeyPath: keyPath) }
            return Results<Value>(core).value(forKeyPath: keyPath)
        }
        return all ?? nil
    }

    /// Whether both are the same property of the same object or, unmanaged, have equal entries.
    public func isEqual(_ object: Any?) -> Bool { (object as? Map).map { self == $0 } ?? false }

    /// The value of a key, as Realm gives it for key-value coding; nil where it is not there.
    public func value(forKey key: String) -> Any? {
        (self[Key(_text: key)] as Any?).flattened
    }

    /// Sets the value of a key to one that can be converted; nil removes the key.
    public func setValue(_ value: Any?, forKey key: String) {
        Misuse.reporting {
            guard let value = value.flattened else { return removeObject(for: Key(_text: key)) }
            let builder: any ObjectBuilder =
                backing.map { ManagedBuilder(session: $0.session, policy: .error) }
                ?? UnmanagedBuilder()
            let conversion = _ValueConversion(
                builder: builder, path: "\(type(of: self))['\(key)']", isLive: backing != nil)
            try set(try Value._convertedElement(from: value, conversion), Key(_text: key))
        }
    }
}

extension Map: ExpressibleByDictionaryLiteral {
    /// An unmanaged map with these entries; of those with the same key, the last.
    public convenience init(dictionaryLiteral elements: (Key, Value)...) {
        self.init()
        for (key, value) in elements { updateValue(value, forKey: key) }
    }
}

extension Map: Hashable {
    /// By the type alone, so that a map stays found while it changes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Value._shape.type)
    }
}

extension Map: Decodable where Value: Decodable {
    /// An unmanaged map of an object with these keys.
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: EntryKey.self)
        for key in container.allKeys {
            try set(try container.decode(Value.self, forKey: key), Key(_text: key.stringValue))
        }
    }
}

extension Map: Encodable where Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: EntryKey.self)
        for (key, value) in self {
            try container.encode(value, forKey: EntryKey(stringValue: key._text))
        }
    }
}

/// A map's key as a coding key.
private struct EntryKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) { nil }
}

/// The place of an entry in a map, good until the map changes.
public struct MapIndex: Hashable, Comparable, Sendable {
    let offset: Int

    /// By the order of the entries.
    public static func < (left: MapIndex, right: MapIndex) -> Bool { left.offset < right.offset }
}

/// An entry of a map.
public struct SingleMapEntry<Key: _MapKey, Value: RealmCollectionValue>: Hashable {
    /// The key.
    public var key: Key
    /// The value.
    public var value: Value

    /// An entry of a key and its value.
    public init(key: Key, value: Value) {
        self.key = key
        self.value = value
    }
}

/// The iterator of a map, as Realm calls it.
public typealias RLMMapIterator = RLMKeyValueIterator

/// Goes through a map as it was when the loop began. A value whose object has been deleted
/// meanwhile is nil.
public struct RLMKeyValueIterator<Key: _MapKey, Value: RealmCollectionValue>: IteratorProtocol {
    private var unmanaged: [(key: Key, value: Value)] = []
    private var keys: [String] = []
    private var values: [ToftModel.Value] = []
    private var session: RealmSession?
    private var position = 0

    init(_ entries: [(key: Key, value: Value)]) {
        unmanaged = entries
    }

    init(_ keys: [String], _ values: [ToftModel.Value], _ session: RealmSession) {
        (self.keys, self.values, self.session) = (keys, values, session)
    }

    public mutating func next() -> (key: Key, value: Value)? {
        defer { position += 1 }
        guard let session else {
            return position < unmanaged.count ? unmanaged[position] : nil
        }
        guard position < keys.count, position < values.count else { return nil }
        return (
            Key(_text: keys[position]), Value._make(_EngineValue(values[position], session))
        )
    }
}
