internal import ToftEngine
internal import ToftModel

/// A Swift class within one realm: the ids that its properties have in the file, which never change.
final class ClassBinding {
    let model: ModelClass
    let owner: ClassHandle
    var classID: ClassID { owner.id }
    /// In the order of the model's properties.
    let propertyIDs: [PropertyID]
    /// Where each property's column number lies in an instance, and the number.
    private let columns: [(offset: Int, column: Int32)]
    /// Properties with values to forget in a new instance, and in one that an app has filled.
    private let clearedInAccessors: [ModelProperty]
    private let clearedWhenAdded: [ModelProperty]

    init(_ model: ModelClass, _ owner: ClassHandle) throws {
        self.model = model
        self.owner = owner
        propertyIDs = try model.properties.map { try owner.property(named: $0.name).id }
        columns = zip(model.properties, propertyIDs).map { ($0.offset, Int32(truncatingIfNeeded: $1)) }
        clearedInAccessors = model.properties.filter(\.isClearedInAccessors)
        clearedWhenAdded = model.properties.filter { $0.wrapper.holdsMemory }
    }

    /// Makes a new instance a live object.
    func makeObject(_ row: ManagedRow, seen: (window: ClusterWindow, row: Int)?) -> ObjectBase {
        let object = model.type.init()
        manage(object, as: row, seen: seen, forgetting: clearedInAccessors)
        return object
    }

    /// Makes an unmanaged instance a live object.
    func adopt(_ object: ObjectBase, as row: ManagedRow) {
        manage(object, as: row, seen: nil, forgetting: clearedWhenAdded)
    }

    /// Turns properties into accessors of their columns.
    private func manage(
        _ object: ObjectBase, as row: ManagedRow, seen: (window: ClusterWindow, row: Int)?, forgetting values: [ModelProperty]
    ) {
        object.manage(row, seen: seen)
        for property in values { property.withAddress(in: object) { property.wrapper.clear(at: $0) } }
        withExtendedLifetime(object) {
            let base = Unmanaged.passUnretained(object).toOpaque()
            // `column` is the first stored property of `Persisted`.
            for (offset, column) in columns { base.storeBytes(of: column, toByteOffset: offset, as: Int32.self) }
        }
    }
}
