/// The leaves of a tree that can be read, and the ranges of keys whose nodes can't.
///
/// A range is one of row keys; in ordered trees it means nothing.
struct WholeNodes {
    let pages: PageReader
    let leafType: ExtentType
    /// Whether leaves are checked, too; otherwise their reader skips damaged ones.
    var looksAtLeaves = true
    /// Ranges to find.
    var wanted: [ClosedRange<Int64>] = [Self.allKeys]
    /// A leaf says whether it is damaged, and takes it otherwise.
    private(set) var leaves: [(ref: Ref, range: ClosedRange<Int64>)] = []
    private(set) var holes: [ClosedRange<Int64>] = []
    private(set) var refused: [PageNumber] = []
    /// The fault of the first damaged node.
    private(set) var problem: StorageError?
    /// Each page once: damaged nodes may name each other.
    private var visited: Set<PageNumber> = []

    /// The keys that objects have.
    static let allKeys: ClosedRange<Int64> = 0...(.max - 1)

    init(pages: PageReader, leafType: ExtentType) {
        self.pages = pages
        self.leafType = leafType
    }

    /// - Throws: `interrupted`.
    mutating func run(_ root: TreeRoot) throws(StorageError) {
        guard !root.isEmpty else { return }
        try visit(root.ref, height: root.height, Self.allKeys)
    }

    /// A leaf that was found turned out to be damaged.
    mutating func giveUp(_ page: PageNumber, _ range: ClosedRange<Int64>, _ error: StorageError) {
        refused.append(page)
        problem = problem ?? error
        for part in wanted where part.overlaps(range) { holes.append(part.clamped(to: range)) }
    }

    private mutating func visit(_ ref: Ref, height: Int, _ range: ClosedRange<Int64>)
        throws(StorageError)
    {
        guard wanted.contains(where: { $0.overlaps(range) }) else { return }
        try CurrentCall.checkInterruption()
        var children: [(ref: Ref, range: ClosedRange<Int64>)] = []
        do throws(StorageError) {
            guard visited.insert(ref.page).inserted else {
                throw .corrupt(page: ref.page, reason: "two nodes name it as their child")
            }
            if height == 0 {
                if looksAtLeaves { _ = try pages.view(ref, as: leafType) }
                return leaves.append((ref, range))
            }
            let base = try pages.view(ref, as: .treeInner)
            let node = try InnerNode(base, page: ref.page, height: height)
            var low = range.lowerBound
            for index in 0..<node.count {
                var high = range.upperBound
                if leafType == .cluster, index + 1 < node.count {
                    let next = Int64(bitPattern: node.prefix(index + 1) ^ (1 << 63))
                    guard next > low, next <= range.upperBound else {
                        throw .corrupt(page: ref.page, reason: "separators are out of order")
                    }
                    high = next - 1
                }
                children.append((node.child(index), low...high))
                if high < range.upperBound { low = high + 1 }
            }
        } catch {
            try error.requireDamage()
            return giveUp(ref.page, range, error)
        }
        for child in children { try visit(child.ref, height: height - 1, child.range) }
    }
}
