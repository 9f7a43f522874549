/// The list of one row, for reading: in its cluster while short, in a sequence tree of its own when
/// long. Valid until the snapshot is released, in a write transaction until the next change of the
/// table or the list.
package struct ListView {
    private enum Storage {
        case empty
        case block(ElementBlock)
        case sequence(SequenceReader)
    }

    private let storage: Storage
    private let pages: PageReader
    /// Elements of the list.
    package let count: Int
    /// Elements that memory is reserved for before they are read: a damaged file may count too
    /// many.
    package var reservedCount: Int { min(count, 65_536) }

    static func empty(in pages: PageReader) -> ListView {
        ListView(storage: .empty, pages: pages, count: 0)
    }

    private init(storage: Storage, pages: PageReader, count: Int) {
        self.storage = storage
        self.pages = pages
        self.count = count
    }

    init(_ block: ElementBlock, in pages: PageReader) {
        self.init(storage: .block(block), pages: pages, count: block.count)
    }

    init(_ sequence: SequenceReader, in pages: PageReader) {
        self.init(storage: .sequence(sequence), pages: pages, count: sequence.count)
    }

    /// The element at an index. O(1) in a short list, O(log count) in a long one.
    package func cell(at index: Int) throws(StorageError) -> Cell {
        guard index >= 0, index < count else { throw .indexOutOfRange(index: index, count: count) }
        switch storage {
        case .empty: throw .indexOutOfRange(index: index, count: 0)
        case .block(let block): return try ListBlock(block, pages).cell(at: index)
        case .sequence(let tree):
            let (block, position) = try tree.block(at: index)
            return try ListBlock(block, pages).cell(at: position)
        }
    }

    /// All elements as aligned numbers, if they are non-nullable integers and the list is short.
    package var int64s: UnsafePointer<Int64>? {
        guard case .block(let block) = storage else { return nil }
        return block.int64s
    }

    /// Calls `body` for each run of elements in order until it returns false.
    func forEachBlock(_ body: (ListBlock) throws(StorageError) -> Bool) throws(StorageError) {
        switch storage {
        case .empty: return
        case .block(let block): _ = try body(ListBlock(block, pages))
        case .sequence(let tree):
            try tree.forEachBlock { (block) throws(StorageError) in
                try body(ListBlock(block, pages))
            }
        }
    }
}

/// A contiguous run of a list's elements.
struct ListBlock {
    private let block: ElementBlock
    private let pages: PageReader

    init(_ block: ElementBlock, _ pages: PageReader) {
        self.block = block
        self.pages = pages
    }

    /// Elements of the run.
    var count: Int { block.count }

    /// The elements as aligned numbers, if they are non-nullable integers.
    var int64s: UnsafePointer<Int64>? { block.int64s }

    /// The element at an index of the run.
    func cell(at index: Int) throws(StorageError) -> Cell {
        guard index >= 0, index < block.count else {
            throw .indexOutOfRange(index: index, count: block.count)
        }
        switch try block.element(index) {
        case .cell(let cell): return cell
        case .blob(let bytes): return .bytes(try pages.blob(try Ref(blob: bytes, page: block.page)))
        }
    }
}
