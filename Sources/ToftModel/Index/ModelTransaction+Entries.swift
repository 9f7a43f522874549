internal import ToftStorage

extension ModelTransaction {
    /// Notes that an object links to another once more.
    func addBacklink(_ property: PropertyHandle, target: Int64, source: Int64) throws(ModelError) {
        try pending.entries.addBacklink(property, target: target, source: source) {
            () throws(ModelError) in
            try view.openTree(property.backlinkSlot, property.backlinkTree)
        }
    }

    /// Notes that an object links to another once less.
    func removeBacklink(_ property: PropertyHandle, target: Int64, source: Int64) throws(ModelError)
    {
        try pending.entries.removeBacklink(property, target: target, source: source) {
            () throws(ModelError) in
            try view.openTree(property.backlinkSlot, property.backlinkTree)
        }
    }
}
