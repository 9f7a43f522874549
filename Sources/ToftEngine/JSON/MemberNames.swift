package import ToftModel

/// The names of the class and the key of an object in JSON and CSV. A member with the name of a
/// property is that property: the format's own name then has one more `_`, and another one as long
/// as a property has this name too.
extension ClassHandle {
    /// The name for the key of an object: `_key`.
    package var keyMember: String { free("_key") { hasStoredProperty(named: $0) } }

    /// Whether a visible property with values has exactly this name in the file.
    func hasStoredProperty(named name: String) -> Bool {
        storedProperty { $0.persistedName.isSameName(as: name) } != nil
    }

    /// The visible property with values that has exactly this name in the file; otherwise the one
    /// of this name in the session.
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
    /// The name for the class of an object in a dump: `_class`. It is the same in all lines of a
    /// dump, as an object's properties are unknown before its class.
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
