/// Tells for rows of one class whether an observer is to hear that they changed.
protocol RowChangeFilter: AnyObject {
    /// No row did.
    var isEmpty: Bool { get }
    /// All rows that did, if they are known at once.
    var rows: Set<Int64>? { get }
    /// How many objects could be looked at to know them at once.
    var budget: Int { get }
    func isModified(_ key: Int64) throws(EngineError) -> Bool
}
