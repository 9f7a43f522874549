internal import Synchronization
internal import ToftPlatform

/// The addresses of a committed tree's leaves, by their separators: a lookup reads two or three
/// cache lines here, instead of three or four of each inner node, and checks no node again. Any
/// thread.
///
/// It has eight bytes of each separator: those after the prefix that all share. If they do not
/// decide, and for a leaf that nobody has read yet, the lookup descends through the inner nodes.
final class LeafMap: @unchecked Sendable {
    /// Leaves of a tree at most, which take 1.3 MB here. Their numbers have two bytes.
    static let mostLeaves = 1 << 16 - 1

    /// The common prefix of all separators, `skipped` bytes.
    private let shared: UnsafeMutableRawPointer
    private let skipped: Int
    private let count: Int
    private let leaves: UnsafeMutablePointer<Leaf>

    private struct Leaf: ~Copyable {
        /// From leaf 1 on: the eight bytes of the separator before it, in ascending order.
        let number: UInt64
        /// Its address, in the bits of `addressMask`; 0: unknown. The bits below are its number of
        /// entries, which is less than its bytes; those above are their bytes in its heap.
        let place = Atomic<UInt>(0)
    }

    private static let countMask = UInt(Page.size - 1)
    private static let heapShift = UInt(48)
    private static let addressMask = (1 << heapShift - 1) & ~countMask
    /// The first leaf, from 1 on, whose number is in a range of `1 << shift` numbers or behind it;
    /// the first range begins with the number of leaf 1. It has one element more than there are
    /// ranges.
    private let starts: UnsafeMutablePointer<UInt16>
    private let rangeCount: Int
    private let shift: UInt64

    /// The map of a tree; nil if it has fewer than three leaves or more than `mostLeaves`, or is
    /// damaged.
    init?(of root: TreeRoot, in pages: PageReader, mostLeaves: Int = mostLeaves)
        throws(StorageError)
    {
        var separators: [Separator] = []
        guard
            try Self.collect(root.ref, root.height, .lowest, pages, &separators, upTo: mostLeaves),
            separators.count > 2
        else { return nil }
        let first = separators[1].bytes
        let skipped = first.withUnsafeBytes { first in
            separators[separators.count - 1].bytes.withUnsafeBytes { commonPrefix(first, $0) }
        }
        let words = separators.map { $0.number(after: skipped) }
        guard zip(words[1...], words[2...]).allSatisfy({ $0 <= $1 }) else { return nil }
        count = words.count
        self.skipped = skipped
        shared = .allocate(byteCount: max(1, skipped), alignment: 8)
        for index in 0..<skipped { (shared + index).storeBytes(of: first[index], as: UInt8.self) }
        leaves = .allocate(capacity: count)
        for index in 0..<count { (leaves + index).initialize(to: Leaf(number: words[index])) }
        let span = words[count - 1] - words[1]
        let excess = 64 - span.leadingZeroBitCount - (64 - count.leadingZeroBitCount)
        shift = UInt64(max(0, excess))
        rangeCount = Int(span >> shift) + 1
        starts = .allocate(capacity: rangeCount + 1)
        var leaf = 1
        for range in 0...rangeCount {
            while leaf < count, (words[leaf] - words[1]) >> shift < UInt64(range) { leaf += 1 }
            starts[range] = UInt16(leaf)
        }
    }

    deinit {
        shared.deallocate()
        leaves.deallocate()
        starts.deallocate()
    }

    /// Adds the separators of the leaves below a node; false if there are too many.
    private static func collect(
        _ ref: Ref, _ height: Int, _ low: Separator, _ pages: PageReader,
        _ separators: inout [Separator], upTo mostLeaves: Int
    ) throws(StorageError) -> Bool {
        guard height > 0 else {
            separators.append(low)
            return separators.count <= mostLeaves
        }
        let node = try InnerNode(
            try pages.view(ref, as: .treeInner), page: ref.page, height: height)
        for index in 0..<node.count {
            let from = index > 0 ? try node.separator(index) : low
            guard
                try collect(
                    node.child(index), height - 1, from, pages, &separators, upTo: mostLeaves)
            else { return false }
        }
        return true
    }

    // MARK: Look-ups

    /// The address of the leaf that has a key or would have it; nil if the lookup has to descend
    /// through the inner nodes. Prefetches the part of the leaf that will be read.
    @inline(__always)
    func leaf(of key: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        guard let (index, number) = place(of: key) else { return nil }
        let word = leaves[index].place.load(ordering: .acquiring)
        guard let base = UnsafeRawPointer(bitPattern: word & Self.addressMask) else { return nil }
        guard index > 0, index &+ 1 < count else { return base }
        let low = leaves[index].number
        let share = Float(number &- low) / Float(leaves[index &+ 1].number &- low)
        OrderedLeaf.fetch(
            base, at: share, of: Int(word & Self.countMask), heap: Int(word &>> Self.heapShift))
        return base
    }

    /// Remembers the leaf that holds a key or would hold it. It is verified.
    func note(_ leaf: OrderedLeaf, of key: UnsafeRawBufferPointer) {
        guard let (index, _) = place(of: key) else { return }
        let word = UInt(bitPattern: leaf.base)
        guard word & Self.addressMask == word else { return }
        leaves[index].place.store(
            word | UInt(leaf.count) | UInt(leaf.heapSize) << Self.heapShift, ordering: .releasing)
    }

    /// The index of the leaf that has a key or would have it, and the eight bytes of the key as a
    /// number; nil if they do not decide.
    @inline(__always)
    private func place(of key: UnsafeRawBufferPointer) -> (index: Int, number: UInt64)? {
        guard let start = key.baseAddress, key.count >= skipped,
            compareBytes(start, skipped, shared, skipped) == 0
        else { return nil }
        let number = trailingNumber(start, key.count, after: skipped)
        let least = leaves[1].number
        guard number > least else { return number < least ? (0, number) : nil }
        let range = (number &- least) &>> shift
        guard range < UInt64(rangeCount) else { return (count &- 1, number) }
        var low = Int(starts[Int(range)]) &- 1
        var high = Int(starts[Int(range) &+ 1])
        while high &- low > 1 {
            let middle = (low &+ high) >> 1
            if leaves[middle].number <= number { low = middle } else { high = middle }
        }
        return low > 0 && leaves[low].number == number ? nil : (low, number)
    }
}

extension Separator {
    /// Eight bytes as a big-endian number, filled up with zeros.
    fileprivate func number(after skipped: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in skipped..<skipped + 8 { number = number << 8 | UInt64(byte(index)) }
        return number
    }

    private func byte(_ index: Int) -> UInt8 {
        if index < 8 { return UInt8(truncatingIfNeeded: prefix >> UInt64(56 - 8 * index)) }
        guard index < length, let tail else { return 0 }
        return tail.load(fromByteOffset: index - 8, as: UInt8.self)
    }
}

/// Eight bytes of a key as a big-endian number, filled up with zeros. `skipped` is at most `count`.
@inline(__always)
private func trailingNumber(_ key: UnsafeRawPointer, _ count: Int, after skipped: Int) -> UInt64 {
    let rest = count &- skipped
    if count < 8 || rest >= 8 {
        return leadingNumber(UnsafeRawBufferPointer(start: key + skipped, count: rest))
    }
    // The last eight bytes, without those that are skipped.
    let last = UInt64(
        bigEndian: key.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self))
    return last << UInt64(64 &- 8 &* rest)
}
