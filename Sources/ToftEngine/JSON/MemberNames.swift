package import ToftModel

/// What JSON and CSV call the class and the key of an object. A member of the name that a property
/// has is that property: the format's own name has one `_` more then, and another one as long as
/// there is a property of this name too.
extension ClassHandle {
    /// What the key of an object is called: `_key`.
    package var keyMember: String { free("_key") { hasStoredProperty(named: $0) } }

    /// Whether a visible property with values has exactly this name in the file.
    func hasStoredProperty(named name: String) -> Bool {
        storedProperty { $0.persistedName.isSameName(as: name) } != nil
    }

    /// The visible property with values that has exactly this name in the file; else the one that
    /// the session calls so.
    package func storedProperty(named name: String) -> PropertyHandle? {
        if let found = storedProperty(where: { $0.persistedName.isSameName(as: name) }) {
            return found
        }
        return name.isSameName(as: keyMember)
            ? nil : storedProperty { $0.name.isSameName(as: name) }
    }

    private func storedProperty(where isWanted: (PropertyHandle) -> Bool) -> PropertyHandle? {
        properties.first { !$0.isHidden && $0.isStored && isWanted($0) }
    }
}

extension ModelSchema {
    /// What the class of an object is called in a dump: `_class`. All lines of a dump say it so, as
    /// nothing tells the properties of an object before its class.
    var classMember: String {
        let classes = visibleClasses
        return free("_class") { name in classes.contains { $0.hasStoredProperty(named: name) } }
    }
}

private func free(_ name: String, isTaken: (String) -> Bool) -> String {
    var name = name
    while isTaken(name) { name = "_" + name }
    return name
}
