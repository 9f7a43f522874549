internal import ToftModel
internal import ToftPlatform
internal import ToftStorage

/// Makes a bound query ready to run against one source: resolves objects that are named by primary
/// key, and allocates memory for batches.
struct Compiler {
    let source: DataSource

    /// Stack beyond the estimate of `BoundQuery.stack`.
    private func requireStack() throws(ModelError) {
        guard ThreadStack.hasRoom() else { throw .stackTooSmallForQuery }
    }

    // MARK: Predicates

    func predicate(_ bound: BoundPredicate) throws(ModelError) -> PredicateNode {
        try requireStack()
        switch bound {
        case .constant(let value): return FixedNode(value)
        case .not(let inner): return NotNode(try predicate(inner))
        case .and(let parts): return AndNode(try predicates(parts))
        case .or(let parts): return OrNode(try predicates(parts))
        case .test(let expression, let test, let quantifier):
            return try self.test(expression, try rowTest(test), quantifier)
        case .wholeList(let expression, let tests): return try wholeList(expression, tests)
        case .wholeSet(let expression, let tests): return try wholeSet(expression, tests)
        case .pair(
            let left, let comparator, let options, let right, let leftQuantifier,
            let rightQuantifier):
            return try pair(
                left, right,
                PairTest(
                    comparator: comparator, options: options, leftType: left.type,
                    rightType: right.type), leftQuantifier,
                rightQuantifier)
        }
    }

    private func predicates(_ parts: [BoundPredicate]) throws(ModelError) -> [PredicateNode] {
        var nodes: [PredicateNode] = []
        for part in parts { nodes.append(try predicate(part)) }
        return nodes
    }

    private func test(_ expression: BoundExpression, _ test: RowPredicate, _ quantifier: Quantifier)
        throws(ModelError) -> PredicateNode
    {
        guard let path = expression.multiplePath else {
            let node = direct(expression, test, TestNode(try value(expression), test))
            return quantifier == .none ? NotNode(node) : node
        }
        if path.steps.count(where: \.isCollection) > 1, expression.hangsOnPathAlone {
            return try farTest(path, try elementValue(expression), test, quantifier)
        }
        return CollectionTestNode(
            try start(path), try expander(path), try elementValue(expression), test, quantifier)
    }

    /// A test of values behind several steps, split into the steps and the values of the objects at
    /// their end.
    private func farTest(
        _ path: BoundPath, _ value: ValueNode, _ test: RowPredicate, _ quantifier: Quantifier
    ) throws(ModelError) -> PredicateNode {
        let end = path.steps.last?.target ?? path.classID
        let rest = try PathExpander([], path.leaf, source)
        rest.nested?.isDistinct = true
        let holds = CollectionTestNode(
            OuterRows(0, try source.reader(end)), rest, value, test,
            quantifier == .all ? .all : .any)
        return FarTestNode(
            try start(path), try PathExpander(path.steps, .object(end), source),
            quantifier == .all ? NotNode(holds) : holds, quantifier)
    }

    /// A test of an integer or text of the objects themselves needs less than one of any value.
    private func direct(_ expression: BoundExpression, _ test: RowPredicate, _ node: TestNode)
        -> PredicateNode
    {
        guard case .path(let path) = expression, let property = path.directProperty,
            case .property(_, let type) = path.leaf
        else { return node }
        if ValueLayout(type) == .text, let test = test as? TextRowTest {
            return TextNode(property.propertyID, test.matcher, scattered: node)
        }
        guard ValueLayout(type) == .int, let range = (test as? IntRangeTest)?.range else {
            return node
        }
        return IntRangeNode(
            property.propertyID, range.lowerBound, range.upperBound, scattered: node)
    }

    private func wholeList(_ expression: BoundExpression, _ tests: [ColumnPredicate])
        throws(ModelError) -> PredicateNode
    {
        guard let path = expression.multiplePath else { return FixedNode(false) }
        let expander = try expander(path, isInOrder: true)
        expander.nested?.limit = tests.count + 1
        return WholeListNode(
            try start(path), expander, try elementValue(expression), try rowTests(tests))
    }

    private func wholeSet(_ expression: BoundExpression, _ tests: [ColumnPredicate])
        throws(ModelError) -> PredicateNode
    {
        guard let path = expression.multiplePath else { return FixedNode(false) }
        return WholeSetNode(
            try start(path), try expander(path), try elementValue(expression), try rowTests(tests))
    }

    private func pair(
        _ left: BoundExpression, _ right: BoundExpression, _ test: PairTest,
        _ leftQuantifier: Quantifier, _ rightQuantifier: Quantifier
    ) throws(ModelError) -> PredicateNode {
        switch (left.multiplePath, right.multiplePath) {
        case (nil, nil):
            let node = PairNode(try value(left), try value(right), test)
            return (leftQuantifier == .none) != (rightQuantifier == .none) ? NotNode(node) : node
        case (let path?, nil):
            return CollectionPairNode(
                try start(path), try expander(path), try elementValue(left),
                BroadcastNode(try value(right)), test, leftQuantifier)
        case (nil, let path?):
            return CollectionPairNode(
                try start(path), try expander(path), BroadcastNode(try value(left)),
                try elementValue(right), test, rightQuantifier)
        case (let leftPath?, let rightPath?):
            let leftSide = CrossPairNode.Side(
                start: try start(leftPath), expander: try expander(leftPath),
                value: try elementValue(left), quantifier: leftQuantifier)
            let rightSide = CrossPairNode.Side(
                start: try start(rightPath), expander: try expander(rightPath),
                value: try elementValue(right), quantifier: rightQuantifier)
            return CrossPairNode(leftSide, rightSide, test)
        }
    }

    // MARK: Values

    /// A value with one result for each row.
    func value(_ expression: BoundExpression) throws(ModelError) -> ValueNode {
        try requireStack()
        switch expression {
        case .constant(let constant): return Self.constant(constant)
        case .path(let path): return try value(path)
        case .arithmetic(let arithmetic):
            return ArithmeticNode(
                arithmetic.operation, Self.number(try value(arithmetic.left)),
                Self.number(try value(arithmetic.right)))
        }
    }

    /// The expression for the rows that its collection leads to: values from outside of the
    /// collection are broadcast.
    private func elementValue(_ expression: BoundExpression) throws(ModelError) -> ValueNode {
        switch expression {
        case .path(let path) where path.isMultiple:
            let rest = path.splitSteps.rest
            let leaf = try leafNode(path.leaf, scope: 0, classID: path.classID)
            return rest.isEmpty ? leaf : try LinkedNode(rest, leaf, source)
        case .arithmetic(let arithmetic) where arithmetic.multiplePath != nil:
            return ArithmeticNode(
                arithmetic.operation, Self.number(try elementValue(arithmetic.left)),
                Self.number(try elementValue(arithmetic.right)))
        default:
            return BroadcastNode(try value(expression))
        }
    }

    /// Of mixed values the numbers.
    private static func number(_ node: ValueNode) -> ValueNode {
        node.layout == .mixed ? MixedNumberNode(node) : node
    }

    private func value(_ path: BoundPath) throws(ModelError) -> ValueNode {
        let leaf = try leafNode(path.leaf, scope: path.scope, classID: path.classID)
        if case .subquery = path.leaf { return leaf }
        let node = path.steps.isEmpty ? leaf : try LinkedNode(path.steps, leaf, source)
        return path.scope == 0 ? node : OuterNode(path.scope, node, try source.reader(path.classID))
    }

    private func leafNode(_ leaf: PathLeaf, scope: Int, classID: ClassID) throws(ModelError)
        -> ValueNode
    {
        switch leaf {
        case .property(let property, let type): return PropertyNode(ColumnRead(property, type))
        case .entry(let property, let key, let type):
            return PropertyNode(ColumnRead(property, type, key: key))
        case .object: return ObjectNode()
        case .elements(_, let type), .element(_, _, let type):
            return ElementNode(ValueLayout(type))
        case .nested: return ElementNode(.mixed)
        case .typeName(let inner):
            return TypeNameNode(try leafNode(inner, scope: scope, classID: classID))
        case .mixedSize(let inner):
            return MixedSizeNode(try leafNode(inner, scope: scope, classID: classID))
        case .keys: return ElementNode(.text)
        case .lengths: return LengthNode(ElementNode(.text))
        case .count(let collection): return CountNode(collection, source)
        case .size(let property, let key):
            return LengthNode(PropertyNode(ColumnRead(property, .string, key: key)))
        case .aggregate(let operation, let collection, let property, let type):
            return try aggregate(operation, collection, property, type)
        case .subquery(let subquery):
            let start = OuterRows(scope, try source.reader(classID))
            return SubqueryNode(
                start, try PathExpander(subquery.steps, leaf, source),
                try predicate(subquery.predicate.cheapestFirst))
        }
    }

    private func aggregate(
        _ operation: AggregateOperation, _ collection: BoundCollection, _ path: AggregatedPath?,
        _ type: ValueType
    ) throws(ModelError) -> ValueNode {
        guard let path, let step = collection.step(to: path.classID) else {
            guard case .list(let list) = collection else { return ConstantNode(.null, as: type) }
            let elementType = source.valueType(of: list) ?? type
            let expander = try PathExpander([], .elements(list, elementType), source)
            let element = ElementNode(ValueLayout(elementType))
            if elementType == .mixed, !operation.isExtreme {
                return AggregateNode(operation, expander, MixedNumberNode(element), type)
            }
            return elementType.isNumeric || elementType == .date
                ? AggregateNode(operation, expander, element, type)
                : ExtremeNode(operation, expander, element)
        }
        let property = path.property
        let expander = try PathExpander(
            [step] + path.steps, .object(property.classID), source)
        let column = ColumnRead(property, source.valueType(of: property) ?? type)
        if column.type == .mixed {
            let node = PropertyNode(column)
            return operation.isExtreme
                ? ExtremeNode(operation, expander, node)
                : AggregateNode(operation, expander, MixedNumberNode(node), type)
        }
        return AggregateNode(operation, expander, PropertyNode(column), type)
    }

    private static func constant(_ constant: Constant) -> ValueNode {
        switch constant {
        case .string(let text): ConstantTextNode(text.bytes)
        case .data(let bytes): ConstantTextNode(bytes)
        default: ConstantNode(constant, as: constant.type ?? .int)
        }
    }

    // MARK: Collections

    private func start(_ path: BoundPath) throws(ModelError) -> OuterRows {
        OuterRows(path.scope, try source.reader(path.classID))
    }

    /// - Parameter isInOrder: whether everything is led to in order and as often as the path does
    ///   so, rather than each object once for an owner. Short paths go all ways in any case.
    private func expander(_ path: BoundPath, isInOrder: Bool = false) throws(ModelError)
        -> PathExpander
    {
        let expander = try PathExpander(path.splitSteps.collections, path.leaf, source)
        expander.isDistinct = !isInOrder && path.steps.count > 2
        expander.isInOrder = isInOrder && path.steps.count > 2
        expander.nested?.isDistinct = !isInOrder
        return expander
    }

    // MARK: Tests

    func rowTest(_ test: ColumnPredicate) throws(ModelError) -> RowPredicate {
        switch test {
        case .null(let passes): return NullTest(passes: passes)
        case .constant(let value): return FixedTest(value)
        case .bool(let value, let isInverted): return BoolTest(value, isInverted: isInverted)
        case .int(let low, let high, let isInverted):
            return IntRangeTest(low, high, isInverted: isInverted)
        case .members(let members): return try rowTest(members)
        case .double(let low, let high, let isInverted, let passesNaN):
            return DoubleRangeTest(low, high, isInverted: isInverted, passesNaN: passesNaN)
        case .date(let low, let high, let isInverted):
            return DateRangeTest(low, high, isInverted: isInverted)
        case .fixed(let low, let high, let isInverted):
            return FixedRangeTest(low, high, isInverted: isInverted)
        case .decimal(let low, let high, let isInverted):
            return DecimalRangeTest(low, high, isInverted: isInverted)
        case .text(let text): return TextRowTest(TextMatcher(text))
        case .mixed(let test):
            return MixedRowTest(
                test,
                try test.link.map { (link) throws(ModelError) in try self.key(of: link) } ?? nil)
        case .link(let target, let isInverted):
            // An object that does not exist equals a null link.
            guard let key = try self.key(of: target) else { return NullTest(passes: !isInverted) }
            return IntRangeTest(key, key, isInverted: isInverted)
        case .any(let parts): return CombinedTest(try rowTests(parts), needsAll: false)
        case .all(let parts): return CombinedTest(try rowTests(parts), needsAll: true)
        case .not(let inner): return InvertedTest(try rowTest(inner))
        }
    }

    private func rowTest(_ members: Members) throws(ModelError) -> RowPredicate {
        switch members {
        case .integers(let values): return IntSetTest(values)
        case .doubles(let values): return DoubleSetTest(values)
        case .dates(let values): return DateSetTest(values)
        case .fixed(let values): return FixedSetTest(values)
        case .decimals(let values): return DecimalSetTest(values)
        case .texts(let texts): return TextSetTest(texts)
        case .links(let targets):
            var keys: Set<Int64> = []
            var isNull = false
            for target in targets {
                // An object that does not exist equals a null link.
                if let key = try key(of: target) { keys.insert(key) } else { isNull = true }
            }
            let test = IntSetTest(keys.sorted())
            return isNull ? CombinedTest([test, NullTest(passes: true)], needsAll: false) : test
        case .mixed(let values):
            var objects: Set<ObjectRef> = []
            var isNull = false
            for (classID, value) in values.objects {
                if let key = try source.find(value, classID) {
                    objects.insert(ObjectRef(classID: classID, key: key))
                } else {
                    isNull = true
                }
            }
            return MixedSetTest(values, objects, passesNull: isNull)
        }
    }

    private func rowTests(_ tests: [ColumnPredicate]) throws(ModelError) -> [RowPredicate] {
        var rowTests: [RowPredicate] = []
        for test in tests { rowTests.append(try rowTest(test)) }
        return rowTests
    }

    /// The key of an object that a link is compared with; nil if it does not exist.
    func key(of target: ColumnPredicate.LinkConstant) throws(ModelError) -> Int64? {
        switch target {
        case .key(let key): key
        case .primaryKey(let classID, let value): try source.find(value, classID)
        }
    }
}
