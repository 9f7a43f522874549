/// Decrypts the leaves of an encrypted file before a scan reaches them, on several threads.
///
/// A scan that has passed some leaves is expected to continue, for at most as many more: wherever
/// it ends, at most half of the leaves were decrypted in vain.
struct ReadAhead {
    /// Leaves ahead that have been checked.
    private var covered = Self.leastLeaves - 1
    private var window = Self.leastLeaves

    #if DEBUG || TOFT_TRIALS
    // The files of tests are short.
    private static let leastLeaves = 2
    #else
    private static let leastLeaves = 8
    #endif
    /// Leaves that are decrypted at once, at most: about a megabyte.
    private static let mostLeaves = 64

    /// To be called for each leaf that the cursor reaches, forwards.
    @inline(never)
    mutating func come(to cursor: LeafCursor) {
        guard covered == 0 else { return covered -= 1 }
        covered = cursor.decryptAhead(window)
        window = min(window * 2, Self.mostLeaves)
    }
}
