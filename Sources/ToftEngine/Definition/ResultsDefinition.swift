internal import ToftModel
internal import ToftQuery

/// The definition of results: their source, and the operations on it. It refers to no version and
/// no session, so the notifier follows it too.
final class ResultsDefinition: Sendable {
    /// The source of the elements.
    enum Base: Sendable {
        /// All objects of a class, in the order of their keys.
        case all(ClassID)
        case collection(CollectionRef)
        /// The objects that link to one through a property.
        case backlinks(target: ObjectRef, link: PropertyRef)
        /// A fixed list of objects, whether they still exist or not.
        case objects([Int64])
        /// A fixed list of values, which a list had.
        case values([Value], of: CollectionRef)
    }

    let base: Base
    /// The class of the elements; nil for values.
    let classID: ClassID?
    /// The query on the objects. Nil: all of them, in their order.
    let query: BoundQuery?
    /// The steps applied to values, one after the other.
    let valueSteps: [ValueStep]
    let watched: Dependencies

    init(_ base: Base, classID: ClassID?, query: BoundQuery? = nil, valueSteps: [ValueStep] = []) {
        self.base = base
        self.classID = classID
        self.query = query
        self.valueSteps = valueSteps
        watched = Dependencies(base, query, of: classID)
    }
}

/// The operations on the elements of a list of values.
enum ValueStep: Sendable {
    case sort(isAscending: Bool)
    case distinct
    case limit(Int)
    case offset(Int)
}

extension ResultsDefinition {
    /// This definition with another query behind it.
    func appending(_ query: BoundQuery) -> ResultsDefinition {
        ResultsDefinition(base, classID: classID, query: self.query?.appending(query) ?? query)
    }

    /// This definition with another step for its values.
    func appending(_ step: ValueStep) -> ResultsDefinition {
        ResultsDefinition(base, classID: nil, valueSteps: valueSteps + [step])
    }

    /// Whether the elements are those of the base, in its order.
    var isPlain: Bool { query == nil && valueSteps.isEmpty }

    /// The list that is or was the elements' source.
    var collectionRef: CollectionRef? {
        switch base {
        case .collection(let ref), .values(_, let ref): ref
        case .all, .backlinks, .objects: nil
        }
    }

    /// True if the object that the elements depend on is deleted.
    func isGone(in view: ModelView) throws(ModelError) -> Bool {
        if case .collection(let ref) = base { return try !view.exists(ref) }
        return try root.map { root throws(ModelError) in try !view.exists(root) } ?? false
    }

    /// The object that the elements depend on: without it there are no results.
    var root: ObjectRef? {
        switch base {
        case .collection(let ref): ref.owner
        case .backlinks(let target, _): target
        case .all, .objects, .values: nil
        }
    }
}

extension Dependencies {
    init(_ base: ResultsDefinition.Base, _ query: BoundQuery?, of classID: ClassID?) {
        switch base {
        case .all(let id): add(id)
        case .collection(let ref):
            add(owner: ref.owner.classID)
            add(ref.propertyRef)
        case .backlinks(let target, let link):
            add(owner: target.classID)
            add(link.classID)
            add(link)
        case .objects:
            // A snapshot keeps deleted objects; a query leaves them out.
            if query != nil, let classID { add(classID) }
        case .values: break
        }
        for dependency in query?.dependencies ?? [] {
            for step in dependency.steps { add(readByQuery: step.property) }
            add(readByQuery: dependency.property)
        }
    }

    /// A property that a query reads, and its class.
    private mutating func add(readByQuery ref: PropertyRef) {
        add(ref.classID)
        add(ref)
    }
}
