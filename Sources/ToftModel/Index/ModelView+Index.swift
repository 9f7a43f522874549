internal import ToftPlatform
package import ToftStorage

/// A bound of a range of values.
package enum IndexBound {
    case unbounded
    case including(Cell)
    case excluding(Cell)
}

extension ModelView {
    /// Calls `body` with the key of each object whose indexed property holds `cell`, in ascending
    /// order, until it returns false.
    ///
    /// O(log objects + those found). If `isExactInIndex` is false, the keys are candidates whose
    /// values have to be compared.
    package func forEachIndexed(
        _ property: PropertyHandle, equalTo cell: Cell, _ body: (Int64) throws(ModelError) -> Bool
    ) throws(ModelError) {
        try uncountedIndexTree(property).borrow { tree throws(ModelError) in
            try KeyBytes.with { prefix throws(ModelError) in
                guard prefix.put(cell, of: property.type, optional: property.isOptional) else {
                    throw property.wrongIndexCell
                }
                try tree.forEachEntry(withPrefix: prefix.bytes) { key, _ throws(ModelError) in
                    guard let object = KeyBytes.lastKey(key), object.start == prefix.count else {
                        throw property.damagedIndex
                    }
                    return try body(object.key)
                }
            }
        }
    }

    /// Calls `body` with the key of each object whose indexed property is between two bounds, in
    /// the order of the values (then of the keys), until it returns false. Null is below every
    /// value: a lower bound of `.excluding(.null)` leaves it out.
    ///
    /// Objects with strings longer than 200 bytes near a bound are candidates whose values have to
    /// be compared, and have no order among equal first 200 bytes.
    package func forEachIndexed(
        _ property: PropertyHandle, from lower: IndexBound, to upper: IndexBound,
        _ body: (Int64) throws(ModelError) -> Bool
    ) throws(ModelError) {
        let tree = try indexTree(property)
        try KeyBytes.with { first throws(ModelError) in
            try KeyBytes.with { last throws(ModelError) in
                let lower = try IndexEdge(lower, property, &first),
                    upper = try IndexEdge(upper, property, &last)
                if upper.isBelowEverything { return }
                try tree.forEachEntry(from: first.bytes) { key, _ throws(ModelError) in
                    if upper.isEnd(last.bytes, key) { return false }
                    if lower.isExcluding, key.hasPrefix(first.bytes) { return true }
                    guard let object = KeyBytes.lastKey(key) else { throw property.damagedIndex }
                    return try body(object.key)
                }
            }
        }
    }

    /// Calls `body` with the key of each object whose indexed mixed property may hold a value from
    /// `lower` to `upper`, ends included, or with nil to that end of the kind `rank`, until it
    /// returns false: candidates whose values are still to be compared.
    package func forEachIndexed(
        _ property: PropertyHandle, rank: Int, from lower: BorrowedValue?, to upper: BorrowedValue?,
        _ body: (Int64) throws(ModelError) -> Bool
    ) throws(ModelError) {
        let tree = try indexTree(property)
        try KeyBytes.with { first throws(ModelError) in
            try KeyBytes.with { last throws(ModelError) in
                first.putBound(lower, rank)
                last.putBound(upper, rank)
                try tree.forEachEntry(from: first.bytes) { key, _ throws(ModelError) in
                    if last.bytes.isBefore(key), !key.hasPrefix(last.bytes) { return false }
                    guard let object = KeyBytes.lastKey(key) else { throw property.damagedIndex }
                    return try body(object.key)
                }
            }
        }
    }

    /// The key of the first object of a class whose property has a value, if an index alone can
    /// decide.
    ///
    /// - Returns: `isKnown` is false if it can't: the property has no index and is not a primary
    ///   key, or the value is of another type, not UTF-8, or a string so long that rows have to be
    ///   compared.
    ///
    /// O(log objects).
    package func firstIndexed(_ id: PropertyID, of classID: ClassID, equalTo value: BorrowedValue)
        throws(ModelError) -> (isKnown: Bool, key: Int64?)
    {
        guard let owner = schema.uncountedClass(id: classID) else { return (false, nil) }
        return try owner.borrow { owner throws(ModelError) in
            guard let index = owner.anyPosition(id: id) else { return (false, nil) }
            return try Unmanaged.passUnretained(owner.properties[index]).borrow {
                property throws(ModelError) in
                if owner.isHidden || property.isHidden { return (false, nil) }
                return try firstIndexed(property, owner, equalTo: value)
            }
        }
    }

    private func firstIndexed(
        _ property: PropertyHandle, _ owner: ClassHandle, equalTo value: BorrowedValue
    ) throws(ModelError) -> (isKnown: Bool, key: Int64?) {
        let cell: Cell
        switch (value, property.type) {
        case (.string(let text), .string)
        where text.count <= KeyBytes.textLimit && UTF8Text.isValid(text):
            cell = .bytes(text)
        case (.int(let number), .int): cell = .int64(number)
        case (.uuid(let bytes), .uuid), (.objectId(let bytes), .objectId): cell = .fixed(bytes)
        default: return (false, nil)
        }
        if property.isPrimaryKey { return (true, try find(cell: cell, property, owner)) }
        guard property.isIndexed else { return (false, nil) }
        var first: Int64?
        try forEachIndexed(property, equalTo: cell) { key throws(ModelError) in
            first = key
            return false
        }
        return (true, first)
    }

    /// True if an index distinguishes a string of `size` bytes from every other: not so beyond 200.
    package static func isExactInIndex(size: Int) -> Bool { size <= KeyBytes.textLimit }
}

extension KeyBytes {
    fileprivate mutating func putBound(_ value: BorrowedValue?, _ rank: Int) {
        put(byte: 1)
        if let value {
            put(mixed: value, isBound: true)
        } else {
            put(byte: UInt8(truncatingIfNeeded: rank))
        }
    }
}

/// One end of a range, as bytes in a `KeyBytes` beside it.
private struct IndexEdge {
    var isUnbounded = false
    var isExcluding = false
    /// "Less than null": nothing is.
    var isBelowEverything = false

    init(_ bound: IndexBound, _ property: PropertyHandle, _ key: inout KeyBytes) throws(ModelError)
    {
        switch bound {
        case .unbounded: isUnbounded = true
        case .including(let cell): try put(cell, property, &key)
        case .excluding(let cell):
            isExcluding = true
            try put(cell, property, &key)
        }
    }

    private mutating func put(_ cell: Cell, _ property: PropertyHandle, _ key: inout KeyBytes)
        throws(ModelError)
    {
        if case .null = cell, !property.isOptional {
            isUnbounded = true
            isBelowEverything = true
            return
        }
        if case .bytes(let text) = cell, text.count > KeyBytes.textLimit {
            isExcluding = false
            key.putPrefix(of: text, optional: property.isOptional)
        } else if !key.put(cell, of: property.type, optional: property.isOptional) {
            throw property.wrongIndexCell
        }
    }

    /// Whether an entry is behind this upper bound.
    func isEnd(_ end: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) -> Bool {
        guard !isUnbounded else { return false }
        if key.hasPrefix(end) { return isExcluding }
        return end.isBefore(key)
    }
}

extension PropertyHandle {
    fileprivate var wrongIndexCell: ModelError {
        .typeMismatch(
            className: className, property: name, expected: typeName,
            found: "a value that its index can't hold")
    }

    fileprivate var damagedIndex: ModelError {
        .inconsistent("an entry of the index of '\(className).\(name)' names no object")
    }
}
