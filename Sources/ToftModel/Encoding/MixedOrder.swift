internal import ToftStorage

/// The order of mixed values, as in Realm: null, booleans, numbers of every type by their value,
/// strings, data, dates, object ids, uuids, links by class and key; behind them lists and
/// dictionaries. Values of two of these kinds are never equal.
extension BorrowedValue {
    /// The rank of its kind in the order; equal for all numbers.
    package var mixedRank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int, .float, .double, .decimal: 2
        case .string: 3
        case .data: 4
        case .date: 5
        case .objectId: 6
        case .uuid: 7
        case .link: 8
        case .list: 9
        case .dictionary: 10
        }
    }

    /// Less than, equal to or greater than 0 as this value comes before another, equals it or comes
    /// after it. NaN equals NaN and comes before all numbers.
    @inline(never)
    package func mixedOrder(_ other: BorrowedValue) -> Int {
        func order<T: Comparable>(_ left: T, _ right: T) -> Int {
            left < right ? -1 : left == right ? 0 : 1
        }
        switch (self, other) {
        case (.int(let left), .int(let right)): return order(left, right)
        case (.bool(let left), .bool(let right)): return order(left ? 1 : 0, right ? 1 : 0)
        case (.string(let left), .string(let right)), (.data(let left), .data(let right)):
            return left.isBefore(right) ? -1 : left.isSame(as: right) ? 0 : 1
        case (.date(let left), .date(let right)): return order(left, right)
        case (.objectId(let left), .objectId(let right)), (.uuid(let left), .uuid(let right)):
            return order(left, right)
        case (.link(let left), .link(let right)):
            return left.classID == right.classID
                ? order(left.key, right.key) : order(left.classID, right.classID)
        default: break
        }
        if let order = collectionOrder(other) { return order }
        let rank = mixedRank
        guard rank == 2, other.mixedRank == 2 else { return rank - other.mixedRank }
        switch (binary, other.binary) {
        case (let left?, let right?):
            if left.isNaN || right.isNaN { return order(right.isNaN ? 1 : 0, left.isNaN ? 1 : 0) }
            return order(left, right)
        case (let left?, nil): return Decimal128.order(of: left, to: other.exact)
        case (nil, let right?): return -Decimal128.order(of: right, to: exact)
        default: return order(exact.orderKey, other.exact.orderKey)
        }
    }

    /// The order of two lists or of two dictionaries, element by element.
    private func collectionOrder(_ other: BorrowedValue) -> Int? {
        switch (self, other) {
        case (.list(let left), .list(let right)):
            for (one, other) in zip(left, right) {
                let order = one.mixedOrder(other)
                if order != 0 { return order }
            }
            return left.count - right.count
        case (.dictionary(let left), .dictionary(let right)):
            for (one, other) in zip(left, right) {
                if !one.key.isSame(as: other.key) { return one.key.isBefore(other.key) ? -1 : 1 }
                let order = one.value.mixedOrder(other.value)
                if order != 0 { return order }
            }
            return left.count - right.count
        default: return nil
        }
    }

    /// A number in binary floating point.
    private var binary: Double? {
        switch self {
        case .float(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// An integer or a decimal.
    private var exact: Decimal128 {
        switch self {
        case .int(let value): Decimal128(value)
        case .decimal(let value): value
        default: .zero
        }
    }
}

extension MixedValue {
    /// The order of mixed values; lists and dictionaries element by element.
    @inline(never)
    package func order(_ other: MixedValue) -> Int {
        switch (self, other) {
        case (.scalar(let left), .scalar(let right)): return left.mixedOrder(right)
        case (.scalar, .collection): return -1
        case (.collection, .scalar): return 1
        case (.collection(let left), .collection(let right)):
            return (try? left.order(right)) ?? 0
        }
    }

    /// The order of cells of mixed properties. Unreadable ones come after all others.
    @inline(never)
    static func order(_ left: Cell, _ right: Cell) -> Int {
        guard let left = try? MixedValue(left) else { return 1 }
        guard let right = try? MixedValue(right) else { return -1 }
        return left.order(right)
    }
}

extension MixedCollection {
    /// Element by element, through all that is in them: no recursion.
    fileprivate func order(_ other: MixedCollection) throws(ModelError) -> Int {
        guard kind == other.kind else { return kind == .list ? -1 : 1 }
        var left = elements, right = other.elements
        var outer: [(MixedElements, MixedElements)] = []
        while true {
            let one = try left.next(), two = try right.next()
            guard let one, let two else {
                if one != nil || two != nil { return one == nil ? -1 : 1 }
                guard let (nextLeft, nextRight) = outer.popLast() else { return 0 }
                (left, right) = (nextLeft, nextRight)
                continue
            }
            if !one.key.isSame(as: two.key) { return one.key.isBefore(two.key) ? -1 : 1 }
            switch (try one.value(), try two.value()) {
            case (.collection(let one), .collection(let two)):
                guard one.kind == two.kind else { return one.kind == .list ? -1 : 1 }
                guard outer.count < Limits.nestedCollections else { throw MixedFormat.damaged }
                outer.append((left, right))
                (left, right) = (one.elements, two.elements)
            case (let one, let two):
                let order = one.order(two)
                if order != 0 { return order }
            }
        }
    }
}

extension Value {
    /// The order of owned values.
    @inline(never)
    package func mixedOrder(_ other: Value) -> Int {
        let lender = ValueLender()
        return withExtendedLifetime(lender) { lender.lend(self).mixedOrder(lender.lend(other)) }
    }

    /// A value that equals those of all other numbers that are the same number.
    package var numberAsDecimal: Value {
        let number: Double
        switch self {
        case .int(let value): return .decimal(Decimal128(value))
        case .float(let value): number = Double(value)
        case .double(let value): number = value
        case .list(let values): return .list(values.map(\.numberAsDecimal))
        default: return self
        }
        let (value, isExact) = Decimal128.converted(number)
        return isExact ? .decimal(value) : .double(number)
    }
}
