internal import ToftModel
internal import ToftStorage

/// A text of the objects themselves against a constant: tested as it lies in its cluster, without a
/// vector in between. Of a coded column each different text is tested once, and the rows by their
/// codes; CONTAINS looks through all texts of a cluster at once.
final class TextNode: PredicateNode {
    private let column: UInt32
    private let matcher: TextMatcher
    /// The same for objects of all over.
    private let scattered: PredicateNode
    /// For each code 1 where its text passes, else 0.
    private let verdicts: UnsafeMutablePointer<UInt8>
    /// The code that passed in the last cluster where one alone can: in the next it is near.
    private var lastCode = 0

    init(_ column: UInt32, _ matcher: TextMatcher, scattered: PredicateNode) {
        self.column = column
        self.matcher = matcher
        self.scattered = scattered
        verdicts = .allocate(capacity: 256)
        verdicts.initialize(repeating: 0, count: 256)
    }

    deinit { verdicts.deallocate() }

    override func evaluate(_ batch: RowBatch, wanted: Selection) throws(ModelError) -> Selection {
        guard let cluster = batch.cluster else {
            return try scattered.evaluate(batch, wanted: wanted)
        }
        do {
            let (bitmap, texts) = try cluster.nullableBytes(column)
            let nulls = bitmap.map { Selection(bitmap: $0, count: cluster.count) } ?? .empty
            let rows = wanted.subtracting(nulls)
            let passing = try passingRows(texts, cluster.count, rows)
            return matcher.operation == .notEqual
                ? passing | nulls : passing.subtracting(nulls)
        } catch {
            throw .storage(error)
        }
    }

    private func passingRows(_ texts: BytesColumn, _ count: Int, _ wanted: Selection)
        throws(StorageError) -> Selection
    {
        if let coding = texts.coding {
            return try passingRows(texts, coding.codes, coding.count, count)
        }
        if let found = try rowsWithNeedle(texts, count) { return found }
        let quick = matcher.quick
        return try wanted.filter { row throws(StorageError) in try passes(texts, row, quick) }
    }

    /// Whether the text of a row, or of a code, passes.
    @inline(__always)
    private func passes(_ texts: BytesColumn, _ index: Int, _ quick: TextMatcher.Quick)
        throws(StorageError) -> Bool
    {
        guard let text = texts.near(index) else {
            return matcher.matches(
                texts.coding == nil ? try texts[index] : try texts.text(index))
        }
        return quick.verdict(text) ?? matcher.matches(text)
    }

    /// Tests each text of a coded column once.
    private func passingRows(
        _ texts: BytesColumn, _ codes: UnsafePointer<UInt8>, _ codeCount: Int, _ count: Int
    ) throws(StorageError) -> Selection {
        if matcher.isExact {
            guard let code = try passingCode(texts, codeCount) else { return .empty }
            return IntLoops.equal(codes, count: count, UInt8(code))
        }
        var passed = 0
        var last = 0
        let quick = matcher.quick
        for code in 0..<codeCount {
            let passes = try passes(texts, code, quick)
            verdicts[code] = passes ? 1 : 0
            if passes {
                passed += 1
                last = code
            }
        }
        switch passed {
        case 0: return .empty
        case 1: return IntLoops.equal(codes, count: count, UInt8(last))
        default: return IntLoops.verdicts(codes, count: count, verdicts, codeCount)
        }
    }

    /// The code of the one text that passes, looked for on both sides of the last one.
    private func passingCode(_ texts: BytesColumn, _ codeCount: Int) throws(StorageError) -> Int? {
        let quick = matcher.quick
        var below = min(lastCode, codeCount &- 1)
        var above = below &+ 1
        while below >= 0 || above < codeCount {
            if below >= 0, try passes(texts, below, quick) {
                lastCode = below
                return below
            }
            if above < codeCount, try passes(texts, above, quick) {
                lastCode = above
                return above
            }
            below &-= 1
            above &+= 1
        }
        return nil
    }

    /// The rows that contain the needle, where it occurs seldom; nil where it does not, or where
    /// rows have to be looked at one by one.
    private func rowsWithNeedle(_ texts: BytesColumn, _ count: Int) throws(StorageError)
        -> Selection?
    {
        guard let needle = matcher.plainNeedle, !texts.hasLongValues(count) else { return nil }
        let heap = texts.heap
        var found = Selection.empty
        var row = 0
        var start = 0
        for _ in 0..<Self.mostHits {
            guard let hit = ByteSearch.firstIndex(of: needle, in: heap, from: start) else {
                return found
            }
            start = hit + 1
            if let next = texts.row(at: hit, length: needle.count, from: row, count: count) {
                found.insert(next)
                row = next
            }
        }
        return nil
    }

    /// Occurrences in a cluster from which on its rows are looked at one by one.
    private static let mostHits = 24
}
