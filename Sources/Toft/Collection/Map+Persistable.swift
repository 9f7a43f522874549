internal import ToftEngine
internal import ToftModel

extension Map: _Persistable {
    public static var _shape: _PropertyShape {
        let shape = Value._isEmbedded && !Value._isObject ? Value._shape.optional : Value._shape
        return shape.collection(.dictionary)
    }
    @inlinable public static var _isKeptWhenManaged: Bool { true }
    public static func _initial() -> Map { Map() }

    public static func _get(_ object: ObjectBase, _ column: Int) -> Map {
        if let recorder = object.recorder {
            return Map(recording: recorder.follow(object, column, toElements: Value.self).first)
        }
        guard let row = object.row else { return Map() }
        return Misuse.reporting {
            try row.session.verify()
            return Map(
                try CollectionBacking(
                    row.handle, column, .dictionary, of: Value.self, in: row.session))
        } ?? Map()
    }

    /// Assigning fills the map with the entries of the other; assigning a map to itself does
    /// nothing.
    public static func _set(_ value: Map, _ object: ObjectBase, _ column: Int) {
        let map = _get(object, column)
        guard let backing = map.backing, map !== value, map != value else { return }
        Misuse.reporting {
            try backing.session.requireWriting()
            if Value._isEmbedded {
                let entries = embedded(value)
                try RealmSession.requireUnowned(entries.compactMap(\.object))
                try backing.handle.clear()
                return try backing.handle.change(to: entries, backing.destination)
            }
            let entries = try given(value, to: backing.destination)
            try backing.handle.clear()
            for (key, value) in entries { try backing.handle.dictionarySet(key, value) }
        }
    }

    public static func _converted(from any: Any?, _ conversion: _ValueConversion) throws -> Map {
        if conversion.isLive, Swift.type(of: any.flattened as Any) is AnyClass,
            let map = any as? Map, !Value._isEmbedded || map.isUnmanaged
        {
            return map
        }
        let map = Map()
        guard let any = any.flattened else { return map }
        for (key, value) in try entries(of: any, conversion) {
            try map.set(try Value._convertedElement(from: value, conversion), Key(_text: key))
        }
        return map
    }

    private static func entries(of any: Any, _ conversion: _ValueConversion) throws
        -> [(key: String, value: Any)]
    {
        switch any {
        case let map as any DescribedMap: map.anyEntries
        case let dictionary as [String: Any]: Array(dictionary)
        case let dictionary as [String: Any?]: dictionary.map { ($0, $1 as Any) }
        default: throw conversion.mismatch(any)
        }
    }

    /// A new row's map is filled; that of an updated one becomes equal, with `.modified` by writing
    /// only what differs.
    public static func _promote(
        _ value: Map, _ object: ObjectBase, _ column: Int, _ promotion: _Promotion
    ) {
        let isAdopted = value.isUnmanaged
        let destination = promotion.destination
        let kept = Array(value)
        promotion.afterwards { row in
            let backing = try CollectionBacking(
                row, column, .dictionary, of: Value.self, in: destination.session)
            if Value._isEmbedded {
                if destination.policy == .all { try backing.handle.clear() }
                try backing.handle.change(to: embedded(kept), destination)
                return isAdopted ? value.adopt(backing) : ()
            }
            let entries = try Self.given(kept, to: destination)
            if destination.policy == .modified {
                try backing.handle.change(to: entries)
            } else {
                if destination.policy == .all { try backing.handle.clear() }
                for (key, value) in entries { try backing.handle.dictionarySet(key, value) }
            }
            if isAdopted { value.adopt(backing) }
        }
    }

    /// The entries of a map of embedded objects.
    private static func embedded(_ entries: some Sequence<Element>) -> [(
        key: String, object: ObjectBase?
    )] {
        entries.map { ($0.key._text, $0.value._embedded) }
    }

    /// The entries as the engine takes them. Unmanaged objects are added to the realm.
    private static func given(_ entries: some Sequence<Element>, to destination: _Destination)
        throws -> [(String, ToftModel.Value)]
    {
        try entries.map { ($0.key._text, try $0.value._give(to: destination).value) }
    }
}

extension Map: AdoptableCollection {
    var isUnmanaged: Bool { backing == nil }
}

extension Map: ObservedList {
    var observedHandle: CollectionHandle? { backing?.handle }
}

extension Map {
    public func _carry() throws -> _Carrier {
        guard let backing else { throw _Carrier.unmanaged("map") }
        return try backing.carrier(of: Value.self) { Map($0) }
    }
}

/// A map whose types are not known, to be described and converted.
protocol DescribedMap {
    var anyEntries: [(key: String, value: Any)] { get }
}

extension Map: DescribedMap {
    var anyEntries: [(key: String, value: Any)] { map { ($0.key._text, $0.value) } }
}

extension CollectionHandle {
    /// Makes a dictionary equal to `entries`, writing only what differs.
    fileprivate func change(to entries: [(String, Value)]) throws {
        let kept = Set(entries.map { Value.string($0.0) })
        for key in try entryKeys() where !kept.contains(.string(key)) {
            try dictionaryErase(key)
        }
        for (key, value) in entries where try self.value(ofKey: key) != value {
            try dictionarySet(key, value)
        }
    }

    /// The value of a key; nil where it is not there.
    func value(ofKey key: String) throws -> Value? {
        try index(ofKey: key).map { try value(at: $0) }
    }

    /// The index of a key; nil where it is not there.
    func index(ofKey key: String) throws -> Int? {
        var text = key
        return try text.withUTF8 { try index(ofKey: UnsafeRawBufferPointer($0)) }
    }
}
