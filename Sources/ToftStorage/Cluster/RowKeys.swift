/// The keys of rows, those of a cluster in ascending order: each in eight bytes, or only the first
/// where each further one is the next number. Reading one does not ask which.
package struct RowKeys {
    package let words: UnsafePointer<Int64>
    /// The bits of a row that say which word it has; the others are added. All or none.
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
