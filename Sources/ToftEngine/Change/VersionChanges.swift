internal import ToftModel
internal import ToftStorage

/// The possible differences of two versions, or a transaction's changes, for results: a class or a
/// property that is not named here is unchanged.
struct VersionChanges {
    /// Classes with objects that were created or deleted.
    private(set) var classes: Set<ClassID> = []
    /// Classes with objects that were deleted.
    private(set) var deletions: Set<ClassID> = []
    private(set) var properties: Set<PropertyRef> = []
    /// The class of the last effect.
    private var owner: ClassHandle?

    /// Above this size of the records the tables are compared instead: that distinguishes the
    /// classes, not the properties, and costs less.
    static let mostRecordBytes = 64 * 1024

    /// Nil if everything may differ, as the schema does.
    init?(from old: ModelView, to new: ModelView) {
        guard old.schema === new.schema else { return nil }
        if !addRecords(from: old, to: new) {
            guard (try? addTables(of: old, new)) != nil else { return nil }
        }
    }

    /// A transaction's changes after `position`, which is moved to the end of its record. Nil if it
    /// is too large to list them.
    init?(of transaction: ModelTransaction, after position: inout RecordPosition)
        throws(ModelError)
    {
        let schema = transaction.view.schema
        let isTold = try transaction.forEachEffect(after: &position) { add($0, in: schema) }
        guard isTold else { return nil }
    }

    // MARK: Records

    /// Adds the changes of the commits between the versions. False if their records have been
    /// overwritten, are long, or can't be read.
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
