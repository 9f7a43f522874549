/// A set of object keys: one bit for each, as keys count from 0; those that are too great for that
/// are kept one by one.
struct KeySet {
    private var words: [UInt64] = []
    private var great: Set<Int64> = []

    /// 32 MiB of bits.
    private static let mostWords = 1 << 22

    var isEmpty: Bool { words.isEmpty && great.isEmpty }

    func contains(_ key: Int64) -> Bool {
        let index = Int(truncatingIfNeeded: key >> 6)
        if index >= 0, index < words.count { return words[index] >> UInt64(key & 63) & 1 == 1 }
        return !great.isEmpty && great.contains(key)
    }

    /// Adds a key. Returns whether it was not there.
    mutating func insert(_ key: Int64) -> Bool {
        let index = Int(truncatingIfNeeded: key >> 6)
        guard index >= 0, index < Self.mostWords else { return great.insert(key).inserted }
        if index >= words.count {
            let count = max(index + 1, min(words.count * 2, Self.mostWords))
            words += repeatElement(0, count: count - words.count)
        }
        let bit: UInt64 = 1 << UInt64(key & 63)
        defer { words[index] |= bit }
        return words[index] & bit == 0
    }
}
