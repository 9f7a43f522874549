internal import ToftStorage

/// Values that a transaction has set and that have not reached their rows yet.
///
/// Objects are changed in any order; each change would copy the cluster of its row, or bring it
/// back into memory once it has left it. Kept back and sorted, the values of one cluster go there
/// together. Only values of fixed width that no index and no backlink follows wait here.
///
/// 1. Whoever reads rows through the transaction's view has the values of their class brought there
///    first: see `ModelView.table`.
/// 2. A value waits only for a row that is there. If the row has been erased meanwhile, the value
///    is dropped.
/// 3. Values of one cell reach it in the order in which they were set.
///
/// It belongs to the thread of the transaction.
final class PendingCells: @unchecked Sendable {
    private struct Entry {
        var key: Int64
        var cell: Cell
        var column: UInt32
    }

    private struct Buffer {
        var entries: [Entry] = []
        var isInOrder = true
    }

    private let limit: Int
    weak var writing: WriteTransaction?
    private let tables: [UInt64]
    private let buffers: UnsafeMutableBufferPointer<Buffer>

    /// Room for the classes of a schema; `limit` values of each may wait.
    init(_ schema: ModelSchema, limit: Int) {
        self.limit = limit
        tables = schema.classes.map(\.table)
        buffers = .allocate(capacity: tables.count)
        buffers.initialize(repeating: Buffer())
    }

    deinit {
        buffers.deinitialize()
        buffers.deallocate()
    }

    /// Whether values of a property may wait.
    @inline(__always)
    static func takes(_ property: PropertyHandle) -> Bool {
        switch property.type {
        case .bool, .int, .float, .double, .date: !property.isIndexed
        case .string, .data, .link, .linkingObjects: false
        }
    }

    /// Whether no value waits.
    var isEmpty: Bool { buffers.allSatisfy(\.entries.isEmpty) }

    /// Keeps the value of a row that is there.
    @inline(__always)
    func put(_ cell: Cell, to key: Int64, _ property: PropertyHandle) throws(StorageError) {
        let position = property.classPosition
        let count = buffers[position].entries.count
        if count > 0, buffers[position].entries[count - 1].key > key {
            buffers[position].isInOrder = false
        }
        buffers[position].entries.append(Entry(key: key, cell: cell, column: property.column))
        if count + 1 >= limit { try bring(position) }
    }

    /// Whether values of a class wait.
    @inline(__always)
    func wait(_ position: Int) -> Bool { !buffers[position].entries.isEmpty }

    /// Brings all values to their rows.
    func bringAll() throws(StorageError) {
        for position in buffers.indices { try bring(position) }
    }

    /// Brings the values of a class to their rows.
    @inline(__always)
    func bring(_ position: Int) throws(StorageError) {
        if !buffers[position].entries.isEmpty { try bringSome(position) }
    }

    private func bringSome(_ position: Int) throws(StorageError) {
        guard let writing else { throw .closed }
        let table = try writing.view.table(tables[position])
        var buffer = Buffer()
        swap(&buffer, &buffers[position])
        var order = KeyOrder(count: buffer.entries.count) {
            KeyOrder.Item(
                head: KeyOrder.head(buffer.entries[$0].key), index: UInt32(truncatingIfNeeded: $0))
        }
        if !buffer.isInOrder { order.sort() }
        for item in order.items {
            let entry = buffer.entries[Int(item.index)]
            do throws(StorageError) {
                try writing.cellSet(
                    table, id: tables[position], entry.key, entry.column, entry.cell, derived: false
                )
            } catch .noSuchRow(let key) where key == entry.key {
                continue
            }
        }
    }
}
