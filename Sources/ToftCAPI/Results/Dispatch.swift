public import CToft
internal import ToftEngine

@c @implementation
public func toft_realm_descriptor(
    _ realm: OpaquePointer?, _ out_descriptor: UnsafeMutablePointer<Int32>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let out = try Argument.out(out_descriptor, "out_descriptor")
        out.pointee = try session.eventDescriptor()
    }
}

@c @implementation
public func toft_realm_dispatch(_ realm: OpaquePointer?, _ out_calls: UnsafeMutablePointer<Int>?)
    -> toft_status
{
    entry(realm) { () throws(EngineError) in
        let calls = try ResolvedHandle(realm: realm).session.dispatch()
        out_calls?.pointee = calls
    }
}
