internal import ToftTestKit

/// The ways to damage a corpus. A case is a class and a number: the same number makes the same
/// damage in the same image.
enum Damage: String, CaseIterable {
    // Raw: checksums are left as they are, so all that matters has to be noticed.
    case bit, word, length, extended, page, meta, log
    // Re-sealed: all checksums are right again.
    case sealedWord, sealedField, sealedBytes, sealedReference, sealedKeys, sealedText, sealedRoot,
        sealedTower, sealedCycle, sealedMeta, sealedLog, sealedSpace

    var isSealed: Bool { rawValue.hasPrefix("sealed") }

    /// Share of the cases of a run.
    var weight: Int {
        switch self {
        case .bit: 25
        case .word: 12
        case .length: 3
        case .extended: 1
        case .page: 6
        case .meta: 2
        case .log: 5
        case .sealedWord: 10
        case .sealedField: 12
        case .sealedBytes: 8
        case .sealedReference: 6
        case .sealedKeys: 3
        case .sealedText: 1
        case .sealedRoot: 4
        case .sealedTower: 1
        case .sealedCycle: 4
        case .sealedMeta: 2
        case .sealedLog: 4
        case .sealedSpace: 3
        }
    }

    /// The greatest number of different cases.
    func count(in corpus: Corpus) -> Int {
        // Nobody without the key makes the codes of an encrypted file right.
        if isSealed, corpus.key != nil { return 0 }
        let pages = corpus.pages.count
        let extents = corpus.map.extents.count
        return switch self {
        case .bit: pages * 4_096 * 8
        case .word: pages * 512 * Self.wordCount
        case .length: corpus.image.count
        case .extended: 4_000
        case .page: pages * (pages + 4 + corpus.history.count)
        case .meta: 4_000
        case .log: corpus.map.frames.isEmpty ? 0 : 200_000
        case .sealedWord: extents * 512 * Self.wordCount
        case .sealedField: extents * 2_048 * Self.fieldCount
        case .sealedBytes: 1 << 40
        case .sealedReference:
            corpus.map.extents.reduce(0) { $0 + $1.references.count } * (extents + 24)
        case .sealedKeys: 1 << 40
        case .sealedText: 1 << 40
        case .sealedRoot: 1 << 40
        case .sealedTower: 2_000
        case .sealedCycle: Self.innerReferences(corpus).count * (corpus.image.count / 4_096)
        case .sealedMeta: 512 * Self.wordCount
        case .sealedLog: corpus.map.frames.isEmpty ? 0 : 1 << 40
        case .sealedSpace: 1 << 40
        }
    }

    static let wordCount = 12
    static let fieldCount = 8

    /// The number of commits at the end of the log that a raw damage removes without a trace, as
    /// the page on commits describes: those from the first damaged frame on, unless the header of
    /// an intact frame proves that the log was durable beyond it.
    static func lostCommits(_ image: [UInt8], of corpus: Corpus) -> Int {
        let frames = corpus.map.frames
        func isIntact(_ frame: ImageMap.Frame, _ count: Int) -> Bool {
            let range = frame.offset..<frame.offset + count
            return range.upperBound <= image.count && image[range] == corpus.image[range]
        }
        guard let first = frames.firstIndex(where: { !isIntact($0, $0.length) }) else { return 0 }
        let end = Image.word(corpus.image, frames[first].offset + 24)
        let isProven = frames.contains {
            isIntact($0, 96) && Image.word(corpus.image, $0.offset + 64) > end
        }
        if isProven { return 0 }
        return frames[first...].count { Image.half(corpus.image, $0.offset + 4) == 1 }
    }

    /// True if a re-sealed damage breaks a rule that some question has to notice: the order of
    /// keys, or invalid text. False if a replay of the log may have made the page again.
    ///
    /// - Parameter image: the damaged image, not yet sealed.
    func hasToBeNoticed(_ image: [UInt8], of corpus: Corpus) -> Bool {
        guard self == .sealedKeys || self == .sealedText, corpus.map.frames.isEmpty else {
            return false
        }
        return corpus.map.extents.contains { extent in
            let range = extent.offset..<extent.offset + extent.byteCount
            guard image[range] != corpus.image[range] else { return false }
            if self == .sealedText { return extent.type == 11 }
            // The elements of a list have no keys.
            return extent.type == 7
                ? Image.short(corpus.image, extent.offset + 40 + 64 + 58) > 0
                : extent.type == 8 || extent.type == 10
        }
    }

    // MARK: Making

    /// Damages an image of the corpus, and leaves its checksums as they are.
    func apply(_ number: Int, to image: inout [UInt8], of corpus: Corpus) {
        var random = Seed(UInt64(bitPattern: Int64(number)) &* 0x9E37_79B9 &+ 77)
        switch self {
        case .bit:
            let page = corpus.pages[number / 32_768]
            image[page * 4_096 + number % 32_768 / 8] ^= 1 << UInt8(number % 8)
        case .word:
            let offset =
                corpus.pages[number / Self.wordCount / 512] * 4_096
                + number / Self.wordCount % 512 * 8
            Self.putWord(number % Self.wordCount, offset, &image, corpus)
        case .length: image.removeLast(image.count - number)
        case .extended:
            let count = 1 + number / 4 * 7
            image += number % 2 == 0 ? [UInt8](repeating: 0, count: count) : random.bytes(count)
        case .page: Self.damagePage(number, &random, &image, corpus)
        case .meta: Self.damageMeta(number, &random, &image, corpus)
        case .log: Self.damageLog(number, &random, &image, corpus)
        case .sealedWord:
            let extent = corpus.map.extents[number / Self.wordCount / 512]
            let page = random.below(extent.pageCount)
            let offset = extent.offset + page * 4_096 + number / Self.wordCount % 512 * 8
            Self.putWord(number % Self.wordCount, offset, &image, corpus)
        case .sealedField:
            let extent = corpus.map.extents[number / Self.fieldCount / 2_048]
            let page = random.below(extent.pageCount)
            let offset = extent.offset + page * 4_096 + number / Self.fieldCount % 2_048 * 2
            Self.putField(number % Self.fieldCount, offset, &image, &random)
        case .sealedBytes:
            let extent = corpus.map.extents[random.below(corpus.map.extents.count)]
            for _ in 0..<1 + random.below(6) {
                // Headers are at the beginning.
                let limit = random.chance(50) ? min(300, extent.byteCount) : extent.byteCount
                let offset = extent.offset + random.below(limit)
                image[offset] =
                    random.chance(50)
                    ? UInt8(random.below(256)) : image[offset] ^ 1 << UInt8(random.below(8))
            }
        case .sealedReference: Self.damageReference(number, &random, &image, corpus)
        case .sealedKeys: Self.damageKeys(&random, &image, corpus)
        case .sealedText: Self.damageText(&random, &image, corpus)
        case .sealedRoot: Self.damageRoot(&random, &image, corpus)
        case .sealedTower: Self.buildTower(number, &random, &image, corpus)
        case .sealedCycle: Self.closeCycle(number, &image, corpus)
        case .sealedMeta:
            Self.putWord(
                number % Self.wordCount,
                corpus.map.meta * 4_096 + number / Self.wordCount * 8, &image, corpus)
        case .sealedLog: Self.damageFrames(&random, &image, corpus)
        case .sealedSpace: Self.damageSpace(&random, &image, corpus)
        }
    }

    private static func putWord(
        _ kind: Int, _ offset: Int, _ image: inout [UInt8], _ corpus: Corpus
    ) {
        let old = Image.word(image, offset)
        let new: UInt64 =
            switch kind {
            case 0: 0
            case 1: 1
            case 2: .max
            case 3: UInt64(Int64.max)
            case 4: 1 << 63
            case 5: old &+ 1
            case 6: old &- 1
            case 7: UInt64(UInt32.max)
            case 8: UInt64(image.count / 4_096)
            case 9: old.byteSwapped
            case 10: Image.word(image, (offset + 4_096) % (image.count - 8))
            default: ~old
            }
        Image.put(new, &image, offset)
    }

    private static func putField(
        _ kind: Int, _ offset: Int, _ image: inout [UInt8], _ random: inout Seed
    ) {
        let old = Image.short(image, offset)
        let new =
            switch kind {
            case 0: 0
            case 1: 0xFFFF
            case 2: old + 1
            case 3: old - 1
            case 4: 0x7FFF
            case 5: 0x8000 | old
            case 6: 4_096
            default: random.below(4_200)
            }
        image[offset] = UInt8(truncatingIfNeeded: new)
        image[offset + 1] = UInt8(truncatingIfNeeded: new >> 8)
    }

    private static func copyPage(
        from source: [UInt8], _ page: Int, to target: Int, _ image: inout [UInt8]
    ) {
        guard (page + 1) * 4_096 <= source.count else { return }
        image.replaceSubrange(
            target * 4_096..<(target + 1) * 4_096,
            with: source[page * 4_096..<(page + 1) * 4_096])
    }

    /// Swapped, copied over another, zeros, ones, garbage, an older content of the same page.
    private static func damagePage(
        _ number: Int, _ random: inout Seed, _ image: inout [UInt8], _ corpus: Corpus
    ) {
        let pages = corpus.pages
        let target = pages[number % pages.count]
        let kind = number / pages.count
        let range = target * 4_096..<(target + 1) * 4_096
        if kind < pages.count {
            let source = pages[kind]
            copyPage(from: corpus.image, source, to: target, &image)
            if random.chance(50) { copyPage(from: corpus.image, target, to: source, &image) }
        } else if kind < pages.count + 4 {
            let content: [UInt8] =
                switch kind - pages.count {
                case 0: [UInt8](repeating: 0, count: 4_096)
                case 1: [UInt8](repeating: 0xFF, count: 4_096)
                case 2: random.bytes(4_096)
                default:
                    [UInt8](repeating: 0, count: 512) + corpus.image[range].dropFirst(512)
                }
            image.replaceSubrange(range, with: content)
        } else {
            copyPage(
                from: corpus.history[kind - pages.count - 4], target, to: target, &image)
        }
    }

    /// Metas of another database, of another time, in the wrong slots, or missing.
    private static func damageMeta(
        _ number: Int, _ random: inout Seed, _ image: inout [UInt8], _ corpus: Corpus
    ) {
        for slot in [0, 1] where number >> slot & 1 == 0 || number % 4 == 3 {
            switch random.below(5) {
            case 0: copyPage(from: corpus.other, slot, to: slot, &image)
            case 1: copyPage(from: corpus.other, 1 - slot, to: slot, &image)
            case 2:
                let old = corpus.history[random.below(corpus.history.count)]
                copyPage(from: old, slot, to: slot, &image)
            case 3: copyPage(from: corpus.image, 1 - slot, to: slot, &image)
            default:
                let range = slot * 4_096..<(slot + 1) * 4_096
                image.replaceSubrange(range, with: random.bytes(4_096))
            }
        }
    }

    /// Sectors of the log lost, garbled, exchanged or from an earlier time.
    private static func damageLog(
        _ number: Int, _ random: inout Seed, _ image: inout [UInt8], _ corpus: Corpus
    ) {
        let frames = corpus.map.frames
        for _ in 0..<1 + number % 3 {
            let frame = frames[random.below(frames.count)]
            switch random.below(5) {
            case 0: image[frame.offset + random.below(frame.length)] ^= 1 << UInt8(random.below(8))
            case 1:
                let sector = frame.offset + random.below((frame.length + 511) / 512) * 512
                image.replaceSubrange(
                    sector..<sector + 512, with: [UInt8](repeating: 0, count: 512))
            case 2:
                let sector = frame.offset + random.below((frame.length + 511) / 512) * 512
                image.replaceSubrange(sector..<sector + 512, with: random.bytes(512))
            case 3:
                let other = frames[random.below(frames.count)]
                let part = corpus.image[other.offset..<other.offset + 512]
                image.replaceSubrange(frame.offset..<frame.offset + 512, with: part)
            default:
                // All that was written behind a moment is lost.
                for later in frames where later.offset >= frame.offset {
                    image.replaceSubrange(
                        later.offset..<later.offset + later.length,
                        with: [UInt8](repeating: 0, count: later.length))
                }
            }
        }
    }
}
