internal import ToftPlatform

/// A text to find among those of coded columns.
package struct SoughtText {
    package let bytes: UnsafeRawBufferPointer
    /// The lowest byte of its checksum.
    let tag: UInt8

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        tag = UInt8(truncatingIfNeeded: Checksum.of(bytes))
    }
}

/// The tags of a coded column's texts, beginning with code 0: one byte for each, by which a text is
/// found without reading most of the others.
struct TextTags {
    private let base: UnsafeRawPointer
    private let codeCount: Int

    /// - Parameters:
    ///   - base: the tags. The cells of at least `ClusterLimits.leastTextRoom` texts follow them.
    ///   - codeCount: number of codes in use, including 0.
    init(_ base: UnsafeRawPointer, codeCount: Int) {
        self.base = base
        self.codeCount = codeCount
    }

    /// The code of a non-empty text; nil if the column does not have it. O(texts), 16 together.
    /// - Parameter isSame: whether the text of a code is the one to find.
    @inline(__always)
    func code(of sought: SoughtText, _ isSame: (Int) throws(StorageError) -> Bool)
        throws(StorageError) -> Int?
    {
        let tag = SIMD16<UInt8>(repeating: sought.tag)
        var first = 0
        while first < codeCount {
            let tags = base.loadUnaligned(fromByteOffset: first, as: SIMD16<UInt8>.self)
            var hits = unsafeBitCast(tags .== tag, to: SIMD16<UInt8>.self).highBits
            while hits != 0 {
                let code = first &+ hits.trailingZeroBitCount
                guard code < codeCount else { return nil }
                if try isSame(code) { return code }
                hits &= hits &- 1
            }
            first &+= 16
        }
        return nil
    }
}
