internal import ToftModel
internal import ToftStorage

/// A look-up in an index or among primary keys that gives every object that can pass a filter, and
/// perhaps some that do not.
///
/// Which one is taken: a primary key before an indexed value, one value before several, several
/// before a range.
struct IndexPlan {
    enum LookUp {
        case equal([ColumnPredicate])
        case integers(Int64, Int64)
        case dates(Timestamp, Timestamp)
        case fixed(FixedBytes, FixedBytes)
        case prefix([UInt8])
        /// Mixed values less or greater than one of their kind.
        case mixed(MixedTest)
    }

    let property: PropertyHandle
    let lookUp: LookUp

    /// The best plan for predicates all of which must hold; nil where no index serves.
    static func best(for filter: [BoundPredicate], handle: (PropertyRef) -> PropertyHandle?)
        -> IndexPlan?
    {
        plans(for: filter, handle: handle).min { $0.rank < $1.rank }
    }

    /// The plan for a predicate that one look-up of one value decides; nil for any other.
    static func deciding(_ predicate: BoundPredicate, in schema: ModelSchema) -> IndexPlan? {
        guard case .test(.path(let path), let test, let quantifier) = predicate,
            quantifier != .none, let reference = path.directProperty, isEquality(test),
            let property = schema.property(reference), property.isPrimaryKey || property.isIndexed
        else { return nil }
        let plan = IndexPlan(property: property, lookUp: .equal([test]))
        return plan.isExact ? plan : nil
    }

    private static func plans(
        for filter: [BoundPredicate], handle: (PropertyRef) -> PropertyHandle?
    ) -> [IndexPlan] {
        filter.flatMap { predicate -> [IndexPlan] in
            switch predicate {
            case .and(let parts): return plans(for: parts, handle: handle)
            case .test(.path(let path), let test, let quantifier) where quantifier != .none:
                guard let reference = path.directProperty, let property = handle(reference),
                    property.isPrimaryKey || property.isIndexed
                else { return [] }
                return lookUp(test, property).map { [IndexPlan(property: property, lookUp: $0)] }
                    ?? []
            default: return []
            }
        }
    }

    private static func lookUp(_ test: ColumnPredicate, _ property: PropertyHandle) -> LookUp? {
        if isEquality(test) { return .equal([test]) }
        switch test {
        case .any(let parts): return parts.allSatisfy(isEquality) ? .equal(parts) : nil
        case .ints(let values, isInverted: false):
            return .equal(values.map { .int($0, $0, isInverted: false) })
        case .int(let low, let high, isInverted: false):
            return property.isIndexed ? .integers(low, high) : nil
        case .date(let low, let high, isInverted: false):
            return property.isIndexed ? .dates(low, high) : nil
        case .fixed(let low, let high, isInverted: false):
            return property.isIndexed ? .fixed(low, high) : nil
        case .mixed(let test) where test.isRange && property.isIndexed: return .mixed(test)
        case .text(let text)
        where text.operation == .beginsWith && text.options.isEmpty && !text.needle.isEmpty:
            return property.isIndexed ? .prefix(text.needle) : nil
        default: return nil
        }
    }

    static func isEquality(_ test: ColumnPredicate) -> Bool {
        switch test {
        case .int(let low, let high, isInverted: false): low == high
        case .date(let low, let high, isInverted: false): low == high
        case .fixed(let low, let high, isInverted: false): low == high
        case .text(let text): text.operation == .equal && text.options.isEmpty
        case .mixed(let test): test.isEquality
        case .null(passes: true): true
        default: false
        }
    }

    private var rank: Int {
        switch lookUp {
        case .equal(let tests): (property.isPrimaryKey ? 0 : 1) + (tests.count > 1 ? 2 : 0)
        case .integers, .dates, .fixed, .prefix, .mixed: 4
        }
    }

    /// Whether what it finds is what passes: not so where the index has only the first bytes of a
    /// string.
    var isExact: Bool {
        guard case .equal(let tests) = lookUp, property.type != .mixed else { return false }
        return tests.allSatisfy { test in
            switch test {
            case .int, .date, .fixed, .null: true
            case .text(let text):
                property.isPrimaryKey || ModelView.isExactInIndex(size: text.needle.count)
            default: false
            }
        }
    }

    /// How it is shown.
    var description: String {
        let index = property.isPrimaryKey ? "primary key" : "index"
        return switch lookUp {
        case .equal(let tests):
            "\(index) \(property.className).\(property.name), "
                + "\(tests.count == 1 ? "one value" : "\(tests.count) values")"
        case .integers, .dates, .fixed, .mixed:
            "\(index) \(property.className).\(property.name), a range"
        case .prefix: "\(index) \(property.className).\(property.name), a prefix"
        }
    }

    // MARK: Running

    /// The objects found, ascending, each once; nil when they are more than `limit`, so that
    /// reading all in order is cheaper.
    func candidates(in view: ModelView, atMost limit: Int) throws(ModelError) -> [Int64]? {
        var found: [Int64] = []
        switch lookUp {
        case .equal(let tests):
            for test in tests {
                guard try collectEqual(test, view, limit, &found) else { return nil }
            }
        case .integers(let low, let high):
            guard
                try collect(
                    from: .including(.int64(low)), to: .including(.int64(high)), view, limit, &found
                )
            else { return nil }
        case .dates(let low, let high):
            let least = property.isOptional ? IndexBound.excluding(.null) : .unbounded
            let lower = low == .minimum ? least : .including(.timestamp(low))
            let upper = high == .maximum ? IndexBound.unbounded : .including(.timestamp(high))
            guard try collect(from: lower, to: upper, view, limit, &found) else { return nil }
        case .fixed(let low, let high):
            guard
                try collect(
                    from: .including(.fixed(low)), to: .including(.fixed(high)), view, limit, &found
                )
            else { return nil }
        case .prefix(let prefix):
            guard try collectPrefixed(prefix, view, limit, &found) else { return nil }
        case .mixed(let test):
            guard try collect(test, view, limit, &found) else { return nil }
        }
        if found.count < 2 { return found }
        found.sort()
        return found.reduce(into: []) { unique, key in if unique.last != key { unique.append(key) }
        }
    }

    private func collectEqual(
        _ test: ColumnPredicate, _ view: ModelView, _ limit: Int, _ found: inout [Int64]
    ) throws(ModelError) -> Bool {
        switch test {
        case .int(let value, _, _):
            return try collect(.int64(value), .int(value), view, limit, &found)
        case .date(let value, _, _):
            return try collect(.timestamp(value), .date(value), view, limit, &found)
        case .fixed(let value, _, _):
            let key: BorrowedValue = property.type == .uuid ? .uuid(value) : .objectId(value)
            return try collect(.fixed(value), key, view, limit, &found)
        case .null:
            return property.isOptional ? try collect(.null, .null, view, limit, &found) : true
        case .text(let text):
            let collected: Result<Bool, ModelError> = text.needle.withUnsafeBytes { bytes in
                do throws(ModelError) {
                    return .success(try collect(.bytes(bytes), .string(bytes), view, limit, &found))
                } catch {
                    return .failure(error)
                }
            }
            return try collected.get()
        case .mixed(let test): return try collect(test, view, limit, &found)
        default: return false
        }
    }

    /// The objects whose mixed value may pass. A number written in text may be a double and a
    /// decimal that are not the same.
    private func collect(
        _ test: MixedTest, _ view: ModelView, _ limit: Int, _ found: inout [Int64]
    ) throws(ModelError) -> Bool {
        let lender = ValueLender(), constant = lender.lend(test.value),
            decimal = test.decimal.map { BorrowedValue.decimal($0) } ?? constant
        let isAscending = constant.mixedOrder(decimal) <= 0
        var keys = found
        try view.forEachIndexed(
            property, rank: constant.mixedRank,
            from: test.isBoundBelow ? (isAscending ? constant : decimal) : nil,
            to: test.isBoundAbove ? (isAscending ? decimal : constant) : nil
        ) { object throws(ModelError) in
            keys.append(object)
            return keys.count <= limit
        }
        withExtendedLifetime(lender) {}
        found = keys
        return found.count <= limit
    }

    /// The objects with one value.
    private func collect(
        _ cell: Cell, _ key: BorrowedValue, _ view: ModelView, _ limit: Int, _ found: inout [Int64]
    ) throws(ModelError) -> Bool {
        if property.isPrimaryKey {
            guard let owner = view.schema.anyClass(id: property.classID) else { return false }
            if let object = try view.find(key, owner) { found.append(object) }
            return true
        }
        var keys = found
        try view.forEachIndexed(property, equalTo: cell) { object throws(ModelError) in
            keys.append(object)
            return keys.count <= limit
        }
        found = keys
        return found.count <= limit
    }

    private func collect(
        from lower: IndexBound, to upper: IndexBound, _ view: ModelView, _ limit: Int,
        _ found: inout [Int64]
    ) throws(ModelError) -> Bool {
        var keys: [Int64] = []
        try view.forEachIndexed(property, from: lower, to: upper) { object throws(ModelError) in
            keys.append(object)
            return keys.count <= limit
        }
        found += keys
        return keys.count <= limit
    }

    /// Strings that begin with `prefix` lie between it and the next string that does not.
    private func collectPrefixed(
        _ prefix: [UInt8], _ view: ModelView, _ limit: Int, _ found: inout [Int64]
    ) throws(ModelError) -> Bool {
        var next = prefix
        while let last = next.last, last == 0xFF { next.removeLast() }
        if let last = next.popLast() { next.append(last + 1) }
        var keys = found
        let collected: Result<Bool, ModelError> = prefix.withUnsafeBytes { low in
            next.withUnsafeBytes { high in
                do throws(ModelError) {
                    let upper: IndexBound = high.isEmpty ? .unbounded : .excluding(.bytes(high))
                    return .success(
                        try collect(from: .including(.bytes(low)), to: upper, view, limit, &keys))
                } catch {
                    return .failure(error)
                }
            }
        }
        found = keys
        return try collected.get()
    }
}
