package import ToftModel
internal import ToftPlatform
package import ToftStorage

/// The options for opening a session.
package struct Configuration: Sendable {
    package enum Mode: Sendable {
        /// Reads and writes; makes the file when it is missing.
        case readWrite
        /// Reads and writes; a missing file is an error.
        case existing
        /// Reads; the file must exist and its schema must fit as it is.
        case readOnly
    }

    package typealias Confinement = SessionOptions.Confinement

    package var location: StoreConfiguration.Location
    package var mode: Mode
    /// The classes wanted. Nil: those that the file has.
    package var schema: Schema?
    /// Whether, without a schema, classes and properties are seen, too, that the file keeps and no
    /// program declares any more.
    package var showsHidden = false
    /// The version that the caller gives its schema; nil leaves the file's.
    package var schemaVersion: UInt64?
    /// The wait of opening for other processes, and of `beginWrite` for other writers. Nil: without
    /// a limit; 0: not at all.
    package var writeTimeoutMilliseconds: Int?
    package var confinement = Confinement.thread
    /// Whether the file is mapped, or read into memory of the process, which makes every error of
    /// the device an error. A file that the process has open already stays as it is.
    package var usesMapping = true
    /// The processes that may have the file open at the same time.
    package var sharing = StoreConfiguration.Sharing.processes
    /// The key of an encrypted file.
    package var encryptionKey: EncryptionKey?
    /// The version that the file must have at least: one that the caller has seen. A file that is
    /// missing is not made then. Nil: any.
    package var minimumVersion: UInt64?
    /// A database that a missing file is made a copy of, with the same key.
    package var seedPath: String?
    /// Decides when opening an existing file that nobody else has open whether to compact it; gets
    /// its bytes and the part of them in use.
    package var compacts: (@Sendable (_ total: UInt64, _ used: UInt64) -> Bool)?
    /// Versions at most that may be read or newest when a write transaction begins, over all
    /// processes; nil: any number.
    package var maximumActiveVersions: UInt64?
    /// Opening ends with `interrupted` when it finds this not 0 while it waits or fills an index.
    package var interruptWord: InterruptWord?
    /// Ends the opening once this has been interrupted, before or meanwhile.
    package var interruption: Interruption?
    /// Called while an index is filled by opening, or a new property.
    package var progress: (@Sendable (_ done: Int, _ total: Int) -> Void)?
    /// Called by opening if the file has an older version than `schemaVersion`.
    package var migration: Migration.Handler?
    /// Called by opening if no program has given the database classes yet.
    package var initialize: Initialization.Handler?
    /// Called by opening for the values that objects get in new properties.
    package var defaults: DefaultHandler?
    /// True if objects of a class that becomes embedded are deleted without an owner, and copied
    /// for several owners; otherwise they are refused.
    package var handlesBacklinksInMigrations = false
    /// Whether a file whose classes do not fit the schema is deleted and created anew.
    package var deletesIfMigrationNeeded = false

    package init(
        location: StoreConfiguration.Location, mode: Mode = .readWrite, schema: Schema? = nil,
        schemaVersion: UInt64? = nil,
        writeTimeoutMilliseconds: Int? = nil, confinement: Confinement = .thread
    ) {
        self.location = location
        self.mode = mode
        self.schema = schema
        self.schemaVersion = schemaVersion
        self.writeTimeoutMilliseconds = writeTimeoutMilliseconds
        self.confinement = confinement
    }
}

/// A word of the caller's that any thread may change.
///
/// `@unchecked Sendable`: it is read atomically.
package struct InterruptWord: @unchecked Sendable {
    let address: UnsafePointer<UInt32>

    package init(_ address: UnsafePointer<UInt32>) { self.address = address }
}

extension Configuration {
    /// The options that a session keeps.
    package var options: SessionOptions {
        SessionOptions(
            confinement: confinement, isReadOnly: mode == .readOnly,
            writeTimeoutMilliseconds: writeTimeoutMilliseconds,
            maximumActiveVersions: maximumActiveVersions)
    }

    /// The handlers for a change of the file's schema.
    var schemaCalls: SchemaCalls {
        SchemaCalls(
            progress: progress, defaults: defaults,
            handlesBacklinks: handlesBacklinksInMigrations)
    }

    /// Throws if one option excludes another.
    func checkOptions() throws(EngineError) {
        guard initialize == nil || schema != nil else {
            throw EngineError(
                .invalidArgument,
                "A callback that fills a new database needs the classes that it is to have.")
        }
        guard mode == .readOnly, deletesIfMigrationNeeded || compacts != nil else { return }
        throw EngineError(
            .invalidArgument,
            "A file that is opened for reading only is neither deleted nor compacted: open it for "
                + "writing, or leave that option out.")
    }

    /// The probe by which opening checks whether it is to end.
    var probe: InterruptProbe? {
        interruptWord.map { InterruptProbe($0.address) } ?? interruption?.sinceMade
    }

    /// The store's part of it.
    var store: StoreConfiguration {
        var configuration = StoreConfiguration(location: location)
        configuration.isReadOnly = mode == .readOnly
        configuration.createsFile = mode == .readWrite
        configuration.usesMapping = usesMapping
        configuration.sharing = sharing
        configuration.seedPath = seedPath
        configuration.encryptionKey = encryptionKey
        configuration.minimumVersion = Version(minimumVersion ?? 0)
        configuration.compacts = compacts
        // Processes that open or close the file hold its lock for a moment, even if there is no
        // writer to wait for.
        configuration.attachTimeoutMilliseconds = max(
            1_000,
            min(configuration.attachTimeoutMilliseconds, writeTimeoutMilliseconds ?? .max))
        return configuration
    }
}
