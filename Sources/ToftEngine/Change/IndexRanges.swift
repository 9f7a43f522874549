/// A set of indices, kept as ascending runs: the changes of a collection are mostly a few runs,
/// even if everything changes.
package struct IndexRanges: Sendable, Equatable {
    /// Ascending, not empty, neither overlapping nor touching.
    package private(set) var runs: [Range<Int>] = []

    /// The empty set.
    package init() {}

    /// The indices given, in any order, repeated or not.
    package init(_ indices: some Sequence<Int>) {
        for index in indices.sorted() { append(index) }
    }

    /// One run; empty when the range is.
    package init(_ run: Range<Int>) {
        append(run)
    }

    package var isEmpty: Bool { runs.isEmpty }

    /// Number of indices.
    package var count: Int { runs.reduce(0) { $0 + $1.count } }

    /// Adds an index that is not below any of the set's.
    package mutating func append(_ index: Int) {
        append(index..<index + 1)
    }

    /// Adds a run that begins at or after the beginning of the last one.
    package mutating func append(_ run: Range<Int>) {
        guard !run.isEmpty else { return }
        guard let last = runs.last, run.lowerBound <= last.upperBound else {
            runs.append(run)
            return
        }
        runs[runs.count - 1] = last.lowerBound..<Swift.max(last.upperBound, run.upperBound)
    }

    package func contains(_ index: Int) -> Bool {
        let run = firstRun(endingAfter: index)
        return run < runs.count && runs[run].lowerBound <= index
    }

    /// Number of indices below `index`.
    package func count(below index: Int) -> Int {
        var count = 0
        for run in runs {
            guard run.lowerBound < index else { break }
            count += Swift.min(run.upperBound, index) - run.lowerBound
        }
        return count
    }

    /// The indices that are not in `other`.
    package func subtracting(_ other: IndexRanges) -> IndexRanges {
        guard !other.isEmpty, !isEmpty else { return self }
        var rest = IndexRanges()
        var next = 0
        for run in runs {
            var start = run.lowerBound
            while next < other.runs.count, other.runs[next].upperBound <= start { next += 1 }
            var hole = next
            while hole < other.runs.count, other.runs[hole].lowerBound < run.upperBound {
                let end = other.runs[hole].lowerBound
                if start < end { rest.append(start..<end) }
                start = Swift.max(start, other.runs[hole].upperBound)
                hole += 1
            }
            if start < run.upperBound { rest.append(start..<run.upperBound) }
        }
        return rest
    }

    private func firstRun(endingAfter index: Int) -> Int {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].upperBound <= index { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension IndexRanges: Sequence {
    /// The indices, ascending.
    package func makeIterator() -> FlattenSequence<[Range<Int>]>.Iterator {
        runs.joined().makeIterator()
    }
}

extension IndexRanges: ExpressibleByArrayLiteral, CustomStringConvertible {
    package init(arrayLiteral indices: Int...) {
        self.init(indices)
    }

    package var description: String { Array(self).description }
}
