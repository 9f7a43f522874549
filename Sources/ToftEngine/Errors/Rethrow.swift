internal import ToftStorage

/// Runs what reads or writes bytes and throws its error as the engine's own.
@inline(__always)
func storage<Result: ~Copyable>(_ body: () throws(StorageError) -> Result) throws(EngineError) -> Result {
    do { return try body() } catch { throw EngineError(error) }
}
