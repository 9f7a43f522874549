/// The content of a realm at one moment, to be read by paths.
///
/// Reads don't throw. Tables that stand on a file keep the first error of reading it, answer with
/// nothing from then on, and throw the error when the transaction is about to be committed: so
/// nothing that was decided without knowing comes to stay.
package protocol ReadableTables {
    var schema: Schema { get }

    /// Whether the object is there. O(1).
    func contains(_ object: ObjectID) -> Bool

    /// The content of a path; `.absent` for nothing, nil if nothing can be there, as a step before
    /// the last is not there.
    func content(at path: Path) -> Content?

    /// The paths of all links to an object, those within mixed values included: what changes when
    /// the object goes.
    func links(to object: ObjectID) -> [Path]

    func eachObject(_ body: (ObjectID) -> Void)
}

/// The content of a realm, with functions that change it. A replica needs no more.
package protocol Tables: ReadableTables {
    /// Puts `content` at a path, and gives what was there; nil, and nothing is done, where nothing
    /// can be. A path of no steps makes an object (of `.node(.fields)`) or erases it.
    ///
    /// Backlinks and indexes follow. Nothing else does: links to an erased object are the caller's.
    @discardableResult
    mutating func put(_ content: Content, at path: Path) -> Content?

    /// Adds a class; one that is there stays.
    mutating func add(_ type: ClassSchema)
    /// Adds a property with its first value in all objects of the class; one that is there stays.
    mutating func add(_ property: PropertySchema, to type: ClassNumber)
}

extension Tables {
    /// Makes an object with what a new one of its class has.
    package mutating func make(_ object: ObjectID) {
        put(.node(.fields(schema[object.type]?.blank ?? Fields())), at: Path(object))
    }

    /// Takes out the link to `target` that is at a path: a property or entry becomes null, an
    /// element or member goes, a mixed value has null in the link's place.
    package mutating func unlink(_ path: Path, from target: ObjectID) {
        guard let slot = schema.slot(path), let now = content(at: path), now != .absent else {
            return
        }
        switch slot.kind {
        case .element, .member: put(.absent, at: path)
        default:
            guard let value = now.node?.value else { return }
            put(.value(value.keepingLinks { $0 != target }), at: path)
        }
    }

    /// Takes an object out, with all links to it.
    package mutating func remove(_ object: ObjectID) {
        for path in links(to: object) { unlink(path, from: object) }
        put(.absent, at: Path(object))
    }
}

extension ReadableTables {
    /// The object and all that go with it when it is deleted; and an object that forbids it.
    package func cascade(_ object: ObjectID) -> (going: [ObjectID], denying: ObjectID?) {
        var going = [object]
        var known: Set = [object]
        var next = 0
        while next < going.count {
            let path = Path(going[next])
            next += 1
            guard let type = schema[path.object.type], let fields = content(at: path)?.node?.fields
            else { continue }
            schema.eachLink(in: fields, at: path, type) { _, target, property in
                if property.deleteRule == .cascade, contains(target), known.insert(target).inserted
                {
                    going.append(target)
                }
            }
        }
        for target in going {
            for path in links(to: target) where !known.contains(path.object) {
                if schema.slot(path)?.property.deleteRule == .deny { return (going, path.object) }
            }
        }
        return (going, nil)
    }
}
