// Written by bindings/python/generate_errors.py from include/errors.tsv.

extension Realm.Error {
    /// Everything that can go wrong, in groups by the moment at which it does; the
    /// numbers are those of the C header.
    public enum Code: Int32, Sendable, CaseIterable {
        // Use.
        /// An argument that no call could accept: an unknown constant, text that is not UTF-8, null
        /// for a value.
        case invalidArgument = 1
        /// A handle that is null, released, forged or of another kind. Swift and Python have no
        /// handles.
        case invalidHandle = 2
        /// A realm, or something that belongs to one, was used on another thread or queue than its
        /// own.
        case wrongThread = 3
        /// The realm has been closed or invalidated.
        case closed = 4
        /// The realm was opened by the parent process, before `fork`.
        case usedAfterFork = 5
        /// The file or the caller asks for something that this version does not have.
        case unsupported = 6
        /// A mistake in Toft: please report it.
        case internalError = 7
        /// Two things of one call belong to different realms.
        case wrongRealm = 8
        /// Another thread ended a wait or a query.
        case interrupted = 9

        // Opening, and the file.
        /// There is no such file, and none may be made.
        case fileNotFound = 101
        /// The file or its folder can't be used with the rights of this process.
        case permissionDenied = 102
        /// The path is that of a folder.
        case isDirectory = 103
        /// The file is something else than a database of Toft; the message says what it looks like.
        case notADatabase = 104
        /// A Toft file of a version, or with a feature, that this version of the library does not
        /// have.
        case unsupportedFormat = 105
        /// Bytes of the file are damaged; the number is the page. It can be found at any moment.
        case corrupt = 106
        /// A process with another version of the library has the file open.
        case incompatibleProcess = 107
        /// A system call failed; the detail names it, and the number is its errno.
        case fileAccess = 108
        /// No space is left on the disk; nothing was changed.
        case diskFull = 109
        /// The process has no room left to map the file.
        case addressSpaceExhausted = 110
        /// The file would grow beyond what the file system or the format holds.
        case fileTooLarge = 111
        /// The file is open, so this can't be done to it.
        case alreadyOpen = 112
        /// The file is open in this process with another configuration or schema.
        case configurationMismatch = 113
        /// Another file was put in the place of the open one.
        case fileReplaced = 114
        /// Too many readers have the file open, or more versions are kept than the configuration
        /// allows; the number is then how many.
        case tooManyReaders = 115
        /// The file that was to be made is there already; nothing was changed.
        case fileExists = 116
        /// The file is encrypted, and no key was given.
        case keyRequired = 117
        /// The file is encrypted with another key.
        case wrongKey = 118
        /// A key was given, and the file is not encrypted.
        case notEncrypted = 119
        /// The file has an older version than the configuration asks for; the number is that of the
        /// file.
        case versionTooLow = 120

        // Transactions.
        /// A change outside of a write transaction.
        case notInTransaction = 201
        /// A write transaction was begun inside another.
        case alreadyInTransaction = 202
        /// The realm, the file or the disk is read-only, or the object or collection to be changed
        /// is frozen.
        case readOnly = 203
        /// Another writer did not finish in time.
        case lockTimeout = 204
        /// A sync failed in some process: nothing is written until all have closed the file.
        case poisoned = 205
        /// A sync failed in this commit: whether it is on disk is known when the file is opened
        /// again.
        case commitOutcomeUnknown = 206

        // Schema.
        /// The declared classes break rules; the detail lists every problem, one a line.
        case invalidSchema = 301
        /// The declared classes differ from the file's in a way that opening does not change; the
        /// detail lists every difference, one a line.
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
        /// There is no such object.
        case noSuchObject = 402
        /// Another object of the class has this primary key.
        case duplicatePrimaryKey = 403
        /// A primary key is needed and none was given, or the class has none.
        case missingPrimaryKey = 404
        /// The primary key of an object never changes.
        case primaryKeyChange = 405
        /// A value of another type than the property's, or a link to another class.
        case typeMismatch = 406
        /// Null for a property that is not optional.
        case nullNotAllowed = 407
        /// A string or data of more than 16 MiB - 1, or too long for a primary key.
        case valueTooLong = 408
        /// Linking objects only show what others link; they can't be set.
        case readOnlyProperty = 409
        /// A sum of integers, or a counter, leaves the range of 64 bits.
        case overflow = 410
        /// An embedded object was to be created without an owner, or to get a second one.
        case embeddedObject = 411
        /// A property with the delete rule "deny" links to the object that was to be deleted; the
        /// number is the key of the object that links.
        case deletionDenied = 412
        /// Two objects have the same values of properties that are unique.
        case duplicateValue = 413

        // Collections and results.
        /// There is no such index; the number is the index.
        case indexOutOfRange = 501
        /// The object that owned the collection, or the base of the results, has been deleted.
        case collectionInvalidated = 502

        // Queries.
        /// The text of a query does not follow the grammar; the detail shows the place with a
        /// caret, and the number is its offset in bytes.
        case querySyntax = 601
        /// The query is well-formed, but asks for something that does not exist.
        case invalidQuery = 602
        /// The query compares types that can't be compared.
        case queryTypeMismatch = 603
        /// An argument of the query is missing or of the wrong type.
        case invalidQueryArgument = 604
        /// The property has no such aggregate, like a sum of strings.
        case unsupportedAggregate = 605

        // Observation.
        /// An observer was added in a transaction that has already changed something.
        case observeInTransaction = 701
        /// The call is not possible inside a notification callback.
        case insideCallback = 702
        /// A frozen thing can't be observed, the thread has no run loop or queue, or the system had
        /// no thread or descriptor left.
        case observationUnavailable = 703
    }
}
