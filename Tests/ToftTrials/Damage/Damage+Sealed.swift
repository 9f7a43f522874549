internal import ToftTestKit

// Damage to the structure, with right checksums.
extension Damage {
    /// A reference to every other extent, to itself, to metas, beyond the end, of wrong lengths, of
    /// the future.
    static func damageReference(
        _ number: Int, _ random: inout Seed, _ image: inout [UInt8], _ corpus: Corpus
    ) {
        let extents = corpus.map.extents
        let references = extents.flatMap(\.references)
        let reference = references[number % references.count].offset
        let kind = number / references.count
        let filePages = UInt64(image.count / 4_096)
        func name(_ page: UInt64) { Image.put(page, &image, reference) }
        func count(_ pages: UInt64) {
            let high = Image.word(image, reference + 32) & ~0xFFFF_FFFF
            Image.put(high | pages & 0xFFFF_FFFF, &image, reference + 32)
        }
        if kind < extents.count {
            let target = extents[kind]
            name(UInt64(target.page))
            count(UInt64(target.pageCount))
            Image.put(Image.word(image, target.offset + 16), &image, reference + 8)
            return
        }
        switch kind - extents.count {
        case 0: name(0)
        case 1: name(1)
        case 2: name(filePages)
        case 3: name(filePages - 1)
        case 4: name(.max)
        case 5: name(.max - 1)
        case 6: name(1 << 52)
        case 7: name(UInt64(Int64.max))
        case 8: name(UInt64(reference / 4_096))
        case 9: count(0)
        case 10: count(2)
        case 11: count(129)
        case 12: count(4_097)
        case 13: count(UInt64(UInt32.max))
        case 14: Image.put(0, &image, reference + 8)
        case 15: Image.put(.max, &image, reference + 8)
        case 16: Image.put(Image.word(image, reference + 8) + 1, &image, reference + 8)
        case 17: Image.put(1, &image, reference + 8)
        case 18: Image.put(.max, &image, reference + 24)
        case 19:
            name(.max)
            count(1)
        case 20:
            name(.max - 100)
            count(128)
        case 21: name(32_257)
        case 22: name(32_258)
        default: Image.put(random.next(), &image, reference)
        }
    }

    /// References in inner nodes.
    static func innerReferences(_ corpus: Corpus) -> [ImageMap.Reference] {
        corpus.map.extents.filter { $0.type == 7 }.flatMap(\.references)
    }

    /// A node that names a page of the version which the next transaction makes: perhaps the one to
    /// which the node itself is then copied.
    static func closeCycle(_ number: Int, _ image: inout [UInt8], _ corpus: Corpus) {
        let references = innerReferences(corpus)
        let reference = references[number % references.count].offset
        let base = corpus.map.meta * 4_096
        let highest = corpus.map.frames.map { Image.word(corpus.image, $0.offset + 40) }.max() ?? 0
        let isClosed = Image.word(image, base + 120) & 1 == 1
        let version = max(Image.word(image, base + 64), highest)
        Image.put(UInt64(number / references.count), &image, reference)
        Image.put(version + (isClosed ? 0 : 1 << 20) + 1, &image, reference + 8)
    }

    /// Keys out of order or twice: entries of ordered leaves, of inner nodes, rows of clusters. Of
    /// a cluster that stores its first key alone, the flag that says so.
    static func damageKeys(_ random: inout Seed, _ image: inout [UInt8], _ corpus: Corpus) {
        let candidates = corpus.map.extents.filter { (7...10).contains($0.type) }
        guard let extent = random.pick(candidates) else { return }
        let base = extent.offset
        let header = base + 32 + 8 * (extent.pageCount - 1)
        if extent.type == 10 && image[header + 6] & 1 == 1 { return image[header + 6] &-= 1 }
        let (first, stride, count): (Int, Int, Int) =
            switch extent.type {
            case 7: (base + 40, 64, Image.short(image, base + 34))
            case 8: (base + 108, 6, Image.short(image, base + 32))
            case 9: (base + 40, 4, Image.short(image, base + 32))
            default: clusterKeys(extent, image)
            }
        guard count > 0 else { return }
        let one = first + random.below(count) * stride
        let two = first + random.below(count) * stride
        guard max(one, two) + stride <= extent.offset + extent.byteCount else { return }
        let bytes = Array(image[one..<one + stride])
        if random.chance(50) {
            image.replaceSubrange(one..<one + stride, with: image[two..<two + stride])
        }
        image.replaceSubrange(two..<two + stride, with: bytes)
    }

    private static func clusterKeys(_ extent: ImageMap.Extent, _ image: [UInt8])
        -> (Int, Int, Int)
    {
        let header = extent.offset + 32 + 8 * (extent.pageCount - 1)
        return (header + 32 + 32 * Image.short(image, header + 4), 8, Image.short(image, header))
    }

    /// Bytes of text that are not text: the second half of a page is mostly heap.
    static func damageText(_ random: inout Seed, _ image: inout [UInt8], _ corpus: Corpus) {
        let candidates = corpus.map.extents.filter { (8...11).contains($0.type) }
        guard let extent = random.pick(candidates) else { return }
        if extent.type == 11 {
            // A long text, and not other long data.
            let start = extent.offset + 32
            guard
                image[start..<start + 4].elementsEqual("long".utf8)
                    || image[start..<start + 4].elementsEqual("text".utf8)
            else { return }
            image[start + random.below(1_000)] = [0xFF, 0x80, 0xC0, 0xF5][random.below(4)]
            return
        }
        for _ in 0..<40 {
            let offset = extent.offset + random.below(extent.byteCount - 4)
            guard (32..<127).contains(image[offset]), (32..<127).contains(image[offset + 1]) else {
                continue
            }
            let bad: [UInt8] =
                [[0xFF], [0xC0, 0x80], [0xED, 0xA0], [0xF5], [0x80]][random.below(5)]
            image.replaceSubrange(offset..<offset + bad.count, with: bad)
            return
        }
    }

    /// Lies of the root and of the catalog: heights, counts, kinds, types of columns.
    static func damageRoot(_ random: inout Seed, _ image: inout [UInt8], _ corpus: Corpus) {
        guard let root = corpus.map.extents.last else { return }
        let lies: [UInt64] = [
            0, 1, 2, 3, 64, 65, 255, 256, 0xFFFF, 1 << 31, 1 << 32, 1 << 62, 1 << 63, .max,
            .max - 1, UInt64(image.count / 4_096), UInt64(image.count),
        ]
        if random.chance(40) {
            let offset = root.offset + 32 + random.below(280 - 32)
            if random.chance(50) {
                image[offset] = UInt8(truncatingIfNeeded: random.pick(lies) ?? 0)
            } else {
                Image.put(random.pick(lies) ?? 0, &image, offset & ~7)
            }
            return
        }
        // A tree's root in a leaf of the catalog: the references that lead to trees.
        let leaves = corpus.map.extents.filter { $0.type == 8 && !$0.references.isEmpty }
        guard let leaf = random.pick(leaves), let reference = random.pick(leaf.references) else {
            return
        }
        let start = reference.offset - 24
        guard start > leaf.offset, start + 64 + 48 < leaf.offset + 4_096 else { return }
        for _ in 0..<1 + random.below(2) {
            switch random.below(5) {
            case 0: image[start] = UInt8(random.below(5))
            case 1: image[start + 1] = UInt8(truncatingIfNeeded: random.pick(lies) ?? 0)
            case 2: image[start + 2 + random.below(6)] = UInt8(random.below(256))
            case 3:
                Image.put(random.pick(lies) ?? 0, &image, start + [8, 16][random.below(2)])
            default: image[start + 64 + random.below(48)] = UInt8(random.below(256))
            }
        }
    }

    /// A chain of inner nodes with one child each above a tree's topmost node, or one that names
    /// itself: as high as a root can say.
    static func buildTower(
        _ number: Int, _ random: inout Seed, _ image: inout [UInt8], _ corpus: Corpus
    ) {
        let leaves = corpus.map.extents.filter { $0.type == 8 && !$0.references.isEmpty }
        guard !leaves.isEmpty else { return }
        let leaf = leaves[number % leaves.count]
        let reference = leaf.references[number / leaves.count % leaf.references.count].offset
        let start = reference - 24
        guard start > leaf.offset, image[start] >= 1, image[start] <= 3 else { return }
        let bottom = Int(image[start + 1])
        let height = [bottom + 1, 63, 64, 65, 200, 255][random.below(6)]
        guard height > bottom else { return }
        let birth = Image.word(image, reference + 8)
        var child = Array(image[reference..<reference + 40])
        let rows = Image.word(image, start + 8)
        let namesItself = random.chance(30)
        for level in bottom + 1...height {
            let page = image.count / 4_096
            var node = [UInt8](repeating: 0, count: 4_096)
            node[0] = 7
            node[4] = 1
            Image.put(UInt64(page), &node, 8)
            Image.put(birth, &node, 16)
            node[28] = 32
            node[32] = UInt8(level)
            node[34] = 1
            node[37] = 16
            if namesItself, level == bottom + 1 { Image.put(UInt64(page), &child, 0) }
            node.replaceSubrange(40..<80, with: child)
            Image.put(rows, &node, 80)
            image += node
            Image.put(UInt64(page), &child, 0)
            Image.put(birth, &child, 8)
            Image.put(Image.checksum(image, page * 4_096, 4_096), &child, 16)
            Image.put(1, &child, 32)
        }
        image.replaceSubrange(reference..<reference + 40, with: child)
        image[start + 1] = UInt8(height)
        let pages = UInt64(image.count / 4_096)
        Image.put(pages, &image, corpus.map.meta * 4_096 + 112)
    }

    /// Lies in the log's frames: in their headers, in the effects of their records.
    static func damageFrames(_ random: inout Seed, _ image: inout [UInt8], _ corpus: Corpus) {
        guard let frame = random.pick(corpus.map.frames) else { return }
        for _ in 0..<1 + random.below(3) {
            switch random.below(4) {
            case 0:
                putLie(&random, &image, frame.offset + 8 * random.below(12))
            case 1 where frame.length > 96 + 56:
                putLie(&random, &image, frame.offset + 96 + 8 * random.below(6))
            default:
                let count = frame.length - 96 - 48
                guard count > 8 else { return }
                let offset = frame.offset + 96 + 48 + random.below(count)
                if random.chance(20), offset + 10 < frame.offset + frame.length {
                    let huge: [UInt8] = [
                        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1,
                    ]
                    image.replaceSubrange(offset..<offset + 10, with: huge)
                } else {
                    image[offset] = UInt8(random.below(256))
                }
            }
        }
    }

    private static func putLie(_ random: inout Seed, _ image: inout [UInt8], _ offset: Int) {
        let old = Image.word(image, offset)
        let lies: [UInt64] = [0, 1, .max, 1 << 63, old &+ 1, old &- 1, old &+ 512, 1 << 40]
        Image.put(random.pick(lies) ?? 0, &image, offset)
    }

    /// Lies of free space: bitmaps that call used pages free, runs and batches that hold live
    /// pages, leave the file or overlap, free pages that no list has.
    static func damageSpace(_ random: inout Seed, _ image: inout [UInt8], _ corpus: Corpus) {
        let extents = corpus.map.extents
        guard let root = extents.last else { return }
        let live = UInt64(random.pick(extents)?.page ?? 2)
        switch random.below(4) {
        case 0:
            guard let bitmap = random.pick(extents.filter { $0.type == 4 }) else { return }
            for _ in 0..<1 + random.below(4) {
                Image.put(
                    random.chance(50) ? 0 : random.next(), &image,
                    bitmap.offset + 64 + 8 * random.below(random.chance(80) ? 8 : 504))
            }
        case 1:
            guard let directory = extents.first(where: { $0.type == 3 }) else { return }
            let lies: [UInt64] = [0, 1, 32_256, 32_257, UInt64(UInt32.max)]
            Image.put(random.pick(lies) ?? 0, &image, directory.offset + 32 + 40)
        case 2:
            let batches = extents.filter { $0.type == 5 || $0.type == 6 }
            guard let batch = random.pick(batches) else { return }
            let offset = batch.offset + 32 + 8 * random.below(40)
            putLie(&random, &image, offset)
            if random.chance(50) { Image.put(live, &image, offset) }
        default:
            let count = Image.half(image, root.offset + 280)
            guard count > 0 else { return }
            let run = root.offset + 288 + 32 * random.below(min(count, 100))
            let lies: [UInt64] = [
                live, 0, 1, .max, .max - 3, UInt64(image.count / 4_096), 1 << 40,
            ]
            switch random.below(3) {
            case 0: Image.put(random.pick(lies) ?? 0, &image, run)
            case 1:
                Image.put(random.pick([0, 2, 5_000, 1 << 31, 1 << 32, .max]) ?? 0, &image, run + 8)
            default:
                Image.put(live, &image, run)
                Image.put(0, &image, run + 16)
                Image.put(1, &image, run + 24)
            }
        }
    }
}
