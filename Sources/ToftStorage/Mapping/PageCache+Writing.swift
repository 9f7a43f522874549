internal import Synchronization
internal import ToftPlatform

extension PageCache {
    /// Writes bytes of pages. They must be read again if they are buffered: a transaction may write
    /// its own pages more than once.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) {
        forget(offset, bytes.count)
        try file.write(bytes, at: offset)
    }

    /// As `write`, of several pieces that follow each other.
    func write(_ pieces: [UnsafeRawBufferPointer], at offset: UInt64) throws(StorageError) {
        forget(offset, pieces.reduce(0) { $0 + $1.count })
        try file.write(pieces, at: offset)
    }

    private func forget(_ offset: UInt64, _ count: Int) {
        guard mode != .mapped, count > 0 else { return }
        let first = PageNumber(ofByte: offset)
        let last = PageNumber(ofByte: offset + UInt64(count) - 1)
        guard let (words, count) = regions.presentWords(first, Int(last - first) + 1) else {
            return
        }
        for index in 0..<count where words[index].load(ordering: .relaxed) != 0 {
            words[index].store(Self.forgotten, ordering: .relaxed)
        }
    }

    /// Remembers pages that this process has just written from `base` as verified. Buffered pages
    /// are read when they are needed. Decrypting costs more than keeping them, so encrypted ones
    /// are kept as long as new snapshots use this memory.
    func noteWritten(
        _ page: PageNumber, count: Int, birth: Version, from base: UnsafeRawPointer
    ) {
        guard mode != .mapped else { return noteMapped(page, count, birth) }
        guard file.cipher != nil, mode != .scan, let place = try? locate(page, count: count) else {
            return
        }
        filled.withLock { filled in
            guard filled.size < limit else { return }
            let new = (0..<count).count { place.word[$0].load(ordering: .relaxed) == 0 }
            note(page, new, &filled, joins: false)
            UnsafeMutableRawPointer(mutating: place.base).copyMemory(
                from: base, byteCount: count * Page.size)
            for index in 0..<count {
                place.word[index].store(birth.rawValue, ordering: .releasing)
            }
        }
    }

    /// The mapping shows the written pages, unless it shows another file or pages of this process
    /// have replaced it: they are replaced once more then.
    private func noteMapped(_ page: PageNumber, _ count: Int, _ birth: Version) {
        var known = birth.rawValue
        if isStale.load(ordering: .sequentiallyConsistent) {
            guard let (base, _) = try? locate(page, count: count) else { return }
            let place = UnsafeMutableRawPointer(mutating: base)
            if (try? show(page, count, place, unlessSame: false)) != true { known = 0 }
        }
        guard let (words, count) = regions.presentWords(page, count) else { return }
        for index in 0..<count { words[index].store(known, ordering: .relaxed) }
    }

    /// Allocates large pages of the machine for runs that will fill much of an empty block, which
    /// `noteWritten` gets next: in the order of their pages.
    func makeRoom(for runs: [(page: PageNumber, count: Int)]) {
        guard file.cipher != nil, mode != .scan else { return }
        filled.withLock { $0.makeRoom(for: runs, in: regions, limit: limit) }
    }
}
