/// A bitmap page: 64 bytes of header, then one bit a page of the region, set if the page is in use.
enum BitmapLayout {
    static let bits = Page.bitmapHeaderSize
    static let words = (Page.size - bits) / 8
}

/// A run of pages that a version no longer needs: free for reuse when no pinned version is in
/// [birth, death).
///
/// Its pages' bits say that they are in use. A reclaimable run has the lifetime [0, 1), which holds
/// no version: the next commits take its pages without a change of any bitmap.
enum FreedRunLayout {
    static let page = 0
    static let count = page + 8
    static let birth = count + 8
    static let death = birth + 8
    static let size = death + 8
}

/// The list of batches under the root: extents full of freed runs for which the root page has no
/// room. A batch extent holds runs only, as many as its payload length says.
enum FreedBatchLayout {
    static let ref = 0
    static let maxBirth = ref + Ref.size
    static let minDeath = maxBirth + 8
    static let firstPin = minDeath + 8
    static let lastPin = firstPin + 8
    static let pinCount = lastPin + 8
    static let size = pinCount + 8
}
