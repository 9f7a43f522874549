extension ObjectBase {
    /// The value of the property with this name, in the property's declared type; nil and misuse
    /// for an unknown name.
    public final func value(forKey key: String) -> Any? {
        let value = Misuse.reporting { () -> Any? in
            if self is DynamicObject, let row { return try row.dynamicValue(of: key) }
            let property = try property(named: key)
            return property.value(in: self)
        }
        return value.flatMap(\.flattened)
    }

    /// The value at the end of a path over to-one links: "owner.name". Beyond a collection the path
    /// continues as in one: "dogs.@avg.age".
    public final func value(forKeyPath keyPath: String) -> Any? {
        guard let dot = keyPath.unicodeScalars.firstIndex(of: ".") else {
            return value(forKey: keyPath)
        }
        let next = value(forKey: String(keyPath[..<dot]))
        let rest = String(keyPath.unicodeScalars[dot...].dropFirst())
        if let objects = next as? any RealmCollection { return objects.value(forKeyPath: rest) }
        return (next as? ObjectBase)?.value(forKeyPath: rest)
    }

    /// Sets the property with this name to a value that can be converted: numbers of any type,
    /// arrays for lists, dictionaries for links.
    public final func setValue(_ value: Any?, forKey key: String) {
        Misuse.reporting {
            if self is DynamicObject, let row { return try row.dynamicSet(value, of: key) }
            let property = try property(named: key)
            let builder: any ObjectBuilder =
                row.map { ManagedBuilder(session: $0.session, policy: .error) }
                ?? UnmanagedBuilder()
            let conversion = _ValueConversion(
                builder: builder, path: "\(ModelClass.name(of: type(of: self))).\(key)",
                isLive: row != nil)
            try property.withAddress(in: self) {
                try property.wrapper.set(value, at: $0, of: self, conversion)
            }
        }
    }

    /// Sets the property at the end of a path over to-one links; does nothing if a link is nil. A
    /// path over a property that is not a link is misuse.
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        guard let dot = keyPath.unicodeScalars.firstIndex(of: ".") else {
            return setValue(value, forKey: keyPath)
        }
        let name = String(keyPath[..<dot])
        guard let next = self.value(forKey: name) else { return }
        guard let target = next as? ObjectBase else {
            return Misuse.report(
                Realm.Error(.typeMismatch, "'\(name)' is not a link, nor '\(keyPath)' a path."))
        }
        target.setValue(value, forKeyPath: String(keyPath.unicodeScalars[dot...].dropFirst()))
    }

    private final func property(named name: String) throws -> ModelProperty {
        let model = ModelClass.of(type(of: self))
        guard let property = model.property(named: name) else {
            throw Realm.Error(.noSuchProperty, "'\(model.name)' has no property '\(name)'.")
        }
        return property
    }
}
