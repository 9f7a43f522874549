extension ModelError {
    /// The failure, its place and the remedy.
    package var message: String {
        switch self {
        case .storage(let error): "\(error)"
        case .invalidSchema, .schemaMismatch, .schemaVersionTooLow, .schemaOutdated,
            .invalidRenaming, .primaryKeysNotUnique, .damagedSchema, .unsupportedSchema:
            schemaMessage
        case .noSuchClass, .noSuchProperty, .noSuchObject, .primaryKeyImmutable,
            .duplicatePrimaryKey, .duplicateValues, .primaryKeyMissing,
            .primaryKeysExhausted, .noPrimaryKey,
            .embeddedClass, .alreadyOwned, .deletionDenied:
            objectMessage
        default: valueMessage
        }
    }

    /// The message without the list of problems, if it has one.
    package var summary: String {
        switch self {
        case .invalidSchema: "The schema is invalid."
        case .schemaMismatch:
            "The schema differs from the file's in ways that opening does not change. Declare what "
                + "the file has, or open it with a higher schema version and a migration."
        case .schemaOutdated(let stored, _):
            "The file was migrated to schema version \(stored), and the schema that this realm was "
                + "opened with does not fit it any more. Open it again with the schema of that "
                + "version."
        default: message
        }
    }

    private var schemaMessage: String {
        switch self {
        case .invalidSchema(let problems), .schemaMismatch(let problems):
            summary + ModelError.lines(problems)
        case .schemaOutdated(_, let problems): summary + ModelError.lines(problems)
        case .invalidRenaming(let reason): reason
        case .primaryKeysNotUnique(let className, let property, let value):
            "Primary key property '\(className).\(property)' has duplicate values after migration: "
                + "several objects have \(value). The file stays as it was."
        case .schemaVersionTooLow(let stored, let given):
            "Schema version \(given) is lower than the file's, which is \(stored). Open the file "
                + "with version \(stored) or higher."
        case .damagedSchema(let reason): "The schema in the file is damaged: \(reason)."
        case .unsupportedSchema(let what):
            "The file needs a newer version of this library: \(what)."
        default: ""
        }
    }

    private var objectMessage: String {
        switch self {
        case .noSuchClass(let name, let hint):
            "The schema has no class '\(name)'.\(hint.map { " \($0)" } ?? "")"
        case .noSuchProperty(let className, let property, let hint):
            "Class '\(className)' has no property '\(property)'.\(hint.map { " \($0)" } ?? "")"
        case .noSuchObject(let className, _):
            "The object of class '\(className)' has been deleted or invalidated."
        case .primaryKeyImmutable(let className, let property):
            "Primary key '\(className).\(property)' can't be changed after an object is inserted. "
                + "Delete the object and create another."
        case .duplicatePrimaryKey(let className, let value):
            "Attempting to create an object of type '\(className)' with an existing primary key "
                + "value '\(value)'. Change that object, or say that it is to be updated."
        case .duplicateValues(let className, let properties, let values):
            "Two objects of class '\(className)' have "
                + zip(properties, values).map { "\($0) = \($1)" }.joined(separator: " and ")
                + ", which is unique. Change one of them. Nothing was committed."
        case .primaryKeyMissing(let className, let property):
            "Objects of class '\(className)' are created with a value for their primary key "
                + "'\(property)'."
        case .primaryKeysExhausted(let className, let property):
            "No primary key '\(className).\(property)' is left to count on: it has been "
                + "\(Int64.max). Give the object a key."
        case .noPrimaryKey(let className): "Class '\(className)' has no primary key."
        case .embeddedClass(let className):
            "Class '\(className)' is embedded: its objects can't be created by themselves, only in "
                + "a property or a list of their owner."
        case .alreadyOwned(let className, let property):
            "Property '\(className).\(property)' holds embedded objects, and this one already has "
                + "an owner. Create a new one there with the same values."
        case .deletionDenied(let className, let sourceClass, let property, _):
            "An object of class '\(className)' can't be deleted: '\(sourceClass).\(property)' of "
                + "another object links to it and denies it. Change that link or delete that "
                + "object first."
        default: ""
        }
    }

    private var valueMessage: String {
        switch self {
        case .typeMismatch(let className, let property, let expected, let found):
            "Property '\(className).\(property)' holds \(expected), not \(found)."
        case .invalidDefault(let className, let property, let reason):
            "The default of property '\(className).\(property)' is not a value: \(reason)"
        case .refusedDefault(let className, let property, let reason):
            "The default that was given for property '\(className).\(property)' does not fit: "
                + reason.message
        case .nullNotAllowed(let className, let property):
            "Property '\(className).\(property)' is not optional and can't be null."
        case .valueTooLong(let className, let property, let length, let limit):
            "A value of \(length) bytes is too long for property '\(className).\(property)'; the "
                + "limit is \(limit) bytes."
        case .invalidText(let className, let property):
            "The text for property '\(className).\(property)' is not valid UTF-8."
        case .invalidDate(let className, let property):
            "The date for property '\(className).\(property)' is invalid: nanoseconds are within "
                + "999,999,999 and have the sign of the seconds."
        case .wrongLinkTarget(let className, let property, let expected, let found):
            "Property '\(className).\(property)' links to objects of class '\(expected)', not "
                + "'\(found)'."
        case .propertyNotWritable(let className, let property):
            "Property '\(className).\(property)' is an inverse link and follows from the links to "
                + "the object; change those."
        case .notACollection(let className, let property, let kind):
            "Property '\(className).\(property)' is not a \(kind.name)."
        case .isACollection(let className, let property, let kind):
            "Property '\(className).\(property)' is a \(kind.name); use the \(kind.name) functions."
        case .noSuchCollection(let className, let property):
            "The collection within '\(className).\(property)' is invalid: another value was set in "
                + "its place, or it was removed."
        case .nestedTooDeep(let className, let property, let limit):
            "A value of '\(className).\(property)' has more than \(limit) lists and dictionaries "
                + "around it. Keep the inner ones in objects, and link to these."
        case .embeddedTooDeep(let className, let property, let limit):
            "An embedded object in '\(className).\(property)' would have \(limit) others around "
                + "it, and the limit is \(limit) within one another. Link to objects that are not "
                + "embedded."
        case .stackTooSmall:
            "Lists, dictionaries or objects nest deeper here than the stack of the calling thread "
                + "allows. Use a thread with a larger stack: 512 KiB are always enough."
        case .stackTooSmallForQuery:
            "The query nests deeper than the stack of the calling thread allows. Use a thread with "
                + "a larger stack: 1 MiB is always enough."
        case .invalidDictionaryKey(let className, let property, let reason):
            "A key of dictionary '\(className).\(property)' \(reason)."
        case .indexOutOfRange(let index, let count):
            "Index \(index) is out of bounds (must be less than \(count))."
        case .additionOverflow(let className, let property, let value, let amount):
            "Property '\(className).\(property)' holds \(value); with \(amount) added it would "
                + "not fit in 64 bits. Nothing was changed."
        case .nothingToAddTo(let className, let property):
            "Property '\(className).\(property)' is null, and nothing can be added to null. Set it "
                + "first."
        case .sumOverflow(let className, let property):
            "The sum of '\(className).\(property)' is beyond 64 bits. Add the values up as doubles."
        case .collectionTooLong(let className, let property, let limit):
            "'\(className).\(property)' can't hold more than \(limit) elements."
        case .inconsistent(let what): "The database contradicts itself: \(what)."
        default: ""
        }
    }

    private static func lines(_ problems: [SchemaProblem]) -> String {
        problems.map { "\n- \($0)" }.joined()
    }
}
