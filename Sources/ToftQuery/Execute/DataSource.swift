internal import ToftModel
internal import ToftStorage

/// What a query reads: the tables of classes, and the look-ups that go through trees of their own.
/// One per run; not shared between threads.
class DataSource {
    private var readers: [ClassID: ClassReader] = [:]
    /// How many objects the query is asked of: what that many rows link to is better read at once
    /// than one by one.
    var baseCount = 0

    /// Reads the objects of a class.
    final func reader(_ classID: ClassID) throws(ModelError) -> ClassReader {
        if let reader = readers[classID] { return reader }
        let reader = ClassReader(try table(classID), source: self)
        readers[classID] = reader
        return reader
    }

    /// The table of a class.
    func table(_ classID: ClassID) throws(ModelError) -> Table { throw .noSuchClass("#\(classID)") }

    /// The only objects that can pass all of `filter`, in ascending order, where an index tells;
    /// else nil.
    func candidates(_ filter: [BoundPredicate], _ reader: ClassReader) throws(ModelError)
        -> [Int64]?
    { nil }

    /// The type of a property's value, or of the elements of a list.
    func valueType(of property: PropertyRef) -> ValueType? { nil }

    /// The key of the object with this primary key.
    func find(_ primaryKey: Value, _ classID: ClassID) throws(ModelError) -> Int64? { nil }

    /// Calls `body` with each object that links to `target` through `origin`, and with how many
    /// times, in the order of their keys.
    func forEachBacklink(
        to target: Int64, through origin: PropertyRef,
        _ body: (Int64, Int) throws(ModelError) -> Void
    ) throws(ModelError) {}
}

/// A view of one version.
final class ViewSource: DataSource {
    private let view: ModelView

    init(_ view: ModelView) {
        self.view = view
    }

    override func table(_ classID: ClassID) throws(ModelError) -> Table {
        try view.table(try owner(classID))
    }

    override func candidates(_ filter: [BoundPredicate], _ reader: ClassReader) throws(ModelError)
        -> [Int64]?
    {
        guard let plan = IndexPlan.best(for: filter, handle: handle) else { return nil }
        return try plan.candidates(in: view, atMost: max(64, reader.table.rowCount / 8))
    }

    override func valueType(of property: PropertyRef) -> ValueType? {
        handle(property).flatMap { ValueType($0.type, target: $0.targetClassID) }
    }

    override func find(_ primaryKey: Value, _ classID: ClassID) throws(ModelError) -> Int64? {
        let owner = try owner(classID)
        if primaryKey.isNull, owner.primaryKey?.isOptional != true { return nil }
        return try view.find(primaryKey, owner)
    }

    override func forEachBacklink(
        to target: Int64, through origin: PropertyRef,
        _ body: (Int64, Int) throws(ModelError) -> Void
    ) throws(ModelError) {
        guard let property = handle(origin) else { return }
        try view.forEachBacklink(to: target, through: property) {
            source, links throws(ModelError) in
            try body(source, links)
            return true
        }
    }

    private func owner(_ classID: ClassID) throws(ModelError) -> ClassHandle {
        guard let owner = view.schema.anyClass(id: classID) else {
            throw .noSuchClass("#\(classID)")
        }
        return owner
    }

    /// The property, hidden or not; nil when it is gone.
    private func handle(_ property: PropertyRef) -> PropertyHandle? {
        guard let owner = view.schema.anyClass(id: property.classID) else { return nil }
        return owner.properties.first { $0.id == property.propertyID }
    }
}
