internal import ToftStorage

/// The structure of a database's image: its extents, the references between them and the frames of
/// its log, found by an independent reading of the format page. After any change of its bytes
/// `seal` makes all checksums right again, so that only the checks of the structure are left.
///
/// For files of one region that are sound when the map is made.
package struct ImageMap: Sendable {
    package struct Extent: Sendable {
        package var page: Int
        package var pageCount: Int
        package var type: UInt8
        /// References within it.
        package var references: [Reference] = []
        package var offset: Int { page * 4_096 }
        package var byteCount: Int { pageCount * 4_096 }
    }

    package struct Reference: Sendable {
        /// The offset of its 40 bytes in the file.
        package var offset: Int
        /// The page that it names.
        package var page: Int
    }

    /// A frame of the log: the offset of its header, and its bytes with header and payload.
    package struct Frame: Sendable {
        package var offset: Int
        package var length: Int
    }

    /// Children before their parents; the root is the last.
    package private(set) var extents: [Extent] = []
    /// The frames behind the newest meta, in their order.
    package private(set) var frames: [Frame] = []
    /// The page of the newest meta.
    package private(set) var meta = 0
    /// Whether both pages hold that meta.
    package private(set) var isClosedTwice = false
    /// Pages of the log's segments.
    package private(set) var logPages: [Int] = []
    private var seen: Set<Int> = []

    /// - Parameter isEncrypted: only the metas and the frames of the log can be found then.
    package init(of image: [UInt8], isEncrypted: Bool = false) throws {
        let metas = [0, 1].filter { Image.word(image, $0 * 4_096) == 0x0A1A_0A0D_5446_4F54 }
        guard
            let newest = metas.max(by: {
                Image.word(image, $0 * 4_096 + 64) < Image.word(image, $1 * 4_096 + 64)
            })
        else { throw Failure("no meta") }
        meta = newest
        isClosedTwice = image[0..<4_096] == image[4_096..<8_192]
        if !isEncrypted { try visitRoot(image, Int(Image.word(image, newest * 4_096 + 72))) }
        findFrames(image)
    }

    /// Every page that something reaches: metas, extents, the log.
    package var usedPages: [Int] {
        var pages = Set([0, 1] + logPages)
        for extent in extents { pages.formUnion(extent.page..<extent.page + extent.pageCount) }
        return pages.sorted()
    }

    // MARK: Sealing

    /// Makes all checksums right: of pages in their extents, of extents in the references to them,
    /// of the root in the meta, of the metas. A reference that was changed gets the checksum of its
    /// new target.
    package func seal(_ image: inout [UInt8], log: Bool = false) {
        for extent in extents where extent.offset + extent.byteCount <= image.count {
            for reference in extent.references { seal(reference.offset, &image) }
            guard extent.type != 11 else { continue }
            for page in 1..<max(1, extent.pageCount) {
                let sum = Image.checksum(image, extent.offset + page * 4_096, 4_096)
                Image.put(sum, &image, extent.offset + 32 + (page - 1) * 8)
            }
        }
        // The last close writes its meta to both pages.
        if isClosedTwice {
            image.replaceSubrange(
                (1 - meta) * 4_096..<(2 - meta) * 4_096,
                with: Array(image[meta * 4_096..<(meta + 1) * 4_096]))
        }
        for slot in [0, 1] where (slot + 1) * 4_096 <= image.count {
            if slot == meta || isClosedTwice { seal(slot * 4_096 + 72, &image) }
            Image.put(
                Image.checksum(image, slot * 4_096, 4_088), &image, slot * 4_096 + 4_088)
        }
        if log { sealLog(&image) }
    }

    private func seal(_ reference: Int, _ image: inout [UInt8]) {
        let page = Image.word(image, reference)
        let count = Image.half(image, reference + 32)
        guard page < 1 << 30, count > 0, count <= 4_097,
            (Int(page) + 1) * 4_096 <= image.count
        else { return }
        let isLong = image[Int(page) * 4_096] == 11
        let length = isLong ? min(count * 4_096, image.count - Int(page) * 4_096) : 4_096
        Image.put(
            Image.checksum(image, Int(page) * 4_096, length), &image, reference + 16)
    }

    /// Makes the chain of frames right, from the one behind the meta on.
    package func sealLog(_ image: inout [UInt8]) {
        var hash = Image.word(image, meta * 4_096 + 248)
        for frame in frames where frame.offset + frame.length <= image.count {
            Image.put(hash, &image, frame.offset + 56)
            let sum = Image.checksum(image, frame.offset + 96, frame.length - 96)
            Image.put(sum, &image, frame.offset + 80)
            hash = Image.checksum(image, frame.offset, 88)
            Image.put(hash, &image, frame.offset + 88)
        }
    }

    // MARK: Finding the extents

    private mutating func visitRoot(_ image: [UInt8], _ page: Int) throws {
        let base = page * 4_096
        var root = Extent(page: page, pageCount: 1, type: 2)
        try visitTree(image, rootAt: base + 48, isCatalog: true, &root)
        try visit(image, base + 112, &root) { map, directory throws in
            for entry in stride(from: 0, to: map.payload(image, directory), by: 48) {
                try map.visit(image, map.payloadStart(directory) + entry, &directory) { _, _ in }
            }
        }
        if Image.word(image, base + 152) != 0 {
            try visit(image, base + 152, &root) { map, list throws in
                for entry in stride(from: 0, to: map.payload(image, list), by: 64) {
                    try map.visit(image, map.payloadStart(list) + entry, &list) { _, _ in }
                }
            }
        }
        extents.append(root)
    }

    private func payloadStart(_ extent: Extent) -> Int {
        extent.offset + 32 + 8 * (extent.pageCount - 1)
    }

    private func payload(_ image: [UInt8], _ extent: Extent) -> Int {
        Image.half(image, extent.offset + 24)
    }

    private mutating func visit(
        _ image: [UInt8], _ reference: Int, _ parent: inout Extent,
        _ body: (inout ImageMap, inout Extent) throws -> Void
    ) throws {
        let page = Int(Image.word(image, reference))
        let count = Image.half(image, reference + 32)
        guard page > 1, count > 0, (page + count) * 4_096 <= image.count else {
            throw Failure("a reference at \(reference) leaves the image")
        }
        parent.references.append(Reference(offset: reference, page: page))
        guard seen.insert(page).inserted else { return }
        var extent = Extent(page: page, pageCount: count, type: image[page * 4_096])
        try body(&self, &extent)
        extents.append(extent)
    }

    private mutating func visitTree(
        _ image: [UInt8], rootAt offset: Int, isCatalog: Bool, _ parent: inout Extent
    ) throws {
        guard Image.word(image, offset + 24) != 0 else { return }
        try visitNode(image, offset + 24, Int(image[offset + 1]), isCatalog, &parent)
    }

    private mutating func visitNode(
        _ image: [UInt8], _ reference: Int, _ height: Int, _ isCatalog: Bool, _ parent: inout Extent
    ) throws {
        try visit(image, reference, &parent) { map, extent throws in
            switch extent.type {
            case 7:
                for index in 0..<Image.short(image, extent.offset + 34) {
                    try map.visitNode(
                        image, extent.offset + 40 + index * 64, height - 1, isCatalog, &extent)
                }
            case 8: try map.visitOrderedLeaf(image, isCatalog, &extent)
            case 9: try map.visitElements(image, extent.offset + 32, &extent)
            case 10: try map.visitCluster(image, &extent)
            default: throw Failure("an extent of type \(extent.type) in a tree")
            }
        }
    }

    private mutating func visitOrderedLeaf(
        _ image: [UInt8], _ isCatalog: Bool, _ leaf: inout Extent
    ) throws {
        for index in 0..<Image.short(image, leaf.offset + 32) {
            let cell = Image.short(image, leaf.offset + 108 + index * 6 + 4)
            let heap = leaf.offset + 4_096 - cell & 0xFFF
            let isSpelledOut = cell >> 12 == 15
            let form = Image.half(
                image, isSpelledOut ? heap : leaf.offset + 48 + (cell >> 12) * 4)
            let end = max(0, form >> 20 - 1)
            let tail = max(0, form & 0x3FF - end - 4) + end
            let value = heap + (isSpelledOut ? 4 : 0) + tail
            if form >> 10 & 0x3FF == 0x3FF {
                try visit(image, value, &leaf) { _, _ in }
            } else if isCatalog {
                try visitTree(image, rootAt: value, isCatalog: false, &leaf)
            }
        }
    }

    private mutating func visitElements(_ image: [UInt8], _ block: Int, _ parent: inout Extent)
        throws
    {
        guard image[block] == 6, image[block + 1] & 4 == 0 else { return }  // not coded
        for index in 0..<Image.short(image, block + 2) {
            let slot = block + 8 + index * 4
            guard Image.short(image, slot + 2) == 0x8028 else { continue }
            try visit(image, block + Image.short(image, slot), &parent) { _, _ in }
        }
    }

    private mutating func visitCluster(_ image: [UInt8], _ cluster: inout Extent) throws {
        let header = cluster.offset + 32 + 8 * (cluster.pageCount - 1)
        let rows = Image.short(image, header)
        let capacity = Image.short(image, header + 2)
        for column in 0..<Image.short(image, header + 4) {
            let entry = header + 32 + column * 32
            let type = image[entry + 4]
            // A coded column has no long values.
            guard type == 6 && image[entry + 5] == 0 || type == 7 else { continue }
            let nulls = image[entry + 6] & 1 != 0 ? (capacity + 63) / 64 * 8 : 0
            let cells = cluster.offset + Image.half(image, entry + 8) + nulls
            for row in 0..<rows {
                let cell = Image.half(image, cells + row * 4)
                let place = cluster.offset + cell & 0x7_FFFF
                let isElsewhere = cell >> 31 == 1
                if type == 6, isElsewhere { try visit(image, place, &cluster) { _, _ in } }
                if type == 7, !isElsewhere, cell != 0 {
                    try visitElements(image, place, &cluster)
                }
            }
        }
    }

    private mutating func findFrames(_ image: [UInt8]) {
        let base = meta * 4_096
        let salt = Image.word(image, base + 144)
        var found: [(sequence: UInt64, frame: Frame)] = []
        for index in 0..<Image.half(image, base + 176) {
            let first = Int(Image.word(image, base + 312 + index * 24))
            let count = Int(Image.word(image, base + 312 + index * 24 + 8))
            logPages += Array(first..<first + count)
            for offset in stride(from: first * 4_096, to: (first + count) * 4_096, by: 512)
            where salt != 0 && Image.half(image, offset) == 0x474F_4C54
                && Image.word(image, offset + 16) == salt
                && Image.word(image, offset + 24) >= Image.word(image, base + 160)
            {
                found.append(
                    (
                        Image.word(image, offset + 32),
                        Frame(offset: offset, length: Int(Image.word(image, offset + 8)))
                    ))
            }
        }
        frames = found.sorted { $0.sequence < $1.sequence }.map(\.frame)
    }
}

/// Little-endian numbers in the bytes of an image.
package enum Image {
    package static func word(_ image: [UInt8], _ offset: Int) -> UInt64 {
        image.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    }

    package static func half(_ image: [UInt8], _ offset: Int) -> Int {
        image.withUnsafeBytes {
            Int($0.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
    }

    package static func short(_ image: [UInt8], _ offset: Int) -> Int {
        image.withUnsafeBytes {
            Int($0.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
        }
    }

    package static func put(_ value: UInt64, _ image: inout [UInt8], _ offset: Int) {
        image.withUnsafeMutableBytes {
            $0.storeBytes(of: value, toByteOffset: offset, as: UInt64.self)
        }
    }

    package static func checksum(_ image: [UInt8], _ offset: Int, _ count: Int) -> UInt64 {
        image.withUnsafeBytes { bytes in
            bytes.baseAddress.map { Checksum.of($0 + offset, count: count) } ?? 0
        }
    }
}
