// The rules for the bytes of an inner node that need no other page: see
// `PageReader.checkBeforeWrite`.

extension InnerNode {
    /// The separators of a node ascend and its heap has the size in its header. `isSequence`: the
    /// node has no separators; nil if unknown.
    func check(isSequence: Bool?) throws(StorageError) {
        let heapLow = base.uint16(at: InnerLayout.heapLow)
        let gap = heapLow - InnerLayout.entries - count * InnerLayout.entrySize
        guard try separator(0).length == 0,
            usedBytes + gap + base.uint16(at: InnerLayout.garbage) == InnerLayout.room
        else { throw damage("an inner node contradicts itself") }
        var hasNoKeys = isSequence ?? false
        if isSequence == nil, count > 1 { hasNoKeys = try separator(1).length == 0 }
        for index in 0..<count {
            guard rows(index) > 0 else { throw damage("a child has no rows") }
            let separator = try self.separator(index)
            if hasNoKeys {
                guard separator.length == 0 else { throw damage("a sequence has a key") }
            } else if index > 1, try self.separator(index - 1).compare(separator) >= 0 {
                throw damage("separators are out of order")
            }
        }
    }

    private func damage(_ reason: String) -> StorageError { .corrupt(page: page, reason: reason) }
}
