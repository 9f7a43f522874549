internal import CToft
internal import ToftEngine

/// Runs the body of an entry point. What it throws becomes the calling thread's last error and the
/// status; nothing else gets out.
@inline(__always)
func entry(_ body: () throws(EngineError) -> Void) -> toft_status {
    do {
        try body()
        return TOFT_OK
    } catch {
        CallingThread.current.fail(error)
        return toft_status(error.code)
    }
}

extension toft_status {
    init(_ code: ErrorCode) {
        self.init(rawValue: UInt32(code.rawValue))
    }
}
