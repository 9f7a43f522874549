internal import CToft
internal import ToftEngine

/// Runs the body of an entry point. What it throws becomes the status and the last error of the
/// calling thread; nothing else gets out.
@inline(__always)
func entry(_ body: () throws(EngineError) -> Void) -> toft_status {
    do {
        try body()
        return TOFT_OK
    } catch {
        return failed(error, nil)
    }
}

/// The same for an entry point whose first parameter is a realm or what was got from one: what is
/// thrown becomes the last error of that realm too, and a realm that is confined to the caller is
/// in use until the end.
@inline(__always)
func entry(_ handle: OpaquePointer?, _ body: () throws(EngineError) -> Void) -> toft_status {
    let depth = HandleOwner.isAnyConfinedToCaller ? CallingThread.currentDepth : 0
    var status = TOFT_OK
    do {
        try body()
    } catch {
        status = failed(error, handle)
    }
    if HandleOwner.isAnyConfinedToCaller { CallingThread.leave(to: depth) }
    return status
}

/// Notes a failure. Never inlined, as there are many entry points.
@inline(never)
private func failed(_ error: EngineError, _ handle: OpaquePointer?) -> toft_status {
    CallingThread.current.fail(error)
    if let handle { HandleTable.shared.ownerInUse(by: handle)?.fail(error) }
    return toft_status(error.code)
}

extension toft_status {
    init(_ code: ErrorCode) {
        self.init(rawValue: code.rawValue)
    }
}
