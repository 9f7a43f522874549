internal import CToft
internal import ToftEngine
internal import ToftPlatform

/// Runs the body of an entry point. An error becomes the status and the last error of the calling
/// thread; nothing else gets out.
@inline(__always)
func entry(_ body: () throws(EngineError) -> Void) -> toft_status {
    let call = CallingThread.enterCall(ThreadMark.nothing)
    if call.isRefused { return refused() }
    var status = TOFT_OK
    do {
        try body()
    } catch {
        status = failed(error, nil)
    }
    call.leave()
    return status
}

/// Runs the body of an entry point whose first parameter is a realm or an object of one. An error
/// also becomes that realm's last error, and other threads see until the end that the thread is
/// inside a call with the realm.
@inline(__always)
func entry(_ handle: OpaquePointer?, _ body: () throws(EngineError) -> Void) -> toft_status {
    let call = CallingThread.enterCall(ThreadMark.resolving)
    if call.isRefused { return refused() }
    let depth = HandleOwner.isAnyConfinedToCaller ? CallingThread.currentDepth : 0
    var status = TOFT_OK
    do {
        try body()
    } catch {
        status = failed(error, handle)
    }
    if HandleOwner.isAnyConfinedToCaller { CallingThread.leave(to: depth) }
    call.leave()
    return status
}

@inline(never)
private func refused() -> toft_status {
    failed(
        EngineError(
            .insideCallback,
            "This callback may call only releases and functions that never fail. "
                + "Call the function when the callback has returned."), nil)
}

/// Notes a failure. Never inlined, as there are many entry points.
@inline(never)
private func failed(_ error: EngineError, _ handle: OpaquePointer?) -> toft_status {
    CallingThread.current.fail(error)
    if let level = error.code.levelOfMisuse {
        Diagnostics.tell(level, "\(error.code.nameInC): \(error.message)")
    }
    if let handle { HandleTable.shared.ownerInUse(by: handle)?.fail(error) }
    return toft_status(error.code)
}

extension toft_status {
    init(_ code: ErrorCode) {
        self.init(rawValue: code.rawValue)
    }
}
