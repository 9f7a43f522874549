internal import ToftEngine
internal import ToftModel
internal import ToftStorage

/// What every kind of persisted object derives from. Apps derive from `Object`.
open class ObjectBase {
    /// The row in the database; nil while unmanaged.
    @exclusivity(unchecked) final var row: ManagedRow?
    /// Set in the instances that find out what a key path names.
    @exclusivity(unchecked) final var recorder: KeyPathRecorder?

    /// Makes an unmanaged object, each property with its default. Toft calls it for every object that it hands out, so a subclass's
    /// own initializers are convenience initializers, as in Realm.
    public required init() {}

    /// Whether key paths are being found out. Not for apps.
    public final var _isRecording: Bool { recorder != nil }

    /// What `==` asks: whether `object` is this instance or, for a class with a primary key and for a frozen object, the same row of
    /// the same realm.
    open func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ObjectBase else { return false }
        if self === other { return true }
        guard let row, hasStableIdentity else { return false }
        return other.row.map { row.isSame(as: $0) } ?? false
    }

    /// What `hash(into:)` uses: goes with `isEqual`.
    open var hash: Int {
        guard let row, hasStableIdentity else { return ObjectIdentifier(self).hashValue }
        return row.handle.ref.hashValue
    }

    private final var hasStableIdentity: Bool { ModelClass.of(type(of: self)).primaryKey != nil || row?.session.isFrozen == true }
}

/// Where a managed object lives.
struct ManagedRow {
    let session: RealmSession
    let handle: ObjectHandle

    /// Whether the object exists; false too where that can't be found out: on another thread, after the realm was closed.
    var isValid: Bool { (try? handle.isValid) ?? false }

    func isSame(as other: ManagedRow) -> Bool {
        session === other.session && handle.isSame(as: other.handle)
    }
}

extension ObjectHandle {
    /// Whether both are the same object. One that was made in this transaction and one that was found later are, if it still exists: the key of
    /// an object whose transaction was cancelled is given out again.
    func isSame(as other: ObjectHandle) -> Bool {
        guard ref == other.ref else { return false }
        if self == other { return true }
        return ((try? isValid) ?? false) && ((try? other.isValid) ?? false)
    }
}

// MARK: Reading and writing managed properties

extension ObjectBase {
    /// The cell of a column, borrowed until the realm moves or writes; nil when key paths are recorded, and after misuse.
    @inline(__always)
    final func cell(_ column: Int) -> Cell? {
        if let row {
            do throws(EngineError) { return try row.handle.cell(PropertyID(truncatingIfNeeded: column)) } catch { Misuse.report(Realm.Error(error)) }
        } else {
            recorder?.record(self, column)
        }
        return nil
    }

    /// Reads an integer. Not for apps.
    public final func _loadInt(_ column: Int) -> Int64? {
        if case .int64(let number)? = cell(column) { number } else { nil }
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
        do throws(EngineError) { try row.handle.set(PropertyID(truncatingIfNeeded: column), value) } catch { Misuse.report(Realm.Error(error)) }
    }
}

// MARK: Identity

extension ObjectBase: Hashable {
    /// Whether both are the same instance or, for classes with a primary key and for frozen objects, the same row of the same realm.
    public static func == (left: ObjectBase, right: ObjectBase) -> Bool {
        left.isEqual(right)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }
}
