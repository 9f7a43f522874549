public import CToft
internal import ToftEngine
internal import ToftStorage

@c @implementation
public func toft_realm_begin_write(_ realm: OpaquePointer?) -> toft_status {
    entry { () throws(EngineError) in
        try ResolvedHandle(realm: realm).session.beginWrite()
    }
}

@c @implementation
public func toft_realm_commit(_ realm: OpaquePointer?, _ out_version: UnsafeMutablePointer<UInt64>?)
    -> toft_status
{
    entry { () throws(EngineError) in
        let version = try ResolvedHandle(realm: realm).session.commit()
        out_version?.pointee = version
    }
}

@c @implementation
public func toft_realm_commit_with(
    _ realm: OpaquePointer?, _ options: UnsafePointer<toft_commit_options>?,
    _ out_version: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    entry { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let version = try session.commit(
            try Durability(try Argument.structure(options, "options").durability))
        out_version?.pointee = version
    }
}

@c @implementation
public func toft_realm_flush(_ realm: OpaquePointer?) -> toft_status {
    entry { () throws(EngineError) in
        try ResolvedHandle(realm: realm).session.flush()
    }
}

@c @implementation
public func toft_realm_cancel(_ realm: OpaquePointer?) -> toft_status {
    entry { () throws(EngineError) in
        try ResolvedHandle(realm: realm).session.cancel()
    }
}

@c @implementation
public func toft_realm_is_writing(
    _ realm: OpaquePointer?, _ out_is_writing: UnsafeMutablePointer<Bool>?
) -> toft_status {
    entry { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let out = try Argument.out(out_is_writing, "out_is_writing")
        try session.check()
        out.pointee = session.isWriting
    }
}

extension Durability {
    fileprivate init(_ durability: toft_durability) throws(EngineError) {
        switch durability {
        case TOFT_DURABILITY_IMMEDIATE: self = .immediate
        case TOFT_DURABILITY_GROUP: self = .group
        case TOFT_DURABILITY_DEFERRED: self = .deferred
        default: throw .invalidArgument("There is no durability \(durability.rawValue).")
        }
    }
}
