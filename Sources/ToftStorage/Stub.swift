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

extension FileIdentity { static func ofFile(at: String) throws(StorageError) -> FileIdentity? { nil } }
package final class SequenceTree: @unchecked Sendable { package var root: TreeRoot; init(space: PageSpace, root: TreeRoot) { self.root = root }; func freeAll() throws(StorageError) {}
 func check(_ v: any TreeVisitor) throws(StorageError) {} }
package final class Table: @unchecked Sendable { package var root: TreeRoot; var columns: [Column]; init(space: PageSpace, root: TreeRoot, columns: [Column], owner: any TreeOwner) { self.root = root; self.columns = columns }; func freeAll() throws(StorageError) {}
 func check(_ v: any TreeVisitor) throws(StorageError) {}
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
