internal import ToftModel
internal import ToftStorage

/// Lists of values, sorted, distinct or limited.
extension ResultsDefinition {
    func valueOrder(in view: ModelView) throws(ModelError) -> ResultRows {
        let values = try baseValues(in: view)
        var positions = Array(values.indices)
        for step in valueSteps { step.apply(to: &positions, of: values) }
        if case .collection(let ref) = base, ref.nested == nil { return .positions(positions) }
        return .values(positions.map { values[$0] })
    }

    private func baseValues(in view: ModelView) throws(ModelError) -> [Value] {
        switch base {
        case .values(let values, _): return values
        case .collection(let ref) where ref.nested != nil:
            var values: [Value] = []
            for element in try view.nested(ref)?.elements ?? [] {
                values.append(try element.value().owned())
            }
            return values
        case .collection(let ref):
            return try view.listValues(
                ref.owner.key,
                try view.property(
                    ref.propertyRef))
        case .all, .backlinks, .objects: return []
        }
    }
}

extension ValueStep {
    func apply(to positions: inout [Int], of values: [Value]) {
        switch self {
        case .sort(let isAscending):
            positions = sorted(positions, of: values, isAscending: isAscending)
        case .distinct:
            var seen: Set<Value> = []
            positions.removeAll { !seen.insert(values[$0].numberAsDecimal).inserted }
        case .limit(let limit):
            positions = Array(positions.prefix(limit))
        case .offset(let offset):
            positions = Array(positions.dropFirst(offset))
        }
    }

    /// Stable both ways: equal values stay in the order that they had.
    private func sorted(_ positions: [Int], of values: [Value], isAscending: Bool) -> [Int] {
        let ranked = positions.enumerated().sorted { left, right in
            let (one, other) = (values[left.element], values[right.element])
            if one.isOrderedBefore(other) { return isAscending }
            return other.isOrderedBefore(one) ? !isAscending : left.offset < right.offset
        }
        return ranked.map(\.element)
    }
}

extension Value {
    /// The order of sorting: null, then NaN, then the rest; false before true, text and data by
    /// bytes; between values of two types that of mixed values.
    func isOrderedBefore(_ other: Value) -> Bool {
        switch (self, other) {
        case (_, .null): false
        case (.null, _): true
        case (.bool(let left), .bool(let right)): !left && right
        case (.int(let left), .int(let right)): left < right
        case (.float(let left), .float(let right)): right.isNaN ? false : left.isNaN || left < right
        case (.double(let left), .double(let right)):
            right.isNaN ? false : left.isNaN || left < right
        case (.string(let left), .string(let right)):
            left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.data(let left), .data(let right)): left.lexicographicallyPrecedes(right)
        case (.date(let left), .date(let right)): left < right
        case (.link(let left), .link(let right)): left.key < right.key
        case (.uuid(let left), .uuid(let right)): left < right
        case (.objectId(let left), .objectId(let right)): left < right
        case (.decimal(let left), .decimal(let right)): left < right
        default: mixedOrder(other) < 0
        }
    }
}
