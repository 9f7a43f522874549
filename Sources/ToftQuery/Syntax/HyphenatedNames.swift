internal import ToftModel

extension StoredSchema {
    /// The names that a query may spell with a hyphen; elsewhere a hyphen subtracts.
    var hyphenatedNames: Set<String> {
        var names: Set<String> = []
        for storedClass in visibleClasses {
            for name in [storedClass.name] + storedClass.visibleProperties.map(\.name)
            where name.hasHyphen {
                names.insert(name)
            }
        }
        return names
    }
}

extension String {
    /// Whether there is a hyphen in the text.
    var hasHyphen: Bool {
        var text = self
        return text.withUTF8 { $0.contains(UInt8(ascii: "-")) }
    }
}
