internal import ToftPlatform

/// The data file: the calls of `StorageFile` with the storage's errors. It remembers nothing
/// that it reads or writes. Any thread may call it.
struct DataFile: Sendable {
    private let file: any StorageFile
    /// Nil if the file is plain.
    let cipher: Cipher?

    init(_ file: any StorageFile, cipher: Cipher? = nil) {
        self.file = file
        self.cipher = cipher
    }

    /// Absolute, without symbolic links; a name in angle brackets if it is not a file on disk.
    var path: String { file.path }
    /// Whether locks are taken on the file, because other processes can come.
    var hasLocks: Bool { file.hasLocks }
    /// Throws `descriptorLost` if the program has closed the descriptor.
    func checkDescriptor() throws(StorageError) { try system(file.checkDescriptor()) }

    func size() throws(StorageError) -> UInt64 { try system(file.size()) }
    func identity() throws(StorageError) -> FileIdentity { try system(file.identity()) }

    // MARK: Reading

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) {
        try system(file.read(into: buffer, at: offset))
    }

    func readFromDevice(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(StorageError)
    {
        try system(file.readFromDevice(into: buffer, at: offset))
    }

    /// Reads pages that some version has.
    ///
    /// - Throws: `fileTruncated` if the file no longer has them; `io`...
    func read(_ page: PageNumber, count: Int, into base: UnsafeMutableRawPointer)
        throws(StorageError)
    {
        let start = page.byteOffset
        let buffer = UnsafeMutableRawBufferPointer(start: base, count: count * Page.size)
        try asking(for: start..<start + UInt64(buffer.count)) { () throws(SystemError) in
            try file.read(into: buffer, at: start)
        }
    }

    /// Maps a range of the file.
    func map(_ range: Range<UInt64>, at address: UnsafeMutableRawPointer) throws(SystemError) {
        try file.map(range, at: address)
    }

    /// Maps from another descriptor from now on.
    func renewMapping() { file.renewMapping() }

    /// Reads mapped pages that some version has into memory.
    ///
    /// - Throws: as `read`.
    func populate(
        _ page: PageNumber, count: Int, at base: UnsafeRawPointer, readingAhead: Bool
    ) throws(StorageError) {
        let start = page.byteOffset
        let range = start..<start + UInt64(count * Page.size)
        try asking(for: range) { () throws(SystemError) in
            try file.populate(range, at: base, readingAhead: readingAhead)
        }
    }

    /// Calls the system for pages that some version has: that they are not there means that the
    /// file was truncated.
    private func asking(for range: Range<UInt64>, _ call: () throws(SystemError) -> Void)
        throws(StorageError)
    {
        do throws(SystemError) {
            try call()
        } catch {
            if case .fileEnds = error { try checkPresent(range.upperBound) }
            throw StorageError(error)
        }
    }

    /// Throws if the file is shorter than a version that it holds needs it to be.
    ///
    /// - Throws: `fileTruncated`, or what the system says.
    func checkPresent(_ byteCount: UInt64) throws(StorageError) {
        let size = try size()
        if size < byteCount {
            throw .fileTruncated(path: path, size: size, needed: byteCount)
        }
    }

    // MARK: Writing

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) {
        try system(file.write(bytes, at: offset))
    }
    func write(_ pieces: [UnsafeRawBufferPointer], at offset: UInt64) throws(StorageError) {
        try system(file.write(pieces, at: offset))
    }
    func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) {
        try system(file.writeDurably(bytes, at: offset))
    }

    /// Writes zeros to pages.
    func clear(_ page: PageNumber, count: UInt64) throws(StorageError) {
        let piece = [UInt8](repeating: 0, count: 16 * Page.size)
        var offset = page.byteOffset
        let end = offset + count * UInt64(Page.size)
        while offset < end {
            let size = Int(min(end - offset, UInt64(piece.count)))
            try piece.withBytes { bytes throws(StorageError) in
                try write(UnsafeRawBufferPointer(rebasing: bytes[..<size]), at: offset)
            }
            offset += UInt64(size)
        }
    }

    func writeOut(_ range: Range<UInt64>) throws(StorageError) {
        try system(file.writeOut(range))
    }
    func sync() throws(StorageError) { try system(file.sync()) }
    func grow(to size: UInt64) throws(StorageError) { try system(file.grow(to: size)) }
    /// No version may need bytes behind `size`.
    func truncate(to size: UInt64) throws(StorageError) { try system(file.truncate(to: size)) }
    func close() throws(StorageError) { try system(file.close()) }
}
