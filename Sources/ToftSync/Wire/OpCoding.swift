/// Bits 0 to 3 of an op's first byte. Raw values are those of the wire.
enum OpKind: UInt8 {
    case create = 0
    case delete = 1
    case put = 2
    case add = 3
    case insert = 4
    case move = 5
    case remove = 6
    case clear = 7
    case nested = 8
    case addClass = 9
    case addProperty = 10
    case fact = 14
}

/// The other bits of an op's first byte. A bit is set wherever it may be.
enum OpFlag {
    /// The object is that of the op before.
    static let sameObject: UInt8 = 1 << 4
    /// The property is that of the op before, of the same class.
    static let sameProperty: UInt8 = 1 << 5
    /// Reserved; must be 0.
    static let reserved: UInt8 = 1 << 6
    /// Steps follow the property.
    static let furtherSteps: UInt8 = 1 << 7
}

/// The byte before a step. Raw values are those of the wire.
enum StepTag: UInt8 {
    case element = 0
    case member = 1
    case key = 2
    case property = 3
    case value = 4
    case label = 5
}

/// The byte before a neighbour. Raw values are those of the wire.
private enum NeighbourTag: UInt8 {
    case nothing = 0
    /// The element that the op before inserted.
    case previous = 1
    case id = 2
}

/// The ops before, as far as an op may refer to them.
struct OpContext {
    var object: ObjectID?
    var property: PropertyNumber?
    var inserted: MadeID?

    func isSameProperty(_ object: ObjectID, _ property: PropertyNumber) -> Bool {
        self.object?.type == object.type && self.property == property
    }

    mutating func follow(_ path: Path) {
        if object?.type != path.object.type { property = nil }
        object = path.object
        if case .property(let number) = path.steps.first { property = number }
    }
}

extension Changeset {
    /// The canonical bytes, without the replica: a session has one.
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.varint(number)
        writer.varint(base)
        writer.svarint(time)
        writer.count(ops.count)
        var context = OpContext()
        for op in ops { writer.op(op, &context) }
        return writer.bytes
    }

    /// - Throws: For anything but the bytes that `encoded` gives.
    package init(decoding bytes: [UInt8], of replica: ReplicaNumber) throws(DecodingError) {
        var reader = ByteReader(bytes)
        let number = try reader.varint()
        let base = try reader.varint()
        let time = try reader.svarint()
        var ops: [Op] = []
        var context = OpContext()
        for _ in 0..<(try reader.count()) { ops.append(try reader.op(&context)) }
        try reader.end()
        self.init(replica, number, base: base, time: time, ops)
    }
}

extension Fact {
    /// The canonical bytes of facts, one after the other.
    package static func encoded(_ facts: [Fact]) -> [UInt8] {
        var writer = ByteWriter()
        writer.count(facts.count)
        var context = OpContext()
        for fact in facts {
            writer.head(.fact, fact.path, &context)
            writer.content(fact.content)
        }
        return writer.bytes
    }

    package static func decoded(_ bytes: [UInt8]) throws(DecodingError) -> [Fact] {
        var reader = ByteReader(bytes)
        var facts: [Fact] = []
        var context = OpContext()
        for _ in 0..<(try reader.count()) {
            let (kind, path) = try reader.head(&context)
            guard kind == .fact, let path else { throw .unknownKind(kind.rawValue) }
            facts.append(Fact(path, try reader.content()))
        }
        try reader.end()
        return facts
    }
}

extension ByteWriter {
    /// The first byte and the path.
    mutating func head(_ kind: OpKind, _ path: Path, _ context: inout OpContext) {
        var first = kind.rawValue
        let isSameObject = context.object == path.object
        if isSameObject { first |= OpFlag.sameObject }
        var property: PropertyNumber?
        if case .property(let number) = path.steps.first { property = number }
        let isSameProperty = property.map { context.isSameProperty(path.object, $0) } ?? false
        if isSameProperty { first |= OpFlag.sameProperty }
        if path.steps.count > 1 { first |= OpFlag.furtherSteps }
        byte(first)
        if !isSameObject { object(path.object) }
        // 0 stands for no property.
        if !isSameProperty { varint(property.map { UInt64($0.rawValue) + 1 } ?? 0) }
        if path.steps.count > 1 {
            count(path.steps.count - 1)
            for step in path.steps.dropFirst() { self.step(step) }
        }
        context.follow(path)
    }

    private mutating func step(_ step: Step) {
        switch step {
        case .element(let id):
            byte(StepTag.element.rawValue)
            made(id)
        case .member(let member):
            byte(StepTag.member.rawValue)
            value(member)
        case .key(let key):
            byte(StepTag.key.rawValue)
            text(key)
        case .property(let number):
            byte(StepTag.property.rawValue)
            varint(UInt64(number.rawValue))
        case .value, .nested: byte(StepTag.value.rawValue)
        case .label: byte(StepTag.label.rawValue)
        }
    }

    mutating func op(_ op: Op, _ context: inout OpContext) {
        var inserted: MadeID?
        switch op {
        case .create(let object, let given):
            head(.create, Path(object), &context)
            count(given.count)
            for one in given {
                varint(UInt64(one.property.rawValue) << 1 | (one.isExplicit ? 0 : 1))
                node(one.node)
            }
        case .delete(let object, let along):
            head(.delete, Path(object), &context)
            count(along.count)
            for other in along { self.object(other) }
        case .put(let path, let content):
            head(.put, path, &context)
            self.content(content)
        case .add(let path, let amount):
            head(.add, path, &context)
            svarint(amount)
        case .insert(let path, let neighbours, let node):
            head(.insert, path, &context)
            self.neighbours(neighbours, context)
            self.node(node)
            inserted = path.element
        case .move(let path, let neighbours):
            head(.move, path, &context)
            self.neighbours(neighbours, context)
        case .remove(let path): head(.remove, path, &context)
        case .clear(let path): head(.clear, path, &context)
        case .nested(let path, let id, let edit):
            head(.nested, path, &context)
            fixed(id.rawValue)
            self.edit(edit)
        case .addClass(let type):
            byte(OpKind.addClass.rawValue)
            self.type(type)
        case .addProperty(let type, let property):
            byte(OpKind.addProperty.rawValue)
            varint(UInt64(type.rawValue))
            self.property(property)
        }
        context.inserted = inserted
    }

    private mutating func neighbours(_ neighbours: Neighbours, _ context: OpContext) {
        for neighbour in [neighbours.left, neighbours.right] {
            guard let neighbour else {
                byte(NeighbourTag.nothing.rawValue)
                continue
            }
            if neighbour == context.inserted {
                byte(NeighbourTag.previous.rawValue)
            } else {
                byte(NeighbourTag.id.rawValue)
                made(neighbour)
            }
        }
    }

    private mutating func edit(_ edit: NestedEdit) {
        switch edit {
        case .entry(let key, let value):
            byte(1)
            text(key)
            if let value { self.value(value) } else { tag(.absent) }
        case .elements(let values):
            byte(0)
            count(values.count)
            for value in values { self.value(value) }
        }
    }

    private mutating func type(_ type: ClassSchema) {
        varint(UInt64(type.number.rawValue))
        text(type.name)
        byte(type.kind.rawValue)
        count(type.properties.count)
        for property in type.properties { self.property(property) }
        count(type.uniques.count)
        for constraint in type.uniques {
            count(constraint.count)
            for number in constraint { varint(UInt64(number.rawValue)) }
        }
    }

    private mutating func property(_ property: PropertySchema) {
        varint(UInt64(property.number.rawValue))
        text(property.name)
        byte(property.type.rawValue)
        byte(property.collection.rawValue | property.deleteRule.rawValue << 2)
        byte(property.isOptional ? 1 : 0)
        varint(property.target.map { UInt64($0.rawValue) + 1 } ?? 0)
        value(property.initial)
    }
}

extension ByteReader {
    mutating func head(
        _ context: inout OpContext
    ) throws(DecodingError) -> (OpKind, Path?) {
        let first = try byte()
        guard let kind = OpKind(rawValue: first & 0xF), first & OpFlag.reserved == 0 else {
            throw .unknownKind(first)
        }
        if kind == .addClass || kind == .addProperty {
            if first >> 4 != 0 { throw .notCanonical }
            return (kind, nil)
        }
        let object: ObjectID
        if first & OpFlag.sameObject != 0 {
            guard let known = context.object else { throw .notCanonical }
            object = known
        } else {
            object = try self.object()
            if object == context.object { throw .notCanonical }
        }
        let property = try property(first, object, context)
        var steps: [Step] = property.map { [.property($0)] } ?? []
        if first & OpFlag.furtherSteps != 0 {
            let count = try count()
            if count == 0 || property == nil { throw .notCanonical }
            // An element's value is a step more than an embedded object.
            if count > 3 * Schema.nesting { throw .nestedTooDeep }
            for _ in 0..<count { steps.append(try step()) }
        }
        let path = Path(object, steps)
        context.follow(path)
        return (kind, path)
    }

    private mutating func property(
        _ first: UInt8, _ object: ObjectID, _ context: OpContext
    ) throws(DecodingError) -> PropertyNumber? {
        if first & OpFlag.sameProperty != 0 {
            guard let known = context.property, context.isSameProperty(object, known) else {
                throw .notCanonical
            }
            return known
        }
        let number = try varint()
        if number == 0 { return nil }
        guard let raw = UInt32(exactly: number - 1) else { throw .tooLong }
        if context.isSameProperty(object, PropertyNumber(raw)) { throw .notCanonical }
        return PropertyNumber(raw)
    }

    private mutating func step() throws(DecodingError) -> Step {
        let byte = try byte()
        switch StepTag(rawValue: byte) {
        case .element: return .element(try made())
        case .member: return .member(try value())
        case .key: return .key(try text())
        case .property: return .property(PropertyNumber(try varint32()))
        case .value: return .value
        case .label: return .label
        case nil: throw .unknownKind(byte)
        }
    }

    mutating func op(_ context: inout OpContext) throws(DecodingError) -> Op {
        let (kind, path) = try head(&context)
        let inserted = context.inserted
        context.inserted = nil
        guard let path else { return try schemaOp(kind) }
        let isObject = kind == .create || kind == .delete
        if isObject != path.steps.isEmpty { throw .notCanonical }
        switch kind {
        case .create: return .create(path.object, try given())
        case .delete:
            var along: [ObjectID] = []
            for _ in 0..<(try count()) { along.append(try object()) }
            return .delete(path.object, along: along)
        case .put: return .put(path, try content())
        case .add: return .add(path, try svarint())
        case .insert:
            let neighbours = try neighbours(inserted)
            context.inserted = path.element
            return .insert(path, neighbours, try node())
        case .move: return .move(path, try neighbours(inserted))
        case .remove: return .remove(path)
        case .clear: return .clear(path)
        case .nested: return .nested(path, CollectionID(try fixed(UInt64.self)), try edit())
        case .addClass, .addProperty, .fact: throw .unknownKind(kind.rawValue)
        }
    }

    private mutating func given() throws(DecodingError) -> [Given] {
        var given: [Given] = []
        for _ in 0..<(try count()) {
            let head = try varint()
            guard let number = UInt32(exactly: head >> 1) else { throw .tooLong }
            given.append(Given(PropertyNumber(number), try node(), isExplicit: head & 1 == 0))
        }
        return given
    }

    private mutating func neighbours(
        _ inserted: MadeID?
    ) throws(DecodingError) -> Neighbours {
        Neighbours(try neighbour(inserted), try neighbour(inserted))
    }

    private mutating func neighbour(_ inserted: MadeID?) throws(DecodingError) -> MadeID? {
        let byte = try byte()
        guard let tag = NeighbourTag(rawValue: byte) else { throw .unknownKind(byte) }
        switch tag {
        case .nothing: return nil
        case .previous:
            guard let inserted else { throw .notCanonical }
            return inserted
        case .id:
            let id = try made()
            if id == inserted { throw .notCanonical }
            return id
        }
    }

    private mutating func edit() throws(DecodingError) -> NestedEdit {
        let byte = try byte()
        guard byte < 2 else { throw .unknownKind(byte) }
        if byte == 1 {
            let key = try text()
            switch try content() {
            case .absent: return .entry(key, nil)
            case .node(.value(let value)): return .entry(key, value)
            default: throw .notCanonical
            }
        }
        var values: [SyncValue] = []
        for _ in 0..<(try count()) { values.append(try value()) }
        return .elements(values)
    }

    private mutating func schemaOp(_ kind: OpKind) throws(DecodingError) -> Op {
        if kind == .addProperty {
            return .addProperty(ClassNumber(try varint32()), try property())
        }
        let number = ClassNumber(try varint32())
        let name = try text()
        let byte = try byte()
        guard let typeKind = ClassSchema.Kind(rawValue: byte) else { throw .unknownKind(byte) }
        var properties: [PropertySchema] = []
        for _ in 0..<(try count()) {
            let property = try property()
            if let last = properties.last, last.number >= property.number { throw .notCanonical }
            properties.append(property)
        }
        var uniques: [[PropertyNumber]] = []
        for _ in 0..<(try count()) {
            var constraint: [PropertyNumber] = []
            for _ in 0..<(try count()) { constraint.append(PropertyNumber(try varint32())) }
            uniques.append(constraint)
        }
        return .addClass(ClassSchema(name, number, typeKind, properties, uniques: uniques))
    }

    private mutating func property() throws(DecodingError) -> PropertySchema {
        let number = PropertyNumber(try varint32())
        let name = try text()
        let (type, kinds, optional) = (try byte(), try byte(), try byte())
        guard let valueType = ValueType(rawValue: type) else { throw .unknownKind(type) }
        guard let collection = CollectionType(rawValue: kinds & 3),
            let rule = DeleteRule(rawValue: kinds >> 2)
        else { throw .unknownKind(kinds) }
        if optional > 1 { throw .notCanonical }
        let target = try varint()
        guard target <= UInt64(UInt32.max) + 1 else { throw .tooLong }
        return PropertySchema(
            name, number, valueType, in: collection, isOptional: optional == 1,
            target: target == 0 ? nil : ClassNumber(UInt32(target - 1)), deleteRule: rule,
            initial: try value())
    }
}
