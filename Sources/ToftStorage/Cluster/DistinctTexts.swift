/// The different texts of a column in one cluster, each with a code of one byte. The texts are
/// borrowed.
struct DistinctTexts {
    /// The texts; the code of the first is 1.
    private(set) var texts: [UnsafeRawBufferPointer] = []
    /// Bytes of the texts.
    private(set) var bytes = 0
    private let limit: Int
    /// The codes by the hash of their texts.
    private var table = [UInt8](repeating: 0, count: Self.tableSize)

    private static let tableSize = 512

    /// - Parameter limit: most texts, 255 or less.
    init(limit: Int) { self.limit = limit }

    /// The code of a text; nil if all codes are taken.
    mutating func code(of text: UnsafeRawBufferPointer) -> UInt8? {
        var place = Int(truncatingIfNeeded: Checksum.of(text)) & (Self.tableSize - 1)
        while table[place] != 0 && !texts[Int(table[place]) - 1].isSame(as: text) {
            place = (place + 1) & (Self.tableSize - 1)
        }
        if table[place] == 0 {
            if texts.count == limit { return nil }
            texts.append(text)
            bytes += text.count
            table[place] = UInt8(texts.count)
        }
        return table[place]
    }

    /// Orders the texts by their hash, so that a text has about the same code in all clusters of a
    /// table.
    mutating func sort(_ codes: inout [UInt8]) {
        var new = [UInt8](repeating: 0, count: texts.count + 1)
        var sorted: [UnsafeRawBufferPointer] = []
        sorted.reserveCapacity(texts.count)
        for code in table where code != 0 {
            sorted.append(texts[Int(code) - 1])
            new[Int(code)] = UInt8(sorted.count)
        }
        texts = sorted
        for index in codes.indices { codes[index] = new[Int(codes[index])] }
    }
}
