internal import ToftPlatform

// The rules for the bytes of a leaf that need no other page: see `PageReader.checkBeforeWrite`.

extension OrderedLeaf {
    /// The keys of a leaf ascend, and its heap has the size in its header.
    func check() throws(StorageError) {
        guard count > 0 else { throw damage("a leaf is empty") }
        let heapLow = base.uint16(at: OrderedLeafLayout.heapLow)
        let slots = OrderedLeafLayout.slots + count * OrderedLeafLayout.slotSize
        let forms = LeafForms.count(in: base)
        guard forms == base.uint16(at: OrderedLeafLayout.formCount),
            (0..<count).allSatisfy({
                formPlace($0) < forms || formPlace($0) == OrderedLeafLayout.formLimit
            })
        else { throw damage("an entry of a leaf has a form that the leaf does not have") }
        let used = try usedBytes()
        guard
            used + heapLow - slots + base.uint16(at: OrderedLeafLayout.garbage)
                == OrderedLeafLayout.room
        else { throw damage("the entries of a leaf overlap") }
        let last = try entry(count - 1)
        guard base.uint32(at: OrderedLeafLayout.lastHint) == Int(last.suffix.hint) else {
            throw damage("a leaf names another last key than it has")
        }
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: OrderedLeafRewrite.keySize, alignment: 8)
        defer { memory.deallocate() }
        for index in 1..<max(1, count) {
            let before = try entry(index - 1).suffix
            let suffix = try entry(index).suffix
            guard
                before.hint < suffix.hint
                    || before.hint == suffix.hint
                        && before.compareRest(inOnePart(suffix, memory)) < 0
            else { throw damage("the keys of a leaf are out of order") }
        }
    }

    private func inOnePart(_ suffix: KeySuffix, _ memory: UnsafeMutableRawPointer) -> KeySuffix {
        suffix.write(to: memory)
        return KeySuffix(of: memory, count: suffix.length, shared: 0)
    }

    private func damage(_ reason: String) -> StorageError { .corrupt(page: page, reason: reason) }
}
