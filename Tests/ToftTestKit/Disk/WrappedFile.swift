package import ToftPlatform

/// A disk on top of another: passes everything on. Closing it leaves the other open, so that the
/// state left by a store can be examined.
package class WrappedFile: StorageFile, @unchecked Sendable {
    package let base: any StorageFile

    package init(_ base: any StorageFile) { self.base = base }

    package var path: String { base.path }
    package var isWritable: Bool { base.isWritable }
    package var hasLocks: Bool { base.hasLocks }
    package func lockDescriptor() throws(SystemError) -> Int32 { try base.lockDescriptor() }
    package func checkDescriptor() throws(SystemError) { try base.checkDescriptor() }
    package func renewMapping() { base.renewMapping() }
    package func size() throws(SystemError) -> UInt64 { try base.size() }
    package func identity() throws(SystemError) -> FileIdentity { try base.identity() }
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    { try base.read(into: buffer, at: offset) }
    package func readFromDevice(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try base.readFromDevice(into: buffer, at: offset)
    }
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
        try base.write(bytes, at: offset)
    }
    package func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    { try base.writeDurably(bytes, at: offset) }
    package func sync() throws(SystemError) { try base.sync() }
    package func writeOut(_ range: Range<UInt64>) throws(SystemError) { try base.writeOut(range) }
    package func grow(to size: UInt64) throws(SystemError) { try base.grow(to: size) }
    package func truncate(to size: UInt64) throws(SystemError) { try base.truncate(to: size) }
    package func map(_ range: Range<UInt64>, at address: UnsafeMutableRawPointer)
        throws(SystemError)
    {
        try base.map(range, at: address)
    }
    package func populate(
        _ range: Range<UInt64>, at address: UnsafeRawPointer, readingAhead: Bool
    ) throws(SystemError) {
        try base.populate(range, at: address, readingAhead: readingAhead)
    }
    package func close() throws(SystemError) {}
}

extension StorageFile {
    /// Everything that is in the file.
    package func content() throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(try size()))
        try bytes.withUnsafeMutableBytes { buffer throws in try read(into: buffer, at: 0) }
        return bytes
    }
}

extension MemoryFile {
    /// A file with this content.
    package convenience init(content: [UInt8]) throws {
        self.init(name: "image")
        try content.withUnsafeBytes { bytes throws in try write(bytes, at: 0) }
    }
}
