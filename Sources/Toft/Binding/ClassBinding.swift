internal import ToftEngine
internal import ToftModel

/// A Swift class within one realm: the ids that its properties have in the file, which never
/// change.
final class ClassBinding {
    let model: ModelClass
    let owner: ClassHandle
    /// The session in which the class was looked up; the realm's own until it is invalidated.
    let engine: Session
    var classID: ClassID { owner.id }
    /// The id of the auto-incremented primary key; -1 without one.
    let countedColumn: Int
    /// In the order of the model's properties.
    let propertyIDs: [PropertyID]
    /// Finds the rows of objects; nil if threads share the realm, as it is frozen.
    let cache: ClusterCache?
    /// The offset in an instance of each property's column number, and the number. It is unmanaged
    /// memory, as it is read for each new instance.
    private let columns: UnsafeMutableBufferPointer<(offset: Int, column: Int32)>
    /// The properties without `@Persisted`, and their columns.
    private let legacy: [(property: ModelProperty, column: Int)]

    /// - Parameter thread: the one that the session is confined to; 0 for a queue or a frozen
    ///   session.
    convenience init(_ model: ModelClass, _ owner: ClassHandle, in engine: Session, thread: UInt)
        throws
    {
        let properties = try model.properties.map { try owner.property(of: $0) }
        self.init(model, owner, properties.map(\.id), in: engine, thread: thread)
        guard !engine.isFrozen else { return }
        for (own, property) in zip(model.properties, properties) where own.name != property.name {
            try engine.setAlias(own.name, of: owner.id, to: property.name)
        }
    }

    private init(
        _ model: ModelClass, _ owner: ClassHandle, _ propertyIDs: [PropertyID], in engine: Session,
        thread: UInt
    ) {
        self.model = model
        self.owner = owner
        self.engine = engine
        self.propertyIDs = propertyIDs
        countedColumn =
            zip(model.properties, propertyIDs).first { $0.0.isAutoIncremented }.map { Int($0.1) }
            ?? -1
        cache =
            engine.isFrozen
            ? nil
            : ClusterCache(
                owner, of: engine, thread: thread, columnEnd: Int(propertyIDs.max() ?? 0) + 1)
        let places = zip(model.properties, propertyIDs)
        let wrapped = places.compactMap { property, id in
            property.columnOffset.map { (offset: $0, column: Int32(truncatingIfNeeded: id)) }
        }
        columns = .allocate(capacity: wrapped.count)
        _ = columns.initialize(from: wrapped)
        legacy = places.filter(\.0.isLegacy).map { ($0, Int($1)) }
    }

    deinit { columns.deallocate() }

    /// The class in a frozen version of the session.
    func frozen(in engine: Session) -> ClassBinding {
        ClassBinding(model, owner, propertyIDs, in: engine, thread: 0)
    }

    /// Turns the properties of an instance into accessors of their columns.
    @inline(__always)
    func makeAccessors(of object: ObjectBase) {
        let base = Unmanaged.passUnretained(object).toOpaque()
        for index in columns.indices {
            base.storeBytes(
                of: columns[index].column, toByteOffset: columns[index].offset, as: Int32.self)
        }
        if !legacy.isEmpty { attachLegacy(of: object) }
    }

    @inline(never)
    private func attachLegacy(of object: ObjectBase) {
        for (property, column) in legacy {
            Misuse.reporting {
                try property.withAddress(in: object) {
                    try property.wrapper.legacy(at: $0)?.attach(to: object, column)
                }
            }
        }
    }
}
