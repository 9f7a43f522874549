/// How a disk may treat what was not synced when the power went, from the kindest to the roughest.
package enum CrashModel: String, CaseIterable, Sendable {
    /// Only the process died: the cache survives.
    case processDeath = "M0 process death"
    /// Writes reach the disk in their order, up to some point.
    case inOrder = "M1 in order"
    /// Any of the unsynced pages reached the disk.
    case reordered = "M2 reordered"
    /// One of them only in part.
    case torn = "M3 torn"
    /// The size of the file and its content go their own ways.
    case size = "M4 size"
}

/// A disk as a crash left it, and which commits it may show.
package struct CrashImage {
    package let model: CrashModel
    package let bytes: [UInt8]
    /// The last commit that was acknowledged before the crash.
    package let acknowledged: Int
    /// The last that was begun.
    package let began: Int
    /// Where in the history the crash came.
    package let position: Int
}

/// Enumerates the states that a crash may leave of a recorded history.
///
/// Subsets, torn pages and sizes are enumerated where most is pending: before each sync, and at the end. What could be pending at an earlier
/// moment is among the subsets there.
package struct CrashImages {
    private let history: [DiskEvent]
    private var disk: SimulatedDisk
    private var numbers: Seed
    private let limits: Limits
    private let body: (CrashImage) throws -> Void
    private var acknowledged = 0
    private var began = 0
    private var position = 0
    private var tornMetas = 0

    /// How many states of each kind to try at one sync; the rest is chosen by chance.
    package struct Limits: Sendable {
        /// All subsets of so many pages.
        package var exhaustivePages = 7
        /// Where more are pending: so many pages alone, missing, and with all behind them.
        package var singlePages = 12
        package var randomSubsets = 40
        package var tornPages = 12
        /// Meta pages that are torn at every 8 bytes; the others at some.
        package var fullyTornMetas = 1
        package var tornMetaPlaces = 24
        package var sizes = 6
        /// Of all these states so many are opened.
        package var percentTried = 100

        package init() {}
    }

    package init(
        of history: [DiskEvent], from content: [UInt8], seed: UInt64, limits: Limits = Limits(), body: @escaping (CrashImage) throws -> Void
    ) {
        self.history = history
        disk = SimulatedDisk(content: content)
        numbers = Seed(seed)
        self.limits = limits
        self.body = body
    }

    package mutating func enumerate() throws {
        try emit(.processDeath, disk.cache)
        for (index, event) in history.enumerated() {
            position = index
            switch event {
            case .write(let offset, let bytes): try enumerateWrite(offset, bytes)
            case .sync, .rangeSync:
                try enumerateBarrier()
                disk.apply(event)
            case .began(let number): began = number
            case .acknowledged(let number):
                acknowledged = number
                try emit(.processDeath, disk.cache)
                try enumerateBarrier()
            case .grow, .truncate:
                disk.apply(event)
                try emit(.processDeath, disk.cache)
            }
        }
        try enumerateBarrier()
    }

    private func emit(_ model: CrashModel, _ bytes: [UInt8]) throws {
        try body(CrashImage(model: model, bytes: bytes, acknowledged: acknowledged, began: began, position: position))
    }

    /// The process may die, and the power go, between any two pages of one write.
    private mutating func enumerateWrite(_ offset: Int, _ bytes: [UInt8]) throws {
        var done = 0
        while done < bytes.count {
            let piece = min(SimulatedDisk.pageSize - (offset + done) % SimulatedDisk.pageSize, bytes.count - done)
            disk.apply(.write(offset: offset + done, bytes: Array(bytes[done..<done + piece])))
            done += piece
            try emit(.processDeath, disk.cache)
            try emit(.inOrder, disk.image(with: disk.pending))
        }
    }

    private mutating func enumerateBarrier() throws {
        // Every prefix was tried page by page; what was acknowledged since may forbid some of them now.
        try emit(.inOrder, disk.image(with: []))
        try emit(.inOrder, disk.image(with: disk.pending))
        try enumerateSubsets()
        try enumerateTorn()
        try enumerateSizes()
    }

    // MARK: M2

    private mutating func enumerateSubsets() throws {
        let pending = disk.pending
        guard !pending.isEmpty else { return }
        if pending.count <= limits.exhaustivePages {
            for mask in 0..<(1 << pending.count) { try emitSubset { mask >> $0 & 1 == 1 } }
            return
        }
        for _ in 0..<min(limits.singlePages, pending.count) {
            let index = numbers.below(pending.count)
            try emitSubset { $0 == index }
            try emitSubset { $0 != index }
            try emitSubset { $0 >= index }
        }
        for _ in 0..<limits.randomSubsets {
            let percent = 10 + numbers.below(81)
            var chosen = Set<Int>()
            for index in pending.indices where numbers.chance(percent) { chosen.insert(index) }
            try emitSubset { chosen.contains($0) }
        }
    }

    private func emitSubset(_ isChosen: (Int) -> Bool) throws {
        var chosen: [SimulatedDisk.PendingPage] = []
        for (index, page) in disk.pending.enumerated() where isChosen(index) { chosen.append(page) }
        try emit(.reordered, disk.image(with: chosen))
    }

    // MARK: M3

    private mutating func enumerateTorn() throws {
        let pending = disk.pending
        guard !pending.isEmpty else { return }
        for page in pending where page.page < 2 { try enumerateTornMeta(page) }
        for _ in 0..<min(limits.tornPages, pending.count * 7) {
            let index = numbers.below(pending.count)
            let sectors = 1 + numbers.below(SimulatedDisk.pageSize / SimulatedDisk.sectorSize - 1)
            try emitTorn(index, at: sectors * SimulatedDisk.sectorSize)
        }
    }

    private mutating func enumerateTornMeta(_ page: SimulatedDisk.PendingPage) throws {
        guard let index = disk.pending.firstIndex(where: { $0.page == page.page }) else { return }
        tornMetas += 1
        if tornMetas <= limits.fullyTornMetas {
            for place in stride(from: 8, to: SimulatedDisk.pageSize, by: 8) { try emitTorn(index, at: place) }
        } else {
            for _ in 0..<limits.tornMetaPlaces {
                // Most of a meta is zeros: tear where it says something.
                let limit = numbers.chance(70) ? 40 : SimulatedDisk.pageSize / 8 - 1
                try emitTorn(index, at: 8 * (1 + numbers.below(limit)))
            }
        }
    }

    /// The page at `index` reached the disk up to a place, or from it on; behind it is what was there, or zeros, or ones, or anything.
    private mutating func emitTorn(_ index: Int, at place: Int) throws {
        let torn = disk.pending[index]
        let othersPercent = [0, 50, 100][numbers.below(3)]
        var others: [SimulatedDisk.PendingPage] = []
        for (other, page) in disk.pending.enumerated() where other != index && numbers.chance(othersPercent) { others.append(page) }
        var image = disk.image(with: others)
        let start = torn.page * SimulatedDisk.pageSize
        guard start + SimulatedDisk.pageSize <= image.count, torn.content.count == SimulatedDisk.pageSize else { return }
        let middle = start + place
        let end = start + SimulatedDisk.pageSize
        let isHeadNew = numbers.chance(75)
        let new = isHeadNew ? start..<middle : middle..<end
        let rest = isHeadNew ? middle..<end : start..<middle
        image.replaceSubrange(new, with: torn.content[(new.lowerBound - start)..<(new.upperBound - start)])
        switch numbers.below(4) {
        case 0: break
        case 1: image.replaceSubrange(rest, with: [UInt8](repeating: 0, count: rest.count))
        case 2: image.replaceSubrange(rest, with: [UInt8](repeating: 0xFF, count: rest.count))
        default: image.replaceSubrange(rest, with: numbers.bytes(rest.count))
        }
        try emit(.torn, image)
    }

    // MARK: M4

    /// The file is as long as it was at the last sync, or as it is, or something between; the new part holds anything where nothing was written.
    private mutating func enumerateSizes() throws {
        guard disk.hasUnsyncedSize else { return }
        let old = disk.durable.count
        let new = disk.cache.count
        for round in 0..<limits.sizes {
            let pages = abs(new - old) / SimulatedDisk.pageSize
            let size = [old, new, min(old, new) + numbers.below(pages + 1) * SimulatedDisk.pageSize][round % 3]
            let percent = [0, 100, 50][numbers.below(3)]
            let chosen = disk.pending.filter { _ in numbers.chance(percent) }
            var image = disk.image(with: [], size: size)
            if numbers.chance(50), size > old { image.replaceSubrange(old..<size, with: numbers.bytes(size - old)) }
            for page in chosen { SimulatedDisk.put(page.content, at: page.page, into: &image) }
            try emit(.size, image)
        }
    }
}
