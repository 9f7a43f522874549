internal import ToftModel
internal import ToftQuery
internal import ToftEngine

/// Reads paths from objects on. Links at the end are the names of their targets; a path over many
/// objects gives a list.
struct PathReader {
    private let session: Session
    private var json: ObjectToJSON

    init(_ session: Session) {
        self.session = session
        json = ObjectToJSON(session)
    }

    mutating func value(of object: ObjectHandle, _ steps: ArraySlice<ObjectColumn.Step>)
        throws(EngineError) -> JSONValue
    {
        guard let step = steps.first else { return try json.name(of: object.ref) }
        let rest = steps.dropFirst()
        switch step {
        case .property(let property): return try value(of: property, in: object, rest)
        case .links(let property):
            return try values(try object.linkingObjects(through: property), rest)
        case .allLinks:
            var count = 0
            let owner = try session.classHandle(object.ref.classID)
            for property in owner.incoming
            where property.type == .link && !property.isHidden
                && session.schema.anyClass(id: property.classID)?.isHidden == false
            {
                count += try object.linkingObjects(through: property).count
            }
            return .integer(Int64(count))
        case .index, .operation: return .null
        }
    }

    private mutating func value(
        of property: PropertyHandle, in object: ObjectHandle, _ rest: ArraySlice<ObjectColumn.Step>
    ) throws(EngineError) -> JSONValue {
        if property.type == .linkingObjects {
            return try values(try object.linkingObjects(property.id), rest)
        }
        guard let next = rest.first else { return try json.value(of: property, in: object) }
        guard property.isCollection else {
            guard case .link(let ref) = try object.value(property.id),
                let target = try session.object(ref)
            else { return .null }
            return try value(of: target, rest)
        }
        let collection = try object.collection(property.id, property.collection)
        switch next {
        case .index(let index): return try element(index, of: collection, rest.dropFirst())
        case .operation(.keys):
            return .list(try collection.entryKeys().map { .text($0) })
        case .operation(.values): return try json.value(of: property, in: object).values
        case .operation(.count), .operation(.size):
            return .integer(Int64(try collection.count))
        default: return try values(try collection.results(), rest)
        }
    }

    private mutating func element(
        _ index: PathIndex, of collection: CollectionHandle, _ rest: ArraySlice<ObjectColumn.Step>
    ) throws(EngineError) -> JSONValue {
        let place: Int?
        switch index {
        case .position(let position): place = position
        case .first: place = 0
        case .last: place = try collection.count - 1
        case .key(let key):
            place = try collection.entryKeys().firstIndex { $0.isSameName(as: key) }
        default: place = nil
        }
        guard let place, place >= 0, place < (try collection.count) else { return .null }
        return try self.value(try collection.value(at: place), rest)
    }

    private mutating func value(_ value: Value, _ rest: ArraySlice<ObjectColumn.Step>)
        throws(EngineError) -> JSONValue
    {
        guard !rest.isEmpty else { return try json.value(value) }
        guard case .link(let ref) = value, let target = try session.object(ref) else {
            return .null
        }
        return try self.value(of: target, rest)
    }

    /// Values of many objects, or what an operation makes of them.
    private mutating func values(_ results: Results, _ rest: ArraySlice<ObjectColumn.Step>)
        throws(EngineError) -> JSONValue
    {
        if case .operation(let operation)? = rest.first {
            return try aggregate(operation, results, rest.dropFirst())
        }
        var values: [JSONValue] = []
        for index in 0..<(try results.count) {
            values.append(try value(try results.value(at: index), rest))
        }
        return .list(values)
    }

    private func aggregate(
        _ operation: PathOperation, _ results: Results, _ rest: ArraySlice<ObjectColumn.Step>
    ) throws(EngineError) -> JSONValue {
        let aggregate: Aggregate
        switch operation {
        case .minimum: aggregate = .minimum
        case .maximum: aggregate = .maximum
        case .sum: aggregate = .sum
        case .average: aggregate = .average
        default: return .integer(Int64(try results.count))
        }
        var names: [String] = []
        for case .property(let property) in rest { names.append(property.name) }
        let path = names.isEmpty ? "self" : names.joined(separator: ".")
        return try json.value(try results.aggregate(aggregate, of: path))
    }
}

extension JSONValue {
    /// The values of the members of an object.
    fileprivate var values: JSONValue {
        if case .dictionary(let members) = self { .list(members.map(\.value)) } else { self }
    }
}
