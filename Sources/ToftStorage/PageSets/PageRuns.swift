/// Runs of free pages, in the order of their pages, with gaps between those of a region.
struct PageRuns {
    struct Run: Equatable {
        var page: PageNumber
        var count: Int
        var end: PageNumber { page + UInt64(count) }

        mutating func dropFirst(_ count: Int) {
            page += UInt64(count)
            self.count -= count
        }
    }

    private(set) var runs: [Run] = []
    var count: Int { runs.count }

    /// Shorter runs are fragments.
    static let fragmentPages = 12

    /// Takes `count` pages of the shortest fragment that has them. Nil if there is no such
    /// fragment.
    mutating func takeFromFragment(_ count: Int) -> PageNumber? {
        shortest(of: count, below: Self.fragmentPages).map { cut($0, count) }
    }

    /// Takes the first pages of the longest run. Nil if it is shorter.
    mutating func takeFromLongest(_ count: Int) -> PageNumber? {
        guard let longest, runs[longest].count >= count else { return nil }
        return cut(longest, count)
    }

    /// Takes a whole run of `count` pages or more: the shortest of twice the length of fragments,
    /// otherwise the longest. Nil if that is shorter.
    mutating func takeRun(of count: Int) -> Run? {
        guard let index = shortest(of: max(count, 2 * Self.fragmentPages), below: .max) ?? longest,
            runs[index].count >= count
        else { return nil }
        return runs.remove(at: index)
    }

    private var longest: Int? { runs.indices.max { runs[$0].count < runs[$1].count } }

    private func shortest(of count: Int, below limit: Int) -> Int? {
        var best: Int?
        var length = limit
        for index in runs.indices where runs[index].count >= count && runs[index].count < length {
            best = index
            length = runs[index].count
        }
        return best
    }

    private mutating func cut(_ index: Int, _ count: Int) -> PageNumber {
        let page = runs[index].page
        if runs[index].count == count {
            runs.remove(at: index)
        } else {
            runs[index].dropFirst(count)
        }
        return page
    }

    /// Adds pages of one region. False if it had some of them already.
    mutating func insert(_ page: PageNumber, count: Int) -> Bool {
        var run = Run(page: page, count: count)
        var index = firstIndex(from: page)
        if index < runs.count && run.end > runs[index].page
            || index > 0 && runs[index - 1].end > page
        {
            return false
        }
        if index < runs.count && joins(run, runs[index]) {
            run.count += runs.remove(at: index).count
        }
        if index > 0 && joins(runs[index - 1], run) {
            index -= 1
            run = Run(page: runs[index].page, count: runs.remove(at: index).count + run.count)
        }
        runs.insert(run, at: index)
        return true
    }

    /// No extent is in two regions, so no run is.
    private func joins(_ first: Run, _ second: Run) -> Bool {
        first.end == second.page && Page.region(of: first.page) == Page.region(of: second.page)
    }

    private func firstIndex(from page: PageNumber) -> Int {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].page < page { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
