/// The content of a page of a disk: immutable, and shared by all the states of the disk that have
/// it.
package final class PageContent: Sendable {
    package static let size = 4096
    package static let sectorSize = 512
    package static let zeros = PageContent([UInt8](repeating: 0, count: size))

    package let bytes: [UInt8]
    /// Tells contents apart.
    package let hash: UInt64

    /// Of `size` bytes.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        hash = Self.hash(bytes)
    }

    /// This content with other bytes from `offset` on.
    package func overlaid(_ new: some Collection<UInt8>, at offset: Int) -> PageContent {
        var copy = bytes
        copy.replaceSubrange(offset..<offset + new.count, with: new)
        return PageContent(copy)
    }

    /// Tells any bytes apart, many times faster than `hashValue`.
    package static func hash(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { hash($0) } }

    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var even: UInt64 = 0x9E37_79B9_7F4A_7C15
        var odd: UInt64 = 0xC2B2_AE3D_27D4_EB4F
        for offset in stride(from: 0, to: bytes.count - 15, by: 16) {
            even = mixed(even ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            odd = mixed(odd ^ bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
        }
        for byte in bytes.suffix(bytes.count % 16) { even = mixed(even ^ UInt64(byte) &+ 1) }
        return even ^ (odd << 32 | odd >> 32)
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        let product = value &* 0xFF51_AFD7_ED55_8CCD
        return product ^ product >> 32
    }
}

extension [PageContent] {
    /// The pages of a file's content.
    package init(cutting content: [UInt8]) {
        self = stride(from: 0, to: content.count, by: PageContent.size).map { start in
            let end = Swift.min(start + PageContent.size, content.count)
            let bytes =
                Array<UInt8>(content[start..<end])
                + Array<UInt8>(repeating: 0, count: start + PageContent.size - end)
            let page = PageContent(bytes)
            return page.hash == PageContent.zeros.hash ? .zeros : page
        }
    }

    /// Tells files apart: contents of pages and their number.
    package var hash: UInt64 {
        var sum = UInt64(count)
        for (index, page) in enumerated() {
            let mixed = (page.hash ^ UInt64(index)) &* 0x9E37_79B9_7F4A_7C15
            sum = (sum ^ mixed ^ mixed >> 29) &* 0xBF58_476D_1CE4_E5B9
        }
        return sum
    }
}
