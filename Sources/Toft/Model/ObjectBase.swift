internal import Foundation
internal import ToftEngine
internal import ToftModel
internal import ToftStorage

/// What every kind of persisted object derives from. Apps derive from `Object`.
open class ObjectBase {
    /// The row in the database; nil while unmanaged.
    @exclusivity(unchecked) final var row: ManagedRow?
    /// Where the row lies, as it was when it was last looked for.
    @exclusivity(unchecked) private final var view = RowView()
    /// Set in the instances that find out what a key path names.
    @exclusivity(unchecked) final var recorder: KeyPathRecorder?

    /// Makes an unmanaged object, each property with its default. Toft calls it for every object that it hands out, so a subclass's
    /// own initializers are convenience initializers, as in Realm.
    public required init() {}

    /// Whether collections that were made for the object are kept in it: not while key paths are found out, nor where threads may share the object, as
    /// it is frozen. Not for apps.
    public final var _keepsCollections: Bool { recorder == nil && row?.session.isFrozen != true }

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

    private final var hasStableIdentity: Bool { isFrozen || ModelClass.of(type(of: self)).primaryKey != nil }

    /// Whether the object shows one version for ever, on any thread.
    public final var isFrozen: Bool { row?.session.isFrozen ?? false }
}

/// Where a managed object lives.
struct ManagedRow {
    let session: RealmSession
    let handle: ObjectHandle

    /// Whether the object exists; false too where that can't be found out: on another thread, after the realm was closed.
    var isValid: Bool { (try? handle.isValid) ?? false }

    func isSame(as other: ManagedRow) -> Bool {
        session === other.session && handle == other.handle
    }
}

// MARK: Reading and writing managed properties

extension ObjectBase {
    /// The word of a column of numbers or links: at the cost of some loads while the realm stands still. Nil when null, when key paths are recorded,
    /// and after misuse.
    @inline(__always)
    private final func word(_ column: Int) -> Int64? {
        if let place = view.place(column) { return place.word }
        return findWord(column)
    }

    @inline(never)
    private final func findWord(_ column: Int) -> Int64? {
        read(column) { window, row, id throws(EngineError) in try window.word(row, id) }
    }

    /// Reads a property through the window on the object's cluster; a new one is opened where the last one no longer holds.
    private final func read<Result>(
        _ column: Int, _ body: (ClusterWindow, Int, PropertyID) throws(EngineError) -> Result?
    ) -> Result? {
        do throws(EngineError) {
            if !view.holds {
                if isFrozen { return try readFrozen(column, body) }
                try openWindow(column)
            }
            guard let window = view.window else { return nil }
            return try body(window, view.row, PropertyID(truncatingIfNeeded: column))
        } catch {
            Misuse.report(Realm.Error(error))
            return nil
        }
    }

    /// Reads through a window of its own: threads may share the object, so nothing may be left behind in it.
    private final func readFrozen<Result>(
        _ column: Int, _ body: (ClusterWindow, Int, PropertyID) throws(EngineError) -> Result?
    ) throws(EngineError) -> Result? {
        guard let row else { return nil }
        let opened = try row.handle.session.window(on: row.handle)
        return try body(opened.window, opened.row, PropertyID(truncatingIfNeeded: column))
    }

    /// Looks for the row. Throws unless the object may be read here and now; leaves no window where there is nothing to read.
    private final func openWindow(_ column: Int) throws(EngineError) {
        view.close()
        guard let row else {
            recorder?.record(self, column)
            return
        }
        try row.session.verify()
        let opened = try row.handle.session.window(on: row.handle)
        view.open(opened.window, opened.row, row.handle.session)
    }

    /// Begins as the accessor of a row that has just been seen.
    final func manage(_ row: ManagedRow, seen: (window: ClusterWindow, row: Int)?) {
        self.row = row
        if let seen { view.open(seen.window, seen.row, row.handle.session) }
    }

    /// The cell of a column, borrowed until the realm moves or writes.
    final func cell(_ column: Int) -> Cell? {
        read(column) { window, row, id throws(EngineError) in try window.cell(row, id) }
    }

    /// Reads text or data, borrowed until the realm moves or writes.
    final func bytes(_ column: Int) -> UnsafeRawBufferPointer? {
        read(column) { window, row, id throws(EngineError) in try window.bytes(row, id) }
    }

    /// Reads a number.
    final func double(_ column: Int) -> Double? {
        word(column).map { Double(bitPattern: UInt64(bitPattern: $0)) }
    }

    /// Reads an integer. Not for apps.
    public final func _loadInt(_ column: Int) -> Int64? { word(column) }

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
            try row.session.verify()
            try row.handle.set(PropertyID(truncatingIfNeeded: column), value)
        } catch {
            Misuse.report(Realm.Error(error))
        }
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
