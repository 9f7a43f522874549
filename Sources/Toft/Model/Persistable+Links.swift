internal import ToftEngine
internal import ToftModel

// To-one links (`Dog?`) and objects as elements of collections.
extension ObjectBase: _PersistableInsideOptional {
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
            try row.session.verify()
            let destination = _Destination(session: row.session, policy: .error)
            let id = PropertyID(truncatingIfNeeded: column)
            if _isEmbedded, let value {
                return try row.handle.embed(value, in: id, destination)
            }
            try row.handle.set(id, try value?._give(to: destination).value ?? .null)
        }
    }

    public static func _promoteOptional(
        _ value: ObjectBase?, _ object: ObjectBase, _ column: Int, _ promotion: _Promotion
    ) throws {
        let destination = promotion.destination
        promotion.afterwards { handle in
            let id = PropertyID(truncatingIfNeeded: column)
            if _isEmbedded, let value {
                let existing = destination.policy == .modified ? try handle.target(id) : nil
                return try handle.embed(value, in: id, destination, existing: existing)
            }
            let link = try value?._give(to: destination).value ?? .null
            if destination.policy != .all, try handle.value(id) == link { return }
            try handle.set(id, link)
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

    /// An invalidated instance of an object that is gone.
    private static func deleted(_ value: _EngineValue) -> Self? {
        guard case .link(let ref) = value.value, let session = value.session else { return nil }
        let home =
            self == DynamicObject.self
            ? try? session.dynamicHome(id: ref.classID) : try? session.home(of: self)
        return home?.makeObject(ref.key, RowCursor()).asElement(self)
    }

    public func _give(to destination: _Destination) throws -> _EngineValue {
        try destination.session.add(self, destination.policy)
        guard let row else {
            throw Realm.Error(.internalError, "An object was added without a row.")
        }
        return _EngineValue(.link(row.handle.ref), destination.session)
    }

    public static func _standIn() -> Self { self.init() }

    public static func _convertedElement(from any: Any?, _ conversion: _ValueConversion) throws
        -> Self
    {
        guard let any = any.flattened else { throw conversion.nullNotAllowed }
        return try conversion.builder.object(self, from: any, at: conversion.path)
    }
}
