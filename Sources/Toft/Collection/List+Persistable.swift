internal import ToftEngine
internal import ToftModel

extension List: _Persistable {
    public static var _shape: _PropertyShape { Element._shape.collection(.list) }
    @inlinable public static var _isKeptWhenManaged: Bool { true }
    public static func _initial() -> List { List() }

    public static func _get(_ object: ObjectBase, _ column: Int) -> List {
        if let recorder = object.recorder {
            return List(recorder.follow(object, column, toElements: Element.self))
        }
        guard let row = object.row else { return List() }
        return Misuse.reporting {
            try row.session.verify()
            return List(
                try CollectionBacking(row.handle, column, .list, of: Element.self, in: row.session))
        } ?? List()
    }

    /// Assigning fills the list with the elements of the other; assigning a list to itself does
    /// nothing.
    public static func _set(_ value: List, _ object: ObjectBase, _ column: Int) {
        let list = _get(object, column)
        if list.backing != nil { list.fill(with: value) }
    }

    /// Takes the elements of another list in place of its own.
    func fill(with value: List) {
        guard self !== value, self != value else { return }
        replaceSubrange(0..<count, with: Array(value))
    }

    public static func _converted(from any: Any?, _ conversion: _ValueConversion) throws -> List {
        if conversion.isLive, Swift.type(of: any.flattened as Any) is AnyClass,
            let list = any as? List, !Element._isEmbedded || list.isUnmanaged
        {
            return list
        }
        let list = List()
        guard let any = any.flattened else { return list }
        let sequence = try conversion.elements(any, of: .list)
        list.append(objectsIn: try elements(of: sequence, conversion))
        return list
    }

    private static func elements(of sequence: some Sequence, _ conversion: _ValueConversion) throws
        -> [Element]
    {
        try sequence.map { try Element._convertedElement(from: $0, conversion) }
    }

    /// A new row's list is filled; that of an updated one becomes equal, element by element if only
    /// differences are to be written.
    public static func _promote(
        _ value: List, _ object: ObjectBase, _ column: Int, _ promotion: _Promotion
    ) throws {
        let elements = Array(value)
        let isAdopted = value.isUnmanaged
        let destination = promotion.destination
        func backing(in row: ObjectHandle) throws -> CollectionBacking {
            try CollectionBacking(row, column, .list, of: Element.self, in: destination.session)
        }
        if Element._isEmbedded {
            let objects = elements.compactMap(\._embedded)
            let there = try promotion.existing.map { try backing(in: $0).handle }
            try promotion.own(
                objects.enumerated().map { index, object in
                    let isKept = destination.policy == .modified
                    return (object, isKept ? try there?.target(at: index) : nil)
                }, _shape, column)
            promotion.afterwards { row in
                let list = try backing(in: row).handle
                if destination.policy == .all { try list.clear() }
                try list.change(to: objects, destination)
            }
        } else if !elements.isEmpty || destination.policy != .error {
            try promotion.set(column, _shape) { destination in
                .list(try elements.map { try $0._give(to: destination).value })
            } later: { row, given in
                let list = try backing(in: row).handle
                guard case .list(let values) = given else { return }
                if destination.policy == .modified { return try list.change(to: values) }
                if destination.policy == .all { try list.clear() }
                try list.insert(all: values, at: list.count)
            }
        }
        if isAdopted { promotion.afterwards { value.adopt(try backing(in: $0)) } }
    }
}

extension List: AdoptableCollection {
    var isUnmanaged: Bool { backing == nil }
}

extension CollectionBacking {
    /// Inserts elements into a list, all or nothing; embedded ones are created there.
    func insert<Element: RealmCollectionValue>(_ elements: [Element], at index: Int) throws {
        let handle = handle
        if Element._isEmbedded, !elements.isEmpty {
            let objects = elements.compactMap(\._embedded)
            return try session.embedding(
                objects, Element._shape, in: handle.owner, handle.property,
                check: { try handle.check(inserting: [], at: index) },
                change: { try handle.embed(objects, before: index, $0) })
        }
        try session.giving(
            Element._shape,
            { destination in try elements.map { try $0._give(to: destination).value } },
            check: { try handle.check(inserting: Element._known($0), at: index) },
            change: { try handle.insert(all: $0, at: index) })
    }

    /// Puts an element in the place of one of a list.
    func set<Element: RealmCollectionValue>(_ element: Element, at index: Int) throws {
        let handle = handle
        if Element._isEmbedded, let object = element._embedded {
            if object.row != nil, let own = handle.owned(object, try handle.value(at: index)) {
                return try handle.set(own, at: index)
            }
            return try session.embedding(
                [object], Element._shape, in: handle.owner, handle.property,
                check: { try handle.check(erasing: index..<(index + 1)) },
                change: { try handle.embed(object, at: index, $0) })
        }
        try session.giving(
            Element._shape, { try element._give(to: $0).value },
            check: { value in
                try handle.check(erasing: index..<(index + 1))
                try handle.check(adding: Element._known([value]))
            }, change: { try handle.set($0, at: index) })
    }

    /// Puts elements in the place of some of a list, all or nothing.
    func replace<Element: RealmCollectionValue>(_ range: Range<Int>, by elements: [Element]) throws
    {
        let handle = handle
        if Element._isEmbedded {
            let objects = elements.compactMap(\._embedded)
            return try session.embedding(
                objects, Element._shape, in: handle.owner, handle.property,
                check: { try handle.check(erasing: range) },
                change: {
                    if !range.isEmpty { try handle.erase(range) }
                    try handle.embed(objects, before: range.lowerBound, $0)
                })
        }
        func check(_ values: [Value]) throws {
            try handle.check(erasing: range)
            try handle.check(inserting: Element._known(values), at: range.lowerBound)
        }
        try session.giving(
            Element._shape,
            { destination in try elements.map { try $0._give(to: destination).value } },
            check: { try check($0) },
            change: { values in
                if !range.isEmpty, !values.isEmpty { try check(values) }
                if !range.isEmpty { try handle.erase(range) }
                if !values.isEmpty { try handle.insert(all: values, at: range.lowerBound) }
            })
    }
}

extension RealmCollectionValue {
    /// The values that can be checked, if null means a future object.
    static func _known(_ values: [ToftModel.Value]) -> [ToftModel.Value] {
        _shape.type == .link ? values.filter { $0 != .null } : values
    }
}

extension CollectionHandle {
    /// Inserts values that the Swift API keeps, all or nothing.
    func insert(all values: [Value], at index: Int) throws {
        guard !values.isEmpty else {
            guard index >= 0, index <= (try count) else {
                throw EngineError(outOfRange: index, count: try count)
            }
            return
        }
        let lender = ValueLender(), borrowed = values.map { lender.lend($0) }
        let result = withExtendedLifetime(lender) {
            borrowed.withUnsafeBufferPointer { buffer in
                Swift.Result { () throws(EngineError) in try insert(buffer, at: index) }
            }
        }
        try result.get()
    }

    /// Makes the list equal to `values`, writing only differences.
    func change(to values: [Value]) throws {
        let count = try count
        for index in 0..<Swift.min(count, values.count) where try value(at: index) != values[index]
        {
            try set(values[index], at: index)
        }
        if count > values.count { try erase(values.count..<count) }
        if count < values.count { try insert(all: Array(values[count...]), at: count) }
    }
}

extension Realm.Error {
    static var notInTransaction: Realm.Error {
        Realm.Error(
            .notInTransaction,
            "Can't change anything outside of a write transaction. Begin one first.")
    }

    static var frozen: Realm.Error {
        Realm.Error(
            .readOnly,
            "Can't write: a frozen realm never changes. Call thaw(), and change the result.")
    }
}
