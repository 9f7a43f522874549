public import Foundation

extension List {
    /// Takes the elements at some indices out, as views with rows do.
    public func remove(atOffsets offsets: IndexSet) {
        for index in offsets.reversed() { remove(at: index) }
    }

    /// Puts the elements at some indices, in their order, before the one that has the index
    /// `destination` now, or at the end.
    public func move(fromOffsets source: IndexSet, toOffset destination: Int) {
        var end = destination
        for index in source.reversed() where index < destination {
            end -= 1
            move(from: index, to: end)
        }
        var next = destination
        for index in source where index >= destination {
            move(from: index, to: next)
            next += 1
        }
    }

    /// Takes a range of elements out.
    public func removeSubrange<Bounds: RangeExpression>(_ bounds: Bounds)
    where Bounds.Bound == Int { removeSubrange(range(bounds)) }

    /// Puts other elements in the place of a range.
    public func replaceSubrange<Bounds: RangeExpression, Elements: Collection>(
        _ bounds: Bounds, with newElements: Elements
    ) where Bounds.Bound == Int, Elements.Element == Element {
        replaceSubrange(range(bounds), with: newElements)
    }

    /// A range without an end ends with the list.
    private func range<Bounds: RangeExpression>(_ bounds: Bounds) -> Range<Int>
    where Bounds.Bound == Int {
        let range = bounds.relative(to: 0..<Int.max)
        guard range.upperBound == .max else { return range }
        return range.lowerBound..<Swift.max(range.lowerBound, count)
    }
}
