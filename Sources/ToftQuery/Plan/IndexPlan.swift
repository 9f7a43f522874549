internal import ToftModel
internal import ToftStorage

/// A look-up in an index or among primary keys that gives every object that can pass a filter, and
/// perhaps some that do not.
///
/// The choice of an access: a primary key before an indexed value, one value before several,
/// several before a range.
struct IndexPlan {
    enum LookUp {
        /// A number of values, one by one.
        case equal(ColumnPredicate, Int)
        case integers(Int64, Int64)
        case dates(Timestamp, Timestamp)
        case fixed(FixedBytes, FixedBytes)
        case prefix([UInt8])
        /// Mixed values less or greater than one of their kind.
        case mixed(MixedTest)
    }

    let property: PropertyHandle
    let lookUp: LookUp

    /// The cheapest access for a conjunction; nil if no index applies.
    static func best(for filter: [BoundPredicate], handle: (PropertyRef) -> PropertyHandle?)
        -> IndexPlan?
    {
        plans(for: filter, handle: handle).min { $0.rank < $1.rank }
    }

    /// The plan for a predicate that one look-up of one value decides; nil for any other.
    static func deciding(_ predicate: BoundPredicate, in schema: ModelSchema) -> IndexPlan? {
        guard case .test(.path(let path), let test, let quantifier) = predicate,
            quantifier != .none, let reference = path.directProperty, test.lookUpCount == 1,
            let property = schema.property(reference), property.isPrimaryKey || property.isIndexed
        else { return nil }
        let plan = IndexPlan(property: property, lookUp: .equal(test, 1))
        return plan.isExact ? plan : nil
    }

    /// The property whose lookup decides a comparison of a path with any value by `==`, as far as
    /// an index has the value as a whole; nil if it is no property of the objects themselves.
    static func decided(_ expression: BoundExpression, _ comparison: ComparisonSyntax)
        -> PropertyID?
    {
        guard comparison.comparator == .equal, comparison.options.isEmpty,
            case .path(let path) = expression
        else { return nil }
        return path.directProperty?.propertyID
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
        if let count = test.lookUpCount { return .equal(test, count) }
        switch test {
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

    private var rank: Int {
        switch lookUp {
        case .equal(_, let count): (property.isPrimaryKey ? 0 : 1) + (count > 1 ? 2 : 0)
        case .integers, .dates, .fixed, .prefix, .mixed: 4
        }
    }

    /// True if it finds exactly the passing objects: not so if the index has only the first bytes
    /// of a string.
    var isExact: Bool {
        guard case .equal(let test, _) = lookUp, property.type != .mixed else { return false }
        return property.isPrimaryKey || ModelView.isExactInIndex(size: test.longestText)
    }

    /// The access in the text of a plan.
    var description: String {
        let index = property.isPrimaryKey ? "primary key" : "index"
        return switch lookUp {
        case .equal(_, let count):
            "\(index) \(property.className).\(property.name), "
                + "\(count == 1 ? "one value" : "\(count) values")"
        case .integers, .dates, .fixed, .mixed:
            "\(index) \(property.className).\(property.name), a range"
        case .prefix: "\(index) \(property.className).\(property.name), a prefix"
        }
    }

    // MARK: Running

    /// The costs of a lookup and of an object found by it, in rows of a scan.
    private static let (lookUpCost, candidateCost) = (16, 8)

    /// Most objects that may be found in a class with `rowCount` rows; nil if the lookups alone
    /// take longer than a scan.
    private func mostCandidates(of rowCount: Int) -> Int? {
        var cost = max(rowCount, 64 * Self.candidateCost)
        if case .equal(_, let count) = lookUp { cost -= (count - 1) * Self.lookUpCost }
        return cost < 0 ? nil : cost / Self.candidateCost
    }

    /// The objects found, ascending, each once; nil if reading a whole class of `rowCount` rows in
    /// order takes less time.
    func candidates(in view: ModelView, of rowCount: Int) throws(ModelError) -> [Int64]? {
        guard let limit = mostCandidates(of: rowCount) else { return nil }
        var found: [Int64] = []
        switch lookUp {
        case .equal(let test, _):
            guard try collectEqual(test, view, limit, &found) else { return nil }
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
        case .members(let members):
            return try collectEach(of: members.tests, view, limit, &found)
        case .any(let parts): return try collectEach(of: parts, view, limit, &found)
        default: return false
        }
    }

    private func collectEach(
        of tests: [ColumnPredicate], _ view: ModelView, _ limit: Int, _ found: inout [Int64]
    ) throws(ModelError) -> Bool {
        for test in tests {
            guard try collectEqual(test, view, limit, &found) else { return false }
        }
        return true
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

    /// Strings that begin with `prefix` are between it and the next string that does not.
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

extension ColumnPredicate {
    /// Number of values to look up in an index to find the passing objects; nil if that does not
    /// find them.
    fileprivate var lookUpCount: Int? {
        switch self {
        case .int, .date, .fixed: isEquality ? 1 : nil
        case .null(let passes): passes ? 1 : nil
        case .text(let text): text.operation == .equal && text.options.isEmpty ? 1 : nil
        case .mixed(let test): test.isEquality ? 1 : nil
        case .members(let members): members.areIndexed ? members.count : nil
        case .any(let parts):
            parts.reduce(0 as Int?) { sum, part in
                part.lookUpCount.flatMap { count in sum.map { $0 + count } }
            }
        case .constant, .bool, .double, .decimal, .link, .all, .not: nil
        }
    }

    /// Bytes of the longest search text; 0 without any.
    fileprivate var longestText: Int {
        switch self {
        case .text(let text): text.needle.count
        case .members(.texts(let texts)): texts.longest
        case .any(let parts): parts.reduce(0) { max($0, $1.longestText) }
        default: 0
        }
    }
}

extension Members {
    /// Whether an index finds them.
    fileprivate var areIndexed: Bool {
        switch self {
        case .integers, .dates, .fixed: true
        case .texts(let texts): texts.options.isEmpty
        case .mixed(let values): values.areIndexed
        case .doubles, .decimals, .links: false
        }
    }
}
