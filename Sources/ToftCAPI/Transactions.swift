public import CToft
internal import ToftEngine

@c @implementation
public func toft_realm_begin_write(_ realm: OpaquePointer?) -> toft_status {
    entry { () throws(EngineError) in
        try Named(realm: realm).session.beginWrite()
    }
}

@c @implementation
public func toft_realm_commit(_ realm: OpaquePointer?, _ out_version: UnsafeMutablePointer<UInt64>?) -> toft_status {
    entry { () throws(EngineError) in
        let version = try Named(realm: realm).session.commit()
        out_version?.pointee = version
    }
}

@c @implementation
public func toft_realm_cancel(_ realm: OpaquePointer?) -> toft_status {
    entry { () throws(EngineError) in
        try Named(realm: realm).session.cancel()
    }
}

@c @implementation
public func toft_realm_is_writing(_ realm: OpaquePointer?, _ out_is_writing: UnsafeMutablePointer<Bool>?) -> toft_status {
    entry { () throws(EngineError) in
        let session = try Named(realm: realm).session
        let out = try Argument.out(out_is_writing, "out_is_writing")
        try session.check()
        out.pointee = session.isWriting
    }
}
