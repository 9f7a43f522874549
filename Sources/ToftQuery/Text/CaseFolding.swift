/// Brings texts to the form in which `[c]` and `[d]` compare them: Unicode simple case folding, and
/// letters without their accents.
enum CaseFolding {
    /// The text, folded. Bytes that are not UTF-8 stay as they are.
    static func folded(_ bytes: [UInt8], _ options: StringOptions) -> [UInt8] {
        var result: [UInt8] = []
        bytes.withUnsafeBytes { fold($0, options, into: &result) }
        return result
    }

    /// Replaces `result` by the folded text.
    static func fold(
        _ bytes: UnsafeRawBufferPointer, _ options: StringOptions, into result: inout [UInt8]
    ) {
        result.removeAll(keepingCapacity: true)
        let foldsCase = options.contains(.caseInsensitive)
        let stripsAccents = options.contains(.diacriticInsensitive)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte < 0x80 {
                result.append(foldsCase ? lowercased(byte) : byte)
                index += 1
                continue
            }
            let (scalar, length) = UTF8Decoding.scalar(bytes, at: index)
            if scalar > 0x10FFFF {
                result.append(byte)
            } else if let folded = fold(scalar, case: foldsCase, accents: stripsAccents) {
                append(folded, to: &result)
            }
            index += length
        }
    }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }

    /// The folded code point of `scalar`; nil for a separate accent when accents do not count.
    static func fold(_ scalar: UInt32, case foldsCase: Bool, accents stripsAccents: Bool) -> UInt32?
    {
        var result = scalar
        if stripsAccents {
            if isMark(result) { return nil }
            result = map(result, FoldingTable.bareLetters)
        }
        if foldsCase {
            result =
                result < 0x80
                ? UInt32(lowercased(UInt8(result))) : map(result, FoldingTable.caseFolding)
        }
        return result
    }

    /// The blocks of combining diacritical marks.
    private static func isMark(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x0300...0x036F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F:
            true
        default: false
        }
    }

    private static func map(_ scalar: UInt32, _ runs: [FoldingTable.Run]) -> UInt32 {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].last < scalar { low = middle + 1 } else { high = middle }
        }
        guard low < runs.count else { return scalar }
        let run = runs[low]
        guard scalar >= run.first, (scalar - run.first) % run.step == 0 else { return scalar }
        return UInt32(truncatingIfNeeded: Int64(scalar) + Int64(run.distance))
    }

    private static func append(_ scalar: UInt32, to bytes: inout [UInt8]) {
        switch scalar {
        case 0..<0x80: bytes.append(UInt8(truncatingIfNeeded: scalar))
        case 0x80..<0x800:
            bytes.append(UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6))
            bytes.append(continuation(scalar))
        case 0x800..<0x10000:
            bytes.append(UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12))
            bytes.append(continuation(scalar >> 6))
            bytes.append(continuation(scalar))
        default:
            bytes.append(UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18))
            bytes.append(continuation(scalar >> 12))
            bytes.append(continuation(scalar >> 6))
            bytes.append(continuation(scalar))
        }
    }

    private static func continuation(_ bits: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: 0x80 | (bits & 0x3F))
    }
}

/// Code points of UTF-8 that may be damaged or no text at all.
enum UTF8Decoding {
    /// The code point at `index` and its length in bytes. A byte that begins no character counts as
    /// one of its own, beyond all code points.
    static func scalar(_ bytes: UnsafeRawBufferPointer, at index: Int) -> (
        scalar: UInt32, length: Int
    ) {
        let first = bytes[index]
        if first < 0x80 { return (UInt32(first), 1) }
        let length = first >= 0xF0 && first < 0xF8 ? 4 : first >= 0xE0 ? 3 : 2
        guard first >= 0xC2, first < 0xF8, index + length <= bytes.count else {
            return (0x110000 + UInt32(first), 1)
        }
        var scalar = UInt32(first) & (0x7F >> UInt32(length))
        for offset in 1..<length {
            let byte = bytes[index + offset]
            guard byte & 0xC0 == 0x80 else { return (0x110000 + UInt32(first), 1) }
            scalar = scalar << 6 | UInt32(byte & 0x3F)
        }
        return scalar > 0x10FFFF ? (0x110000 + UInt32(first), 1) : (scalar, length)
    }
}
