internal import ToftEngine
internal import ToftModel
internal import ToftStorage

/// A file as the page is told of it: its classes and its facts.
enum FileDescription {
    /// The classes with their properties, in the order of the file, and the numbers of objects.
    static func classes(of session: Session) throws(EngineError) -> JSONValue {
        var classes: [JSONValue] = []
        for owner in session.schema.visibleClasses {
            var properties: [JSONValue] = []
            for property in owner.visibleProperties {
                properties.append(try description(of: property, session))
            }
            let uniques = owner.uniques.map { unique in
                JSONValue.list(unique.properties.map { .text($0.name) })
            }
            classes.append(
                .object([
                    ("name", .text(owner.name)), ("isEmbedded", .bool(owner.isEmbedded)),
                    ("count", .count(try session.count(of: owner.id))),
                    ("uniques", .list(uniques)), ("properties", .list(properties)),
                ]))
        }
        return .list(classes)
    }

    private static func description(of property: PropertyHandle, _ session: Session)
        throws(EngineError) -> JSONValue
    {
        var members: [(String, JSONValue)] = [
            ("name", .text(property.name)), ("type", .text(property.type.name)),
            ("collection", .text(property.isCollection ? property.collection.name : "")),
            ("typeName", .text(property.typeName)), ("isOptional", .bool(property.isOptional)),
            ("isPrimaryKey", .bool(property.isPrimaryKey)),
            ("isAutoIncremented", .bool(property.isAutoIncremented)),
            ("isIndexed", .bool(property.isIndexed)),
            ("ownsTargets", .bool(property.ownsTargets)),
        ]
        if property.deleteRule != .nullify {
            members.append(("deleteRule", .text("\(property.deleteRule)")))
        }
        if let target = property.targetName { members.append(("target", .text(target))) }
        if let origin = property.originPropertyID, let target = property.targetClassID {
            let origin = try session.classHandle(target).anyProperty(id: origin)
            if let origin { members.append(("origin", .text(origin.name))) }
        }
        return .object(members)
    }

    /// The number of objects of each class, by its name.
    static func counts(of session: Session) throws(EngineError) -> JSONValue {
        var counts: [(String, JSONValue)] = []
        for owner in session.schema.visibleClasses {
            counts.append((owner.name, .count(try session.count(of: owner.id))))
        }
        return .object(counts)
    }

    /// Sizes in bytes, versions, and who reads which.
    static func facts(of session: Session, path: String?, hasKey: Bool) throws(EngineError)
        -> JSONValue
    {
        let facts = try session.facts()
        var pins: [JSONValue] = []
        for pin in try session.versionPins() {
            pins.append(
                .object([
                    ("version", .number(pin.version.rawValue)),
                    ("process", pin.processID.map { .number($0) } ?? .null),
                    ("heldBytes", .number(pin.heldSize)),
                    ("seconds", pin.age.map { .double(Double($0) / 1e9) } ?? .null),
                ]))
        }
        return .object([
            ("path", .text(path ?? "")), ("version", .number(facts.version.rawValue)),
            ("schemaVersion", .number(try session.schemaVersion)),
            ("isEncrypted", .bool(hasKey)), ("isReadOnly", .bool(session.isReadOnly)),
            ("format", .integer(Int64(MetaLayout.currentFormat))),
            ("fileBytes", .number(facts.fileSize)), ("liveBytes", .number(facts.liveSize)),
            ("freeBytes", .number(facts.freeSize)), ("heldBytes", .number(facts.heldSize)),
            ("logBytes", .number(facts.logSize)), ("deferredBytes", .number(facts.deferredSize)),
            ("checkpointVersion", .number(facts.checkpointVersion.rawValue)),
            ("oldestVersion", .number(facts.oldestPinnedVersion.rawValue)),
            ("pins", .list(pins)),
        ])
    }
}
