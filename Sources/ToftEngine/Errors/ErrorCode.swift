/// Everything that can go wrong, in groups by the moment at which it does. The one list for all
/// APIs: `toft_status` in C, the exception tree of Python and the error of Swift each map it once.
///
/// Raw values are part of the ABI: they never change and are never reused. The hundreds name the
/// group.
package enum ErrorCode: Int32, Sendable, CaseIterable {
    // Use: errors that are possible at every moment.
    /// An argument that is not a value of its type: an unknown constant, an absurd length, text
    /// that is not UTF-8, NULL in place of a value.
    case invalidArgument = 1
    /// A handle that is NULL, released, of another kind or forged.
    case invalidHandle = 2
    /// A session, or something that belongs to one, used on another thread than its own.
    case wrongThread = 3
    /// The session (or the database under it) has been closed.
    case closed = 4
    /// A handle made before `fork` used in the child.
    case usedAfterFork = 5
    /// The file or the caller requires a feature that this build does not have.
    case unsupported = 6
    /// A defect of Toft: please report it.
    case internalError = 7
    /// Two things that belong to different sessions or databases used together.
    case wrongRealm = 8
    /// A wait was ended from another thread.
    case interrupted = 9

    // Open.
    case fileNotFound = 101
    case permissionDenied = 102
    case isDirectory = 103
    /// The file is something else: the message has its apparent kind.
    case notADatabase = 104
    case unsupportedFormat = 105
    /// Bytes of the file are damaged. Can be found at any moment, not only when opening.
    case corrupt = 106
    /// Another process uses the file in a way that cannot be joined.
    case incompatibleProcess = 107
    /// A system call failed; the detail names it, its path and errno.
    case fileAccess = 108
    case diskFull = 109
    case addressSpaceExhausted = 110
    case fileTooLarge = 111
    /// The file is open, so it can't be deleted or opened with these settings.
    case alreadyOpen = 112
    /// The database is open in this process with other settings or another, incompatible schema.
    case configurationMismatch = 113
    /// Another file was put in the place of the open one.
    case fileReplaced = 114
    case tooManyReaders = 115
    /// A file to be created exists already; nothing was changed.
    case fileExists = 116
    /// The file is encrypted, and no key was given.
    case keyRequired = 117
    /// The file is encrypted with another key than the one given.
    case wrongKey = 118
    /// A key was given, and the file is not encrypted.
    case notEncrypted = 119
    /// The file has an older version than the caller has seen; `number` is that of the file.
    case versionTooLow = 120

    // Transaction.
    case notInTransaction = 201
    case alreadyInTransaction = 202
    /// The session, the file or the disk is read-only.
    case readOnly = 203
    /// Another writer held the write lock for longer than the caller wanted to wait.
    case lockTimeout = 204
    /// A sync failed in some process: nothing can be written until all have closed the file.
    case poisoned = 205
    /// A sync failed in this commit: whether it is on disk is known when the file is opened again.
    case commitOutcomeUnknown = 206

    // Schema.
    /// The schema given breaks rules; the detail lists every one.
    case invalidSchema = 301
    /// The given schema differs from the file's in ways that opening does not change; the detail
    /// lists every difference.
    case schemaMismatch = 302
    /// The file has a higher schema version than the one given.
    case schemaVersionTooLow = 303
    case noSuchClass = 304
    case noSuchProperty = 305

    // Object.
    case objectDeleted = 401
    case noSuchObject = 402
    case duplicatePrimaryKey = 403
    case missingPrimaryKey = 404
    case primaryKeyChange = 405
    case typeMismatch = 406
    case nullNotAllowed = 407
    case valueTooLong = 408
    /// An inverse property, which only shows the links of others, was written.
    case readOnlyProperty = 409
    /// A counter, or a sum of integers, leaves the range of 64 bits.
    case overflow = 410
    /// An embedded object was to be created without an owner, or to get a second one.
    case embeddedObject = 411
    /// A link denies the deletion of the object that it leads to; `number` is the key of the object
    /// that links.
    case deletionDenied = 412
    /// Two objects have the same values of properties that are unique.
    case duplicateValue = 413

    // Collection.
    case indexOutOfRange = 501
    /// The object that owned the list, or the source of the results, has been deleted.
    case collectionInvalidated = 502

    // Query.
    case querySyntax = 601
    case invalidQuery = 602
    case queryTypeMismatch = 603
    case invalidQueryArgument = 604
    /// The property has no such aggregate: the sum of strings, say.
    case unsupportedAggregate = 605

    // Observe.
    /// An observer was added in a transaction that has already changed something.
    case observeInTransaction = 701
    /// Not possible inside a notification callback: closing the session, dispatching again.
    case insideCallback = 702
    /// The thread or the event descriptor that observation needs could not be made.
    case observationUnavailable = 703
}
