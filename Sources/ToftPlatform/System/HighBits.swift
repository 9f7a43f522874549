public import CPlatform

// It is public because only public code is inlined in other modules.

extension SIMD16<UInt8> {
    /// The highest bit of each byte, that of the first lowest: which lanes of a compare passed.
    @inlinable @inline(__always)
    public var highBits: UInt64 { platform_high_bits_of_bytes(self) }
}

extension SIMD2<UInt64> {
    /// The highest bit of each word, that of the first lowest.
    @inlinable @inline(__always)
    public var highBits: UInt64 { platform_high_bits_of_words(self) }
}
