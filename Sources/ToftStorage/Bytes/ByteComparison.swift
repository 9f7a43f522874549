extension UnsafeRawBufferPointer {
    /// Whether the bytes begin with those of `prefix`.
    @inline(__always)
    package func hasPrefix(_ prefix: UnsafeRawBufferPointer) -> Bool {
        count >= prefix.count
            && UnsafeRawBufferPointer(rebasing: self[..<prefix.count]).isSame(as: prefix)
    }

    /// Whether these bytes sort before `other`.
    package func isBefore(_ other: UnsafeRawBufferPointer) -> Bool {
        for index in 0..<Swift.min(count, other.count) where self[index] != other[index] {
            return self[index] < other[index]
        }
        return count < other.count
    }

    /// Whether the bytes are the same.
    @inline(__always)
    package func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, var left = baseAddress, var right = other.baseAddress else {
            return count == other.count
        }
        var rest = count
        while rest >= 8 {
            if left.loadUnaligned(as: UInt64.self) != right.loadUnaligned(as: UInt64.self) {
                return false
            }
            left += 8
            right += 8
            rest &-= 8
        }
        for index in 0..<rest
        where left.load(fromByteOffset: index, as: UInt8.self)
            != right.load(fromByteOffset: index, as: UInt8.self)
        {
            return false
        }
        return true
    }
}
