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
        out.pointee = try RealmBox.handle(of: migration.old)
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

@c @implementation
public func toft_realm_open_dry_run(
    _ configuration: UnsafePointer<toft_configuration>?,
    _ callback: toft_schema_change_callback?, _ user_data: UnsafeMutableRawPointer?
) -> toft_status {
    entry { () throws(EngineError) in
        guard let callback else { throw Argument.isNull("callback") }
        let configuration = try Configuration(
            try Argument.structure(configuration, "configuration"))
        for difference in try Migration.dryRun(configuration) {
            let owner = CString(difference.className)
            let property = CString(difference.property ?? "")
            let text = CString(difference.description)
            var change = toft_schema_change()
            change.size = MemoryLayout<toft_schema_change>.size
            change.kind = toft_schema_change_kind(rawValue: difference.kind.rawValue)
            change.class_name = owner.string
            change.property_name = property.string
            change.text = text.string
            withExtendedLifetime((owner, property, text)) {
                ThreadMark.current.refusingCalls { callback(user_data, &change) }
            }
        }
    }
}

/// The object behind a `toft_migration *`.
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

/// A program's migration callback.
///
/// `@unchecked Sendable`: it is called on the thread of the call that was given it.
struct MigrationTarget: @unchecked Sendable {
    let callback: toft_migration_callback
    let userData: UnsafeMutableRawPointer?

    /// Calls it, and throws the error of its status: the library's own failure, if a call of the
    /// library failed in it.
    func call(_ migration: Migration) throws(EngineError) {
        let thread = CallingThread.current
        let owner = HandleOwner(thread: thread, migration.old.interruption)
        let handle = try HandleTable.shared.make(
            .migration, MigrationBox(migration), owner: owner)
        thread.adopt(owner)
        defer { HandleTable.shared.release(handle, .migration) }
        let status = callback(userData, handle)
        guard status != TOFT_OK else { return }
        throw thread.failure(behind: status, "The migration was given up: its callback")
    }
}

extension CallingThread {
    /// The error of a program callback's status: the library's own failure, if a call of the
    /// library failed in it.
    func failure(behind status: toft_status, _ what: String) -> EngineError {
        guard let code = ErrorCode(rawValue: status.rawValue) else {
            return EngineError(
                .invalidArgument,
                "\(what) returned \(status.rawValue), which is not a toft_status.")
        }
        if let failure, failure.code == code { return failure }
        return EngineError(code, "\(what) returned \(status.rawValue).")
    }
}

/// A program's callback for default values.
///
/// `@unchecked Sendable`: it is called on the thread of the call that was given it.
struct DefaultsTarget: @unchecked Sendable {
    let callback: toft_default_callback
    let userData: UnsafeMutableRawPointer?

    func ask(
        _ className: String, _ property: String,
        _ use: (BorrowedValue) throws(ModelError) -> Void
    ) throws(ModelError) -> Bool {
        let names = (CString(className), CString(property))
        var value = toft_value_null(), isGiven = false
        withExtendedLifetime(names) {
            ThreadMark.current.refusingCalls {
                isGiven = callback(userData, names.0.string, names.1.string, &value)
            }
        }
        guard isGiven else { return false }
        var failure: ModelError?
        do throws(EngineError) {
            try BorrowedArguments.with { loan throws(EngineError) in
                let value = try loan.value(value, "out_value")
                do throws(ModelError) { try use(value) } catch { failure = error }
            }
        } catch {
            failure = .invalidDefault(className: className, property: property, error.message)
        }
        if let failure { throw failure }
        return true
    }
}
