internal import ToftModel
internal import ToftStorage

/// A query's access to one version: the tables of classes, and the lookups that go through trees of
/// their own. One per run; not shared between threads.
final class DataSource {
    let view: ModelView
    private var readers: [ClassID: ClassReader] = [:]
    /// Number of objects that the query selects from: the targets of that many rows are read faster
    /// at once than one by one.
    var baseCount = 0

    init(_ view: ModelView) {
        self.view = view
    }

    /// Reads the objects of a class.
    func reader(_ classID: ClassID) throws(ModelError) -> ClassReader {
        if let reader = readers[classID] { return reader }
        let reader = ClassReader(classID, try view.table(try owner(classID)), source: self)
        readers[classID] = reader
        return reader
    }

    /// The type of a property's value, or of the elements of a list; nil if it does not exist.
    func valueType(of property: PropertyRef) -> ValueType? {
        view.schema.property(property).flatMap { ValueType($0.type, target: $0.targetClassID) }
    }

    /// The key of the object with this primary key.
    func find(_ primaryKey: Value, _ classID: ClassID) throws(ModelError) -> Int64? {
        let owner = try owner(classID)
        if primaryKey.isNull, owner.primaryKey?.isOptional != true { return nil }
        return try view.find(primaryKey, owner)
    }

    /// Calls `body` with each object that links to `target`, of the class `owner`, through
    /// `origin`, and with its number of links, in the order of their keys.
    func forEachBacklink(
        to target: Int64, of owner: ClassID?, through origin: PropertyRef,
        _ body: (Int64, Int) throws(ModelError) -> Void
    ) throws(ModelError) {
        guard let property = view.schema.property(origin) else { return }
        try view.forEachBacklink(to: target, of: owner, through: property) {
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
}
