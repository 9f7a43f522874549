internal import Synchronization
internal import ToftPlatform

extension PageCache {
    /// Most pages that are read at once, if one run follows the other.
    private static let longestRun = 64

    /// Reads pages for the first time, has them verified, and remembers them. They are in one
    /// extent that was located.
    ///
    /// - Parameter verify: gets the first byte of the pages, and decrypts them there.
    func admit(
        _ page: PageNumber, count: Int, birth: Version,
        _ verify: (UnsafeMutableRawPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        let (base, words) = try locate(page, count: count)
        let place = UnsafeMutableRawPointer(mutating: base)
        guard mode != .mapped else {
            try admitMapped(page, count, place, verify)
            for index in 0..<count { words[index].store(birth.rawValue, ordering: .releasing) }
            return
        }
        try filled.withLock { filled throws(StorageError) in
            let known = (0..<count).map { words[$0].load(ordering: .relaxed) }
            if known.allSatisfy({ $0 == birth.rawValue }) { return }
            note(page, known.count { $0 == 0 }, &filled)
            // A wrong reference decrypts to garbage, which would replace a valid version.
            if file.cipher != nil, known.contains(where: { $0 != 0 && $0 != Self.forgotten }) {
                return try replace(page, count, birth, place, words, verify)
            }
            for index in 0..<count { words[index].store(Self.forgotten, ordering: .relaxed) }
            try file.read(page, count: count, into: place)
            try verify(place)
            for index in 0..<count { words[index].store(birth.rawValue, ordering: .releasing) }
        }
    }

    /// Counts pages that take memory from now on. Written pages join no blocks: most are not read
    /// again soon, and joining takes as long as writing.
    func note(_ page: PageNumber, _ count: Int, _ filled: inout FilledPages, joins: Bool = true) {
        if mode == .scan { return filled.add(count) }
        filled.add(count, at: page, of: regions, joins: joins)
    }

    /// Reads pages in whose memory another version is: it stays until they are verified.
    @inline(never)
    private func replace(
        _ page: PageNumber, _ count: Int, _ birth: Version, _ place: UnsafeMutableRawPointer,
        _ words: UnsafeMutablePointer<Atomic<UInt64>>,
        _ verify: (UnsafeMutableRawPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        let aside = UnsafeMutableRawPointer.allocate(
            byteCount: count * Page.size, alignment: Page.size)
        defer { aside.deallocate() }
        try file.read(page, count: count, into: aside)
        try verify(aside)
        for index in 0..<count { words[index].store(Self.forgotten, ordering: .relaxed) }
        place.copyMemory(from: aside, byteCount: count * Page.size)
        for index in 0..<count { words[index].store(birth.rawValue, ordering: .releasing) }
    }

    /// Reads and decrypts extents of an encrypted file before they are wanted, on several threads.
    /// One that can't be read, that is damaged, or in whose pages another version is, is left to
    /// `admit`.
    func admitAhead(_ refs: [Ref], as type: ExtentType) {
        guard let cipher = file.cipher else { return }
        filled.withLock { filled in
            var extents: [(ref: Ref, memory: ExtentMemory)] = []
            var end = Page.firstData
            // A damaged file may name pages twice, which no two threads may fill.
            for ref in refs.sorted(by: { $0.page < $1.page }) where ref.page >= end {
                let count = Int(ref.pageCount)
                guard (1...ExtentLimit.pages).contains(count),
                    let (base, words) = try? locate(ref.page, count: count)
                else { continue }
                let known = (0..<count).map { words[$0].load(ordering: .relaxed) }
                guard known.allSatisfy({ $0 == 0 || $0 == Self.forgotten }) else { continue }
                note(ref.page, known.count { $0 == 0 }, &filled)
                for index in 0..<count { words[index].store(Self.forgotten, ordering: .relaxed) }
                end = ref.page + UInt64(count)
                extents.append((ref, ExtentMemory(UnsafeMutableRawPointer(mutating: base), words)))
            }
            let work = extents, file = file
            SharedWork<Never>.run(work.count) { index in
                let (ref, memory) = work[index]
                let count = Int(ref.pageCount)
                guard (try? file.read(ref.page, count: count, into: memory.base)) != nil,
                    (try? cipher.decrypt(memory.base, ref, type)) != nil
                else { return }
                for index in 0..<count {
                    memory.words[index].store(ref.birth.rawValue, ordering: .releasing)
                }
            }
        }
    }

    /// The memory of an extent, which one thread fills.
    private struct ExtentMemory: @unchecked Sendable {
        let base: UnsafeMutableRawPointer
        let words: UnsafeMutablePointer<Atomic<UInt64>>

        init(_ base: UnsafeMutableRawPointer, _ words: UnsafeMutablePointer<Atomic<UInt64>>) {
            self.base = base
            self.words = words
        }
    }

    // MARK: Mapped

    private func admitMapped(
        _ page: PageNumber, _ count: Int, _ place: UnsafeMutableRawPointer,
        _ verify: (UnsafeMutableRawPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        var isShown = false
        do throws(StorageError) {
            try populate(page, count, place)
            isShown = true
            try verify(place)
        } catch {
            // A failing device is reported for both: reading around it would hide that.
            if !isShown, !error.isBadAddress { throw error }
            guard try show(page, count, place, unlessSame: isShown) else { throw error }
            try verify(place)
        }
    }

    /// Replaces mapped pages by those that the descriptor has. A reader of others in the same
    /// pages of memory sees the same as before.
    ///
    /// - Parameter unlessSame: whether the mapping can be read, and nothing is to be done if it
    ///   shows the same.
    /// - Returns: whether they were replaced.
    func show(
        _ page: PageNumber, _ count: Int, _ place: UnsafeMutableRawPointer, unlessSame: Bool
    ) throws(StorageError) -> Bool {
        try filled.withLock { _ throws(StorageError) in
            let unit = Machine.memoryPageSize
            let lead = Int(bitPattern: place) % unit
            let count = count * Page.size
            let (start, offset) = (place - lead, page.byteOffset - UInt64(lead))
            let buffer = UnsafeMutableRawBufferPointer.allocate(
                byteCount: (lead + count + unit - 1) / unit * unit, alignment: Page.size)
            defer { buffer.deallocate() }
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            // Set before the file is read: a writer that does not see it yet has written before.
            let wasStale = isStale.exchange(true, ordering: .sequentiallyConsistent)
            // The last page of memory may reach beyond the file.
            guard let memory = regions.memory(of: page),
                let size = try? file.size(), size >= page.byteOffset + UInt64(count),
                (try? file.read(
                    into: UnsafeMutableRawBufferPointer(
                        rebasing: buffer[..<Int(min(UInt64(buffer.count), size - offset))]),
                    at: offset)) != nil,
                case let found = UnsafeRawBufferPointer(rebasing: buffer[lead..<lead + count]),
                !unlessSame
                    || !found.isSame(as: UnsafeRawBufferPointer(start: place, count: count))
            else {
                if !wasStale { isStale.store(false, ordering: .sequentiallyConsistent) }
                return false
            }
            try system(memory.replace(at: start, by: UnsafeRawBufferPointer(buffer)))
            return true
        }
    }

    /// Reads mapped pages into memory: these, or, if they follow the last ones that were read, some
    /// more, so that a scan makes few and large requests.
    private func populate(_ page: PageNumber, _ count: Int, _ base: UnsafeRawPointer)
        throws(StorageError)
    {
        let last = lastRun.load(ordering: .relaxed)
        let lastStart = PageNumber(last >> 24)
        let lastCount = Int(last & 0xFF_FFFF)
        let lastEnd = lastStart + UInt64(lastCount)
        if page >= lastStart && page + UInt64(count) <= lastEnd { return }
        var run = count
        if page >= lastStart && page <= lastEnd + UInt64(Self.longestRun / 4) {
            run = max(
                count, min(lastCount * 2, Self.longestRun, regions.presentCount(from: page)))
        }
        if run > count,
            (try? file.populate(page, count: run, at: base, readingAhead: true)) != nil
        {
            lastRun.store(page.rawValue << 24 | UInt64(run), ordering: .relaxed)
            return
        }
        try file.populate(page, count: count, at: base, readingAhead: count > 1)
        lastRun.store(page.rawValue << 24 | UInt64(count), ordering: .relaxed)
    }
}

extension StorageError {
    /// Whether the mapping has nothing at an address.
    fileprivate var isBadAddress: Bool {
        if case .io(_, _, SystemError.badAddress) = self { true } else { false }
    }
}
