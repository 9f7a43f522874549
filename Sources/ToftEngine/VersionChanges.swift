internal import ToftModel
internal import ToftStorage

/// What two versions may differ in, as results ask: a class or a property that is not named here is
/// the same in both.
struct VersionChanges {
    /// Classes of which objects came or went.
    private(set) var classes: Set<ClassID> = []
    /// Classes of which objects went.
    private(set) var deletions: Set<ClassID> = []
    private(set) var properties: Set<PropertyRef> = []

    /// Of more bytes of records the tables are compared: that tells the classes apart, not the
    /// properties, and costs less.
    private static let mostRecordBytes = 64 * 1024

    /// Nil where all may differ: the schema does.
    init?(from old: ModelView, to new: ModelView) {
        guard old.schema === new.schema else { return nil }
        if !addRecords(from: old, to: new) {
            guard (try? addTables(of: old, new)) != nil else { return nil }
        }
    }

    // MARK: Records

    /// Adds what the commits between the versions did. False where their records are gone, long, or
    /// can't be read.
    private mutating func addRecords(from old: ModelView, to new: ModelView) -> Bool {
        let records = try? new.snapshot.records(
            after: old.snapshot.version, atMost: Self.mostRecordBytes)
        guard let records else { return false }
        for record in records {
            var owner: ClassHandle?
            let isWhole = record.forEach { effect in
                if owner?.table != effect.tree {
                    owner = new.schema.classes.first { $0.table == effect.tree }
                }
                if let owner { add(effect, owner) }
            }
            guard isWhole else { return false }
        }
        return true
    }

    private mutating func add(_ effect: Effect, _ owner: ClassHandle) {
        switch effect.kind {
        case .rowInsert, .rowsInserted: classes.insert(owner.id)
        case .rowErase, .rowsErased:
            classes.insert(owner.id)
            deletions.insert(owner.id)
        case .cellSet, .cellTouched, .listInsert, .listSet, .listErase, .listMove, .listSwap,
            .listClear:
            properties.insert(
                PropertyRef(
                    classID: owner.id, property: DictionaryColumns.property(of: effect.column)))
        case .treePut, .treeDelete, .treeCreate, .treeDrop, .columnAdd, .columnRemove: break
        }
    }

    // MARK: Tables

    /// Adds all of each class whose table is another one.
    private mutating func addTables(of old: ModelView, _ new: ModelView) throws(ModelError) {
        for owner in new.schema.classes
        where try !old.table(owner).hasSameRows(as: try new.table(owner)) {
            classes.insert(owner.id)
            deletions.insert(owner.id)
            for property in owner.properties { properties.insert(PropertyRef(property)) }
        }
    }
}
