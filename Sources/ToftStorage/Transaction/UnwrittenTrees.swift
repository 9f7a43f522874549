/// Trees and columns that a file lacks, and who only reads it is to see, empty.
package struct UnwrittenTrees: Sendable {
    /// Tables of their own, or of the file, and the columns that they are to have besides.
    package var columns: [(table: TreeID, columns: [Column])] = []
    /// Ordered trees.
    package var ordered: [TreeID] = []

    package init() {}

    package var isEmpty: Bool { columns.isEmpty && ordered.isEmpty }
}

extension Snapshot {
    /// Shows trees and columns that the file lacks. Called before they are read; any number of
    /// times.
    package func show(_ unwritten: UnwrittenTrees) {
        for (table, columns) in unwritten.columns { catalog.show(table, with: columns) }
        for tree in unwritten.ordered { catalog.add(TreeHead(kind: .ordered), tree) }
    }
}

extension Catalog {
    /// Shows a table with more columns than the file has; a whole table if it has no such table.
    fileprivate func show(_ table: TreeID, with columns: [Column]) {
        // An unreadable one throws when it is read.
        guard let head = try? head(table, .table) else {
            return add(TreeHead(kind: .table, columns: columns), table)
        }
        let missing = columns.filter { column in !head.columns.contains { $0.id == column.id } }
        guard !missing.isEmpty else { return }
        let all = (head.columns + missing).sorted { $0.id < $1.id }
        add(TreeHead(root: head.root, columns: all), table)
    }
}
