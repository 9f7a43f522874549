extension Resolver {
    mutating func add(_ type: ClassSchema) -> Refusal? {
        guard let known = store.schema[type.number] else {
            store.add(type)
            changesSchema = true
            return nil
        }
        guard known.name == type.name, known.kind == type.kind else {
            return Refusal(
                .schemaConflict,
                "class \(type.name.string) is \(known.kind) here, and \(type.kind) in the changeset"
            )
        }
        for property in type.properties {
            if let refusal = add(property, to: type.number) { return refusal }
        }
        return nil
    }

    mutating func add(_ property: PropertySchema, to type: ClassNumber) -> Refusal? {
        guard let known = store.schema[type]?[property.number] else {
            store.add(property, to: type)
            changesSchema = true
            return nil
        }
        guard known.name == property.name, known.fits(property) else {
            return Refusal(
                .schemaConflict,
                "property \(property.name.string) of class \(type.rawValue) has another type here")
        }
        return nil
    }
}
