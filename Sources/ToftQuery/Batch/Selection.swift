/// A set of rows of a batch, one bit each. A batch has at most `capacity` rows, as a cluster has.
struct Selection: Equatable, Sendable {
    /// Rows of a batch.
    static let capacity = 256

    private var words: SIMD4<UInt64>

    private init(_ words: SIMD4<UInt64>) {
        self.words = words
    }

    // Computed, so that nobody asks whether they have been made yet.
    static var empty: Selection { Selection(SIMD4(repeating: 0)) }
    static var full: Selection { Selection(SIMD4(repeating: .max)) }

    /// The rows before `count`.
    static func first(_ count: Int) -> Selection {
        if count >= capacity { return .full }
        let whole = count &>> 6
        let rest: UInt64 = (1 &<< UInt64(truncatingIfNeeded: count & 63)) &- 1
        var words = SIMD4<UInt64>(repeating: 0)
        for word in 0..<4 { words[word] = whole > word ? .max : whole == word ? rest : 0 }
        return Selection(words)
    }

    subscript(row: Int) -> Bool {
        @inline(__always) get { words[row >> 6] & (1 &<< UInt64(row & 63)) != 0 }
    }

    @inline(__always)
    mutating func insert(_ row: Int) {
        words[row >> 6] |= 1 &<< UInt64(row & 63)
    }

    /// The 64 rows from `64 * index` on.
    func word(_ index: Int) -> UInt64 { words[index] }

    var isEmpty: Bool { (words[0] | words[1] | words[2] | words[3]) == 0 }

    var count: Int {
        words[0].nonzeroBitCount + words[1].nonzeroBitCount + words[2].nonzeroBitCount
            + words[3].nonzeroBitCount
    }

    /// Number of rows before the first one that is not selected.
    var leadingCount: Int {
        for index in 0..<4 where words[index] != .max {
            return index &* 64 &+ (~words[index]).trailingZeroBitCount
        }
        return Self.capacity
    }

    /// The highest row; nil if the selection is empty.
    var last: Int? {
        for index in [3, 2, 1, 0] where words[index] != 0 {
            return index * 64 + 63 - words[index].leadingZeroBitCount
        }
        return nil
    }

    static func & (left: Selection, right: Selection) -> Selection {
        Selection(left.words & right.words)
    }
    static func | (left: Selection, right: Selection) -> Selection {
        Selection(left.words | right.words)
    }
    static prefix func ~ (selection: Selection) -> Selection { Selection(~selection.words) }
    static func &= (left: inout Selection, right: Selection) { left.words &= right.words }
    static func |= (left: inout Selection, right: Selection) { left.words |= right.words }

    /// The rows of this selection that are not in `other`.
    func subtracting(_ other: Selection) -> Selection { Selection(words & ~other.words) }

    /// The selection of a bitmap: row 0 is the lowest bit of the first byte.
    /// Bits from `count` on are left out.
    init(bitmap: UnsafePointer<UInt64>, count: Int) {
        self.init(count) { start, rows in
            UInt64(littleEndian: bitmap[start >> 6])
                & (.max &>> UInt64(truncatingIfNeeded: 64 &- rows))
        }
    }

    /// The selection of the first `count` rows whose words `word` makes: it gets the first of up to
    /// 64 rows, and their number. Bits beyond those are 0.
    @inline(__always)
    init(_ count: Int, word: (_ start: Int, _ rows: Int) -> UInt64) {
        if count >= Self.capacity {
            words = SIMD4(word(0, 64), word(64, 64), word(128, 64), word(192, 64))
            return
        }
        self = .empty
        var start = 0
        while start < count {
            words[start >> 6] = word(start, min(count &- start, 64))
            start &+= 64
        }
    }

    /// Selects rows by a `word` that computes 64 rows at once: the last rows are computed together
    /// with those before them, so that they are 64 as well, unless the cluster has less.
    @inline(__always)
    init(wholeWords count: Int, word: (_ start: Int, _ rows: Int) -> UInt64) {
        guard count >= 64, count < Self.capacity else {
            self.init(count, word: word)
            return
        }
        self = .empty
        var start = 0
        while start &+ 64 <= count {
            words[start >> 6] = word(start, 64)
            start &+= 64
        }
        if start < count {
            let asked = UInt64(truncatingIfNeeded: start &+ 64 &- count)
            words[start >> 6] = word(count &- 64, 64) &>> asked
        }
    }

    /// The rows of this selection for which `isKept` returns true.
    @inline(__always)
    func filter<Failure>(_ isKept: (Int) throws(Failure) -> Bool) throws(Failure) -> Selection {
        var kept = Selection.empty
        for index in 0..<4 {
            var open = words[index]
            var bits: UInt64 = 0
            while open != 0 {
                let bit = open.trailingZeroBitCount
                if try isKept(index &* 64 &+ bit) { bits |= 1 &<< UInt64(bit) }
                open &= open &- 1
            }
            kept.words[index] = bits
        }
        return kept
    }

    /// Steps through the rows of a selection: `while let row = rows.next()`.
    struct Rows {
        private var words: SIMD4<UInt64>
        private var index = 0

        fileprivate init(_ words: SIMD4<UInt64>) {
            self.words = words
        }

        @inline(__always)
        mutating func next() -> Int? {
            while index < 4 {
                let word = words[index]
                if word != 0 {
                    words[index] = word & (word &- 1)
                    return index &* 64 &+ word.trailingZeroBitCount
                }
                index &+= 1
            }
            return nil
        }
    }

    var rows: Rows { Rows(words) }
}
