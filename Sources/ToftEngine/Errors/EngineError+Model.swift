package import ToftModel

extension EngineError {
    /// The error for a failure concerning data and its meaning. Total, as for storage; the message
    /// is the model's own.
    package init(_ error: ModelError) {
        switch error {
        case .storage(let storage): self.init(storage)
        case .schemaVersionTooLow(let stored, _):
            self.init(error.code, error.message, number: Int64(clamping: stored))
        case .invalidSchema(let problems), .schemaMismatch(let problems),
            .schemaOutdated(_, let problems):
            self.init(
                error.code, error.summary,
                detail: problems.map(\.description).joined(separator: "\n"),
                number: Int64(problems.count))
        case .indexOutOfRange(let index, let count): self.init(outOfRange: index, count: count)
        case .noSuchObject(_, let key): self.init(error.code, error.message, number: key)
        case .deletionDenied(_, _, _, let source):
            self.init(error.code, error.message, number: source)
        case .valueTooLong(_, _, let length, _):
            self.init(error.code, error.message, number: Int64(clamping: length))
        default: self.init(error.code, error.message)
        }
    }
}

extension ModelError {
    /// The code of each error of the model. `storage` has its own mapping.
    fileprivate var code: ErrorCode {
        switch self {
        case .storage: .internalError
        case .invalidSchema: .invalidSchema
        case .schemaMismatch, .schemaOutdated: .schemaMismatch
        case .invalidRenaming, .invalidDefault: .invalidArgument
        case .refusedDefault(_, _, let reason): reason.code
        case .schemaVersionTooLow: .schemaVersionTooLow
        case .damagedSchema, .inconsistent: .corrupt
        case .unsupportedSchema: .unsupportedFormat
        case .noSuchClass: .noSuchClass
        case .noSuchProperty: .noSuchProperty
        case .noSuchObject: .objectDeleted
        case .typeMismatch, .wrongLinkTarget, .notACollection, .isACollection: .typeMismatch
        case .nullNotAllowed, .nothingToAddTo: .nullNotAllowed
        case .primaryKeyImmutable: .primaryKeyChange
        case .duplicatePrimaryKey, .primaryKeysNotUnique: .duplicatePrimaryKey
        case .duplicateValues: .duplicateValue
        case .primaryKeyMissing, .noPrimaryKey: .missingPrimaryKey
        case .valueTooLong, .collectionTooLong, .nestedTooDeep, .embeddedTooDeep, .stackTooSmall:
            .valueTooLong
        case .stackTooSmallForQuery: .invalidQuery
        case .invalidText, .invalidDate, .invalidDictionaryKey: .invalidArgument
        case .noSuchCollection: .collectionInvalidated
        case .propertyNotWritable: .readOnlyProperty
        case .embeddedClass, .alreadyOwned: .embeddedObject
        case .deletionDenied: .deletionDenied
        case .indexOutOfRange: .indexOutOfRange
        case .sumOverflow, .additionOverflow, .primaryKeysExhausted: .overflow
        }
    }
}

/// Runs calls of the model and throws their error as the engine's.
@inline(__always)
package func model<Result: ~Copyable>(_ body: () throws(ModelError) -> Result) throws(EngineError)
    -> Result
{
    do { return try body() } catch { throw EngineError(error) }
}
