internal import ToftModel
internal import ToftStorage

/// What two versions may differ in, or what a transaction has changed, as results ask: a class or a
/// property that is not named here is the same.
struct VersionChanges {
    /// Classes of which objects came or went.
    private(set) var classes: Set<ClassID> = []
    /// Classes of which objects went.
    private(set) var deletions: Set<ClassID> = []
    private(set) var properties: Set<PropertyRef> = []
    /// The class of the last effect.
    private var owner: ClassHandle?

    /// Of more bytes of records the tables are compared: that tells the classes apart, not the
    /// properties, and costs less.
    static let mostRecordBytes = 64 * 1024

    /// Nil where all may differ: the schema does.
    init?(from old: ModelView, to new: ModelView) {
        guard old.schema === new.schema else { return nil }
        if !addRecords(from: old, to: new) {
            guard (try? addTables(of: old, new)) != nil else { return nil }
        }
    }

    /// What a transaction has done after `position`, which is moved to the end of its record. Nil
    /// where it is too large to tell.
    init?(of transaction: ModelTransaction, after position: inout RecordPosition)
        throws(ModelError)
    {
        let schema = transaction.view.schema
        let isTold = try transaction.forEachEffect(after: &position) { add($0, in: schema) }
        guard isTold else { return nil }
    }

    // MARK: Records

    /// Adds what the commits between the versions did. False where their records are gone, long, or
    /// can't be read.
    private mutating func addRecords(from old: ModelView, to new: ModelView) -> Bool {
        let records = try? new.snapshot.records(
            after: old.snapshot.version, atMost: Self.mostRecordBytes)
        guard let records else { return false }
        for record in records {
            guard record.forEach({ add($0, in: new.schema) }) else { return false }
        }
        return true
    }

    private mutating func add(_ effect: Effect, in schema: ModelSchema) {
        if owner?.table != effect.tree {
            owner = schema.classes.first { $0.table == effect.tree }
        }
        guard let owner else { return }
        switch RowChange(effect) {
        case .inserted: classes.insert(owner.id)
        case .erased:
            classes.insert(owner.id)
            deletions.insert(owner.id)
        case .set, .touched, .edited: properties.insert(PropertyRef(effect, of: owner))
        case nil: break
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
