internal import ToftEngine
internal import ToftModel

/// A property that is kept without `@Persisted`, as classes wrote it before there was that: a `let`
/// with a collection or a box, which becomes managed with the object around it.
protocol LegacyProperty: AnyPersisted {
    /// The identity that tells the property of one object apart from that of another.
    var identity: ObjectIdentifier { get }
    /// The value, as key-value coding gives it.
    var kept: Any { get }
    /// The name given as `property` of linking objects.
    var origin: String? { get }
    /// Whether a new object has another value than the database gives by itself.
    var hasDefault: Bool { get }
    /// Becomes the property of a live object.
    func attach(to object: ObjectBase, _ column: Int) throws
    /// Tells a recorder of key paths what is read of it.
    func record(_ recording: LegacyRecording)
    /// Hands its value over, to be written to the new row of its object.
    func promote(of object: ObjectBase, _ column: Int, _ promotion: _Promotion) throws
    /// Takes a value that can be converted.
    func assign(_ any: Any?, _ conversion: _ValueConversion) throws
}

extension LegacyProperty {
    private static func property(at address: UnsafeRawPointer) -> Self {
        address.assumingMemoryBound(to: Self.self).pointee
    }

    static func legacy(at address: UnsafeRawPointer) -> (any LegacyProperty)? {
        property(at: address)
    }

    var origin: String? { nil }
    var hasDefault: Bool { false }

    static var element: (any RealmCollectionValue.Type)? { nil }
    static var alignment: Int { MemoryLayout<Self>.alignment }
    static var columnOffset: Int? { nil }
    static var isKept: Bool { false }
    static var holdsMemory: Bool { true }

    static func traits(at address: UnsafeRawPointer) -> _PersistedTraits { .plain }

    static func originProperty(at address: UnsafeRawPointer) -> String? {
        property(at: address).origin
    }

    static func hasValue(at address: UnsafeRawPointer) -> Bool {
        property(at: address).hasDefault
    }

    /// Nothing: what lies here is the same for the object's whole life.
    static func clear(at address: UnsafeMutableRawPointer) {}

    static func promote(
        at address: UnsafeMutableRawPointer, of object: ObjectBase, _ column: Int,
        _ promotion: _Promotion
    ) throws {
        try property(at: address).promote(of: object, column, promotion)
    }

    static func any(at address: UnsafeMutableRawPointer, of object: ObjectBase) -> Any {
        property(at: address).kept
    }

    static func set(
        _ any: Any?, at address: UnsafeMutableRawPointer, of object: ObjectBase,
        _ conversion: _ValueConversion
    ) throws {
        try property(at: address).assign(any, conversion)
    }
}

/// The recorder of reads of a legacy property, while a key path is found out.
final class LegacyRecording {
    private let recorder: KeyPathRecorder
    private let name: String

    init(_ recorder: KeyPathRecorder, _ name: String) {
        self.recorder = recorder
        self.name = name
    }

    /// The property was read.
    func record() { recorder.record(name) }

    /// An element was read: what is read next is a property of it, where it is an object.
    func element<Element: RealmCollectionValue>(_ type: Element.Type) -> Element {
        record()
        guard let target = Element._shape.target,
            let element = recorder.instance(of: target) as? Element
        else { return Element._standIn() }
        return element
    }
}

/// The place in the database of a legacy property of a managed object.
struct LegacyPlace {
    let row: ManagedRow
    let column: Int
}

// MARK: Collections

extension List: LegacyProperty {
    static var shape: _PropertyShape { _shape }
    var identity: ObjectIdentifier { ObjectIdentifier(self) }
    var kept: Any { self }

    func attach(to object: ObjectBase, _ column: Int) throws {
        guard let row = object.row else { return }
        adopt(try CollectionBacking(row.handle, column, .list, of: Element.self, in: row.session))
    }

    func promote(of object: ObjectBase, _ column: Int, _ promotion: _Promotion) throws {
        try Self._promote(self, object, column, promotion)
    }

    func assign(_ any: Any?, _ conversion: _ValueConversion) throws {
        fill(with: try Self._converted(from: any, conversion))
    }
}

extension MutableSet: LegacyProperty {
    static var shape: _PropertyShape { _shape }
    var identity: ObjectIdentifier { ObjectIdentifier(self) }
    var kept: Any { self }

    func attach(to object: ObjectBase, _ column: Int) throws {
        guard let row = object.row else { return }
        adopt(try CollectionBacking(row.handle, column, .set, of: Element.self, in: row.session))
    }

    func promote(of object: ObjectBase, _ column: Int, _ promotion: _Promotion) throws {
        try Self._promote(self, object, column, promotion)
    }

    func assign(_ any: Any?, _ conversion: _ValueConversion) throws {
        fill(with: try Self._converted(from: any, conversion))
    }
}

extension Map: LegacyProperty {
    static var shape: _PropertyShape { _shape }
    var identity: ObjectIdentifier { ObjectIdentifier(self) }
    var kept: Any { self }

    func attach(to object: ObjectBase, _ column: Int) throws {
        guard let row = object.row else { return }
        adopt(
            try CollectionBacking(row.handle, column, .dictionary, of: Value.self, in: row.session))
    }

    func promote(of object: ObjectBase, _ column: Int, _ promotion: _Promotion) throws {
        try Self._promote(self, object, column, promotion)
    }

    func assign(_ any: Any?, _ conversion: _ValueConversion) throws {
        fill(with: try Self._converted(from: any, conversion))
    }
}

extension LinkingObjects: LegacyProperty {
    static var shape: _PropertyShape { _shape }
    var identity: ObjectIdentifier { ObjectIdentifier(declared ?? DeclaredLinks("")) }
    var kept: Any { self }
    var origin: String? { declared?.origin }

    func attach(to object: ObjectBase, _ column: Int) {
        guard let row = object.row else { return }
        declared?.place = LegacyPlace(row: row, column: column)
    }

    func record(_ recording: LegacyRecording) { declared?.recording = recording }
    func promote(of object: ObjectBase, _ column: Int, _ promotion: _Promotion) {}

    func assign(_ any: Any?, _ conversion: _ValueConversion) throws {
        _ = try Self._converted(from: any, conversion)
    }
}

/// Linking objects as a class without `@Persisted` declares them: found when they are asked for.
final class DeclaredLinks {
    let origin: String
    /// Nil while the object is unmanaged.
    var place: LegacyPlace?
    var recording: LegacyRecording?
    private var found: _CollectionCore?

    init(_ origin: String) { self.origin = origin }

    func core(of type: ObjectBase.Type) throws -> _CollectionCore? {
        guard let place else { return nil }
        if let found { return found }
        let row = place.row
        try row.session.verify()
        let core = _CollectionCore(
            row.session,
            try row.handle.linkingObjects(PropertyID(truncatingIfNeeded: place.column)),
            try row.session.home(of: type))
        if !row.session.isFrozen { found = core }
        return core
    }
}
