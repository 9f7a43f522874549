internal import ToftModel
internal import ToftQuery
internal import ToftEngine

/// A column of objects, bound to their class: a property, or a path from each object on.
struct ObjectColumn {
    /// One step of a path.
    enum Step {
        case property(PropertyHandle)
        /// The objects that link here through a property.
        case links(PropertyHandle)
        /// All objects that link here.
        case allLinks
        case index(PathIndex)
        case operation(PathOperation)
    }

    var title: String
    var steps: [Step]
    /// Whether it shows the object's own key.
    var isKey = false

    var isNumber: Bool {
        if isKey { return true }
        switch steps.last {
        case .operation(let operation): return operation != .keys && operation != .values
        case .property(let property):
            return !property.isCollection && property.type.isNumber
                && steps.allSatisfy { step in
                    if case .property(let each) = step { !each.isCollection } else { false }
                }
        default: return false
        }
    }

    /// The property, if that is all and its values have a fixed size.
    var plainProperty: PropertyHandle? {
        guard steps.count == 1, case .property(let property) = steps[0], property.isStored,
            property.type != .link, ColumnBuffer.elementSize(of: property) != nil
        else { return nil }
        return property
    }
}

extension PropertyType {
    fileprivate var isNumber: Bool {
        switch self {
        case .int, .float, .double, .decimal128: true
        default: false
        }
    }
}

extension ObjectColumn {
    /// All properties of a class, behind the key of objects that have no primary key.
    static func all(of owner: ClassHandle) -> [ObjectColumn] {
        let key = ObjectColumn(title: owner.keyMember, steps: [], isKey: true)
        let properties = owner.visibleProperties.filter(\.isStored).map {
            ObjectColumn(title: $0.persistedName, steps: [.property($0)])
        }
        return (owner.primaryKey == nil && !owner.isEmbedded ? [key] : []) + properties
    }

    /// Binds a path of a statement. Its errors show the place.
    init(_ path: StatementReader.Path, from owner: ClassHandle, in session: Session)
        throws(EngineError)
    {
        do throws(QueryError) {
            self = try ObjectColumn.bound(path, from: owner, in: session)
        } catch {
            throw EngineError(error)
        }
    }

    private static func bound(
        _ path: StatementReader.Path, from owner: ClassHandle, in session: Session
    ) throws(QueryError) -> ObjectColumn {
        var binder = PathBinder(path: path, schema: session.schema, owner: owner)
        while let element = binder.next() { try binder.take(element) }
        return ObjectColumn(title: path.text, steps: binder.steps, isKey: binder.isKey)
    }
}

/// Binds a path, an element after the other.
private struct PathBinder {
    let path: StatementReader.Path
    let schema: ModelSchema
    /// The class of the objects that the path has led to; nil behind values.
    var owner: ClassHandle?
    var steps: [ObjectColumn.Step] = []
    var isKey = false
    private var position = 0

    init(path: StatementReader.Path, schema: ModelSchema, owner: ClassHandle) {
        self.path = path
        self.schema = schema
        self.owner = owner
    }

    mutating func next() -> PathSyntax.Element? {
        guard position < path.syntax.elements.count else { return nil }
        defer { position += 1 }
        return path.syntax.elements[position]
    }

    mutating func take(_ element: PathSyntax.Element) throws(QueryError) {
        switch element.kind {
        case .name(let name): try takeProperty(name, element)
        case .operation(.links): try takeLinks(element)
        case .operation(.type):
            throw path.place.failure("'@type' can't be shown.", at: element)
        case .operation(let operation):
            guard leadsToMany else {
                throw path.place.failure(
                    "\(operation.rawValue) needs a list, a set, a dictionary or links before it.",
                    at: element)
            }
            if [.count, .size, .keys, .values].contains(operation) { owner = nil }
            steps.append(.operation(operation))
        case .index(let index): try takeIndex(index, element)
        case .argument:
            throw path.place.failure("A column takes no arguments.", at: element)
        }
    }

    private var leadsToMany: Bool {
        switch steps.last {
        case .property(let property): property.isMany
        case .links: true
        default: false
        }
    }

    private mutating func takeProperty(_ name: String, _ element: PathSyntax.Element)
        throws(QueryError)
    {
        guard let owner else {
            throw path.place.failure(
                "'\(name)' can't follow here: what is before it are no objects.", at: element)
        }
        if steps.isEmpty, name == owner.keyMember, owner.primaryKey == nil {
            isKey = true
            self.owner = nil
            return
        }
        do throws(ModelError) {
            let property = try owner.property(named: name)
            steps.append(.property(property))
            self.owner = property.targetClassID.flatMap { schema.anyClass(id: $0) }
        } catch {
            throw path.place.failure(error.message, at: element)
        }
    }

    /// `@links.Person.dogs`, or `@links` alone before `@count`.
    private mutating func takeLinks(_ element: PathSyntax.Element) throws(QueryError) {
        guard owner != nil, let className = next() else {
            throw path.place.failure(
                "@links needs a class and a property: @links.Person.dogs.", at: element)
        }
        if case .operation(.count) = className.kind {
            steps += [.allLinks, .operation(.count)]
            owner = nil
            return
        }
        guard case .name(let name) = className.kind,
            let origin = schema.visibleClasses.first(where: { $0.name.isSameName(as: name) })
        else {
            throw path.place.failure("There is no class of this name.", at: className)
        }
        guard let link = next(), case .name(let property) = link.kind,
            let found = origin.visibleProperties.first(where: { $0.name.isSameName(as: property) }),
            found.type == .link, found.targetClassID == owner?.id
        else {
            throw path.place.failure(
                "@links.\(origin.name) needs a property of '\(origin.name)' that links to "
                    + "'\(owner?.name ?? "")'.", at: className)
        }
        steps.append(.links(found))
        owner = origin
    }

    private mutating func takeIndex(_ index: PathIndex, _ element: PathSyntax.Element)
        throws(QueryError)
    {
        guard case .property(let property)? = steps.last else {
            throw path.place.failure("An index needs a list or a dictionary.", at: element)
        }
        switch (index, property.collection) {
        case (.position, .list), (.first, .list), (.last, .list), (.key, .dictionary):
            steps.append(.index(index))
        default:
            throw path.place.failure(
                "'\(property.name)' is \(property.typeName), which has no such index.", at: element)
        }
    }
}

extension PropertyHandle {
    /// Whether it holds many values or links.
    var isMany: Bool { isCollection || type == .linkingObjects }
}
