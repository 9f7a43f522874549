internal import ToftPlatform
internal import ToftStorage

/// The plain bytes of a Realm file, read from the file on demand and decrypted. The memory never
/// moves. It is as large as the file, and the system gives it as it is filled. One thread.
final class FileBytes {
    /// Bytes of an encrypted page, and of one read.
    private static let pageSize = 4096
    /// Pages of data behind each page of codes.
    private static let pagesPerTable = 64
    private static let tableEntrySize = 64

    /// Plain bytes that the file has.
    let size: Int
    private let file: PosixFile
    private let cipher: ChainedPages?
    private let memory: Reservation
    private var isRead: [Bool]

    /// Opens the file for reading.
    ///
    /// - Parameter path: a file that nobody writes meanwhile.
    init(_ path: String, key: EncryptionKey?) throws(RealmFileError) {
        let file = try system { () throws(SystemError) in
            try PosixFile.open(path, forWriting: false, onAnyFileSystem: true)
        }
        self.file = file
        let bytes = Int(clamping: try system { () throws(SystemError) in try file.size() })
        if let key {
            do throws(StorageError) {
                cipher = try ChainedPages(key)
            } catch {
                throw .storage(error)
            }
            guard bytes >= 2 * Self.pageSize else { throw .wrongKey }
            let pages = bytes / Self.pageSize
            let tables = (pages + Self.pagesPerTable) / (Self.pagesPerTable + 1)
            size = (pages - tables) * Self.pageSize
        } else {
            cipher = nil
            size = bytes
        }
        let pageCount = (size + Self.pageSize - 1) / Self.pageSize
        memory = try system { () throws(SystemError) in
            let memory = try Reservation(byteCount: max(1, pageCount) * Self.pageSize)
            try memory.becomeMemory()
            return memory
        }
        isRead = [Bool](repeating: false, count: pageCount)
    }

    func identity() throws(RealmFileError) -> FileIdentity {
        try system { () throws(SystemError) in try file.identity() }
    }

    /// The bytes of a range, which must be within the file.
    func bytes(_ start: Int, count: Int) throws(RealmFileError) -> UnsafeRawBufferPointer {
        guard start >= 0, count >= 0, start <= size, count <= size - start else {
            throw .cut("bytes \(start)..<\(start &+ count) of \(size) are wanted")
        }
        guard count > 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        for page in start / Self.pageSize...(start + count - 1) / Self.pageSize
        where !isRead[page] {
            try read(page)
            isRead[page] = true
        }
        return UnsafeRawBufferPointer(start: memory.base + start, count: count)
    }

    private func read(_ page: Int) throws(RealmFileError) {
        let start = page * Self.pageSize
        let room = UnsafeMutableRawBufferPointer(
            start: memory.base + start, count: min(Self.pageSize, size - start))
        guard let cipher else { return try read(into: room, at: start) }
        try read(into: room, at: Self.pageSize * (page + page / Self.pagesPerTable + 1))
        var entry = [UInt8](repeating: 0, count: Self.tableEntrySize)
        let table = Self.pageSize * (Self.pagesPerTable + 1) * (page / Self.pagesPerTable)
        let offset = table + Self.tableEntrySize * (page % Self.pagesPerTable)
        try entry.withUnsafeMutableBytes { bytes in
            Result { () throws(RealmFileError) in try read(into: bytes, at: offset) }
        }.get()
        let counter = entry.withUnsafeBytes { entry in
            Self.counter(of: UnsafeRawBufferPointer(room), entry, cipher)
        }
        guard let counter else {
            if page == 0 { throw .wrongKey }
            throw .damaged("page \(page) does not have its code", place: "")
        }
        let vector = (
            UInt64(counter) | UInt64(UInt32(truncatingIfNeeded: start)) << 32,
            UInt64(start) >> 32
        )
        do throws(StorageError) {
            try cipher.decrypt(
                room, startingWith: (vector.0.littleEndian, vector.1.littleEndian))
        } catch {
            throw .storage(error)
        }
    }

    /// The counter that a page was encrypted with: the last one, or the one before, whose writer
    /// died. Nil if its code fits neither, as for a page that was never written.
    private static func counter(
        of page: UnsafeRawBufferPointer, _ entry: UnsafeRawBufferPointer, _ cipher: ChainedPages
    ) -> UInt32? {
        for half in [0, tableEntrySize / 2] {
            let counter = UInt32(
                littleEndian: entry.loadUnaligned(fromByteOffset: half, as: UInt32.self))
            let code = UnsafeRawBufferPointer(
                rebasing: entry[(half + 4)..<(half + 4 + ChainedPages.codeSize)])
            if counter != 0, cipher.has(page, code: code) { return counter }
        }
        return nil
    }

    private func read(into room: UnsafeMutableRawBufferPointer, at offset: Int)
        throws(RealmFileError)
    {
        try system { () throws(SystemError) in try file.read(into: room, at: UInt64(offset)) }
    }
}

/// Calls the system: its errors become the reader's.
private func system<Result>(_ call: () throws(SystemError) -> Result) throws(RealmFileError)
    -> Result
{
    do throws(SystemError) {
        return try call()
    } catch {
        throw .storage(StorageError(error))
    }
}
