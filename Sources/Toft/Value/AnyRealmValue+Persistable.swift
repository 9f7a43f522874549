internal import Foundation
internal import ToftEngine
internal import ToftModel
internal import ToftQuery
internal import ToftStorage

extension AnyRealmValue: _Persistable, _Indexable {
    public static var _shape: _PropertyShape { _PropertyShape(.mixed).optional }
    public static func _initial() -> AnyRealmValue { .none }

    public static func _get(_ object: ObjectBase, _ column: Int) -> AnyRealmValue {
        guard let row = object.row else {
            object.recorder?.record(object, column)
            return .none
        }
        return Misuse.reporting {
            try row.home.verify()
            row.session.reads?.note(row.handle.ref, column)
            return try row.session.mixed(
                try row.handle.live(PropertyID(truncatingIfNeeded: column)))
        } ?? .none
    }

    /// Assigning the property's own list or dictionary to it does nothing.
    public static func _set(_ value: AnyRealmValue, _ object: ObjectBase, _ column: Int) {
        guard let row = object.row else { return }
        Misuse.reporting {
            try row.session.verify()
            let id = PropertyID(truncatingIfNeeded: column)
            if let handle = value.backing?.handle,
                case .collection(let own) = try row.handle.live(id), handle.isSame(as: own)
            {
                return try row.session.requireWriting()
            }
            let handle = row.handle
            try row.session.giving(
                _shape, { try value._give(to: $0).value }, check: { try handle.check(id, $0) },
                change: { try handle.set(id, $0) })
        }
    }

    public static func _promote(
        _ value: AnyRealmValue, _ object: ObjectBase, _ column: Int, _ promotion: _Promotion
    ) throws {
        if let scalar = value.scalar { return promotion.set(scalar, column) }
        let policy = promotion.destination.policy, id = PropertyID(truncatingIfNeeded: column)
        try promotion.set(column, _shape) {
            try value._give(to: $0).value
        } later: { handle, given in
            if policy != .all, try handle.value(id) == given { return }
            try handle.set(id, given)
        }
    }

    public static func _converted(from any: Any?, _ conversion: _ValueConversion) throws
        -> AnyRealmValue
    {
        try converted(any, conversion, depth: 0)
    }

    /// - Parameter depth: the number of lists and dictionaries around the value.
    private static func converted(_ any: Any?, _ conversion: _ValueConversion, depth: Int) throws
        -> AnyRealmValue
    {
        guard let any = any.flattened, depth <= Limits.nestedCollections else { return .none }
        if let object = Object.found(in: any) {
            return .object(
                try conversion.builder.object(
                    Swift.type(of: object), from: object, at: conversion.path))
        }
        switch any {
        case .object(let object) as AnyRealmValue:
            return try converted(object, conversion, depth: depth)
        case let value as AnyRealmValue:
            // A list that is given to an unmanaged object becomes its own.
            return conversion.isLive
                ? value : try converted(value.content, conversion, depth: depth)
        case let scalar as any _Scalar: return _make(scalar._engineValue)
        case let map as any DescribedMap:
            return try dictionary(map.anyEntries, conversion, depth)
        case let dictionary as [String: Any]:
            return try Self.dictionary(Array(dictionary), conversion, depth)
        case let dictionary as [String: Any?]:
            return try Self.dictionary(
                dictionary.map { ($0, $1 as Any) }, conversion, depth)
        case let text as any StringProtocol: return .string(String(text))
        case let sequence as any Sequence: return try list(sequence, conversion, depth)
        default:
            guard let value = try? QueryValue.value(of: any, for: conversion.path) else {
                throw conversion.mismatch(any)
            }
            return _make(_EngineValue(value))
        }
    }

    private static func dictionary(
        _ entries: [(key: String, value: Any)], _ conversion: _ValueConversion, _ depth: Int
    ) throws -> AnyRealmValue {
        let map = Map<String, AnyRealmValue>()
        for (key, value) in entries {
            try map.set(try converted(value, conversion, depth: depth + 1), key)
        }
        return .dictionary(map)
    }

    private static func list(
        _ values: some Sequence, _ conversion: _ValueConversion, _ depth: Int
    ) throws -> AnyRealmValue {
        .list(List(try values.map { try converted($0, conversion, depth: depth + 1) }))
    }
}

extension AnyRealmValue: RealmCollectionValue {
    /// A list or a dictionary comes as a copy.
    public static func _make(_ value: _EngineValue) -> AnyRealmValue {
        Misuse.reporting { try AnyRealmValue(value.value, in: value.session) } ?? .none
    }

    public func _give(to destination: _Destination) throws -> _EngineValue {
        _EngineValue(
            try value(in: destination.session) { try $0._give(to: destination).value },
            destination.session)
    }

    public static func _standIn() -> AnyRealmValue { .none }

    public static func _convertedElement(from any: Any?, _ conversion: _ValueConversion) throws
        -> AnyRealmValue
    {
        try _converted(from: any, conversion)
    }
}

// MARK: To and from the engine

// `ToftModel.Value` in full: AnyRealmValue has a type of this name, that of a dictionary literal.

extension AnyRealmValue {
    /// The engine's value with a copy of all that is in it.
    init(_ value: ToftModel.Value, in session: RealmSession?) throws {
        switch value {
        case .null: self = .none
        case .bool(let value): self = .bool(value)
        case .int(let value): self = .int(Int(value))
        case .float(let value): self = .float(value)
        case .double(let value): self = .double(value)
        case .string(let value): self = .string(value)
        case .data(let value): self = .data(Data(value))
        case .date(let value): self = .date(Date(value))
        case .link(let ref): self = try session?.linked(ref).map { .object($0) } ?? .none
        case .uuid, .objectId, .decimal:
            let value = _EngineValue(value)
            self =
                UUID._scalar(from: value).map { .uuid($0) }
                ?? ObjectId._scalar(from: value).map { .objectId($0) }
                ?? Decimal128._scalar(from: value).map { .decimal128($0) } ?? .none
        case .list(let values):
            self = .list(List(try values.map { try AnyRealmValue($0, in: session) }))
        case .dictionary(let entries):
            let map = Map<String, AnyRealmValue>()
            for entry in entries {
                try map.set(try AnyRealmValue(entry.value, in: session), entry.key)
            }
            self = .dictionary(map)
        }
    }

    /// The value for the engine.
    /// - Parameters:
    ///   - session: the session in which live collections are read as a whole.
    ///   - depth: the number of lists and dictionaries around the value. The engine refuses those
    ///     that are too deep, so that a list that contains itself is not followed for ever.
    ///   - link: the link to an object.
    func value(
        in session: RealmSession? = nil, depth: Int = 0, link: (Object) throws -> ToftModel.Value
    ) throws -> ToftModel.Value {
        switch self {
        case .object(let object): return try link(object)
        case .list(let list):
            guard depth <= Limits.nestedCollections else { return .null }
            if let handle = try backing?.wholeHandle(in: session) {
                return .list(try handle.values())
            }
            return .list(try list.map { try $0.value(in: session, depth: depth + 1, link: link) })
        case .dictionary(let map):
            guard depth <= Limits.nestedCollections else { return .null }
            var entries: [ValueEntry] = []
            for (key, value) in map {
                entries.append(
                    ValueEntry(
                        key: key,
                        value: try value.value(in: session, depth: depth + 1, link: link)))
            }
            return .dictionary(
                entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
        default: return scalar ?? .null
        }
    }

    /// The value if it is neither an object nor a list or dictionary.
    var scalar: ToftModel.Value? {
        switch self {
        case .none: .null
        case .object, .list, .dictionary: nil
        default: (content as? any _Scalar)?._engineValue.value
        }
    }

    /// The value as the database knows it; nil if it contains an unmanaged object.
    var known: ToftModel.Value? {
        var isKnown = true
        let value = try? value { object in
            guard let row = object.row else {
                isKnown = false
                return .null
            }
            return .link(row.handle.ref)
        }
        return isKnown ? value : nil
    }

    /// Its identity in an unmanaged set: numbers by their value; lists and dictionaries, which no
    /// managed set accepts, by their instance.
    func uniqueKey(in session: RealmSession?) -> UniqueKey {
        switch self {
        case .object(let object): UniqueKey(object, in: session)
        case .list(let list): .instance(ObjectIdentifier(list))
        case .dictionary(let map): .instance(ObjectIdentifier(map))
        default: .value((scalar ?? .null).numberAsDecimal)
        }
    }

    /// The place of a live list or dictionary.
    fileprivate var backing: CollectionBacking? { listValue?.backing ?? dictionaryValue?.backing }
}

extension RealmSession {
    /// A value of a managed object; a list or a dictionary is live.
    func mixed(_ value: LiveValue) throws -> AnyRealmValue {
        switch value {
        case .value(let value): return try AnyRealmValue(value, in: self)
        case .collection(let handle):
            let backing = CollectionBacking(session: self, handle: handle, home: nil)
            return handle.kind == .list ? .list(List(backing)) : .dictionary(Map(backing))
        }
    }

    /// The object that a value links to; nil if it has been deleted.
    fileprivate func linked(_ ref: ObjectRef) throws -> Object? {
        try ObjectContext(self, try binding(of: ref.classID)).object(ref.key) as? Object
    }
}

extension CollectionBacking {
    /// An element of a collection of mixed values, live; nil for other elements.
    func mixed<Element>(_ type: Element.Type, at index: Int) throws -> Element? {
        guard Element.self == AnyRealmValue.self else { return nil }
        try verifyReading()
        return try session.mixed(try handle.live(at: index)) as? Element
    }

    /// All elements of a collection of mixed values, live.
    func allMixed<Element>(_ type: Element.Type) throws -> [Element] {
        try verifyReading()
        return try handle.liveValues().compactMap { try session.mixed($0) as? Element }
    }

    /// The list, if it belongs to the session whose objects its values name.
    fileprivate func wholeHandle(in session: RealmSession?) throws -> CollectionHandle? {
        guard self.session === session else { return nil }
        try self.session.verify()
        return handle
    }

    /// The error for an operation on an unmanaged collection: filtering, sorting, summing up or
    /// observing.
    static func unmanaged(_ name: String, _ collections: String) -> Realm.Error {
        Realm.Error(
            .unsupported,
            "\(name) is for managed \(collections) only: add the object to a realm first.")
    }
}

// MARK: Groups

extension RealmCollection where Element: ObjectBase {
    /// The groups of the objects by their values at key paths, sorted by these values, nil first:
    /// `sales.groups(by: "shop", "city.name", values: [.sum("amount")])`.
    ///
    /// One pass in the engine; no object is made. A key path that leads to several values, or has
    /// no such aggregate, is misuse.
    public func groups(by keyPaths: String..., values: [GroupValue] = []) -> [ResultGroup] {
        Misuse.reporting { () -> [ResultGroup] in
            guard let core = try requiredCore("groups") else { return [] }
            return try core.results.groups(by: keyPaths, values: values.map(\.engine)).map {
                ResultGroup(
                    keys: try $0.keys.map { try AnyRealmValue($0, in: core.session) },
                    count: $0.count,
                    values: try $0.values.map { try AnyRealmValue($0, in: core.session) })
            }
        } ?? []
    }
}
