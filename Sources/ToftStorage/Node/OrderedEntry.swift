/// An entry of an ordered tree with its whole key.
struct OrderedEntry {
    let key: UnsafeRawBufferPointer
    /// The value, or the reference of the blob that holds it.
    let stored: UnsafeRawBufferPointer
    let isBlob: Bool

    /// Number of leading bytes that the keys of two entries share.
    func sharedBytes(with other: OrderedEntry) -> Int { commonPrefix(key, other.key) }
}

/// Number of equal leading bytes.
func commonPrefix(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let count = min(left.count, right.count)
    var index = 0
    while index < count, left[index] == right[index] { index &+= 1 }
    return index
}

/// A key without the prefix that all keys of a leaf share: four bytes as a number, then the rest,
/// in up to three parts.
struct KeySuffix {
    let hint: UInt32
    let length: Int
    /// The bytes from the fifth on, up to the middle if there is one.
    private(set) var tail: UnsafeRawPointer
    private(set) var tailLength: Int
    /// The middle, without its part in the four bytes.
    private(set) var middle: UnsafeRawPointer
    private(set) var middleLength = 0
    /// The part after the middle.
    private(set) var end: UnsafeRawPointer
    private(set) var endLength = 0
    /// The form of its entry; that of a whole key has no value.
    private(set) var form: LeafForm

    /// The suffix of a whole key that is not shorter than the shared bytes, in one part.
    @inline(__always)
    init(of key: UnsafeRawPointer, count: Int, shared: Int) {
        let start = key + shared
        length = count &- shared
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
        tail = start + OrderedLeafLayout.hintSize
        tailLength = max(0, length &- OrderedLeafLayout.hintSize)
        middle = tail
        end = tail
        form = LeafForm(own: length, end: nil)
    }

    /// The suffix of a whole key, with the middle of its leaf if the key contains it.
    @inline(__always)
    init(
        of key: UnsafeRawPointer, count: Int, shared: Int, around wanted: UnsafeRawBufferPointer
    ) {
        self.init(of: key, count: count, shared: shared)
        guard let start = wanted.baseAddress, !wanted.isEmpty,
            let behind = bytesBehind(start, wanted.count, in: key + shared, length)
        else { return }
        form = LeafForm(own: length &- wanted.count, end: behind)
        divide(around: start, wanted.count)
        end = key + (count &- behind)
    }

    /// The suffix of an entry of a leaf: its bytes in the heap, around the leaf's middle if the
    /// form says so.
    @inline(__always)
    init(
        hint: UInt32, form: LeafForm, heap: UnsafeRawPointer, around middle: UnsafeRawBufferPointer
    ) {
        self.hint = hint
        self.form = form
        tail = heap
        self.middle = heap
        end = heap
        guard form.hasMiddle, let start = middle.baseAddress else {
            length = form.own
            tailLength = max(0, length &- OrderedLeafLayout.hintSize)
            return
        }
        length = form.own &+ middle.count
        tailLength = 0
        divide(around: start, middle.count)
        end = heap + tailLength
    }

    /// Notes the parts before and behind a middle of `count` bytes, as the form says.
    @inline(__always)
    private mutating func divide(around start: UnsafeRawPointer, _ count: Int) {
        let inHint = max(0, OrderedLeafLayout.hintSize &- form.head)
        tailLength = max(0, form.head &- OrderedLeafLayout.hintSize)
        middle = start + inHint
        middleLength = count &- inHint
        endLength = form.end
    }

    /// Negative, zero or positive, as `self` is before, equal to or after a suffix in one part with
    /// the same hint.
    @inline(__always)
    func compareRest(_ other: KeySuffix) -> Int {
        let order =
            form.hasMiddle
            ? compareParts(other.tail, other.tailLength)
            : compareBytes(tail, tailLength, other.tail, other.tailLength)
        return order != 0 ? order : length &- other.length
    }

    private func compareParts(_ other: UnsafeRawPointer, _ count: Int) -> Int {
        var order = compareBytes(tail, tailLength, other, min(tailLength, count))
        if order != 0 { return order }
        let rest = count &- tailLength
        order = compareBytes(middle, middleLength, other + tailLength, min(middleLength, rest))
        if order != 0 { return order }
        return compareBytes(
            end, endLength, other + (tailLength &+ middleLength), rest &- middleLength)
    }

    /// Writes the whole suffix to memory for its bytes and four more.
    @inline(__always)
    func write(to memory: UnsafeMutableRawPointer) {
        memory.storeBytes(of: hint.bigEndian, as: UInt32.self)
        var next = memory + OrderedLeafLayout.hintSize
        next.copyMemory(from: tail, byteCount: tailLength)
        guard form.hasMiddle else { return }
        next += tailLength
        next.copyMemory(from: middle, byteCount: middleLength)
        (next + middleLength).copyMemory(from: end, byteCount: endLength)
    }
}
