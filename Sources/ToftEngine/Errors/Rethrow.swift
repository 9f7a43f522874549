internal import ToftModel
internal import ToftStorage

/// Runs what reads or writes bytes and throws its error as the engine's own.
@inline(__always)
func storage<Result: ~Copyable>(_ body: () throws(StorageError) -> Result) throws(EngineError) -> Result {
    do { return try body() } catch { throw EngineError(error) }
}

/// The same for what reads or writes objects.
@inline(__always)
func model<Result: ~Copyable>(_ body: () throws(ModelError) -> Result) throws(EngineError) -> Result {
    do { return try body() } catch { throw EngineError(error) }
}
