internal import ToftPlatform
package import ToftStorage

/// Failures concerning data and its meaning. ToftEngine maps each case to one public error.
package enum ModelError: Error, Sendable, Equatable {
    /// Storage failed below.
    case storage(StorageError)
    /// The declared schema cannot be: every problem of it.
    case invalidSchema([SchemaProblem])
    /// The declared schema and the file differ in ways that opening does not change: every
    /// difference.
    case schemaMismatch([SchemaProblem])
    /// The declared schema version is lower than the file's.
    case schemaVersionTooLow(stored: UInt64, given: UInt64)
    /// Another session has migrated the file to a schema that the declared one does not fit: every
    /// difference.
    case schemaOutdated(stored: UInt64, [SchemaProblem])
    /// A class or property can't be renamed so, and why.
    case invalidRenaming(String)
    /// After a migration several objects have the same primary key, this one.
    case primaryKeysNotUnique(className: String, property: String, value: Value)
    /// The value that a caller gave as the default of a property is invalid, with the reason.
    case invalidDefault(className: String, property: String, String)
    /// A property does not accept the default that a caller gave, with the reason.
    indirect case refusedDefault(className: String, property: String, ModelError)
    /// The schema in the file cannot be read.
    case damagedSchema(String)
    /// The file's schema has something that this build does not know ("type mixed of Dog.id").
    case unsupportedSchema(String)
    case noSuchClass(String, hint: String? = nil)
    case noSuchProperty(className: String, property: String, hint: String? = nil)
    case noSuchObject(className: String, key: Int64)
    /// A value of another kind than the property's.
    case typeMismatch(className: String, property: String, expected: String, found: String)
    /// Null for a property that is not optional.
    case nullNotAllowed(className: String, property: String)
    /// A primary key was to be set after creation.
    case primaryKeyImmutable(className: String, property: String)
    /// Another object of the class has this primary key.
    case duplicatePrimaryKey(className: String, value: Value)
    /// Two objects have the same values of unique properties, at the commit or in the file that a
    /// schema with the constraint opens.
    case duplicateValues(className: String, properties: [String], values: [Value])
    /// The class has a primary key, but the object got no value for it.
    case primaryKeyMissing(className: String, property: String)
    /// No greater primary key is left to give to a new object.
    case primaryKeysExhausted(className: String, property: String)
    /// A primary key was given or looked up for a class without one.
    case noPrimaryKey(className: String)
    case valueTooLong(className: String, property: String, length: Int, limit: Int)
    /// A string that is not UTF-8.
    case invalidText(className: String, property: String)
    /// A date whose parts do not fit together.
    case invalidDate(className: String, property: String)
    /// A link to an object of another class.
    case wrongLinkTarget(className: String, property: String, expected: String, found: String)
    /// An embedded object was to be created without an owner.
    case embeddedClass(String)
    /// An embedded object, which has an owner, was to be linked to.
    case alreadyOwned(className: String, property: String)
    /// A link of an object that stays, the one with the key `source`, keeps an object from being
    /// deleted.
    case deletionDenied(
        className: String, sourceClass: String, property: String, source: Int64)
    /// An inverse link was to be changed.
    case propertyNotWritable(className: String, property: String)
    case notACollection(className: String, property: String, kind: CollectionKind)
    /// A collection was used in place of a single value.
    case isACollection(className: String, property: String, kind: CollectionKind)
    /// A key that no dictionary takes, and why.
    case invalidDictionaryKey(className: String, property: String, reason: String)
    /// A list or a dictionary within a mixed value that is no longer there.
    case noSuchCollection(className: String, property: String)
    case nestedTooDeep(className: String, property: String, limit: Int)
    case embeddedTooDeep(className: String, property: String, limit: Int)
    /// The stack of the calling thread is too small for the nesting.
    case stackTooSmall
    /// The stack is too small for a query that runs.
    case stackTooSmallForQuery
    case indexOutOfRange(index: Int, count: Int)
    case collectionTooLong(className: String, property: String, limit: Int)
    /// The sum of a property's integers does not fit into 64 bits.
    case sumOverflow(className: String, property: String)
    /// An int and the amount to add leave the range of 64 bits.
    case additionOverflow(className: String, property: String, value: Int64, amount: Int64)
    /// Something was to be added to null.
    case nothingToAddTo(className: String, property: String)
    /// Indexes, links and rows contradict each other.
    case inconsistent(String)
}

/// One thing wrong with a schema, in plain words.
package struct SchemaProblem: Sendable, Equatable, CustomStringConvertible {
    package var className: String
    package var property: String?
    package var text: String

    init(className: String, property: String? = nil, text: String) {
        self.className = className
        self.property = property
        self.text = text
    }

    package var description: String {
        if let property {
            "property '\(className).\(property)' \(text)"
        } else {
            "class '\(className)' \(text)"
        }
    }
}

extension ModelError {
    /// Bytes of stack that a level of nesting takes later, when it is read, compared or released.
    private static let stackOfLevel = 400

    /// Throws if the stack of the calling thread ends soon: before another level, the one with this
    /// number.
    package static func requireStack(forLevel depth: Int = 0) throws(ModelError) {
        guard ThreadStack.hasRoom(for: depth * stackOfLevel) else { throw .stackTooSmall }
    }

    /// Throws the error unless it means damage to the file.
    func requireDamage() throws(ModelError) {
        switch self {
        case .storage(let error):
            try stored { () throws(StorageError) in try error.requireDamage() }
        case .stackTooSmall: throw self
        default: return
        }
    }
}

/// Runs calls of the storage and throws their error as the model's.
@inline(__always)
package func stored<Result: ~Copyable>(_ body: () throws(StorageError) -> Result) throws(ModelError)
    -> Result
{
    do { return try body() } catch { throw .storage(error) }
}
