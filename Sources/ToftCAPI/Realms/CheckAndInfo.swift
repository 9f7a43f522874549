public import CToft
internal import ToftEngine
internal import ToftStorage

@c @implementation
public func toft_realm_info(
    _ realm: OpaquePointer?, _ out_info: UnsafeMutablePointer<toft_database_info>?
)
    -> toft_status
{
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let out = try Argument.outStructure(out_info, "out_info")
        let facts = try session.facts()
        var info = toft_database_info()
        info.version = try session.version.rawValue
        info.latest_version = facts.version.rawValue
        info.oldest_pinned_version = facts.oldestPinnedVersion.rawValue
        info.file_size = facts.fileSize
        info.free_size = facts.freeSize
        info.page_size = UInt32(Page.size)
        info.format_version = MetaLayout.currentFormat
        info.log_size = facts.logSize
        info.checkpoint_version = facts.checkpointVersion.rawValue
        info.deferred_size = facts.deferredSize
        info.schema_version = try session.schemaVersion
        info.live_size = facts.liveSize
        info.held_size = facts.heldSize
        Argument.fill(out, info)
    }
}

@c @implementation
public func toft_realm_pins(
    _ realm: OpaquePointer?, _ out_pins: UnsafeMutablePointer<toft_version_pin>?,
    _ capacity: Int, _ out_count: UnsafeMutablePointer<Int>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let room = try Argument.room(out_pins, capacity, "out_pins")
        let count = try Argument.out(out_count, "out_count")
        let pins = try session.versionPins().map {
            toft_version_pin(
                version: $0.version.rawValue, process_id: $0.processID ?? 0,
                held_size: $0.heldSize, age: $0.age.map { $0 / 1_000_000 } ?? -1)
        }
        Argument.fill(room, pins)
        count.pointee = pins.count
    }
}

@c @implementation
public func toft_realm_check(
    _ realm: OpaquePointer?, _ out_report: UnsafeMutablePointer<toft_check_report>?,
    _ out_text: UnsafeMutablePointer<CChar>?,
    _ capacity: Int, _ out_size: UnsafeMutablePointer<Int>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let out = try Argument.outStructure(out_report, "out_report")
        let room = try Argument.room(out_text, capacity, "out_text")
        let size = try Argument.out(out_size, "out_size")
        let findings = try session.checkEverything()
        var report = toft_check_report()
        report.problem_count = UInt64(findings.problems.count)
        report.page_count = UInt64(findings.pageCount)
        report.object_count = UInt64(findings.objectCount)
        size.pointee = Argument.fill(room, findings.problems.joined(separator: "\n"))
        Argument.fill(out, report)
    }
}
