/// The codes of a column of lists of bytes that have few different elements: each text once for all
/// lists in the cluster, and one byte for each element. Made when a cluster is written anew; a list
/// that changes later has its own texts again.
struct ListCodes {
    /// The codes of all elements, one list after the other; 0 is null.
    private(set) var elements: [UInt8] = []
    private var distinct: DistinctTexts
    /// Bytes of heap that the column takes.
    private(set) var heap: Int

    /// The different texts, in the sources' memory.
    var texts: [UnsafeRawBufferPointer] { distinct.texts }

    /// Nil if codes would save less than an eighth, an element is a long one, or all codes are
    /// taken. O(elements).
    ///
    /// - Parameter plain: bytes of heap that the lists take without codes.
    init?(_ column: Column, _ sources: [ClusterSource], plain: Int) throws(StorageError) {
        guard column.elementType == .bytes else { return nil }
        distinct = DistinctTexts(limit: ClusterLimits.codedTexts)
        heap = ElementLayout.values
        for source in sources {
            guard let slice = try source.cluster.slice(ofColumn: column) else { continue }
            for row in source.rows {
                let cell = slice.heapCell(row)
                if cell.raw == 0 { continue }
                if cell.isExternal {
                    heap += cell.length
                    continue
                }
                let block = try source.cluster.block(cell, slice, column.elementKind)
                heap += ElementLayout.codes + block.count
                guard try add(block) else { return nil }
            }
        }
        heap += texts.count * ElementLayout.slotSize + distinct.bytes
        guard texts.count > 0, heap < plain * 7 / 8 else { return nil }
        distinct.sort(&elements)
    }

    /// False if the elements cannot all be coded.
    private mutating func add(_ block: ElementBlock) throws(StorageError) -> Bool {
        for index in 0..<block.count {
            switch try block.element(index) {
            case .cell(.bytes(let text)):
                guard let code = distinct.code(of: text) else { return false }
                elements.append(code)
            case .cell: elements.append(0)
            case .blob: return false
            }
        }
        return true
    }
}
