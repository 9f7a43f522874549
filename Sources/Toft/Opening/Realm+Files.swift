public import Foundation
internal import ToftEngine
internal import ToftModel
internal import ToftStorage

extension Realm {
    /// Deletes the file of a configuration, also a damaged one; its lock file, which holds no data,
    /// stays. Throws `.alreadyOpen` while a realm of this process or another has it open,
    /// `.notADatabase` for another file that is not empty. Returns true if the file existed.
    @discardableResult
    public static func deleteFiles(for configuration: Configuration) throws -> Bool {
        do throws(EngineError) {
            guard case .file(let path)? = try configuration.location else { return false }
            return try Database.delete(path)
        } catch {
            throw Realm.Error(error)
        }
    }

    /// Writes the realm's version to a new file, without free space, while others write: `refresh`
    /// moves to the newest before. The copy has been read back and checked, and is durable, when
    /// this returns; after an error, or a crash, it does not exist.
    ///
    /// Throws `.fileExists` if `fileURL` exists, `.alreadyInTransaction` in a write transaction
    /// (Realm writes uncommitted changes), `.fileNotFound` if the folder is missing,
    /// `.permissionDenied`, `.diskFull`... Takes as long as reading the file.
    ///
    /// - Parameters:
    ///   - fileURL: the copy.
    ///   - encryptionKey: the copy's key, 64 bytes; nil for a plain one, whether the realm is
    ///     encrypted or not.
    public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
        do throws(EngineError) {
            try session.verify()
            let key: EncryptionKey? =
                if let encryptionKey { try EncryptionKey(encryptionKey) } else { nil }
            try session.engine.writeCopy(to: try fileURL.filePath, encryptionKey: key)
        } catch {
            throw Realm.Error(error)
        }
    }

    /// Writes the version that the realm shows to the file of another configuration, with its key;
    /// see `writeCopy(toFile:encryptionKey:)`. Its classes and schema version do not matter.
    ///
    /// - Parameter configuration: the copy's, whose file must not exist.
    /// - Throws: `Realm.Error`: `.invalidArgument` if the configuration has no file, and the errors
    ///   of the other one.
    public func writeCopy(configuration: Configuration) throws {
        do throws(EngineError) {
            try session.verify()
            guard case .file(let path)? = try configuration.location else {
                throw EngineError(
                    .invalidArgument, "A copy needs a configuration that has a file.")
            }
            try session.engine.writeCopy(to: path, encryptionKey: try configuration.engineKey)
        } catch {
            throw Realm.Error(error)
        }
    }

    /// Returns the free space of a configuration's file to the system, if nobody has the file open,
    /// in this process or another. A crash loses nothing; the file may grow by its content
    /// meanwhile. Returns its sizes in bytes; nil, without a change, if somebody has it open. Realm
    /// compacts only when a file is opened: see `Configuration.shouldCompactOnLaunch`.
    ///
    /// - Throws: `Realm.Error`: `.readOnly` if the configuration is; `.fileNotFound`...
    @discardableResult
    public static func compact(_ configuration: Configuration) throws -> (
        before: Int, after: Int
    )? {
        do throws(EngineError) {
            guard case .file(let path)? = try configuration.location else { return nil }
            try configuration.requireWritable("compact")
            let key = try configuration.engineKey
            return try Database.compact(
                path, encryptionKey: key, minimumVersion: configuration.minimumVersion,
                sharing: configuration.isExclusive ? .none : .processes
            ).map {
                (Int(clamping: $0.before), Int(clamping: $0.after))
            }
        } catch {
            throw Realm.Error(error)
        }
    }

    /// The result of a step of a compaction beside others. Sizes in bytes.
    public struct CompactionStep: Sendable, Equatable {
        /// Bytes moved from the end of the file to free space before it.
        public var moved: Int
        /// The size of the file when the step began.
        public var before: Int
        /// The size of the file now.
        public var after: Int
        /// Bytes that only earlier versions need, which some process reads: see `versionPins`. No
        /// step releases them before those versions end.
        public var held: Int
        /// Whether another step would do something.
        public var hasMore: Bool
    }

    /// Gives the free space of the file back to the system in small steps, while others use it.
    ///
    /// One step moves pages from the end of the file to free space before it, and cuts off the
    /// pages that the step before has emptied, unless somebody still reads a version that needs
    /// them. If nobody reads an earlier version, new entries of an index move to their places
    /// first, if it has gained a sixteenth. It is a write transaction that changes no object: it
    /// waits for other writers and blocks them, but not readers and observers, and a crash loses
    /// nothing. The realm moves to the newest version before and after it. Repeat it with `while
    /// try realm.compactStep().hasMore {}`. Realm compacts only when a file is opened.
    ///
    /// - Parameter byteCount: bytes that are moved at most, but at least 256 KiB, and one extent;
    ///   0: the step only cuts off.
    /// - Returns: the result of the step.
    /// - Throws: `Realm.Error`: `.alreadyInTransaction` in a write transaction, `.readOnly`, also
    ///   if it is frozen, and the errors of a write.
    @discardableResult
    public func compactStep(movingAtMost byteCount: Int = 1 << 20) throws -> CompactionStep {
        do throws(EngineError) {
            try session.verify()
            let step = try session.engine.compactStep(movingAtMost: UInt64(clamping: byteCount))
            return CompactionStep(
                moved: Int(clamping: step.movedSize), before: Int(clamping: step.sizeBefore),
                after: Int(clamping: step.sizeAfter), held: Int(clamping: step.heldSize),
                hasMore: step.hasMore)
        } catch {
            throw Realm.Error(error)
        }
    }

    /// Encrypts a configuration's file, which has the configuration's key, with another key, or
    /// decrypts it, if nobody has it open, in this process or another. A crash leaves the file with
    /// one key or the other. Throws `.alreadyOpen` if somebody has it open, `.wrongKey`,
    /// `.keyRequired` or `.notEncrypted` if the configuration's key is not that of the file, and
    /// `.readOnly` if the configuration is. Realm has nothing like it.
    ///
    /// The file is a new one, which takes the name. A hard link to the file by another name still
    /// leads to the old content, under the old key or in plain text: delete it.
    ///
    /// - Parameters:
    ///   - configuration: the file's, with its present key.
    ///   - key: 64 bytes; nil: the file is then plain.
    public static func changeKey(of configuration: Configuration, to key: Data?) throws {
        do throws(EngineError) {
            guard case .file(let path)? = try configuration.location else {
                throw EngineError(
                    .invalidArgument,
                    "A database in memory has no key: give the configuration of a file.")
            }
            try configuration.requireWritable("change the key of")
            let new: EncryptionKey? = if let key { try EncryptionKey(key) } else { nil }
            try Database.changeKey(
                of: path, from: configuration.engineKey, to: new,
                minimumVersion: configuration.minimumVersion,
                sharing: configuration.isExclusive ? .none : .processes)
        } catch {
            throw Realm.Error(error)
        }
    }

    /// The parts of a damaged file that a salvage has read and has not read.
    public struct Salvage: Sendable, Equatable {
        /// The result for one class.
        public struct Class: Sendable, Equatable {
            public var name: String
            /// Objects in the new file.
            public var objects: Int
            /// Objects of the version that was read which were not found; nil if their number is
            /// unknown.
            public var missing: Int?
            /// Objects of an older version: they may have been changed or deleted since.
            public var older: Int
            /// Objects that no checksum covers any more: they agree with themselves.
            public var unverified: Int
            /// Objects that were left out: without a primary key or with that of another one, with
            /// unique values of another one, or embedded and without an owner.
            public var dropped: Int
            /// Links to lost objects: nil now, or removed from their list.
            public var cutLinks: Int
            /// For each property that has lost values, the number of objects with nil or the
            /// default instead.
            public var lost: [String: Int]
        }

        /// The newest version that could be read.
        public var version: UInt64
        /// Whether nothing is missing, and nothing was found damaged.
        public var isComplete: Bool
        /// Whether nothing led to the schema any more: it was found by reading every page.
        public var isSchemaUnverified: Bool
        /// In the order of the file's schema.
        public var classes: [Class]
    }

    /// Reads the remaining content of a damaged file into a new one. The damaged file is not
    /// written to, and no lock file is made beside it. The new file has been read back and checked,
    /// and is durable, when this returns; after an error, or a crash, it does not exist. Realm has
    /// nothing like it.
    ///
    /// Throws `.fileExists` if `newFileURL` exists, `.alreadyOpen` while a process has the damaged
    /// file open for writing, `.corrupt` if its schema is lost, `.keyRequired`, `.wrongKey`,
    /// `.notEncrypted`, `.notADatabase`, `.unsupportedFormat`, `.fileNotFound`, `.diskFull`...
    /// Takes as long as reading the file.
    ///
    /// - Parameters:
    ///   - fileURL: the damaged file.
    ///   - newFileURL: the new file.
    ///   - encryptionKey: the damaged file's key, 64 bytes; nil for a plain file.
    ///   - newEncryptionKey: the new file's key, 64 bytes; nil for a plain file.
    /// - Returns: the parts that were read and those that are missing.
    @discardableResult
    public static func salvage(
        _ fileURL: URL, to newFileURL: URL, encryptionKey: Data? = nil,
        newEncryptionKey: Data? = nil
    ) throws -> Salvage {
        do throws(EngineError) {
            let key: EncryptionKey? =
                if let encryptionKey { try EncryptionKey(encryptionKey) } else { nil }
            let newKey: EncryptionKey? =
                if let newEncryptionKey { try EncryptionKey(newEncryptionKey) } else { nil }
            let report = try Database.salvage(
                try fileURL.filePath, to: try newFileURL.filePath, encryptionKey: key,
                newKey: newKey)
            return Salvage(
                version: report.version.rawValue, isComplete: report.isComplete,
                isSchemaUnverified: report.isSchemaUnverified,
                classes: report.classes.map { found in
                    Salvage.Class(
                        name: found.name, objects: found.objects, missing: found.missing,
                        older: found.older, unverified: found.unverified, dropped: found.dropped,
                        cutLinks: found.cutLinks,
                        lost: Dictionary(
                            found.properties.map { ($0.name, $0.lost) }, uniquingKeysWith: +))
                })
        } catch {
            throw Realm.Error(error)
        }
    }

    /// The use of a file's bytes.
    public struct Sizes: Sendable, Equatable {
        /// The whole file.
        public var file: Int
        /// Bytes of the newest version.
        public var live: Int
        /// Free for reuse.
        public var free: Int
        /// Bytes that only earlier versions need, which some process or the last checkpoint reads.
        public var held: Int
        /// The log.
        public var log: Int
    }

    /// The present use of the file's bytes. Realm has nothing like it.
    public func sizes() throws -> Sizes {
        do throws(EngineError) {
            try session.verify()
            let facts = try session.engine.facts()
            return Sizes(
                file: Int(clamping: facts.fileSize), live: Int(clamping: facts.liveSize),
                free: Int(clamping: facts.freeSize), held: Int(clamping: facts.heldSize),
                log: Int(clamping: facts.logSize))
        } catch {
            throw Realm.Error(error)
        }
    }

    /// A version that a process reads: its pages are not reused.
    public struct VersionPin: Sendable, Equatable {
        /// The version: it grows with each commit of any process.
        public var version: UInt64
        /// The process; nil for another one that has the file open for reading only.
        public var processID: Int?
        /// Bytes that the version needs and the newest one does not.
        public var held: Int
        /// Seconds since the process began to read it; nil for one that has the file open for
        /// reading only, be it this one.
        public var age: TimeInterval?
    }

    /// The versions that are read, oldest first, each once for each process: they make a file grow.
    /// Realm has nothing like it.
    public func versionPins() throws -> [VersionPin] {
        do throws(EngineError) {
            try session.verify()
            return try session.engine.versionPins().map {
                VersionPin(
                    version: $0.version.rawValue,
                    processID: $0.processID.map { Int(clamping: $0) },
                    held: Int(clamping: $0.heldSize), age: $0.age.map { Double($0) / 1e9 })
            }
        } catch {
            throw Realm.Error(error)
        }
    }

    /// Reads everything in the realm's version and checks it: structure, checksums, indexes, links,
    /// free space. Returns the faults, a sentence each; empty without any. Realm has nothing like
    /// it.
    public func check() throws -> [String] {
        do throws(EngineError) {
            try session.verify()
            return try session.engine.checkEverything().problems
        } catch {
            throw Realm.Error(error)
        }
    }

    /// Whether a configuration's file exists.
    public static func fileExists(for configuration: Configuration) -> Bool {
        guard case .file(let path)? = try? configuration.location else { return false }
        return FileManager.default.fileExists(atPath: path)
    }
}
