/// Decides for rows of one class whether an observer is to be notified of them.
protocol RowChangeFilter: AnyObject {
    /// No row did.
    var isEmpty: Bool { get }
    /// All rows that did, if they are known at once.
    var rows: Set<Int64>? { get }
    /// Number of objects that can be read to find them at once.
    var budget: Int { get }
    func isModified(_ key: Int64) throws(EngineError) -> Bool
}
