internal import CPlatform
internal import Synchronization

/// A file in memory, for in-memory databases and for the tests' simulated disks. It can be mapped
/// as a real file can, and an access beyond its end faults in the same way.
///
/// Every call fails if the system has run out of descriptors.
package final class MemoryFile: StorageFile {
    package let path: String
    package let isWritable = true
    package let hasLocks = false
    private let opened: Result<PosixFile, SystemError>
    private let number: UInt64
    private static let lastNumber = Atomic<UInt64>(0)

    package init(name: String = "") {
        path = "<memory \(name)>"
        number = Self.lastNumber.add(1, ordering: .relaxed).newValue
        let descriptor = platform_memory_file("toft")
        let path = path
        opened = Result { () throws(SystemError) in
            guard descriptor >= 0 else {
                throw .failed("memfd_create", path: path, errno: -descriptor)
            }
            return try PosixFile(descriptor: descriptor, path: path, isWritable: true)
        }
    }

    private var file: PosixFile {
        get throws(SystemError) { try opened.get() }
    }

    package func lockDescriptor() throws(SystemError) -> Int32 { throw .closed }
    package func checkDescriptor() throws(SystemError) { try file.checkDescriptor() }
    package func renewMapping() {}

    package func size() throws(SystemError) -> UInt64 { try file.size() }

    package func identity() throws(SystemError) -> FileIdentity {
        FileIdentity(device: .max, inode: number)
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try file.read(into: buffer, at: offset)
    }

    package func readFromDevice(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try file.read(into: buffer, at: offset)
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
        try file.write(bytes, at: offset)
    }

    package func write(_ pieces: [UnsafeRawBufferPointer], at offset: UInt64) throws(SystemError) {
        try file.write(pieces, at: offset)
    }

    package func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try file.write(bytes, at: offset)
    }

    package func writeOut(_ range: Range<UInt64>) throws(SystemError) {}
    package func sync() throws(SystemError) { _ = try file.size() }

    /// The new bytes take no memory until they are written.
    package func grow(to size: UInt64) throws(SystemError) {
        if try file.size() < size { try file.truncate(to: size) }
    }

    package func truncate(to size: UInt64) throws(SystemError) { try file.truncate(to: size) }

    package func map(_ range: Range<UInt64>, at address: UnsafeMutableRawPointer)
        throws(SystemError)
    {
        try file.map(range, at: address)
    }

    /// Does nothing: memory has no read errors to find early.
    package func populate(
        _ range: Range<UInt64>, at address: UnsafeRawPointer, readingAhead: Bool
    ) throws(SystemError) {}

    package func close() throws(SystemError) { try file.close() }
}
