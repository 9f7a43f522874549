internal import Foundation
internal import ToftEngine
internal import ToftModel
internal import ToftStorage

/// The base class of all kinds of persisted objects. Apps derive from `Object` and
/// `EmbeddedObject`.
// `@exclusivity(unchecked)`: these variables are read with every property.
open class ObjectBase: CustomStringConvertible {
    /// Its context in the database; nil while unmanaged.
    @exclusivity(unchecked) private(set) final var home: ObjectContext?
    @exclusivity(unchecked) private final var key: Int64 = 0
    /// The location of the row when it was last looked up.
    @exclusivity(unchecked) @usableFromInline private(set) final var view = RowCursor()
    /// True if a collection may have been made for the object and stored in it. Not for apps.
    @exclusivity(unchecked) public final var _hasCollections = false
    /// The hash of a live object whose primary key has been read; 0 before.
    @exclusivity(unchecked) private final var managedHash = 0
    /// True if it replaces an object that a call could not give.
    @exclusivity(unchecked) final var standsIn = false
    /// Set in the instances that record the names in a key path.
    @exclusivity(unchecked) final var recorder: KeyPathRecorder?

    /// Makes an unmanaged object, each property with its default. Toft calls it to learn the
    /// properties of a class, so a subclass's own initializers are convenience initializers, as in
    /// Realm.
    ///
    /// Toft calls it also for each instance that it hands out of a class with stored properties
    /// besides the `@Persisted` ones. Of another class it hands out instances that are made without
    /// their initializer, and a `for` loop hands the same one out for one object after the other
    /// while nothing else refers to it; an instance with another reference, even a weak one, stays
    /// the object that it is.
    public required init() {}

    // MARK: Customization

    /// The names of indexed properties, for classes that don't say `@Persisted(indexed: true)`.
    open class func indexedProperties() -> [String] { [] }
    /// Lists of names of properties: no two objects have the same values of all in a list when a
    /// transaction commits. An object with nil in one of them is the same as no other.
    open class func uniqueProperties() -> [[String]] { [] }
    /// Kept for source compatibility: properties without `@Persisted` are ignored anyway.
    open class func ignoredProperties() -> [String] { [] }
    /// Names of properties in the file if they differ from those in Swift.
    open class func propertiesMapping() -> [String: String] { [:] }
    /// Whether the class belongs to realms whose configuration names no classes.
    open class func shouldIncludeInDefaultSchema() -> Bool { true }
    /// The class's name in the database, if it differs from its name in Swift.
    open class func _realmObjectName() -> String? { nil }
    /// Whether the objects live in others. Not for apps.
    open class var _isEmbedded: Bool { false }

    // MARK: State

    /// True if the object has been deleted or its realm invalidated; its properties can't be read
    /// then. Always false for an unmanaged object. Safe at any time and on any thread: outside of
    /// the realm's thread, the answer is that of the realm's last refresh.
    open var isInvalidated: Bool {
        guard let row else { return false }
        return Misuse.reporting { try !row.isValid } ?? false
    }

    /// Every property with its value, linked objects down to a few levels.
    open var description: String { ObjectDescription.text(of: self) }

    /// The value of the property with this name.
    open subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    /// Whether collections that were made for the object are kept in it: not while key paths are
    /// recorded, nor if threads may share the object, as it is frozen. Not for apps.
    public final var _keepsCollections: Bool { recorder == nil && !isFrozen }

    /// Used by `==`: true if `object` is this instance or, for a class with a primary key and for a
    /// frozen object, the same row of the same realm.
    open func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ObjectBase else { return false }
        if self === other { return true }
        guard let row, hasStableIdentity, let theirs = other.row, row.isSame(as: theirs) else {
            return false
        }
        // Instances of a deleted object may have been hashed while its key could be read, or not.
        return hash == other.hash
    }

    /// Used by `hash(into:)`, consistent with `isEqual`. The hash of the primary key if the class
    /// has one, so that adding an object does not change it: set the key before the object is put
    /// into a set or a dictionary, and a key that `add` counts by adding. The hash of the instance
    /// in other classes.
    open var hash: Int {
        guard let row else {
            guard let key = ModelClass.of(type(of: self)).primaryKey else {
                return ObjectIdentifier(self).hashValue
            }
            return Self.hash(key.storedValue(in: self))
        }
        // Threads share frozen objects, so nothing may be left behind in one.
        if isFrozen { return row.handle.ref.hashValue }
        guard let key = row.home.binding.owner.primaryKey else {
            return ObjectIdentifier(self).hashValue
        }
        if managedHash != 0 { return managedHash }
        // A deleted object, which can't be read, is identified by its row.
        guard let value = try? row.value(of: key.id) else { return row.handle.ref.hashValue }
        managedHash = Self.hash(value)
        return managedHash
    }

    private static func hash(_ key: Value?) -> Int { (key ?? .null).hashValue }

    private final var hasStableIdentity: Bool {
        isFrozen || home?.binding.owner.primaryKey != nil
    }

    /// Whether the object shows one version for ever, on any thread.
    public final var isFrozen: Bool { home?.isFrozen ?? false }
}

extension ObjectBase {
    /// Makes an unmanaged object of a dictionary of values, an array with one for each property, or
    /// another object.
    public convenience init(value: Any) {
        self.init()
        Misuse.reporting { try UnmanagedBuilder().assign(value, to: self) }
    }

    /// The class's name in the database.
    public static func className() -> String { ModelClass.name(of: self) }

    /// The class and its persisted properties, as the class is declared.
    public static func sharedSchema() -> ObjectSchema? { ObjectSchema(ModelClass.of(self)) }

    /// The realm that manages the object; nil for an unmanaged one.
    public final var realm: Realm? { row.map { Realm($0.session) } }

    /// The class and its persisted properties.
    public final var objectSchema: ObjectSchema {
        guard self is DynamicObject, let home else {
            return ObjectSchema(ModelClass.of(type(of: self)))
        }
        return ObjectSchema(ModelClass(named: home.binding.owner))
    }

    /// True if both are the same object of the same realm; for an unmanaged one, if both are one
    /// instance.
    public final func isSameObject(as object: ObjectBase?) -> Bool {
        guard let object else { return false }
        guard let row, let other = object.row else { return self === object }
        return row.isSame(as: other)
    }
}

/// A managed object's place in the database.
struct ManagedRow {
    let home: ObjectContext
    let key: Int64

    var session: RealmSession { home.session }
    var handle: ObjectHandle { home.binding.engine.handle(key, home.binding.owner) }

    /// Whether the object exists; false too after the realm was closed. Any thread may ask.
    var isValid: Bool {
        get throws {
            guard home.session.isHere else { return home.binding.engine.existsElsewhere(ref) }
            do throws(EngineError) {
                return try handle.isValid
            } catch {
                if error.code == .closed || error.code == .usedAfterFork { return false }
                throw error
            }
        }
    }

    private var ref: ObjectRef { ObjectRef(classID: home.binding.classID, key: key) }

    /// Throws unless the object exists and may be read on this thread.
    func requireValid() throws {
        try home.verify()
        guard try handle.isValid else {
            throw Realm.Error(.objectDeleted, "The object has been deleted or invalidated.")
        }
    }

    /// The value of a property, if it may be read on this thread.
    func value(of id: PropertyID) throws -> Value {
        try home.verify()
        return try handle.value(id)
    }

    func isSame(as other: ManagedRow) -> Bool {
        session === other.session && handle == other.handle
    }
}

// MARK: Becoming managed

extension ObjectBase {
    /// The row in the database; nil while unmanaged.
    final var row: ManagedRow? { home.map { ManagedRow(home: $0, key: key) } }

    /// Becomes the live object with a key.
    final func attach(_ key: Int64, in home: ObjectContext, _ view: RowCursor) {
        self.home = home
        self.key = key
        self.view = view
    }

    /// Becomes another object of the same class in the same realm.
    @inline(__always)
    final func move(to key: Int64, _ view: RowCursor) {
        if _hasCollections { forgetCollections() }
        managedHash = 0
        self.key = key
        self.view = view
    }

    /// Lets go of the collections that were made for the object: the next look makes them anew.
    @inline(never)
    final func forgetCollections() {
        _hasCollections = false
        for property in home?.binding.model.properties ?? [] where property.wrapper.isKept {
            property.withAddress(in: self) { property.wrapper.clear(at: $0) }
        }
    }
}

// MARK: Reading and writing managed properties

extension ObjectBase {
    /// Reads an integer or the key in a link, at the cost of some loads while the realm does not
    /// change. Nil when null, when key paths are recorded, and after misuse. Not for apps.
    @inlinable
    public final func _loadWord(_ column: Int) -> Int64? {
        guard let pointer = view.pointer(column) else { return findWord(column) }
        return pointer.word(view.row)
    }

    /// Reads a number. Not for apps.
    @inlinable
    public final func _loadDouble(_ column: Int) -> Double? {
        guard let pointer = view.pointer(column) else { return findDouble(column) }
        return pointer.double(view.row)
    }

    /// Reads a flag. Not for apps.
    @inlinable
    public final func _loadBool(_ column: Int) -> Bool? {
        guard let pointer = view.pointer(column) else { return findBool(column) }
        return pointer.bit(view.row)
    }

    /// Reads a number of single precision.
    final func float(_ column: Int) -> Float? {
        guard let pointer = view.pointer(column) else {
            return find(column, .floats) {
                $0.float($1)
            } waiting: {
                if case .float32(let value) = $0 { value } else { nil }
            }
        }
        return pointer.float(view.row)
    }

    /// Reads a time.
    final func time(_ column: Int) -> Timestamp? {
        guard let pointer = view.pointer(column) else {
            return find(column, .times) {
                $0.time($1)
            } waiting: {
                if case .timestamp(let value) = $0 { value } else { nil }
            }
        }
        return pointer.time(view.row)
    }

    /// Reads a uuid or an object id.
    final func fixed(_ column: Int) -> FixedBytes? {
        guard let pointer = view.pointer(column) else {
            return find(column, .fixed) {
                $0.fixed($1)
            } waiting: {
                if case .fixed(let value) = $0 { value } else { nil }
            }
        }
        return pointer.fixed(view.row)
    }

    @inline(never)
    @usableFromInline final func findWord(_ column: Int) -> Int64? {
        find(column, .words) {
            $0.word($1)
        } waiting: {
            if case .int64(let value) = $0 { value } else { nil }
        }
    }

    @inline(never)
    @usableFromInline final func findDouble(_ column: Int) -> Double? {
        find(column, .words) {
            $0.double($1)
        } waiting: {
            if case .float64(let value) = $0 { value } else { nil }
        }
    }

    @inline(never)
    @usableFromInline final func findBool(_ column: Int) -> Bool? {
        find(column, .bits) {
            $0.bit($1)
        } waiting: {
            if case .bool(let value) = $0 { value } else { nil }
        }
    }

    /// Reads text or data, borrowed until the realm moves or writes.
    final func bytes(_ column: Int) -> UnsafeRawBufferPointer? {
        guard let pointer = view.pointer(column) else {
            return find(column, .texts) { pointer, row throws(StorageError) in
                try pointer.bytes(row)
            } waiting: {
                if case .bytes(let bytes) = $0 { bytes } else { nil }
            }
        }
        do throws(StorageError) {
            return try pointer.bytes(view.row)
        } catch {
            Misuse.report(Realm.Error(EngineError(error)))
            return nil
        }
    }

    /// Finds the position of a column, and reads a value from there. `waiting` reads it while the
    /// transaction buffers changes.
    @inline(never)
    private final func find<Value>(
        _ column: Int, _ kind: ColumnPointer.Kind,
        _ load: (ColumnPointer, Int) throws(StorageError) -> Value?,
        waiting: (Cell) -> Value?
    ) -> Value? {
        guard let home else {
            recorder?.record(self, column)
            return nil
        }
        do throws(EngineError) {
            try home.verify()
            home.session.reads?.note(home.ref(key), column)
            if home.binding.engine.holdsBack(home.binding.classID) {
                return try waitingCell(column, in: home).flatMap(waiting)
            }
            let (window, row) = try window(in: home)
            let pointer = try ColumnPointer(
                PropertyID(truncatingIfNeeded: column), kind, in: window)
            view.remember(pointer, column)
            do throws(StorageError) { return try load(pointer, row) } catch {
                throw EngineError(error)
            }
        } catch {
            Misuse.report(Realm.Error(error))
            return nil
        }
    }

    /// A value that the transaction need not have written yet, null as nil.
    private final func waitingCell(_ column: Int, in home: ObjectContext) throws(EngineError)
        -> Cell?
    {
        var id = PropertyID(truncatingIfNeeded: column), found: Cell?
        let result: Result<Bool, EngineError> = withUnsafePointer(to: &id) { id in
            do throws(EngineError) {
                return .success(
                    try home.binding.engine.forEachCell(
                        of: home.ref(key), UnsafeBufferPointer(start: id, count: 1)
                    ) { found = $2 })
            } catch { return .failure(error) }
        }
        guard try result.get() else { throw ManagedRow(home: home, key: key).handle.deleted }
        return found
    }

    /// The window on the object's cluster, a new one if the last one is no longer valid. The caller
    /// has verified that the object may be read on this thread.
    private final func window(in home: ObjectContext) throws(EngineError) -> (
        window: ClusterWindow, row: Int
    ) {
        if let window = view.window { return (window, view.row) }
        if let cache = home.binding.cache {
            if let found = try cache.view(of: key) { view = found }
            if let window = view.window { return (window, view.row) }
        } else if let window = try home.binding.engine.openWindow(on: key, home.binding.owner),
            let row = window.row(of: key)
        {
            // Threads may share the object, so nothing may be left behind in it.
            return (window, row)
        }
        throw ManagedRow(home: home, key: key).handle.deleted
    }

    /// Writes an integer. Not for apps.
    public final func _storeInt(_ number: Int64, _ column: Int) {
        store(.int(number), column)
    }

    /// Writes null. Not for apps.
    public final func _setNull(_ column: Int) {
        store(.null, column)
    }

    /// Writes a value.
    final func store(_ value: BorrowedValue, _ column: Int) {
        guard let row else { return }
        do throws(EngineError) {
            try row.home.verify()
            try row.handle.set(PropertyID(truncatingIfNeeded: column), value)
        } catch {
            Misuse.report(Realm.Error(error))
        }
    }
}

// MARK: Identity

extension ObjectBase: Hashable {
    /// Whether both are the same instance or, for classes with a primary key and for frozen
    /// objects, the same row of the same realm.
    public static func == (left: ObjectBase, right: ObjectBase) -> Bool {
        left.isEqual(right)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }
}
