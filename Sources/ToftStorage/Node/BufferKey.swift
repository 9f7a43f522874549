/// Makes keys of the insert buffer of one tree's keys, and back.
struct BufferKey: Sendable {
    /// Id length and id.
    private let prefix: (UInt64, UInt64)
    let prefixCount: Int

    init(tree id: TreeID) {
        let count = max(1, (64 - id.rawValue.leadingZeroBitCount + 7) / 8)
        var prefix: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &prefix) { bytes in
            bytes[BufferKeyLayout.idLength] = UInt8(count)
            for index in 0..<count {
                bytes[BufferKeyLayout.id + index] = UInt8(
                    truncatingIfNeeded: id.rawValue >> UInt64(8 * (count - 1 - index)))
            }
        }
        self.prefix = prefix
        prefixCount = BufferKeyLayout.id + count
    }

    /// True if an entry with a key of `count` bytes may be in the insert buffer.
    func isFitting(_ count: Int) -> Bool { prefixCount + count <= TreeLimits.key }

    /// Lends the key of an entry on the stack.
    @inline(__always)
    func with<Result>(
        _ key: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try withUnsafeTemporaryAllocation(byteCount: 16 + key.count, alignment: 16) {
            room throws(StorageError) in
            guard let base = room.baseAddress else { throw .addressSpaceExhausted }
            base.storeBytes(of: prefix.0, as: UInt64.self)
            base.storeBytes(of: prefix.1, toByteOffset: 8, as: UInt64.self)
            if let source = key.baseAddress {
                base.store(source, count: key.count, at: prefixCount)
            }
            return try body(UnsafeRawBufferPointer(start: base, count: prefixCount + key.count))
        }
    }

    /// Calls `body` with the first key behind all of the tree.
    func withEnd<Result>(_ body: (UnsafeRawBufferPointer) throws(StorageError) -> Result)
        throws(StorageError) -> Result
    {
        try with(UnsafeRawBufferPointer(start: nil, count: 0)) { bytes throws(StorageError) in
            let end = UnsafeMutableRawBufferPointer(mutating: bytes)
            for index in end.indices.reversed() {
                end[index] &+= 1
                if end[index] != 0 { break }
            }
            return try body(bytes)
        }
    }

    /// The rest of a key of the insert buffer that belongs to the tree; nil if it belongs to
    /// another.
    @inline(__always)
    func rest(of key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard key.count >= prefixCount else { return nil }
        let isOwn = withUnsafeBytes(of: prefix) { own in
            for index in 0..<prefixCount where own[index] != key[index] { return false }
            return true
        }
        return isOwn ? UnsafeRawBufferPointer(rebasing: key[prefixCount...]) : nil
    }

    /// Tree and key; nil if the bytes are not a key of the insert buffer.
    static func split(_ key: UnsafeRawBufferPointer) -> (tree: TreeID, key: UnsafeRawBufferPointer)?
    {
        guard let first = key.first, first >= 1, first <= BufferKeyLayout.longestID else {
            return nil
        }
        let end = BufferKeyLayout.id + Int(first)
        guard key.count >= end else { return nil }
        var number: UInt64 = 0
        for index in BufferKeyLayout.id..<end { number = number << 8 | UInt64(key[index]) }
        let id = TreeID(number)
        guard id >= SystemTree.firstUser, first == 1 || key[BufferKeyLayout.id] != 0 else {
            return nil
        }
        return (id, UnsafeRawBufferPointer(rebasing: key[end...]))
    }
}
