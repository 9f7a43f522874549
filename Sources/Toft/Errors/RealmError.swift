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
    /// No room left in the process to map the file.
    public static var addressSpaceExhausted: Code { .addressSpaceExhausted }
    /// The file is open, so this can't be done to it.
    public static var alreadyOpen: Code { .alreadyOpen }
    /// A value that no call could accept.
    public static var invalidInput: Code { .invalidArgument }
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

extension Realm.Error.Code {
    package init(_ code: ErrorCode) {
        self = Self(rawValue: code.rawValue) ?? .internalError
    }
}
