package import ToftModel

/// One step from an object to another, or to several.
package enum PathStep: Hashable, Sendable {
    /// Over a to-one link.
    case link(PropertyRef, target: ClassID)
    /// Along a dictionary's link under a key: null if the key is missing.
    case entry(PropertyRef, key: [UInt8], target: ClassID)
    /// To every object of a list, a set or a dictionary.
    case list(PropertyRef, target: ClassID)
    /// To one object of a list.
    case element(PropertyRef, ListPosition, target: ClassID)
    /// To every object of class `origin.classID` whose property links here.
    case backlinks(origin: PropertyRef)

    /// The class of the objects that the step leads to.
    var target: ClassID {
        switch self {
        case .link(_, let target), .entry(_, _, let target), .list(_, let target),
            .element(_, _, let target):
            target
        case .backlinks(let origin): origin.classID
        }
    }

    /// True if an object has any number of objects at the other end, rather than exactly one or
    /// null.
    var isCollection: Bool {
        switch self {
        case .link, .entry: false
        case .list, .element, .backlinks: true
        }
    }

    /// The key in a dictionary that the step looks up.
    var key: [UInt8]? { if case .entry(_, let key, _) = self { key } else { nil } }

    /// The property that the step reads.
    package var property: PropertyRef {
        switch self {
        case .link(let property, _), .entry(let property, _, _), .list(let property, _),
            .element(let property, _, _), .backlinks(let property):
            property
        }
    }
}

/// One place in a list.
package enum ListPosition: Hashable, Sendable {
    case index(Int)
    case last
}

/// Something to count or aggregate: many values that belong to one object.
enum BoundCollection: Hashable, Sendable {
    /// A list, a set or a dictionary, of scalars or links.
    case list(PropertyRef)
    case backlinks(origin: PropertyRef)
    /// Everything that links to the object.
    case allBacklinks([PropertyRef])
    /// A step to at most one object.
    case link(PathStep)
}

/// @min, @max, @sum, @avg: operations that make one value of many. Null and NaN do not count.
package enum AggregateOperation: String, Sendable {
    case minimum = "@min"
    case maximum = "@max"
    case sum = "@sum"
    case average = "@avg"

    /// Whether it picks one of the values.
    var isExtreme: Bool { self == .minimum || self == .maximum }

    /// Whether it can be made of the values that objects have of a property.
    func takes(_ property: StoredProperty) -> Bool {
        guard let type = ValueType(property), !property.isCollection else { return false }
        return type.isComputable || (type == .date && isExtreme)
    }
}

/// The aggregated value of each object of a collection: a property at the end of to-one links. A
/// null link gives no value.
struct AggregatedPath: Hashable, Sendable {
    var steps: [PathStep] = []
    var property: PropertyRef

    /// The class of the objects of the collection.
    var classID: ClassID { steps.first?.property.classID ?? property.classID }
}

/// The value at the end of a path.
indirect enum PathLeaf: Hashable, Sendable {
    /// A property that holds one value; for a link its target.
    case property(PropertyRef, ValueType)
    /// The value under a key of a dictionary; null if the key is missing.
    case entry(PropertyRef, key: [UInt8], ValueType)
    /// The object itself.
    case object(ClassID)
    /// Every element of a list or a set of scalars; every value of a dictionary of them.
    case elements(PropertyRef, ValueType)
    /// Every key of a dictionary.
    case keys(PropertyRef)
    /// One element of a list of scalars; missing if the list is shorter.
    case element(PropertyRef, ListPosition, ValueType)
    /// Values within mixed values: any number of them.
    case nested(PropertyRef, NestedBase, [NestedStep])
    /// The name of the type of a mixed value.
    case typeName(PathLeaf)
    /// Number of bytes or elements of a mixed value; null if it has no size.
    case mixedSize(PathLeaf)
    /// The length in bytes of every element of a list of strings or data.
    case lengths(PropertyRef)
    /// Number of elements of a collection.
    case count(BoundCollection)
    /// The length in bytes of a string or data property, or of a value under a dictionary's key;
    /// null of null.
    case size(PropertyRef, key: [UInt8]?)
    /// An aggregate over a collection of scalars, or over a property that the objects of a
    /// collection have, or lead to.
    case aggregate(AggregateOperation, BoundCollection, of: AggregatedPath?, ValueType)
    /// Number of objects at the end of some steps that satisfy a predicate.
    case subquery(BoundSubquery)

    var type: ValueType {
        switch self {
        case .property(_, let type), .entry(_, _, let type), .elements(_, let type),
            .element(_, _, let type), .aggregate(_, _, _, let type):
            type
        case .object(let classID): .link(classID)
        case .keys: .string
        case .nested: .mixed
        case .typeName: .typeName
        case .lengths, .count, .size, .subquery, .mixedSize: .int
        }
    }

    /// True if the counted objects may depend on objects further out.
    var isSubquery: Bool { if case .subquery = self { true } else { false } }

    /// True if one object may have any number of values.
    var isCollection: Bool {
        switch self {
        case .elements, .keys, .element, .lengths, .nested: true
        case .typeName(let leaf), .mixedSize(let leaf): leaf.isCollection
        default: false
        }
    }
}

extension PathLeaf {
    /// The value whose type or size is read.
    var withoutPart: PathLeaf {
        switch self {
        case .typeName(let leaf), .mixedSize(let leaf): leaf
        default: self
        }
    }
}

/// The steps of a subquery and the predicate on the objects at their end. Another one of equal text
/// is not equal.
final class BoundSubquery: Hashable, Sendable {
    let steps: [PathStep]
    let predicate: BoundPredicate

    init(_ steps: [PathStep], _ predicate: BoundPredicate) {
        self.steps = steps
        self.predicate = predicate
    }

    static func == (left: BoundSubquery, right: BoundSubquery) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The values of a property at which a path into mixed values begins.
enum NestedBase: Hashable, Sendable {
    case value
    case elements
    case element(ListPosition)
    case entry([UInt8])
}

/// One step from a mixed value to a value within it. A value without such a part gives nothing.
enum NestedStep: Hashable, Sendable {
    case index(ListPosition)
    /// The value under a key of a dictionary, null if it is missing; the property of that name of
    /// the object that the value links to.
    case key([UInt8])
    /// Every element of a list, every value of a dictionary.
    case every
    case keys
}

/// A path bound to a schema.
struct BoundPath: Sendable {
    /// Number of subqueries from here outwards to the path's start: 0 is the object of the
    /// predicate.
    var scope: Int
    /// The class of the object that the path begins at.
    var classID: ClassID
    var steps: [PathStep]
    var leaf: PathLeaf
    var quantifier: Quantifier?
    /// As it is written.
    var description: String

    var type: ValueType { leaf.type }

    /// True if it gives any number of values rather than exactly one.
    var isMultiple: Bool { leaf.isCollection || steps.contains(where: \.isCollection) }

    /// The steps that lead to several objects, and those that then lead from each to one. A null
    /// link behind a collection ends the path: it gives no element rather than a null one.
    var splitSteps: (collections: [PathStep], rest: [PathStep]) {
        isMultiple ? (steps, []) : ([], steps)
    }

    /// The part of a path that is equal for all paths to the same values.
    struct Identity: Hashable {
        var scope: Int
        var steps: [PathStep]
        var leaf: PathLeaf
    }

    var identity: Identity { Identity(scope: scope, steps: steps, leaf: leaf) }

    /// A property of the object itself that holds one value.
    var directProperty: PropertyRef? {
        guard scope == 0, steps.isEmpty, case .property(let property, _) = leaf else { return nil }
        return property
    }
}

extension BoundCollection {
    /// The step to the objects of the collection, which are of class `target`; nil for a collection
    /// of other values.
    func step(to target: ClassID) -> PathStep? {
        switch self {
        case .list(let property): .list(property, target: target)
        case .backlinks(let origin): .backlinks(origin: origin)
        case .link(let step): step
        case .allBacklinks: nil
        }
    }
}
