// The rules for the bytes of a block of elements that need no other page: see
// `PageReader.checkBeforeWrite`.

extension ElementBlock {
    /// The elements of a block are contiguous, in their order, and fill it.
    func check() throws(StorageError) {
        guard kind.type == .bytes else { return }
        if isCoded {
            for index in 0..<count { _ = try element(index) }
            return
        }
        var end = kind.blockSize(count: count, heapBytes: 0)
        for index in 0..<count {
            let bytes: UnsafeRawBufferPointer
            switch try element(index) {
            case .cell(.bytes(let value)): bytes = value
            case .blob(let ref): bytes = ref
            case .cell: continue
            }
            guard let start = bytes.baseAddress, start - base == end else {
                throw damage("the elements of a list overlap")
            }
            end += bytes.count
        }
        guard end == length else {
            throw damage("a block of list elements is longer than its elements")
        }
    }

    /// A block of elements of whatever type it says.
    init(
        ofAnyType base: UnsafeRawPointer, available: Int, page: PageNumber, before: Int = 0
    ) throws(StorageError) {
        guard available >= ElementLayout.codes,
            let type = ColumnType(
                rawValue: UInt8(truncatingIfNeeded: base.uint8(at: ElementLayout.type))),
            type != .list
        else { throw .corrupt(page: page, reason: "a block of list elements contradicts itself") }
        try self.init(
            base, available: available, kind: ElementKind(type: type, isNullable: true), page: page,
            before: before)
    }

    private func damage(_ reason: String) -> StorageError { .corrupt(page: page, reason: reason) }
}
