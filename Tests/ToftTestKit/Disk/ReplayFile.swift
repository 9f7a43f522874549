package import ToftPlatform

/// A disk in memory that becomes one image after the other: only the pages in which it differs from
/// the next one are written.
package final class ReplayFile: WrappedFile, @unchecked Sendable {
    private let memory: MemoryFile
    /// The content of each page; nil if somebody has written to it.
    private var pages: [PageContent?] = []

    package init() {
        memory = MemoryFile(name: "replay")
        super.init(memory)
    }

    /// Holds this from now on. Nobody may have it open.
    package func load(_ image: [PageContent]) throws {
        let size = UInt64(image.count * PageContent.size)
        if try memory.size() != size { try memory.truncate(to: size) }
        pages =
            pages.prefix(image.count)
            + Array(repeating: nil, count: max(0, image.count - pages.count))
        for (index, page) in image.enumerated() where pages[index] !== page {
            try page.bytes.withUnsafeBytes { bytes throws in
                try memory.write(bytes, at: UInt64(index * PageContent.size))
            }
            pages[index] = page
        }
    }

    private func forget(from offset: UInt64, count: Int) {
        let first = Int(offset) / PageContent.size
        let end = (Int(offset) + count + PageContent.size - 1) / PageContent.size
        for page in min(first, pages.count)..<min(end, pages.count) { pages[page] = nil }
    }

    package override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        forget(from: offset, count: bytes.count)
        try memory.write(bytes, at: offset)
    }

    package override func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        try write(bytes, at: offset)
    }

    package override func truncate(to size: UInt64) throws(SystemError) {
        let kept = Int(size) / PageContent.size
        for page in min(kept, pages.count)..<pages.count { pages[page] = nil }
        try memory.truncate(to: size)
    }
}
