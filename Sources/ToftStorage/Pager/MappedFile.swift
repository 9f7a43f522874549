package import ToftPlatform

/// The data file as the storage uses it: the calls of `StorageFile`, whose errors are the storage's
/// here.
package final class MappedFile: Sendable {
    private let base: any StorageFile

    package init(_ base: any StorageFile) { self.base = base }

    /// Absolute, without symbolic links; a name in angle brackets where there is no file.
    var path: String { base.path }
    /// Whether locks are taken on the file, because other processes can come.
    var hasLocks: Bool { base.lockDescriptor != nil }

    func size() throws(StorageError) -> UInt64 { try system(base.size()) }
    func identity() throws(StorageError) -> FileIdentity { try system(base.identity()) }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) {
        try system(base.read(into: buffer, at: offset))
    }
    func readFromDevice(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(StorageError)
    {
        try system(base.readFromDevice(into: buffer, at: offset))
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) {
        try system(base.write(bytes, at: offset))
    }
    func write(_ pieces: [UnsafeRawBufferPointer], at offset: UInt64) throws(StorageError) {
        try system(base.write(pieces, at: offset))
    }
    func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) {
        try system(base.writeDurably(bytes, at: offset))
    }
    func writeOut(_ range: Range<UInt64>) throws(StorageError) {
        try system(base.writeOut(range))
    }
    func sync() throws(StorageError) { try system(base.sync()) }
    func grow(to size: UInt64) throws(StorageError) { try system(base.grow(to: size)) }
    func truncate(to size: UInt64) throws(StorageError) { try system(base.truncate(to: size)) }
    func section(_ index: Int, mapping byteCount: Int) throws(StorageError) -> UnsafeRawPointer {
        try system(base.section(index, mapping: byteCount))
    }
    func close() throws(StorageError) { try system(base.close()) }
}
