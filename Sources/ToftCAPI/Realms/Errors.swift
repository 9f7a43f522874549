public import CToft
internal import ToftEngine

@c @implementation
public func toft_last_error(_ out_error: UnsafeMutablePointer<toft_error>?) -> toft_status {
    guard let room = try? Argument.outStructure(out_error, "out_error") else {
        return toft_status(.invalidArgument)
    }
    let thread = CallingThread.current
    Argument.fill(room, toft_error(thread.failure, thread.texts))
    return TOFT_OK
}

extension toft_error {
    /// A failure as C sees it, as long as its texts live.
    init(_ failure: EngineError?, _ texts: FailureTexts) {
        self.init()
        code = failure.map { toft_status($0.code) } ?? TOFT_OK
        number = failure?.number ?? 0
        message = texts.message.string
        detail = texts.detail.string
    }
}

@c @implementation
public func toft_clear_last_error() {
    CallingThread.current.forgetFailure()
}

@c @implementation
public func toft_status_name(_ status: toft_status) -> UnsafePointer<CChar>? {
    if status == TOFT_OK { return ("TOFT_OK" as StaticString).foreign }
    return
        (ErrorCode(rawValue: status.rawValue)?.nameInC
        ?? "TOFT_ERROR_UNKNOWN").foreign
}

extension ErrorCode {
    /// The enumerator of `toft_status` with the same number.
    var nameInC: StaticString {
        switch self {
        case .invalidArgument: "TOFT_ERROR_INVALID_ARGUMENT"
        case .invalidHandle: "TOFT_ERROR_INVALID_HANDLE"
        case .wrongThread: "TOFT_ERROR_WRONG_THREAD"
        case .closed: "TOFT_ERROR_CLOSED"
        case .usedAfterFork: "TOFT_ERROR_USED_AFTER_FORK"
        case .unsupported: "TOFT_ERROR_UNSUPPORTED"
        case .internalError: "TOFT_ERROR_INTERNAL"
        case .wrongRealm: "TOFT_ERROR_WRONG_REALM"
        case .interrupted: "TOFT_ERROR_INTERRUPTED"
        case .fileNotFound: "TOFT_ERROR_FILE_NOT_FOUND"
        case .permissionDenied: "TOFT_ERROR_PERMISSION_DENIED"
        case .isDirectory: "TOFT_ERROR_IS_DIRECTORY"
        case .notADatabase: "TOFT_ERROR_NOT_A_DATABASE"
        case .unsupportedFormat: "TOFT_ERROR_UNSUPPORTED_FORMAT"
        case .corrupt: "TOFT_ERROR_CORRUPT"
        case .incompatibleProcess: "TOFT_ERROR_INCOMPATIBLE_PROCESS"
        case .fileAccess: "TOFT_ERROR_FILE_ACCESS"
        case .diskFull: "TOFT_ERROR_DISK_FULL"
        case .addressSpaceExhausted: "TOFT_ERROR_ADDRESS_SPACE_EXHAUSTED"
        case .fileTooLarge: "TOFT_ERROR_FILE_TOO_LARGE"
        case .alreadyOpen: "TOFT_ERROR_ALREADY_OPEN"
        case .configurationMismatch: "TOFT_ERROR_CONFIGURATION_MISMATCH"
        case .fileReplaced: "TOFT_ERROR_FILE_REPLACED"
        case .tooManyReaders: "TOFT_ERROR_TOO_MANY_READERS"
        case .fileExists: "TOFT_ERROR_FILE_EXISTS"
        case .keyRequired: "TOFT_ERROR_KEY_REQUIRED"
        case .wrongKey: "TOFT_ERROR_WRONG_KEY"
        case .notEncrypted: "TOFT_ERROR_NOT_ENCRYPTED"
        case .versionTooLow: "TOFT_ERROR_VERSION_TOO_LOW"
        case .notInTransaction: "TOFT_ERROR_NOT_IN_TRANSACTION"
        case .alreadyInTransaction: "TOFT_ERROR_ALREADY_IN_TRANSACTION"
        case .readOnly: "TOFT_ERROR_READ_ONLY"
        case .lockTimeout: "TOFT_ERROR_LOCK_TIMEOUT"
        case .poisoned: "TOFT_ERROR_POISONED"
        case .commitOutcomeUnknown: "TOFT_ERROR_COMMIT_OUTCOME_UNKNOWN"
        case .invalidSchema: "TOFT_ERROR_INVALID_SCHEMA"
        case .schemaMismatch: "TOFT_ERROR_SCHEMA_MISMATCH"
        case .schemaVersionTooLow: "TOFT_ERROR_SCHEMA_VERSION_TOO_LOW"
        case .noSuchClass: "TOFT_ERROR_NO_SUCH_CLASS"
        case .noSuchProperty: "TOFT_ERROR_NO_SUCH_PROPERTY"
        case .objectDeleted: "TOFT_ERROR_OBJECT_DELETED"
        case .noSuchObject: "TOFT_ERROR_NO_SUCH_OBJECT"
        case .duplicatePrimaryKey: "TOFT_ERROR_DUPLICATE_PRIMARY_KEY"
        case .missingPrimaryKey: "TOFT_ERROR_MISSING_PRIMARY_KEY"
        case .primaryKeyChange: "TOFT_ERROR_PRIMARY_KEY_CHANGE"
        case .typeMismatch: "TOFT_ERROR_TYPE_MISMATCH"
        case .nullNotAllowed: "TOFT_ERROR_NULL_NOT_ALLOWED"
        case .valueTooLong: "TOFT_ERROR_VALUE_TOO_LONG"
        case .readOnlyProperty: "TOFT_ERROR_READ_ONLY_PROPERTY"
        case .overflow: "TOFT_ERROR_OVERFLOW"
        case .embeddedObject: "TOFT_ERROR_EMBEDDED_OBJECT"
        case .deletionDenied: "TOFT_ERROR_DELETION_DENIED"
        case .duplicateValue: "TOFT_ERROR_DUPLICATE_VALUE"
        case .indexOutOfRange: "TOFT_ERROR_INDEX_OUT_OF_RANGE"
        case .collectionInvalidated: "TOFT_ERROR_COLLECTION_INVALIDATED"
        case .querySyntax: "TOFT_ERROR_QUERY_SYNTAX"
        case .invalidQuery: "TOFT_ERROR_INVALID_QUERY"
        case .queryTypeMismatch: "TOFT_ERROR_QUERY_TYPE_MISMATCH"
        case .invalidQueryArgument: "TOFT_ERROR_INVALID_QUERY_ARGUMENT"
        case .unsupportedAggregate: "TOFT_ERROR_UNSUPPORTED_AGGREGATE"
        case .observeInTransaction: "TOFT_ERROR_OBSERVE_IN_TRANSACTION"
        case .insideCallback: "TOFT_ERROR_INSIDE_CALLBACK"
        case .observationUnavailable: "TOFT_ERROR_OBSERVATION_UNAVAILABLE"
        }
    }
}
