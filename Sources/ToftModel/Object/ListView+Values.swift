package import ToftStorage

/// The position of a value or a key in an ordered collection, and whether it exists.
package struct OrderedPosition {
    /// Its index; if it does not exist, that of the first element after it.
    package var index: Int
    package var isFound: Bool
}

extension ListView {
    /// The position of a cell among ascending elements of a type. O(log elements).
    package func position(of wanted: Cell, _ type: PropertyType) throws(ModelError)
        -> OrderedPosition
    {
        var low = 0, high = count
        while low < high {
            let middle = low + (high - low) / 2
            let cell = try stored { () throws(StorageError) in try self.cell(at: middle) }
            if cell.isBefore(wanted, of: type) { low = middle + 1 } else { high = middle }
        }
        guard low < count else { return OrderedPosition(index: low, isFound: false) }
        let cell = try stored { () throws(StorageError) in try self.cell(at: low) }
        return OrderedPosition(index: low, isFound: !wanted.isBefore(cell, of: type))
    }
}

extension ListView {
    /// The objects that mixed values link to, each once.
    func mixedTargets() throws(ModelError) -> Set<ObjectRef> {
        var targets: Set<ObjectRef> = []
        for index in 0..<count {
            let cell = try stored { () throws(StorageError) in try self.cell(at: index) }
            targets.formUnion(try MixedValue.links(in: cell))
        }
        return targets
    }

    /// The keys that a list of links holds, each once, in ascending order.
    func linkTargets() throws(ModelError) -> [Int64] {
        var targets: [Int64] = []
        targets.reserveCapacity(reservedCount)
        for index in 0..<count {
            let cell = try stored { () throws(StorageError) in try self.cell(at: index) }
            if case .int64(let target) = cell { targets.append(target) }
        }
        targets.sort()
        var last: Int64?
        targets.removeAll { target in
            defer { last = target }
            return target == last
        }
        return targets
    }
}
