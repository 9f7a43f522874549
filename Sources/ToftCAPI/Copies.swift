public import CToft
internal import ToftEngine
internal import ToftPlatform
internal import ToftStorage

@c @implementation
public func toft_realm_write_copy(_ realm: OpaquePointer?, _ path: toft_string) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        try session.writeCopy(to: try Argument.givenPath(path))
    }
}

@c @implementation
public func toft_realm_write_copy_with_key(
    _ realm: OpaquePointer?, _ path: toft_string, _ key: UnsafeRawPointer?, _ key_size: Int
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        try session.writeCopy(
            to: try Argument.givenPath(path),
            encryptionKey: try Argument.key(key, key_size, "key"))
    }
}

@c @implementation
public func toft_compact(
    _ path: toft_string, _ out_compaction: UnsafeMutablePointer<toft_compaction>?
) -> toft_status {
    toft_compact_with_key(path, nil, 0, out_compaction)
}

@c @implementation
public func toft_compact_with_key(
    _ path: toft_string, _ key: UnsafeRawPointer?, _ key_size: Int,
    _ out_compaction: UnsafeMutablePointer<toft_compaction>?
) -> toft_status {
    entry { () throws(EngineError) in
        let out = try Argument.outStructure(out_compaction, "out_compaction")
        let sizes = try Database.compact(
            try Argument.givenPath(path), encryptionKey: try Argument.key(key, key_size, "key"))
        var compaction = toft_compaction()
        compaction.size_before = sizes?.before ?? 0
        compaction.size_after = sizes?.after ?? 0
        Argument.fill(out, compaction)
    }
}

@c @implementation
public func toft_change_key(
    _ path: toft_string, _ old_key: UnsafeRawPointer?, _ old_key_size: Int,
    _ new_key: UnsafeRawPointer?, _ new_key_size: Int
) -> toft_status {
    entry { () throws(EngineError) in
        try Database.changeKey(
            of: try Argument.givenPath(path),
            from: try Argument.key(old_key, old_key_size, "old_key"),
            to: try Argument.key(new_key, new_key_size, "new_key"))
    }
}

@c @implementation
public func toft_file_schema_version(
    _ path: toft_string, _ out_version: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    entry { () throws(EngineError) in
        let out = try Argument.out(out_version, "out_version")
        out.pointee = try Database.schemaVersion(of: try Argument.givenPath(path))
    }
}

@c @implementation
public func toft_file_delete(
    _ path: toft_string, _ out_was_there: UnsafeMutablePointer<Bool>?
) -> toft_status {
    entry { () throws(EngineError) in
        let wasThere = try Database.delete(try Argument.givenPath(path))
        out_was_there?.pointee = wasThere
    }
}

extension Argument {
    /// A key; nil where none is given.
    static func key(_ key: UnsafeRawPointer?, _ size: Int, _ name: StaticString)
        throws(EngineError) -> EncryptionKey?
    {
        let bytes = try bytes(key, size, name)
        return key == nil ? nil : try EncryptionKey(engine: bytes)
    }

    fileprivate static func givenPath(_ path: toft_string) throws(EngineError) -> String {
        let path = try Argument.path(path, "path")
        guard !path.isEmpty else { throw .invalidArgument("The path is empty.") }
        return path
    }
}

/// What a program is asked with whether a file is to be compacted.
///
/// `@unchecked Sendable`: it is called on the thread of the call that was given it.
struct CompactionQuestion: @unchecked Sendable {
    let callback: toft_compact_callback
    let userData: UnsafeMutableRawPointer?

    func ask(_ total: UInt64, _ used: UInt64) -> Bool {
        var isWanted = false
        ThreadMark.current.refusingCalls { isWanted = callback(userData, total, used) }
        return isWanted
    }
}
