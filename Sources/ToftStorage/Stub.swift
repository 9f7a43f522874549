package struct PublishedVersion: Sendable { package var version: UInt64; package var root: Ref; package var fileSize: UInt64
 package init(version: UInt64, root: Ref, fileSize: UInt64) { self.version = version; self.root = root; self.fileSize = fileSize } }
package struct Pin { var published: PublishedVersion }
package final class Coordinator: Sendable {
  static func inMemory() -> Coordinator { Coordinator() }
  static func attach(_ f: PosixFile, isReadOnly: Bool) throws(StorageError) -> Coordinator { Coordinator() }
  var isFirst: Bool { true }
  func open(published: PublishedVersion) throws(StorageError) {}
  func detach(_ last: () -> Void) {}
  var published: PublishedVersion { fatalError() }
  func pinLatest() throws(StorageError) -> Pin { fatalError() }
  func unpin(_ p: Pin) {}
  func pinnedVersions() -> [UInt64] { [] }
  func lockWriter(timeoutMilliseconds: Int) throws(StorageError) -> Bool { false }
  func unlockWriter() {}
  func lockCheckpoint() throws(StorageError) {}
  func unlockCheckpoint() {}
  func claimVersion() -> UInt64 { 0 }
  func claimVersions(upTo: UInt64) {}
  func publish(_ p: PublishedVersion) {}
  var durableVersion: UInt64 { get { 0 } set {} }
  var isPoisoned: Bool { false }
  func poison() {}
  func wake() {}
  func waitForVersion(after: UInt64, timeoutMilliseconds: Int) -> Bool { false }
}
enum PageLayout { static let size = 4096 }

extension FileIdentity { static func ofFile(at: String) throws(StorageError) -> FileIdentity? { nil } }
package protocol TreeOwner: AnyObject { func newSequence() throws(StorageError) -> UInt64; func sequence(_ id: UInt64) throws(StorageError) -> SequenceTree; func dropSequence(_ id: UInt64) throws(StorageError) }
enum TreeInner { static func childRefOffsets(_ b: UnsafeRawPointer) throws(StorageError) -> (first: Int, stride: Int, count: Int) { (0,0,0) } }
package final class SequenceTree: @unchecked Sendable { package var root: TreeRoot; init(space: PageSpace, root: TreeRoot) { self.root = root }; func freeAll() throws(StorageError) {}
 func check(_ v: (Ref) -> Void) throws(StorageError) {} }
package struct OrderedCursor { func seekFirst() throws(StorageError) -> Bool { false }; func next() throws(StorageError) -> Bool { false };func seek(atOrAfter: UnsafeRawBufferPointer) throws(StorageError) -> Bool { false }
 func key() throws(StorageError) -> UnsafeRawBufferPointer { fatalError() }
 func value() throws(StorageError) -> UnsafeRawBufferPointer { fatalError() } }
package final class OrderedTree: @unchecked Sendable { package var root: TreeRoot; init(space: PageSpace, root: TreeRoot) { self.root = root }; func freeAll() throws(StorageError) {}
 func check(_ v: (Ref) -> Void) throws(StorageError) {}
 func cursor() -> OrderedCursor { OrderedCursor() }
 func value(forKey: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? { nil }
 func put(_ k: UnsafeRawBufferPointer, _ v: UnsafeRawBufferPointer) throws(StorageError) -> Bool { false }
 func delete(_ k: UnsafeRawBufferPointer) throws(StorageError) -> Bool { false }
}
package final class Table: @unchecked Sendable { package var root: TreeRoot; var columns: [Column]; init(space: PageSpace, root: TreeRoot, columns: [Column], owner: any TreeOwner) { self.root = root; self.columns = columns }; func freeAll() throws(StorageError) {}
 func check(_ v: (Ref) -> Void) throws(StorageError) {}
 func addColumn(_ c: Column) throws(StorageError) {}
 func takeNextKey() -> Int64 { 0 }
 func insertRow(_ k: Int64) throws(StorageError) {}
 func eraseRow(_ k: Int64) throws(StorageError) {}
 func setCell(_ k: Int64, _ c: UInt32, _ v: Cell) throws(StorageError) {}
 func listCount(_ k: Int64, _ c: UInt32) throws(StorageError) -> Int { 0 }
 func listInsert(_ k: Int64, _ c: UInt32, at: Int, _ v: Cell) throws(StorageError) {}
 func listSet(_ k: Int64, _ c: UInt32, at: Int, _ v: Cell) throws(StorageError) {}
 func listErase(_ k: Int64, _ c: UInt32, at: Int) throws(StorageError) {}
 func listMove(_ k: Int64, _ c: UInt32, from: Int, to: Int) throws(StorageError) {}
 func listSwap(_ k: Int64, _ c: UInt32, _ a: Int, _ b: Int) throws(StorageError) {}
 func listClear(_ k: Int64, _ c: UInt32) throws(StorageError) {}
}
extension Column { static func decodeAll(_ b: UnsafeRawBufferPointer) throws(StorageError) -> [Column] { [] }; static func encodeAll(_ c: [Column]) -> [UInt8] { [] } }
