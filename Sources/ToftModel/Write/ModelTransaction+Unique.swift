internal import ToftStorage

extension ModelTransaction {
    /// Adds the entries of a new object with the prepared values.
    func addUniques(_ key: Int64, _ owner: ClassHandle) throws(ModelError) {
        for constraint in owner.uniques {
            let hash = try constraint.hash { property throws(ModelError) in
                owner.anyPosition(id: property.id).flatMap { prepared.pointee.cell(at: $0) }
                    ?? property.defaultCell
            }
            if let hash { buffer.addUnique(constraint, hash, key) }
        }
    }

    /// Replaces the entries of an object that is about to get another value.
    func replaceUniques(_ cell: Cell, of key: Int64, _ property: PropertyHandle)
        throws(ModelError)
    {
        for constraint in view.schema.classes[property.classPosition].uniques
        where constraint.properties.contains(where: { $0 === property }) {
            let was = try view.uniqueHash(key, constraint)
            let now = try view.uniqueHash(key, constraint, with: (property, cell))
            guard was != now else { continue }
            if let was { try buffer.removeUnique(constraint, was, key) }
            if let now { buffer.addUnique(constraint, now, key) }
        }
    }

    /// Throws if an object that the transaction has created or changed has the values of another
    /// one. After the flush.
    func checkUniques() throws(ModelError) {
        let touched = buffer.touched
        guard !touched.isEmpty else { return }
        var order = RadixSort(count: touched.count) {
            RadixSort.Item(head: touched[$0].hash, index: UInt32(truncatingIfNeeded: $0))
        }
        order.sort()
        for item in order.items {
            try view.checkUnique(touched[Int(item.index)].constraint, item.head)
        }
    }
}
