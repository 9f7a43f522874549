internal import ToftModel
internal import ToftStorage

/// A text of the objects themselves against a constant: tested within its cluster, without a vector
/// in between. In a coded column each different text is tested once, and the rows by their codes;
/// CONTAINS searches all texts of a cluster at once.
final class TextNode: PredicateNode {
    private let column: UInt32
    private let matcher: TextMatcher
    private let isInverted: Bool
    /// `matcher.exactText`, as a search text.
    private let exactText: SoughtText?
    /// The test for objects of several clusters.
    private let scattered: PredicateNode
    /// For each code 1 if its text passes, otherwise 0.
    private let verdicts: UnsafeMutablePointer<UInt8>
    @exclusivity(unchecked) private var known: KnownColumn?
    /// The code found in the last cluster if only one can pass: in the next cluster it is near.
    private var lastCode = 0

    init(_ column: UInt32, _ matcher: TextMatcher, scattered: PredicateNode) {
        self.column = column
        self.matcher = matcher
        isInverted = matcher.isInverted
        exactText = matcher.exactText.map { SoughtText($0) }
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
            let (nulls, texts) = try cluster.pointee.nullableBytes(column, &known)
            return try passingRows(nulls, texts, of: cluster.pointee, wanted)
        } catch {
            throw .storage(error)
        }
    }

    override func count(in batch: RowBatch) throws(ModelError) -> Int {
        guard let cluster = batch.cluster else { return try scattered.count(in: batch) }
        do {
            if !isInverted, let exactText, !exactText.bytes.isEmpty,
                let (codes, code) = try cluster.pointee.codes(of: exactText, column, known)
            {
                guard let code else { return 0 }
                return IntLoops.count(codes, count: batch.count, equal: UInt8(code))
            }
            let (nulls, texts) = try cluster.pointee.nullableBytes(column, &known)
            let rows = batch.rows
            return (try passingRows(nulls, texts, of: cluster.pointee, rows) & rows).count
        } catch {
            throw .storage(error)
        }
    }

    private func passingRows(
        _ bitmap: UnsafePointer<UInt64>?, _ texts: BytesColumn, of cluster: ClusterView,
        _ wanted: Selection
    ) throws(StorageError) -> Selection {
        let count = cluster.count
        let nulls = bitmap.map { Selection(bitmap: $0, count: count) } ?? .empty
        let found = try foundRows(texts, count, wanted.subtracting(nulls)).subtracting(nulls)
        fetchAhead(texts, cluster)
        return isInverted ? ~found : found
    }

    /// Prefetches the parts that will probably be read of the cluster that the scan reaches soon.
    @inline(__always)
    private func fetchAhead(_ texts: BytesColumn, _ cluster: ClusterView) {
        if texts.coding == nil {
            cluster.fetchAhead(texts)
        } else if lastCode > 0, lastCode < texts.coding?.count ?? 0 {
            cluster.fetchAhead(texts, lastCode)
        }
    }

    /// The rows that pass; of `!=` those that do not.
    private func foundRows(_ texts: BytesColumn, _ count: Int, _ wanted: Selection)
        throws(StorageError) -> Selection
    {
        if let coding = texts.coding {
            return try foundRows(texts, coding.codes, coding.count, count)
        }
        if let found = try rowsWithNeedle(texts, count) { return found }
        let quick = matcher.quick
        let open = quick.head.map { wanted & openRows(texts, count, $0) } ?? wanted
        return try open.filter { row throws(StorageError) in try isFound(texts, row, quick) }
    }

    /// The rows that may pass: most are out after it.
    private func openRows(_ texts: BytesColumn, _ count: Int, _ head: SoughtHead) -> Selection {
        Selection(count) { start, rows in texts.rows(from: start, rows, mayBeginWith: head) }
    }

    /// Whether the text of a row, or of a code, passes; of `!=` whether it does not.
    @inline(__always)
    private func isFound(_ texts: BytesColumn, _ index: Int, _ quick: TextMatcher.Quick)
        throws(StorageError) -> Bool
    {
        if let near = texts.near(index) {
            return quick.verdict(near) ?? (matcher.matches(near) != isInverted)
        }
        if texts.coding != nil { return matcher.matches(try texts.text(index)) != isInverted }
        return try texts.reading(index) { matcher.matches($0) } != isInverted
    }

    /// Tests each text of a coded column once.
    private func foundRows(
        _ texts: BytesColumn, _ codes: UnsafePointer<UInt8>, _ codeCount: Int, _ count: Int
    ) throws(StorageError) -> Selection {
        if let exactText {
            guard let code = try texts.code(of: exactText) else { return .empty }
            lastCode = code
            return IntLoops.equal(codes, count: count, UInt8(code))
        }
        var found = 0
        var last = 0
        let quick = matcher.quick
        for code in 0..<codeCount {
            let isFound = try isFound(texts, code, quick)
            verdicts[code] = isFound ? 1 : 0
            if isFound {
                found += 1
                last = code
            }
        }
        switch found {
        case 0: return .empty
        case 1: return IntLoops.equal(codes, count: count, UInt8(last))
        default: return IntLoops.verdicts(codes, count: count, verdicts, codeCount)
        }
    }

    /// The rows that contain the needle, if it is rare; nil if it is not, or if rows have to be
    /// tested one by one.
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

    /// Occurrences in a cluster from which its rows are tested one by one.
    private static let mostHits = 24
}
