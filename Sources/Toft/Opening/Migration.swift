public import Foundation
internal import Synchronization
internal import ToftEngine
internal import ToftModel
internal import ToftStorage

/// Moves a file from an older schema version to the app's: see
/// `Realm.Configuration.migrationBlock`. An error that it throws leaves the file as it was and is
/// thrown by the opening; Realm's can't throw.
public typealias MigrationBlock =
    @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64)
    throws -> Void

/// An object in a migration, whose properties are known by their names.
public typealias MigrationObject = DynamicObject

/// The block of `Migration.enumerateObjects`.
public typealias MigrationObjectEnumerateBlock = (
    _ oldObject: MigrationObject?, _ newObject: MigrationObject?
) -> Void

/// A file on its way from one schema version to the next, while a `MigrationBlock` runs: with the
/// objects as they were and as they are to be.
///
/// A property whose type has changed is a new one, and so is one that was optional and is required:
/// copy the values that are to stay. A class that is to be embedded is not yet, and one that was is
/// not any more: its objects are created, deleted and linked to as others are. Misuse in the block,
/// such as a name that does not exist, is thrown by the opening. Belongs to the thread of the
/// block.
public struct Migration {
    let engine: ToftEngine.Migration
    let old: Realm
    private let stage: NewRealm

    /// The file as it is to be: from its first use on, classes are not renamed any more.
    private var new: Realm { Misuse.reporting { try stage.realm() } ?? old }

    fileprivate init(engine: ToftEngine.Migration, old: Realm, stage: NewRealm) {
        self.engine = engine
        self.old = old
        self.stage = stage
    }

    /// The classes as the file had them.
    public var oldSchema: Schema { old.schema }

    /// The classes as they are to be.
    public var newSchema: Schema { new.schema }

    /// Calls the block with each object of a class, as it was and as it is to be. One of the two is
    /// nil for a class that only the other schema has; objects that were deleted in the migration
    /// are left out.
    public func enumerateObjects(
        ofType typeName: String, _ block: MigrationObjectEnumerateBlock
    ) {
        let new = self.new
        Misuse.reporting {
            try engine.enumerate(typeName) { before, after throws(EngineError) in
                block(old.migrating(before), new.migrating(after))
            }
        }
    }

    /// Creates an object of a class of the new schema. Properties that are not given get the
    /// class's defaults, except links and collections, which begin empty.
    @discardableResult
    public func create(_ typeName: String, value: Any = [String: Any]()) -> MigrationObject {
        new.dynamicCreate(typeName, value: value)
    }

    /// Deletes an object that `enumerateObjects` gave as the new one, or that was created.
    public func delete(_ object: MigrationObject) {
        new.delete(object)
    }

    /// Deletes all objects of a class, and the class if the new schema lacks it. Returns true if
    /// the file has it.
    @discardableResult
    public func deleteData(forType typeName: String) -> Bool {
        Misuse.reporting { try engine.deleteData(typeName) } ?? false
    }

    /// Gives a class of the file its new name: its objects and the links to them stay. Before
    /// anything else in the block. With a name at the end that no class has, the opening throws.
    /// Realm has nothing like it.
    public func renameClass(from oldName: String, to newName: String) {
        Misuse.reporting { try engine.renameClass(oldName, to: newName) }
    }

    /// Gives a property its new name, with its values. Inside `enumerateObjects` it is misuse. A
    /// new name that the class lacks is one for the meantime: rename it again, or the opening
    /// throws.
    public func renameProperty(
        onType typeName: String, from oldName: String, to newName: String
    ) {
        Misuse.reporting { try engine.renameProperty(typeName, oldName, to: newName) }
    }
}

extension Realm {
    /// Migrates the file of a configuration without opening it for use. Throws `.alreadyOpen` while
    /// a realm of this process has it open.
    public static func performMigration(
        for configuration: Configuration = .defaultConfiguration
    ) throws {
        if case .file(let path)? = try? configuration.location, Database.isOpen(path: path) {
            throw Realm.Error(
                .alreadyOpen,
                "'\(path)' can't be migrated: a realm of this process has it open.")
        }
        try Realm(configuration: configuration).session.close()
    }

    fileprivate func migrating(_ handle: ObjectHandle?) -> MigrationObject? {
        guard let handle else { return nil }
        return Misuse.reporting {
            try session.dynamicHome(id: handle.ref.classID).object(handle.ref.key)
                as? DynamicObject
        } ?? nil
    }
}

/// The schema version of a file. Throws if it is missing or no database.
///
/// - Parameters:
///   - fileURL: the file, which may be open elsewhere.
///   - encryptionKey: the file's key, 64 bytes; nil for a plain file.
public func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
    do throws(EngineError) {
        let key: EncryptionKey? =
            if let encryptionKey { try EncryptionKey(encryptionKey) } else { nil }
        return try Database.schemaVersion(of: try fileURL.filePath, encryptionKey: key)
    } catch {
        throw Realm.Error(error)
    }
}

/// Calls the blocks of a configuration for the engine, and keeps their errors.
final class OpeningBlocks: Sendable {
    private let configuration: Realm.Configuration
    private let thrown = Mutex<(any Swift.Error)?>(nil)

    init(_ configuration: Realm.Configuration) { self.configuration = configuration.opened }

    /// Has the engine call them.
    func join(_ engine: inout ToftEngine.Configuration) {
        if let block = configuration.migrationBlock {
            engine.migration = { migration throws(EngineError) in try self.run(block, migration) }
        }
        if let block = configuration.initialize {
            engine.initialize = { session throws(EngineError) in
                let realm = Realm(RealmSession(session, self.configuration, .thread))
                // The engine ends the transaction, whatever the block has tried.
                defer { realm.session.endWrite() }
                do {
                    try Realm.attempt { try block(realm) }
                } catch {
                    throw self.keep(error, "The block that fills a new database")
                }
            }
        }
    }

    /// An error of a block, if that is why an opening has failed.
    var cause: (any Swift.Error)? { thrown.withLock { $0 } }

    private func keep(_ error: any Swift.Error, _ block: String) -> EngineError {
        thrown.withLock { $0 = error }
        return EngineError(.interrupted, "\(block) has thrown \(error).")
    }

    private func run(_ block: MigrationBlock, _ engine: ToftEngine.Migration) throws(EngineError) {
        var was = configuration
        was.objectTypes = []
        let stage = NewRealm(engine, configuration)
        let migration = Migration(
            engine: engine, old: Realm(RealmSession(engine.old, was, .thread)), stage: stage)
        do {
            try Realm.attempt { try block(migration, engine.oldVersion) }
        } catch {
            if let failure = stage.failure { throw failure }
            throw keep(error, "The migration block")
        }
    }
}

/// The realm of a migration that shows the file as it is to be, made when it is first used.
private final class NewRealm {
    private let engine: ToftEngine.Migration
    private let configuration: Realm.Configuration
    private var made: Realm?
    /// Why it can't be made: the classes do not fit.
    private(set) var failure: EngineError?

    init(_ engine: ToftEngine.Migration, _ configuration: Realm.Configuration) {
        self.engine = engine
        self.configuration = configuration
    }

    func realm() throws(EngineError) -> Realm {
        if let made { return made }
        do throws(EngineError) {
            let realm = Realm(RealmSession(try engine.new(), configuration, .thread))
            realm.session.defaults = DefaultValues(configuration.models)
            made = realm
            return realm
        } catch {
            failure = error
            throw error
        }
    }
}
