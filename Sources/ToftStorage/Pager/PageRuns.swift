/// Runs of free pages, in the order of their pages; none follows another of its region without a gap.
struct PageRuns {
    struct Run: Equatable {
        var page: UInt64
        var count: Int
        var end: UInt64 { page + UInt64(count) }
    }

    private(set) var runs: [Run] = []
    var count: Int { runs.count }

    /// Takes so many pages: the first of the shortest run that has them. Nil where none has.
    mutating func take(_ count: Int) -> UInt64? {
        var best: Int?
        var length = Int.max
        for index in runs.indices where runs[index].count >= count && runs[index].count < length {
            best = index
            length = runs[index].count
            if length == count { break }
        }
        guard let best else { return nil }
        let page = runs[best].page
        if length == count {
            runs.remove(at: best)
        } else {
            runs[best] = Run(page: page + UInt64(count), count: length - count)
        }
        return page
    }

    /// Adds pages of one region. False if some of them were there already.
    mutating func insert(_ page: UInt64, count: Int) -> Bool {
        var run = Run(page: page, count: count)
        var index = firstIndex(from: page)
        if index < runs.count && run.end > runs[index].page || index > 0 && runs[index - 1].end > page { return false }
        if index < runs.count && joins(run, runs[index]) { run.count += runs.remove(at: index).count }
        if index > 0 && joins(runs[index - 1], run) {
            index -= 1
            run = Run(page: runs[index].page, count: runs.remove(at: index).count + run.count)
        }
        runs.insert(run, at: index)
        return true
    }

    /// No extent lies in two regions, so no run does.
    private func joins(_ first: Run, _ second: Run) -> Bool {
        first.end == second.page && Page.region(of: first.page) == Page.region(of: second.page)
    }

    private func firstIndex(from page: UInt64) -> Int {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].page < page { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
