internal import ToftStorage

extension ModelTransaction: LinkTargets {
    /// The cell of a value of a mixed property, or of an element of one, its bytes in `arena`.
    @inline(never)
    func prepareMixed(_ value: BorrowedValue, _ property: PropertyHandle) throws(ModelError) -> Cell
    {
        switch value {
        case .null: return .null
        case .list where property.collection == .set,
            .dictionary where property.collection == .set:
            throw .typeMismatch(
                className: property.className, property: property.name,
                expected: "one value, as an element of a set", found: value.kindName)
        default:
            var writer = MixedWriter(self, property)
            try writer.put(value, depth: 0)
            return writer.bytes.withUnsafeBytes { .bytes(arena.copy($0)) }
        }
    }

    /// Throws unless a mixed value may link to an object: it exists, and is not embedded.
    func checkTarget(_ target: ObjectRef, of property: PropertyHandle) throws(ModelError) {
        guard let owner = view.schema.anyClass(id: target.classID), !owner.isHidden else {
            throw .noSuchClass("#\(target.classID)")
        }
        guard !owner.isEmbedded else { throw property.alreadyOwned }
        if !buffer.isCreated(target.key, owner.position) {
            try view.requireObject(target.key, owner)
        }
    }

    /// Changes the backlinks of a mixed property from those of one value to those of another.
    @inline(never)
    func replaceMixedLinks(
        _ property: PropertyHandle, of key: Int64, _ old: [ObjectRef], by cell: Cell
    ) throws(ModelError) {
        let added = try MixedValue.links(in: cell)
        guard added != old else { return }
        for target in old {
            try removeBacklink(property, target: target.key, of: target.classID, source: key)
        }
        for target in added {
            try addBacklink(property, target: target.key, of: target.classID, source: key)
        }
    }
}
