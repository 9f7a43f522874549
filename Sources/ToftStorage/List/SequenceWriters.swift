/// The sequences of the version being made: makes, changes and drops those of lists that are too
/// long for their cluster.
final class SequenceWriters {
    private let catalog: CatalogWriter
    private let pages: PageWriter
    private let scratch: ScratchBuffers
    /// The writer that was used last: changes of one list often follow each other.
    private var last: (id: TreeID, writer: SequenceWriter)?

    init(in catalog: CatalogWriter, pages: PageWriter, scratch: ScratchBuffers) {
        self.catalog = catalog
        self.pages = pages
        self.scratch = scratch
    }

    /// The writer of a sequence.
    ///
    /// - Throws: `noSuchTree`.
    func writer(_ id: TreeID) throws(StorageError) -> SequenceWriter {
        if let last, last.id == id { return last.writer }
        let reader = try catalog.reader.sequence(id)
        let writer = SequenceWriter(reader, pages: pages, scratch: scratch)
        last = (id, writer)
        return writer
    }

    /// Makes an empty sequence.
    func create() -> (id: TreeID, writer: SequenceWriter) {
        let head = TreeHead(kind: .sequence)
        let id = catalog.add(head)
        let reader = SequenceReader(pages: pages.reader, head: head)
        return (id, SequenceWriter(reader, pages: pages, scratch: scratch))
    }

    /// Frees a sequence and all that it holds. O(its elements).
    func drop(_ id: TreeID) throws(StorageError) {
        try writer(id).freeAll()
        last = nil
        try catalog.remove(id)
    }
}
