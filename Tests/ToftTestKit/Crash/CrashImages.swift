package import ToftStorage

/// The treatment of unsynced writes by a disk when the power fails, from the kindest to the
/// roughest; and the events that may follow.
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
    /// One sync did nothing, and said that it had.
    case lyingDisk = "M5 lying disk"
    /// The crash came while an earlier one was being recovered from.
    case inRecovery = "M6 in recovery"
    /// The crash came after some commits that followed an earlier crash.
    case lifeGoesOn = "M7 life goes on"
}

/// A disk as a crash left it, and which commits it may show.
package struct CrashImage {
    package var model: CrashModel
    package let pages: [PageContent]
    /// The last commit that was acknowledged before the crash.
    package let acknowledged: Int
    /// The last that was begun.
    package let began: Int
    /// The position of the crash in the history.
    package let position: Int
    /// The file has one of these keys.
    package let keys: [EncryptionKey?]
}

/// Enumerates the states that a crash may leave of a recorded history.
///
/// Subsets, torn pages and sizes are enumerated at the points with most pending pages: before each
/// sync, and at the end. The pages pending at an earlier moment are among the subsets there.
package struct CrashImages {
    private let history: [DiskEvent]
    private var disk: SimulatedDisk
    private var numbers: Seed
    private let limits: Limits
    private let body: (CrashImage) throws -> Void
    private var acknowledged: Int
    private var returned: Int
    private var began: Int
    private var position = 0
    private var keys: [EncryptionKey?]
    private var tornMetas = 0
    private var isLying = false

    /// The number of states of each kind to try at one sync; the rest is chosen by chance.
    package struct Limits: Sendable {
        /// Pending pages up to which all subsets are tried.
        package var exhaustivePages = 7
        /// Pending pages up to which all prefixes are tried; beyond that, the longer the rarer.
        package var wholePrefixes = 1_000
        /// Beyond that: number of pages that are tried alone, missing, and with all behind them.
        package var singlePages = 12
        package var randomSubsets = 40
        package var tornPages = 12
        /// Meta pages that are torn at every 8 bytes; the others at some.
        package var fullyTornMetas = 1
        package var tornMetaPlaces = 24
        package var sizes = 6
        /// For each sync that is ignored, and each place up to the next one.
        package var lyingSubsets = 3
        /// Percentage of these states that are opened.
        package var percentTried = 100
        /// Percentage of opened states that are followed by an aftermath, its number of states, and
        /// its depth.
        package var percentWithAftermath = 4
        package var aftermathStates = 12
        package var aftermathDepth = 1

        package init() {}

        /// For a suite that runs with every change, and for numerous workloads.
        package static let few: Limits = {
            var limits = Limits()
            limits.exhaustivePages = 5
            limits.wholePrefixes = 40
            limits.singlePages = 5
            limits.randomSubsets = 12
            limits.tornPages = 6
            limits.fullyTornMetas = 0
            limits.tornMetaPlaces = 8
            limits.lyingSubsets = 2
            return limits
        }()
    }

    /// The history began with this content, and these commits.
    package init(
        of history: [DiskEvent], from content: [PageContent], acknowledged: Int = 0, began: Int = 0,
        key: EncryptionKey? = nil, seed: UInt64, limits: Limits = Limits(),
        body: @escaping (CrashImage) throws -> Void
    ) {
        self.history = history
        disk = SimulatedDisk(content: content)
        keys = [key]
        numbers = Seed(seed)
        self.limits = limits
        self.body = body
        self.acknowledged = acknowledged
        self.began = began
        returned = acknowledged
    }

    package mutating func enumerate() throws {
        try emit(.processDeath, disk.cache)
        for (index, event) in history.enumerated() {
            position = index
            switch event {
            case .write(let offset, let bytes): try enumerateWrite(offset, bytes)
            case .sync, .rangeSync:
                try enumerateBarrier()
                try enumerateLie(about: index)
                disk.apply(event)
            case .returned:
                note(event)
                try emit(.processDeath, disk.cache)
            case .acknowledged:
                note(event)
                try emit(.processDeath, disk.cache)
                try enumerateBarrier()
            case .grow, .truncate:
                disk.apply(event)
                try emit(.processDeath, disk.cache)
            case .replaced(_, let key): try enumerateReplacement(event, key)
            case .began, .transaction: note(event)
            }
        }
        position = history.count
        try enumerateBarrier()
    }

    private mutating func note(_ event: DiskEvent) {
        switch event {
        case .began(let number): began = number
        case .returned(let number): returned = number
        case .acknowledged(let number):
            returned = number
            acknowledged = number
        default: disk.apply(event)
        }
    }

    private func emit(_ model: CrashModel, _ pages: [PageContent]) throws {
        let kept = model == .processDeath ? returned : acknowledged
        try body(
            CrashImage(
                model: isLying ? .lyingDisk : model, pages: pages, acknowledged: kept, began: began,
                position: position, keys: keys))
    }

    /// The name leads to the new file at once for all processes; on the disk to the old one or to
    /// the new one, until the directory is synced.
    private mutating func enumerateReplacement(_ event: DiskEvent, _ key: EncryptionKey?) throws {
        keys.append(key)
        try enumerateBarrier()
        disk.apply(event)
        try enumerateBarrier()
        keys = [key]
        try emit(.processDeath, disk.cache)
    }

    /// The process may die, and the power go, between any two pages of one write.
    private mutating func enumerateWrite(_ offset: Int, _ bytes: [UInt8]) throws {
        var done = 0
        while done < bytes.count {
            let piece = min(
                PageContent.size - (offset + done) % PageContent.size, bytes.count - done)
            disk.apply(.write(offset: offset + done, bytes: Array(bytes[done..<done + piece])))
            done += piece
            let pending = disk.pending.count
            guard
                pending <= limits.wholePrefixes || numbers.below(pending) < limits.wholePrefixes
            else { continue }
            try emit(.processDeath, disk.cache)
            try emit(.inOrder, disk.image(with: disk.pending))
        }
    }

    private mutating func enumerateBarrier() throws {
        // Every prefix was tried page by page; later acknowledgements may forbid some of them now.
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
        for _ in 0..<limits.randomSubsets { try emitRandomSubset() }
    }

    private mutating func emitRandomSubset() throws {
        let percent = 10 + numbers.below(81)
        var chosen = Set<Int>()
        for index in disk.pending.indices where numbers.chance(percent) { chosen.insert(index) }
        try emitSubset { chosen.contains($0) }
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
            let sectors = 1 + numbers.below(PageContent.size / PageContent.sectorSize - 1)
            try emitTorn(index, at: sectors * PageContent.sectorSize)
        }
    }

    private mutating func enumerateTornMeta(_ page: SimulatedDisk.PendingPage) throws {
        guard let index = disk.pending.firstIndex(where: { $0.page == page.page }) else { return }
        tornMetas += 1
        if tornMetas <= limits.fullyTornMetas {
            for place in stride(from: 8, to: PageContent.size, by: 8) {
                try emitTorn(index, at: place)
            }
        } else {
            for _ in 0..<limits.tornMetaPlaces {
                // Most of a meta is zeros: tear it within its fields.
                let limit = numbers.chance(70) ? 40 : PageContent.size / 8 - 1
                try emitTorn(index, at: 8 * (1 + numbers.below(limit)))
            }
        }
    }

    /// The page at `index` reached the disk up to a place, or from it on; the rest has the old
    /// bytes, or zeros, or ones, or anything. Durable parts of that page are not touched.
    private mutating func emitTorn(_ index: Int, at place: Int) throws {
        let torn = disk.pending[index]
        let othersPercent = [0, 50, 100][numbers.below(3)]
        var others: [SimulatedDisk.PendingPage] = []
        for (other, page) in disk.pending.enumerated()
        where other != index && numbers.chance(othersPercent) { others.append(page) }
        var image = disk.image(with: others)
        guard torn.page < image.count else { return }
        let old = image[torn.page]
        let isHeadNew = numbers.chance(75)
        let new = isHeadNew ? 0..<place : place..<PageContent.size
        var bytes = old.bytes
        bytes.replaceSubrange(new, with: torn.content.bytes[new])
        let garbage = garbage()
        let rest = isHeadNew ? place..<PageContent.size : 0..<place
        for sector in stride(from: 0, to: PageContent.size, by: PageContent.sectorSize) {
            let part = rest.clamped(to: sector..<sector + PageContent.sectorSize)
            let whole = sector..<sector + PageContent.sectorSize
            // A sector that this write does not change is not written.
            guard let garbage, !part.isEmpty, old.bytes[whole] != torn.content.bytes[whole] else {
                continue
            }
            bytes.replaceSubrange(part, with: garbage[part])
        }
        image[torn.page] = PageContent(bytes)
        try emit(.torn, image)
    }

    private mutating func garbage() -> [UInt8]? {
        switch numbers.below(4) {
        case 0: nil
        case 1: [UInt8](repeating: 0, count: PageContent.size)
        case 2: [UInt8](repeating: 0xFF, count: PageContent.size)
        default: numbers.bytes(PageContent.size)
        }
    }

    // MARK: M4

    /// The file has the length of the last sync, or the present one, or one between; the new part
    /// has arbitrary bytes if nothing was written there.
    private mutating func enumerateSizes() throws {
        guard disk.hasUnsyncedSize else { return }
        let old = disk.durable.count
        let new = disk.cache.count
        for round in 0..<limits.sizes {
            let count = [old, new, min(old, new) + numbers.below(abs(new - old) + 1)][round % 3]
            let percent = [0, 100, 50][numbers.below(3)]
            let chosen = disk.pending.filter { _ in numbers.chance(percent) }
            var image = disk.image(with: [], pageCount: count)
            if numbers.chance(50), count > old {
                for page in old..<count {
                    image[page] = PageContent(numbers.bytes(PageContent.size))
                }
            }
            for page in chosen where page.page < count { image[page.page] = page.content }
            try emit(.size, image)
        }
    }

    // MARK: M5

    /// The sync at this place of the history is forgotten: the states that may be on the disk from
    /// here to the next one.
    private func enumerateLie(about index: Int) throws {
        guard limits.lyingSubsets > 0, !isLying else { return }
        var liar = self
        liar.isLying = true
        liar.numbers = Seed(UInt64(index) &* 7_919 &+ numbers.value)
        for (later, event) in history.enumerated().dropFirst(index + 1) {
            liar.position = later
            switch event {
            // The new file is durable, whatever became of the old one.
            case .sync, .replaced:
                return try liar.emitLies()
            case .rangeSync, .acknowledged, .returned:
                try liar.emitLies()
                liar.note(event)
            default:
                liar.note(event)
            }
        }
        try liar.emitLies()
    }

    private mutating func emitLies() throws {
        try emit(.lyingDisk, disk.image(with: []))
        for _ in 0..<limits.lyingSubsets { try emitRandomSubset() }
        guard !disk.pending.isEmpty else { return }
        try emitTorn(
            numbers.below(disk.pending.count), at: PageContent.sectorSize * (1 + numbers.below(7)))
    }
}
