/// The codes of a column of bytes whose rows have few different texts: each text once, and one byte
/// for each row. Made for a cluster that is written anew.
struct TextCodes {
    /// The code of each row; 0 for a row without text.
    private(set) var rows: [UInt8]
    private var distinct: DistinctTexts

    /// The different texts, in the sources' memory.
    var texts: [UnsafeRawBufferPointer] { distinct.texts }

    /// Bytes of the texts.
    var heap: Int { distinct.bytes }

    /// Number of texts that the column gets room for.
    var room: Int {
        min(
            ClusterLimits.codedTexts,
            texts.count + max(ClusterLimits.leastTextRoom, texts.count / 8))
    }

    /// Nil if codes would save less than an eighth, a value is a long one, or all codes are taken.
    /// O(rows).
    ///
    /// - Parameters:
    ///   - rows: the rows of the new cluster, those of the sources first.
    ///   - plain: bytes of heap that the texts of all rows take.
    init?(_ column: Column, _ sources: [ClusterSource], rows count: Int, plain: Int)
        throws(StorageError)
    {
        rows = [UInt8](repeating: 0, count: count)
        distinct = DistinctTexts(
            limit: min(
                ClusterLimits.codedTexts - ClusterLimits.leastTextRoom, count * 3 / 4))
        var row = 0
        for source in sources {
            guard let slice = try source.cluster.slice(ofColumn: column) else {
                row += source.rows.count
                continue
            }
            for sourceRow in source.rows {
                let cell = slice.heapCell(sourceRow)
                if cell.isExternal { return nil }
                let text = try source.cluster.heapBytes(cell)
                if text.count > 0 {
                    guard let code = distinct.code(of: text) else { return nil }
                    rows[row] = code
                }
                row += 1
            }
        }
        let coded = heap + count + (room + 1) * 5
        guard texts.count > 0, coded < (plain + count * 4) * 7 / 8 else { return nil }
        distinct.sort(&rows)
    }
}
