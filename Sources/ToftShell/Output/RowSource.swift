package import ToftEngine

/// Rows of output, some at a time.
package protocol RowSource {
    var columns: [PrintedColumn] { get }

    /// Reads the next rows: their number, 0 at the end.
    mutating func next() throws(EngineError) -> Int

    /// A value of one of the rows read last.
    func cell(_ column: Int, of row: Int) throws(EngineError) -> PrintedCell
}

/// The heading of a column, and whether its values are numbers, which are set at the right.
package struct PrintedColumn: Sendable {
    package var title: String
    package var isNumber: Bool

    package init(_ title: String, isNumber: Bool = false) {
        self.title = title
        self.isNumber = isNumber
    }
}

/// Rows that are in memory.
package struct ValueRows: RowSource {
    package let columns: [PrintedColumn]
    private var rows: [[JSONValue]]
    private var isRead = false

    package init(_ columns: [PrintedColumn], _ rows: [[JSONValue]]) {
        self.columns = columns
        self.rows = rows
    }

    package mutating func next() -> Int {
        defer { isRead = true }
        return isRead ? 0 : rows.count
    }

    package func cell(_ column: Int, of row: Int) -> PrintedCell {
        switch rows[row][column] {
        case .null: .null
        case .integer(let number): .int(number)
        case .double(let number): .double(number)
        case let value: .json(value)
        }
    }
}
