internal import ToftModel
internal import ToftPlatform
internal import ToftStorage

/// Binds a syntax tree to a schema: resolves names, checks types, and converts constants to the
/// types that they are compared with.
struct Binder {
    let schema: StoredSchema
    let arguments: [QueryArgument]
    let source: QuerySource
    let aliases: KeyPathAliases
    /// True if 0 and 1 are accepted as false and true beside booleans.
    let takesNumbersAsBools: Bool
    /// From the outermost object to that of the innermost subquery.
    var scopes: [Scope]
    private var size = QuerySize()
    private var lastOffset = -1
    /// Stack that the part being bound takes when it runs, and the most of any part.
    private var stack = 0
    private(set) var deepestStack = 0
    /// The path that is being bound, with its aliases expanded.
    var wholePath: (elements: [PathSyntax.Element], isExpanded: Bool) = ([], false)
    /// The paths with aliases, by their offsets, with the aliases' elements.
    var expansions: [Int: [PathSyntax.Element.Kind]] = [:]
    /// The arguments with lists that were used.
    private var usedLists: Set<Int> = []
    /// The properties that the query reads, in the order of their mention, each once.
    var dependencies: [QueryDependency] = []
    /// `dependencies` as a set.
    var knownDependencies: Set<QueryDependency> = []

    /// An object that paths may begin at.
    struct Scope {
        var classID: ClassID
        /// With its `$`; nil for the object of the whole query.
        var variable: String?
        /// The path from the object of the whole query to this one.
        var steps: [PathStep]
    }

    init(
        _ schema: StoredSchema, classID: ClassID, arguments: [QueryArgument], source: QuerySource,
        aliases: KeyPathAliases, takesNumbersAsBools: Bool = false
    ) {
        self.aliases = aliases
        self.takesNumbersAsBools = takesNumbersAsBools
        self.schema = schema
        self.arguments = arguments
        self.source = source
        scopes = [Scope(classID: classID, variable: nil, steps: [])]
    }

    // MARK: Errors

    func failure(_ kind: QueryError.Kind, _ summary: String, hint: String? = nil, at offset: Int)
        -> QueryError
    {
        QueryError(kind, summary, hint: hint, at: offset, in: source)
    }

    /// The class with this id, which the schema has: ids come from it.
    func storedClass(_ id: ClassID, at offset: Int) throws(QueryError) -> StoredClass {
        guard let found = schema.storedClass(id: id) else {
            throw failure(.invalidQuery, "There is no class with the number \(id).", at: offset)
        }
        return found
    }

    /// Puts an alias's elements before the rest of a path. Returns true if the name is an alias.
    mutating func expandAlias(
        _ name: String, of classID: ClassID, _ rest: inout ArraySlice<PathSyntax.Element>,
        _ substitutions: inout Int, at offset: Int
    ) throws(QueryError) -> Bool {
        guard let elements = aliases.elements(for: name, of: classID, at: offset) else {
            return false
        }
        substitutions += 1
        guard substitutions <= KeyPathAliases.substitutionLimit else {
            throw failure(
                .invalidQuery,
                "The alias '\(name)' is a path of more than "
                    + "\(KeyPathAliases.substitutionLimit) others.",
                at: offset)
        }
        let before = wholePath.elements.dropLast(rest.count + 1)
        wholePath = (Array(before) + elements + Array(rest), true)
        rest = elements + rest
        return true
    }

    /// Counts parts of the query. A part without an offset gets that of the part before.
    mutating func count(_ parts: Int = 1, at offset: Int) throws(QueryError) {
        if offset >= 0 { lastOffset = offset }
        try size.add(parts, at: lastOffset, in: source)
    }

    // MARK: Predicates

    mutating func bind(_ predicate: PredicateSyntax) throws(QueryError) -> BoundPredicate {
        switch predicate {
        case .constant(let value):
            try count(at: -1)
            return .constant(value)
        case .not(let inner):
            try count(at: -1)
            return Self.negation(
                of: try nested { binder throws(QueryError) in try binder.bind(inner) })
        case .and(let parts):
            return Self.conjunction(
                of: try bindAll(parts) { if case .and(let inner) = $0 { inner } else { nil } })
        case .or(let parts):
            return Self.disjunction(
                of: try bindAll(parts) { if case .or(let inner) = $0 { inner } else { nil } })
        case .comparison(let comparison): return try bind(comparison)
        }
    }

    /// Binds the parts of an AND or an OR, and those of each part that is one of the same kind:
    /// code joins them two by two, and thousands of them do not count as nesting.
    private mutating func bindAll(
        _ parts: [PredicateSyntax], _ inner: (PredicateSyntax) -> [PredicateSyntax]?
    ) throws(QueryError) -> [BoundPredicate] {
        var bound: [BoundPredicate] = []
        var waiting = Array(parts.reversed())
        while let part = waiting.popLast() {
            if let inner = inner(part) {
                waiting += inner.reversed()
            } else {
                bound.append(try nested { binder throws(QueryError) in try binder.bind(part) })
            }
        }
        return bound
    }

    /// Goes one level deeper for the time of `body`.
    mutating func nested<Result>(
        taking bytes: Int = StackOfQuery.level,
        _ body: (inout Binder) throws(QueryError) -> Result
    ) throws(QueryError) -> Result {
        guard ThreadStack.hasRoom() else { throw .stackTooSmall(at: lastOffset, in: source) }
        stack += bytes
        deepestStack = max(deepestStack, stack)
        defer { stack -= bytes }
        return try body(&self)
    }

    /// Counts the stack of a sort.
    mutating func noteStack(ofSortKeys count: Int) {
        deepestStack = max(deepestStack, count * StackOfQuery.sortKey)
    }

    /// Counts the stack of a path.
    mutating func noteStack(of path: BoundPath) {
        var steps = path.steps.count(where: \.isCollection)
        if case .nested(_, _, let within) = path.leaf.withoutPart { steps += within.count }
        deepestStack = max(deepestStack, stack + steps * StackOfQuery.step)
    }

    static func negation(of predicate: BoundPredicate) -> BoundPredicate {
        switch predicate {
        case .constant(let value): .constant(!value)
        case .not(let inner): inner
        default: .not(predicate)
        }
    }

    // MARK: Constants

    /// One operand of a comparison, bound.
    enum Operand {
        case expression(BoundExpression)
        case constant(GivenConstant)
        case list(Quantifier?, [GivenConstant])
    }

    /// A constant and its origin.
    struct GivenConstant {
        var constant: Constant
        var offset: Int
        /// The argument that it is; nil when it is written in the query.
        var argument: Int?
    }

    mutating func operand(_ expression: ExpressionSyntax) throws(QueryError) -> Operand {
        switch expression {
        case .literal(.argument(let index), let offset):
            switch try argument(index, at: offset) {
            case .value(let value):
                return .constant(try given(value, index, at: offset))
            case .list(let values): return try list(nil, values, index, at: offset)
            }
        case .quantifiedArgument(let quantifier, let index, let offset):
            guard case .list(let values) = try argument(index, at: offset) else {
                throw failure(
                    .invalidArgument,
                    "\(quantifier.rawValue) needs a list, but $\(index) is one value.", at: offset)
            }
            return try list(quantifier, values, index, at: offset)
        case .list(let quantifier, let elements, let offset):
            try size.addElements(elements.count, at: offset, in: source)
            var constants: [GivenConstant] = []
            for element in elements {
                constants.append(try given(element.literal, at: element.offset))
            }
            return .list(quantifier, constants)
        case .literal(let literal, let offset):
            return .constant(try given(literal, at: offset))
        case .path, .arithmetic, .subquery:
            if case .path(let path) = expression, let word = wordConstant(path) {
                return .constant(try given(word, at: path.offset))
            }
            let bound = try bind(expression)
            guard case .constant(let constant) = bound else { return .expression(bound) }
            return .constant(GivenConstant(constant: constant, offset: expression.offset))
        }
    }

    /// The constant that a lone word means, unless a property has the name.
    private func wordConstant(_ path: PathSyntax) -> Literal? {
        guard path.elements.count == 1, case .name(let name) = path.elements[0].kind,
            let literal = Literal(word: name)
        else { return nil }
        let owner = scopes[scopes.count - 1].classID
        let isName =
            schema.storedClass(id: owner)?.property(named: name) != nil
            || aliases.contains(name, of: owner)
        return isName ? nil : literal
    }

    private mutating func list(
        _ quantifier: Quantifier?, _ values: [Value], _ index: Int, at offset: Int
    ) throws(QueryError) -> Operand {
        if !usedLists.insert(index).inserted {
            try size.addElements(values.count, at: offset, in: source)
        }
        var constants: [GivenConstant] = []
        for value in values { constants.append(try given(value, index, at: offset)) }
        return .list(quantifier, constants)
    }

    /// A value of the argument `index`.
    private func given(_ value: Value, _ index: Int, at offset: Int) throws(QueryError)
        -> GivenConstant
    {
        GivenConstant(
            constant: try constant(value, index, at: offset), offset: offset, argument: index)
    }

    private func constant(_ value: Value, _ index: Int, at offset: Int) throws(QueryError)
        -> Constant
    {
        switch value {
        case .list, .dictionary:
            throw failure(
                .invalidArgument,
                "$\(index) is a collection, which nothing is compared with as a whole.",
                hint: "Compare its elements: mixed['key'] == $0.", at: offset)
        case .date(let date) where !date.isSound:
            throw failure(
                .invalidArgument,
                "$\(index) is a date with \(date.seconds) seconds and \(date.nanoseconds) "
                    + "nanoseconds.",
                hint: "Nanoseconds are from -999999999 to 999999999 and have the seconds' sign.",
                at: offset)
        default: return Constant(value)
        }
    }

    private mutating func given(_ literal: Literal, at offset: Int) throws(QueryError)
        -> GivenConstant
    {
        let index: Int? = if case .argument(let index) = literal { index } else { nil }
        return GivenConstant(
            constant: try constant(literal, at: offset), offset: offset, argument: index)
    }

    /// A constant; an argument must be one value.
    mutating func constant(_ literal: Literal, at offset: Int) throws(QueryError) -> Constant {
        switch literal {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .integer(let integer): return Constant(integer)
        case .double(let number): return .written(number)
        case .float(let value): return .float(value)
        case .string(let text): return .string(text)
        case .data(let bytes): return .data(bytes)
        case .date(let date): return .date(date)
        case .uuid(let bytes): return .uuid(FixedBytes(bytes: bytes))
        case .objectId(let bytes): return .objectId(FixedBytes(bytes: bytes))
        case .value(let value):
            if case .link(let object) = value { _ = try storedClass(object.classID, at: offset) }
            return Constant(value)
        case .objectKey(let key): return .object(ofClassBeside: key)
        case .argument(let index):
            guard case .value(let value) = try argument(index, at: offset) else {
                throw failure(
                    .invalidArgument, "$\(index) is a list, but one value is needed here.",
                    at: offset)
            }
            return try constant(value, index, at: offset)
        case .object(let className, let key): return try object(className, key, at: offset)
        }
    }

    func argument(_ index: Int, at offset: Int) throws(QueryError) -> QueryArgument {
        guard index < arguments.count else {
            let given =
                arguments.isEmpty
                ? "no argument was given"
                : arguments.count == 1
                    ? "only $0 was given" : "only $0 to $\(arguments.count - 1) were given"
            throw failure(
                .invalidArgument, "The query has $\(index), but \(given).",
                hint: "Hand in a value for every $n; if there are no arguments, as in a "
                    + "terminal, write the value itself: name == 'Rex'.", at: offset)
        }
        return arguments[index]
    }

    func storedClass(named name: String, at offset: Int) throws(QueryError) -> StoredClass {
        guard let found = schema.storedClass(named: name) else {
            throw failure(
                .invalidQuery, "There is no class '\(name)'.",
                hint: NearestName.hint(for: name, among: schema.visibleClasses.map(\.name)),
                at: offset)
        }
        return found
    }

    private mutating func object(
        _ className: String, _ key: Literal.PrimaryKeyLiteral, at offset: Int
    ) throws(QueryError) -> Constant {
        let target = try storedClass(named: className, at: offset)
        guard let primaryKey = target.primaryKey else {
            throw failure(
                .invalidQuery, "Class '\(className)' has no primary key to find an object by.",
                at: offset)
        }
        let value = try primaryKeyValue(key, at: offset)
        switch (value, primaryKey.type) {
        case (.null, _), (.int, .int), (.string, .string), (.uuid, .uuid),
            (.objectId, .objectId):
            note([], PropertyRef(classID: target.id, propertyID: primaryKey.id), isOfOthers: true)
            return .objectWithKey(target.id, value)
        default:
            let kind = Constant(value).type?.name ?? "null"
            throw failure(
                .typeMismatch,
                "The primary key '\(className).\(primaryKey.name)' is \(primaryKey.type.name), "
                    + "but \(value.description) is \(kind).",
                at: offset)
        }
    }

    private func primaryKeyValue(_ key: Literal.PrimaryKeyLiteral, at offset: Int)
        throws(QueryError) -> Value
    {
        switch key {
        case .null: return .null
        case .integer(let value): return .int(value)
        case .string(let value): return .string(value)
        case .uuid(let bytes): return .uuid(FixedBytes(bytes: bytes))
        case .objectId(let bytes): return .objectId(FixedBytes(bytes: bytes))
        case .argument(let index):
            guard case .value(let value) = try argument(index, at: offset) else {
                throw failure(
                    .invalidArgument, "$\(index) is a list, but a primary key is needed here.",
                    at: offset)
            }
            return value
        case .other:
            throw failure(
                .typeMismatch, "A primary key is a whole number, a text, a uuid or an object id.",
                at: offset)
        }
    }

    // MARK: Expressions

    mutating func bind(_ expression: ExpressionSyntax) throws(QueryError) -> BoundExpression {
        switch expression {
        case .literal(let literal, let offset): return .constant(try constant(literal, at: offset))
        case .list(_, _, let offset), .quantifiedArgument(_, _, let offset):
            throw failure(.typeMismatch, "A list cannot be computed with.", at: offset)
        case .path(let path): return .path(try bind(path))
        case .subquery(let subquery): return .path(try bind(subquery))
        case .arithmetic(let operation, let left, let right, let offset):
            return try arithmetic(operation, left, right, at: offset)
        }
    }

    private mutating func arithmetic(
        _ operation: ArithmeticOperator, _ left: ExpressionSyntax, _ right: ExpressionSyntax,
        at offset: Int
    ) throws(QueryError) -> BoundExpression {
        try count(QuerySize.computationParts, at: offset)
        var boundLeft = try nested { binder throws(QueryError) in try binder.bind(left) }
        var boundRight = try nested { binder throws(QueryError) in try binder.bind(right) }
        if boundLeft.type?.isNumeric == true { boundRight.readNumber() }
        if boundRight.type?.isNumeric == true { boundLeft.readNumber() }
        if case .constant(let leftConstant) = boundLeft,
            case .constant(let rightConstant) = boundRight
        {
            return .constant(Arithmetic.fold(operation, leftConstant, rightConstant))
        }
        for (syntax, operand) in [(left, boundLeft), (right, boundRight)] {
            // An expression that computes to null is null; a literal null is not a number.
            if let type = operand.type {
                if type.isComputable { continue }
            } else if case .arithmetic = syntax {
                continue
            }
            throw failure(
                .typeMismatch,
                "'\(operation.rawValue)' needs numbers, but \(operand.description) is "
                    + "\(operand.type?.name ?? "null").",
                at: offset)
        }
        if boundLeft.multiplePath != nil, boundRight.multiplePath != nil {
            throw failure(
                .invalidQuery, "Two collections cannot be computed with each other.",
                hint: "Use an aggregate such as @sum of one of them.", at: offset)
        }
        try requireComputable(boundLeft, beside: boundRight.type, at: left.offset)
        try requireComputable(boundRight, beside: boundLeft.type, at: right.offset)
        // Beside a decimal a constant is one.
        if boundLeft.type == .decimal || boundLeft.type == .mixed,
            let decimal = boundRight.decimalConstant
        {
            return .arithmetic(
                BoundArithmetic(operation, boundLeft, .constant(.decimal(decimal))))
        }
        if boundRight.type == .decimal || boundRight.type == .mixed,
            let decimal = boundLeft.decimalConstant
        {
            return .arithmetic(
                BoundArithmetic(operation, .constant(.decimal(decimal)), boundRight))
        }
        return .arithmetic(
            BoundArithmetic(operation, boundLeft.asOperand, boundRight.asOperand))
    }

    /// Throws if a constant in a computation is a number that is not near to it.
    private func requireComputable(
        _ operand: BoundExpression, beside type: ValueType?, at offset: Int
    ) throws(QueryError) {
        guard case .constant(let constant) = operand, constant.isBeyondDouble else { return }
        if type == .decimal || type == .mixed, constant.decimal != nil { return }
        throw failure(
            .invalidQuery, "The number is too large or too small to be computed with.", at: offset)
    }
}

extension BoundExpression {
    /// An integer beyond 64 bits is computed with as the double next to it.
    fileprivate var asOperand: BoundExpression {
        guard case .constant(.large(let integer)) = self else { return self }
        return .constant(.double(integer.nearest))
    }

    /// Beside a number a constant text that spells one is that number.
    fileprivate mutating func readNumber() {
        if case .constant(.string(let text)) = self,
            let number = Constant.number(spelledBy: text.bytes, allowingInfinity: false)
        {
            self = .constant(number)
        }
    }
}
