/// The free runs of a bitmap, summed up over its words: finds the lowest run of a length, and
/// updates a word, in O(log words).
///
/// A binary tree in one piece of memory: node 1 is the whole, the halves of node n are 2n and
/// 2n + 1, and the words are the last nodes. Words that the bitmap lacks are in use.
final class RunTree {
    /// Summary of the pages of a part, in pages.
    private struct Node {
        /// Free ones at its beginning, and at its end.
        var first: UInt16 = 0
        var last: UInt16 = 0
        var longest: UInt16 = 0
        /// The longest fragment that touches neither end.
        var fragment: UInt16 = 0

        init() {}

        /// Of a word of a bitmap.
        init(_ word: UInt64) {
            first = UInt16(word.trailingZeroBitCount)
            last = UInt16(word.leadingZeroBitCount)
            longest = max(first, last)
            guard word != 0 else { return }
            RunTree.forEachRun(in: ~word) { start, length in
                longest = max(longest, UInt16(length))
                if start > 0, start + length < 64, length < PageRuns.fragmentPages {
                    fragment = max(fragment, UInt16(length))
                }
                return true
            }
        }

        /// Of two parts of `size` pages each.
        @inline(__always)
        init(_ left: Node, _ right: Node, size: UInt16) {
            let middle = left.last &+ right.first
            first = left.first == size ? size &+ right.first : left.first
            last = right.last == size ? size &+ left.last : right.last
            longest = max(left.longest, right.longest, middle)
            fragment = max(left.fragment, right.fragment)
            if Node.isFragment(middle), left.last < size, right.first < size {
                fragment = max(fragment, middle)
            }
        }

        @inline(__always)
        static func isFragment(_ length: UInt16) -> Bool { length < PageRuns.fragmentPages }
    }

    /// Number of words of each of the last nodes.
    private static let width = BitmapLayout.words.nextPowerOfTwo

    private let nodes: UnsafeMutablePointer<Node>

    init(_ words: [UInt64]) {
        nodes = .allocate(capacity: 2 * Self.width)
        nodes.initialize(repeating: Node(), count: 2 * Self.width)
        note(0..<words.count, of: words)
    }

    deinit { nodes.deallocate() }

    /// Notes that some words have changed.
    func note(_ changed: Range<Int>, of words: [UInt64]) {
        for index in changed { nodes[Self.width &+ index] = Node(words[index]) }
        var low = Self.width &+ changed.lowerBound
        var high = Self.width &+ changed.upperBound &- 1
        var size: UInt16 = 64
        while low > 1 {
            low >>= 1
            high >>= 1
            for index in low...high {
                nodes[index] = Node(nodes[2 &* index], nodes[2 &* index &+ 1], size: size)
            }
            size <<= 1
        }
    }

    /// The pages of the longest run.
    var longest: Int { Int(nodes[1].longest) }

    /// The pages of the longest fragment.
    var longestFragment: Int {
        Int(
            Node.isFragment(nodes[1].first)
                ? max(nodes[1].first, nodes[1].fragment) : nodes[1].fragment)
    }

    /// The start of the lowest run of `count` pages or more.
    func run(of count: Int, in words: [UInt64]) -> Int? {
        guard count <= longest else { return nil }
        var node = 1, start = 0, size = Self.width &* 32
        while node < Self.width {
            let left = nodes[2 &* node]
            if left.longest < count {
                if left.last &+ nodes[2 &* node &+ 1].first >= count {
                    return start &+ size &- Int(left.last)
                }
                start &+= size
                node = 2 &* node &+ 1
            } else {
                node = 2 &* node
            }
            size >>= 1
        }
        return Self.run(in: words[node &- Self.width]) { $1 >= count }.map { start &+ $0 }
    }

    /// The start of the lowest fragment of `count` pages or more. `count` is above 0.
    func fragment(of count: Int, in words: [UInt64]) -> Int? {
        if nodes[1].first >= count, Node.isFragment(nodes[1].first) { return 0 }
        guard nodes[1].fragment >= count else { return nil }
        var node = 1, start = 0, size = Self.width &* 32
        while node < Self.width {
            let left = nodes[2 &* node], right = nodes[2 &* node &+ 1]
            if left.fragment < count {
                let middle = left.last &+ right.first
                if middle >= count, Node.isFragment(middle), left.last < size, right.first < size {
                    return start &+ size &- Int(left.last)
                }
                start &+= size
                node = 2 &* node &+ 1
            } else {
                node = 2 &* node
            }
            size >>= 1
        }
        return Self.run(in: words[node &- Self.width]) { first, length in
            length >= count && length < PageRuns.fragmentPages && first > 0 && first + length < 64
        }.map { start &+ $0 }
    }

    /// The first run of free pages of a word that satisfies a condition.
    private static func run(in word: UInt64, where isWanted: (Int, Int) -> Bool) -> Int? {
        var found: Int?
        forEachRun(in: ~word) { start, length in
            guard isWanted(start, length) else { return true }
            found = start
            return false
        }
        return found
    }

    /// Calls `body` with the place and the length of each run of ones until it returns false.
    @inline(__always)
    private static func forEachRun(in bits: UInt64, _ body: (Int, Int) -> Bool) {
        var rest = bits
        while rest != 0 {
            let start = rest.trailingZeroBitCount
            let end = start &+ (~(rest >> UInt64(start))).trailingZeroBitCount
            guard body(start, min(end, 64) &- start) else { return }
            if end >= 64 { return }
            rest &= ~0 << UInt64(end)
        }
    }
}

/// Numbers in a row: finds the first one of a size, and updates one, in O(log numbers).
struct FirstFit {
    private var width = 1
    private(set) var count = 0
    /// The greatest of each part, as in `RunTree`.
    private var greatest: [Int] = [0, 0]

    /// Adds a number at the end.
    mutating func append(_ number: Int) {
        if count == width {
            let old = greatest[width...]
            width *= 2
            greatest = Array(repeating: 0, count: 2 * width)
            greatest.replaceSubrange(width..<width + count, with: old)
            for node in (1..<width).reversed() {
                greatest[node] = max(greatest[2 * node], greatest[2 * node + 1])
            }
        }
        count += 1
        self[count - 1] = number
    }

    subscript(index: Int) -> Int {
        get { greatest[width + index] }
        set {
            var node = width + index
            greatest[node] = newValue
            while node > 1 {
                node /= 2
                let now = max(greatest[2 * node], greatest[2 * node + 1])
                if greatest[node] == now { return }
                greatest[node] = now
            }
        }
    }

    /// The index of the first number that is at least `number`, which is above 0.
    func first(atLeast number: Int) -> Int? {
        guard greatest[1] >= number else { return nil }
        var node = 1
        while node < width { node = greatest[2 * node] >= number ? 2 * node : 2 * node + 1 }
        return node - width
    }
}
