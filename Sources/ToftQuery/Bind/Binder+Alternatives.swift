/// Conditions that compare one path with several values, joined: they are one test, as `IN` is,
/// which costs the same however many values there are, and which an index can answer.
extension Binder {
    /// Any of the parts: `x == 1 OR x == 2`.
    static func disjunction(of parts: [BoundPredicate]) -> BoundPredicate {
        let parts = parts.flatMap { part in if case .or(let inner) = part { inner } else { [part] }
        }
        let joined = joined(parts, isNegated: false)
        return joined.count == 1 ? joined[0] : .or(joined)
    }

    /// All parts; parts that are joined exclude several values: `x != 1 AND x != 2`.
    static func conjunction(of parts: [BoundPredicate]) -> BoundPredicate {
        let joined = conjuncts(of: parts)
        return joined.count == 1 ? joined[0] : .and(joined)
    }

    /// The parts of a conjunction as a list.
    static func conjuncts(of parts: [BoundPredicate]) -> [BoundPredicate] {
        let parts = parts.flatMap { part in
            if case .and(let inner) = part { inner } else { [part] }
        }
        return joined(parts, isNegated: true)
    }

    private static func joined(_ parts: [BoundPredicate], isNegated: Bool) -> [BoundPredicate] {
        var joined: [BoundPredicate] = []
        var tests: [BoundPath.Identity: (place: Int, path: BoundPath, tests: [ColumnPredicate])] =
            [:]
        for part in parts {
            guard let (path, test) = part.equality(isNegated: isNegated) else {
                joined.append(part)
                continue
            }
            if tests[path.identity]?.tests.append(test) == nil {
                tests[path.identity] = (joined.count, path, [test])
                joined.append(part)
            }
        }
        for (place, path, tests) in tests.values where tests.count > 1 {
            let test = BoundPredicate.test(.path(path), ColumnPredicate.anyOf(tests), .any)
            joined[place] = isNegated ? .not(test) : test
        }
        return joined
    }
}

extension BoundPredicate {
    /// The path and the test of a predicate that any value at the end of a path equals one of some
    /// constants, or, negated, that no value does; nil for other predicates.
    fileprivate func equality(isNegated: Bool) -> (BoundPath, ColumnPredicate)? {
        switch self {
        case .not(let inner): return inner.equality(isNegated: !isNegated)
        case .test(.path(let path), let test, let quantifier):
            let equality: ColumnPredicate?
            switch (quantifier, isNegated) {
            case (.any, false), (.none, true): equality = test.isEquality ? test : nil
            case (.all, true): equality = test.excluded
            case (.any, true): equality = path.isMultiple ? nil : test.excluded
            case (.all, false), (.none, false): return nil
            }
            return equality.map { (path, $0) }
        case .constant, .and, .or, .test, .wholeList, .wholeSet, .pair: return nil
        }
    }
}
