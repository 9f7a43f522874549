public import CToft
internal import ToftEngine
internal import ToftStorage

@c @implementation
public func toft_realm_begin_write(
    _ realm: OpaquePointer?, _ options: UnsafePointer<toft_write_options>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let options = try Argument.options(options, "options")
        try Argument.flags(options.flags, known: TOFT_WRITE_TIMEOUT.rawValue, "flags")
        let isGiven = options.flags & TOFT_WRITE_TIMEOUT.rawValue != 0
        try session.beginWrite(
            timeoutMilliseconds: try Timeout.given(options.timeout, isGiven: isGiven))
    }
}

@c @implementation
public func toft_realm_interrupt(_ realm: OpaquePointer?) -> toft_status {
    entry { () throws(EngineError) in
        try HandleTable.shared.interruption(of: realm).interrupt()
    }
}

@c @implementation
public func toft_realm_commit(
    _ realm: OpaquePointer?, _ options: UnsafePointer<toft_commit_options>?,
    _ out_version: UnsafeMutablePointer<UInt64>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
        let session = try ResolvedHandle(realm: realm).session
        let options = try Argument.options(options, "options")
        try Argument.flags(options.flags, known: 0, "flags")
        var tokens: [Token] = []
        for handle in try Argument.array(
            options.without_notifying, options.without_notifying_count, "without_notifying")
        {
            let token = unsafeDowncast(
                try HandleTable.shared.lookShared(handle, .token), to: Token.self)
            guard token.belongs(to: session) else {
                throw EngineError(
                    .wrongRealm, "'without_notifying' has a token of another realm.")
            }
            tokens.append(token)
        }
        let version = try session.commit(try Durability(options.durability), skipping: tokens)
        out_version?.pointee = version.rawValue
    }
}

@c @implementation
public func toft_realm_flush(_ realm: OpaquePointer?) -> toft_status {
    entry(realm) { () throws(EngineError) in
        try ResolvedHandle(realm: realm).session.flush()
    }
}

@c @implementation
public func toft_realm_cancel(_ realm: OpaquePointer?) -> toft_status {
    entry(realm) { () throws(EngineError) in
        try ResolvedHandle(realm: realm).session.cancel()
    }
}

@c @implementation
public func toft_realm_begin_savepoint(_ realm: OpaquePointer?) -> toft_status {
    entry(realm) { () throws(EngineError) in
        try ResolvedHandle(realm: realm).session.beginSavepoint()
    }
}

@c @implementation
public func toft_realm_end_savepoint(_ realm: OpaquePointer?, _ keep: Bool) -> toft_status {
    entry(realm) { () throws(EngineError) in
        try ResolvedHandle(realm: realm).session.endSavepoint(keeping: keep)
    }
}

@c @implementation
public func toft_realm_is_writing(
    _ realm: OpaquePointer?, _ out_is_writing: UnsafeMutablePointer<Bool>?
) -> toft_status {
    entry(realm) { () throws(EngineError) in
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
