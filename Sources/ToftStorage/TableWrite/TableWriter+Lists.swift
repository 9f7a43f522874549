/// Changes of lists. An index is that of the element; if the list has no such element,
/// `indexOutOfRange` is thrown and nothing has changed.
extension TableWriter {
    /// Inserts an element before `index`, or at the end.
    func listInsert(_ key: Int64, _ columnID: UInt32, at index: Int, _ cell: Cell)
        throws(StorageError)
    {
        let column = try reader.listColumn(columnID)
        try column.checkElement(cell)
        let list = try state(key, column)
        guard index >= 0, index <= list.count else {
            throw .indexOutOfRange(index: index, count: list.count)
        }
        try insert(try element(cell), at: index, list)
    }

    /// Replaces an element.
    func listSet(_ key: Int64, _ columnID: UInt32, at index: Int, _ cell: Cell)
        throws(StorageError)
    {
        let column = try reader.listColumn(columnID)
        try column.checkElement(cell)
        let list = try state(key, column)
        let old = try list.element(index)
        let new = try element(cell)
        try freeBlob(of: old)
        try replace(index, with: new, list)
    }

    /// Removes an element.
    func listErase(_ key: Int64, _ columnID: UInt32, at index: Int) throws(StorageError) {
        let list = try state(key, try reader.listColumn(columnID))
        try freeBlob(of: try list.element(index))
        try remove(index, list)
    }

    /// Moves an element, whose index is `destination` afterwards.
    func listMove(_ key: Int64, _ columnID: UInt32, from index: Int, to destination: Int)
        throws(StorageError)
    {
        let column = try reader.listColumn(columnID)
        let list = try state(key, column)
        guard destination >= 0, destination < list.count else {
            throw .indexOutOfRange(index: destination, count: list.count)
        }
        let moved = copied(try list.element(index), to: scratch.element)
        guard index != destination else { return }
        try remove(index, list)
        try insert(moved, at: destination, try state(key, column))
    }

    /// Exchanges two elements.
    func listSwap(_ key: Int64, _ columnID: UInt32, _ first: Int, _ second: Int)
        throws(StorageError)
    {
        let column = try reader.listColumn(columnID)
        let list = try state(key, column)
        let one = copied(try list.element(first), to: scratch.element)
        let other = copied(try list.element(second), to: scratch.otherElement)
        guard first != second else { return }
        try replace(first, with: other, list)
        try replace(second, with: one, try state(key, column))
    }

    /// Removes all elements.
    func listClear(_ key: Int64, _ columnID: UInt32) throws(StorageError) {
        let list = try state(key, try reader.listColumn(columnID))
        if case .block(let block) = list.content { try block.freeBlobs(in: pages) }
        try empty(list)
    }

    // MARK: The parts of a change

    /// A list while it is changed.
    private struct ListState {
        enum Content {
            case empty
            case block(ElementBlock)
            case sequence(SequenceWriter)
        }

        let key: Int64
        let column: Column
        let content: Content

        var count: Int {
            switch content {
            case .empty: 0
            case .block(let block): block.count
            case .sequence(let tree): tree.reader.count
            }
        }

        /// An element as it is stored.
        func element(_ index: Int) throws(StorageError) -> Element {
            guard index >= 0, index < count else {
                throw .indexOutOfRange(index: index, count: count)
            }
            switch content {
            case .empty: return .cell(.null)
            case .block(let block): return try block.element(index)
            case .sequence(let tree):
                let (block, position) = try tree.reader.block(at: index)
                return try block.element(position)
            }
        }
    }

    /// Rewrites no cluster, so that borrowed bytes stay valid.
    private func state(_ key: Int64, _ column: Column) throws(StorageError) -> ListState {
        let (leaf, row) = try locateForWrite(key)
        guard let slice = try leaf.cluster.slice(ofColumn: column) else {
            return ListState(key: key, column: column, content: .empty)
        }
        let cell = slice.heapCell(row)
        if cell.raw == 0 { return ListState(key: key, column: column, content: .empty) }
        if cell.isExternal {
            let bytes = try leaf.cluster.heapBytes(cell)
            return ListState(
                key: key, column: column,
                content: .sequence(try sequence(bytes, leaf.cluster.page, column.elementKind)))
        }
        return ListState(
            key: key, column: column,
            content: .block(try leaf.cluster.block(cell, slice, column.elementKind)))
    }

    /// The element that stores a value: long bytes go to a blob. Short ones are copied, since the
    /// caller's may be in memory that is about to be rewritten.
    private func element(_ cell: Cell) throws(StorageError) -> Element {
        guard case .bytes(let bytes) = cell, bytes.count > TreeLimits.inlineValue else {
            return copied(.cell(cell), to: scratch.element)
        }
        try pages.writeBlob(bytes).encode(to: scratch.element)
        return .blob(UnsafeRawBufferPointer(start: scratch.element, count: Ref.size))
    }

    /// An element whose bytes are in scratch memory.
    private func copied(_ element: Element, to copy: UnsafeMutableRawPointer) -> Element {
        switch element {
        case .blob(let bytes): return .blob(store(bytes, in: copy))
        case .cell(.bytes(let bytes)): return .cell(.bytes(store(bytes, in: copy)))
        case .cell: return element
        }
    }

    private func store(_ bytes: UnsafeRawBufferPointer, in copy: UnsafeMutableRawPointer)
        -> UnsafeRawBufferPointer
    {
        if let source = bytes.baseAddress { copy.store(source, count: bytes.count, at: 0) }
        return UnsafeRawBufferPointer(start: copy, count: bytes.count)
    }

    private func freeBlob(of element: Element) throws(StorageError) {
        if case .blob(let bytes) = element, let ref = bytes.baseAddress {
            try pages.free(Ref(decoding: ref))
        }
    }

    private func insert(_ element: Element, at index: Int, _ list: ListState) throws(StorageError) {
        if case .sequence(let tree) = list.content { return try tree.insert(element, at: index) }
        try edit(list, ElementEdit(replacing: index..<index, with: element))
    }

    private func replace(_ index: Int, with element: Element, _ list: ListState)
        throws(StorageError)
    {
        if case .sequence(let tree) = list.content {
            return try tree.replace(at: index, with: element)
        }
        try edit(list, ElementEdit(replacing: index..<index + 1, with: element))
    }

    private func remove(_ index: Int, _ list: ListState) throws(StorageError) {
        if list.count == 1 { return try empty(list, isFreed: true) }
        if case .sequence(let tree) = list.content { return try tree.remove(at: index) }
        try edit(list, ElementEdit(replacing: index..<index + 1, with: nil))
    }

    /// Makes a list empty; its sequence tree is removed, with the blobs in it unless they are freed
    /// already.
    private func empty(_ list: ListState, isFreed: Bool = false) throws(StorageError) {
        if case .sequence(let tree) = list.content, isFreed { try tree.remove(at: 0) }
        let (leaf, row, slice) = try locateCell(list.key, list.column)
        try freeExternal(leaf.cluster, slice, row)
        leaf.editor.setEmpty(slice, row)
    }

    /// Changes the block of a short list; a long one moves to a sequence tree.
    private func edit(_ list: ListState, _ edit: ElementEdit) throws(StorageError) {
        let kind = list.column.elementKind
        let old = try block(of: list)
        let new = try edit.apply(
            to: old, kind: kind, in: scratch.block, capacity: ScratchBuffers.blockSize)
        let (leaf, _) = try locateForWrite(list.key)
        let bytes = UnsafeRawBufferPointer(start: new.base, count: new.length)
        if new.length > inlineLimit(leaf.cluster, ClusterLimits.inlineList) {
            return try moveToSequence(list, new, kind)
        }
        let isGrowing = new.length > old.length && old.count > 0
        let reserve = (isGrowing ? new.length + new.length / 2 : new.length).roundedUpToEight
        try setHeap(list.key, list.column, bytes, reserve: reserve, isExternal: false)
    }

    private func block(of list: ListState) throws(StorageError)
        -> ElementBlock
    {
        if case .block(let block) = list.content { return block }
        _ = try ElementWriter(
            scratch.emptyBlock, capacity: ElementLayout.values, kind: list.column.elementKind,
            count: 0, page: 0)
        return try ElementBlock(
            scratch.emptyBlock, available: ElementLayout.values, kind: list.column.elementKind,
            page: 0)
    }

    private func moveToSequence(
        _ list: ListState, _ block: ElementBlock, _ kind: ElementKind
    ) throws(StorageError) {
        let (id, sequence) = sequences.create()
        try sequence.fill(from: block, kind: kind)
        scratch.sequenceID.storeUInt64(id, at: 0)
        let bytes = UnsafeRawBufferPointer(
            start: scratch.sequenceID, count: ClusterLayout.sequenceIDSize)
        try setHeap(
            list.key, list.column, bytes, reserve: ClusterLayout.sequenceIDSize, isExternal: true)
    }
}

extension Column {
    /// Throws if a list cannot hold an element.
    func checkElement(_ cell: Cell) throws(StorageError) {
        let element = Column(id: id, type: elementType ?? .list, isNullable: elementIsNullable)
        guard element.accepts(cell) else {
            throw .typeMismatch(
                "the list in column \(id) holds "
                    + "\(element.type)\(elementIsNullable ? "" : ", not null")"
            )
        }
        if case .bytes(let bytes) = cell, bytes.count > TreeLimits.value {
            throw .valueTooLong(length: bytes.count, limit: TreeLimits.value)
        }
    }
}
