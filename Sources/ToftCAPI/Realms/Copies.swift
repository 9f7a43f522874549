public import CToft
internal import ToftEngine
internal import ToftModel
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
public func toft_realm_compact_step(
    _ realm: OpaquePointer?, _ byte_count: UInt64,
    _ out_step: UnsafeMutablePointer<toft_compaction_step>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let out = try Argument.outStructure(out_step, "out_step")
        let done = try session.compactStep(movingAtMost: byte_count)
        var step = toft_compaction_step()
        step.moved_size = done.movedSize
        step.size_before = done.sizeBefore
        step.size_after = done.sizeAfter
        step.held_size = done.heldSize
        step.has_more = done.hasMore ? 1 : 0
        Argument.fill(out, step)
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
public func toft_salvage(
    _ options: UnsafePointer<toft_salvage_options>?,
    _ out_report: UnsafeMutablePointer<toft_salvage_report>?
) -> toft_status {
    entry { () throws(EngineError) in
        let options = try Argument.structure(options, "options")
        let out = try Argument.outStructure(out_report, "out_report")
        let buffered = TOFT_OPEN_BUFFERED.rawValue
        try Argument.flags(options.flags, known: buffered, "options")
        try Argument.reserved(options.reserved, "options")
        let path = try Argument.givenPath(options.path)
        let newPath = try Argument.givenPath(options.new_path, "new_path")
        let key = try Argument.key(options.key, options.key_size, "key")
        let newKey = try Argument.key(options.new_key, options.new_key_size, "new_key")
        let salvage = { () throws(EngineError) -> SalvageReport in
            try Database.salvage(
                path, to: newPath, encryptionKey: key, newKey: newKey,
                usesMapping: options.flags & buffered == 0
            ) { found in
                guard let callback = options.found else { return true }
                return found.classes.allSatisfy { $0.tell(callback, options.found_user_data) }
            }
        }
        let found: SalvageReport
        if let word = options.interrupt {
            found = try InterruptProbe(word).watching(salvage)
        } else {
            found = try salvage()
        }
        var report = toft_salvage_report()
        report.version = found.version.rawValue
        report.class_count = UInt64(found.classes.count)
        report.object_count = UInt64(found.classes.reduce(0) { $0 + $1.objects })
        report.flags =
            (found.isComplete ? TOFT_SALVAGE_COMPLETE.rawValue : 0)
            | (found.isSchemaUnverified ? TOFT_SALVAGE_SCHEMA_UNVERIFIED.rawValue : 0)
        Argument.fill(out, report)
    }
}

extension SalvageReport.Class {
    /// Tells a program of the class, and asks whether the new file is to be kept.
    fileprivate func tell(
        _ callback: toft_salvage_callback, _ userData: UnsafeMutableRawPointer?
    ) -> Bool {
        let className = CString(name)
        let names = properties.map { CString($0.name) }
        let lost = zip(names, properties).map {
            toft_salvage_property(name: $0.string, lost_count: UInt64($1.lost))
        }
        return lost.withUnsafeBufferPointer { lost in
            var found = toft_salvage_class()
            found.size = MemoryLayout<toft_salvage_class>.size
            found.name = className.string
            found.object_count = UInt64(objects)
            found.missing_count = missing.map { Int64($0) } ?? -1
            found.older_count = UInt64(older)
            found.unverified_count = UInt64(unverified)
            found.dropped_count = UInt64(dropped)
            found.cut_link_count = UInt64(cutLinks)
            found.properties = lost.baseAddress
            found.property_count = lost.count
            var isKept = false
            withExtendedLifetime((className, names)) {
                ThreadMark.current.refusingCalls { isKept = callback(userData, &found) }
            }
            return isKept
        }
    }
}

@c @implementation
public func toft_file_schema_version(
    _ path: toft_string, _ out_version: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    toft_file_schema_version_with_key(path, nil, 0, out_version)
}

@c @implementation
public func toft_file_schema_version_with_key(
    _ path: toft_string, _ key: UnsafeRawPointer?, _ key_size: Int,
    _ out_version: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    entry { () throws(EngineError) in
        let out = try Argument.out(out_version, "out_version")
        out.pointee = try Database.schemaVersion(
            of: try Argument.givenPath(path),
            encryptionKey: try Argument.key(key, key_size, "key"))
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
    /// The key; nil if the caller gives no key.
    static func key(_ key: UnsafeRawPointer?, _ size: Int, _ name: StaticString)
        throws(EngineError) -> EncryptionKey?
    {
        let bytes = try bytes(key, size, name)
        return key == nil ? nil : try EncryptionKey(engine: bytes)
    }

    static func givenPath(_ path: toft_string, _ name: StaticString = "path")
        throws(EngineError) -> String
    {
        let path = try Argument.path(path, name)
        guard !path.isEmpty else { throw .invalidArgument("'\(name)' is empty.") }
        return path
    }
}

/// A program's callback that decides whether to compact a file.
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
