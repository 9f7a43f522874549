public import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftPlatform

@c @implementation
public func toft_migration_versions(
    _ migration: OpaquePointer?, _ out_old: UnsafeMutablePointer<UInt64>?,
    _ out_new: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    entry(migration) { () throws(EngineError) in
        let migration = try ResolvedHandle(migration: migration).box.migration
        out_old?.pointee = migration.oldVersion
        out_new?.pointee = migration.newVersion
    }
}

@c @implementation
public func toft_migration_old_realm(
    _ migration: OpaquePointer?, _ out_realm: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry(migration) { () throws(EngineError) in
        let migration = try ResolvedHandle(migration: migration).box.migration
        let out = try Argument.out(out_realm, "out_realm")
        let owner = HandleOwner(thread: nil, isShared: true, migration.old.interruption)
        out.pointee = try HandleTable.shared.make(.realm, RealmBox(migration.old), owner: owner)
    }
}

@c @implementation
public func toft_migration_new_realm(
    _ migration: OpaquePointer?, _ out_realm: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry(migration) { () throws(EngineError) in
        let migration = try ResolvedHandle(migration: migration).box.migration
        let out = try Argument.out(out_realm, "out_realm")
        out.pointee = try RealmBox.handle(of: try migration.new())
    }
}

@c @implementation
public func toft_migration_rename_class(
    _ migration: OpaquePointer?, _ old_name: toft_string, _ new_name: toft_string
) -> toft_status {
    entry(migration) { () throws(EngineError) in
        try ResolvedHandle(migration: migration).box.migration.renameClass(
            try Argument.text(old_name, "old_name"), to: try Argument.text(new_name, "new_name"))
    }
}

@c @implementation
public func toft_migration_rename_property(
    _ migration: OpaquePointer?, _ class_name: toft_string, _ old_name: toft_string,
    _ new_name: toft_string
) -> toft_status {
    entry(migration) { () throws(EngineError) in
        try ResolvedHandle(migration: migration).box.migration.renameProperty(
            try Argument.text(class_name, "class_name"), try Argument.text(old_name, "old_name"),
            to: try Argument.text(new_name, "new_name"))
    }
}

@c @implementation
public func toft_migration_delete_data(
    _ migration: OpaquePointer?, _ class_name: toft_string,
    _ out_was_there: UnsafeMutablePointer<Bool>?
) -> toft_status {
    entry(migration) { () throws(EngineError) in
        let migration = try ResolvedHandle(migration: migration).box.migration
        let wasThere = try migration.deleteData(try Argument.text(class_name, "class_name"))
        out_was_there?.pointee = wasThere
    }
}

/// What a `toft_migration *` names.
final class MigrationBox {
    let migration: Migration

    init(_ migration: Migration) {
        self.migration = migration
    }
}

extension ResolvedHandle where Box == MigrationBox {
    fileprivate init(migration: OpaquePointer?) throws(EngineError) {
        try self.init(migration, .migration)
        owner.emptyIfNeeded()
    }
}

/// What a program migrates with.
///
/// `@unchecked Sendable`: it is called on the thread of the call that was given it.
struct MigrationTarget: @unchecked Sendable {
    let callback: toft_migration_callback
    let userData: UnsafeMutableRawPointer?

    /// Calls it, and throws what its status says: the failure behind that, where it was a call of
    /// the library that failed.
    func call(_ migration: Migration) throws(EngineError) {
        let thread = CallingThread.current
        let owner = HandleOwner(thread: thread, migration.old.interruption)
        let handle = try HandleTable.shared.make(
            .migration, MigrationBox(migration), owner: owner)
        thread.adopt(owner)
        defer { HandleTable.shared.release(handle, .migration) }
        let status = callback(userData, handle)
        guard status != TOFT_OK else { return }
        let code = ErrorCode(rawValue: status.rawValue) ?? .interrupted
        if let failure = thread.failure, failure.code == code { throw failure }
        throw EngineError(
            code, "The migration was given up: its callback returned \(status.rawValue).")
    }
}
