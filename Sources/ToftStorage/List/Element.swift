/// An element of a list as a block stores it.
enum Element {
    /// The value itself, or null.
    case cell(Cell)
    /// The encoded reference of the blob that holds the bytes.
    case blob(UnsafeRawBufferPointer)

    /// The bytes that it takes besides its slot, in a block of bytes.
    @inline(__always)
    var heapBytes: Int {
        switch self {
        case .cell(.bytes(let bytes)): bytes.count
        case .cell: 0
        case .blob: Ref.size
        }
    }
}

/// The type of a list's elements.
struct ElementKind: Equatable {
    let type: ColumnType
    let isNullable: Bool

    /// Whether a list of such elements may belong to a column with its own type of elements: these
    /// may have become nullable since.
    func fits(_ column: ElementKind) -> Bool {
        type == column.type && (column.isNullable || !isNullable)
    }

    /// Bytes of a block with `count` elements, whose heap takes `heapBytes`.
    @inline(__always)
    func blockSize(count: Int, heapBytes: Int) -> Int {
        guard let width = type.elementWidth else {
            return ElementLayout.values + count * ElementLayout.slotSize + heapBytes
        }
        return nullsOffset(count: count, width: width) + (isNullable ? nullBytes(count) : 0)
    }

    @inline(__always)
    func nullsOffset(count: Int, width: Int) -> Int {
        ElementLayout.values + (count * width).roundedUpToEight
    }

    @inline(__always)
    func nullBytes(_ count: Int) -> Int { (count + 63) / 64 * 8 }
}

extension Column {
    /// The type of a list column's elements.
    var elementKind: ElementKind {
        ElementKind(type: elementType ?? .bool, isNullable: elementIsNullable)
    }
}
