internal import ToftPlatform
package import ToftStorage

/// A bound of a range of values.
package enum IndexBound {
    case unbounded
    case including(Cell)
    case excluding(Cell)
}

extension KeyBytes {
    mutating func putBound(_ value: BorrowedValue?, _ rank: Int) {
        put(byte: 1)
        if let value {
            put(mixed: value, isBound: true)
        } else {
            put(byte: UInt8(truncatingIfNeeded: rank))
        }
    }
}

/// One end of a range, as bytes in a `KeyBytes` beside it.
struct IndexEdge {
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
    var wrongIndexCell: ModelError {
        .typeMismatch(
            className: className, property: name, expected: typeName,
            found: "a value that its index can't hold")
    }

    var damagedIndex: ModelError {
        .inconsistent("an entry of the index of '\(className).\(name)' names no object")
    }
}
