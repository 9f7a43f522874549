public import CToft
internal import ToftEngine
internal import ToftStorage

@c @implementation
public func toft_realm_open(
    _ configuration: UnsafePointer<toft_configuration>?,
    _ out_realm: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry { () throws(EngineError) in
        let out = try Argument.out(out_realm, "out_realm")
        guard !CallingThread.isForked else { throw .openedAfterFork }
        let session = try Session.open(
            try Configuration(try Argument.structure(configuration, "configuration")))
        let thread = CallingThread.current
        let owner = HandleOwner(thread: thread.identity)
        out.pointee = try HandleTable.shared.make(.realm, RealmBox(session), owner: owner)
        thread.adopt(owner)
    }
}

@c @implementation
public func toft_realm_close(_ realm: OpaquePointer?) -> toft_status {
    entry { () throws(EngineError) in
        try ResolvedHandle(realm: realm).session.close()
    }
}

@c @implementation
public func toft_realm_release(_ realm: OpaquePointer?) {
    HandleTable.shared.release(realm, .realm)
}

@c @implementation
public func toft_realm_refresh(_ realm: OpaquePointer?, _ out_changed: UnsafeMutablePointer<Bool>?)
    -> toft_status
{
    entry { () throws(EngineError) in
        let changed = try ResolvedHandle(realm: realm).session.refresh()
        out_changed?.pointee = changed
    }
}

@c @implementation
public func toft_realm_version(
    _ realm: OpaquePointer?, _ out_version: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    entry { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        try Argument.out(out_version, "out_version").pointee = try session.version
    }
}

extension Configuration {
    fileprivate init(_ given: toft_configuration) throws(EngineError) {
        let path = try Argument.path(given.path, "path")
        let name = try Argument.text(given.in_memory_name, "in_memory_name")
        guard path.isEmpty != name.isEmpty else {
            throw .invalidArgument("Give either a path or the name of a database in memory.")
        }
        self.init(
            location: name.isEmpty ? .file(path: path) : .memory(name: name),
            mode: try Mode(given.mode), schema: try SchemaBox.schema(of: given.schema),
            writeTimeoutMilliseconds: given.write_timeout_milliseconds == 0
                ? nil : max(0, Int(given.write_timeout_milliseconds)))
        guard given.flags & ~TOFT_OPEN_BUFFERED.rawValue == 0 else {
            throw .invalidArgument("There are no such flags for opening: \(given.flags).")
        }
        usesMapping = given.flags & TOFT_OPEN_BUFFERED.rawValue == 0
    }
}

extension Configuration.Mode {
    fileprivate init(_ mode: toft_mode) throws(EngineError) {
        switch mode {
        case TOFT_MODE_READ_WRITE: self = .readWrite
        case TOFT_MODE_EXISTING: self = .existing
        case TOFT_MODE_READ_ONLY: self = .readOnly
        default: throw .invalidArgument("There is no mode \(mode.rawValue).")
        }
    }
}
