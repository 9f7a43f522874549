internal import CPlatform
internal import Glibc
internal import Synchronization

/// A file that is memory: in-memory databases, and the ground under the disks of the tests. Its
/// sections keep their addresses as those of a real file do, and what lies beyond its end faults as
/// there.
package final class MemoryFile: StorageFile {
    package let path: String
    package let isWritable = true
    package let lockDescriptor: Int32? = nil
    private let state: Mutex<State>
    private let number: UInt64
    private static let lastNumber = Atomic<UInt64>(0)

    /// One run of bytes of the file with an address of its own: the head, or a section.
    private struct Region {
        var base: UnsafeMutableRawPointer
        var reserved: Int
        var usable: Int
    }

    private struct State: @unchecked Sendable {
        var regions: [Region] = []
        var size: UInt64 = 0
        var isClosed = false
    }

    package init(name: String = "") {
        path = "<memory \(name)>"
        number = Self.lastNumber.add(1, ordering: .relaxed).newValue
        state = Mutex(State())
    }

    deinit { try? close() }

    package func size() throws(SystemError) -> UInt64 {
        try state.withLock { state throws(SystemError) in
            guard !state.isClosed else { throw .closed }
            return state.size
        }
    }

    package func identity() throws(SystemError) -> FileIdentity {
        FileIdentity(device: .max, inode: number)
    }

    package func sync() throws(SystemError) { _ = try size() }

    package func writeOut(_ range: Range<UInt64>) throws(SystemError) {}

    package func close() throws(SystemError) {
        state.withLock { state in
            for region in state.regions { _ = platform_unmap(region.base, region.reserved) }
            state = State(isClosed: true)
        }
    }

    package func section(_ index: Int, mapping byteCount: Int) throws(SystemError)
        -> UnsafeRawPointer
    {
        try state.withLock { state throws(SystemError) in
            guard !state.isClosed else { throw .closed }
            guard index >= 0, index + 1 < max(1, state.regions.count),
                byteCount <= state.regions[index + 1].usable
            else {
                throw .fileEnds(path: path, offset: state.size)
            }
            return UnsafeRawPointer(state.regions[index + 1].base)
        }
    }
}

// Reading and writing

extension MemoryFile {
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try state.withLock { state throws(SystemError) in
            guard !state.isClosed else { throw .closed }
            guard offset <= state.size, UInt64(buffer.count) <= state.size - offset else {
                throw .fileEnds(path: path, offset: state.size)
            }
            Self.forEachPiece(at: offset, count: buffer.count) { region, start, range in
                buffer[range].copyBytes(
                    from: UnsafeRawBufferPointer(
                        start: state.regions[region].base + start, count: range.count))
            }
        }
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
        try state.withLock { state throws(SystemError) in
            guard !state.isClosed else { throw .closed }
            Self.forEachPiece(at: offset, count: bytes.count) { region, start, range in
                guard let source = bytes.baseAddress else { return }
                (state.regions[region].base + start).copyMemory(
                    from: source + range.lowerBound, byteCount: range.count)
            }
        }
    }

    package func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try write(bytes, at: offset)
    }

    package func grow(to size: UInt64) throws(SystemError) {
        guard size <= Section.fileSizeLimit else { throw .fileTooLarge(path: path) }
        try state.withLock { state throws(SystemError) in
            guard !state.isClosed else { throw .closed }
            guard size > state.size else { return }
            var region = Self.region(at: state.size == 0 ? 0 : state.size - 1)
            while region <= Self.region(at: size - 1) {
                try Self.commit(region, upTo: size, in: &state)
                region += 1
            }
            state.size = size
        }
    }

    package func truncate(to size: UInt64) throws(SystemError) {
        try grow(to: size)
        try state.withLock { state throws(SystemError) in
            guard !state.isClosed else { throw .closed }
            for index in state.regions.indices {
                let region = state.regions[index]
                let keep = Int(
                    min(
                        UInt64(region.reserved),
                        size.subtractingOrZero(Self.offset(ofRegion: index))))
                guard keep < region.usable else { continue }
                // The rest of the last page stays readable and has to be zero when the file grows
                // again.
                let boundary = keep.roundedUp(platform_memory_page_size())
                (region.base + keep).initializeMemory(
                    as: UInt8.self, repeating: 0, count: min(boundary, region.reserved) - keep)
                if boundary < region.usable {
                    try checked(
                        "mmap", path,
                        platform_unmap_to_reserve(region.base + boundary, region.usable - boundary))
                }
                state.regions[index].usable = keep
            }
            state.size = size
        }
    }

    /// Makes what exists of a region in a file of `size` bytes usable.
    private static func commit(_ index: Int, upTo size: UInt64, in state: inout State)
        throws(SystemError)
    {
        while index >= state.regions.count {
            let reserved = state.regions.isEmpty ? Section.headSize : Section.size
            guard let base = platform_reserve(reserved) else { throw .addressSpaceExhausted }
            state.regions.append(Region(base: base, reserved: reserved, usable: 0))
        }
        let region = state.regions[index]
        let usable = Int(
            min(UInt64(region.reserved), size.subtractingOrZero(offset(ofRegion: index))))
        guard usable > region.usable else { return }
        let from = region.usable.roundedUp(platform_memory_page_size())
        if usable > from, platform_commit_memory(region.base + from, usable - from) != 0 {
            throw .addressSpaceExhausted
        }
        state.regions[index].usable = usable
    }

    // Region 0 is the head, region n section n - 1.

    private static func region(at offset: UInt64) -> Int {
        offset < UInt64(Section.headSize)
            ? 0 : 1 + Int((offset - UInt64(Section.headSize)) / UInt64(Section.size))
    }

    private static func offset(ofRegion region: Int) -> UInt64 {
        region == 0 ? 0 : Section.offset(of: region - 1)
    }

    /// Cuts a range of the file where regions meet: the region, where in it, and which bytes of the
    /// range.
    private static func forEachPiece(
        at offset: UInt64, count: Int, _ body: (Int, Int, Range<Int>) -> Void
    ) {
        var done = 0
        while done < count {
            let position = offset + UInt64(done)
            let region = region(at: position)
            let start = Int(position - self.offset(ofRegion: region))
            let piece = min(count - done, (region == 0 ? Section.headSize : Section.size) - start)
            body(region, start, done..<done + piece)
            done += piece
        }
    }
}
