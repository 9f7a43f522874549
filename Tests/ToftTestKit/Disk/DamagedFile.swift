internal import Glibc
internal import Synchronization
package import ToftPlatform

/// A file in memory that becomes one damaged image after the other. Only the pages that differ are
/// written, and those that were written to since.
///
/// Its mapping ends with its last page: a read beyond that ends the process, as for a file on a
/// disk.
package final class DamagedFile: WrappedFile, @unchecked Sendable {
    private let sound: [UInt8]
    private let fileIdentity: FileIdentity
    /// Pages whose content may be another one than in the sound image.
    private let changed: Mutex<Set<Int>>

    package init(_ sound: [UInt8], identity: FileIdentity) throws {
        self.sound = sound
        fileIdentity = identity
        changed = Mutex([])
        super.init(try MemoryFile(content: sound))
    }

    /// Makes the file hold an image. Nobody has it open.
    package func hold(_ image: [UInt8]) throws {
        var stale = changed.withLock { pages in
            defer { pages = [] }
            return pages
        }
        let before = Int(try base.size())
        if before != image.count { try base.truncate(to: UInt64(image.count)) }
        // A file grows by zeros.
        note(before, image.count - before, &stale)
        var differing: Set<Int> = []
        try image.withUnsafeBytes { image throws in
            try sound.withUnsafeBytes { sound throws in
                for start in stride(from: 0, to: image.count, by: 4_096) {
                    let end = min(start + 4_096, image.count)
                    let piece = UnsafeRawBufferPointer(rebasing: image[start..<end])
                    let isSound = end <= sound.count && Self.isEqual(piece, sound, start)
                    if !isSound { differing.insert(start / 4_096) }
                    if !isSound || stale.contains(start / 4_096) {
                        try base.write(piece, at: UInt64(start))
                    }
                }
            }
        }
        changed.withLock { $0.formUnion(differing) }
    }

    private static func isEqual(
        _ piece: UnsafeRawBufferPointer, _ sound: UnsafeRawBufferPointer, _ start: Int
    ) -> Bool {
        guard let one = piece.baseAddress, let other = sound.baseAddress else { return false }
        return memcmp(one, other + start, piece.count) == 0
    }

    private func note(_ offset: Int, _ count: Int, _ pages: inout Set<Int>) {
        guard count > 0 else { return }
        pages.formUnion(offset / 4_096...(offset + count - 1) / 4_096)
    }

    package override func identity() throws(SystemError) -> FileIdentity { fileIdentity }

    package override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        changed.withLock { note(Int(offset), bytes.count, &$0) }
        try base.write(bytes, at: offset)
    }

    package override func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64)
        throws(SystemError)
    {
        changed.withLock { note(Int(offset), bytes.count, &$0) }
        try base.writeDurably(bytes, at: offset)
    }

    package override func truncate(to size: UInt64) throws(SystemError) {
        // Its bytes are lost, even if it grows again at once.
        let before = Int(try base.size())
        changed.withLock { note(Int(size), before - Int(size), &$0) }
        try base.truncate(to: size)
    }
}
