internal import ToftEngine
internal import ToftStorage

/// Reading, here and not in the engine, so that it is inlined.
extension ColumnPlace {
    /// The integer of a row, the key that a link holds, or the bits of a double; nil when null. Of `words`.
    @inline(__always)
    func word(_ row: Int) -> Int64? {
        guard let values = values(row) else { return nil }
        return values.load(fromByteOffset: row &* 8, as: Int64.self)
    }

    /// The flag of a row; nil when null. Of `bits`.
    @inline(__always)
    func bit(_ row: Int) -> Bool? {
        values(row)?.assumingMemoryBound(to: UInt64.self).bit(row)
    }

    /// The number of a row; nil when null. Of `floats`.
    @inline(__always)
    func float(_ row: Int) -> Float? {
        values(row)?.load(fromByteOffset: row &* 4, as: Float.self)
    }

    /// The time of a row; nil when null. Of `times`.
    @inline(__always)
    func time(_ row: Int) -> Timestamp? {
        guard let values = values(row), let nanoseconds else { return nil }
        return Timestamp(seconds: values.load(fromByteOffset: row &* 8, as: Int64.self), nanoseconds: nanoseconds[row])
    }

    /// The values, where the row's is not null.
    @inline(__always)
    func values(_ row: Int) -> UnsafeRawPointer? {
        if let nulls, nulls.bit(row) { return nil }
        return values
    }
}

extension UnsafePointer<UInt64> {
    /// A bit of a bitmap.
    @inline(__always)
    func bit(_ index: Int) -> Bool {
        self[index &>> 6] & (1 &<< UInt64(truncatingIfNeeded: index & 63)) != 0
    }
}
