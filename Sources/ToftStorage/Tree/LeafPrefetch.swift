internal import ToftPlatform

/// Has the processor fetch the first lines of leaves before a scan comes to them.
///
/// It translates the addresses of several pages at a time when they are asked for together, which
/// a scan would wait for one by one.
struct LeafPrefetch {
    /// Leaves that are asked for together; a power of two, as is the number of `bases`.
    private static let group = 4
    /// Leaves between the one where the scan is and the one whose columns are fetched.
    private static let distance = 4
    /// Where leaves begin, by the last bits of their slots; nil where that is not known.
    private var bases = InlineArray<16, UnsafeRawPointer?>(repeating: nil)

    /// To be called for each leaf that the cursor comes to, forwards. Returns where a leaf begins
    /// to which the scan comes soon, below the same parent; nil where none is known.
    @inline(__always)
    mutating func come(to cursor: LeafCursor, in file: MappedFile) -> UnsafeRawPointer? {
        guard let (node, slot) = cursor.parent else { return nil }
        if slot & (Self.group &- 1) == 0 {
            var next = slot == 0 ? 1 : slot &+ Self.distance &+ Self.group
            let end = min(slot &+ Self.distance &+ 2 &* Self.group, node.count)
            while next < end {
                bases[next & 15] = file.fetch(node.child(next).page, lines: 1)
                next &+= 1
            }
        }
        let ahead = slot &+ Self.distance
        return ahead < node.count ? bases[ahead & 15] : nil
    }
}
