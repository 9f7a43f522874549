/// The 64-bit checksum that parents hold of their children: XXH64 with seed 0.
///
/// Source: the xxHash specification, "XXH64 algorithm description" (github.com/Cyan4973/xxHash,
/// doc/xxhash_spec.md). It detects accidents; only the MACs of encrypted files defend against
/// malice.
package enum Checksum {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        guard let base = bytes.baseAddress else { return finish(prime5, nil, 0) }
        return of(base, count: bytes.count)
    }

    /// The checksum of `count` bytes.
    package static func of(_ base: UnsafeRawPointer, count: Int) -> UInt64 {
        var offset = 0
        var hash: UInt64
        if count >= 32 {
            var lane1 = prime1 &+ prime2
            var lane2 = prime2
            var lane3: UInt64 = 0
            var lane4 = 0 &- prime1
            let end = count &- 32
            while offset <= end {
                lane1 = round(lane1, word(base, offset))
                lane2 = round(lane2, word(base, offset &+ 8))
                lane3 = round(lane3, word(base, offset &+ 16))
                lane4 = round(lane4, word(base, offset &+ 24))
                offset &+= 32
            }
            hash = rotate(lane1, 1) &+ rotate(lane2, 7) &+ rotate(lane3, 12) &+ rotate(lane4, 18)
            hash = merge(merge(merge(merge(hash, lane1), lane2), lane3), lane4)
        } else {
            hash = prime5
        }
        hash &+= UInt64(truncatingIfNeeded: count)
        return finish(hash, base + offset, count &- offset)
    }

    private static func finish(_ start: UInt64, _ base: UnsafeRawPointer?, _ count: Int) -> UInt64 {
        var hash = start
        var offset = 0
        if let base {
            while offset &+ 8 <= count {
                hash = rotate(hash ^ round(0, word(base, offset)), 27) &* prime1 &+ prime4
                offset &+= 8
            }
            if offset &+ 4 <= count {
                let half = UInt64(
                    UInt32(
                        littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
                hash = rotate(hash ^ (half &* prime1), 23) &* prime2 &+ prime3
                offset &+= 4
            }
            while offset < count {
                hash =
                    rotate(
                        hash
                            ^ (UInt64(base.load(fromByteOffset: offset, as: UInt8.self)) &* prime5),
                        11) &* prime1
                offset &+= 1
            }
        }
        hash = (hash ^ (hash >> 33)) &* prime2
        hash = (hash ^ (hash >> 29)) &* prime3
        return hash ^ (hash >> 32)
    }

    @inline(__always)
    private static func word(_ base: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always)
    private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
        rotate(lane &+ input &* prime2, 31) &* prime1
    }

    @inline(__always)
    private static func merge(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
        (hash ^ round(0, lane)) &* prime1 &+ prime4
    }

    @inline(__always)
    private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 {
        (value &<< bits) | (value &>> (64 &- bits))
    }
}
