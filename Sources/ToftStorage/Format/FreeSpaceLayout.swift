/// One entry of the directory of regions: where the region's bitmap lies and how many of its pages are free.
///
/// ```
/// 0            40           44         48
/// +------------+------------+----------+
/// | bitmap ref | free pages | reserved |
/// +------------+------------+----------+
/// ```
enum RegionEntry {
    static let bitmap = 0
    static let freePages = bitmap + Ref.size
    static let reserved = freePages + 4
    static let size = reserved + 4
}

/// A bitmap page: 64 bytes of header, then one bit a page of the region, set where the page is in use.
enum BitmapLayout {
    static let bits = Page.bitmapHeaderSize
    static let words = (Page.size - bits) / 8
}

/// A run of pages that a version no longer needs: free for reuse when no pinned version lies in [birth, death).
///
/// ```
/// 0      8       12         16      24      32
/// +------+-------+----------+-------+-------+
/// | page | count | reserved | birth | death |
/// +------+-------+----------+-------+-------+
/// ```
enum FreedRunLayout {
    static let page = 0
    static let count = page + 8
    static let birth = count + 8
    static let death = birth + 8
    static let size = death + 8
}

/// The list of freed runs under the root: counts, then references to batches, then the newest runs.
///
/// ```
/// 0             4           8            8 + 64 b                 8 + 64 b + 32 r
/// +-------------+-----------+------------+------------------------+
/// | batches (b) | runs (r)  | batch ...  | run ...                |
/// +-------------+-----------+------------+------------------------+
/// a batch:  0     40          48          56      64
///           +-----+-----------+-----------+-------+
///           | ref | max birth | min death | pages |
///           +-----+-----------+-----------+-------+
/// ```
/// A batch extent holds runs only, as many as its payload length says. A pin in [max birth, min death) keeps every run of it.
enum FreedListLayout {
    static let batchCount = 0
    static let runCount = batchCount + 4
    static let entries = runCount + 4

    static let batchRef = 0
    static let batchMaxBirth = batchRef + Ref.size
    static let batchMinDeath = batchMaxBirth + 8
    static let batchPages = batchMinDeath + 8
    static let batchSize = batchPages + 8
}
