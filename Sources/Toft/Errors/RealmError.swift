public import Foundation
package import ToftEngine

extension Realm {
    /// The error of a call that can fail: a code to act on, a message for people, and further
    /// details.
    ///
    /// Realm's error is an `NSError` with few codes; this one has the engine's own list, the same
    /// through every API.
    public struct Error: Swift.Error, Sendable, Hashable {
        /// The kind of failure, to act on.
        public let code: Code
        /// The failure, its place and the remedy: a sentence or two for people.
        public let message: String
        /// Additional information: every schema problem on a line of its own, a query with a caret.
        /// May be empty.
        public let detail: String
        /// The number of the code: errno, a page, an index, an offset in a query. 0 if the code has
        /// no number.
        public let number: Int64

        /// An error as an app may want to throw it itself, from inside a write block say.
        public init(_ code: Code, _ message: String = "", detail: String = "", number: Int64 = 0) {
            self.code = code
            self.message = message
            self.detail = detail
            self.number = number
        }

        package init(_ error: EngineError) {
            self.init(Code(error.code), error.message, detail: error.detail, number: error.number)
        }
    }
}

extension Realm.Error: CustomStringConvertible {
    /// The code, the message, and the details on lines of their own.
    public var description: String {
        let line = message.isEmpty ? "\(code)" : "\(code): \(message)"
        return detail.isEmpty ? line : "\(line)\n\(detail)"
    }
}

extension Realm.Error: LocalizedError {
    /// The message, which `localizedDescription` is; without one, the code.
    public var errorDescription: String? { message.isEmpty ? "\(code)" : message }
}

extension Realm.Error: CustomNSError {
    /// The domain that an `NSError` of it has.
    public static var errorDomain: String { "io.realm" }
    /// The number of the code.
    public var errorCode: Int { Int(code.rawValue) }
    /// The message, and the details if there are some.
    public var errorUserInfo: [String: Any] {
        var info = [NSLocalizedDescriptionKey: errorDescription ?? ""]
        if !detail.isEmpty { info[NSLocalizedFailureReasonErrorKey] = detail }
        return info
    }
}

// Without it `catch let error as NSError` passes the error by on Linux, or stops the program.
extension Realm.Error: _ObjectiveCBridgeable {
    /// The error as an `NSError`, for `catch let error as NSError`. Not for apps.
    public func _bridgeToObjectiveC() -> NSError {
        NSError(domain: Self.errorDomain, code: errorCode, userInfo: errorUserInfo)
    }

    /// Not for apps.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout Self?) {
        result = Self(source)
    }

    /// Not for apps.
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSError, result: inout Self?
    ) -> Bool {
        result = Self(source)
        return result != nil
    }

    /// Not for apps.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> Self {
        source.flatMap { Self($0) } ?? Self(.internalError, source?.localizedDescription ?? "")
    }

    private init?(_ error: NSError) {
        guard error.domain == Self.errorDomain, let number = Int32(exactly: error.code),
            let code = Code(rawValue: number)
        else { return nil }
        self.init(
            code, error.localizedDescription,
            detail: error.userInfo[NSLocalizedFailureReasonErrorKey] as? String ?? "")
    }
}

extension Realm.Error {
    /// For operations on an object or results that replace those that a call could not give: the
    /// failure, or the misuse, was reported then.
    static var standsIn: Realm.Error {
        Realm.Error(
            .fileAccess,
            "An earlier call failed, and this replaces its result: see the error of that call.")
    }

    /// Whether it is a failure of the machine rather than a mistake of the program: of the disk, of
    /// memory, of the file's content, or an interruption.
    var isFailure: Bool {
        switch code {
        case .internalError, .interrupted, .fileNotFound, .permissionDenied, .isDirectory,
            .notADatabase, .unsupportedFormat, .corrupt, .incompatibleProcess, .fileAccess,
            .diskFull, .addressSpaceExhausted, .fileTooLarge, .fileReplaced, .tooManyReaders,
            .lockTimeout, .poisoned, .commitOutcomeUnknown:
            true
        // The disk can't be written to any more, while the realm may be.
        case .readOnly: number != 0
        // The system has no thread or descriptor left, if there is a number.
        case .observationUnavailable: number != 0
        default: false
        }
    }
}

/// Codes as Realm calls them, to be caught: `catch Realm.Error.fileNotFound`.
extension Realm.Error {
    /// The file does not exist and must not be created.
    public static var fileNotFound: Code { .fileNotFound }
    /// The file already exists.
    public static var fileExists: Code { .fileExists }
    /// A system call failed.
    public static var fileAccess: Code { .fileAccess }
    /// The file can't be used with the rights of this process.
    public static var filePermissionDenied: Code { .permissionDenied }
    /// The file is not a database.
    public static var invalidDatabase: Code { .notADatabase }
    /// Another process uses the file in a way that can't be joined.
    public static var incompatibleLockFile: Code { .incompatibleProcess }
    /// The file has a format that this version does not have.
    public static var unsupportedFileFormatVersion: Code { .unsupportedFormat }
    /// The classes differ from the file's so that data would be lost.
    public static var schemaMismatch: Code { .schemaMismatch }
    /// No space left.
    public static var outOfDiskSpace: Code { .diskFull }
    /// Anything else.
    public static var fail: Code { .fail }
}

/// Codes as Realm calls them.
extension Realm.Error.Code {
    /// The file can't be used with the rights of this process.
    public static var filePermissionDenied: Self { .permissionDenied }
    /// The file is not a database.
    public static var invalidDatabase: Self { .notADatabase }
    /// Another process uses the file in a way that can't be joined.
    public static var incompatibleLockFile: Self { .incompatibleProcess }
    /// The file has a format that this version does not have.
    public static var unsupportedFileFormatVersion: Self { .unsupportedFormat }
    /// No space left.
    public static var outOfDiskSpace: Self { .diskFull }
    /// A value that no call could accept.
    public static var invalidInput: Self { .invalidArgument }
    /// Anything else.
    public static var fail: Self { .internalError }
}

/// Matches an error's code in a catch clause: `catch Realm.Error.Code.fileNotFound`.
public func ~= (code: Realm.Error.Code, error: any Swift.Error) -> Bool {
    (error as? Realm.Error)?.code == code
}

extension Realm.Error {
    /// Everything that can go wrong, in groups by the moment at which it does; the numbers are
    /// those of the C header.
    public enum Code: Int32, Sendable, CaseIterable {
        // Use: errors that are possible at every moment.
        /// A value that no call could accept.
        case invalidArgument = 1
        /// Reserved for the C API: Swift has no handles.
        case invalidHandle = 2
        /// A realm, or something that belongs to one, was used on another thread or queue than its
        /// own.
        case wrongThread = 3
        /// The realm has been closed or invalidated.
        case closed = 4
        /// The realm was opened before `fork` and used in the child.
        case usedAfterFork = 5
        /// The file or the caller requires a feature that this version does not have.
        case unsupported = 6
        /// A mistake in Toft: please report it.
        case internalError = 7
        /// Two things that belong to different realms were used together.
        case wrongRealm = 8
        /// A wait or a query was ended by another thread.
        case interrupted = 9

        // Opening, and the file.
        /// The file does not exist and must not be created.
        case fileNotFound = 101
        /// The file or its folder can't be used with the rights of this process.
        case permissionDenied = 102
        /// There is a folder in place of the file.
        case isDirectory = 103
        /// The file is something else; the message has its apparent kind.
        case notADatabase = 104
        /// A Toft file of a version or with a feature that this version does not have.
        case unsupportedFormat = 105
        /// Bytes of the file are damaged; `number` is the page.
        case corrupt = 106
        /// Another process uses the file in a way that can't be joined.
        case incompatibleProcess = 107
        /// A system call failed; `number` is its errno.
        case fileAccess = 108
        /// No space left; nothing was changed.
        case diskFull = 109
        /// The process has no room left to map the file.
        case addressSpaceExhausted = 110
        /// The file would grow beyond the limit of the file system or the format.
        case fileTooLarge = 111
        /// The file is open, so this can't be done to it.
        case alreadyOpen = 112
        /// The file is open in this process with other settings or another schema.
        case configurationMismatch = 113
        /// Another file was put in the place of the open one.
        case fileReplaced = 114
        /// Too many realms read this file at once, or more versions are kept than
        /// `Configuration.maximumNumberOfActiveVersions` allows; `number` is then their number.
        case tooManyReaders = 115
        /// The file already exists; nothing was changed.
        case fileExists = 116
        /// The file is encrypted, and no key was given.
        case keyRequired = 117
        /// The file is encrypted with another key.
        case wrongKey = 118
        /// A key was given, and the file is not encrypted.
        case notEncrypted = 119
        /// The file has an older version than `Configuration.minimumVersion`; `number` is that of
        /// the file.
        case versionTooLow = 120

        // Transactions.
        /// A write outside a write transaction.
        case notInTransaction = 201
        /// A write transaction was begun inside another.
        case alreadyInTransaction = 202
        /// The realm, the file or the disk is read-only, or the object to change is frozen.
        case readOnly = 203
        /// Another writer did not finish in time.
        case lockTimeout = 204
        /// A sync failed in some process: nothing is written until all have closed the file.
        case poisoned = 205
        /// A sync failed in this commit: whether it is on disk is known when the file is opened
        /// again.
        case commitOutcomeUnknown = 206

        // Schema.
        /// The classes break rules; the detail lists every problem.
        case invalidSchema = 301
        /// The classes differ from the file's so that data would be lost; the detail lists every
        /// difference.
        case schemaMismatch = 302
        /// The file has a higher schema version than the configuration.
        case schemaVersionTooLow = 303
        /// The realm has no such class.
        case noSuchClass = 304
        /// The class has no such property.
        case noSuchProperty = 305

        // Objects.
        /// The object has been deleted, or its realm invalidated.
        case objectDeleted = 401
        /// The object does not exist.
        case noSuchObject = 402
        /// Another object of the class has this primary key.
        case duplicatePrimaryKey = 403
        /// A primary key is needed and was not given, or the class lacks one.
        case missingPrimaryKey = 404
        /// The primary key of a managed object never changes.
        case primaryKeyChange = 405
        /// A value of another type than the property's.
        case typeMismatch = 406
        /// Null for a property that is not optional.
        case nullNotAllowed = 407
        /// A string, data or key beyond the limit.
        case valueTooLong = 408
        /// Linking objects only show the links of others.
        case readOnlyProperty = 409
        /// A sum of integers leaves the range of 64 bits.
        case overflow = 410
        /// An embedded object was to be created without an owner, or to get a second one.
        case embeddedObject = 411
        /// A property with the rule `.deny` leads to the object that was to be deleted.
        case deletionDenied = 412
        /// Two objects have the same values of properties that are unique.
        case duplicateValue = 413

        // Lists and results.
        /// `number` is the index.
        case indexOutOfRange = 501
        /// The object that owned the list, or the source of the results, is deleted.
        case collectionInvalidated = 502

        // Queries.
        /// The text of a query does not follow the grammar; the detail shows the place.
        case querySyntax = 601
        /// A query on properties or classes that do not exist.
        case invalidQuery = 602
        /// Things that can't be compared.
        case queryTypeMismatch = 603
        /// An argument is missing or of the wrong kind.
        case invalidQueryArgument = 604
        /// The property has no such aggregate: the sum of strings.
        case unsupportedAggregate = 605

        // Observation.
        /// An observer was added in a transaction that has already changed something.
        case observeInTransaction = 701
        /// Not possible inside a notification block.
        case insideCallback = 702
        /// A frozen object or collection is observed, the thread has no run loop and no queue was
        /// given, or the system had no thread or descriptor left.
        case observationUnavailable = 703

        package init(_ code: ErrorCode) {
            self = Code(rawValue: code.rawValue) ?? .internalError
        }
    }
}
