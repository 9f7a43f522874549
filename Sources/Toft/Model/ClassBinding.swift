internal import ToftEngine
internal import ToftModel

/// A Swift class within one realm: the ids that its properties have in the file, which never change.
final class ClassBinding {
    let model: ModelClass
    let classID: ClassID
    /// In the order of the model's properties.
    let propertyIDs: [PropertyID]
    /// Where each property's column number lies in an instance, and the number.
    private let columns: [(offset: Int, column: Int32)]
    /// Properties whose kept value is made anew in an object that becomes managed.
    private let kept: [ModelProperty]

    init(_ model: ModelClass, _ owner: ClassHandle) throws {
        self.model = model
        classID = owner.id
        propertyIDs = try model.properties.map { try owner.property(named: $0.name).id }
        columns = zip(model.properties, propertyIDs).map { ($0.offset, Int32(truncatingIfNeeded: $1)) }
        kept = model.properties.filter { $0.wrapper.isKept }
    }

    /// Makes a new instance a live object.
    func makeObject(_ row: ManagedRow) -> ObjectBase {
        let object = model.type.init()
        manage(object, as: row)
        return object
    }

    /// Makes an unmanaged instance a live object: its properties become accessors of their columns.
    func manage(_ object: ObjectBase, as row: ManagedRow) {
        object.row = row
        for property in kept { property.withAddress(in: object) { property.wrapper.clear(at: $0) } }
        withExtendedLifetime(object) {
            let base = Unmanaged.passUnretained(object).toOpaque()
            // `column` is the first stored property of `Persisted`.
            for (offset, column) in columns { base.storeBytes(of: column, toByteOffset: offset, as: Int32.self) }
        }
    }
}
