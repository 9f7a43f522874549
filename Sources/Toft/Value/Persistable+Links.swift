internal import ToftEngine
internal import ToftModel

// To-one links (`Dog?`) and objects as elements of collections.
extension ObjectBase: _PersistableInsideOptional {
    public typealias PersistedType = ObjectBase
    public static var _shape: _PropertyShape { _PropertyShape(.link, target: self) }

    // MARK: Properties

    public static func _getOptional(_ object: ObjectBase, _ column: Int) -> Self? {
        if let recorder = object.recorder { return recorder.follow(object, column, to: self) }
        guard let key = object._loadWord(column), let home = object.home else { return nil }
        return Misuse.reporting { () -> Self? in
            try home.home(of: self).object(key)?.asElement(self)
        } ?? nil
    }

    public static func _setOptional(_ value: ObjectBase?, _ object: ObjectBase, _ column: Int) {
        guard let row = object.row else { return }
        Misuse.reporting {
            try row.home.verify()
            let handle = row.handle, id = PropertyID(truncatingIfNeeded: column)
            guard let value else { return try handle.set(id, Value.null) }
            if _isEmbedded { return try embed(value, in: handle, id, row.session) }
            try row.session.giving(
                _shape, { try value._give(to: $0).value }, check: { try handle.check(id, $0) },
                change: { try handle.set(id, $0) })
        }
    }

    private static func embed(
        _ value: ObjectBase, in handle: ObjectHandle, _ id: PropertyID, _ session: RealmSession
    ) throws {
        if let own = try handle.owned(value, id) { return try handle.set(id, own) }
        try session.embedding(
            [value], _shape, in: handle, try handle.property(id),
            check: { try handle.check(id, .null) },
            change: { try handle.embed(value, in: id, $0) })
    }

    public static func _promoteOptional(
        _ value: ObjectBase?, _ object: ObjectBase, _ column: Int, _ promotion: _Promotion
    ) throws {
        guard let value else { return promotion.set(.null, column) }
        let destination = promotion.destination, id = PropertyID(truncatingIfNeeded: column)
        guard _isEmbedded else {
            return try promotion.set(column, _shape) {
                try value._give(to: $0).value
            } later: { handle, link in
                if destination.policy != .all, try handle.value(id) == link { return }
                try handle.set(id, link)
            }
        }
        if let own = try promotion.existing?.owned(value, id) { return promotion.set(own, column) }
        func existing(in handle: ObjectHandle?) throws -> ObjectHandle? {
            destination.policy == .modified ? try handle?.target(id) : nil
        }
        try promotion.own([(value, existing(in: promotion.existing))], _shape, column)
        promotion.afterwards { handle in
            try handle.embed(value, in: id, destination, existing: existing(in: handle))
        }
    }

    // MARK: Elements

    public static var _isObject: Bool { true }
    public var _embedded: ObjectBase? { Self._isEmbedded ? self : nil }

    public static func _make(_ value: _EngineValue) -> Self {
        _makeOptional(value) ?? deleted(value) ?? _standIn()
    }

    public static func _makeOptional(_ value: _EngineValue) -> Self? {
        guard case .link(let ref) = value.value, let session = value.session else { return nil }
        return Misuse.reporting { () -> Self? in
            if self == DynamicObject.self { return try session.dynamicObject(ref) as? Self }
            return try session.object(self, key: ref.key)
        } ?? nil
    }

    /// An invalidated instance of a deleted object.
    private static func deleted(_ value: _EngineValue) -> Self? {
        guard case .link(let ref) = value.value, let session = value.session else { return nil }
        let home =
            self == DynamicObject.self
            ? try? session.dynamicHome(id: ref.classID) : try? session.home(of: self)
        return home?.makeObject(ref.key, RowCursor()).asElement(self)
    }

    public func _give(to destination: _Destination) throws -> _EngineValue {
        if let row {
            try destination.session.requireManagedHere(row)
            return _EngineValue(.link(row.handle.ref), destination.session)
        }
        guard let addition = destination.addition, !addition.isApplied else {
            throw Realm.Error(.internalError, "An object was to be linked to before it was added.")
        }
        try addition.meet(self, destination.expected)
        return _EngineValue(.null, destination.session)
    }

    public static func _standIn() -> Self {
        let object = self.init()
        object.standsIn = true
        return object
    }

    public static func _convertedElement(from any: Any?, _ conversion: _ValueConversion) throws
        -> Self
    {
        guard let any = any.flattened else { throw conversion.nullNotAllowed }
        return try conversion.builder.object(self, from: any, at: conversion.path)
    }
}
