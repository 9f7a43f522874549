/// The list of one row, for reading: in its cluster while short, in a sequence tree of its own when
/// long. Good until the snapshot is released, in a write transaction until the next change of the
/// table or the list.
package struct ListView {
    private enum Storage {
        case empty
        case block(ElementBlock)
        case sequence(SequenceTree)
    }

    private let storage: Storage
    private let space: PageSpace
    /// Elements of the list.
    package let count: Int
    /// Elements that memory is reserved for before they are read: a damaged file may count too
    /// many.
    package var reservedCount: Int { min(count, 65_536) }

    static func empty(in space: PageSpace) -> ListView {
        ListView(storage: .empty, space: space, count: 0)
    }

    private init(storage: Storage, space: PageSpace, count: Int) {
        self.storage = storage
        self.space = space
        self.count = count
    }

    init(_ block: ElementBlock, in space: PageSpace) {
        self.init(storage: .block(block), space: space, count: block.count)
    }

    init(_ sequence: SequenceTree, in space: PageSpace) {
        self.init(storage: .sequence(sequence), space: space, count: sequence.count)
    }

    /// The element at an index. O(1) in a short list, O(log count) in a long one.
    package func cell(at index: Int) throws(StorageError) -> Cell {
        guard index >= 0, index < count else { throw .indexOutOfRange(index: index, count: count) }
        switch storage {
        case .empty: throw .indexOutOfRange(index: index, count: 0)
        case .block(let block): return try ListBlock(block, space).cell(at: index)
        case .sequence(let tree):
            let (block, place) = try tree.block(at: index)
            return try ListBlock(block, space).cell(at: place)
        }
    }

    /// All elements as aligned numbers: where they are integers that cannot be null and the list is
    /// short.
    package var int64s: UnsafePointer<Int64>? {
        guard case .block(let block) = storage else { return nil }
        return block.int64s
    }

    /// Calls `body` for each run of elements in order until it returns false.
    package func forEachBlock(_ body: (ListBlock) throws(StorageError) -> Bool) throws(StorageError)
    {
        switch storage {
        case .empty: return
        case .block(let block): _ = try body(ListBlock(block, space))
        case .sequence(let tree):
            try tree.forEachBlock { (block) throws(StorageError) in
                try body(ListBlock(block, space))
            }
        }
    }
}

/// A run of elements of a list that lie side by side.
package struct ListBlock {
    private let block: ElementBlock
    private let space: PageSpace

    init(_ block: ElementBlock, _ space: PageSpace) {
        self.block = block
        self.space = space
    }

    /// Elements of the run.
    package var count: Int { block.count }

    /// The elements as aligned numbers, where they are integers that cannot be null.
    package var int64s: UnsafePointer<Int64>? { block.int64s }

    /// The element at an index of the run.
    package func cell(at index: Int) throws(StorageError) -> Cell {
        guard index >= 0, index < block.count else {
            throw .indexOutOfRange(index: index, count: block.count)
        }
        switch try block.element(index) {
        case .cell(let cell): return cell
        case .blob(let bytes): return .bytes(try space.blob(try Table.blobRef(bytes, block.page)))
        }
    }
}
