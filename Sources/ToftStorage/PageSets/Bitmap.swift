/// The bitmap of one region while a writer has it in memory.
final class Bitmap {
    /// Changed since it was read, so that it must be written to a new page.
    var isDirty = false
    /// Whether it has the new page already.
    var isRelocated = false
    @exclusivity(unchecked) private(set) var freePages: Int  // these change with every page
    @exclusivity(unchecked) private var words: [UInt64]
    /// Nil until a run is requested.
    @exclusivity(unchecked) private var runs: RunTree?

    /// A region all of whose pages are free.
    init() {
        words = Array(repeating: 0, count: BitmapLayout.words)
        freePages = Page.perRegion
        isDirty = true
    }

    init(page: UnsafeRawPointer) {
        var free = 0
        words = Array(unsafeUninitializedCapacity: BitmapLayout.words) { words, count in
            for index in 0..<BitmapLayout.words {
                let word = UInt64(
                    littleEndian: page.loadUnaligned(
                        fromByteOffset: BitmapLayout.bits &+ index &* 8, as: UInt64.self))
                words.initializeElement(at: index, to: word)
                free &+= (~word).nonzeroBitCount
            }
            count = BitmapLayout.words
        }
        freePages = free
    }

    func write(to page: UnsafeMutableRawPointer) {
        words.withUnsafeBufferPointer { words in
            for index in words.indices {
                page.storeBytes(
                    of: words[index].littleEndian, toByteOffset: BitmapLayout.bits &+ index &* 8,
                    as: UInt64.self)
            }
        }
    }

    /// Pages 64 * index and the 63 behind it, a bit each that says that the page is in use.
    func word(_ index: Int) -> UInt64 { words[index] }

    func isUsed(_ index: Int) -> Bool { words[index / 64] & (1 << UInt64(index % 64)) != 0 }

    /// Takes a run. False if some page of it is in use.
    func take(_ start: Int, count: Int) -> Bool {
        for index in start..<(start + count) where isUsed(index) { return false }
        mark(start, count: count, used: true)
        return true
    }

    /// An upper bound of the pages of the longest run, exact once a run was requested.
    var longestRun: Int { runs?.longest ?? freePages }

    /// The length of the longest fragment.
    var longestFragment: Int { runs?.longestFragment ?? freePages }

    /// The lowest run of `count` free pages that ends at `limit` or before. O(log pages).
    func run(of count: Int, below limit: Int) -> Int? {
        sumUp()
        guard let start = runs?.run(of: count, in: words), start + count <= limit else {
            return nil
        }
        return start
    }

    /// The lowest run of at least `count` free pages that is a fragment: shorter than
    /// `PageRuns.fragmentPages`. `count` is. O(log pages).
    func fragment(of count: Int, below limit: Int) -> Int? {
        sumUp()
        guard let start = runs?.fragment(of: count, in: words), start + count <= limit else {
            return nil
        }
        return start
    }

    private func sumUp() {
        if runs == nil { runs = RunTree(words) }
    }

    /// All free pages before `limit`. O(pages / 64 + runs).
    func freeRuns(below limit: Int) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var from = 0
        while let found = nextRun(from: from, below: limit) {
            runs.append(found)
            from = found.upperBound
        }
        return runs
    }

    /// The pages of a range that are in use.
    func usedRuns(in range: Range<Int>) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var from = range.lowerBound
        while from < range.upperBound {
            let free = nextRun(from: from, below: range.upperBound)
            let end = free?.lowerBound ?? range.upperBound
            if end > from { runs.append(from..<end) }
            from = free?.upperBound ?? range.upperBound
        }
        return runs
    }

    /// Behind the last page that is in use.
    var usedEnd: Int {
        guard let index = words.lastIndex(where: { $0 != 0 }) else { return 0 }
        return (index + 1) * 64 - words[index].leadingZeroBitCount
    }

    /// Gives a run back. False if some page of it was free already.
    func release(_ start: Int, count: Int) -> Bool {
        for index in start..<(start + count) where !isUsed(index) { return false }
        mark(start, count: count, used: false)
        return true
    }

    /// The next free pages in a row.
    private func nextRun(from start: Int, below limit: Int) -> Range<Int>? {
        var index = start
        while index < limit {
            let word = words[index / 64] >> UInt64(index % 64)
            if word & 1 == 0 { break }
            index += min(64 - index % 64, (~word).trailingZeroBitCount)
        }
        guard index < limit else { return nil }
        var end = index
        while end < limit {
            let word = words[end / 64] >> UInt64(end % 64)
            if word & 1 != 0 { break }
            end += min(64 - end % 64, word.trailingZeroBitCount)
        }
        return index..<min(end, limit)
    }

    private func mark(_ start: Int, count: Int, used: Bool) {
        for index in start..<(start + count) {
            let bit: UInt64 = 1 << UInt64(index % 64)
            if used { words[index / 64] |= bit } else { words[index / 64] &= ~bit }
        }
        freePages += used ? -count : count
        isDirty = true
        runs?.note(start / 64..<(start + count + 63) / 64, of: words)
    }
}
