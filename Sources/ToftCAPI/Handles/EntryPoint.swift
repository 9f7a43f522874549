internal import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftStorage

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

/// Runs what asks the model itself, and throws its error as the engine's.
@inline(__always)
func model<Result>(_ body: () throws(ModelError) -> Result) throws(EngineError) -> Result {
    do throws(ModelError) { return try body() } catch { throw EngineError(error) }
}

/// The same for storage.
@inline(__always)
func storage<Result>(_ body: () throws(StorageError) -> Result) throws(EngineError) -> Result {
    do throws(StorageError) { return try body() } catch { throw EngineError(error) }
}

extension toft_status {
    init(_ code: ErrorCode) {
        self.init(rawValue: UInt32(code.rawValue))
    }
}
