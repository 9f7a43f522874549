internal import ToftStorage

extension ModelTransaction {
    /// Adds one link from an object to another; `owner` is the target's class if the property is
    /// mixed.
    func addBacklink(
        _ property: PropertyHandle, target: Int64, of owner: ClassID? = nil, source: Int64
    ) throws(ModelError) {
        try buffer.addBacklink(property, target: target, of: owner, source: source) {
            () throws(ModelError) in
            try view.openTree(property.backlinkSlot, property.backlinkTree)
        }
        try buffer.flushExcessEntries()
    }

    /// Removes one link from an object to another.
    func removeBacklink(
        _ property: PropertyHandle, target: Int64, of owner: ClassID? = nil, source: Int64
    ) throws(ModelError) {
        try buffer.removeBacklink(property, target: target, of: owner, source: source) {
            () throws(ModelError) in
            try view.openTree(property.backlinkSlot, property.backlinkTree)
        }
        try buffer.flushExcessEntries()
    }
}
