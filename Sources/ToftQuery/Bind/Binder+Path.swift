internal import ToftModel

extension Binder {
    /// Steps of a path: beyond that a query's cost would have no bound.
    private static let pathLimit = 64

    /// Binds a path: from a variable, from SELF, which is the object of the whole query, or from
    /// the object of the predicate.
    mutating func bind(_ syntax: PathSyntax) throws(QueryError) -> BoundPath {
        let elements = try expandedElements(syntax)
        try checkLength(elements.count, at: syntax.offset)
        try count(1 + QuerySize.stepParts * (elements.count - 1), at: syntax.offset)
        wholePath = (elements, isExpanded: false)
        var walk = PathWalk(
            description: Self.description(syntax, elements), offset: syntax.offset,
            classID: scopes[scopes.count - 1].classID)
        var rest = elements[...]
        if case .name(let name) = elements[0].kind,
            let depth = scopes.lastIndex(where: { $0.variable == name })
        {
            walk.begin(at: depth, of: scopes)
            rest = rest.dropFirst()
        } else if case .name("SELF") = elements[0].kind,
            try storedClass(walk.classID, at: syntax.offset).property(named: "SELF") == nil
        {
            walk.begin(at: 0, of: scopes)
            rest = rest.dropFirst()
        }
        let origin = scopes[scopes.count - 1 - walk.scope]
        while let element = rest.first {
            rest = rest.dropFirst()
            let before = walk.substitutions
            try walkElement(element, &rest, &walk)
            if walk.substitutions > before {
                try count(QuerySize.stepParts * rest.count, at: syntax.offset)
            }
            // An alias may have put more steps there.
            try checkLength(walk.steps.count + rest.count, at: syntax.offset)
        }
        if wholePath.isExpanded { expansions[syntax.offset] = wholePath.elements.map(\.kind) }
        let leaf = walk.leaf ?? .object(walk.classID)
        let path = BoundPath(
            scope: walk.scope, classID: origin.classID, steps: walk.steps, leaf: leaf,
            quantifier: syntax.quantifier, description: walk.description)
        if let quantifier = syntax.quantifier, !path.isMultiple, !walk.hasCollection {
            throw failure(
                .invalidQuery,
                "\(quantifier.rawValue) needs a collection, but '\(path.description)' has only "
                    + "one value.",
                hint: "Leave \(quantifier.rawValue) out.", at: syntax.offset)
        }
        record(path, from: origin.steps)
        noteStack(of: path)
        return path
    }

    private func checkLength(_ steps: Int, at offset: Int) throws(QueryError) {
        guard steps <= Self.pathLimit else {
            throw failure(
                .invalidQuery, "The path has \(steps) steps; \(Self.pathLimit) are the most.",
                at: offset)
        }
    }

    /// A subquery: the predicate is bound to the objects that the path leads to.
    mutating func bind(_ syntax: SubquerySyntax) throws(QueryError) -> BoundPath {
        try count(at: syntax.offset)
        let collection = try bind(syntax.collection)
        guard case .object(let target) = collection.leaf,
            collection.steps.contains(where: \.isCollection)
        else {
            let name = collection.description
            var hint: String?
            let kind: String
            if case .link = collection.type {
                kind = "is a link to one object"
                hint = "A property of the object is written as a path: \(name).name == 'Ann'."
            } else if collection.leaf.isCollection {
                kind = "holds single values"
            } else {
                kind = "is of type \(collection.type.name)"
            }
            throw failure(
                .invalidQuery,
                "SUBQUERY works on a collection of objects, but '\(name)' \(kind).", hint: hint,
                at: syntax.collection.offset)
        }
        if scopes.contains(where: { $0.variable == syntax.variable }) {
            throw failure(
                .invalidQuery, "The variable '\(syntax.variable)' is already in use further out.",
                hint: "Give each subquery its own.", at: syntax.offset)
        }
        let outer = scopes[scopes.count - 1 - collection.scope]
        scopes.append(
            Scope(classID: target, variable: syntax.variable, steps: outer.steps + collection.steps)
        )
        defer { scopes.removeLast() }
        let bytes = StackOfQuery.subquery + collection.steps.count * StackOfQuery.step
        let predicate = try nested(taking: bytes) { binder throws(QueryError) in
            try binder.bind(syntax.predicate)
        }
        return BoundPath(
            scope: collection.scope, classID: outer.classID, steps: [],
            leaf: .subquery(BoundSubquery(collection.steps, predicate)), quantifier: nil,
            description: "SUBQUERY(\(collection.description), \(syntax.variable), …).@count")
    }

    // MARK: Walking

    /// The state of following a path.
    struct PathWalk {
        var description: String
        var offset: Int
        var classID: ClassID
        var scope = 0
        var steps: [PathStep] = []
        var leaf: PathLeaf?
        /// The property at the end of the path so far, once it has been read and can still be
        /// counted or indexed.
        var property: StoredProperty?
        /// A collection is on the path, even if it gives only one value.
        var hasCollection = false
        /// Aliases that have been replaced.
        var substitutions = 0

        /// Makes the path begin at the object of a scope: 0 is that of the whole query.
        fileprivate mutating func begin(at depth: Int, of scopes: [Scope]) {
            scope = scopes.count - 1 - depth
            classID = scopes[depth].classID
        }
    }

    private mutating func walkElement(
        _ element: PathSyntax.Element, _ rest: inout ArraySlice<PathSyntax.Element>,
        _ walk: inout PathWalk
    ) throws(QueryError) {
        if walk.leaf != nil {
            throw try afterLeaf(element, walk)
        }
        switch element.kind {
        case .name(let name): try walkName(name, element, &rest, &walk)
        case .operation(.links): try walkBacklinks(element, &rest, &walk)
        case .operation(let operation):
            throw failure(
                .typeMismatch, "\(operation.rawValue) needs a property before it.",
                at: element.offset)
        case .index:
            throw failure(.invalidQuery, "An index needs a list before it.", at: element.offset)
        case .argument:
            throw failure(
                .invalidArgument, "A key path argument may not hold another.", at: element.offset)
        }
    }

    private mutating func walkName(
        _ name: String, _ element: PathSyntax.Element, _ rest: inout ArraySlice<PathSyntax.Element>,
        _ walk: inout PathWalk
    ) throws(QueryError) {
        let owner = try storedClass(walk.classID, at: element.offset)
        guard let property = owner.property(named: name) else {
            if try expandAlias(
                name, of: owner.id, &rest, &walk.substitutions, at: element.offset)
            {
                return
            }
            throw unknownProperty(name, of: owner, at: element.offset)
        }
        let reference = PropertyRef(classID: owner.id, propertyID: property.id)
        walk.property = property
        if property.type == .linkingObjects {
            guard let origin = property.targetClassID,
                let originProperty = property.originPropertyID
            else {
                throw failure(
                    .invalidQuery, "The inverse link '\(owner.name).\(name)' leads nowhere.",
                    at: element.offset)
            }
            try walkCollection(
                .backlinks(origin: PropertyRef(classID: origin, propertyID: originProperty)),
                element, &rest, &walk)
        } else if property.type == .link {
            try walkLink(property, reference, element, &rest, &walk)
        } else {
            try walkScalar(property, reference, &rest, &walk)
        }
    }

    /// `@links.@count` or `@links.Class.property`
    private mutating func walkBacklinks(
        _ element: PathSyntax.Element, _ rest: inout ArraySlice<PathSyntax.Element>,
        _ walk: inout PathWalk
    ) throws(QueryError) {
        walk.hasCollection = true
        if case .operation(let operation)? = rest.first?.kind,
            operation == .count || operation == .size
        {
            rest = rest.dropFirst()
            let origins = schema.linkProperties(targeting: walk.classID).map {
                PropertyRef(classID: $0.origin.id, propertyID: $0.property.id)
            }
            walk.leaf = .count(.allBacklinks(origins))
            return
        }
        guard let classElement = rest.first, case .name(let className) = classElement.kind,
            let propertyElement = rest.dropFirst().first,
            case .name(let propertyName) = propertyElement.kind
        else {
            throw failure(
                .invalidQuery, "After @links come a class and its property, or @count.",
                hint: "Write @links.Person.dogs.", at: element.offset)
        }
        rest = rest.dropFirst(2)
        let origin = try storedClass(named: className, at: classElement.offset)
        guard let property = origin.property(named: propertyName) else {
            throw unknownProperty(propertyName, of: origin, at: propertyElement.offset)
        }
        guard
            property.type == .mixed
                || (property.type == .link && property.targetClassID == walk.classID)
        else {
            let here = try storedClass(walk.classID, at: element.offset).name
            throw failure(
                .invalidQuery,
                "Property '\(origin.name).\(propertyName)' does not link to '\(here)'.",
                at: propertyElement.offset)
        }
        walk.property = nil
        try walkCollection(
            .backlinks(origin: PropertyRef(classID: origin.id, propertyID: property.id)), element,
            &rest, &walk)
    }

    private mutating func walkLink(
        _ property: StoredProperty, _ reference: PropertyRef, _ element: PathSyntax.Element,
        _ rest: inout ArraySlice<PathSyntax.Element>,
        _ walk: inout PathWalk
    ) throws(QueryError) {
        guard let target = property.targetClassID else {
            throw failure(
                .invalidQuery, "The link '\(property.name)' leads nowhere.", at: element.offset)
        }
        var step = PathStep.link(reference, target: target)
        if property.isCollection {
            walk.hasCollection = true
            switch try part(of: property, &rest) {
            case .elements:
                return try walkCollection(.list(reference, target: target), element, &rest, &walk)
            case .keys:
                walk.leaf = .keys(reference)
                return
            case .entry(let key): step = .entry(reference, key: key, target: target)
            }
        }
        switch rest.first?.kind {
        case nil:
            walk.leaf =
                if let key = step.key { .entry(reference, key: key, .link(target)) } else {
                    .property(reference, .link(target))
                }
        case .operation(.count), .operation(.size):
            rest = rest.dropFirst()
            walk.leaf = .count(.link(step))
        case .name, .operation(.links):
            walk.steps.append(step)
            walk.classID = target
        case .index:
            throw failure(
                .invalidQuery, "'\(property.name)' links to one object and has no index.",
                at: rest[rest.startIndex].offset)
        case .operation(let operation):
            let offset = rest[rest.startIndex].offset
            guard let aggregate = AggregateOperation(rawValue: operation.rawValue) else {
                throw wrongAggregate(operation, property.name, at: offset)
            }
            rest = rest.dropFirst()
            walk.leaf = try objectAggregate(
                aggregate, .link(step), target: target, &rest, at: offset)
        case .argument:
            throw failure(
                .invalidArgument, "A key path argument may not hold another.", at: element.offset)
        }
    }

    /// Objects at the other end of `step`: counted, aggregated, indexed, or walked on from.
    private mutating func walkCollection(
        _ step: PathStep, _ element: PathSyntax.Element,
        _ rest: inout ArraySlice<PathSyntax.Element>, _ walk: inout PathWalk
    ) throws(QueryError) {
        walk.hasCollection = true
        var step = step
        let collection: BoundCollection =
            if case .backlinks(let origin) = step { .backlinks(origin: origin) } else {
                .list(step.property)
            }
        switch rest.first?.kind {
        case .operation(.count), .operation(.size), .index(.size):
            rest = rest.dropFirst()
            walk.leaf = .count(collection)
            return
        case .operation(let operation):
            if let aggregate = AggregateOperation(rawValue: operation.rawValue) {
                let offset = rest[rest.startIndex].offset
                rest = rest.dropFirst()
                walk.leaf = try objectAggregate(
                    aggregate, collection, target: step.target, &rest, at: offset)
                return
            }
            guard operation == .links else {
                throw wrongAggregate(operation, walk.description, at: rest[rest.startIndex].offset)
            }
        case .index(let index):
            let offset = rest[rest.startIndex].offset
            if case .list(let reference, let target) = step {
                if let position = try position(index, in: walk.property, at: offset) {
                    step = .element(reference, position, target: target)
                }
            } else if index != .every {
                throw failure(
                    .invalidQuery, "Inverse links have no order and no index.", at: offset)
            }
            rest = rest.dropFirst()
        default: break
        }
        walk.steps.append(step)
        walk.classID = step.target
    }

    private mutating func walkScalar(
        _ property: StoredProperty, _ reference: PropertyRef,
        _ rest: inout ArraySlice<PathSyntax.Element>, _ walk: inout PathWalk
    ) throws(QueryError) {
        guard let type = ValueType(property) else { return }
        if type == .mixed { return try walkMixed(property, reference, &rest, &walk) }
        guard property.isCollection else {
            return walkValue(reference, nil, type, &rest, &walk)
        }
        walk.hasCollection = true
        switch try part(of: property, &rest) {
        case .elements: walk.leaf = .elements(reference, type)
        case .keys:
            walk.leaf = .keys(reference)
            return
        case .entry(let key): return walkValue(reference, key, type, &rest, &walk)
        }
        switch rest.first?.kind {
        case .operation(.count), .operation(.size), .index(.size):
            walk.leaf = .count(.list(reference))
        case .operation(let operation):
            let offset = rest[rest.startIndex].offset
            guard let aggregate = AggregateOperation(rawValue: operation.rawValue),
                type.isNumeric || (property.collection == .dictionary && aggregate.isExtreme)
            else {
                throw wrongAggregate(operation, property.name, at: offset)
            }
            walk.leaf = .aggregate(
                aggregate, .list(reference), of: nil, Self.type(of: aggregate, over: type))
        case .index(let index):
            if let position = try position(index, in: property, at: rest[rest.startIndex].offset) {
                walk.leaf = .element(reference, position, type)
            }
        case .name(let name) where type.isText && name.lowercased() == "length":
            walk.leaf = .lengths(reference)
        default: return
        }
        rest = rest.dropFirst()
    }

    /// A mixed property, or a collection of mixed values, and the values within them.
    private func walkMixed(
        _ property: StoredProperty, _ reference: PropertyRef,
        _ rest: inout ArraySlice<PathSyntax.Element>, _ walk: inout PathWalk
    ) throws(QueryError) {
        var base = NestedBase.value
        if property.isCollection {
            walk.hasCollection = true
            base = .elements
            switch try part(of: property, &rest) {
            case .elements: break
            case .keys:
                walk.leaf = .keys(reference)
                return
            case .entry(let key): base = .entry(key)
            }
            if case .elements = base, let next = rest.first {
                switch next.kind {
                case .operation(.count), .operation(.size), .index(.size):
                    walk.leaf = .count(.list(reference))
                    rest = rest.dropFirst()
                    return
                case .operation(let operation):
                    if let aggregate = AggregateOperation(rawValue: operation.rawValue) {
                        walk.leaf = .aggregate(
                            aggregate, .list(reference), of: nil,
                            Self.type(of: aggregate, over: .mixed))
                        rest = rest.dropFirst()
                        return
                    }
                case .index(let index) where property.collection == .list:
                    if let position = try position(index, in: property, at: next.offset) {
                        base = .element(position)
                    }
                    rest = rest.dropFirst()
                default: break
                }
            }
        }
        var steps: [NestedStep] = []
        while let next = rest.first, let step = try nestedStep(next) {
            steps.append(step)
            rest = rest.dropFirst()
        }
        var leaf = PathLeaf.nested(reference, base, steps)
        if steps.isEmpty {
            switch base {
            case .value: leaf = .property(reference, .mixed)
            case .elements: leaf = .elements(reference, .mixed)
            case .element(let position): leaf = .element(reference, position, .mixed)
            case .entry(let key): leaf = .entry(reference, key: key, .mixed)
            }
        } else {
            walk.hasCollection = true
        }
        switch rest.first?.kind {
        case .operation(.type): leaf = .typeName(leaf)
        case .operation(.count), .operation(.size), .index(.size): leaf = .mixedSize(leaf)
        default:
            walk.leaf = leaf
            return
        }
        rest = rest.dropFirst()
        walk.leaf = leaf
    }

    private func nestedStep(_ element: PathSyntax.Element) throws(QueryError) -> NestedStep? {
        switch element.kind {
        case .name(let name), .index(.key(let name)): return .key(Array(name.utf8))
        case .index(.position(let position)): return .index(.index(position))
        case .index(.first): return .index(.index(0))
        case .index(.last): return .index(.last)
        case .index(.every), .operation(.values): return .every
        case .operation(.keys): return .keys
        case .index(.argument(let index)):
            switch try argument(index, at: element.offset) {
            case .value(.string(let key)): return .key(Array(key.utf8))
            case .value(.int(let position)) where position >= 0:
                return .index(.index(Int(position)))
            default:
                throw failure(
                    .invalidArgument,
                    "The index $\(index) of a mixed value must be a text or a whole number from 0 "
                        + "on.", at: element.offset)
            }
        case .operation, .index(.size), .argument: return nil
        }
    }

    /// One value: that of a property, or that of a dictionary's key.
    private func walkValue(
        _ reference: PropertyRef, _ key: [UInt8]?, _ type: ValueType,
        _ rest: inout ArraySlice<PathSyntax.Element>, _ walk: inout PathWalk
    ) {
        walk.leaf =
            if let key { .entry(reference, key: key, type) } else { .property(reference, type) }
        if type.isText, case .operation(let operation)? = rest.first?.kind,
            operation == .count || operation == .size
        {
            rest = rest.dropFirst()
            walk.leaf = .size(reference, key: key)
        }
    }

    /// The part of a collection from which a path continues.
    private enum CollectionPart {
        /// Of a dictionary the values.
        case elements
        case keys
        case entry([UInt8])
    }

    /// Reads which part of a dictionary is meant: `@keys`, `@values`, `[*]`, or one key. A name is
    /// a key unless the objects that the dictionary links to have such a property.
    private func part(of property: StoredProperty, _ rest: inout ArraySlice<PathSyntax.Element>)
        throws(QueryError) -> CollectionPart
    {
        guard property.collection == .dictionary, let next = rest.first else { return .elements }
        let part: CollectionPart
        switch next.kind {
        case .operation(.values), .index(.every): part = .elements
        case .operation(.keys): part = .keys
        case .name(let name):
            if let target = property.targetClassID,
                try storedClass(target, at: next.offset).property(named: name) != nil
            {
                return .elements
            }
            part = .entry(Array(name.utf8))
        case .index(.key(let key)): part = .entry(Array(key.utf8))
        case .index(.argument(let index)):
            guard case .value(.string(let key)) = try argument(index, at: next.offset) else {
                throw failure(
                    .invalidArgument,
                    "The key $\(index) of the dictionary '\(property.name)' must be a text.",
                    at: next.offset)
            }
            part = .entry(Array(key.utf8))
        case .index(.position), .index(.first), .index(.last):
            throw failure(
                .invalidQuery,
                "'\(property.name)' is a dictionary: it has keys, and no positions.",
                hint: "Write \(property.name)['key'].", at: next.offset)
        case .operation, .index(.size), .argument: return .elements
        }
        rest = rest.dropFirst()
        return part
    }

    /// After `dogs.@max`: the property that is aggregated, of the objects or of those that they
    /// link to.
    private mutating func objectAggregate(
        _ operation: AggregateOperation, _ collection: BoundCollection, target: ClassID,
        _ rest: inout ArraySlice<PathSyntax.Element>, at offset: Int
    ) throws(QueryError) -> PathLeaf {
        var target = target
        var steps: [PathStep] = []
        var substitutions = 0
        try expandAliases(of: target, &rest, &substitutions)
        while case .name(let name)? = rest.first?.kind, case .name? = rest.dropFirst().first?.kind,
            let link = try storedClass(target, at: offset).property(named: name),
            link.type == .link, !link.isCollection, let next = link.targetClassID
        {
            steps.append(
                .link(PropertyRef(classID: target, propertyID: link.id), target: next))
            target = next
            rest = rest.dropFirst()
            try expandAliases(of: target, &rest, &substitutions)
        }
        guard case .name(let name)? = rest.first?.kind else {
            throw failure(
                .typeMismatch,
                "\(operation.rawValue) over objects needs a property.",
                hint: "Write dogs.\(operation.rawValue).age.", at: offset)
        }
        let nameOffset = rest[rest.startIndex].offset
        rest = rest.dropFirst()
        let owner = try storedClass(target, at: nameOffset)
        guard let property = owner.property(named: name) else {
            throw unknownProperty(name, of: owner, at: nameOffset)
        }
        guard let type = ValueType(property), operation.takes(property) else {
            throw failure(
                .typeMismatch,
                "\(operation.rawValue) cannot be made of '\(owner.name).\(name)', which is "
                    + "\(property.typeName(target: className(property.targetClassID))).",
                at: nameOffset)
        }
        return .aggregate(
            operation, collection,
            of: AggregatedPath(
                steps: steps, property: PropertyRef(classID: target, propertyID: property.id)),
            Self.type(of: operation, over: type))
    }

    private func className(_ id: ClassID?) -> String? {
        id.flatMap { schema.storedClass(id: $0)?.name }
    }

    /// Replaces the first element as long as it is an alias.
    private mutating func expandAliases(
        of classID: ClassID, _ rest: inout ArraySlice<PathSyntax.Element>,
        _ substitutions: inout Int
    ) throws(QueryError) {
        while let element = rest.first, case .name(let name) = element.kind,
            try storedClass(classID, at: element.offset).property(named: name) == nil
        {
            var tail = rest.dropFirst()
            guard
                try expandAlias(name, of: classID, &tail, &substitutions, at: element.offset)
            else { return }
            try checkLength(tail.count, at: element.offset)
            try count(QuerySize.stepParts * tail.count, at: element.offset)
            rest = tail
        }
    }

    static func type(of operation: AggregateOperation, over type: ValueType) -> ValueType {
        switch operation {
        case .minimum, .maximum: type
        case .sum where type == .mixed, .average where type == .mixed: .decimal
        case .sum: type == .int || type == .decimal ? type : .double
        case .average: type == .decimal ? .decimal : .double
        }
    }

    /// The position in a list; nil for `[*]`.
    private func position(_ index: PathIndex, in property: StoredProperty?, at offset: Int)
        throws(QueryError) -> ListPosition?
    {
        if let property, property.collection != .list {
            throw failure(
                .invalidQuery,
                "The values of the \(property.collection.name) '\(property.name)' have no index.",
                hint: "ANY, ALL and NONE ask about all of them.", at: offset)
        }
        switch index {
        case .position(let position): return .index(position)
        case .first: return .index(0)
        case .last: return .last
        case .every: return nil
        case .argument(let argumentIndex):
            guard case .value(.int(let position)) = try argument(argumentIndex, at: offset),
                position >= 0
            else {
                throw failure(
                    .invalidQuery, "The index $\(argumentIndex) must be a whole number from 0 on.",
                    at: offset)
            }
            return .index(Int(position))
        case .key:
            throw failure(
                .invalidQuery, "A list has numbers as indexes; texts belong to dictionaries.",
                at: offset)
        case .size: throw failure(.invalidQuery, "SIZE is not a position in a list.", at: offset)
        }
    }

    // MARK: Errors

    private func afterLeaf(_ element: PathSyntax.Element, _ walk: PathWalk) throws(QueryError)
        -> QueryError
    {
        let name = walk.property?.name ?? walk.description
        let owner = try storedClass(walk.classID, at: element.offset).name
        if case .keys = walk.leaf {
            return failure(
                .typeMismatch, "Nothing can follow the keys of '\(owner).\(name)'.",
                hint: "There are as many as values: write \(name).@count to count them.",
                at: element.offset)
        }
        switch element.kind {
        case .name(let next):
            return failure(
                .invalidQuery, "Property '\(owner).\(name)' has no property '\(next)'.",
                hint: Self.hint(for: next), at: element.offset)
        case .index:
            return failure(
                .invalidQuery, "Property '\(owner).\(name)' has no index.", at: element.offset)
        case .operation(let operation):
            var hint: String?
            if let aggregate = AggregateOperation(rawValue: operation.rawValue),
                let property = walk.property, aggregate.takes(property), !walk.steps.isEmpty
            {
                hint = "The aggregate stands before the property: \(operation.rawValue).\(name)."
            }
            return wrongAggregate(operation, name, at: element.offset, hint: hint)
        case .argument:
            return failure(
                .invalidArgument, "A key path argument may not hold another.", at: element.offset)
        }
    }

    private func wrongAggregate(
        _ operation: PathOperation, _ name: String, at offset: Int, hint: String? = nil
    ) -> QueryError {
        switch operation {
        case .type:
            failure(
                .typeMismatch, "@type is of mixed values, which '\(name)' is not.", at: offset)
        case .keys, .values:
            failure(
                .typeMismatch, "\(operation.rawValue) is of dictionaries, which '\(name)' is not.",
                at: offset)
        default:
            failure(
                .typeMismatch, "\(operation.rawValue) cannot be made of '\(name)'.", hint: hint,
                at: offset)
        }
    }

    func unknownProperty(_ name: String, of owner: StoredClass, at offset: Int) -> QueryError {
        let names = owner.visibleProperties.map(\.name) + aliases.names(of: owner.id)
        return failure(
            .invalidQuery, "Class '\(owner.name)' has no property '\(name)'.",
            hint: NearestName.hint(for: name, among: names) ?? Self.hint(for: name),
            at: offset)
    }

    /// The meaning of a name in other languages.
    private static func hint(for name: String) -> String? {
        switch name.lowercased() {
        case "true", "false", "yes", "no": "Truth values are true and false."
        case "self": "SELF, in capitals, is the object itself."
        case "length": "Did you mean @size?"
        case let word where PathOperation(rawValue: "@" + word) != nil: "Did you mean @\(word)?"
        default: nil
        }
    }

    // MARK: Text

    /// The elements with `$K0` replaced by its names.
    private func expandedElements(_ syntax: PathSyntax) throws(QueryError) -> [PathSyntax.Element] {
        var elements: [PathSyntax.Element] = []
        for element in syntax.elements {
            guard case .argument(let index) = element.kind else {
                elements.append(element)
                continue
            }
            _ = try argument(index, at: element.offset)
            let kinds = element.expanded(with: arguments)
            guard !kinds.isEmpty else {
                throw failure(
                    .invalidArgument, "$K\(index) must be a key path as text.", at: element.offset)
            }
            elements += kinds.map { PathSyntax.Element($0, offset: element.offset) }
        }
        guard !elements.isEmpty else {
            throw failure(.invalidQuery, "A path needs at least one name.", at: syntax.offset)
        }
        return elements
    }

    private static func description(_ syntax: PathSyntax, _ elements: [PathSyntax.Element])
        -> String
    {
        var text = ""
        for element in elements {
            switch element.kind {
            case .name(let name): text += text.isEmpty ? name : "." + name
            case .operation(let operation):
                text += text.isEmpty ? operation.rawValue : "." + operation.rawValue
            case .index(let index): text += "[\(index.description)]"
            case .argument(let index): text += "$K\(index)"
            }
        }
        return text
    }
}

extension PathIndex {
    /// As it is written.
    fileprivate var description: String {
        switch self {
        case .position(let position): "\(position)"
        case .first: "FIRST"
        case .last: "LAST"
        case .size: "SIZE"
        case .every: "*"
        case .key(let key): "'\(key)'"
        case .argument(let index): "$\(index)"
        }
    }
}
