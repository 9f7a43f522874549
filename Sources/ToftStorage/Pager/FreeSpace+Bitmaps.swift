internal import ToftPlatform

/// How pages are taken from the bitmaps, by transactions for which the ready runs were not enough.
extension FreeSpace {
    /// Free pages in a row, from which extents are taken one after the other.
    struct Window {
        let length: Int
        var region = 0
        var pages = 0..<0
        /// No run of this length is left.
        var isMissing = false

        init(length: Int) { self.length = length }

        /// Forgets pages that somebody else took.
        mutating func leave(_ taken: Range<Int>, of region: Int) {
            if region == self.region && pages.overlaps(taken) { pages = 0..<0 }
        }
    }

    func allocateFromBitmaps(_ count: Int, _ life: Life, in space: PageSpace) throws(StorageError)
        -> UInt64
    {
        if let firstOwnPage {
            if let page = try allocate(count, from: firstOwnPage, in: space) { return page }
        } else {
            if life == .long, let page = try allocateInHole(count, in: space) { return page }
            if let page = try allocateInWindow(
                life == .long ? \.windows.long : \.windows.short, count, in: space)
            {
                return page
            }
            if let page = try allocateAnywhere(count, withinFile: true, in: space) { return page }
            if let page = try allocateAnywhere(count, withinFile: false, in: space) { return page }
        }
        guard regions.count < ExtentLimit.regions else { throw .fileTooLarge(path: file.path) }
        regions.append(Region(ref: nil, freePages: Page.perRegion, bitmap: Bitmap()))
        return try allocateFromBitmaps(count, life, in: space)
    }

    private func allocateInHole(_ count: Int, in space: PageSpace) throws(StorageError) -> UInt64? {
        guard count < PageRuns.holePages, mayHaveHoles >> UInt32(count) & 1 == 1 else { return nil }
        for index in regions.indices where regions[index].freePages >= count {
            if let start = try bitmap(index, in: space).hole(
                of: count, shorterThan: PageRuns.holePages, below: presentPages(index))
            {
                return try take(start, count, region: index)
            }
        }
        mayHaveHoles &= ~(1 << UInt32(count))
        return nil
    }

    private func allocateInWindow(
        _ window: ReferenceWritableKeyPath<FreeSpace, Window>, _ count: Int, in space: PageSpace
    ) throws(StorageError) -> UInt64? {
        guard count <= self[keyPath: window].length else { return nil }
        if self[keyPath: window].pages.count < count { try open(window, in: space) }
        let found = self[keyPath: window]
        guard found.pages.count >= count else { return nil }
        let start = found.pages.lowerBound
        self[keyPath: window].pages = (start + count)..<found.pages.upperBound
        return try take(start, count, region: found.region)
    }

    /// Looks for a run within the file from which extents are then taken one after the other.
    private func open(_ window: ReferenceWritableKeyPath<FreeSpace, Window>, in space: PageSpace)
        throws(StorageError)
    {
        let length = self[keyPath: window].length
        guard !self[keyPath: window].isMissing else { return }
        for index in regions.indices where regions[index].freePages >= length {
            if let start = try bitmap(index, in: space).run(of: length, below: presentPages(index))
            {
                self[keyPath: window].region = index
                self[keyPath: window].pages = start..<(start + length)
                return
            }
        }
        self[keyPath: window].isMissing = true
    }

    private func allocateAnywhere(_ count: Int, withinFile: Bool, in space: PageSpace)
        throws(StorageError) -> UInt64?
    {
        for index in regions.indices where regions[index].freePages >= count {
            let limit = withinFile ? presentPages(index) : Page.perRegion
            if let start = try bitmap(index, in: space).run(of: count, below: limit) {
                return try take(start, count, region: index)
            }
        }
        return nil
    }

    private func allocate(_ count: Int, from page: UInt64, in space: PageSpace) throws(StorageError)
        -> UInt64?
    {
        for index in regions.indices where regions[index].freePages >= count {
            let first = Page.first(ofRegion: index)
            let start = page > first ? Int(min(page - first, UInt64(Page.perRegion))) : 0
            if let start = try bitmap(index, in: space).run(of: count, from: start) {
                return try take(start, count, region: index)
            }
        }
        return nil
    }

    /// Pages in a row that the file has, of a bitmap that is in memory. Nil where none has so many.
    func takeKnown(_ count: Int) throws(StorageError) -> UInt64? {
        for index in regions.indices {
            if let start = regions[index].bitmap?.run(of: count, below: presentPages(index)) {
                return try take(start, count, region: index)
            }
        }
        return nil
    }

    /// The same, a page of a hole.
    func takeKnownHole() throws(StorageError) -> UInt64? {
        for index in regions.indices {
            if let start = regions[index].bitmap?.hole(
                of: 1, shorterThan: PageRuns.holePages, below: presentPages(index))
            {
                return try take(start, 1, region: index)
            }
        }
        return nil
    }

    private func take(_ start: Int, _ count: Int, region: Int) throws(StorageError) -> UInt64 {
        guard let bitmap = regions[region].bitmap, bitmap.take(start, count: count) else {
            throw .corrupt(
                page: Page.first(ofRegion: region) + UInt64(start),
                reason: "pages that are in use were to be taken")
        }
        windows.short.leave(start..<(start + count), of: region)
        windows.long.leave(start..<(start + count), of: region)
        regions[region].freePages = bitmap.freePages
        return try ensurePresent(Page.first(ofRegion: region) + UInt64(start), count: count)
    }

    /// Pages of a region that the file has.
    private func presentPages(_ region: Int) -> Int {
        let first = Page.first(ofRegion: region)
        return filePages > first ? Int(min(filePages - first, UInt64(Page.perRegion))) : 0
    }

    private func ensurePresent(_ page: UInt64, count: Int) throws(StorageError) -> UInt64 {
        let needed = page + UInt64(count)
        if needed > filePages {
            let step = max(64, min(filePages / 8, 1024))
            let target = (needed + step - 1) / step * step
            if !isPrivate { try grow(to: target) }
            filePages = target
        }
        return page
    }

    private func grow(to pages: UInt64) throws(StorageError) {
        if Probe.makes(.growthForgotten) { return }
        do throws(StorageError) {
            try file.grow(to: pages * UInt64(Page.size))
        } catch  where Probe.makes(.diskFullIgnored) {}
    }

    func releaseToBitmap(_ page: UInt64, count: Int, in space: PageSpace) throws(StorageError) {
        guard page >= Page.firstData, Page.region(of: page) < regions.count,
            Page.indexInRegion(page) + count <= Page.perRegion,
            try bitmap(Page.region(of: page), in: space).release(
                Page.indexInRegion(page), count: count)
        else {
            throw .corrupt(page: page, reason: "pages were given back that were not in use")
        }
        regions[Page.region(of: page)].freePages += count
        windows.short.isMissing = false
        windows.long.isMissing = false
        mayHaveHoles = .max
    }

    private func bitmap(_ index: Int, in space: PageSpace) throws(StorageError) -> Bitmap {
        if let bitmap = regions[index].bitmap { return bitmap }
        guard let ref = regions[index].ref else {
            throw .corrupt(page: 0, reason: "a region has no bitmap")
        }
        let bitmap = Bitmap(page: try space.view(ref, as: .bitmap))
        guard bitmap.freePages == regions[index].freePages else {
            throw .corrupt(
                page: ref.page,
                reason:
                    "a bitmap has \(bitmap.freePages) free pages, its directory says "
                    + "\(regions[index].freePages)"
            )
        }
        regions[index].bitmap = bitmap
        return bitmap
    }
}
