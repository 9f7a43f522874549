internal import Foundation
internal import ToftEngine

/// The assignment of rows of sorted results to sections.
struct SectionLayout {
    /// Rows side by side that are in one section.
    struct Run {
        var rows: Range<Int>
        let section: Int
        /// The index in the section of the first of the rows.
        let offset: Int
    }

    /// In the order of rows.
    private(set) var runs: [Run] = []
    /// The identity of each section's key.
    private(set) var marks: [UniqueKey] = []
    /// Number of rows of each section.
    private(set) var sizes: [Int] = []
    private var sections: [UniqueKey: Int] = [:]
    /// In the order of sections, then of rows, and the first index of each section.
    private var ordered: [Run] = []
    private var firsts: [Int] = []

    /// Number of rows.
    var rowCount: Int { runs.last?.rows.upperBound ?? 0 }
    var count: Int { marks.count }

    /// Adds the next rows. True if their section is new.
    mutating func append(_ rows: Range<Int>, _ mark: UniqueKey) -> Bool {
        let known = sections[mark]
        let section = known ?? marks.count
        if known == nil {
            sections[mark] = section
            marks.append(mark)
            sizes.append(0)
        }
        if let last = runs.last, last.section == section {
            runs[runs.count - 1].rows = last.rows.lowerBound..<rows.upperBound
        } else {
            runs.append(Run(rows: rows, section: section, offset: sizes[section]))
        }
        sizes[section] += rows.count
        return known == nil
    }

    /// To be called after the last rows.
    mutating func finish() {
        // Sections are numbered as they come, so mostly this is their order already.
        ordered =
            runs.count == count
            ? runs : runs.sorted { ($0.section, $0.offset) < ($1.section, $1.offset) }
        for (index, run) in ordered.enumerated() where run.section == firsts.count {
            firsts.append(index)
        }
    }

    func section(of mark: UniqueKey) -> Int? { sections[mark] }

    /// The row of an element of a section; nil if there is no such element.
    func row(_ index: Int, of section: Int) -> Int? {
        guard marks.indices.contains(section), index >= 0, index < sizes[section] else {
            return nil
        }
        var low = firsts[section]
        var high = section + 1 < firsts.count ? firsts[section + 1] : ordered.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if ordered[middle].offset <= index { low = middle } else { high = middle }
        }
        return ordered[low].rows.lowerBound + index - ordered[low].offset
    }

    /// The index paths of a set of rows, in the order of rows.
    fileprivate func paths(of rows: IndexRanges) -> [IndexPath] {
        var paths: [IndexPath] = []
        var next = 0
        for row in rows {
            while next < runs.count, runs[next].rows.upperBound <= row { next += 1 }
            guard next < runs.count else { break }
            let item = runs[next].offset + row - runs[next].rows.lowerBound
            paths.append(IndexPath(item: item, section: runs[next].section))
        }
        return paths
    }
}

/// The changes of sections.
struct SectionChange {
    private(set) var deletions: [IndexPath] = []
    private(set) var insertions: [IndexPath] = []
    private(set) var modifications: [IndexPath] = []
    private(set) var sectionsToInsert = IndexSet()
    private(set) var sectionsToDelete = IndexSet()

    var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && modifications.isEmpty
            && sectionsToInsert.isEmpty && sectionsToDelete.isEmpty
    }

    /// From one layout to another, by the changes of the rows. A row with another section counts as
    /// deleted and inserted, even if it has not moved; so do the rows of a section that has another
    /// place among those that stayed.
    init(from old: SectionLayout, to new: SectionLayout, _ change: CollectionChange) {
        let places = Self.places(of: old, in: new)
        for (section, place) in places.enumerated() where place == nil {
            sectionsToDelete.insert(section)
        }
        sectionsToInsert = IndexSet(0..<new.count).subtracting(IndexSet(places.compactMap { $0 }))
        var rows = RowWalk(old, new)
        rows.follow(change, places)
        deletions = old.paths(of: rows.gone)
        insertions = new.paths(of: rows.come)
        modifications = old.paths(of: change.modifications.subtracting(rows.gone))
    }

    /// The new index of each old section; nil if it is deleted.
    private static func places(of old: SectionLayout, in new: SectionLayout) -> [Int?] {
        var highest = -1
        return old.marks.map { mark in
            guard let place = new.section(of: mark), place > highest else { return nil }
            highest = place
            return place
        }
    }

    /// The part that concerns one section, which was `old` and is `new`.
    func only(old: Int?, new: Int?) -> SectionChange {
        var part = self
        part.deletions.removeAll { $0.section != old }
        part.modifications.removeAll { $0.section != old }
        part.insertions.removeAll { $0.section != new }
        part.sectionsToDelete.formIntersection(old.map { [$0] } ?? [])
        part.sectionsToInsert.formIntersection(new.map { [$0] } ?? [])
        return part
    }

    /// The changes without modifications.
    func withoutModifications() -> SectionChange {
        var part = self
        part.modifications = []
        return part
    }
}

/// Goes through old and new rows side by side, those that stayed being the same ones.
private struct RowWalk {
    let old: SectionLayout
    let new: SectionLayout
    var gone = IndexRanges()
    var come = IndexRanges()

    init(_ old: SectionLayout, _ new: SectionLayout) {
        self.old = old
        self.new = new
    }

    mutating func follow(_ change: CollectionChange, _ places: [Int?]) {
        var (before, after) = (Side(old, change.deletions), Side(new, change.insertions))
        while true {
            if let run = before.takeListed() {
                gone.append(run)
            } else if let run = after.takeListed() {
                come.append(run)
            } else {
                let count = min(before.stretch, after.stretch)
                guard count > 0 else { break }
                if places[before.section] != after.section {
                    gone.append(before.row..<before.row + count)
                    come.append(after.row..<after.row + count)
                }
                before.advance(count)
                after.advance(count)
            }
        }
        gone.append(before.row..<max(before.row, old.rowCount))
        come.append(after.row..<max(after.row, new.rowCount))
    }

    /// A position in the rows of one layout, with its list of deleted or new rows.
    private struct Side {
        let layout: SectionLayout
        let listed: [Range<Int>]
        var row = 0
        private var run = 0
        private var nextListed = 0

        init(_ layout: SectionLayout, _ listed: IndexRanges) {
            self.layout = layout
            self.listed = listed.runs
        }

        /// Number of rows from here that are in one section and not listed.
        var stretch: Int {
            guard run < layout.runs.count else { return 0 }
            let end = layout.runs[run].rows.upperBound
            return (nextListed < listed.count ? min(end, listed[nextListed].lowerBound) : end) - row
        }

        var section: Int { layout.runs[run].section }

        mutating func takeListed() -> Range<Int>? {
            guard nextListed < listed.count, listed[nextListed].lowerBound == row else {
                return nil
            }
            defer {
                advance(listed[nextListed].count)
                nextListed += 1
            }
            return listed[nextListed]
        }

        mutating func advance(_ count: Int) {
            row += count
            while run < layout.runs.count, layout.runs[run].rows.upperBound <= row { run += 1 }
        }
    }
}
