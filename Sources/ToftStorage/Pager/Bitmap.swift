/// The bitmap of one region while a writer has it in memory.
///
/// Invariant: below `lowest[n]` there is no run of `n + 1` free pages (for small n), so that searches do not start anew each time.
final class Bitmap {
    /// Where the bitmap lies in the file; nil while it is new.
    var ref: Ref?
    /// Changed since it was read, so that it must be written to a new place.
    var isDirty = false
    /// Whether `ref` is already the new place.
    var isRelocated = false
    private(set) var freePages: Int
    private var words: [UInt64]
    private var lowest: [Int] = Array(repeating: 0, count: 16)

    /// A region all of whose pages are free.
    init() {
        words = Array(repeating: 0, count: BitmapLayout.words)
        freePages = Page.perRegion
        isDirty = true
    }

    init(ref: Ref, page: UnsafeRawPointer) {
        self.ref = ref
        words = (0..<BitmapLayout.words).map { index in
            UInt64(littleEndian: page.loadUnaligned(fromByteOffset: BitmapLayout.bits + index * 8, as: UInt64.self))
        }
        freePages = words.reduce(0) { $0 + (~$1).nonzeroBitCount }
    }

    func write(to page: UnsafeMutableRawPointer) {
        for (index, word) in words.enumerated() {
            page.storeBytes(of: word.littleEndian, toByteOffset: BitmapLayout.bits + index * 8, as: UInt64.self)
        }
    }

    func isUsed(_ index: Int) -> Bool { words[index / 64] & (1 << UInt64(index % 64)) != 0 }

    /// Takes the lowest run of `count` free pages.
    func take(_ count: Int) -> Int? {
        guard freePages >= count else { return nil }
        let slot = min(count, lowest.count) - 1
        guard let start = find(count, from: lowest[slot]) else {
            if count <= lowest.count { lowest[slot] = Page.perRegion }
            return nil
        }
        if count <= lowest.count { lowest[slot] = start + count }
        mark(start, count: count, used: true)
        return start
    }

    /// Gives a run back. False if some page of it was free already.
    func release(_ start: Int, count: Int) -> Bool {
        for index in start..<(start + count) where !isUsed(index) { return false }
        mark(start, count: count, used: false)
        for slot in lowest.indices { lowest[slot] = min(lowest[slot], max(0, start - slot)) }
        return true
    }

    private func find(_ count: Int, from start: Int) -> Int? {
        var index = start
        var run = 0
        while index < Page.perRegion {
            let word = words[index / 64] >> UInt64(index % 64)
            let left = 64 - index % 64
            if word == 0 {
                run += left
                index += left
            } else if word & 1 == 0 {
                run += word.trailingZeroBitCount
                index += word.trailingZeroBitCount
            } else if run >= count {
                break
            } else {
                run = 0
                index += min(left, (~word).trailingZeroBitCount)
            }
            if run >= count { break }
        }
        return run >= count ? index - run : nil
    }

    private func mark(_ start: Int, count: Int, used: Bool) {
        for index in start..<(start + count) {
            let bit: UInt64 = 1 << UInt64(index % 64)
            if used { words[index / 64] |= bit } else { words[index / 64] &= ~bit }
        }
        freePages += used ? -count : count
        isDirty = true
    }
}
