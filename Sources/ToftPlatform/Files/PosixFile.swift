internal import CPlatform
internal import Glibc
internal import Synchronization

/// A file of the file system, read, written and locked through one descriptor for its whole life:
/// the kernel reports an error of a sync only to descriptors that wrote, and the locks belong to
/// this one.
///
/// 1. Mappings use another descriptor. A mapping holds the open file description that it was made
///    from, and a forked child inherits it: made from the locked one, it would keep the locks of a
///    dead parent as long as the child lives.
/// 2. Every call looks first whether the descriptor is still this file's (`MarkedDescriptor`): a
///    program may have closed it, and another file may have its number. A call that makes something
///    durable looks once more afterwards. A write can reach another file only if a program closes
///    the descriptor between the check and the call, within a microsecond; that loss is reported.
/// 3. Locks that must last as long as the process belong to a file of their own (`anchored`): a
///    mapping that no child inherits keeps its description, and the locks, even if a program closes
///    descriptors.
package final class PosixFile: StorageFile {
    package let path: String
    package let isWritable: Bool
    /// Whether its file system keeps locks and shared memory for processes that share it.
    package let canBeShared: Bool
    private let descriptorWord: Atomic<UInt64>
    /// Opened at the first mapping.
    private let mappingDescriptor = FutexMutex<MarkedDescriptor>(.none)
    /// The page that `anchor` mapped.
    private let anchorPage = FutexMutex<UInt>(0)
    private let generation = ForkGuard.generation
    private let canWriteDurably = Atomic<Bool>(true)
    private let canPopulate = Atomic<Bool>(true)

    /// The size limit of a file: 16 TiB, as in ext4. The format's own limit is lower.
    static let sizeLimit: UInt64 = 1 << 44

    /// Takes over an open descriptor of a regular file.
    init(descriptor: Int32, path: String, isWritable: Bool, canBeShared: Bool = true)
        throws(SystemError)
    {
        self.path = path
        self.isWritable = isWritable
        self.canBeShared = canBeShared
        descriptorWord = Atomic(0)
        do throws(SystemError) {
            let marked = try MarkedDescriptor(descriptor, path: path)
            try ForkGuard.register(marked, path: path)
            descriptorWord.store(marked.word, ordering: .relaxed)
        } catch {
            _ = platform_close(descriptor)
            throw error
        }
    }

    deinit { try? close() }

    private var marked: MarkedDescriptor {
        MarkedDescriptor(word: descriptorWord.load(ordering: .relaxed))
    }

    /// - Throws: `closed` after `close` and in a forked child; `descriptorLost`.
    func descriptor() throws(SystemError) -> Int32 {
        guard generation == ForkGuard.generation else { throw .closed }
        return try marked.check(path)
    }

    package let hasLocks = true

    package func lockDescriptor() throws(SystemError) -> Int32 { try descriptor() }

    package func checkDescriptor() throws(SystemError) { _ = try descriptor() }

    package func size() throws(SystemError) -> UInt64 { UInt64(try status().st_size) }

    package func identity() throws(SystemError) -> FileIdentity { FileIdentity(try status()) }

    func status() throws(SystemError) -> stat {
        var status = stat()
        try checked("fstat", path, platform_fstat(try descriptor(), &status))
        return status
    }

    package func close() throws(SystemError) {
        let marked = MarkedDescriptor(word: descriptorWord.exchange(0, ordering: .relaxed))
        // A forked child has neither the page nor the descriptors.
        guard marked != .none, generation == ForkGuard.generation else { return }
        anchorPage.withLock { page in
            if let page = UnsafeMutableRawPointer(bitPattern: page) {
                _ = platform_unmap(page, Machine.memoryPageSize)
            }
            page = 0
        }
        mappingDescriptor.withLock { mapping in
            Self.give(back: mapping)
            mapping = .none
        }
        ForkGuard.unregister(marked)
        try checked("close", path, marked.close())
    }

    private static func give(back descriptor: MarkedDescriptor) {
        guard descriptor != .none else { return }
        ForkGuard.unregister(descriptor)
        _ = descriptor.close()
    }

    /// The descriptor for mappings; without /proc, which is needed to open a second one, the other
    /// descriptor. A lost descriptor is opened again.
    private func descriptorForMapping() throws(SystemError) -> Int32 {
        try mappingDescriptor.withLock { mapping throws(SystemError) in
            if mapping.isIntact { return mapping.number }
            Self.give(back: mapping)
            mapping = .none
            let reopened = platform_reopen(try descriptor(), 0)
            guard reopened >= 0 else { return try descriptor() }
            do throws(SystemError) {
                let marked = try MarkedDescriptor(reopened, path: path)
                try ForkGuard.register(marked, path: path)
                mapping = marked
            } catch {
                _ = platform_close(reopened)
                throw error
            }
            return reopened
        }
    }

    /// Maps from another descriptor from now on. On a file system of layers the old one may lead to
    /// the file as it was before it was written to.
    package func renewMapping() {
        mappingDescriptor.withLock { mapping in
            Self.give(back: mapping)
            mapping = .none
        }
    }

    // MARK: Anchors

    /// Keeps the open file description, and the locks on it, until `close` or the end of the
    /// process, even if a program closes its descriptor.
    package func anchor() throws(SystemError) {
        let descriptor = try descriptor()
        anchorPage.withLock { page in
            if page == 0 { page = UInt(bitPattern: platform_map_anchor(descriptor)) }
        }
    }

    /// This file with another descriptor, anchored; without /proc, which is needed to open one,
    /// this object.
    package func anchored() throws(SystemError) -> PosixFile {
        let reopened = platform_reopen(try descriptor(), isWritable ? 1 : 0)
        guard reopened >= 0 else { return self }
        let file = try PosixFile(descriptor: reopened, path: path, isWritable: isWritable)
        try file.anchor()
        return file
    }
}

// Reading

extension PosixFile {
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try read(from: try descriptor(), into: buffer, at: offset)
    }

    private func read(
        from descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(SystemError) {
        var done = 0
        while done < buffer.count, let base = buffer.baseAddress {
            let position = try signed(offset, plus: done)
            let count = platform_pread(descriptor, base + done, buffer.count - done, position)
            if count == -Int(EINTR) { continue }
            if count == 0 { throw .fileEnds(path: path, offset: UInt64(position)) }
            done += try checked("pread", path, count)
        }
    }

    package func readFromDevice(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        if try readDirectly(into: buffer, at: offset) { return }
        _ = platform_drop_cache(try descriptor(), try signed(offset, plus: 0), Int64(buffer.count))
        try read(into: buffer, at: offset)
    }

    /// Reads with O_DIRECT, through an aligned buffer around the range; false if the file system
    /// cannot.
    private func readDirectly(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(SystemError) -> Bool
    {
        let direct = platform_reopen_direct(try descriptor())
        guard direct >= 0 else { return false }
        defer { _ = platform_close(direct) }
        let end = UInt64(try signed(offset, plus: buffer.count))
        let size = try size()
        guard end <= size else { throw .fileEnds(path: path, offset: size) }
        let unit: UInt64 = 4096
        let start = offset / unit * unit
        let span = Int((end - start + unit - 1) / unit * unit)
        let aligned = UnsafeMutableRawBufferPointer.allocate(byteCount: span, alignment: Int(unit))
        defer { aligned.deallocate() }
        var done = 0
        while UInt64(done) < end - start, let base = aligned.baseAddress {
            let count = platform_pread(direct, base + done, span - done, Int64(start) + Int64(done))
            if count == -Int(EINTR) { continue }
            // EINVAL: the device wants another alignment. A short read ends at the end of the file,
            // which is not aligned.
            if count == -Int(EINVAL) || count == 0 { return false }
            done += try checked("pread", path, count)
            if count % Int(unit) != 0 { break }
        }
        guard UInt64(done) >= end - start else { return false }
        buffer.copyMemory(
            from: UnsafeRawBufferPointer(rebasing: aligned[Int(offset - start)..<Int(end - start)]))
        return true
    }

    package func map(_ range: Range<UInt64>, at address: UnsafeMutableRawPointer)
        throws(SystemError)
    {
        let size = try size()
        guard range.upperBound <= size else { throw .fileEnds(path: path, offset: size) }
        let before = range.lowerBound % UInt64(Machine.memoryPageSize)
        let result = platform_map_reading(
            try descriptorForMapping(), address - Int(before), range.count + Int(before),
            try signed(range.lowerBound - before, plus: 0))
        if result == -ENOMEM { throw .addressSpaceExhausted }
        try checked("mmap", path, result)
    }

    package func populate(
        _ range: Range<UInt64>, at address: UnsafeRawPointer, readingAhead: Bool
    ) throws(SystemError) {
        guard canPopulate.load(ordering: .relaxed) else { return try readThrough(range) }
        let before = Int(bitPattern: address) % Machine.memoryPageSize
        if readingAhead { platform_read_ahead(address - before, range.count + before) }
        var result: Int32
        repeat {
            result = platform_populate_reading(address - before, range.count + before)
        } while result == -EINTR || result == -EAGAIN
        switch result {
        case -EINVAL, -ENOSYS:
            canPopulate.store(false, ordering: .relaxed)
            try readThrough(range)
        case -EFAULT:
            let size = try size()
            if range.upperBound > size { throw .fileEnds(path: path, offset: size) }
            throw .io(operation: "madvise", path: path, errno: EIO)
        case -ENOMEM: throw .addressSpaceExhausted
        default: try checked("madvise", path, result)
        }
    }

    /// Reads a range and discards the bytes, which are then in the page cache.
    private func readThrough(_ range: Range<UInt64>) throws(SystemError) {
        let piece = 64 << 10
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 16)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = Int(min(UInt64(piece), range.upperBound - offset))
            try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            offset += UInt64(count)
        }
    }
}

// Writing

extension PosixFile {
    /// Larger writes make the page cache use large folios, which make every later small write
    /// dearer.
    private static let pieceSize = 64 << 10
    /// One durable write of a record is several times faster than many; its pages are in the cache
    /// already, in small folios.
    private static let durablePieceSize = 8 << 20

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
        try write(bytes, at: offset) { platform_pwrite($0, $1, $2, $3) }
    }

    package func write(_ pieces: [UnsafeRawBufferPointer], at offset: UInt64) throws(SystemError) {
        var offset = offset
        if pieces.count > 1, isWritable, try writeAtOnce(pieces, at: offset) { return }
        for piece in pieces {
            try write(piece, at: offset)
            offset += UInt64(piece.count)
        }
    }

    /// Returns false if the call is not available or wrote only a part.
    private func writeAtOnce(_ pieces: [UnsafeRawBufferPointer], at offset: UInt64)
        throws(SystemError) -> Bool
    {
        let count = pieces.reduce(0) { $0 + $1.count }
        guard count <= min(Self.pieceSize, Failpoint.writeLimit) else { return false }
        let position = try signed(offset, plus: 0)
        try FileSizeLimit.check(UInt64(try signed(offset, plus: count)), path: path)
        let descriptor = try descriptor()
        return withUnsafeTemporaryAllocation(of: iovec.self, capacity: pieces.count) { vectors in
            for (index, piece) in pieces.enumerated() {
                vectors.initializeElement(
                    at: index,
                    to: iovec(
                        iov_base: UnsafeMutableRawPointer(mutating: piece.baseAddress),
                        iov_len: piece.count))
            }
            return platform_pwritev(
                descriptor, vectors.baseAddress, Int32(truncatingIfNeeded: pieces.count), position)
                == count
        }
    }

    package func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        if bytes.count <= Self.durablePieceSize, canWriteDurably.load(ordering: .relaxed) {
            do throws(SystemError) {
                try write(bytes, at: offset, piece: Self.durablePieceSize) {
                    platform_pwrite_durably($0, $1, $2, $3)
                }
                return try checkDescriptor()
            } catch .io(_, _, errno: EOPNOTSUPP), .io(_, _, errno: ENOSYS) {
                canWriteDurably.store(false, ordering: .relaxed)
            }
        }
        try write(bytes, at: offset)
        try sync()
    }

    private func write(
        _ bytes: UnsafeRawBufferPointer, at offset: UInt64, piece limit: Int = pieceSize,
        by call: (Int32, UnsafeRawPointer, Int, Int64) -> Int
    ) throws(SystemError) {
        guard isWritable else { throw .readOnly }
        try FileSizeLimit.check(UInt64(try signed(offset, plus: bytes.count)), path: path)
        var done = 0
        while done < bytes.count, let base = bytes.baseAddress {
            let piece = min(bytes.count - done, limit, Failpoint.writeLimit)
            let count = call(try descriptor(), base + done, piece, try signed(offset, plus: done))
            if count == -Int(EINTR) { continue }
            if count == 0 { throw .io(operation: "pwrite", path: path, errno: EIO) }
            done += try checked("pwrite", path, count)
        }
    }

    package func writeOut(_ range: Range<UInt64>) throws(SystemError) {
        let result = platform_write_out(
            try descriptor(), try signed(range.lowerBound, plus: 0),
            try signed(range.upperBound - range.lowerBound, plus: 0))
        // Without this call, the sync does all the work.
        if result != -ENOSYS && result != -EINVAL && result != -ESPIPE {
            try checked("sync_file_range", path, result)
        }
    }

    package func sync() throws(SystemError) {
        try checked("fdatasync", path, platform_data_sync(try descriptor()))
        try checkDescriptor()
    }

    package func grow(to size: UInt64) throws(SystemError) {
        guard isWritable else { throw .readOnly }
        let current = try self.size()
        guard size > current else { return }
        guard size <= Self.sizeLimit else { throw .fileTooLarge(path: path) }
        try FileSizeLimit.check(size, path: path)
        var result: Int32
        repeat {
            result = platform_allocate(
                try descriptor(), Int64(current), Int64(size - current))
        } while result == -EINTR
        if result == -EOPNOTSUPP || result == -ENOSYS {
            result = platform_truncate(try descriptor(), Int64(size))
        }
        try checked("fallocate", path, result)
    }

    package func truncate(to size: UInt64) throws(SystemError) {
        guard isWritable else { throw .readOnly }
        guard size <= Self.sizeLimit else { throw .fileTooLarge(path: path) }
        try checked("ftruncate", path, platform_truncate(try descriptor(), Int64(size)))
    }

    private func signed(_ offset: UInt64, plus count: Int) throws(SystemError) -> Int64 {
        guard offset <= Self.sizeLimit, count >= 0, count <= Self.sizeLimit else {
            throw .fileTooLarge(path: path)
        }
        return Int64(offset) + Int64(count)
    }
}

/// RLIMIT_FSIZE. A write past it does not only fail: it sends a signal that ends the process, even
/// if the file is that long already. Each write therefore checks first.
enum FileSizeLimit {
    static func check(_ size: UInt64, path: String) throws(SystemError) {
        guard size <= platform_file_size_limit() else { throw .fileTooLarge(path: path) }
    }
}
