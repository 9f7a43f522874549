package import ToftModel
internal import ToftQuery
package import ToftStorage

/// Runs calls of the storage and throws their error as the engine's.
@inline(__always)
package func storage<Result: ~Copyable>(_ body: () throws(StorageError) -> Result)
    throws(EngineError)
    -> Result
{
    do { return try body() } catch { throw EngineError(error) }
}

/// Runs calls of the model and throws their error as the engine's.
@inline(__always)
package func model<Result: ~Copyable>(_ body: () throws(ModelError) -> Result) throws(EngineError)
    -> Result
{
    do { return try body() } catch { throw EngineError(error) }
}

/// Binds a query and throws its error as the engine's.
@inline(__always)
func querying<Result: ~Copyable>(_ body: () throws(QueryError) -> Result) throws(EngineError)
    -> Result
{
    do { return try body() } catch { throw EngineError(error) }
}
