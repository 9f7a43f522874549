internal import ToftEngine
internal import ToftModel

extension MutableSet: _Persistable {
    public static var _shape: _PropertyShape { Element._shape.collection(.set) }
    @inlinable public static var _isKeptWhenManaged: Bool { true }
    public static func _initial() -> MutableSet { MutableSet() }

    public static func _get(_ object: ObjectBase, _ column: Int) -> MutableSet {
        if let recorder = object.recorder {
            return MutableSet(recorder.follow(object, column, toElements: Element.self))
        }
        guard let row = object.row else { return MutableSet() }
        return Misuse.reporting {
            try row.session.verify()
            return MutableSet(
                try CollectionBacking(row.handle, column, .set, of: Element.self, in: row.session))
        } ?? MutableSet()
    }

    /// Assigning fills the set with the elements of the other; assigning a set to itself does
    /// nothing.
    public static func _set(_ value: MutableSet, _ object: ObjectBase, _ column: Int) {
        let set = _get(object, column)
        if set.backing != nil { set.fill(with: value) }
    }

    /// Takes the elements of another set in place of its own.
    func fill(with value: MutableSet) {
        guard self !== value, self != value else { return }
        Misuse.reporting {
            let elements = Array(value)
            guard let backing else {
                removeAll()
                return insert(objectsIn: elements)
            }
            try backing.session.requireWriting()
            try backing.insert(elements, clearing: true)
        }
    }

    public static func _converted(from any: Any?, _ conversion: _ValueConversion) throws
        -> MutableSet
    {
        if conversion.isLive, Swift.type(of: any.flattened as Any) is AnyClass,
            let set = any as? MutableSet
        {
            return set
        }
        guard let any = any.flattened else { return MutableSet() }
        let sequence = try conversion.elements(any, of: .set)
        return MutableSet(try elements(of: sequence, conversion))
    }

    private static func elements(of sequence: some Sequence, _ conversion: _ValueConversion) throws
        -> [Element]
    {
        try sequence.map { try Element._convertedElement(from: $0, conversion) }
    }

    /// A new row's set is filled; that of an updated one becomes equal, with `.modified` by writing
    /// only differences.
    public static func _promote(
        _ value: MutableSet, _ object: ObjectBase, _ column: Int, _ promotion: _Promotion
    ) throws {
        let elements = Array(value)
        let isAdopted = value.isUnmanaged
        let destination = promotion.destination
        func backing(in row: ObjectHandle) throws -> CollectionBacking {
            try CollectionBacking(row, column, .set, of: Element.self, in: destination.session)
        }
        if !elements.isEmpty || destination.policy != .error {
            try promotion.set(column, _shape) { destination in
                .list(try elements.map { try $0._give(to: destination).value })
            } later: { row, given in
                let set = try backing(in: row).handle
                guard case .list(let values) = given else { return }
                switch destination.policy {
                case .error: break
                case .all: try set.clear()
                case .modified: try set.eraseAll(except: Set(values))
                }
                try set.insert(setOf: values)
            }
        }
        if isAdopted { promotion.afterwards { value.adopt(try backing(in: $0)) } }
    }
}

extension MutableSet: AdoptableCollection {
    var isUnmanaged: Bool { backing == nil }
}

extension MutableSet: ObservedList {
    var observedHandle: CollectionHandle? { backing?.handle }
}

extension MutableSet {
    public func _carry() throws -> _Carrier {
        guard let backing else { throw _Carrier.unmanaged("set") }
        return try backing.carrier(of: Element.self) { MutableSet($0) }
    }
}

extension CollectionBacking {
    /// Inserts elements into a set unless it has them already; all or nothing.
    func insert<Element: RealmCollectionValue>(_ elements: [Element], clearing: Bool) throws {
        let handle = handle
        try session.giving(
            Element._shape,
            { destination in try elements.map { try $0._give(to: destination).value } },
            check: { try handle.check(adding: Element._known($0)) },
            change: { values in
                if clearing || values.count > 1 { try handle.check(adding: values) }
                if clearing { try handle.clear() }
                try handle.insert(setOf: values)
            })
    }
}

extension CollectionHandle {
    /// Inserts values into a set unless it has them already.
    fileprivate func insert(setOf values: [Value]) throws {
        for value in values { try setInsert(value) }
    }

    /// Removes the elements of a set that are not among some values.
    fileprivate func eraseAll(except kept: Set<Value>) throws {
        for value in try values() where !kept.contains(value) { _ = try setErase(value) }
    }
}
