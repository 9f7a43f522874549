internal import ToftPlatform

/// Prefetches the first lines of leaves before a scan reaches them.
///
/// The processor translates the addresses of several pages in parallel when they are requested
/// together; a scan would wait for each.
struct LeafPrefetch {
    /// Leaves that are requested together; a power of two, as is the number of `bases`.
    private static let group = 4
    /// Leaves between the scan's leaf and the one whose columns are fetched.
    private static let distance = 4
    /// Addresses of leaves, by the last bits of their slots; nil if unknown.
    private var bases = InlineArray<16, UnsafeRawPointer?>(repeating: nil)

    /// To be called for each leaf that the cursor reaches, forwards. Returns the address of a leaf
    /// that the scan reaches soon, below the same parent; nil if unknown.
    @inline(__always)
    mutating func come(to cursor: LeafCursor, in cache: PageCache) -> UnsafeRawPointer? {
        guard let (node, slot) = cursor.parent else { return nil }
        if slot & (Self.group &- 1) == 0 {
            var next = slot == 0 ? 1 : slot &+ Self.distance &+ Self.group
            let end = min(slot &+ Self.distance &+ 2 &* Self.group, node.count)
            while next < end {
                bases[next & 15] = cache.prefetch(node.child(next).page, lines: 1)
                next &+= 1
            }
        }
        let ahead = slot &+ Self.distance
        return ahead < node.count ? bases[ahead & 15] : nil
    }
}
