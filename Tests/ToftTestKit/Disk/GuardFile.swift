internal import Glibc
package import ToftPlatform

/// Address space in which images of files stand one after the other: what lies behind the end of
/// the present one is not there, so that a read beyond it ends the process.
package final class GuardArena: @unchecked Sendable {
    fileprivate let base: UnsafeMutableRawPointer
    fileprivate let capacity: Int
    /// Bytes from `base` on that may be touched: a multiple of the page size.
    fileprivate var accessible = 0

    /// Room for images of up to `capacity` bytes, a multiple of the page size.
    package init(capacity: Int) throws {
        let reserved = mmap(
            nil, capacity + PageContent.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let reserved, reserved != MAP_FAILED else { throw Failure("mmap: errno \(errno)") }
        base = reserved
        self.capacity = capacity
    }

    deinit { munmap(base, capacity + PageContent.size) }

    /// Makes the pages that hold the first `count` bytes accessible, and no others.
    fileprivate func resize(to count: Int) -> Bool {
        let wanted = (count + PageContent.size - 1) / PageContent.size * PageContent.size
        guard wanted <= capacity else { return false }
        if wanted > accessible {
            guard mprotect(base + accessible, wanted - accessible, PROT_READ | PROT_WRITE) == 0
            else { return false }
        } else if wanted < accessible {
            guard mprotect(base + wanted, accessible - wanted, PROT_NONE) == 0 else { return false }
        }
        accessible = wanted
        return true
    }
}

/// A file in a `GuardArena`, one at a time, for one thread: the byte behind its last page faults,
/// as that of a mapped file does. A file of one region.
package final class GuardFile: StorageFile, @unchecked Sendable {
    package let path = "<guard>"
    package let isWritable = true
    package let lockDescriptor: Int32? = nil
    private let arena: GuardArena
    private let fileIdentity: FileIdentity
    private var byteCount = 0
    private var isClosed = false

    /// Copies an image into the arena. `identity`: which file it says that it is.
    package init(_ image: [UInt8], in arena: GuardArena, identity: FileIdentity) throws {
        self.arena = arena
        fileIdentity = identity
        guard arena.resize(to: image.count) else { throw Failure("no room for the image") }
        image.withUnsafeBytes { bytes in
            if let source = bytes.baseAddress {
                arena.base.copyMemory(from: source, byteCount: bytes.count)
            }
        }
        byteCount = image.count
        clear(from: image.count, to: arena.accessible)
    }

    private func clear(from start: Int, to end: Int) {
        guard start < end else { return }
        (arena.base + start).initializeMemory(as: UInt8.self, repeating: 0, count: end - start)
    }

    private func checkOpen() throws(SystemError) {
        if isClosed { throw .closed }
    }

    package func size() throws(SystemError) -> UInt64 {
        try checkOpen()
        return UInt64(byteCount)
    }

    package func identity() throws(SystemError) -> FileIdentity { fileIdentity }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try checkOpen()
        guard offset <= UInt64(byteCount), buffer.count <= byteCount - Int(offset) else {
            throw .fileEnds(path: path, offset: UInt64(byteCount))
        }
        buffer.copyMemory(
            from: UnsafeRawBufferPointer(start: arena.base + Int(offset), count: buffer.count))
    }

    package func readFromDevice(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try read(into: buffer, at: offset)
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
        let (end, overflow) = offset.addingReportingOverflow(UInt64(bytes.count))
        guard !overflow else { throw .fileTooLarge(path: path) }
        try grow(to: end)
        guard let source = bytes.baseAddress else { return }
        (arena.base + Int(offset)).copyMemory(from: source, byteCount: bytes.count)
    }

    package func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try write(bytes, at: offset)
    }

    package func writeOut(_ range: Range<UInt64>) throws(SystemError) { try checkOpen() }

    package func sync() throws(SystemError) { try checkOpen() }

    package func grow(to size: UInt64) throws(SystemError) {
        try checkOpen()
        guard size > UInt64(byteCount) else { return }
        guard size <= UInt64(arena.capacity), arena.resize(to: Int(size)) else {
            throw .diskFull(path: path)
        }
        clear(from: byteCount, to: arena.accessible)
        byteCount = Int(size)
    }

    package func truncate(to size: UInt64) throws(SystemError) {
        try grow(to: size)
        clear(from: Int(size), to: arena.accessible)
        guard arena.resize(to: Int(size)) else { throw .addressSpaceExhausted }
        byteCount = Int(size)
    }

    package func section(_ index: Int, mapping byteCount: Int) throws(SystemError)
        -> UnsafeRawPointer
    {
        try checkOpen()
        guard index == 0, byteCount <= self.byteCount - Section.headSize else {
            throw .fileEnds(path: path, offset: UInt64(self.byteCount))
        }
        return UnsafeRawPointer(arena.base + Section.headSize)
    }

    package func close() throws(SystemError) { isClosed = true }
}
