internal import ToftPlatform

/// Comparing and searching bytes.
enum ByteSearch {
    @inline(__always)
    static func isEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        left.count == right.count && isSame(left, right, count: right.count)
    }

    static func hasPrefix(_ text: UnsafeRawBufferPointer, _ prefix: UnsafeRawBufferPointer) -> Bool
    {
        text.count >= prefix.count && isSame(text, prefix, count: prefix.count)
    }

    static func hasSuffix(_ text: UnsafeRawBufferPointer, _ suffix: UnsafeRawBufferPointer) -> Bool
    {
        text.count >= suffix.count
            && isSame(
                UnsafeRawBufferPointer(rebasing: text[(text.count - suffix.count)...]), suffix,
                count: suffix.count)
    }

    /// Less than, equal to or greater than 0 as `left` sorts before, with or after `right`: bytes
    /// as unsigned, then the shorter first.
    static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let common = min(left.count, right.count)
        if common > 0, let leftBase = left.baseAddress, let rightBase = right.baseAddress {
            var index = 0
            while index &+ 8 <= common {
                let leftWord = UInt64(
                    bigEndian: leftBase.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let rightWord = UInt64(
                    bigEndian: rightBase.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                if leftWord != rightWord { return leftWord < rightWord ? -1 : 1 }
                index &+= 8
            }
            while index < common {
                if left[index] != right[index] { return left[index] < right[index] ? -1 : 1 }
                index &+= 1
            }
        }
        return left.count - right.count
    }

    /// Whether the first `count` bytes are the same.
    @inline(__always)
    private static func isSame(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, count: Int
    ) -> Bool {
        guard count > 0, let leftBase = left.baseAddress, let rightBase = right.baseAddress else {
            return true
        }
        var index = 0
        while index &+ 8 <= count {
            if leftBase.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                != rightBase.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            {
                return false
            }
            index &+= 8
        }
        while index < count {
            if leftBase.load(fromByteOffset: index, as: UInt8.self)
                != rightBase.load(fromByteOffset: index, as: UInt8.self)
            {
                return false
            }
            index &+= 1
        }
        return true
    }

    static func contains(_ text: UnsafeRawBufferPointer, _ needle: UnsafeRawBufferPointer) -> Bool {
        firstIndex(of: needle, in: text, from: 0) != nil
    }

    /// The first position of `needle` in `text`, at `start` or later. Sixteen positions are tested
    /// together for the needle's first byte and its last one.
    static func firstIndex(
        of needle: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer, from start: Int
    ) -> Int? {
        guard needle.count > 0, let first = needle.first else {
            return start <= text.count ? start : nil
        }
        guard let base = text.baseAddress, text.count &- start >= needle.count else { return nil }
        let last = text.count &- needle.count
        let firsts = SIMD16<UInt8>(repeating: first)
        let lasts = SIMD16<UInt8>(repeating: needle[needle.count &- 1])
        var index = start
        while index <= last {
            guard last >= 15 else {
                if isSame(text, at: index, needle) { return index }
                index &+= 1
                continue
            }
            // The last positions are tested together with some of those before them.
            let place = min(index, last &- 15)
            let starts = base.loadUnaligned(fromByteOffset: place, as: SIMD16<UInt8>.self)
            let ends = base.loadUnaligned(
                fromByteOffset: place &+ needle.count &- 1, as: SIMD16<UInt8>.self)
            var hits = unsafeBitCast(
                (starts .== firsts) .& (ends .== lasts), to: SIMD16<UInt8>.self
            ).highBits
            hits = hits &>> UInt64(truncatingIfNeeded: index &- place)
            while hits != 0 {
                let hit = index &+ hits.trailingZeroBitCount
                if isSame(text, at: hit, needle) { return hit }
                hits &= hits &- 1
            }
            index = place &+ 16
        }
        return nil
    }

    @inline(__always)
    private static func isSame(
        _ text: UnsafeRawBufferPointer, at index: Int, _ needle: UnsafeRawBufferPointer
    ) -> Bool {
        guard let base = text.baseAddress else { return false }
        return isSame(
            UnsafeRawBufferPointer(start: base + index, count: needle.count), needle,
            count: needle.count)
    }
}
