internal import ToftModel
internal import ToftQuery
internal import ToftStorage

/// Runs what reads or writes bytes and throws its error as the engine's own.
@inline(__always)
func storage<Result: ~Copyable>(_ body: () throws(StorageError) -> Result) throws(EngineError)
    -> Result
{
    do { return try body() } catch { throw EngineError(error) }
}

/// The same for what reads or writes objects.
@inline(__always)
func model<Result: ~Copyable>(_ body: () throws(ModelError) -> Result) throws(EngineError) -> Result
{
    do { return try body() } catch { throw EngineError(error) }
}

/// The same for what binds queries.
@inline(__always)
func querying<Result: ~Copyable>(_ body: () throws(QueryError) -> Result) throws(EngineError)
    -> Result
{
    do { return try body() } catch { throw EngineError(error) }
}

/// Runs what reads or writes bytes amid what reads or writes objects.
@inline(__always)
func stored<Result: ~Copyable>(_ body: () throws(StorageError) -> Result) throws(ModelError)
    -> Result
{
    do { return try body() } catch { throw .storage(error) }
}
