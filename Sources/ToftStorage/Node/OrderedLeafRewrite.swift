/// The entries of a leaf or of two, with at most one more among those of the first, on their way to
/// new leaves. Whole keys are assembled in memory of the writer; the source leaves are not those
/// that are written.
///
/// 1. The common parts of the new leaves are found first: the prefix of all keys, and the middle.
///    If both leaves have the same middle, or the only one has one, it stays; otherwise one is
///    searched in some of the keys.
/// 2. `measure` finds the size of each entry in such a leaf, and the forms of the entries. If those
///    of one leaf would take more than now, its middle and forms stay as they are.
/// 3. Each part that is written shares more if its keys do. Its forms are the same with shorter
///    keys, so that an entry takes no more than was measured.
struct OrderedLeafRewrite {
    private let first: OrderedLeaf
    private let second: OrderedLeaf?
    private let entry: OrderedEntry?
    private let index: Int
    let count: Int
    /// Memory for two whole keys, a middle, the forms, the size of each entry, and the results for
    /// the forms of both leaves.
    private let memory: UnsafeMutableRawPointer
    /// Bytes that all keys begin with.
    private var shared = 0
    private var middle = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Bytes that the entries take in one leaf, including the shared ones. Known when measured.
    private(set) var usedBytes = 0
    /// Entries that have the middle.
    private var matches = 0
    /// Whether the first leaf has the middle of the new ones, and whether the second does.
    private var keepsMiddle = (first: false, second: false)

    /// A leaf with a new entry before `index`, and the leaf that follows if that is given.
    init(
        _ leaf: OrderedLeaf, inserting entry: OrderedEntry, at index: Int,
        before next: OrderedLeaf? = nil, memory: UnsafeMutableRawPointer
    ) throws(StorageError) {
        (first, second, self.entry, self.index, self.memory) = (leaf, next, entry, index, memory)
        count = leaf.count + 1 + (next?.count ?? 0)
        try findCommon()
    }

    /// Two leaves, one after the other.
    init(_ left: OrderedLeaf, _ right: OrderedLeaf, memory: UnsafeMutableRawPointer)
        throws(StorageError)
    {
        (first, second, entry, index, self.memory) = (left, right, nil, .max, memory)
        count = left.count + right.count
        try findCommon()
    }

    /// Bytes of memory for one whole key.
    static let keySize = TreeLimits.key + 8
    private static let middleOffset = 2 * keySize
    private static let formsOffset = middleOffset + OrderedLeafLayout.longestMiddle
    private static let foundOffset = formsOffset + OrderedLeafLayout.slots
    private static let sizesOffset = (foundOffset + foundSize).roundedUpToEight
    /// Bytes of memory for all.
    static let memorySize = sizesOffset + 2 * (2 * mostEntries + 1)
    private static let mostEntries = OrderedLeafLayout.room / OrderedLeafLayout.slotSize
    private static let foundSize = 2 * 2 * (OrderedLeafLayout.formLimit + 1)

    private var forms: LeafForms { LeafForms(base: memory + Self.formsOffset) }

    /// Whether the leaf had no middle, and may get one.
    var hasNewMiddle: Bool { first.middle.isEmpty && !middle.isEmpty }

    /// An entry with its whole key, which is good until the next call with the same `buffer`, 0 or
    /// 1.
    func whole(_ position: Int, buffer: Int = 0) throws(StorageError) -> OrderedEntry {
        if let entry, position == index { return entry }
        let memory = memory + buffer * Self.keySize
        let (leaf, slot, _) = location(position)
        return try leaf.whole(slot, in: memory)
    }

    /// A number for each form of the leaves that entries come from, 0 at first.
    private func found(_ place: Int, isSecond: Bool) -> UnsafeMutableRawPointer {
        memory + (Self.foundOffset + 2 * (place + (isSecond ? OrderedLeafLayout.formLimit + 1 : 0)))
    }

    private func forgetFound() { memory.clear(at: Self.foundOffset, count: Self.foundSize) }

    /// True if an entry, not the new one, is in the second leaf.
    @inline(__always)
    private func isInSecond(_ position: Int) -> Bool {
        (position < index ? position : position - 1) >= first.count
    }

    /// The location of an entry that is not the new one; `keepsMiddle` is true if its leaf has the
    /// middle of the new ones.
    @inline(__always)
    private func location(_ position: Int) -> (leaf: OrderedLeaf, slot: Int, keepsMiddle: Bool) {
        let old = position < index ? position : position - 1
        if let second, old >= first.count {
            return (second, old - first.count, keepsMiddle.second)
        }
        return (first, old, keepsMiddle.first)
    }

    // MARK: What the entries have in common

    private mutating func findCommon() throws(StorageError) {
        guard count > 0 else { return }
        shared = try sharedBytes(0..<count)
        middle = first.middle
        if first.middle.isEmpty || second.map({ !Self.isEqual($0.middle, first.middle) }) ?? false {
            middle = try newMiddle()
        }
    }

    private static func isEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer)
        -> Bool
    {
        left.count == right.count && commonPrefix(left, right) == left.count
    }

    /// Number of leading bytes that the keys of a range share, if they ascend.
    private func sharedBytes(_ range: Range<Int>) throws(StorageError) -> Int {
        try whole(range.lowerBound, buffer: 0).sharedBytes(
            with: try whole(range.upperBound - 1, buffer: 1))
    }

    /// The common bytes near the ends of the first and the last suffix, and some between them; a
    /// suffix with less than a middle of that does not count.
    private func newMiddle() throws(StorageError) -> UnsafeRawBufferPointer {
        let start = memory + Self.middleOffset
        var found = keep(
            commonMiddle(
                try suffix(0, buffer: 0), ends: OrderedLeafLayout.longestEnd,
                try suffix(count - 1, buffer: 1)), at: start)
        for position in stride(from: 0, to: count, by: count / 8 + 1) where !found.isEmpty {
            let common = commonMiddle(
                found, ends: found.count, try suffix(position, buffer: 0))
            if !common.isEmpty { found = keep(common, at: start) }
        }
        return found
    }

    private func suffix(_ position: Int, buffer: Int) throws(StorageError)
        -> UnsafeRawBufferPointer
    {
        let key = try whole(position, buffer: buffer).key
        return UnsafeRawBufferPointer(rebasing: key[min(shared, key.count)...])
    }

    private func keep(_ bytes: UnsafeRawBufferPointer, at start: UnsafeMutableRawPointer)
        -> UnsafeRawBufferPointer
    {
        if let source = bytes.baseAddress { start.store(source, count: bytes.count, at: 0) }
        return UnsafeRawBufferPointer(start: start, count: bytes.count)
    }

    // MARK: What the entries take

    /// Finds the size of each entry. Called before the functions below.
    mutating func measure() throws(StorageError) {
        forms.removeAll()
        try addSizes()
        if !middle.isEmpty, 2 * matches < count {
            let other = try newMiddle()
            if !other.isEmpty, !Self.isEqual(other, middle) {
                middle = other
                forms.removeAll()
                try addSizes()
            }
        }
        guard second == nil, let entry, shared >= first.shared.count else { return }
        let most =
            OrderedLeafLayout.room - first.freeBytes
            + OrderedLeafLayout.slotSize + OrderedLeafLayout.formSize
            + entry.key.count + entry.stored.count
        guard usedBytes > most else { return }
        shared = first.shared.count
        middle = first.middle
        forms.replaceAll(by: first.base, sharingFewer: 0)
        try addSizes()
    }

    private mutating func addSizes() throws(StorageError) {
        usedBytes = shared + middle.count
        matches = 0
        keepsMiddle.first = Self.isEqual(first.middle, middle)
        keepsMiddle.second = second.map { Self.isEqual($0.middle, middle) } ?? false
        forgetFound()
        for position in 0..<count {
            let size = try size(measuring: position)
            (memory + Self.sizesOffset).storeUInt16(size, at: 2 &* position)
            usedBytes += size
        }
    }

    /// The bytes that an entry takes in a leaf with the common parts. Entries of one leaf with the
    /// same form take the same, if that determines their new form.
    @inline(__always)
    private mutating func size(measuring position: Int) throws(StorageError) -> Int {
        guard position != index else { return try add(formOfWhole(position)) }
        let (leaf, slot, keepsMiddle) = location(position)
        let old = try leaf.stored(slot)
        let found = found(old.place, isSecond: isInSecond(position))
        let known = found.reading.uint16(at: 0)
        if known > 0 {
            if old.form.hasMiddle { matches += 1 }
            return known
        }
        let fewer = leaf.shared.count - shared
        guard keepsMiddle, fewer == 0 || middle.isEmpty || old.form.hasMiddle,
            let form = old.form.sharing(fewer: fewer)
        else { return try add(formOfWhole(position)) }
        let size = add(form)
        if old.place < OrderedLeafLayout.formLimit { found.storeUInt16(size, at: 0) }
        return size
    }

    /// Adds a form to the others, and returns its entry's size.
    private mutating func add(_ form: LeafForm) -> Int {
        if form.hasMiddle { matches += 1 }
        let place = forms.place(of: form)
        forms.add(form, at: place)
        return forms.size(of: form, at: place)
    }

    private func formOfWhole(_ position: Int) throws(StorageError) -> LeafForm {
        let entry = try whole(position)
        // Only keys of a damaged leaf are shorter than that.
        let shared = min(shared, entry.key.count)
        return KeySuffix(
            of: entry.key.baseAddress ?? memory.reading, count: entry.key.count, shared: shared,
            around: middle
        ).form.with(entry.stored, isBlob: entry.isBlob)
    }

    @inline(__always)
    private func size(_ position: Int) -> Int {
        (memory + Self.sizesOffset).reading.uint16(at: 2 &* position)
    }

    /// Number of entries that stay left so that both sides weigh about the same.
    func half() -> Int {
        let total = usedBytes - shared - middle.count
        var left = 0
        for position in 0..<count {
            let size = size(position)
            if 2 * left + size >= total { return max(1, position) }
            left += size
        }
        return count - 1
    }

    /// The places to cut the entries of both leaves so that two or three parts weigh about the
    /// same: the first cut and the last, which are equal for two parts. Nil if they do not fit.
    func cuts(into parts: Int) -> (first: Int, last: Int)? {
        let room = OrderedLeafLayout.room - shared - middle.count
        let total = usedBytes - shared - middle.count
        var (sum, start, firstCut) = (0, 0, 0)
        for position in 0..<count {
            sum += size(position)
            let isSecond = firstCut > 0
            guard sum * parts >= (isSecond ? 2 : 1) * total else { continue }
            let cut = position + 1
            guard cut < count, sum - start <= room else { return nil }
            if parts == 2 || isSecond {
                guard total - sum <= room else { return nil }
                return (isSecond ? firstCut : cut, cut)
            }
            (firstCut, start) = (cut, sum)
        }
        return nil
    }

    // MARK: Writing

    /// Writes a non-empty range of the entries to a leaf: sharing as much as possible, or as much
    /// as was measured, or copied from their leaf.
    func write(_ range: Range<Int>, to base: UnsafeMutableRawPointer, page: PageNumber)
        throws(StorageError)
    {
        let most = try sharedBytes(range)
        if try write(range, to: base, page, sharing: most) { return }
        if most > shared, try write(range, to: base, page, sharing: shared) { return }
        guard try copy(range, to: base, page) else {
            throw OrderedLeafEditor(base: base, page: page).outOfOrder
        }
    }

    private func write(
        _ range: Range<Int>, to base: UnsafeMutableRawPointer, _ page: PageNumber,
        sharing count: Int
    ) throws(StorageError) -> Bool {
        let low = try whole(range.lowerBound)
        guard low.key.count >= count else { return false }
        let editor = OrderedLeafEditor.create(
            in: base, page: page, shared: UnsafeRawBufferPointer(rebasing: low.key[..<count]),
            middle: middle, forms: forms.base, sharingFewer: shared - count)
        forgetFound()
        for position in range {
            guard try append(position, to: editor, sharing: count) else { return false }
        }
        return true
    }

    /// Appends an entry, copied from its leaf if nothing about its key changes.
    @inline(__always)
    private func append(_ position: Int, to editor: OrderedLeafEditor, sharing count: Int)
        throws(StorageError) -> Bool
    {
        guard position != index else { return try editor.append(try whole(position)) }
        let (leaf, slot, keepsMiddle) = location(position)
        guard keepsMiddle, leaf.shared.count == count else {
            return try editor.append(try whole(position))
        }
        let old = try leaf.stored(slot)
        guard old.place < OrderedLeafLayout.formLimit else {
            return editor.append(old, place: editor.place(of: old.form))
        }
        let found = found(old.place, isSecond: isInSecond(position))
        if found.reading.uint16(at: 0) == 0 {
            found.storeUInt16(editor.place(of: old.form) + 1, at: 0)
        }
        return editor.append(old, place: found.reading.uint16(at: 0) - 1)
    }

    /// Copies old entries of the first leaf unchanged: they fitted before. False for others.
    private func copy(
        _ range: Range<Int>, to base: UnsafeMutableRawPointer, _ page: PageNumber
    ) throws(StorageError) -> Bool {
        guard second == nil, !range.contains(index) else { return false }
        let editor = OrderedLeafEditor.create(
            in: base, page: page, shared: first.shared, middle: first.middle, forms: first.base)
        for position in range {
            let entry = try first.stored(location(position).slot)
            guard editor.append(entry, place: editor.place(of: entry.form)) else { return false }
        }
        return true
    }

    /// The shortest key that is after the entry before `cut` and not after the one at it.
    func separator(at cut: Int) throws(StorageError) -> Separator {
        let low = try whole(cut - 1, buffer: 0).key
        let high = try whole(cut, buffer: 1).key
        return Separator(
            key: UnsafeRawBufferPointer(
                rebasing: high[..<min(commonPrefix(low, high) + 1, high.count)]))
    }
}
