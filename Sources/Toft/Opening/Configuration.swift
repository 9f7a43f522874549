public import Foundation
internal import Synchronization
internal import ToftEngine
internal import ToftModel
internal import ToftStorage

extension Realm {
    /// The database of a realm, and the options for opening it.
    ///
    /// Spelled as in Realm; there is no sync yet, and its options do not compile rather than being
    /// ignored.
    public struct Configuration: Sendable {
        /// The configuration of `Realm()`. Any thread may set it.
        public static var defaultConfiguration: Configuration {
            get { Self.current.withLock { $0 } }
            set { Self.current.withLock { $0 = newValue } }
        }

        private static let current = Mutex(Configuration())

        /// The file; nil for a database in memory. Setting it clears `inMemoryIdentifier`.
        public var fileURL: URL? {
            didSet { if fileURL != nil { inMemoryIdentifier = nil } }
        }

        /// The name of a database in memory, shared within the process; it ends with its last
        /// realm. Setting it clears `fileURL`.
        public var inMemoryIdentifier: String? {
            didSet { if inMemoryIdentifier != nil { fileURL = nil } }
        }

        /// The 64 bytes of the key that the file is encrypted with, nil for a plain file. A file
        /// that is missing is made with it; a key of another length, or one for a database in
        /// memory, is `.invalidArgument`.
        public var encryptionKey: Data?

        /// Whether the realm is only read: the file must exist, and fit the classes as it is.
        /// Classes that it lacks have no objects, and properties that it lacks are 0, empty or nil.
        public var readOnly: Bool

        /// The version that the app counts for its classes; a file with a higher one can't be
        /// opened.
        public var schemaVersion: UInt64

        /// Called by the opening if the file has classes and a lower schema version: see
        /// `Migration`. Without one, the opening throws `.schemaMismatch` if values would be lost,
        /// such as those of a property of another type; Realm drops them then. With one, a
        /// read-only opening of such a file throws it too.
        public var migrationBlock: MigrationBlock?

        /// Called by the opening if the database is new, with a realm in a write transaction: the
        /// block's changes are committed together with the classes, once in the life of the
        /// database, whichever of several processes opens it first. An error of the block leaves
        /// the database without classes and is thrown by the opening; the next opening calls it
        /// again. A copy of `seedFilePath` is not new. For the time of the opening only. The block
        /// must not begin, commit or cancel a write. Realm has nothing like it in Swift.
        ///
        /// ```swift
        /// configuration.initialize = { realm in realm.add(Country("Norway")) }
        /// ```
        public var initialize: (@Sendable (_ realm: Realm) throws -> Void)?

        /// Whether a file whose classes can't be adapted to the app's is deleted and created anew;
        /// if it is open elsewhere, in this process or another, the opening throws `.alreadyOpen`
        /// instead. Not together with `readOnly`.
        public var deleteRealmIfMigrationNeeded: Bool

        /// Whether a migration that makes a class embedded deletes its objects that no owner leads
        /// to, and copies those that have several, for each further one. If false, such objects
        /// are an error, `.schemaMismatch`, and the block must delete, copy or link them. Realm's
        /// core and its Kotlin have this option; in its Swift the block must do it.
        public var automaticallyHandleBacklinksInMigrations = false

        /// The classes of the realm; nil for all subclasses of `Object` in the program. Empty,
        /// `[]`: those of the file, known by their names (`Realm.dynamicObjects`); in Realm, no
        /// classes.
        public var objectTypes: [ObjectBase.Type]?

        /// A database that is copied to `fileURL` if that does not exist yet. It need not be
        /// writable, and has the same key.
        public var seedFilePath: URL?

        /// Whether an opening that finds one of Realm's own files at `fileURL` imports it. A new
        /// file takes its place, and the old one stays beside it, with `.before-import` behind its
        /// name. The new file has the schema version of the old one, so the migration of the app
        /// goes on from there; `encryptionKey` is that of both. No program may use the Realm file
        /// meanwhile. Throws what `Realm.importRealmFile` throws, and `.fileExists` if another file
        /// has the name for the old one; after an error the Realm file is as it was. Off, or if the
        /// file is `readOnly`, it is `.notADatabase`. Realm has nothing like it.
        ///
        /// ```swift
        /// configuration.importsRealmFile = true
        /// ```
        public var importsRealmFile = false

        /// Decides, when an existing file is opened that is open nowhere, in no process, whether it
        /// is compacted before it is used; gets the bytes of the file, and the part of them in use.
        /// It must not use realms; opening the same file is `.insideCallback`. If the disk is too
        /// full for it, the file stays as it is.
        public var shouldCompactOnLaunch: (@Sendable (_ total: Int, _ used: Int) -> Bool)?

        /// Most versions that may exist when a write begins: the newest, and older ones that some
        /// process still reads, which let the file grow. With more, the write throws
        /// `.tooManyReaders`; nil for any number.
        public var maximumNumberOfActiveVersions: UInt?

        /// The wait of a write for other writers, of any process; nil for no limit. Realm has no
        /// such limit.
        public var writeTimeout: Duration?

        /// A version that the app has seen the file at (`Realm.version`) and has kept elsewhere,
        /// such as in a keychain: an older file that somebody has put in its place is then
        /// `.versionTooLow`, and is not written to; one that is missing is `.fileNotFound`. Only
        /// of an encrypted file can nobody without the key forge the version. A deferred commit's
        /// counts once the commit is durable (`Realm.flush`). A file that
        /// `deleteRealmIfMigrationNeeded` makes anew begins at 1. Nil: any. Realm has nothing like
        /// it.
        public var minimumVersion: UInt64?

        /// Whether the file is mapped into memory, which is fastest. If false, its pages are read
        /// into memory of the process: a device that fails, or a file that another program
        /// truncates, is then an error that is thrown; with a mapping it can end the process with
        /// the signal SIGBUS. Has no effect on a file that the process has open already. Realm has
        /// nothing like it.
        public var usesMapping = true

        /// Whether this process has the file for itself alone, so that it can be on any file
        /// system: one of FUSE (AppImages, NTFS sticks, the containers of users), of a network, of
        /// a virtual machine, on which processes can't share a database, and which is
        /// `.unsupported` otherwise. If there are file locks, another process that has it open, or
        /// opens it, gets `.incompatibleProcess`; otherwise the app vouches for it. No lock file is
        /// made. If it is `readOnly`, too, nobody may write meanwhile. A file on a read-only mount
        /// can be read without it. Realm has nothing like it.
        public var isExclusive = false

        /// Ends the opening from any thread, with `.interrupted`, once it has been interrupted,
        /// before or meanwhile: a wait for other processes and writers within 50 ms, the building
        /// of an index within its next thousand objects; the file is then as it was. For the time
        /// of the opening only; `Realm.interruption` ends the waits and queries of an open realm.
        /// Realm has nothing like it.
        public var interruption: Realm.Interruption?

        /// Gets the progress of the opening, or its migration, on the thread that opens, while it
        /// builds indexes and gives objects the defaults of new properties: the number of finished
        /// objects (`done`), and of all (`total`). It must not use realms. For the time of the
        /// opening only. Realm reports only downloads.
        public var progress: (@Sendable (_ done: Int, _ total: Int) -> Void)?

        /// A configuration; without arguments, that of the default file
        /// (`Realm.Configuration.defaultFileURL`).
        public init(
            fileURL: URL? = Self.defaultFileURL, inMemoryIdentifier: String? = nil,
            encryptionKey: Data? = nil, readOnly: Bool = false, schemaVersion: UInt64 = 0,
            migrationBlock: MigrationBlock? = nil,
            deleteRealmIfMigrationNeeded: Bool = false,
            shouldCompactOnLaunch: (@Sendable (_ total: Int, _ used: Int) -> Bool)? = nil,
            objectTypes: [ObjectBase.Type]? = nil,
            seedFilePath: URL? = nil,
            maximumNumberOfActiveVersions: UInt? = nil,
            writeTimeout: Duration? = nil
        ) {
            self.fileURL = inMemoryIdentifier == nil ? fileURL : nil
            self.inMemoryIdentifier = inMemoryIdentifier
            self.encryptionKey = encryptionKey
            self.readOnly = readOnly
            self.schemaVersion = schemaVersion
            self.migrationBlock = migrationBlock
            self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
            self.shouldCompactOnLaunch = shouldCompactOnLaunch
            self.maximumNumberOfActiveVersions = maximumNumberOfActiveVersions
            self.objectTypes = objectTypes
            self.seedFilePath = seedFilePath
            self.writeTimeout = writeTimeout
        }

        /// `$XDG_DATA_HOME/<program>/default.realm`, with `~/.local/share` if the variable is not
        /// set.
        public static var defaultFileURL: URL? {
            let environment = ProcessInfo.processInfo.environment
            let home: URL
            if let data = environment["XDG_DATA_HOME"], data.utf8.first == UInt8(ascii: "/") {
                home = URL(fileURLWithPath: data, isDirectory: true)
            } else {
                home = FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(
                    ".local/share", isDirectory: true)
            }
            return home.appendingPathComponent(
                ProcessInfo.processInfo.processName, isDirectory: true
            ).appendingPathComponent("default.realm")
        }
    }
}

extension Realm.Configuration: CustomStringConvertible {
    /// The realm's location and special options.
    public var description: String {
        var parts = [(try? location).map { "\($0)" } ?? "no location"]
        if readOnly { parts.append("read-only") }
        parts.append("schema version \(schemaVersion)")
        if let objectTypes {
            parts.append(
                "classes " + objectTypes.map { ModelClass.name(of: $0) }.joined(separator: ", "))
        }
        return "Realm.Configuration(" + parts.joined(separator: "; ") + ")"
    }
}

extension Realm.Configuration {
    /// The database's location; nil if neither file nor name is given.
    var location: StoreConfiguration.Location? {
        get throws(EngineError) {
            if let inMemoryIdentifier { return .memory(name: inMemoryIdentifier) }
            guard let fileURL else { return nil }
            return .file(path: try fileURL.filePath)
        }
    }

    /// The database's location.
    var place: StoreConfiguration.Location {
        get throws(EngineError) {
            guard let location = try location else {
                throw EngineError(
                    .invalidArgument, "A configuration needs a fileURL or an inMemoryIdentifier.")
            }
            return location
        }
    }

    /// The key in the engine's form.
    var engineKey: EncryptionKey? {
        get throws(EngineError) {
            if let encryptionKey { try EncryptionKey(encryptionKey) } else { nil }
        }
    }

    /// The classes that the realm is to have.
    var models: [ModelClass] {
        let types =
            objectTypes ?? ClassDiscovery.objectTypes().filter { $0.shouldIncludeInDefaultSchema() }
        // A class that is named twice is one.
        var known: Set<ObjectIdentifier> = []
        return types.filter { known.insert(ObjectIdentifier($0)).inserted }
            .map { ModelClass.of($0) }.sorted { $0.name < $1.name }
    }

    /// Whether the realm has the classes that the file has, known by their names.
    var takesFile: Bool { objectTypes?.isEmpty ?? false }

    /// The reason why a realm that is open with this configuration can't serve for another one of
    /// the same file; nil if it can.
    func conflict(with other: Realm.Configuration) -> String? {
        if encryptionKey != other.encryptionKey {
            return switch (encryptionKey, other.encryptionKey) {
            case (nil, _): "without an encryptionKey, which this configuration has"
            case (_, nil): "with an encryptionKey, which this configuration lacks"
            default: "with another encryptionKey"
            }
        }
        if schemaVersion != other.schemaVersion {
            return "with schemaVersion \(schemaVersion), not \(other.schemaVersion)"
        }
        if isExclusive != other.isExclusive {
            return isExclusive
                ? "for this process alone, and this configuration shares the file"
                : "shared, and this configuration wants the file for this process alone"
        }
        guard readOnly != other.readOnly else { return nil }
        return readOnly
            ? "read-only, and this configuration writes"
            : "for writing, and this configuration is read-only"
    }

    /// Whether both have the same classes.
    func hasSameClasses(as other: Realm.Configuration) -> Bool {
        objectTypes.map { Set($0.map { ObjectIdentifier($0) }) }
            == other.objectTypes.map { Set($0.map { ObjectIdentifier($0) }) }
    }

    /// The configuration without the options for the time of the opening.
    var opened: Realm.Configuration {
        var configuration = self
        configuration.interruption = nil
        configuration.progress = nil
        return configuration
    }

    /// Throws `readOnly` if the file is to be read only.
    /// - Parameter what: the intended operation, before "the file".
    func requireWritable(_ what: String) throws(EngineError) {
        guard readOnly else { return }
        throw EngineError(
            .readOnly, "Can't \(what) the file: its configuration is read-only. Give another one.")
    }

    /// The engine's configuration.
    func engine(at location: StoreConfiguration.Location, _ confinement: Confinement)
        throws(EngineError) -> ToftEngine.Configuration
    {
        let isThread: Bool = if case .thread = confinement { true } else { false }
        let classes = takesFile ? [] : models
        let problems = classes.compactMap(\.problem)
        guard problems.isEmpty else {
            throw EngineError(.invalidSchema, problems.joined(separator: "\n"))
        }
        for model in classes { UnstoredVariables.tell(of: model) }
        var configuration = ToftEngine.Configuration(
            location: location, mode: readOnly ? .readOnly : .readWrite,
            schema: takesFile ? nil : ToftModel.Schema(classes.map { $0.schema }),
            schemaVersion: takesFile ? nil : schemaVersion,
            writeTimeoutMilliseconds: writeTimeout.map { Int($0 / .milliseconds(1)) },
            confinement: isThread ? .thread : .caller)
        configuration.defaults = DefaultValues(classes).handler
        configuration.deletesIfMigrationNeeded = deleteRealmIfMigrationNeeded
        configuration.handlesBacklinksInMigrations = automaticallyHandleBacklinksInMigrations
        configuration.usesMapping = usesMapping
        if isExclusive { configuration.sharing = .none }
        configuration.interruption = interruption?.engine
        configuration.progress = progress
        if let seedFilePath { configuration.seedPath = try seedFilePath.filePath }
        configuration.encryptionKey = try engineKey
        configuration.minimumVersion = minimumVersion
        if let block = shouldCompactOnLaunch {
            configuration.compacts = { block(Int(clamping: $0), Int(clamping: $1)) }
        }
        configuration.maximumActiveVersions = maximumNumberOfActiveVersions.map { UInt64($0) }
        return configuration
    }
}

extension URL {
    /// The path of a file. A URL without a scheme is a path; one of another scheme names no file,
    /// and its path belongs to another machine.
    var filePath: String {
        get throws(EngineError) {
            guard scheme == nil || isFileURL else {
                throw EngineError(
                    .invalidArgument,
                    "'\(absoluteString)' is not the URL of a file. Make one with "
                        + "URL(fileURLWithPath:).")
            }
            return path
        }
    }
}

extension EncryptionKey {
    /// A key that an app gives.
    init(_ data: Data) throws(EngineError) {
        let result = data.withUnsafeBytes { bytes in
            Result { () throws(EngineError) in try EncryptionKey(engine: bytes) }
        }
        self = try result.get()
    }
}
