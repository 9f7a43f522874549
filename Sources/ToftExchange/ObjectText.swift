package import ToftEngine
package import ToftModel

/// The form of a class's objects in a file: lines of JSON, or records of comma-separated values
/// after one with names. `ObjectLines` reads it.
package struct ObjectText {
    private let owner: ClassHandle
    private var json: ObjectToJSON
    private let columns: Columns?

    /// The columns of comma-separated values.
    private struct Columns {
        /// Whether the object's key comes first.
        var hasKey: Bool
        var properties: [PropertyHandle]
    }

    private init(
        _ owner: ClassHandle, in session: Session, _ columns: Columns?, depth: Int = 0
    ) {
        self.owner = owner
        json = ObjectToJSON(session, depth: depth)
        self.columns = columns
    }

    /// A JSON object for each.
    /// - Parameter depth: number of links that are followed: see `ObjectToJSON.checked(depth:)`.
    package static func json(of owner: ClassHandle, in session: Session, depth: Int = 0)
        -> ObjectText
    {
        ObjectText(owner, in: session, nil, depth: depth)
    }

    /// A record of comma-separated values for each, with all properties.
    package static func csv(of owner: ClassHandle, in session: Session) -> ObjectText {
        let properties = owner.visibleProperties.filter(\.isStored)
        return ObjectText(
            owner, in: session, Columns(hasKey: owner.primaryKey == nil, properties: properties))
    }

    /// A record of comma-separated values for each, with these properties.
    /// - Throws: `noSuchProperty`; `invalidArgument` for one that is named twice.
    package static func csv(of owner: ClassHandle, _ names: [String], in session: Session)
        throws(EngineError) -> ObjectText
    {
        var properties: [PropertyHandle] = []
        for name in names {
            guard
                let property = owner.visibleProperties.first(where: {
                    $0.isStored && $0.name.isSameName(as: name)
                })
            else {
                throw EngineError(
                    .noSuchProperty, "'\(owner.name)' has no stored property '\(name)'.")
            }
            guard !properties.contains(where: { $0 === property }) else {
                throw EngineError(
                    .invalidArgument, "The property '\(name)' is named twice. Name it once.")
            }
            properties.append(property)
        }
        return ObjectText(owner, in: session, Columns(hasKey: false, properties: properties))
    }

    /// The text before the objects.
    package var header: String {
        guard let columns else { return "" }
        let key = columns.hasKey ? [owner.keyMember] : []
        return Self.record((key + columns.properties.map(\.persistedName)).map(CSV.quoted))
    }

    /// An object, with the end of its line.
    package mutating func line(of object: ObjectHandle) throws(EngineError) -> String {
        guard let columns else {
            return try json.object(object, of: owner).description + "\n"
        }
        var fields = columns.hasKey ? ["\(object.ref.key)"] : []
        for property in columns.properties {
            fields.append(try CSV.field(try json.value(of: property, in: object), of: property))
        }
        return Self.record(fields)
    }

    private static func record(_ fields: [String]) -> String {
        fields.joined(separator: ",") + "\r\n"
    }
}

extension Results {
    /// Calls `body` with each object that exists at its beginning, unless it is deleted in the
    /// meantime.
    package func forEachObject(_ body: (ObjectHandle) throws -> Void) throws {
        guard let classID else { return }
        // All at once: a walk through a version keeps its pages in memory.
        for key in try keys() {
            // Threads share frozen sessions.
            if !session.isFrozen { try session.giveBackMemory() }
            let object = try session.object(ObjectRef(classID: classID, key: key))
            if let object { try body(object) }
        }
    }
}
