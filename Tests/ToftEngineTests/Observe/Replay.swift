@testable import ToftEngine

/// A copy of a collection that follows its change sets as the documentation advises.
struct Replay<Element: Equatable> {
    private(set) var elements: [Element]

    init(_ elements: [Element]) {
        self.elements = elements
    }

    /// `current` is the collection after the change, in which the user would read at an index.
    mutating func apply(_ change: CollectionChange, current: [Element]) {
        for index in Array(change.deletions).reversed() { elements.remove(at: index) }
        for index in change.insertions { elements.insert(current[index], at: index) }
        for index in change.modificationsNew { elements[index] = current[index] }
    }
}
