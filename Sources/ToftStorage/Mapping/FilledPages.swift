internal import ToftPlatform

/// The pages of memory that a page cache has filled: their number, and those of each block.
///
/// A block is 2 MiB of memory. Once many of its pages are filled it is one page of the machine:
/// small ones cost more to begin, and more to find when all are scanned.
struct FilledPages {
    private struct Block {
        /// Number of its filled pages; all pages of an extent count in its first page's block.
        var filled = 0
        /// Whether all of it takes room, and counts as filled.
        var isJoined = false

        static let pages = Reservation.blockSize / Page.size
        static let many = pages / 2
    }

    private(set) var count = 0
    /// By region.
    private var blocks: [[Block]] = []

    /// In bytes.
    var size: Int { count * Page.size }

    /// Counts pages that take memory from now on, outside of any block.
    mutating func add(_ pages: Int) { count += pages }

    mutating func remove(_ pages: Int) { count -= min(count, pages) }

    /// Nothing is filled any more.
    mutating func reset() {
        count = 0
        blocks = []
    }

    /// Counts pages that take memory from now on. Joins their block if many of it are filled then.
    mutating func add(
        _ pages: Int, at page: PageNumber, of regions: borrowing RegionMap, joins: Bool
    ) {
        guard pages > 0 else { return }
        guard let (memory, index) = block(of: page, regions) else { return count += pages }
        let region = Page.region(of: page)
        let block = blocks[region][index]
        if block.isJoined { return }
        blocks[region][index].filled = block.filled + pages
        count += pages
        if joins, block.filled < Block.many, block.filled + pages >= Block.many,
            memory.joinBlock(index)
        {
            count += max(0, Block.pages - block.filled - pages)
            blocks[region][index].isJoined = true
        }
    }

    /// Joins empty blocks many pages of which are about to be filled, up to `limit` bytes in all.
    ///
    /// - Parameter runs: their first pages, ascending, and numbers of pages.
    mutating func makeRoom(
        for runs: [(page: PageNumber, count: Int)], in regions: borrowing RegionMap, limit: Int
    ) {
        var last: (region: Int, index: Int)?
        var pages = 0
        for run in runs {
            guard size < limit else { return }
            guard (try? regions.locate(run.page, count: run.count)) != nil,
                let (memory, index) = block(of: run.page, regions)
            else { continue }
            let region = Page.region(of: run.page)
            if (last ?? (-1, -1)) != (region, index) { (last, pages) = ((region, index), 0) }
            pages += run.count
            let block = blocks[region][index]
            if pages >= Block.many, pages - run.count < Block.many, block.filled == 0,
                !block.isJoined, memory.joinBlock(index)
            {
                count += Block.pages
                blocks[region][index].isJoined = true
            }
        }
    }

    /// The block of memory that contains a located page.
    private mutating func block(of page: PageNumber, _ regions: borrowing RegionMap) -> (
        memory: Reservation, index: Int
    )? {
        guard let memory = regions.memory(of: page), let (base, _) = regions.located(page) else {
            return nil
        }
        let region = Page.region(of: page)
        while blocks.count <= region { blocks.append([]) }
        if blocks[region].isEmpty {
            blocks[region] = Array(repeating: Block(), count: memory.blockCount)
        }
        return (memory, memory.block(at: base))
    }
}
