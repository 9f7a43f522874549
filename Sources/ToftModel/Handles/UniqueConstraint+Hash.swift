internal import ToftStorage

extension UniqueConstraint {
    /// The hash of an object's values, which `cell` gives; nil if one is null. FNV-1a of the values
    /// one after the other, as `KeyBytes` of properties that are not optional.
    func hash(_ cell: (PropertyHandle) throws(ModelError) -> Cell) throws(ModelError) -> UInt64? {
        var hash = KeyBytes.emptyHash
        for property in properties {
            let cell = try cell(property)
            if case .null = cell { return nil }
            hash = try property.hash(of: cell, after: hash)
        }
        return hash
    }
}

extension PropertyHandle {
    @inline(never)
    fileprivate func hash(of cell: Cell, after hash: UInt64) throws(ModelError) -> UInt64 {
        try KeyBytes.with { bytes throws(ModelError) in
            guard bytes.put(cell, of: type, optional: false) else { throw wrongCell }
            return KeyBytes.hash(bytes.bytes, after: hash)
        }
    }
}
