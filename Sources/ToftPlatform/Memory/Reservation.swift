internal import CPlatform

/// Address space of this process: nothing is behind it until a file is mapped into a part of it, or
/// a part becomes memory. It is returned when the object ends.
///
/// `@unchecked Sendable`: its address and size never change.
package final class Reservation: @unchecked Sendable {
    package let base: UnsafeMutableRawPointer
    package let byteCount: Int

    /// - Throws: `addressSpaceExhausted`.
    package init(byteCount: Int) throws(SystemError) {
        guard let base = platform_reserve(byteCount) else { throw .addressSpaceExhausted }
        self.base = base
        self.byteCount = byteCount
    }

    deinit { _ = platform_unmap(base, byteCount) }

    /// Makes all of it zeroed memory, which takes room as it is written to, in pages of the
    /// smallest size.
    package func becomeMemory() throws(SystemError) {
        guard platform_commit_memory(base, byteCount) == 0 else { throw .addressSpaceExhausted }
        platform_refuse_huge_pages(base, byteCount)
    }

    /// Replaces mapped bytes or memory at an address of it: whole pages of the machine, all at
    /// once, so that a reader sees the old ones or the new ones.
    package func replace(at address: UnsafeMutableRawPointer, by bytes: UnsafeRawBufferPointer)
        throws(SystemError)
    {
        guard let memory = platform_map_zeroed(bytes.count) else { throw .addressSpaceExhausted }
        UnsafeMutableRawBufferPointer(start: memory, count: bytes.count).copyMemory(from: bytes)
        if platform_replace_memory(memory, address, bytes.count) < 0 {
            _ = platform_unmap(memory, bytes.count)
            throw .addressSpaceExhausted
        }
    }

    /// Bytes of a block of memory that `joinBlock` makes one page of the machine.
    package static let blockSize = 2 << 20

    /// Blocks that the memory touches, the first and the last maybe in part.
    package var blockCount: Int { block(at: UnsafeRawPointer(base) + (byteCount - 1)) + 1 }

    /// The index of the block that contains an address.
    package func block(at address: UnsafeRawPointer) -> Int {
        let (block, first) = (UInt(bitPattern: address), UInt(bitPattern: base))
        return Int(block / UInt(Self.blockSize) - first / UInt(Self.blockSize))
    }

    /// Makes a block one huge page, whose addresses are found faster and all of which then takes
    /// memory. Its contents are kept. Returns false if the machine has no such page or the block is
    /// not whole.
    package func joinBlock(_ index: Int) -> Bool {
        let size = UInt(Self.blockSize)
        let start = (UInt(bitPattern: base) / size + UInt(index)) * size
        guard start >= UInt(bitPattern: base),
            start + size <= UInt(bitPattern: base) + UInt(byteCount),
            let block = UnsafeMutableRawPointer(bitPattern: start)
        else { return false }
        return platform_make_huge_page(block, Self.blockSize) == 0
    }

    /// Gives the memory of all of it back to the system; it reads as zeros afterwards. Needs that
    /// nobody uses it.
    package func discard() { platform_discard_memory(base, byteCount) }

    /// Discards a part; only the whole pages of memory in it are returned.
    package func discard(_ part: UnsafeMutableRawBufferPointer) {
        guard let address = part.baseAddress else { return }
        let mask = UInt(Machine.memoryPageSize - 1)
        let start = (UInt(bitPattern: address) + mask) & ~mask
        let end = (UInt(bitPattern: address) + UInt(part.count)) & ~mask
        guard end > start, let whole = UnsafeMutableRawPointer(bitPattern: start) else { return }
        platform_discard_memory(whole, Int(end - start))
    }
}

/// Numbers of the machine.
package enum Machine {
    /// Bytes of a page of memory, in which the system maps files.
    package static let memoryPageSize = Int(platform_memory_page_size())
}
