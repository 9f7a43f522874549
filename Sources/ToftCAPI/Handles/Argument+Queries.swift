internal import CToft
internal import ToftEngine
internal import ToftModel
internal import ToftQuery

extension Argument {
    /// The object behind a `toft_query *`.
    static func query(_ handle: OpaquePointer?) throws(EngineError) -> PreparedQuery {
        unsafeDowncast(
            try HandleTable.shared.lookShared(handle, .query), to: PreparedQuery.self)
    }

    /// The arguments of a query, copied.
    static func arguments(_ arguments: UnsafePointer<toft_value>?, _ count: Int)
        throws(EngineError) -> [QueryArgument]
    {
        var copies: [QueryArgument] = []
        for argument in try array(arguments, count, "arguments") {
            copies.append(try QueryArgument(copying: argument))
        }
        return copies
    }
}
