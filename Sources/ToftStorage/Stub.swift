package final class SequenceTree: @unchecked Sendable { package var root: TreeRoot; init(space: PageSpace, root: TreeRoot) { self.root = root }; func freeAll() throws(StorageError) {}
 func check(_ v: any TreeVisitor) throws(StorageError) {} }
/// Until clusters come: rows in memory, for the life of one transaction.
package struct ListView { let cells: [Cell]; package var count: Int { cells.count }; package func cell(at i: Int) throws(StorageError) -> Cell { cells[i] } }
package final class Table: @unchecked Sendable { package var root: TreeRoot; var columns: [Column]; init(space: PageSpace, root: TreeRoot, columns: [Column], owner: any TreeOwner) { self.root = root; self.columns = columns }; func freeAll() throws(StorageError) {}
 struct Row { var cells: [UInt32: Cell] = [:]; var lists: [UInt32: [Cell]] = [:] }
 var rows: [Int64: Row] = [:]
 func own(_ c: Cell) -> Cell { guard case .bytes(let b) = c else { return c }; let m = UnsafeMutableRawBufferPointer.allocate(byteCount: b.count, alignment: 8); m.copyMemory(from: b); return .bytes(UnsafeRawBufferPointer(m)) }
 func edit(_ k: Int64, _ body: (inout Row) -> Void) throws(StorageError) { guard rows[k] != nil else { throw .noSuchRow(key: k) }; body(&rows[k, default: Row()]) }
 func check(_ v: any TreeVisitor) throws(StorageError) {}
 func addColumn(_ c: Column) throws(StorageError) { columns.append(c) }
 func takeNextKey() -> Int64 { defer { root.nextKey += 1 }; return root.nextKey }
 package var nextKey: Int64 { root.nextKey }
 package var rowCount: Int { rows.count }
 package func contains(_ k: Int64) throws(StorageError) -> Bool { rows[k] != nil }
 package func key(atRank r: Int) throws(StorageError) -> Int64 { let keys = rows.keys.sorted(); guard r >= 0, r < keys.count else { throw .indexOutOfRange(index: r, count: keys.count) }; return keys[r] }
 package func cell(_ k: Int64, _ c: UInt32) throws(StorageError) -> Cell {
  guard let row = rows[k] else { throw .noSuchRow(key: k) }; guard let column = columns.first(where: { $0.id == c }) else { throw .noSuchColumn(c) }
  if let cell = row.cells[c] { return cell }; if column.isNullable { return .null }
  switch column.type { case .bool: return .bool(false); case .int64: return .int64(0); case .float32: return .float32(0); case .float64: return .float64(0)
   case .timestamp: return .timestamp(Timestamp(seconds: 0, nanoseconds: 0)); case .bytes: return .bytes(UnsafeRawBufferPointer(start: nil, count: 0)); case .list: return .null } }
 package func list(_ k: Int64, _ c: UInt32) throws(StorageError) -> ListView { guard let row = rows[k] else { throw .noSuchRow(key: k) }; return ListView(cells: row.lists[c] ?? []) }
 func insertRow(_ k: Int64) throws(StorageError) { rows[k] = Row() }
 func eraseRow(_ k: Int64) throws(StorageError) { guard rows.removeValue(forKey: k) != nil else { throw .noSuchRow(key: k) } }
 func setCell(_ k: Int64, _ c: UInt32, _ v: Cell) throws(StorageError) { try edit(k) { $0.cells[c] = own(v) } }
 func listCount(_ k: Int64, _ c: UInt32) throws(StorageError) -> Int { try list(k, c).count }
 func listInsert(_ k: Int64, _ c: UInt32, at i: Int, _ v: Cell) throws(StorageError) { try edit(k) { $0.lists[c, default: []].insert(own(v), at: i) } }
 func listSet(_ k: Int64, _ c: UInt32, at i: Int, _ v: Cell) throws(StorageError) { try edit(k) { $0.lists[c, default: []][i] = own(v) } }
 func listErase(_ k: Int64, _ c: UInt32, at i: Int) throws(StorageError) { try edit(k) { _ = $0.lists[c, default: []].remove(at: i) } }
 func listMove(_ k: Int64, _ c: UInt32, from i: Int, to j: Int) throws(StorageError) { try edit(k) { let e = $0.lists[c, default: []].remove(at: i); $0.lists[c, default: []].insert(e, at: j) } }
 func listSwap(_ k: Int64, _ c: UInt32, _ a: Int, _ b: Int) throws(StorageError) { try edit(k) { $0.lists[c, default: []].swapAt(a, b) } }
 func listClear(_ k: Int64, _ c: UInt32) throws(StorageError) { try edit(k) { $0.lists[c] = [] } }
}
extension Column { static func decodeAll(_ b: UnsafeRawBufferPointer) throws(StorageError) -> [Column] { [] }; static func encodeAll(_ c: [Column]) -> [UInt8] { [] } }
