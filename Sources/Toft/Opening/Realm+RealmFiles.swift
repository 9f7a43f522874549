public import Foundation
internal import ToftEngine
internal import ToftStorage

extension Realm {
    /// The result of an import of one of Realm's own files.
    public struct RealmFileImport: Sendable, Equatable {
        /// A class of the new file.
        public struct Class: Sendable, Equatable {
            public var name: String
            /// Objects in the new file.
            public var objects: Int
        }

        /// The file format of the Realm file, 2 to 24.
        public var format: Int
        /// The schema version, which the new file has too; nil if no program had set one.
        public var schemaVersion: UInt64?
        /// In the order of the Realm file.
        public var classes: [Class]
        /// The differences from the Realm file, a sentence each: names that Toft does not accept,
        /// indexes without a counterpart, dangling links, texts that are not UTF-8...
        public var notes: [String]
    }

    /// Reads one of Realm's own files into a new file of Toft: classes, objects, links, embedded
    /// objects, lists, sets, maps, mixed values, primary keys, indexes and the schema version.
    /// realm-core is not needed. The Realm file is not written to, and no program may write it
    /// meanwhile. The new file is durable when this returns; after an error, or a crash, it does
    /// not exist.
    ///
    /// Throws `.fileExists` if `newFileURL` exists, `.notADatabase` if `fileURL` is not a Realm
    /// file, or an encrypted one without a key, `.wrongKey`, `.corrupt` if the Realm file is
    /// damaged, `.unsupported` for contents that no SDK of Realm makes, `.fileNotFound`,
    /// `.diskFull`... Takes as long as reading the one and writing the other file; memory for some
    /// 50 bytes an object, and for the parts of the Realm file that are read.
    ///
    /// - Parameters:
    ///   - fileURL: the Realm file, which may be one that was written as a copy.
    ///   - newFileURL: the new file.
    ///   - encryptionKey: the Realm file's key, 64 bytes; nil for a plain file.
    ///   - newEncryptionKey: the new file's key, 64 bytes; nil for a plain file.
    ///   - progress: called on the calling thread with the number of finished objects and of all.
    /// - Returns: the result of the import.
    @discardableResult
    public static func importRealmFile(
        _ fileURL: URL, to newFileURL: URL, encryptionKey: Data? = nil,
        newEncryptionKey: Data? = nil, progress: ((_ done: Int, _ total: Int) -> Void)? = nil
    ) throws -> RealmFileImport {
        do throws(EngineError) {
            let key: EncryptionKey? =
                if let encryptionKey { try EncryptionKey(encryptionKey) } else { nil }
            let newKey: EncryptionKey? =
                if let newEncryptionKey { try EncryptionKey(newEncryptionKey) } else { nil }
            let report = try Database.importRealm(
                try fileURL.filePath, to: try newFileURL.filePath, key: key, newKey: newKey,
                progress: progress)
            return RealmFileImport(
                format: report.format, schemaVersion: report.schemaVersion,
                classes: report.classes.map {
                    RealmFileImport.Class(name: $0.name, objects: $0.objects)
                },
                notes: report.notes)
        } catch {
            throw Realm.Error(error)
        }
    }
}
