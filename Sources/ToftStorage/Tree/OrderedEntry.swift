/// An entry of an ordered tree with its whole key.
struct OrderedEntry {
    let key: UnsafeRawBufferPointer
    /// The value, or the reference of the blob that holds it.
    let stored: UnsafeRawBufferPointer
    let isBlob: Bool

    /// Bytes that it takes in a leaf whose keys share so many bytes.
    @inline(__always)
    func size(shared: Int) -> Int {
        OrderedLeafLayout.slotSize + max(0, key.count - shared - OrderedLeafLayout.hintSize)
            + stored.count
    }

    /// How many leading bytes the keys of two entries share.
    func sharedBytes(with other: OrderedEntry) -> Int { commonPrefix(key, other.key) }
}

/// How many leading bytes are equal.
func commonPrefix(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let count = min(left.count, right.count)
    var index = 0
    while index < count, left[index] == right[index] { index &+= 1 }
    return index
}

/// What follows the bytes that all keys of a leaf share: four bytes as a number, then the rest.
struct KeySuffix {
    let hint: UInt32
    let length: Int
    /// The bytes from the fifth on, `length - 4` of them; meaningless for shorter suffixes.
    let tail: UnsafeRawPointer

    /// The suffix of a whole key that is not shorter than the shared bytes.
    @inline(__always)
    init(of key: UnsafeRawPointer, count: Int, shared: Int) {
        let start = key + shared
        length = count &- shared
        tail = start + OrderedLeafLayout.hintSize
        if length >= OrderedLeafLayout.hintSize {
            hint = UInt32(bigEndian: start.loadUnaligned(as: UInt32.self))
        } else {
            var number: UInt32 = 0
            for index in 0..<length {
                number |=
                    UInt32(start.load(fromByteOffset: index, as: UInt8.self))
                    << UInt32(24 &- 8 &* index)
            }
            hint = number
        }
    }

    @inline(__always)
    init(hint: UInt32, length: Int, tail: UnsafeRawPointer) {
        self.hint = hint
        self.length = length
        self.tail = tail
    }

    /// The suffix that is left when keys share so many bytes more, which it has.
    @inline(__always)
    func dropping(_ more: Int) -> KeySuffix {
        if more == 0 { return self }
        let hintSize = OrderedLeafLayout.hintSize
        if more >= hintSize {
            return KeySuffix(of: tail, count: tailLength, shared: more &- hintSize)
        }
        var next = UInt64(hint) << 32
        for index in 0..<min(tailLength, more) {
            next |=
                UInt64(tail.load(fromByteOffset: index, as: UInt8.self)) << UInt64(24 &- 8 &* index)
        }
        return KeySuffix(
            hint: UInt32(truncatingIfNeeded: next >> UInt64(32 &- 8 &* more)),
            length: length &- more, tail: tail + min(tailLength, more))
    }

    @inline(__always)
    var tailLength: Int { max(0, length &- OrderedLeafLayout.hintSize) }

    /// Negative, zero or positive, as `self` stands before, at or after a suffix with the same
    /// hint.
    @inline(__always)
    func compareRest(_ other: KeySuffix) -> Int {
        let order = compareBytes(tail, tailLength, other.tail, other.tailLength)
        return order != 0 ? order : length &- other.length
    }
}
