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
        guard list.backing != nil, list !== value, list != value else { return }
        list.replaceSubrange(0..<list.count, with: Array(value))
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

    /// A new row's list is filled; that of an updated one becomes equal, element by element where
    /// only what differs is to be written.
    public static func _promote(
        _ value: List, _ object: ObjectBase, _ column: Int, _ promotion: _Promotion
    ) {
        let elements = Array(value)
        let isAdopted = value.isUnmanaged
        let destination = promotion.destination
        promotion.afterwards { row in
            let backing = try CollectionBacking(
                row, column, .list, of: Element.self, in: destination.session)
            let list = backing.handle
            if Element._isEmbedded {
                if destination.policy == .all { try list.clear() }
                try list.change(to: elements.compactMap(\._embedded), destination)
            } else {
                let values = try elements.map { try $0._give(to: destination).value }
                if destination.policy == .modified {
                    try list.change(to: values)
                } else {
                    if destination.policy == .all { try list.clear() }
                    try list.insert(all: values, at: list.count)
                }
            }
            if isAdopted { value.adopt(backing) }
        }
    }
}

extension List: AdoptableCollection {
    var isUnmanaged: Bool { backing == nil }
}

extension CollectionHandle {
    /// Inserts values that the Swift API keeps, all or none.
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

    /// Makes the list equal to `values`, writing only what differs.
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
            "Can't write: what is frozen never changes. Call thaw(), and change what that gives.")
    }
}
