/// The codes of a column of bytes whose rows have few different texts: each text once, and one byte
/// for each row. Made for a cluster that is written anew.
struct TextCodes {
    /// The code of each row: the place of its text from 1 on, 0 where it has none.
    private(set) var rows: [UInt8]
    /// The different texts, in the order of the rows, where the sources have them.
    private(set) var texts: [UnsafeRawBufferPointer] = []
    /// Bytes of the texts.
    private(set) var heap = 0

    /// How many texts the column gets room for.
    var room: Int { min(ClusterLimits.codedTexts, texts.count + max(4, texts.count / 8)) }

    /// Nil where codes would save less than an eighth, where a value is a long one, or where there
    /// is no code left for a further text. O(rows).
    ///
    /// - Parameters:
    ///   - rows: the rows of the new cluster, those of the sources first.
    ///   - plain: bytes of heap that the texts of all rows take.
    init?(_ column: Column, _ sources: [ClusterSource], rows count: Int, plain: Int)
        throws(StorageError)
    {
        rows = [UInt8](repeating: 0, count: count)
        let limit = min(ClusterLimits.codedTexts - 4, count * 3 / 4)
        // The codes by the hash of their texts.
        var table = [UInt8](repeating: 0, count: Self.tableSize)
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
                    var place = Int(truncatingIfNeeded: Checksum.of(text)) & (Self.tableSize - 1)
                    while table[place] != 0 && !texts[Int(table[place]) - 1].isSame(as: text) {
                        place = (place + 1) & (Self.tableSize - 1)
                    }
                    if table[place] == 0 {
                        if texts.count == limit { return nil }
                        texts.append(text)
                        heap += text.count
                        table[place] = UInt8(texts.count)
                    }
                    rows[row] = table[place]
                }
                row += 1
            }
        }
        let coded = heap + count + (room + 1) * 4
        guard texts.count > 0, coded < (plain + count * 4) * 7 / 8 else { return nil }
    }

    private static let tableSize = 512
}
