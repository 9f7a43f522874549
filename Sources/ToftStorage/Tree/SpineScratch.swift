/// How a `Spine` divides its scratch memory: parts that do not overlap, each as large as the
/// longest that the limits allow.
enum SpineScratch {
    /// A copy of the inner node that is being rewritten.
    static let node = 0
    /// Tails of separators on their way up: one of each of two levels that follow each other.
    static let separators = node + Page.size
    static let separatorSize = TreeLimits.key

    /// A copy of the leaf that is being rewritten, or the block of a sequence.
    static let leaf = separators + 2 * separatorSize
    /// The entry that goes into it, key and value.
    static let entry = leaf + Page.size
    static let entrySize = TreeLimits.key + max(TreeLimits.inlineValue, Ref.size)
    /// The reference of an entry's blob.
    static let blobRef = (entry + entrySize).roundedUpToEight
    /// Bytes from `leaf` on for the block of a sequence, which has no entries.
    static let blockSize = blobRef + Ref.size - leaf

    /// Two whole keys.
    static let keys = (leaf + blockSize).roundedUpToEight
    static let size = keys + 2 * OrderedLeafRewrite.keySize
}
