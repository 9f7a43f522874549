internal import ToftStorage

/// Copies of the bytes that callers pass in. A caller's bytes may borrow from the file's own pages,
/// which change while the transaction writes.
final class ByteArena {
    private var chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private var used = 0
    private var large: [UnsafeMutableRawBufferPointer] = []

    deinit {
        reset()
        chunk.deallocate()
    }

    /// Drops all copies.
    @inline(__always)
    func reset() {
        used = 0
        if !large.isEmpty { freeLarge() }
    }

    private func freeLarge() {
        for buffer in large { buffer.deallocate() }
        large = []
    }

    /// A copy of the bytes, valid until `reset`.
    @inline(__always)
    func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard bytes.count <= chunk.count &- used else { return copyLarge(bytes) }
        let copy = UnsafeMutableRawBufferPointer(rebasing: chunk[used..<(used &+ bytes.count)])
        copy.copyMemory(from: bytes)
        used &+= bytes.count
        return UnsafeRawBufferPointer(copy)
    }

    private func copyLarge(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        copy.copyMemory(from: bytes)
        large.append(copy)
        return UnsafeRawBufferPointer(copy)
    }

    /// A copy of the cell with bytes that are valid until `reset`.
    @inline(__always)
    func copy(_ cell: Cell) -> Cell {
        if case .bytes(let bytes) = cell { .bytes(copy(bytes)) } else { cell }
    }
}
