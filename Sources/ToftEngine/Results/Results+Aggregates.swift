package import ToftModel
package import ToftQuery
internal import ToftStorage

/// The kinds of aggregates.
package enum Aggregate: Sendable {
    case minimum
    case maximum
    case sum
    case average
}

extension Results {
    /// Makes one value of a property of all objects, or of the values themselves (nil). Null and
    /// NaN do not count. One pass over one column; no object and no list of results is made. Throws
    /// `overflow` for a sum of integers that does not fit into 64 bits.
    package func aggregate(_ aggregate: Aggregate, of property: PropertyID?) throws(EngineError)
        -> Value
    {
        try session.check()
        guard let classID = definition.classID else {
            return try aggregateOfValues(aggregate, property)
        }
        let owner = try session.classHandle(classID)
        guard let property else {
            throw EngineError(
                .noSuchProperty,
                "Say which property of '\(owner.name)' the \(aggregate) is to be of.")
        }
        let handle = try session.property(property, of: owner)
        let view = session.view
        let value = try session.interruption.watching { () throws(EngineError) in
            try model { () throws(ModelError) -> Value? in
                if let root = definition.root, try !view.exists(root) {
                    return aggregate == .sum ? .int(0) : .null
                }
                let query = definition.query ?? BoundQuery(all: classID)
                return try query.aggregate(
                    aggregate.operation, of: handle, in: view,
                    over: try definition.queryBase(in: view))
            }
        }
        guard let value else {
            throw Self.unsupported(
                aggregate, "'\(owner.name).\(handle.name)' is \(handle.typeName)")
        }
        return value
    }

    /// Aggregates the values of a path from each object: a property by its name, or one at the end
    /// of to-one links ("boss.age"), null if a link is, or behind a dictionary's key
    /// ("marks['art']"). The path "self" means the values themselves. Throws as
    /// `groups(by:values:)` does if the path is more than a name.
    package func aggregate(_ aggregate: Aggregate, of path: String) throws(EngineError) -> Value {
        try session.check()
        guard let classID = definition.classID else {
            guard path == "self" else {
                throw EngineError(
                    .noSuchProperty, "Values have no property '\(path)': only 'self'.")
            }
            return try self.aggregate(aggregate, of: nil)
        }
        let isPath = path.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "[") }
        if isPath || session.aliases.contains(path, of: classID) {
            let whole = try groups(by: [], values: [(aggregate, path)])
            return whole.first?.values.first ?? (aggregate == .sum ? .int(0) : .null)
        }
        let owner = try session.classHandle(classID)
        let property = try model { () throws(ModelError) in try owner.property(named: path) }
        return try self.aggregate(aggregate, of: property.id)
    }

    private func aggregateOfValues(_ aggregate: Aggregate, _ property: PropertyID?)
        throws(EngineError) -> Value
    {
        guard property == nil || property == 0 else {
            throw EngineError(
                .noSuchProperty, "These are results of values, which have no properties.")
        }
        let type = try listProperty().type
        var values: [Value] = []
        for index in 0..<(try count) { values.append(try value(at: index)) }
        return try aggregate.value(of: values, type: type)
    }

    fileprivate static func unsupported(_ aggregate: Aggregate, _ what: String) -> EngineError {
        EngineError(
            .unsupportedAggregate,
            "There is no \(aggregate): \(what). Numbers have all four aggregates, dates minimum "
                + "and maximum."
        )
    }

    /// The conditions and orderings of the objects, as the text of one query with the values of its
    /// arguments: "TRUEPREDICATE" without any. The source of the objects is not part of it.
    package func query() throws(EngineError) -> String {
        _ = try objectClass()
        guard let query = definition.query else { return "TRUEPREDICATE" }
        return try model { () throws(ModelError) in try query.text() }
    }

    /// How the results are worked out: the plan of a run for an answer, a line for each step, and
    /// what that run read. Nothing of it is kept.
    package func explain(for answer: QueryAnswer = .keys) throws(EngineError) -> String {
        try session.check()
        let view = session.view
        let text = try model { () throws(ModelError) -> String? in
            guard let classID = definition.classID else { return "read the values of a list" }
            if let root = definition.root, try !view.exists(root) { return nil }
            let query = definition.query ?? BoundQuery(all: classID)
            let base = try definition.queryBase(in: view)
            return try query.explain(
                for: try searched(for: answer, of: base, in: view), in: view, of: base)
        }
        guard let text else { throw Self.invalidated }
        return text
    }

    /// The answer that is searched for: of the first results more than are needed.
    private func searched(for answer: QueryAnswer, of base: QueryBase, in view: ModelView)
        throws(ModelError) -> QueryAnswer
    {
        guard case .firstKeys(let count) = answer else { return answer }
        if definition.query?.hasOrderings == true {
            return Self.pageSizes.first { $0 >= count }.map { .firstKeys($0) } ?? .keys
        }
        return .firstKeys(try definition.wanted(count, after: 0, of: base, in: view))
    }
}

extension Aggregate {
    /// Makes one value of values of one type, in a database or not. Null and NaN do not count, nor
    /// do lists and dictionaries among mixed values. Throws `overflow` for a sum of integers that
    /// does not fit into 64 bits.
    package func value(of values: [Value], type: PropertyType) throws(EngineError) -> Value {
        guard isPossible(of: type) else {
            throw Results.unsupported(self, "these are values of type \(type.name)")
        }
        guard let result = value(of: values.filter(\.counts), type) else {
            throw EngineError(.overflow, "The sum of these values is beyond 64 bits.")
        }
        return result
    }

    var operation: AggregateOperation {
        switch self {
        case .minimum: .minimum
        case .maximum: .maximum
        case .sum: .sum
        case .average: .average
        }
    }

    fileprivate func isPossible(of type: PropertyType) -> Bool {
        switch type {
        case .int, .float, .double, .decimal128, .mixed: true
        case .date: self == .minimum || self == .maximum
        default: false
        }
    }

    fileprivate static func sum(_ values: [Value]) -> Decimal128 {
        values.reduce(.zero) { $0 + $1.decimal }
    }

    fileprivate static func sumOfDoubles(_ values: [Value]) -> ExactSum {
        var sum = ExactSum()
        for value in values { _ = sum.add(value.number) }
        return sum
    }

    fileprivate static func exactSum(_ values: [Value]) -> Int128 {
        values.reduce(0) { $0 + Int128($1.integer) }
    }

    fileprivate static func average(_ values: [Value]) -> Value {
        values.isEmpty ? .null : .decimal(Self.sum(values) / Decimal128(Int64(values.count)))
    }

    /// The aggregate of values of one type, without null or NaN. Nil for a sum of integers that
    /// does not fit into 64 bits.
    fileprivate func value(of values: [Value], _ type: PropertyType) -> Value? {
        switch self {
        case .minimum: values.min { $0.isOrderedBefore($1) } ?? .null
        case .maximum: values.max { $0.isOrderedBefore($1) } ?? .null
        case .sum where type == .int: Int64(exactly: Self.exactSum(values)).map { .int($0) }
        case .sum where type == .decimal128 || type == .mixed: .decimal(Self.sum(values))
        case .sum: .double(Self.sumOfDoubles(values).value)
        case .average where type == .mixed: Self.average(values.filter(\.isNumber))
        case .average where values.isEmpty: .null
        case .average where type == .decimal128: Self.average(values)
        case .average where type == .int:
            .double(ExactSum.average(Self.exactSum(values), of: values.count))
        case .average:
            .double(Self.sumOfDoubles(values).average(of: values.count))
        }
    }
}

extension Value {
    /// Whether an aggregate takes it.
    fileprivate var counts: Bool {
        switch self {
        case .null, .list, .dictionary: false
        case .decimal(let value): !value.isNaN
        default: !number.isNaN
        }
    }

    /// Whether it has a part in the sum of mixed values.
    fileprivate var isNumber: Bool {
        switch self {
        case .int, .float, .double, .decimal: true
        default: false
        }
    }

    fileprivate var decimal: Decimal128 {
        switch numberAsDecimal {
        case .decimal(let value): value
        case .double(let value): Decimal128(value)
        default: .zero
        }
    }

    fileprivate var integer: Int64 { if case .int(let value) = self { value } else { 0 } }

    fileprivate var number: Double {
        switch self {
        case .int(let value): Double(value)
        case .float(let value): Double(value)
        case .double(let value): value
        default: 0
        }
    }
}
