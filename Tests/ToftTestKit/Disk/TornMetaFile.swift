package import ToftPlatform
internal import ToftStorage

/// A disk in memory that loses its power in the middle of a write of a meta.
package final class TornMetaFile: WrappedFile, @unchecked Sendable {
    /// Metas that are written whole.
    private var left: Int
    /// Bytes that are written of the next one.
    private let prefix: Int
    private var hasPower = true

    package init(content: [UInt8], after count: Int, prefix: Int) throws {
        left = count
        self.prefix = prefix
        super.init(try MemoryFile(content: content))
    }

    private func expectPower() throws(SystemError) {
        guard hasPower else { throw .io(operation: "write", path: path, errno: 5) }
    }

    package override func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try expectPower()
        guard offset < 2 * Page.size, left == 0 else {
            if offset < 2 * Page.size { left -= 1 }
            return try base.writeDurably(bytes, at: offset)
        }
        try base.writeDurably(UnsafeRawBufferPointer(rebasing: bytes[..<prefix]), at: offset)
        hasPower = false
        try expectPower()
    }

    package override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try expectPower()
        try base.write(bytes, at: offset)
    }

    package override func sync() throws(SystemError) {
        try expectPower()
        try base.sync()
    }

    package override func truncate(to size: UInt64) throws(SystemError) {
        try expectPower()
        try base.truncate(to: size)
    }
}
