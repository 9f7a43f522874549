/// The keys of rows, ascending within a cluster: each in eight bytes, or only the first if the
/// others follow it without gaps. Both forms are read without a branch.
package struct RowKeys {
    package let words: UnsafePointer<Int64>
    /// The bits of a row number that select the word; the others are added. All bits or no bit.
    package let wordBits: Int

    @inline(__always)
    init(_ words: UnsafePointer<Int64>, isDense: Bool) {
        self.words = words
        wordBits = isDense ? 0 : -1
    }

    /// Keys that have eight bytes each.
    package init(_ keys: UnsafePointer<Int64>) { self.init(keys, isDense: false) }

    /// The key of a row.
    @inlinable
    @inline(__always)
    package subscript(row: Int) -> Int64 {
        words[row & wordBits] &+ Int64(truncatingIfNeeded: row & ~wordBits)
    }
}

extension RowKeys {
    /// The first of `count` rows whose key is not below `key`; otherwise `count`.
    @inline(__always)
    func lowerBound(_ key: Int64, count: Int) -> Int {
        let first = self[0]
        if key <= first { return 0 }
        let last = self[count &- 1]
        if key > last { return count }
        if last &- first == Int64(count &- 1) { return Int(truncatingIfNeeded: key &- first) }
        var low = 0
        var length = count
        while length > 1 {
            let half = length >> 1
            low = self[low &+ half &- 1] < key ? low &+ half : low
            length &-= half
        }
        return low
    }

    /// The row of `count` rows that has a key; nil if there is no such row.
    @inline(__always)
    func row(of key: Int64, count: Int) -> Int? {
        let guess = UInt64(bitPattern: key &- self[0])
        if guess < UInt64(count), self[Int(guess)] == key { return Int(guess) }
        let row = lowerBound(key, count: count)
        return row < count && self[row] == key ? row : nil
    }
}
