internal import ToftPlatform
package import ToftStorage

/// A schema with every class and property resolved, shared by all views that have the same one.
///
/// Immutable; any thread may use it.
package final class ModelSchema: Sendable {
    /// The schema that the handles were made from.
    package let stored: StoredSchema
    /// Additions for a snapshot, if the file lacks some of the declared schema and can't be
    /// written.
    let unwritten: UnwrittenTrees
    /// The session's declared schema; nil for one that takes the file's.
    package let declared: Schema?
    /// Whether the file has all that is declared: one that can't be written may lack some.
    let isComplete: Bool
    /// All classes in the order of their ids, hidden ones too.
    package let classes: ContiguousArray<ClassHandle>
    /// Ordered trees of all classes and properties together.
    let slotCount: Int
    /// Whether a link may keep an object from being deleted.
    let hasDenials: Bool
    /// Whether objects of a class can be nested too deeply, by the positions of classes: if
    /// embedded classes contain one another in a cycle.
    let mayNestTooDeep: [Bool]

    /// Resolves the file's schema for a session: restricted to its declared schema, if it has one.
    package convenience init(_ stored: StoredSchema, declared: Schema? = nil) {
        self.init(stored, declared: declared, isComplete: true, unwritten: UnwrittenTrees())
    }

    /// The schema of a file that can't be written.
    convenience init(_ seen: UnwrittenSchema, declared: Schema) {
        self.init(
            seen.stored, declared: declared, isComplete: seen.isComplete, unwritten: seen.trees)
    }

    private init(
        _ stored: StoredSchema, declared: Schema?, isComplete: Bool, unwritten: UnwrittenTrees
    ) {
        self.declared = declared
        self.isComplete = isComplete
        self.unwritten = unwritten
        let seen = declared.map { stored.restricted(to: $0) } ?? stored
        var slots = SlotCounter()
        let properties = seen.classes.indices.map { position in
            ContiguousArray(
                seen.classes[position].properties.map {
                    PropertyHandle(
                        $0, of: seen.classes[position], at: position, in: seen, slots: &slots)
                })
        }
        let links = properties.joined().filter { $0.type.canLink }
        let incoming = Self.incoming(links, classCount: seen.classes.count)
        var classes = ContiguousArray<ClassHandle>()
        for (position, stored) in seen.classes.enumerated() {
            classes.append(
                ClassHandle(
                    stored, at: position, properties: properties[position],
                    incoming: incoming[position], slots: &slots))
        }
        self.stored = seen
        self.classes = classes
        slotCount = slots.count
        hasDenials = links.contains { $0.deleteRule == .deny }
        mayNestTooDeep = Self.greatestDepths(of: classes).map { $0 > Limits.nestedEmbeddedObjects }
    }

    /// The links that may lead to each class, by the positions of classes: a mixed one may lead to
    /// any.
    private static func incoming(_ links: [PropertyHandle], classCount: Int)
        -> [ContiguousArray<PropertyHandle>]
    {
        var incoming = [ContiguousArray<PropertyHandle>](repeating: [], count: classCount)
        for link in links {
            if link.type == .mixed {
                for position in incoming.indices { incoming[position].append(link) }
            } else if let position = link.targetPosition {
                incoming[position].append(link)
            }
        }
        return incoming
    }

    /// The length of the longest chain of embedded objects that can end at an object of each class,
    /// itself included; counted up to one beyond the limit.
    private static func greatestDepths(of classes: ContiguousArray<ClassHandle>) -> [Int] {
        var depths = [Int](repeating: 0, count: classes.count)
        for _ in 0...Limits.nestedEmbeddedObjects {
            let before = depths
            for property in classes.lazy.flatMap(\.owning) {
                guard let target = property.targetPosition else { continue }
                depths[target] = max(depths[target], before[property.classPosition] + 1)
            }
            if depths == before { break }
        }
        return depths
    }
}

extension ModelSchema {
    /// Reads the schema of a snapshot; returns `previous` if nothing has changed, after one lookup.
    package static func read(
        _ snapshot: Snapshot, declared: Schema? = nil, previous: ModelSchema? = nil
    ) throws(ModelError) -> ModelSchema {
        if let previous, try SchemaTree.generation(in: snapshot) == previous.stored.generation {
            return previous
        }
        let stored = try SchemaTree.read(snapshot)
        guard let previous, let wanted = previous.declared else {
            return ModelSchema(stored, declared: declared)
        }
        if !previous.isComplete {
            let seen = try UnwrittenSchema(stored, for: wanted, version: stored.version)
            try previous.stored.requireStillThere(in: seen.stored)
            return ModelSchema(seen, declared: wanted)
        }
        try previous.stored.requireStillThere(in: stored)
        return ModelSchema(stored, declared: declared ?? wanted)
    }

    /// The visible class with exactly this name.
    package func classHandle(named name: String) throws(ModelError) -> ClassHandle {
        guard let found = classes.first(where: { !$0.isHidden && $0.name.isSameName(as: name) })
        else {
            let names = visibleClasses.map(\.name)
            throw .noSuchClass(name, hint: NearestName.hint(for: name, among: names))
        }
        return found
    }

    /// The visible class with this id.
    package func classHandle(id: ClassID) throws(ModelError) -> ClassHandle {
        guard let found = anyClass(id: id), !found.isHidden else { throw .noSuchClass("#\(id)") }
        return found
    }

    /// The class with this id, hidden or not.
    package func anyClass(id: ClassID) -> ClassHandle? {
        let position = Int(id) - 1
        if position >= 0, position < classes.count {
            let guess = classes[position]
            if guess.id == id { return guess }
        }
        return classes.first { $0.id == id }
    }

    /// A class without a reference count. Valid as long as the schema.
    @inline(__always)
    func uncountedClass(id: ClassID) -> Unmanaged<ClassHandle>? {
        let position = Int(id) - 1
        if position >= 0, position < classes.count {
            let guess = Unmanaged.passUnretained(classes[position])
            if guess.borrow({ $0.id }) == id { return guess }
        }
        return anyClass(id: id).map { .passUnretained($0) }
    }

    /// The classes that are not hidden.
    package var visibleClasses: [ClassHandle] {
        classes.filter { !$0.isHidden }
    }

    /// For an inverse link, the link that it follows.
    package func origin(of property: PropertyHandle) throws(ModelError) -> PropertyHandle {
        guard property.type == .linkingObjects, let position = property.targetPosition,
            let id = property.originPropertyID,
            let origin = classes[position].anyProperty(id: id)
        else {
            throw .typeMismatch(
                className: property.className, property: property.name, expected: property.typeName,
                found: "inverse link")
        }
        return origin
    }
}
