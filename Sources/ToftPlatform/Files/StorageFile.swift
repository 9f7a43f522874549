/// The one seam between the engine and a disk. Production uses `PosixFile`, in-memory databases use
/// `MemoryFile`, and tests have disks that record, fail and lie behind the same calls.
///
/// Everything that reaches the disk passes `write`, `writeDurably`, `grow` and `truncate`: mappings
/// are readable only, and nothing is ever stored through them. Any thread may call anything, but
/// ranges that are written at the same time must not overlap, and `truncate` and `close` require
/// that nobody reads the removed part.
package protocol StorageFile: AnyObject, Sendable {
    /// Absolute, without symbolic links; a name in angle brackets if it is not a file on disk.
    var path: String { get }
    /// Whether writing is possible at all.
    var isWritable: Bool { get }
    /// Whether locks are taken on the file, because other processes can come.
    var hasLocks: Bool { get }
    /// The descriptor that they are taken on.
    func lockDescriptor() throws(SystemError) -> Int32
    /// Throws `descriptorLost` if the program has closed the file's descriptor. Every other call
    /// does so, too.
    func checkDescriptor() throws(SystemError)
    /// Has later mappings show the file as it is, see `PageCache`.
    func renewMapping()
    /// The size now, as the file system says it.
    func size() throws(SystemError) -> UInt64
    /// Fills the buffer, or throws: `fileEnds` when the file ends before.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SystemError)
    /// Reads from the device instead of the page cache. Dirty pages must have been synced before.
    func readFromDevice(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    /// Writes all bytes, in pieces of at most 64 KiB; durable after the next `sync`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError)
    /// Writes pieces of memory that follow each other in the file.
    func write(_ pieces: [UnsafeRawBufferPointer], at offset: UInt64) throws(SystemError)
    /// Writes all bytes; they, not necessarily others before them, are durable on return. An error
    /// means the same as one of `sync`.
    func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError)
    /// Begins to write a range out, and waits for it, so that a later `sync` has less to do.
    /// Nothing is durable by it.
    func writeOut(_ range: Range<UInt64>) throws(SystemError)
    /// Makes everything written before durable, the size included. After an error nothing is known
    /// about any of it; never try again.
    func sync() throws(SystemError)
    /// Makes the file at least `size` bytes long, with allocated blocks if the file system can; the
    /// new bytes read as zeros.
    func grow(to size: UInt64) throws(SystemError)
    /// Truncates the file to a size in bytes. No process may read the removed part.
    func truncate(to size: UInt64) throws(SystemError)
    /// Maps existing bytes of the file into a `Reservation`: readable, and shared, so that writes
    /// of any process are seen. The address and the beginning of the range differ by a multiple of
    /// the memory's page size; if they are no multiples themselves, the bytes before them in the
    /// same page of memory are mapped as well. Throws `fileEnds` when the file ends before the
    /// range does.
    func map(_ range: Range<UInt64>, at address: UnsafeMutableRawPointer) throws(SystemError)
    /// Reads bytes that are mapped at an address into memory, so that an error of the device is one
    /// of this call and not the signal SIGBUS at the first access. `readingAhead`: requests all of
    /// it from the device at once.
    func populate(_ range: Range<UInt64>, at address: UnsafeRawPointer, readingAhead: Bool)
        throws(SystemError)
    /// The file's identity.
    func identity() throws(SystemError) -> FileIdentity
    /// Gives the descriptor back, mappings stay; a second call does nothing. Afterwards every other
    /// call throws `closed`.
    func close() throws(SystemError)
}

extension StorageFile {
    /// Writes in one call, as a disk that can write pieces does.
    package func write(_ pieces: [UnsafeRawBufferPointer], at offset: UInt64) throws(SystemError) {
        let joined = pieces.reduce(into: [UInt8]()) { $0.append(contentsOf: $1) }
        try joined.withUnsafeBufferPointer { bytes throws(SystemError) in
            try write(UnsafeRawBufferPointer(bytes), at: offset)
        }
    }
}
