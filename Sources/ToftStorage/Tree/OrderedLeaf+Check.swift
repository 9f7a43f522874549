internal import ToftPlatform

// What the bytes of a leaf promise by themselves: see `PageReader.checkBeforeWrite`.

extension OrderedLeaf {
    /// The keys of a leaf ascend, and its heap holds what it says.
    func check() throws(StorageError) {
        guard count > 0 else { throw damage("a leaf is empty") }
        let heapLow = base.uint16(at: OrderedLeafLayout.heapLow)
        let slots = OrderedLeafLayout.slots + count * OrderedLeafLayout.slotSize
        let used = try usedBytes()
        guard
            used + heapLow - slots + base.uint16(at: OrderedLeafLayout.garbage)
                == OrderedLeafLayout.room
        else { throw damage("the entries of a leaf overlap") }
        let last = try entry(count - 1)
        guard base.uint32(at: OrderedLeafLayout.lastHint) == Int(last.suffix.hint) else {
            throw damage("a leaf names another last key than it has")
        }
        for index in 1..<max(1, count) {
            let before = try entry(index - 1).suffix
            let suffix = try entry(index).suffix
            guard
                before.hint < suffix.hint
                    || before.hint == suffix.hint && before.compareRest(suffix) < 0
            else { throw damage("the keys of a leaf are out of order") }
        }
    }

    private func damage(_ reason: String) -> StorageError { .corrupt(page: page, reason: reason) }
}
