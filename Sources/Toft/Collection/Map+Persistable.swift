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
        if map.backing != nil { map.fill(with: value) }
    }

    /// Takes the entries of another map in place of its own.
    func fill(with value: Map) {
        guard self !== value, self != value else { return }
        Misuse.reporting {
            let entries = Array(value)
            guard let backing else {
                removeAll()
                for (key, value) in entries { try set(value, key) }
                return
            }
            try backing.session.requireWriting()
            let handle = backing.handle
            if Value._isEmbedded {
                let entries = Self.embedded(entries)
                return try backing.session.embedding(
                    entries.compactMap(\.object), Value._shape, in: handle.owner, handle.property,
                    check: { try handle.check(keys: entries.map(\.key)) },
                    change: {
                        try handle.clear()
                        try handle.change(to: entries, $0)
                    })
            }
            try backing.session.giving(
                Value._shape, { try Self.given(entries, to: $0) },
                check: { try handle.check($0) },
                change: { entries in
                    try handle.check(entries)
                    try handle.clear()
                    for entry in entries { try handle.dictionarySet(entry.key, entry.value) }
                })
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
    /// only differences.
    public static func _promote(
        _ value: Map, _ object: ObjectBase, _ column: Int, _ promotion: _Promotion
    ) throws {
        let isAdopted = value.isUnmanaged
        let destination = promotion.destination
        let kept = Array(value)
        func backing(in row: ObjectHandle) throws -> CollectionBacking {
            try CollectionBacking(
                row, column, .dictionary, of: Value.self, in: destination.session)
        }
        if Value._isEmbedded {
            let entries = embedded(kept), isKept = destination.policy == .modified
            let there = try promotion.existing.map { try backing(in: $0).handle }
            try promotion.own(
                entries.compactMap { key, object in
                    try object.map { ($0, isKept ? try there?.target(ofKey: key) : nil) }
                }, _shape, column)
            promotion.check(keys: entries.map(\.key), column)
            promotion.afterwards { row in
                let map = try backing(in: row).handle
                if destination.policy == .all { try map.clear() }
                try map.change(to: entries, destination)
            }
        } else if !kept.isEmpty || destination.policy != .error {
            try promotion.set(column, _shape) { destination in
                .dictionary(try Self.given(kept, to: destination))
            } later: { row, given in
                let map = try backing(in: row).handle
                guard case .dictionary(let entries) = given else { return }
                if destination.policy == .modified { return try map.change(to: entries) }
                if destination.policy == .all { try map.clear() }
                for entry in entries { try map.dictionarySet(entry.key, entry.value) }
            }
        }
        if isAdopted { promotion.afterwards { value.adopt(try backing(in: $0)) } }
    }

    /// The entries of a map of embedded objects.
    private static func embedded(_ entries: some Sequence<Element>) -> [(
        key: String, object: ObjectBase?
    )] {
        entries.map { ($0.key._text, $0.value._embedded) }
    }

    /// The entries as the engine takes them.
    private static func given(_ entries: some Sequence<Element>, to destination: _Destination)
        throws -> [ValueEntry]
    {
        try entries.map {
            ValueEntry(key: $0.key._text, value: try $0.value._give(to: destination).value)
        }
    }
}

extension CollectionBacking {
    /// Sets the value of a key of a dictionary.
    func set<Element: RealmCollectionValue>(_ element: Element, forKey key: String) throws {
        let handle = handle
        if Element._isEmbedded, let object = element._embedded {
            if object.row != nil, handle.owned(object, try handle.value(ofKey: key)) != nil {
                return
            }
            return try session.embedding(
                [object], Element._shape, in: handle.owner, handle.property,
                check: { try handle.check(keys: [key]) },
                change: { try handle.embed(object, forKey: key, $0) })
        }
        try session.giving(
            Element._shape, { try element._give(to: $0).value },
            check: { try handle.check(setting: $0, forKey: key) },
            change: { try handle.dictionarySet(key, $0) })
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
    static var valueType: any RealmCollectionValue.Type { get }
}

extension Map: DescribedMap {
    var anyEntries: [(key: String, value: Any)] { map { ($0.key._text, $0.value) } }
    static var valueType: any RealmCollectionValue.Type { Value.self }
}

extension CollectionHandle {
    /// Makes a dictionary equal to `entries`, writing only differences.
    fileprivate func change(to entries: [ValueEntry]) throws {
        let kept = Set(entries.map { Value.string($0.key) })
        for key in try entryKeys() where !kept.contains(.string(key)) {
            try dictionaryErase(key)
        }
        for entry in entries where try value(ofKey: entry.key) != entry.value {
            try dictionarySet(entry.key, entry.value)
        }
    }

    /// Throws if a dictionary would not accept entries.
    fileprivate func check(_ entries: [ValueEntry]) throws {
        for entry in entries { try check(setting: entry.value, forKey: entry.key) }
    }

    /// Throws if a dictionary of objects would not accept keys.
    fileprivate func check(keys: [String]) throws {
        for key in keys { try check(setting: .null, forKey: key) }
    }

    /// The value of a key; nil if it is missing.
    func value(ofKey key: String) throws -> Value? {
        try index(ofKey: key).map { try value(at: $0) }
    }

    /// The index of a key; nil if it is missing.
    func index(ofKey key: String) throws -> Int? {
        var text = key
        return try text.withUTF8 { try index(ofKey: UnsafeRawBufferPointer($0)) }
    }
}
