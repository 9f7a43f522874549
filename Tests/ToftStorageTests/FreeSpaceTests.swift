// Tests: FreeSpace.swift, Bitmap.swift, BitmapAllocator.swift, FreeSpace+Finish.swift,
// FreeSpaceReader.swift, PageRuns.swift, PageSet.swift, PageWriter.swift, ReplayedVersion.swift,
// Root.swift, RunTree.swift, SealedWriter.swift, Snapshot.swift, StoreCheck.swift,
// TableReader+Check.swift
import Testing

import ToftPlatform
@testable import ToftStorage

@Suite struct FreeSpaceTests {
    @Test func `A run is pinned by a version within its lifetime and by no other`() {
        #expect(FreeSpace.pin(from: 5, before: 9, of: [5]) == 5)
        #expect(FreeSpace.pin(from: 5, before: 9, of: [1, 8, 20]) == 8)
        #expect(FreeSpace.pin(from: 5, before: 9, of: [4, 9]) == nil)
        #expect(FreeSpace.pin(from: 5, before: 9, of: []) == nil)
    }

    @Test func `A bitmap gives the lowest run and takes it back`() {
        let bitmap = Bitmap()
        func take(_ count: Int) -> Int? {
            guard let start = bitmap.run(of: count, below: Page.perRegion) else { return nil }
            return bitmap.take(start, count: count) ? start : nil
        }
        #expect(take(3) == 0)
        #expect(take(1) == 3)
        #expect(take(100) == 4)
        #expect(bitmap.release(1, count: 2))
        #expect(!bitmap.release(1, count: 1), "a page that is free cannot be given back")
        #expect(bitmap.fragment(of: 1, below: Page.perRegion) == 1)
        #expect(
            bitmap.fragment(of: 3, below: Page.perRegion) == nil,
            "what is left is no hole")
        #expect(bitmap.fragment(of: PageRuns.fragmentPages - 1, below: Page.perRegion) == nil)
        #expect(bitmap.fragment(of: PageRuns.fragmentPages, below: Page.perRegion) == nil)
        #expect(bitmap.fragment(of: PageRuns.fragmentPages + 1, below: Page.perRegion) == nil)
        #expect(take(3) == 104)
        #expect(take(2) == 1)
        #expect(bitmap.freePages == Page.perRegion - 107)
    }

    @Test func `A bitmap agrees with an array of booleans`() {
        var random = SplitMix(seed: 42)
        let bitmap = Bitmap()
        var model = [Bool](repeating: false, count: Page.perRegion)
        var held: [(Int, Int)] = []
        for _ in 0..<4000 {
            if random.next() % 3 == 0, let index = held.indices.randomElement(using: &random) {
                let (start, count) = held.remove(at: index)
                #expect(bitmap.release(start, count: count))
                for page in start..<(start + count) { model[page] = false }
            } else {
                let count = Int(random.next() % 20) + 1
                var expected: Int?
                var run = 0
                for page in model.indices {
                    run = model[page] ? 0 : run + 1
                    if run == count {
                        expected = page - count + 1
                        break
                    }
                }
                let start = bitmap.run(of: count, below: Page.perRegion)
                #expect(start == expected)
                guard let start else { continue }
                #expect(bitmap.take(start, count: count))
                for page in start..<(start + count) { model[page] = true }
                held.append((start, count))
            }
            guard random.next() % 16 == 0 else { continue }
            let count = Int(random.next() % UInt64(PageRuns.fragmentPages - 1)) + 1
            #expect(
                bitmap.fragment(of: count, below: Page.perRegion)
                    == Self.fragment(of: count, in: model))
        }
        #expect(bitmap.freePages == model.lazy.filter { !$0 }.count)
    }

    /// The start of the lowest run of free pages that is a fragment of `count` pages or more.
    private static func fragment(of count: Int, in model: [Bool]) -> Int? {
        var start = 0
        for page in 0...model.count where page == model.count || model[page] {
            if page - start >= count, page - start < PageRuns.fragmentPages { return start }
            start = page + 1
        }
        return nil
    }

    /// Each step searches for a number in the whole row, even if it has just grown.
    @Test func `The first number of a size is found in a row that grows and changes`() {
        var random = SplitMix(seed: 9)
        var row = FirstFit()
        var model: [Int] = []
        for _ in 0..<2_000 {
            let number = Int(random.next() % 40)
            if random.next() % 4 == 0 || model.isEmpty {
                row.append(number)
                model.append(number)
            } else {
                let index = Int(random.next() % UInt64(model.count))
                row[index] = number
                model[index] = number
            }
            let wanted = Int(random.next() % 41) + 1
            #expect(row.first(atLeast: wanted) == model.firstIndex { $0 >= wanted })
        }
    }

    /// A file of many regions, full except for a page here and there, far less than is taken.
    @Test func `A file grows where it has no run left, and later takes what was given back`()
        throws
    {
        let database = try ReadyPagesTests.Database()
        try database.put(0..<5_000, [UInt8](repeating: 7, count: 100))
        let writer = try database.store.beginWrite()
        defer { writer.rollback() }
        let space = writer.pages
        let free = try #require(space.freeSpace)
        _ = try free.takeAll(in: space)
        var taken: [PageNumber] = []
        for number in 0..<6_000 {
            taken.append(try free.allocate(number % 9 + 1, .long, in: space))
        }
        let end = free.filePages
        // Pages of one in ten extents, each too short for the next request.
        for (number, page) in taken.enumerated() where number % 10 == 1 {
            try free.release(page, count: number % 9 + 1, in: space)
        }
        for number in 0..<6_000 where number % 10 == 1 {
            let page = try free.allocate(number % 9 + 1, .long, in: space)
            #expect(page + UInt64(number % 9 + 1) <= PageNumber(end), "it lies in what was left")
        }
        #expect(free.filePages == end)
        let last = try free.allocate(9, .long, in: space)
        #expect(last + 9 > PageNumber(end - 2_000))
    }

    @Test func `Runs of pages agree with a set of pages`() {
        var random = SplitMix(seed: 7)
        var runs = PageRuns()
        var model = Set<PageNumber>()
        func numbers(_ page: PageNumber, _ count: Int) -> [PageNumber] {
            (0..<UInt64(count)).map { page + $0 }
        }
        let end = Page.first(ofRegion: 1)
        for _ in 0..<1000 {
            let count = Int(random.next() % 6) + 1
            if random.next() % 2 == 0 {
                let page = PageNumber(end.rawValue - 100 + random.next() % 200)
                if page < end && page + UInt64(count) > end { continue }
                let pages = numbers(page, count)
                let isNew = model.isDisjoint(with: pages)
                #expect(runs.insert(page, count: count) == isNew)
                if isNew { model.formUnion(pages) }
            } else {
                let kind = random.next() % 3
                func giveRest(_ run: PageRuns.Run) -> PageNumber {
                    if run.count > count {
                        _ = runs.insert(run.page + UInt64(count), count: run.count - count)
                    }
                    return run.page
                }
                let fitting = runs.runs.filter {
                    $0.count >= count && (kind > 0 || $0.count < PageRuns.fragmentPages)
                }
                let page =
                    kind == 0
                    ? runs.takeFromFragment(count)
                    : kind == 1
                        ? runs.takeRun(of: count).map(giveRest) : runs.takeFromLongest(count)
                #expect((page == nil) == fitting.isEmpty)
                guard let page else { continue }
                #expect(fitting.contains { $0.page == page })
                model.subtract(numbers(page, count))
            }
            #expect(Set(runs.runs.flatMap { numbers($0.page, $0.count) }) == model)
            for (first, second) in zip(runs.runs, runs.runs.dropFirst()) {
                #expect(
                    first.end < second.page || first.end == end && second.page == end,
                    "neighbours are one run, but for those of two regions")
            }
        }
    }

    @Test func `A new file is sound before it has any tree`() throws {
        let cache = PageCache(DataFile(MemoryFile(name: "new")))
        try Recovery.format(cache)
        let meta = try #require(try MetaPage.newest(fromDevice: false, of: cache.file)?.meta)
        #expect(meta.version == 1)
        #expect(meta.isClosedCleanly)
        let pages = PageReader(cache, version: 1)
        let root = try Root(reading: meta.root, in: pages)
        #expect(root.catalog.isEmpty)
        #expect(
            try FreeSpaceReader.regions(root.directory, in: pages).map(\.freePages) == [
                Page.perRegion - 3
            ])
    }
}

/// The sources of pages for a stream of transactions. The disk is a memory file; checkpoints happen
/// when they are called.
@Suite struct ReadyPagesTests {
    struct Database {
        let file = MemoryFile()
        let store: Store
        let tree: TreeID

        init() throws {
            try Store.format(file)
            store = try Store.open(on: file, coordinator: Coordinator.inMemory())
            let transaction = try store.beginWrite()
            tree = try transaction.createOrderedTree()
            _ = try transaction.commit()
        }

        func put(_ keys: some Sequence<Int>, _ value: [UInt8] = [1, 2, 3]) throws {
            let transaction = try store.beginWrite()
            for key in keys {
                try withUnsafeBytes(of: key.bigEndian) { key throws in
                    try value.withUnsafeBytes {
                        try transaction.treePut(tree, key, $0, derived: false)
                    }
                }
            }
            _ = try transaction.commit()
        }

        var root: Root {
            get throws {
                let snapshot = try store.beginRead()
                defer { snapshot.release() }
                return snapshot.root
            }
        }

        /// Pages that no version before the newest needs, and pages that wait.
        var pages: (ready: Int, waiting: Int) {
            get throws {
                let snapshot = try store.beginRead()
                defer { snapshot.release() }
                let runs = try RootPayload.runs(of: snapshot.rootRef, in: snapshot.pages)
                return runs.reduce(into: (0, 0)) {
                    if $1.isReclaimable { $0.0 += Int($1.count) } else { $0.1 += Int($1.count) }
                }
            }
        }

        func expectSound(_ comment: Comment? = nil) throws {
            #expect(try store.check().problems == [], comment)
        }
    }

    @Test func `A stream of small commits uses the same pages in turn and changes no bitmap`()
        throws
    {
        let database = try Database()
        try database.put(0..<5_000, [UInt8](repeating: 7, count: 100))
        for key in 0..<20 { try database.put([key]) }
        let root = try database.root
        let size = try database.file.size()
        for _ in 0..<500 { try database.put([17], [4, 5]) }
        #expect(try database.root.directory == root.directory)
        #expect(try database.root.batchList == root.batchList)
        #expect(try database.root.pageCount == root.pageCount)
        #expect(try database.file.size() == size)
        try database.expectSound()
    }

    @Test func `Small commits all over a large tree leave no more free pages than they need`()
        throws
    {
        let database = try Database()
        try database.put(0..<50_000, [UInt8](repeating: 7, count: 100))
        try database.store.checkpoint()
        let size = try database.file.size()
        var random = SplitMix(seed: 3)
        for round in 0..<4_000 {
            try database.put(
                [Int(random.next() % 50_000)], [UInt8](repeating: UInt8(round % 256), count: 100))
            if round % 200 == 199 { try database.store.checkpoint() }
            if round % 500 == 0 { try database.expectSound("round \(round)") }
        }
        let grown = try database.file.size() - size
        #expect(grown <= 8 << 20, "the file grew by \(grown) bytes")
        try database.expectSound()
    }

    @Test func `What a long reader needs is skipped unread and comes back when it goes`() throws {
        let database = try Database()
        try database.put(0..<20_000, [UInt8](repeating: 7, count: 100))
        try database.store.checkpoint()
        let reader = try database.store.beginRead()
        var random = SplitMix(seed: 5)
        for round in 0..<3_000 {
            try database.put(
                [Int(random.next() % 20_000)], [UInt8](repeating: UInt8(round % 256), count: 100))
            if round % 300 == 299 { try database.store.checkpoint() }
        }
        try database.expectSound()
        #expect(try StoreCheck.run(reader).problems == [])
        let batches = try FreeSpaceReader.batches(
            database.root.batchList,
            in: PageReader(database.store.cache, version: database.store.latestVersion))
        #expect(!batches.isEmpty)
        #expect(batches.count < 20, "small batches are joined")
        // The first one still takes in the pages that only the last checkpoint kept.
        try database.put([1])
        let list = try database.root.batchList
        for _ in 0..<10 { try database.put([1]) }
        #expect(try database.root.batchList == list, "a batch behind a pin was read")
        #expect(try reader.orderedTree(database.tree).count == 20_000)
        let waiting = try database.store.check().pinnedFreePages
        reader.release()
        try database.store.checkpoint()
        for _ in 0..<3 { try database.put([1]) }
        let report = try database.store.check()
        #expect(report.problems == [])
        #expect(report.pinnedFreePages < waiting / 10)
    }

    /// Commits to 1,000 entries, checkpoints now and then. Returns the bytes by which the file grew
    /// in the first 500 commits, and in the 3,000 after them.
    private func grow(_ database: Database, _ step: (Int) throws -> Void = { _ in }) throws -> (
        first: UInt64, later: UInt64
    ) {
        var random = SplitMix(seed: 11)
        let before = try database.file.size()
        var middle = before
        for round in 0..<3_500 {
            try step(round)
            let value = [UInt8](repeating: UInt8(round % 256), count: 60 + round % 60)
            try database.put([Int(random.next() % 1_000)], value)
            if round % 100 == 99 { try database.store.checkpoint() }
            if round == 500 { middle = try database.file.size() }
        }
        return (middle - before, try database.file.size() - middle)
    }

    @Test func `A reader that stays costs one copy of the data, however many commits there are`()
        throws
    {
        let database = try Database()
        try database.put(0..<1_000, [UInt8](repeating: 7, count: 100))
        for key in 0..<50 { try database.put([key]) }
        try database.store.checkpoint()
        let reader = try database.store.beginRead()
        let growth = try grow(database)
        // The step in which a file grows is 256 KiB; records may take as much.
        #expect(growth.first <= 768 << 10, "\(growth)")
        #expect(growth.later <= 256 << 10, "\(growth)")
        #expect(try reader.orderedTree(database.tree).count == 1_000)
        #expect(try StoreCheck.run(reader).problems == [])
        reader.release()
        try database.store.checkpoint()
        for _ in 0..<10 { try database.put([1]) }
        #expect(try database.store.check().pinnedFreePages < 60)
        try database.expectSound()
    }

    @Test func `Writing goes on while thousands of versions are kept`() throws {
        let database = try Database()
        try database.put(0..<20)
        var readers: [Snapshot] = []
        // With more than 8,000 readers the lists of kept pages outgrow the limit of one commit.
        for number in 0..<8_300 {
            readers.append(try database.store.beginRead())
            try database.put([number % 20])
        }
        for reader in [readers[0], readers[4_000]] {
            #expect(try reader.orderedTree(database.tree).count == 20)
            #expect(try StoreCheck.run(reader).problems == [])
        }
        for reader in readers { reader.release() }
        try database.expectSound()
    }

    @Test func `Readers that come and go cost as many copies as there are readers`() throws {
        let database = try Database()
        try database.put(0..<1_000, [UInt8](repeating: 7, count: 100))
        try database.store.checkpoint()
        var readers: [Snapshot] = []
        var random = SplitMix(seed: 12)
        let growth = try grow(database) { round in
            guard round % 10 == 0 else { return }
            readers.append(try database.store.beginRead())
            if readers.count > 5 {
                readers.remove(at: Int(random.next() % 5)).release()
            }
        }
        #expect(growth.first <= 2 << 20, "\(growth)")
        #expect(growth.later <= 768 << 10, "\(growth)")
        for reader in readers {
            #expect(try StoreCheck.run(reader).problems == [])
            reader.release()
        }
        try database.store.checkpoint()
        for _ in 0..<10 { try database.put([1]) }
        #expect(try database.store.check().pinnedFreePages < 60)
        try database.expectSound()
    }

    @Test func `A freed run that is listed twice is damage and not two runs`() throws {
        let database = try Database()
        for key in 0..<10 { try database.put([key]) }
        let snapshot = try database.store.beginRead()
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: Page.size, alignment: 16)
        defer { page.deallocate() }
        let base = try #require(page.baseAddress)
        base.copyMemory(
            from: try snapshot.pages.view(snapshot.rootRef, as: .root), byteCount: Page.size)
        let runs = try RootPayload.runs(of: snapshot.rootRef, in: snapshot.pages)
        var run = try #require(runs.first { $0.isReclaimable })
        run.page += UInt64(run.count) - 1
        run.count = 1
        try RootPayload.write(runs + [run], [], to: base)
        try database.file.write(
            UnsafeRawBufferPointer(page), at: snapshot.rootRef.page.byteOffset)
        snapshot.release()
        #expect { _ = try database.store.beginWrite() } throws: { error in
            guard case StorageError.corrupt = error else { return false }
            return true
        }
    }
}

/// A small generator with a seed (Sebastiano Vigna's SplitMix64).
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
