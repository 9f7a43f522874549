package import ToftModel
internal import ToftStorage

extension Results {
    /// Makes one value of a property of all objects, or of the values themselves (nil). Null and NaN do not count. Sums of integers wrap around;
    /// averages, and sums of other numbers, are doubles. One pass over one column; no object is made.
    package func aggregate(_ aggregate: Aggregate, of id: PropertyID?) throws(EngineError) -> Value {
        let property = try aggregated(id)
        guard property.collection == .none || id == nil, aggregate.exists(for: property.type) else {
            throw EngineError(.unsupportedAggregate, "'\(property.className).\(property.name)', \(property.typeName), has no \(aggregate).")
        }
        var aggregation = Aggregation()
        if id == nil {
            try addValues(to: &aggregation)
        } else {
            try forEachRows(of: 0..<(try count)) { cluster, rows throws(StorageError) in
                try aggregation.add(rows, of: cluster, property.column, property.type)
            }
        }
        return aggregation.value(aggregate, of: property.type)
    }

    /// The property of the objects, or the list that the values are from.
    private func aggregated(_ id: PropertyID?) throws(EngineError) -> PropertyHandle {
        guard let id else {
            guard classID == nil else { throw EngineError(.noSuchProperty, "Name the property of the objects that is to be aggregated.") }
            return try listProperty()
        }
        return try session.property(id, of: try objectClass())
    }

    private func addValues(to aggregation: inout Aggregation) throws(EngineError) {
        if case .values(let values) = try current() {
            for value in values { aggregation.add(value) }
        } else {
            for index in 0..<(try count) { aggregation.add(try cell(at: index)) }
        }
    }

    /// How the results are worked out: the plan as text.
    package func explain() throws(EngineError) -> String {
        throw EngineError(.unsupported, "Not built yet.")
    }
}
