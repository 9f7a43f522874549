internal import ToftPlatform

/// An inner node, for reading. Its header is verified when it is made; a separator's tail when it
/// is read.
struct InnerNode {
    let base: UnsafeRawPointer
    let page: PageNumber
    let count: Int

    /// Checks the header; `height` is the one that the parent expects, which ends every walk
    /// through a damaged file.
    @inline(__always)
    init(_ base: UnsafeRawPointer, page: PageNumber, height: Int) throws(StorageError) {
        let count = base.uint16(at: InnerLayout.count)
        let heapLow = base.uint16(at: InnerLayout.heapLow)
        guard base.uint8(at: InnerLayout.height) == height, ExtentHeader.isPlain(base), count > 0,
            InnerLayout.entries + count * InnerLayout.entrySize <= heapLow, heapLow <= Page.size
        else { throw .corrupt(page: page, reason: "an inner node contradicts itself") }
        self.base = base
        self.page = page
        self.count = count
    }

    @inline(__always)
    private func entry(_ index: Int) -> Int {
        InnerLayout.entries &+ index &* InnerLayout.entrySize
    }

    /// The reference of a child; `index` is below `count`.
    @inline(__always)
    func child(_ index: Int) -> Ref { Ref(decoding: base + entry(index) + InnerLayout.entryRef) }

    /// Rows below a child.
    @inline(__always)
    func rows(_ index: Int) -> UInt64 { base.uint64(at: entry(index) &+ InnerLayout.entryRows) }

    /// The first eight bytes of a separator as a number.
    @inline(__always)
    func prefix(_ index: Int) -> UInt64 { base.uint64(at: entry(index) &+ InnerLayout.entryPrefix) }

    /// A separator, its tail verified to be within the heap.
    @inline(__always)
    func separator(_ index: Int) throws(StorageError) -> Separator {
        let entry = entry(index)
        let length = base.uint16(at: entry &+ InnerLayout.entryKeyLength)
        if length <= 8 {
            return Separator(
                prefix: base.uint64(at: entry &+ InnerLayout.entryPrefix), length: length, tail: nil
            )
        }
        let offset = base.uint16(at: entry &+ InnerLayout.entryTailOffset)
        guard length <= TreeLimits.key, offset >= base.uint16(at: InnerLayout.heapLow),
            offset &+ length &- 8 <= Page.size
        else {
            throw .corrupt(page: page, reason: "a separator is outside its node")
        }
        return Separator(
            prefix: base.uint64(at: entry &+ InnerLayout.entryPrefix), length: length,
            tail: base + offset)
    }

    /// Rows below the children before `index`, modulo 2^64 in a damaged file.
    @inline(__always)
    func rows(before index: Int) -> UInt64 {
        var sum: UInt64 = 0
        for child in 0..<index { sum &+= rows(child) }
        return sum
    }

    /// The bytes that an entry takes, with its share of the heap.
    @inline(__always)
    func size(_ index: Int) -> Int {
        let length = base.uint16(at: entry(index) &+ InnerLayout.entryKeyLength)
        return InnerLayout.entrySize + max(0, length - 8)
    }

    /// The bytes that all entries take, with the heap they use.
    var usedBytes: Int {
        var sum = 0
        for index in 0..<count { sum += size(index) }
        return sum
    }
}

/// The target of a descent: chooses among the children of a node.
protocol SearchTarget {
    mutating func child(in node: InnerNode) throws(StorageError) -> Int

    /// Prefetches the parts of a leaf that will be read: a child of the lowest inner node.
    func fetch(_ leaf: Ref, in cache: PageCache, child: Int, of node: InnerNode)
}

extension SearchTarget {
    @inline(__always)
    func fetch(_ leaf: Ref, in cache: PageCache, child: Int, of node: InnerNode) {}
}

/// Towards the leaf that holds a byte key.
struct KeyTarget: SearchTarget {
    let key: Separator

    @inline(__always)
    func child(in node: InnerNode) throws(StorageError) -> Int {
        let last = node.lastChild(notAfter: key.prefix)
        return last > 0 && node.prefix(last) == key.prefix ? try child(in: node, upTo: last) : last
    }

    /// Prefetches the part of the leaf that will be read if its keys are spread evenly between its
    /// separators.
    @inline(__always)
    func fetch(_ leaf: Ref, in cache: PageCache, child: Int, of node: InnerNode) {
        guard let base = cache.prefetch(leaf.page, lines: 2), child &+ 1 < node.count else {
            return
        }
        let low = node.prefix(child), high = node.prefix(child &+ 1)
        guard low <= key.prefix, key.prefix < high else { return }
        let share = Float(key.prefix &- low) / Float(high &- low)
        OrderedLeaf.fetch(base, at: share, of: Int(node.rows(child) & 0xFFF))
    }

    /// The separator of `last` has the key's own first eight bytes, others before it may: the rest
    /// decides.
    private func child(in node: InnerNode, upTo last: Int) throws(StorageError) -> Int {
        var low = 0
        var high = last &+ 1
        while high &- low > 1 {
            let middle = (low &+ high) >> 1
            if try node.separator(middle).compare(key) <= 0 { low = middle } else { high = middle }
        }
        return low
    }
}

/// Towards the cluster that holds a row key: separators of eight bytes are decided by their prefix
/// alone.
struct RowTarget: SearchTarget {
    let prefix: UInt64

    @inline(__always)
    init(_ key: Int64) { prefix = Separator(rowKey: key).prefix }

    @inline(__always)
    func child(in node: InnerNode) -> Int { node.lastChild(notAfter: prefix) }

    /// The headers, the entries of the columns and the first keys.
    @inline(__always)
    func fetch(_ leaf: Ref, in cache: PageCache, child: Int, of node: InnerNode) {
        cache.prefetch(leaf.page, lines: 8)
    }
}

extension InnerNode {
    /// The last child whose separator's prefix is not after one.
    @inline(__always)
    fileprivate func lastChild(notAfter wanted: UInt64) -> Int {
        let last = count &- 1
        if last == 0 || wanted < prefix(1) { return 0 }
        if wanted >= prefix(last) { return last }
        return guess(wanted, last)
    }

    /// Keys are usually spread evenly: the first guess or one beside it is right. The separators
    /// of `1` and `last` enclose the prefix.
    @inline(__always)
    private func guess(_ wanted: UInt64, _ last: Int) -> Int {
        let first = prefix(1)
        let share = Double(wanted &- first) / Double(prefix(last) &- first)
        let index = min(max(1, 1 &+ Int(share * Double(last &- 1))), last &- 1)
        if prefix(index) > wanted {
            return prefix(index &- 1) <= wanted && index > 1 ? index &- 1 : search(wanted, 0, index)
        }
        if prefix(index &+ 1) > wanted { return index }
        return search(wanted, index &+ 1, last)
    }

    /// The last entry before `high` whose separator is not after the prefix; that of `low` is not.
    private func search(_ wanted: UInt64, _ low: Int, _ high: Int) -> Int {
        var low = low
        var length = high &- low
        while length > 1 {
            let half = length >> 1
            low = prefix(low &+ half) <= wanted ? low &+ half : low
            length &-= half
        }
        return low
    }
}

/// Towards the leaf that holds the entry at a position; `remaining` ends as the position inside
/// that leaf.
struct PositionTarget: SearchTarget {
    var remaining: UInt64

    @inline(__always)
    mutating func child(in node: InnerNode) -> Int {
        for index in 0..<(node.count &- 1) {
            let rows = node.rows(index)
            if remaining < rows { return index }
            remaining &-= rows
        }
        return node.count &- 1
    }
}

extension TreeRoot {
    /// The leaf that a target leads to. Not for empty trees.
    @inline(__always)
    func leaf<Target: SearchTarget>(
        _ target: inout Target, in pages: PageReader, as leafType: ExtentType
    )
        throws(StorageError) -> (ref: Ref, base: UnsafeRawPointer)
    {
        var ref = self.ref
        var level = height
        while level > 0 {
            let node = try InnerNode(
                try pages.view(ref, as: .treeInner), page: ref.page, height: level)
            let index = try target.child(in: node)
            ref = node.child(index)
            level &-= 1
            if level == 0 { target.fetch(ref, in: pages.cache, child: index, of: node) }
        }
        return (ref, try pages.view(ref, as: leafType))
    }

    /// The leaf that a target leads to, with the rows of the tree before that leaf.
    func rankedLeaf<Target: SearchTarget>(
        _ target: inout Target, in pages: PageReader, as leafType: ExtentType
    )
        throws(StorageError)
        -> (ref: Ref, base: UnsafeRawPointer, rowsBefore: UInt64)
    {
        var ref = self.ref
        var level = height
        var before: UInt64 = 0
        while level > 0 {
            let node = try InnerNode(
                try pages.view(ref, as: .treeInner), page: ref.page, height: level)
            let index = try target.child(in: node)
            before &+= node.rows(before: index)
            ref = node.child(index)
            level &-= 1
        }
        return (ref, try pages.view(ref, as: leafType), before)
    }
}
