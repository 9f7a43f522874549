// The middle of a leaf: bytes that most of its keys have near their ends, as the names of hosts
// that e-mail addresses have before the key of their object.

/// Number of bytes of a suffix behind the last occurrence of a leaf's middle in it; nil if it does
/// not contain the middle.
func bytesBehind(
    _ middle: UnsafeRawPointer, _ count: Int, in suffix: UnsafeRawPointer, _ length: Int
) -> Int? {
    let lastWord = count &- OrderedLeafLayout.shortestMiddle
    let word = middle.loadUnaligned(fromByteOffset: lastWord, as: UInt32.self)
    var behind = 0
    while behind <= OrderedLeafLayout.longestEnd, behind &+ count <= length {
        let start = suffix + (length &- behind &- count)
        if start.loadUnaligned(fromByteOffset: lastWord, as: UInt32.self) == word,
            compareBytes(start, lastWord, middle, lastWord) == 0
        {
            return behind
        }
        behind &+= 1
    }
    return nil
}

/// The longest bytes that two suffixes have in common, as part of the first: they end within the
/// last `ends` bytes of the first, and within the last ones of the second. Empty if they are too
/// short for a middle.
func commonMiddle(
    _ first: UnsafeRawBufferPointer, ends: Int, _ second: UnsafeRawBufferPointer
) -> UnsafeRawBufferPointer {
    var best = 0..<0
    for left in stride(from: first.count, to: max(0, first.count - ends - 1), by: -1) {
        let lowest = max(0, second.count - OrderedLeafLayout.longestEnd - 1)
        for right in stride(from: second.count, to: lowest, by: -1) {
            var length = 0
            while length < min(left, right, OrderedLeafLayout.longestMiddle),
                first[left - length - 1] == second[right - length - 1]
            {
                length += 1
            }
            if length > best.count { best = left - length..<left }
        }
    }
    let isLongEnough = best.count >= OrderedLeafLayout.shortestMiddle
    return UnsafeRawBufferPointer(rebasing: first[isLongEnough ? best : 0..<0])
}
