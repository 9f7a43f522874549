internal import ToftModel

extension Binder {
    mutating func bind(_ comparison: ComparisonSyntax) throws(QueryError) -> BoundPredicate {
        let isPair = comparison.left.isComputed && comparison.right.isComputed
        try count(isPair ? 1 + QuerySize.pairParts : 1, at: comparison.offset)
        let left = try operand(comparison.left)
        let right = try operand(comparison.right)
        let context = Comparing(
            comparator: Self.comparator(comparison.comparator, left), options: comparison.options,
            offset: comparison.offset)
        if context.comparator == .between { return try between(left, right, context) }
        if comparison.comparator == .in { try requireCollection(right, context) }
        switch (left, right) {
        case (.expression(let left), .constant(let right)): return try test(left, right, context)
        case (.constant(let left), .expression(let right)):
            return try reversedTest(left, right, context)
        case (.expression(let left), .list(let quantifier, let constants)):
            return try listTest(left, quantifier, constants, context)
        case (.list(let quantifier, let constants), .expression(let right)):
            return try reversedListTest(quantifier, constants, right, context)
        case (.expression(let left), .expression(let right)): return try pair(left, right, context)
        default:
            throw failure(
                .typeMismatch, "Two constants are compared.",
                hint: "At least one side must name a property.", at: comparison.offset)
        }
    }

    /// A collection of other values than texts contains an element: `ints CONTAINS 5`.
    private static func comparator(_ comparator: Comparator, _ left: Operand) -> Comparator {
        guard comparator == .contains, case .expression(let expression) = left,
            let type = expression.multiplePath?.type, !type.isText, type != .mixed
        else { return comparator }
        return .in
    }

    /// The properties of a comparison besides its sides.
    struct Comparing {
        var comparator: Comparator
        var options: StringOptions
        /// The operator's offset.
        var offset: Int

        func with(_ comparator: Comparator) -> Comparing {
            Comparing(comparator: comparator, options: options, offset: offset)
        }

        /// The operator that says the same with the sides exchanged; nil for BEGINSWITH and its
        /// kin.
        var reversed: Comparator? {
            switch comparator {
            case .equal, .notEqual: comparator
            case .in: .equal
            case .less: .greater
            case .lessOrEqual: .greaterOrEqual
            case .greater: .less
            case .greaterOrEqual: .lessOrEqual
            default: nil
            }
        }
    }

    private func requireCollection(_ operand: Operand, _ context: Comparing) throws(QueryError) {
        switch operand {
        case .list: return
        case .expression(let expression) where expression.multiplePath?.leaf.isKeys == true:
            throw failure(
                .invalidQuery, "IN looks into values, not into the keys of a dictionary.",
                hint: "Write \(expression.description) == 'key'.", at: context.offset)
        case .expression(let expression) where expression.multiplePath != nil: return
        default:
            throw failure(
                .invalidArgument, "IN needs a list or a collection on its right.",
                hint: "Write age IN {1, 2} or 5 IN ints.", at: context.offset)
        }
    }

    // MARK: Against one constant

    private mutating func test(
        _ expression: BoundExpression, _ given: GivenConstant, _ context: Comparing
    )
        throws(QueryError) -> BoundPredicate
    {
        .test(
            expression, try constantTest(expression, given, context), expression.quantifier ?? .any)
    }

    /// The test for a comparison of a bound value with an argument; nil for BETWEEN and IN, for
    /// lists and for comparisons that need several tests.
    mutating func test(_ left: BoundExpression, _ comparison: ComparisonSyntax) throws(QueryError)
        -> ColumnPredicate?
    {
        switch comparison.comparator {
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: break
        default: return nil
        }
        guard case .constant(let given) = try operand(comparison.right) else { return nil }
        return try constantTest(
            left, given,
            Comparing(
                comparator: comparison.comparator, options: comparison.options,
                offset: comparison.offset))
    }

    private mutating func reversedTest(
        _ given: GivenConstant, _ expression: BoundExpression, _ context: Comparing
    ) throws(QueryError) -> BoundPredicate {
        if let reversed = context.reversed {
            return try test(expression, given, context.with(reversed))
        }
        if context.comparator == .matches { throw patternNeeded(context) }
        let constant = try converted(given, for: expression, context)
        return .pair(
            .constant(constant), context.comparator, context.options, expression, .any,
            expression.quantifier ?? .any)
    }

    private mutating func constantTest(
        _ expression: BoundExpression, _ given: GivenConstant, _ context: Comparing
    ) throws(QueryError) -> ColumnPredicate {
        var given = given
        if takesNumbersAsBools, expression.type == .bool, case .int(let number) = given.constant,
            number == 0 || number == 1
        {
            given.constant = .bool(number == 1)
        }
        // Values of a dictionary are compared as mixed ones are: one of another type differs.
        if isOfDictionary(expression), let type = expression.type,
            let constantType = given.constant.type, !type.isComparable(with: constantType)
        {
            return .constant(context.comparator == .notEqual)
        }
        let constant = try converted(given, for: expression, context)
        guard let type = expression.type else { return .constant(false) }
        return ColumnPredicate(type, context.comparator, constant, options: context.options)
    }

    /// Whether an expression is a scalar of a dictionary, or the least or greatest of them.
    private func isOfDictionary(_ expression: BoundExpression) -> Bool {
        guard case .path(let path) = expression else { return false }
        switch path.leaf {
        case .entry(_, _, .link), .elements(_, .link): return false
        case .entry: return true
        case .elements(let property, _), .aggregate(_, .list(let property), of: nil, _):
            return schema.storedClass(id: property.classID)?.property(id: property.propertyID)?
                .collection == .dictionary
        default: return false
        }
    }

    // MARK: Against a list of constants

    private mutating func listTest(
        _ expression: BoundExpression, _ listQuantifier: Quantifier?, _ constants: [GivenConstant],
        _ context: Comparing
    ) throws(QueryError) -> BoundPredicate {
        if let whole = try wholeList(expression, listQuantifier, constants, context) {
            return whole
        }
        // A value for which `age != {1, 18}` holds differs from all of them.
        let isNegated = context.comparator == .notEqual && listQuantifier == nil
        let context = isNegated ? context.with(.equal) : context
        var tests: [ColumnPredicate] = []
        for constant in constants { tests.append(try constantTest(expression, constant, context)) }
        let test: ColumnPredicate =
            switch listQuantifier ?? (isNegated ? .none : .any) {
            case .any: ColumnPredicate.anyOf(tests)
            case .all: ColumnPredicate.allOf(tests)
            case .none: .not(ColumnPredicate.anyOf(tests))
            }
        return .test(expression, test, expression.quantifier ?? .any)
    }

    private mutating func reversedListTest(
        _ listQuantifier: Quantifier?, _ constants: [GivenConstant], _ expression: BoundExpression,
        _ context: Comparing
    ) throws(QueryError) -> BoundPredicate {
        if let reversed = context.reversed, listQuantifier == nil {
            return try listTest(expression, nil, constants, context.with(reversed))
        }
        var parts: [BoundPredicate] = []
        for constant in constants {
            try count(at: constant.offset)
            parts.append(try reversedTest(constant, expression, context))
        }
        switch listQuantifier ?? .any {
        case .any: return Self.disjunction(of: parts)
        case .all: return Self.conjunction(of: parts)
        case .none: return .not(Self.disjunction(of: parts))
        }
    }

    /// A collection without ANY, ALL or NONE on either side is compared with a list as a whole; IN
    /// compares any element. The values of a set are equal to a list of the same values in any
    /// order.
    private mutating func wholeList(
        _ expression: BoundExpression, _ listQuantifier: Quantifier?, _ constants: [GivenConstant],
        _ context: Comparing
    ) throws(QueryError) -> BoundPredicate? {
        guard listQuantifier == nil, expression.quantifier == nil, context.comparator != .in,
            let path = expression.multiplePath,
            !path.isOneElement
        else { return nil }
        let isNegated = context.comparator == .notEqual
        let positive = isNegated ? context.with(.equal) : context
        var tests: [ColumnPredicate] = []
        for constant in constants { tests.append(try constantTest(expression, constant, positive)) }
        let whole: BoundPredicate =
            positive.comparator == .equal && goesOverSet(path)
            ? .wholeSet(expression, tests) : .wholeList(expression, tests)
        return isNegated ? .not(whole) : whole
    }

    /// Whether a step of a path, or its end, is a set.
    private func goesOverSet(_ path: BoundPath) -> Bool {
        var properties = path.steps.map(\.property)
        switch path.leaf {
        case .elements(let property, _), .lengths(let property): properties.append(property)
        default: break
        }
        return properties.contains {
            schema.storedClass(id: $0.classID)?.property(id: $0.propertyID)?.collection == .set
        }
    }

    // MARK: Between

    private mutating func between(_ left: Operand, _ right: Operand, _ context: Comparing)
        throws(QueryError)
        -> BoundPredicate
    {
        guard case .expression(let expression) = left,
            case .list(let listQuantifier, let bounds) = right
        else {
            throw failure(
                .invalidQuery, "BETWEEN needs a property and a list of two values.",
                at: context.offset)
        }
        guard bounds.count == 2, listQuantifier == nil else {
            throw failure(
                .invalidQuery, "BETWEEN needs a list of exactly two values.",
                hint: "Write BETWEEN {18, 30}.", at: context.offset)
        }
        let quantifier = expression.quantifier ?? .any
        if case .path(let path) = expression, path.leaf.isOfValues, quantifier != .all {
            throw failure(
                .invalidQuery, "On a collection of values BETWEEN goes with ALL only.",
                hint: "Write ALL \(path.description) BETWEEN {…}.", at: context.offset)
        }
        let lower = try constantTest(expression, bounds[0], context.with(.greaterOrEqual))
        let upper = try constantTest(expression, bounds[1], context.with(.lessOrEqual))
        if expression.multiplePath == nil || quantifier == .all {
            return .test(expression, ColumnPredicate.both(lower, upper), quantifier)
        }
        return .and([.test(expression, lower, quantifier), .test(expression, upper, quantifier)])
    }

    // MARK: Two expressions

    private func pair(_ left: BoundExpression, _ right: BoundExpression, _ context: Comparing)
        throws(QueryError) -> BoundPredicate
    {
        guard let leftType = left.type, let rightType = right.type else { return .constant(false) }
        guard leftType.isComparable(with: rightType) else {
            throw failure(
                .typeMismatch,
                "\(left.description) is \(typeName(leftType)), but \(right.description) is "
                    + "\(typeName(rightType)).",
                at: context.offset)
        }
        if context.comparator == .matches { throw patternNeeded(context) }
        try requireOperator(context, fits: leftType, left.description)
        if left.isListOfValues, right.isListOfValues, left.quantifier == nil,
            right.quantifier == nil
        {
            throw failure(
                .invalidQuery, "Two lists of values cannot be compared as a whole.",
                hint: "Put ANY, ALL or NONE before one of them.", at: context.offset)
        }
        let comparator: Comparator = context.comparator == .in ? .equal : context.comparator
        return .pair(
            left, comparator, context.options, right, left.quantifier ?? .any,
            right.quantifier ?? .any)
    }

    // MARK: Types

    private func typeName(_ type: ValueType) -> String {
        guard case .link(let classID) = type, let target = schema.storedClass(id: classID) else {
            return type.name
        }
        return "a link to \(target.name)"
    }

    /// Whether the operator means something for values of this type.
    private func requireOperator(_ context: Comparing, fits type: ValueType, _ description: String)
        throws(QueryError)
    {
        if type == .typeName {
            switch context.comparator {
            case .equal, .notEqual, .in: if context.options.isEmpty { return }
            default: break
            }
            throw failure(
                .typeMismatch, "@type can be compared with ==, != and IN only.",
                at: context.offset)
        }
        if context.comparator.isStringOperator, !type.isText, type != .mixed {
            throw failure(
                .typeMismatch,
                "\(context.comparator.rawValue) works on strings and data, but \(description) is "
                    + "\(typeName(type)).",
                at: context.offset)
        }
        if !context.options.isEmpty, !type.isText, type != .mixed {
            throw failure(
                .typeMismatch,
                "\(context.options.spelling) works on strings and data, but \(description) is "
                    + "\(typeName(type)).",
                at: context.offset)
        }
        if case .link = type {
            switch context.comparator {
            case .equal, .notEqual, .in: break
            default:
                throw failure(
                    .typeMismatch,
                    "Links can be compared with == and != only, not with "
                        + "\(context.comparator.rawValue).",
                    at: context.offset)
            }
        }
    }

    /// The property whose name is nearly the key that leads to a link: `named.nmae`.
    private func nameLikeKey(of expression: BoundExpression) -> String? {
        guard case .path(let path) = expression, case .entry(_, let key, .link(let id)) = path.leaf
        else { return nil }
        let names = schema.storedClass(id: id)?.visibleProperties.map(\.name) ?? []
        return NearestName.hint(for: String(decoding: key, as: UTF8.self), among: names)
    }

    /// The way to write a date, if one without a time occurs: it is a subtraction.
    private func dateHint(_ type: ValueType, at offset: Int) -> String? {
        guard type == .date, offset >= 0, offset < source.bytes.count else { return nil }
        let written = source.bytes[offset...].prefix { ASCII.isDigit($0) || $0 == 0x2D }
        let parts = written.split(separator: 0x2D, omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }), written.count <= 12 else {
            return nil
        }
        return "Write \(String(decoding: written, as: UTF8.self))@00:00:00."
    }

    /// The constant as it is compared with `expression`; throws when the two do not go together.
    private mutating func converted(
        _ given: GivenConstant, for expression: BoundExpression, _ context: Comparing
    ) throws(QueryError) -> Constant {
        guard let type = expression.type else { return given.constant }
        try requireOperator(context, fits: type, expression.description)
        if context.comparator == .matches { try requireExpression(given) }
        guard let constantType = given.constant.type else {
            if type == .typeName { throw notATypeName(given) }
            if let path = expression.multiplePath, case .object = path.leaf {
                throw failure(
                    .typeMismatch, "'\(path.description)' is a collection and never null.",
                    hint: "Write \(path.description).@count == 0.", at: given.offset)
            }
            return given.constant
        }
        if let key = given.constant.keyOfClassBeside {
            guard case .link(let target) = type else { throw linkNeeded(key, expression, given) }
            return .link(ObjectRef(classID: target, key: key))
        }
        if type.isNumeric, case .string(let text) = given.constant,
            let number = Constant.number(spelledBy: text.bytes, allowingInfinity: type != .int)
        {
            try requireExact(number, type, at: given.offset)
            return number
        }
        try requireExact(given.constant, type, at: given.offset)
        if case .link = type, case .link(.nowhere) = given.constant { return given.constant }
        guard type.isComparable(with: constantType) else {
            let what =
                given.argument.map { "argument $\($0), \(given.constant.description)," }
                ?? given.constant.description
            throw failure(
                .typeMismatch,
                "\(expression.description) is \(typeName(type)), but \(what) is "
                    + "\(typeName(constantType)).",
                hint: nameLikeKey(of: expression) ?? dateHint(type, at: given.offset),
                at: given.offset)
        }
        if type == .typeName, TypeNames.tags(of: given.constant) == nil {
            throw notATypeName(given)
        }
        if case .path = expression, type == .int, given.constant.isInfinite {
            throw failure(
                .typeMismatch, "\(expression.description) is int and never infinite.",
                at: given.offset)
        }
        return given.constant
    }
}

extension Binder {
    /// Throws if a number has more digits than the decimals that it is compared with.
    private func requireExact(_ constant: Constant, _ type: ValueType, at offset: Int)
        throws(QueryError)
    {
        guard type == .decimal || type == .mixed, case .written(let number) = constant,
            !number.isExact
        else { return }
        throw failure(
            .invalidQuery, "The number has more than 34 digits, the most of a decimal.",
            hint: "Write double(...) around it for the double next to it.", at: offset)
    }

    private func patternNeeded(_ context: Comparing) -> QueryError {
        failure(
            .invalidQuery, "MATCHES needs a constant or an argument on its right.",
            hint: "Write name MATCHES 'A.*'.", at: context.offset)
    }

    /// Throws unless the text is a regular expression; the error points at the fault in it.
    private mutating func requireExpression(_ given: GivenConstant) throws(QueryError) {
        guard let bytes = given.constant.text else { return }
        let steps: Int
        do throws(RegularExpression.Failure) {
            steps = try RegularExpression(bytes).program.count
        } catch {
            let start = given.offset + 1
            let isAsWritten =
                given.offset >= 0 && start + bytes.count <= source.bytes.count
                && source.bytes[start..<start + bytes.count].elementsEqual(bytes)
            throw failure(
                given.argument == nil ? .invalidQuery : .invalidArgument,
                "The regular expression is wrong at byte \(error.offset): \(error.reason)",
                at: isAsWritten ? start + error.offset : given.offset)
        }
        try count(steps / QuerySize.expressionStepsOfPart, at: given.offset)
    }

    private func linkNeeded(_ key: Int64, _ expression: BoundExpression, _ given: GivenConstant)
        -> QueryError
    {
        failure(
            .typeMismatch,
            "O\(key) is an object of the class that a link leads to, but "
                + "\(expression.description) is \(expression.type?.name ?? "null").",
            hint: "Write an argument such as $0, obj('Class', key), or L and the number of the "
                + "class: L3:\(key).",
            at: given.offset)
    }

    private func notATypeName(_ given: GivenConstant) -> QueryError {
        failure(
            .invalidArgument, "\(given.constant.description) is not the name of a type.",
            hint: "Write one of \(TypeNames.all).", at: given.offset)
    }
}

extension BoundPath {
    /// `ints[0]`, `value['key']`, `friends[0].name`: at most one element, so there is no whole list
    /// to compare.
    var isOneElement: Bool {
        let areOne = steps.allSatisfy { step in
            switch step {
            case .link, .entry, .element: true
            case .list, .backlinks: false
            }
        }
        return areOne && leaf.withoutPart.isOneElement
    }
}

extension PathLeaf {
    /// Whether an object at the end of the steps has one of it at most.
    fileprivate var isOneElement: Bool {
        switch self {
        case .elements, .keys, .lengths: false
        case .nested(_, let base, let within): base.isOne && within.allSatisfy(\.isOne)
        default: true
        }
    }
}

extension NestedBase {
    fileprivate var isOne: Bool { if case .elements = self { false } else { true } }
}

extension NestedStep {
    fileprivate var isOne: Bool {
        switch self {
        case .index, .key: true
        case .every, .keys: false
        }
    }
}

extension BoundExpression {
    /// A bare collection of scalars.
    fileprivate var isListOfValues: Bool {
        guard case .path(let path) = self else { return false }
        if case .elements = path.leaf { return true }
        return path.leaf.isKeys
    }
}

extension PathLeaf {
    fileprivate var isKeys: Bool { if case .keys = self { true } else { false } }

    /// Whether it is scalars of a collection, or one of them.
    fileprivate var isOfValues: Bool { if case .entry = self { true } else { isCollection } }
}

extension ColumnPredicate {
    /// Passes values that pass both: one range if both are ranges.
    static func both(_ left: ColumnPredicate, _ right: ColumnPredicate) -> ColumnPredicate {
        switch (left, right) {
        case (
            .int(let low, let high, isInverted: false),
            .int(let otherLow, let otherHigh, isInverted: false)
        ):
            return .range(max(low, otherLow), min(high, otherHigh)) {
                .int($0, $1, isInverted: false)
            }
        case (
            .double(let low, let high, isInverted: false, passesNaN: false),
            .double(let otherLow, let otherHigh, isInverted: false, passesNaN: false)
        ):
            return .range(max(low, otherLow), min(high, otherHigh)) {
                .double($0, $1, isInverted: false, passesNaN: false)
            }
        case (
            .date(let low, let high, isInverted: false),
            .date(let otherLow, let otherHigh, isInverted: false)
        ):
            return .range(max(low, otherLow), min(high, otherHigh)) {
                .date($0, $1, isInverted: false)
            }
        case (
            .fixed(let low, let high, isInverted: false),
            .fixed(let otherLow, let otherHigh, isInverted: false)
        ):
            return .range(max(low, otherLow), min(high, otherHigh)) {
                .fixed($0, $1, isInverted: false)
            }
        case (
            .decimal(let low, let high, isInverted: false),
            .decimal(let otherLow, let otherHigh, isInverted: false)
        ):
            return .range(max(low, otherLow), min(high, otherHigh)) {
                .decimal($0, $1, isInverted: false)
            }
        default:
            return .all([left, right])
        }
    }

    private static func range<Bound: Comparable>(
        _ low: Bound, _ high: Bound, _ make: (Bound, Bound) -> ColumnPredicate
    ) -> ColumnPredicate {
        low <= high ? make(low, high) : .constant(false)
    }
}
