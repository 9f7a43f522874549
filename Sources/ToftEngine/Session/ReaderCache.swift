internal import ToftModel

/// The readers of the classes that a session has read last: a link may lead to another class and
/// the next one back.
///
/// Not used in a write transaction, nor when frozen: threads may then share the session. Empty once
/// the session has moved: a reader holds pages of its version.
struct ReaderCache {
    /// A session's state for reading further objects of a class that it has read.
    private struct Entry {
        /// The epoch for which it is valid; otherwise 0.
        var epoch: UInt64 = 0
        var classID: ClassID = 0
        private let owned: RowReader?
        /// Counted by `owned` alone: good as long as nothing else is read last.
        let reader: Unmanaged<RowReader>?

        init(epoch: UInt64 = 0, classID: ClassID = 0, reader: RowReader? = nil) {
            self.epoch = epoch
            self.classID = classID
            owned = reader
            self.reader = reader.map { .passUnretained($0) }
        }

        @inline(__always)
        func serves(_ id: ClassID, _ now: UInt64) -> Bool { epoch == now && classID == id }
    }

    private static let mostBefore = 3

    private var last = Entry()
    /// `last` of the classes read before that.
    private var before: [Entry] = []

    /// The reader of a class, if it is the one that was read last.
    @inline(__always)
    func last(of id: ClassID, at epoch: UInt64) -> Unmanaged<RowReader>? {
        last.serves(id, epoch) ? last.reader : nil
    }

    /// Finds or opens the reader of a class, which is then the last one.
    mutating func open(_ id: ClassID, at epoch: UInt64, in view: ModelView) throws(ModelError) {
        for index in before.indices where before[index].serves(id, epoch) {
            swap(&last, &before[index])
            return
        }
        let reader = try RowReader(view, of: try view.schema.classHandle(id: id))
        if last.epoch == epoch { before.insert(last, at: 0) } else { before = [] }
        if before.count > Self.mostBefore { before.removeLast() }
        last = Entry(epoch: epoch, classID: id, reader: reader)
    }
}
